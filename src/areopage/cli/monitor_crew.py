"""What a worker needs, from a configuration: who judges, and what is done by the clock."""

from typing import TYPE_CHECKING

from areopage.cli.review_duty import review_duty
from areopage.cli.trace_duty import traces_duty
from areopage.ledger.store import Ledger
from areopage.monitor.alerts.duties import alert_duties
from areopage.monitor.config import MonitorConfig
from areopage.monitor.context import ContextBudget
from areopage.monitor.duties import Duty
from areopage.monitor.golden import golden_duties
from areopage.monitor.quality_judge import QualityJudge
from areopage.monitor.retention import retention_duty
from areopage.monitor.worker import Worker
from areopage.report.monitor import report_duty

if TYPE_CHECKING:
    from areopage.rag.config import RagConfig


def judge_of(config: MonitorConfig, kind: type[QualityJudge] = QualityJudge) -> QualityJudge:
    """The jury of a monitor; no model is called yet.

    Raises:
        ConfigError, CriteriaError, ModelError: the suite or a judge is wrong.
    """
    section = config.section
    return kind.from_suite(
        config.suite,
        section.judges,
        language=section.language or None,
        joint=section.joint,
        context=ContextBudget(
            max_tokens=section.context.max_tokens,
            max_chunks=section.context.max_chunks,
            max_chars=section.context.max_chars,
        ),
    )


def duties_of(ledger: Ledger, config: MonitorConfig, rag: "RagConfig | None" = None) -> list[Duty]:
    """Everything that is done by the clock: alerts, golden questions, the report, retention, the review queue.

    Args:
        rag: the answering pipeline's configuration; None: the one that is found.

    Raises:
        ConfigError: the suite cannot be loaded.
    """
    kept = (retention_duty(ledger, config), traces_duty(config, rag))
    single = (report_duty(ledger, config), *kept, review_duty(ledger, config))
    return [*alert_duties(ledger, config), *golden_duties(ledger, config), *(duty for duty in single if duty is not None)]


def open_worker(
    ledger: Ledger, config: MonitorConfig, kind: type[QualityJudge] = QualityJudge, *, rag: "RagConfig | None" = None
) -> Worker:
    """A worker of a monitor; nothing begins yet.

    Args:
        kind: judges.
        rag: see `duties_of`.

    Raises:
        ConfigError, CriteriaError, ModelError: the suite or a judge is wrong.
    """
    return Worker(ledger, config, judge_of(config, kind), duties_of(ledger, config, rag))
