"""What is asked of a response: criteria, their registry and prompt files, selection, and the judge's prompt."""

from .applicability import applies as applies  # Whether a criterion with these rules may apply to a case
from .fence import HARDENED as HARDENED  # All protections.
from .fence import Hardening as Hardening  # The protections of a judge against the text that it judges
from .fence import defused as defused  # A text in which nothing reads as a control token of any family of models.
from .fence import fenced as fenced  # A text between its markers, without control tokens.

# Whether anything in a text reads as a control token of a family of models.
from .fence import has_control_token as has_control_token
from .fence import nonce_of as nonce_of  # 16 hexadecimal digits that cannot be predicted without the secret
from .prompt_file import is_unwritten as is_unwritten  # Whether a text holds an ellipsis where a text is to be written.
from .prompt_file import load_criteria as load_criteria  # Load the prompt files of some criteria

# Everything that is wrong with a prompt file, likely mistakes included.
from .prompt_file import prompt_file_faults as prompt_file_faults
from .prompt_sizes import PromptSizer as PromptSizer  # Measures prompts
from .prompts import REMARKS as REMARKS
from .prompts import TEMPLATE_VERSION as TEMPLATE_VERSION
from .prompts import answer_schema as answer_schema  # The JSON schema of an answer
from .prompts import case_content as case_content  # The parts of a case that a judge is shown
from .prompts import fill as fill  # Put values into a template
from .prompts import judge_prompt as judge_prompt  # Put one or more criteria and a case together.
from .prompts import object_schema as object_schema  # The schema of an object with exactly these properties, in this order.
from .prompts import short_names as short_names  # The key of each criterion in an answer about several
from .reader import reader_content as reader_content  # Everything that a judge is told of the reader
from .records import GRAVE as GRAVE  # A criterion of these is put to judges for every case
from .records import SEVERITIES as SEVERITIES
from .records import Check as Check  # One exact check
from .records import Criterion as Criterion  # One question to a judge.
from .records import Scale as Scale  # The scale a judge answers on.
from .records import Severity as Severity  # How grave it is that a case fails a criterion.
from .records import prompt_digest as prompt_digest  # The key of a prompt's checks.
from .registry import CRITERION_ID as CRITERION_ID
from .registry import LocalText as LocalText  # A short text in several languages
from .registry import Registry as Registry  # All criteria of a suite, in the file's order.
from .registry import RegistryEntry as RegistryEntry  # One criterion as the registry lists it
from .registry import load_registry as load_registry  # Read a registry.
from .scopes import BY_REPLY as BY_REPLY  # The scopes in which each reply of a conversation is judged.
from .scopes import SCOPES as SCOPES
from .scopes import SINGLE as SINGLE  # The scopes that concern single answers, too.
from .scopes import WHOLE as WHOLE  # The number of the turn where the case is judged as a whole
from .scopes import Scope as Scope
from .scopes import concerns as concerns  # Whether a criterion of a scope concerns a case at all.

# The numbers of the replies that a criterion is judged on, `WHOLE` where there is one judgment of the case.
from .scopes import turns_to_judge as turns_to_judge
