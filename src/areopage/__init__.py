"""Areopage: juries of judges that say whether answers of a language model are safe, right and grounded.

found = await areopage.evaluate(prompt, response, documents)
decision = areopage.check_answer(prompt, response, documents)
view = areopage.run_benchmark("child_safety", target="ollama:gemma3:4b")

The names below are the public interface; each is imported when it is first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from areopage.version import __version__

if TYPE_CHECKING:
    from areopage.app.answering import open_checker
    from areopage.app.config import AppConfig, find_config, load_config
    from areopage.app.gate_rules import check_answer, load_gate
    from areopage.app.ledger import open_ledger
    from areopage.app.library import evaluate, run_benchmark
    from areopage.bench.results.run_view import RunView
    from areopage.cases.records import Case, Document, Turn
    from areopage.checking.checker import Checker
    from areopage.checking.gate_node import gate_node
    from areopage.criteria.records import Criterion
    from areopage.errors import UserError
    from areopage.gate.decide import Gate
    from areopage.gate.records import Decision
    from areopage.jury.code_judge import CodeJudge
    from areopage.jury.judges import Judge
    from areopage.jury.panel import Panel
    from areopage.jury.results import Evaluated
    from areopage.ledger.store import Ledger
    from areopage.ledger.tables.records import Judgment
    from areopage.models.port import LanguageModel
    from areopage.models.reference import ModelReference
    from areopage.models.settings import ModelSettings
    from areopage.monitor.asgi_hook import QualityHook
    from areopage.monitor.hook import monitored
    from areopage.monitor.quality_judge import QualityJudge
    from areopage.report.gate.decisions import explain
    from areopage.scoring.outcome import NotApplicable, Outcome, Refused, Scored
    from areopage.suites.loader import Suite, load_suite

__all__ = [
    "AppConfig",
    "Case",
    "Checker",
    "CodeJudge",
    "Criterion",
    "Decision",
    "Document",
    "Evaluated",
    "Gate",
    "Judge",
    "Judgment",
    "LanguageModel",
    "Ledger",
    "ModelReference",
    "ModelSettings",
    "NotApplicable",
    "Outcome",
    "Panel",
    "QualityHook",
    "QualityJudge",
    "Refused",
    "RunView",
    "Scored",
    "Suite",
    "Turn",
    "UserError",
    "__version__",
    "check_answer",
    "evaluate",
    "explain",
    "find_config",
    "gate_node",
    "load_config",
    "load_gate",
    "load_suite",
    "monitored",
    "open_checker",
    "open_ledger",
    "run_benchmark",
]

_MODULES = {
    "app.answering": "open_checker",
    "app.config": "AppConfig find_config load_config",
    "app.gate_rules": "check_answer load_gate",
    "app.ledger": "open_ledger",
    "app.library": "evaluate run_benchmark",
    "bench.results.run_view": "RunView",
    "cases.records": "Case Document Turn",
    "criteria.records": "Criterion",
    "errors": "UserError",
    "gate.decide": "Gate",
    "gate.records": "Decision",
    "jury.code_judge": "CodeJudge",
    "jury.judges": "Judge",
    "jury.panel": "Panel",
    "jury.results": "Evaluated",
    "ledger.tables.records": "Judgment",
    "ledger.store": "Ledger",
    "models.port": "LanguageModel",
    "models.reference": "ModelReference",
    "models.settings": "ModelSettings",
    "monitor.asgi_hook": "QualityHook",
    "monitor.hook": "monitored",
    "monitor.quality_judge": "QualityJudge",
    "checking.checker": "Checker",
    "checking.gate_node": "gate_node",
    "report.gate.decisions": "explain",
    "scoring.outcome": "NotApplicable Outcome Refused Scored",
    "suites.loader": "Suite load_suite",
}
_HOME = {name: f"areopage.{module}" for module, names in _MODULES.items() for name in names.split()}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'areopage' has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
