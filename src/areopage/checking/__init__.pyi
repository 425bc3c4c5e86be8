"""The gate at answer time: people's labels, the judge of doubtful sentences, figures and logs of decisions."""

from .checker import Checker as Checker  # Decides on answers
from .checker import decided as decided  # Compute a decision
from .config import MOST_PROMPT as MOST_PROMPT
from .config import FieldsSection as FieldsSection  # Where a point's payload holds what a document needs
from .config import GenerationSection as GenerationSection  # Who answers
from .config import RagConfig as RagConfig  # A pipeline's configuration.
from .config import RagSection as RagSection  # The section.
from .config import generation_options as generation_options  # The options of each call.
from .config import secret as secret  # A key's value
from .exported_traces import TraceExport as TraceExport  # Exports a ledger's traces to a folder
from .exported_traces import trace_export as trace_export  # The export of traces to this computer's trace files.
from .imported_logs import Imported as Imported  # The counts of an import.
from .imported_logs import import_logs as import_logs  # Import logs into the ledger as traces of the channel `import`.
from .judge_gold import read_judge_gold as read_judge_gold  # The rows of a language, as a judge is asked about them.
from .judging import CRITERION as CRITERION
from .judging import LANGUAGES as LANGUAGES
from .judging import SUITE as SUITE
from .judging import ConfiguredJudge as ConfiguredJudge  # The judge of a configuration, and how its model is reached.
from .judging import SentenceJudge as SentenceJudge  # Judges sentences with one judge.
from .judging import configured_judge as configured_judge  # The judge that a configuration names
from .judging import load_criterion as load_criterion  # Load the criterion by language.
from .judging import open_sentence_judge as open_sentence_judge  # Open the configured judge
from .node import ForeignDocuments as ForeignDocuments  # Documents of another retriever as the gate reads them.
from .node import decide as decide  # Decide on documents in any form
from .node import foreign as foreign  # Documents of another retriever
from .node import gate_node as gate_node  # Build a LangGraph node that writes `decision` and `verdict`.
