"""What is judged: cases, documents, personas, and the readers of datasets."""

from .columns import field_named as field_named  # Return the field that a column's name stands for.
from .columns import fold_name as fold_name  # Strip a column's name of what authors vary

# Map the columns of a table, or the keys of an object, to the fields of a case.
from .columns import plan_columns as plan_columns

# Records, objects, texts, anything with `page_content`, `text` or `content` and `metadata` or `meta`, or pairs of one of …
from .documents import LooseDocuments as LooseDocuments
from .documents import documents_of as documents_of  # Documents as records.
from .documents import read_documents as read_documents  # Return the documents of a cell
from .documents import records_of as records_of  # Documents unchanged if all are records, else as `documents_of` reads them.
from .loader import MAX_CASES as MAX_CASES
from .loader import BuildRules as BuildRules  # What holds for every row of a load.
from .loader import build_case as build_case  # Build the case of a row.
from .loader import load_dataset as load_dataset  # Read several files in order into one dataset.

# Write the rejected rows as CSV (UTF-8 with a mark that spreadsheets look for), replacing the file.
from .loader import write_rejected as write_rejected
from .maturity import normalise_maturity as normalise_maturity  # Return the maturity that a cell means, None for an empty one.
from .personas import Persona as Persona  # An audience as a suite describes it.

# Read the personas of a suite by maturity, in the language asked for where the suite has it.
from .personas import load_personas as load_personas

# Everything for which `load_personas` refuses the personas that it would read.
from .personas import persona_faults as persona_faults
from .readers import has_header as has_header  # Say whether one header holds for every row of the file.
from .readers import read_rows as read_rows  # Yield the rows of a dataset in the file's order.
from .records import MATURITIES as MATURITIES
from .records import MAX_TURNS as MAX_TURNS
from .records import Case as Case  # One thing to judge
from .records import Child as Child  # A simulated child, who writes the user's turns after the prompt
from .records import ChildPlan as ChildPlan
from .records import Dataset as Dataset  # What a reader made of one or more files.
from .records import Document as Document  # A text that a response should rest on.
from .records import RejectedRow as RejectedRow  # A row of a dataset that cannot be used.
from .records import Turn as Turn  # One turn of a conversation that a prompt consists of.
from .rows import MAX_DEPTH as MAX_DEPTH  # How deep lists and objects may lie in each other
from .rows import MAX_RECORD as MAX_RECORD  # The longest record that a reader accepts
from .rows import SUFFIXES as SUFFIXES
from .rows import BadRow as BadRow  # A row that could not be read
from .rows import Row as Row  # A row that could be read.
from .rows import clip as clip  # Shorten `text` to `limit` characters
from .rows import is_deep as is_deep  # Say whether lists and objects lie in each other deeper than `MAX_DEPTH`.
from .sources import DatasetSource as DatasetSource  # A dataset, and what of it is read.
from .sources import column_of as column_of  # The field of a column, by the column's name, of `FIELD=NAME`.
from .sources import source_of as source_of  # The dataset of a name
from .text_files import CSV_ENCODING as CSV_ENCODING  # With the mark by which spreadsheets know UTF-8.
from .text_files import find_encoding as find_encoding  # Say with which codec a whole file can be decoded
from .text_files import read_jsonl as read_jsonl  # Yield one row per line
from .text_files import refuse_binary as refuse_binary  # Look at the first block of a file that should be text.
from .text_files import starts_formula as starts_formula  # Whether a spreadsheet may take a text for a formula
from .text_files import table_writer as table_writer  # Return what writes a row of a CSV file whose cells spreadsheets never run
