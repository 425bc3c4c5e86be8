"""What hooks lost, or recorded with a doubt: counts by hour, source and variant."""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import func, select

from areopage.ledger.read.queries import Period, Scope, midnight
from areopage.ledger.tables.database import Store
from areopage.ledger.tables.records import NOT_PLANNED, HookCount
from areopage.ledger.tables.rows import insert_or_replace, naive, row_of, storable
from areopage.ledger.tables.schema import hook_counts


class HookCounts(Store):
    """The table `hook_counts`."""

    def put(self, tally: str, rows: Sequence[HookCount]) -> None:
        """Store all counts of a tally, which replace earlier ones."""
        with self._ledger.writing() as connection:
            for row in rows:
                insert_or_replace(connection, hook_counts, row_of(row) | {"tally": tally})

    def lost(self, period: Period, scope: Scope, sources: Sequence[str] = ()) -> dict[str, int]:
        """The answers of a period that hooks did not submit, by kind; those that were not to be judged are not among them."""
        return self.lost_between(midnight(period.start), midnight(period.end), scope, sources)

    def lost_between(self, start: datetime, end: datetime, scope: Scope, sources: Sequence[str] = ()) -> dict[str, int]:
        """The same for the hours that begin in [start, end)."""
        counts = self._sums(start, end, scope, sources, recorded=False)
        return {why: count for why, count in counts.items() if why not in NOT_PLANNED}

    def doubtful(self, period: Period, scope: Scope, sources: Sequence[str] = ()) -> dict[str, int]:
        """The answers of a period that hooks submitted with a doubt, by kind; one answer may have several."""
        return self._sums(midnight(period.start), midnight(period.end), scope, sources, recorded=True)

    def _sums(self, start: datetime, end: datetime, scope: Scope, sources: Sequence[str], *, recorded: bool) -> dict[str, int]:
        columns = hook_counts.c
        query = select(columns.why, func.sum(columns.answers)).group_by(columns.why)
        query = query.where(columns.hour >= naive(start), columns.hour < naive(end), columns.recorded == recorded)
        if scope.source is not None:
            query = query.where(columns.source == storable(scope.source))
        if scope.variant is not None:
            query = query.where(columns.variant == storable(scope.variant))
        if sources:
            query = query.where(columns.source.in_(list(map(storable, sources))))
        return {why: int(count) for why, count in sorted(map(tuple, self._ledger.rows(query)))}
