"""Erasure of texts after the configured retention period."""

import asyncio
from datetime import datetime, timedelta

from areopage.ledger import Ledger
from areopage.monitor.config import MonitorConfig
from areopage.work import ScheduledJob

NAME = "retention"
SCHEDULE = "30 3 * * *"


def retention_job(ledger: Ledger, config: MonitorConfig) -> ScheduledJob | None:
    """The job that applies `storage.retention_days`; None if everything is kept."""
    days = config.storage.retention_days
    if days is None:
        return None

    async def run(due: datetime) -> None:
        await asyncio.to_thread(erase_older, ledger, due - timedelta(days=days), "retention")

    return ScheduledJob(name=NAME, schedule=SCHEDULE, run=run)


def erase_older(ledger: Ledger, moment: datetime, actor: str) -> int:
    """Erase answers received before a moment; return how many. The audit log names the actor.

    Raises:
        StorageError: the ledger cannot be written; the portions before are gone.
    """
    erased = ledger.erasure.erase_before(moment)
    if erased:
        ledger.audit.note(actor, "erase", f"received before {moment.isoformat(timespec='seconds')}", f"{erased} answers")
    return erased
