"""The days' counts: what every figure of a period is folded from."""

from collections.abc import Sequence

from areopage.ledger.quality_records import DayCounts, DayTotals, JudgeDays, Period, Scope
from areopage.ledger.store import Ledger


class Counts:
    """The tables `quality_counts`, `quality_days` and `judge_days`."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger

    def days(self, period: Period, scope: Scope) -> Sequence[DayCounts]:
        """Scores given, by day and variant, in order of days."""
        raise NotImplementedError

    def totals(self, period: Period, scope: Scope) -> Sequence[DayTotals]:
        """What was done, by day, in order; days without answers are left out."""
        raise NotImplementedError

    def judges(self, period: Period) -> Sequence[JudgeDays]:
        """What each judge did (golden questions included)."""
        raise NotImplementedError
