"""The parts of a server's limits that processes have: together they never exceed the limits.

A process renews its part about once a second. It gives up what it must give up before another process takes it; the part of one
that is silent returns after `silence` seconds.
"""

from collections.abc import Sequence

from msgspec import Struct
from sqlalchemy import delete, select

from areopage.digest import digest_of
from areopage.ledger.tables.database import SILENCE, Store, holder_name, in_turn
from areopage.ledger.tables.rows import insert_or_replace, record_of, storable
from areopage.ledger.tables.schema import endpoint_shares


class Held(Struct, frozen=True, kw_only=True):
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

    def renew(self, server: str, holder: str, *, limit: int, wanted: int, in_use: int) -> Held:
        """Renew a process's part of the calls that a server allows at once over all processes.

        `wanted` calls of the process are open or wait, `in_use` are open.
        """
        key = digest_of([server])[:64]
        with self._ledger.reading() as connection:
            now = in_turn(connection, key)
            here = endpoint_shares.c.server == key
            connection.execute(delete(endpoint_shares).where(here, endpoint_shares.c.seen_at < now - self.silence))
            others = [
                record_of(Held, row) for row in connection.execute(select(endpoint_shares).where(here)) if row.holder != holder
            ]
            share = share_of(holder, others, limit=limit, wanted=wanted)
            kept = {"slots": max(share.slots, in_use), "rate": share.rate, "wanted": wanted}
            insert_or_replace(connection, endpoint_shares, {"server": key, "holder": storable(holder), "seen_at": now} | kept)
            connection.commit()
        return share

    def leave(self, holder: str) -> None:
        """Return all parts of a process."""
        self._ledger.change(delete(endpoint_shares).where(endpoint_shares.c.holder == storable(holder)))


def share_of(holder: str, others: Sequence[Held], *, limit: int, wanted: int) -> Held:
    """A process's part of the calls that may be open at once over all.

    An equal one among those that want calls, more where others want less, and never what others hold; nothing for who wants none.
    """
    if not wanted:
        return Held(holder=holder)
    wanting = sorted([holder, *(one.holder for one in others if one.wanted)])
    equal = {name: limit // len(wanting) + (place < limit % len(wanting)) for place, name in enumerate(wanting)}
    free = limit - sum(one.slots for one in others)
    unclaimed = limit - sum(max(one.slots, min(one.wanted, equal.get(one.holder, 0))) for one in others)
    slots = max(0, min(free, max(equal[holder], unclaimed)))
    rate = max(0.0, min(1.0 / len(wanting), 1.0 - sum(one.rate for one in others)))
    return Held(holder=holder, slots=slots, rate=rate, wanted=wanted)
