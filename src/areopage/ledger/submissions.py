"""Answers handed over for evaluation, and how far each has come."""

from collections.abc import Sequence
from datetime import datetime

from areopage.ledger.quality_records import Backlog, Submission
from areopage.ledger.store import Ledger


class Submissions:
    """The table `submissions`. Each method is one transaction and may be called from any thread."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger

    def add(self, submissions: Sequence[Submission]) -> list[bool]:
        """Append submissions; on return they are on the disk, whatever happens to power (SQLite: synchronous=FULL here).

        Returns:
            For each whether it is new; one whose id is already there (or came earlier in the sequence) changes nothing.
        """
        raise NotImplementedError

    def due(self, now: datetime, limit: int) -> list[tuple[str, int]]:
        """Ids and attempt counts of waiting submissions whose next attempt is due, in order of arrival."""
        raise NotImplementedError

    def queued(self, ids: Sequence[str]) -> None:
        """Note that waiting submissions have gone to the queue."""
        raise NotImplementedError

    def still_queued(self, before: datetime, limit: int) -> list[tuple[str, int]]:
        """Ids and attempt counts of submissions that went to the queue and were received before a moment (to find lost ones)."""
        raise NotImplementedError

    def retry(self, id: str, at: datetime, reason: str) -> None:
        """Count a failed attempt and let the submission wait until `at`; one that is evaluated already stays so."""
        raise NotImplementedError

    def give_up(self, id: str, reason: str) -> None:
        """Note that no further attempt is made, and count it in the day's totals; once, however often it is called."""
        raise NotImplementedError

    def reopen(self, ids: Sequence[str] | None = None) -> int:
        """Let given-up submissions (all: None) wait again with no attempts counted; returns how many."""
        raise NotImplementedError

    def get(self, id: str) -> Submission | None:
        """A submission by its id."""
        raise NotImplementedError

    def backlog(self) -> Backlog:
        """How much is not evaluated yet."""
        raise NotImplementedError
