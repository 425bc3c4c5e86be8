"""What keeps alerts from becoming a storm, or from being sent twice: counts, ends and reservations in the table `alerts`."""

from datetime import datetime

from sqlalchemy import func, select, update

from areopage.ledger.connection import storage_errors
from areopage.ledger.monitor_tables import alerts
from areopage.ledger.quality_records import Alert
from areopage.ledger.rows import naive
from areopage.ledger.store import Ledger


class AlertPacing:
    """Each method is one transaction."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger

    def opened_since(self, rule: str, since: datetime, most: int) -> int:
        """How many of the `most` newest alerts of a rule were opened at or after a moment, whatever became of them.

        Only these are looked at, so that it takes no longer in a large table.
        """
        newest = select(alerts.c.opened_at).where(alerts.c.rule == rule).order_by(alerts.c.number.desc()).limit(most).subquery()
        query = select(func.count()).where(newest.c.opened_at >= naive(since))
        with storage_errors(self._ledger.place), self._ledger.engine.connect() as connection:
            return int(connection.execute(query).scalar_one())

    def close_before(self, rule: str, before: datetime, at: datetime) -> int:
        """Close the open alerts of a rule that were opened before a moment; returns how many."""
        closing = (
            update(alerts)
            .where(alerts.c.state == "open", alerts.c.rule == rule, alerts.c.opened_at < naive(before))
            .values(state="closed", closed_at=naive(at))
        )
        with storage_errors(self._ledger.place), self._ledger.engine.begin() as connection:
            return connection.execute(closing).rowcount

    def reserve(self, alert: Alert, until: datetime) -> bool:
        """Keep an alert that is due from being sent by anybody else until a moment; False where somebody was first.

        Whoever dies while sending leaves it due again at that moment.
        """
        reserving = (
            update(alerts)
            .where(
                alerts.c.number == alert.number,
                alerts.c.delivery == "pending",
                alerts.c.next_attempt_at == naive(alert.next_attempt_at),
            )
            .values(next_attempt_at=naive(until))
        )
        with storage_errors(self._ledger.place), self._ledger.engine.begin() as connection:
            return connection.execute(reserving).rowcount == 1
