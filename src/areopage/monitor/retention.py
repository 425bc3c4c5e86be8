"""Answers are kept as long as the configuration says, and erased wholly after that."""

import asyncio
from datetime import datetime, timedelta

from areopage.ledger.access import Audit
from areopage.ledger.exchanges import Exchanges
from areopage.ledger.quality import QualityScores
from areopage.ledger.store import Ledger
from areopage.monitor.config import MonitorConfig
from areopage.monitor.duties import Duty

NAME = "retention"
SCHEDULE = "30 3 * * *"
PORTION = 500  # answers in one transaction: others who write wait no longer than it takes


def retention_duty(ledger: Ledger, config: MonitorConfig) -> Duty | None:
    """The duty that erases what is older than `storage.retention_days`; None where everything is kept."""
    days = config.storage.retention_days
    if days is None:
        return None

    async def run(due: datetime) -> None:
        await asyncio.to_thread(erase_older, ledger, due - timedelta(days=days), "retention")

    return Duty(name=NAME, schedule=SCHEDULE, run=run)


def erase_older(ledger: Ledger, moment: datetime, actor: str) -> int:
    """Erase all answers that were received before a moment, in portions, and note it in the audit log.

    Of the gate's exchanges the texts go; see `Exchanges.erase`.

    Args:
        actor: who wants it, for the audit log.

    Returns:
        How many answers were erased.

    Raises:
        StorageError: the ledger cannot be written; the portions before are gone.
    """
    exchanges = Exchanges(ledger).erase_before(moment)
    scores, erased = QualityScores(ledger), 0
    done: set[str] = set()
    lingering: set[str] = set()  # what is being judged leaves an empty row, which stays until the next time
    while True:
        ids = scores.older_than(moment, PORTION + len(done) + len(lingering))
        lingering |= done.intersection(ids)
        portion = [id for id in ids if id not in lingering][:PORTION]
        if not portion:
            break
        erased += scores.erase(portion, wipe=False)
        done = set(portion)
    if erased:
        scores.wipe()
        Audit(ledger).note(actor, "erase", f"received before {moment.isoformat(timespec='seconds')}", f"{erased} answers")
    if exchanges:
        what = f"texts of {exchanges} answers of the gate"
        Audit(ledger).note(actor, "erase", f"asked before {moment.isoformat(timespec='seconds')}", what)
    return erased + exchanges
