"""Command line: one module per group of commands; heavy imports happen inside commands."""

# Whether the user agrees, on a terminal, to send variables to servers that a suite or a stored run defines.
from .asking import ask_to_send as ask_to_send
from .asking import asking_display as asking_display  # The display that fits where the output goes.
from .asking import confirm as confirm  # Ask whether to begin.
from .asking import ended_like_ctrl_c as ended_like_ctrl_c  # SIGTERM stops the run as Ctrl-C does

# End a command that was stopped, or lost its server, with its exit code
from .asking import resumed_by_the_same_command as resumed_by_the_same_command
from .asking import told_size as told_size  # Tokens, and costs by currency where there are prices.

# The user's configuration, with the ledger in the folder of the runs where it names none.
from .bench.places import configured as configured

# The ledger that is named (by an option, the environment or the configuration), else the one in the folder of the runs.
from .bench.places import opened_ledger as opened_ledger
from .bench.run import accepted as accepted  # Runs of one panel, with what earlier calls tell

# Prepare a run, then begin it, or resume the unfinished run that has the same specification.
from .bench.run import run_new as run_new
from .bench.run import write_files as write_files  # Write the files of a run, and what there is to say of it into its log.
from .bench.run_plan import print_plan as print_plan  # Show what runs of one panel will ask
from .exit_codes import BUDGET_SPENT as BUDGET_SPENT  # The next call might have cost more than was left of `--budget`
from .exit_codes import DONE as DONE  # All was done, and what can fail has passed.
from .exit_codes import FAILED as FAILED  # What can fail has failed
from .exit_codes import INCONCLUSIVE as INCONCLUSIVE  # Too little could be read or scored to tell.
from .exit_codes import INTERRUPTED as INTERRUPTED
from .options import STDOUT as STDOUT
from .options import ConfigOption as ConfigOption
from .options import LedgerOption as LedgerOption
from .options import Places as Places  # Where the user wants runs and their ledger
from .options import PlacesOptions as PlacesOptions
from .options import last_day as last_day  # The last day of a period
from .options import listed as listed  # The names of a text that separates them by commas.

# What makes a parameter of a command by a function, whose own parameters are the options.
from .options import made_by as made_by
from .options import midnight_of as midnight_of  # The beginning of a day, in UTC.
from .options import one_of as one_of  # The allowed value equal to `name`, or None without a name.
from .options import period_since as period_since  # The days from that of --since to the last one.
from .options import tell as tell  # Print a line on stderr.
from .process import command as command  # Run the command as a process of its own.
from .progress.pace import PLAIN_EVERY as PLAIN_EVERY
from .progress.run_log import RunLog as RunLog  # The run's log, `run.log`
from .run_options import AgeOption as AgeOption
from .run_options import AllowVariableOption as AllowVariableOption
from .run_options import ByOption as ByOption
from .run_options import ClusterOption as ClusterOption
from .run_options import ConcurrencyOption as ConcurrencyOption
from .run_options import NewRun as NewRun  # What the user says of a new run
from .run_options import PageLanguageOption as PageLanguageOption
from .run_options import TimeoutOption as TimeoutOption
from .run_options import VerboseOption as VerboseOption
from .run_options import WhereOption as WhereOption
from .run_options import YesOption as YesOption
from .run_options import conditions as conditions  # The conditions of `--where` and `--age`, as COLUMN=VALUE.
