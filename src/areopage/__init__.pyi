"""Areopage: juries of judges that say whether answers of a language model are safe, right and grounded.

found = await areopage.evaluate(prompt, response, documents)
decision = areopage.check_answer(prompt, response, documents)
view = areopage.run_benchmark("child_safety", target="ollama:gemma3:4b")

The names below are the public interface; each is imported when it is first used.
"""

from .app import AppConfig as AppConfig
from .app import check_answer as check_answer
from .app import evaluate as evaluate
from .app import find_config as find_config
from .app import load_config as load_config
from .app import load_gate as load_gate
from .app import open_checker as open_checker
from .app import open_ledger as open_ledger
from .app import run_benchmark as run_benchmark
from .bench import RunView as RunView
from .cases import Case as Case
from .cases import Document as Document
from .cases import Turn as Turn
from .checking import Checker as Checker
from .checking import gate_node as gate_node
from .criteria import Criterion as Criterion
from .errors import UserError as UserError
from .gate import Decision as Decision
from .gate import Gate as Gate
from .jury import CodeJudge as CodeJudge
from .jury import Evaluated as Evaluated
from .jury import Judge as Judge
from .jury import Panel as Panel
from .ledger import Judgment as Judgment
from .ledger import Ledger as Ledger
from .models import LanguageModel as LanguageModel
from .models import ModelReference as ModelReference
from .models import ModelSettings as ModelSettings
from .monitor import QualityHook as QualityHook
from .monitor import QualityJudge as QualityJudge
from .monitor import monitored as monitored
from .report import explain as explain
from .scoring import NotApplicable as NotApplicable
from .scoring import Outcome as Outcome
from .scoring import Refused as Refused
from .scoring import Scored as Scored
from .suites import Suite as Suite
from .suites import load_suite as load_suite
from .version import __version__ as __version__

__all__: list[str]
