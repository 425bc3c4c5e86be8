"""Alerts: opened once, counted while they hold, closed when they do not, delivered until somebody got them."""

from collections.abc import Sequence
from datetime import datetime

from areopage.ledger.quality_records import Alert
from areopage.ledger.store import Ledger


class Alerts:
    """The table `alerts`."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger

    def open(self, alert: Alert) -> bool:
        """Open an alert, or count it once more where one of the same rule and subject is open.

        Returns:
            Whether it is new.
        """
        raise NotImplementedError

    def close(self, rule: str, subject: str, at: datetime) -> bool:
        """Close the open alert of a rule and subject; returns whether there was one."""
        raise NotImplementedError

    def is_open(self, rule: str, subject: str) -> bool:
        """Whether an alert of a rule and subject is open."""
        raise NotImplementedError

    def undelivered(self, now: datetime, limit: int = 50) -> Sequence[Alert]:
        """Alerts whose delivery is due, the oldest first."""
        raise NotImplementedError

    def delivered(self, number: int) -> None:
        """Note that somebody got it."""
        raise NotImplementedError

    def not_delivered(self, number: int, error: str, next_attempt_at: datetime | None) -> None:
        """Note a failed delivery; None gives up."""
        raise NotImplementedError

    def list(self, *, state: str | None = None, limit: int = 100) -> Sequence[Alert]:
        """The newest alerts."""
        raise NotImplementedError

    def get(self, number: int) -> Alert | None:
        """One alert."""
        raise NotImplementedError
