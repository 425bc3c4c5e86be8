"""One configuration, and what the command line and the server build from it."""

from .answering import judge_window as judge_window  # The context of the judge of the grey band, in tokens
from .answering import open_checker as open_checker  # The gate with all that may settle its decisions
from .answering import open_gate as open_gate  # The gate with the configuration's rules
from .answering import open_judge as open_judge  # The judge of the grey band, which keeps its judgments in the ledger
from .config import LEDGER_VARIABLE as LEDGER_VARIABLE
from .config import AppConfig as AppConfig  # The configuration.

# The configuration that is named, else that of $AREOPAGE_CONFIG, else `areopage.yml` here, else the defaults.
from .config import find_config as find_config
from .config import load_config as load_config  # Read a configuration file
from .config import write_template as write_template  # Write an `areopage.yml` with every key, its default and what it means.
from .gate_rules import RULES_FILE as RULES_FILE
from .gate_rules import check_answer as check_answer  # Have the gate decide whether an answer may leave.
from .gate_rules import load_gate as load_gate  # A gate that is ready to decide.
from .gate_rules import load_rules as load_rules  # Load rules of the gate.
from .gate_rules import write_rules as write_rules  # Write rules that `load_rules` reads back as they are

# Whether a configuration's ledger is a file that is there, or a database's URL.
from .ledger import ledger_exists as ledger_exists
from .ledger import open_ledger as open_ledger  # The ledger of a configuration, open.
from .library import evaluate as evaluate  # Evaluate one answer on the criteria of a suite.

# Run a benchmark to its end, or resume the unfinished run with the same specification.
from .library import run_benchmark as run_benchmark
from .monitor import fill_settings as fill_settings  # Which answers go to the review queue.
from .monitor import open_quality_judge as open_quality_judge  # The jury of a monitor
from .monitor import open_worker as open_worker  # A worker with its scheduled jobs
from .monitor import review_disagreements as review_disagreements  # Where raters disagree
from .rebuild import LedgerComparison as LedgerComparison  # What a ledger stores against what it comes to.
from .rebuild import check_ledger as check_ledger  # Compare what is stored with what it is computed from
from .rebuild import count_stored as count_stored  # How many evaluations there are to compute again.
from .rebuild import rebuild_ledger as rebuild_ledger  # Replace every score and every count with the computed one.

# Store judgments whose raw texts were read again in place of what is stored of them, then rebuild every score.
from .rebuild import store_readings as store_readings
from .schemas import Published as Published  # A schema
from .schemas import published_schemas as published_schemas  # The published schemas, by name.
from .schemas import record_schema as record_schema  # The schema of a record, as JSON.
from .schemas import schema_text as schema_text  # The schema of a name in `published_schemas()`, as JSON.
from .verify import Verification as Verification  # What a verification found
from .verify import kept_heads as kept_heads  # Read the heads that a file names
from .verify import results_in as results_in  # The content of a results.json
from .verify import verify_ledger as verify_ledger  # Verify a ledger
from .worker import END_CODES as END_CODES
from .worker import RunWorker as RunWorker  # Does shares of open runs
