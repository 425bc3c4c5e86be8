"""A monitor from its configuration: the judge, the worker and its scheduled jobs."""

import asyncio
from datetime import datetime, timedelta

from areopage.app.config import AppConfig
from areopage.app.pipeline import trace_folder
from areopage.jury.context import ContextBudget
from areopage.ledger.store import Ledger
from areopage.monitor.alerts.jobs import alert_jobs
from areopage.monitor.config import MonitorConfig
from areopage.monitor.golden import golden_jobs
from areopage.monitor.quality_judge import QualityJudge
from areopage.monitor.retention import SCHEDULE as NIGHTLY
from areopage.monitor.retention import retention_job
from areopage.monitor.thresholds import thresholds_of
from areopage.monitor.worker import MonitorWorker
from areopage.rag.logs.erase_traces import erase_traces_before
from areopage.report.monitor import report_job
from areopage.review.fill import FillSettings, fill_queue
from areopage.work.handlers import ScheduledJob

HOURLY = "20 * * * *"


def open_judge(config: MonitorConfig, kind: type[QualityJudge] = QualityJudge) -> QualityJudge:
    """The jury of a monitor; no model is called yet.

    Args:
        kind: the class that judges.

    Raises:
        ConfigError, CriteriaError, ModelError: the suite or a judge is wrong.
    """
    section, suite = config.section, config.load_suite()
    return kind.from_suite(
        suite,
        config.judges(suite),
        language=section.language or None,
        joint=section.joint,
        context=ContextBudget(
            max_tokens=section.context.max_tokens,
            max_chunks=section.context.max_chunks,
            max_chars=section.context.max_chars,
        ),
    )


def open_worker(ledger: Ledger, config: AppConfig, kind: type[QualityJudge] = QualityJudge) -> MonitorWorker:
    """A worker with its scheduled jobs; nothing begins yet.

    Raises:
        ConfigError, CriteriaError, ModelError: the suite or a judge is wrong.
    """
    return MonitorWorker(ledger, config.monitor, open_judge(config.monitor, kind), scheduled_jobs(ledger, config))


def scheduled_jobs(ledger: Ledger, config: AppConfig) -> list[ScheduledJob]:
    """Alerts, golden questions, the report, retention and the review queue.

    Raises:
        ConfigError: the suite cannot be loaded.
    """
    monitor = config.monitor
    single = (
        report_job(ledger, monitor),
        retention_job(ledger, monitor),
        trace_retention(config),
        review_job(ledger, monitor),
    )
    return [*alert_jobs(ledger, monitor), *golden_jobs(ledger, monitor), *(job for job in single if job is not None)]


def trace_retention(config: AppConfig) -> ScheduledJob | None:
    """Erase texts from this computer's trace files by `storage.retention_days`; None where everything is kept."""
    days = config.storage.retention_days
    if days is None:
        return None
    folder = trace_folder(config)

    async def run(due: datetime) -> None:
        await asyncio.to_thread(erase_traces_before, folder, due - timedelta(days=days))

    return ScheduledJob(name="trace_retention", schedule=NIGHTLY, run=run)


def review_job(ledger: Ledger, config: MonitorConfig) -> ScheduledJob:
    """Fill the review queue every hour."""

    async def fill(due: datetime) -> None:
        await asyncio.to_thread(fill_queue, ledger, fill_settings(config), due)

    return ScheduledJob(name="review", schedule=HOURLY, run=fill)


def fill_settings(config: MonitorConfig) -> FillSettings:
    """Which answers go to the review queue.

    Raises:
        ConfigError: the suite cannot be loaded, or a threshold is not on its scale.
    """
    review, scale = config.section.review, config.load_suite().scale
    limits = thresholds_of(config, scale)
    return FillSettings(
        threshold=limits.answer if review.low_scores else None,
        higher_is_better=scale.higher_is_better,
        spread=limits.spread,
        sample=review.sample,
        raters=review.raters,
    )
