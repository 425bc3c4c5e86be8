"""The parts of a server's limits, and of a budget, that processes have: together they never exceed them.

A process renews its part about once a second. It gives up what it must give up before another process takes it; the part of one
that is silent returns after `silence` seconds.
"""

from collections.abc import Callable, Sequence

from msgspec import Struct
from sqlalchemy import Connection, delete, select, update

from areopage.digest import digest_of
from areopage.ledger.tables.database import SILENCE, Database, Store, holder_name, in_turn
from areopage.ledger.tables.rows import insert_or_replace, record_of, row_of, storable
from areopage.ledger.tables.schema import budget_parts, endpoint_shares


class EndpointShare(Struct, frozen=True, kw_only=True):
    """A process's part of a server's limits; see the table."""

    holder: str
    slots: int = 0
    rate: float = 0.0
    wanted: int = 0


class EndpointShares(Store):
    """The table `endpoint_shares`."""

    silence = SILENCE

    def join(self) -> str:
        """Return a name for this process, which has no part yet."""
        return holder_name()

    def renew(self, server: str, holder: str, *, limit: int, wanted: int, in_use: int) -> EndpointShare:
        """Renew a process's part of the calls that a server allows at once over all processes.

        `wanted` calls of the process are open or wait, `in_use` are open.
        """
        key = digest_of([server])[:64]
        with self._ledger.reading() as connection:
            now = in_turn(connection, key)
            here = endpoint_shares.c.server == key
            connection.execute(delete(endpoint_shares).where(here, endpoint_shares.c.seen_at < now - self.silence))
            rows = connection.execute(select(endpoint_shares).where(here, endpoint_shares.c.holder != storable(holder)))
            others = [record_of(EndpointShare, row) for row in rows]
            share = share_of(holder, others, limit=limit, wanted=wanted)
            kept = {"slots": max(share.slots, in_use), "rate": share.rate, "wanted": wanted}
            insert_or_replace(connection, endpoint_shares, {"server": key, "holder": storable(holder), "seen_at": now} | kept)
            connection.commit()
        return share

    def leave(self, holder: str) -> None:
        """Return all parts of a process."""
        self._ledger.change(delete(endpoint_shares).where(endpoint_shares.c.holder == storable(holder)))


def share_of(holder: str, others: Sequence[EndpointShare], *, limit: int, wanted: int) -> EndpointShare:
    """A process's part of the calls that may be open at once over all.

    An equal one among those that want calls, more where others want less, and never what others hold; nothing for who wants none.
    """
    if not wanted:
        return EndpointShare(holder=holder)
    wanting = sorted([holder, *(share.holder for share in others if share.wanted)])
    equal = {name: limit // len(wanting) + (place < limit % len(wanting)) for place, name in enumerate(wanting)}
    free = limit - sum(share.slots for share in others)
    unclaimed = limit - sum(max(share.slots, min(share.wanted, equal.get(share.holder, 0))) for share in others)
    slots = max(0, min(free, max(equal[holder], unclaimed)))
    rate = max(0.0, min(1.0 / len(wanting), 1.0 - sum(share.rate for share in others)))
    return EndpointShare(holder=holder, slots=slots, rate=rate, wanted=wanted)


class BudgetPart(Struct, frozen=True, kw_only=True):
    """A process's part of a budget: what it has spent, set aside for open calls, and may set aside until it renews its part."""

    holder: str
    spent: float = 0.0
    set_aside: float = 0.0
    free: float = 0.0
    wants: bool = False


class RenewedPart(Struct, frozen=True, kw_only=True):
    """A part after its renewal; `others` is what is spent by others, and before.

    `is_new`: the process had no part, and what it had spent is counted in `others`. `is_over`: no process has a call open, and
    the call that waits does not fit into what is left.
    """

    others: float
    free: float
    is_new: bool
    is_over: bool


class BudgetParts:
    """The parts of one budget in the table `budget_parts`, for one process.

    What a process has spent stays counted after its end. When no process is left, the next one counts what the ledger holds.
    """

    silence = SILENCE

    def __init__(self, ledger: Database, runs: Sequence[str], spent: Callable[[], float]) -> None:
        """Prepare for runs by id, whose spending by the ledger `spent` counts; the first `renew` takes a part."""
        self._ledger, self._scope, self._spent = ledger, digest_of(sorted(runs)), spent
        self._holder = storable(holder_name())

    def renew(self, *, limit: float, spent: float, set_aside: float, wanted: float | None) -> RenewedPart:
        """Renew this process's part: what it has spent and set aside of the limit.

        `wanted` is what the call that waits costs at most, 0 where none waits; None: the process makes no calls.
        """
        with self._ledger.reading() as connection:
            now = in_turn(connection, self._scope)
            before, ours, others = self._read(connection, now - self.silence)
            is_new = ours is None
            mine = BudgetPart(holder=self._holder, spent=0.0 if is_new else spent, set_aside=set_aside, wants=wanted is not None)
            gone = before + sum(part.spent for part in others)
            free = free_part(mine, others, left=limit - gone - mine.spent, wanted=wanted or 0.0)
            row = row_of(mine) | {"scope": self._scope, "spent_before": before, "seen_at": now, "free": free}
            insert_or_replace(connection, budget_parts, row)
            connection.commit()
        is_open = bool(set_aside) or any(part.set_aside for part in others)
        is_over = not is_open and wanted is not None and wanted > limit - gone - mine.spent
        return RenewedPart(others=gone, free=free, is_new=is_new, is_over=is_over)

    def leave(self) -> None:
        """Return this process's part; what it has spent stays counted while others go on."""
        here = (budget_parts.c.scope == self._scope) & (budget_parts.c.holder == self._holder)
        self._ledger.change(update(budget_parts).where(here).values(set_aside=0.0, free=0.0, wants=False))

    def _read(self, connection: Connection, since: float) -> tuple[float, BudgetPart | None, list[BudgetPart]]:
        """What was spent before the first of the present processes, this process's part, and those of the others."""
        here = budget_parts.c.scope == self._scope
        rows = connection.execute(select(budget_parts).where(here)).all()
        if not any(row.seen_at >= since for row in rows):
            connection.execute(delete(budget_parts).where(here))
            return self._spent(), None, []
        parts = [
            record_of(BudgetPart, row)
            if row.seen_at >= since or row.holder == self._holder
            else BudgetPart(holder=row.holder, spent=row.spent)
            for row in rows
        ]
        ours = next((part for part in parts if part.holder == self._holder), None)
        return rows[0].spent_before, ours, [part for part in parts if part is not ours]


def free_part(mine: BudgetPart, others: Sequence[BudgetPart], *, left: float, wanted: float) -> float:
    """What a process may set aside: an equal part of what is left, or what a call that waits needs, and never what others hold.

    `wanted` is what the call that waits costs at most; 0: none waits.
    """
    if not mine.wants:
        return 0.0
    unclaimed = left - mine.set_aside - sum(part.set_aside for part in others)
    equal = unclaimed / (1 + sum(part.wants for part in others))
    free = max(0.0, min(unclaimed - sum(part.free for part in others), max(equal, wanted)))
    return 0.0 if free < wanted and not mine.set_aside else free  # useless to this process: it is left to others
