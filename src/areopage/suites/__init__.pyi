"""What a suite is: a folder with a configuration, criteria, personas and data. The bundled ones lie in `bundled/`."""

from .config import EvaluationSection as EvaluationSection  # Passes of each judge
from .config import ExecutionSection as ExecutionSection  # How a run is carried out.
from .config import PassesSection as PassesSection  # Adaptive passes of a run
from .config import SuiteConfig as SuiteConfig  # A suite's configuration.
from .config import WeightsSection as WeightsSection  # The three levels of weights.

# Whether a warning of `idle_keys` is of a key that there is not, likely a mistake, and not of one without meaning here.
from .config import is_unknown_key as is_unknown_key
from .config_file import CONFIG_FILE as CONFIG_FILE

# A section of `areopage.yml`, the sections it shares with others, and where it was read.
from .config_file import ConfigPart as ConfigPart
from .config_file import ConfigSection as ConfigSection  # Base of every section of `areopage.yml`
from .config_file import Count as Count
from .config_file import OwnJudge as OwnJudge  # A judge of `areopage.yml`.
from .config_file import Seconds as Seconds
from .config_file import Share as Share
from .config_file import SharedSections as SharedSections  # What every part of the program reads.
from .config_file import StorageSection as StorageSection  # What stays of an answer once it is judged, and for how long.
from .config_file import checked_section as checked_section  # Check what stands at a key of a document against a schema.
from .gold import GOLD_FILE as GOLD_FILE
from .gold import GoldRow as GoldRow  # A response with the ranges that its scores must lie in.
from .gold import gold_criteria as gold_criteria  # The ids of the criteria that a suite's gold set can examine judges on
from .gold import gold_digest as gold_digest  # SHA-256 of gold rows in any order.
from .gold import read_gold as read_gold  # Read a suite's gold set
from .gold import typed_lines as typed_lines  # Yield each line of a file with its number
from .loader import BUNDLED as BUNDLED
from .loader import Suite as Suite  # A loaded suite.
from .loader import bundled_names as bundled_names  # The names of the bundled suites.
from .loader import choose_language as choose_language  # The language of a run
from .loader import load_suite as load_suite  # Load a suite and check its configuration.
from .scaffold import add_criterion as add_criterion  # Add a criterion to a suite's registry, with a prompt file in each language
from .scaffold import blank_suite as blank_suite  # Write a suite with these criteria into a new folder
from .scaffold import copy_suite as copy_suite  # Copy a suite into a new folder
from .scaffold import new_folder as new_folder  # The place of a folder in the making
from .scaffold import set_release as set_release  # Write a word of the release section into the configuration of a suite.
from .validation import check_folder as check_folder  # Everything that is wrong with a suite.

# The weights for nothing whose names are close to one without a weight
from .validation import misspelt_weights as misspelt_weights

# The criteria that a run judges only where they are named, for the default selection does not have them.
from .validation import unselected_criteria as unselected_criteria
