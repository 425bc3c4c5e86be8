"""Rounds of golden questions."""

from collections.abc import Sequence

from areopage.ledger.quality_records import GoldenRun
from areopage.ledger.store import Ledger


class GoldenRuns:
    """The table `golden_runs`."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger

    def save(self, run: GoldenRun) -> None:
        """Insert a round, or replace what is there under its id."""
        raise NotImplementedError

    def list(self, suite: str | None = None, limit: int = 50) -> Sequence[GoldenRun]:
        """The newest rounds."""
        raise NotImplementedError

    def last_good(self, suite: str) -> GoldenRun | None:
        """The newest finished round whose verdict is "good" or "first"."""
        raise NotImplementedError
