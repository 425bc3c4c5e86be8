"""Lists of answers: filtered, searched, page by page, and as a stream for exports."""

from collections.abc import Iterator, Sequence
from datetime import datetime

from areopage.ledger.quality_records import Filters, Period, QualityScore, Scope
from areopage.ledger.store import Ledger


class QualityLists:
    """Reads of `quality_scores`. Quick at a million rows: each goes through an index and takes no more rows than it shows."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger

    def page(self, filters: Filters, *, before: int | None = None, limit: int = 50) -> list[QualityScore]:
        """The newest answers that pass the filters.

        Args:
            before: only answers whose `number` is smaller (the last one of the page before).
        """
        raise NotImplementedError

    def worst(self, period: Period, scope: Scope, limit: int = 5) -> list[QualityScore]:
        """The scored answers of a period with the lowest global score."""
        raise NotImplementedError

    def recent(self, since: datetime, scope: Scope, limit: int) -> list[QualityScore]:
        """The answers evaluated at or after a moment, newest first."""
        raise NotImplementedError

    def tally(self, since: datetime, until: datetime, scope: Scope) -> dict[str, dict[float, int]]:
        """How often each score was given to answers whose timestamp is in [since, until): criterion, score, number of answers."""
        raise NotImplementedError

    def spread_most(self, period: Period, scope: Scope, limit: int) -> list[QualityScore]:
        """The answers of a period on which judges differ most."""
        raise NotImplementedError

    def sample(self, period: Period, scope: Scope, limit: int, seed: int) -> list[QualityScore]:
        """A random sample of a period's answers; the same for the same seed and rows."""
        raise NotImplementedError

    def stream(self, filters: Filters) -> Iterator[QualityScore]:
        """All answers that pass, oldest first, in portions; memory stays bounded."""
        raise NotImplementedError

    def sources(self) -> Sequence[str]:
        """The sources there are (from the days' totals)."""
        raise NotImplementedError

    def variants(self) -> Sequence[str]:
        """The variants there are, "" included where answers have none (from the days' totals)."""
        raise NotImplementedError
