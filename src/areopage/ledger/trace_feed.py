"""What an export of traces reads: how far the ledger goes, and which answers have lost texts since."""

from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct
from sqlalchemy import Table, func, select, text

from areopage.ledger.connection import storage_errors
from areopage.ledger.records import Trace
from areopage.ledger.rows import chunks, storable
from areopage.ledger.schema import answers, decisions, trace_changes
from areopage.ledger.store import Ledger
from areopage.ledger.traces import PORTION, read_traces

LOCK_SECONDS = 10


class TraceEnd(Struct, frozen=True, kw_only=True):
    """The number of the latest answer, and of the latest change of a trace's texts."""

    answer: int
    change: int


class TraceFeed:
    """Traces of the channel `chat` and their changes, in an order in which nothing is ever inserted before what was read.

    Each method may be called from any thread.
    """

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger

    def end(self) -> TraceEnd:
        """How far an export may read now.

        PostgreSQL gives numbers before it commits: a lock waits for the transactions that hold lower ones.

        Raises:
            StorageError: the ledger cannot be read, or a transaction takes longer than `LOCK_SECONDS`.
        """
        return TraceEnd(change=self._last(trace_changes), answer=self._last(answers))

    def traces(self, after: int, until: int) -> Iterator[Sequence[Trace]]:
        """Traces by the numbers of their answers, in portions."""
        of_chat = func.coalesce(decisions.c.channel, "") == "chat"  # no index is sought in: it would be sorted by number
        while True:
            number = decisions.c.answer.between(after + 1, until)
            with storage_errors(self._ledger.place), self._ledger.engine.connect() as connection:
                found = read_traces(connection, number, of_chat, limit=PORTION)
            if found:
                yield found
            if len(found) < PORTION:
                return
            after = found[-1].answer.number

    def changed(self, after: int, until: int) -> set[str]:
        """Ids of the answers whose texts have changed."""
        query = select(answers.c.id).join(trace_changes, trace_changes.c.answer == answers.c.number)
        with storage_errors(self._ledger.place), self._ledger.engine.connect() as connection:
            return set(connection.execute(query.where(trace_changes.c.number.between(after + 1, until))).scalars())

    def current(self, ids: Iterable[str]) -> Iterator[Trace]:
        """Traces as they are now, by their ids."""
        for part in chunks([storable(id) for id in ids]):
            with storage_errors(self._ledger.place), self._ledger.engine.connect() as connection:
                found = read_traces(connection, answers.c.id.in_(part))
            yield from found

    def numbers(self, ids: Sequence[str]) -> dict[str, int]:
        """The numbers of traces by their ids; those that the ledger does not have are left out."""
        found: dict[str, int] = {}
        query = select(answers.c.id, answers.c.number).join(decisions, decisions.c.answer == answers.c.number)
        query = query.where(decisions.c.channel == "chat")
        with storage_errors(self._ledger.place), self._ledger.engine.connect() as connection:
            for part in chunks([storable(id) for id in dict.fromkeys(ids)]):
                found.update({row.id: row.number for row in connection.execute(query.where(answers.c.id.in_(part)))})
        return found

    def _last(self, table: Table) -> int:
        with storage_errors(self._ledger.place), self._ledger.engine.begin() as connection:
            if connection.dialect.name == "postgresql":
                connection.execute(text(f"SET LOCAL lock_timeout = '{LOCK_SECONDS}s'"))
                connection.execute(text(f"LOCK TABLE {table.name} IN SHARE MODE"))
            return int(connection.execute(select(func.max(table.c.number))).scalar() or 0)
