"""The judge, the worker and the scheduled jobs of a configuration."""

import asyncio
from collections.abc import Callable
from datetime import datetime, timedelta

from areopage.app.config import AppConfig
from areopage.checking import trace_export
from areopage.extensions import imported, registered
from areopage.jury import ContextBudget
from areopage.ledger import Ledger, last_days, make_folder
from areopage.monitor import MonitorConfig, MonitorWorker, QualityJudge, alert_jobs, golden_jobs, retention_job
from areopage.report import period_figures, quality_report, quality_report_name, write_report
from areopage.review import FillSettings, ReviewDisagreements, fill_queue
from areopage.work import ScheduledJob

HOURLY = "20 * * * *"
EVERY_MINUTE = "* * * * *"
SCHEDULED_REPORT = "daily report"


def open_quality_judge(config: MonitorConfig, kind: type[QualityJudge] = QualityJudge) -> QualityJudge:
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
            max_tokens=section.context.max_tokens, max_chunks=section.context.max_chunks, max_chars=section.context.max_chars
        ),
    )


def open_worker(ledger: Ledger, config: AppConfig, kind: type[QualityJudge] = QualityJudge) -> MonitorWorker:
    """A worker with its scheduled jobs; nothing begins yet.

    Raises:
        ConfigError, CriteriaError, ModelError: the suite or a judge is wrong.
    """
    return MonitorWorker(ledger, config.monitor, open_quality_judge(config.monitor, kind), scheduled_jobs(ledger, config))


def scheduled_jobs(ledger: Ledger, config: AppConfig) -> list[ScheduledJob]:
    """Alerts, golden questions, the report, retention, the export of traces, jobs of extensions and the review queue."""
    monitor = config.monitor
    single = (
        report_job(ledger, monitor),
        retention_job(ledger, monitor),
        trace_job(ledger, config),
        *(imported(place)(ledger, monitor) for place in registered("jobs").values()),
        _job("review", HOURLY, lambda due: fill_queue(ledger, fill_settings(monitor), due)),
    )
    return [*alert_jobs(ledger, monitor), *golden_jobs(ledger, monitor), *(job for job in single if job is not None)]


def report_job(ledger: Ledger, config: MonitorConfig) -> ScheduledJob | None:
    """The scheduled job of configured reports; None if disabled."""
    section = config.section.report
    if not section.enabled:
        return None
    return _job(SCHEDULED_REPORT, section.schedule, lambda due: write_scheduled_reports(ledger, config, due))


def write_scheduled_reports(ledger: Ledger, config: MonitorConfig, due: datetime) -> None:
    """Write the reports over the last whole days before a moment, one file for each configured format."""
    section = config.section.report
    last = due.date() - timedelta(days=1)
    figures = period_figures(ledger, config, last_days(section.days, last), now=due)
    made = quality_report(figures)
    folder = config.path(section.folder)
    if figures.quotes:
        ledger.audit.note("report", "export", str(folder), f"report, text {figures.text}")
    make_folder(folder)
    for form in dict.fromkeys(section.formats):
        write_report(made, form, folder / quality_report_name(last, form))


def trace_job(ledger: Ledger, config: AppConfig) -> ScheduledJob | None:
    """Export traces every minute; None where the configuration wants no trace files and none are there."""
    export = trace_export(config.rag, ledger)
    return _job("traces", EVERY_MINUTE, lambda _: export.run()) if export.wanted else None


def _job(name: str, schedule: str, work: Callable[[datetime], object]) -> ScheduledJob:
    async def run(due: datetime) -> None:
        await asyncio.to_thread(work, due)

    return ScheduledJob(name=name, schedule=schedule, run=run)


def review_disagreements(ledger: Ledger, config: MonitorConfig) -> ReviewDisagreements:
    """Where raters disagree, by the spread from which judges count as apart.

    Raises:
        ConfigError: the suite cannot be loaded, or a threshold is not on its scale.
    """
    scale = config.load_suite().scale
    width = scale.max - scale.min
    return ReviewDisagreements(ledger=ledger, share=config.thresholds(scale).spread / width, width=width)


def fill_settings(config: MonitorConfig) -> FillSettings:
    """Which answers go to the review queue.

    Raises:
        ConfigError: the suite cannot be loaded, or a threshold is not on its scale.
    """
    review, scale = config.section.review, config.load_suite().scale
    limits = config.thresholds(scale)
    return FillSettings(
        threshold=limits.answer if review.low_scores else None,
        higher_is_better=scale.higher_is_better,
        spread=limits.spread,
        sample=review.sample,
        raters=review.raters,
    )
