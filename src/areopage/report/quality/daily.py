"""The report that is written by itself."""

import asyncio
from datetime import datetime, timedelta

from areopage.ledger.connection import make_folder
from areopage.ledger.store import Ledger
from areopage.monitor.config import MonitorConfig
from areopage.monitor.duties import Duty
from areopage.report.quality.page import gather, last_days
from areopage.report.quality.write import file_name, write_quality_report

NAME = "daily report"


def report_duty(ledger: Ledger, config: MonitorConfig) -> Duty | None:
    """The duty that writes the configured reports; None where they are switched off."""
    section = config.section.report
    if not section.enabled:
        return None

    async def run(due: datetime) -> None:
        await asyncio.to_thread(write_reports, ledger, config, due)

    return Duty(name=NAME, schedule=section.schedule, run=run)


def write_reports(ledger: Ledger, config: MonitorConfig, due: datetime) -> None:
    """Write the reports over the last whole days before a moment, one file for each configured format.

    Raises:
        StorageError: the ledger cannot be read, or a file cannot be written.
        ConfigError: the suite cannot be loaded.
    """
    section = config.section.report
    last = due.date() - timedelta(days=1)
    report = gather(ledger, config, last_days(section.days, last), now=due)
    folder = config.path(section.folder)
    make_folder(folder)
    for form in dict.fromkeys(section.formats):
        write_quality_report(report, form, folder / file_name(last, form))
