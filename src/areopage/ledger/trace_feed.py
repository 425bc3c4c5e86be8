"""Reads for an export of traces: the end of the ledger, and changed texts."""

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
    """Traces of the channel `chat` and their changes, in append order.

    Each method may be called from any thread.
    """

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger

    def end(self) -> TraceEnd:
        """Return the current end for an export.

        PostgreSQL gives numbers before it commits: a lock waits for the transactions that hold lower ones.

        Raises:
            StorageError: the ledger cannot be read, or a transaction takes longer than `LOCK_SECONDS`.
        """
        return TraceEnd(change=self._last(trace_changes), answer=self._last(answers))

    def traces(self, after: int, until: int) -> Iterator[Sequence[Trace]]:
        """Iterate over traces by number of answer, in portions."""
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
        """Iterate over ids of answers with changed texts."""
        query = select(answers.c.id).join(trace_changes, trace_changes.c.answer == answers.c.number)
        with storage_errors(self._ledger.place), self._ledger.engine.connect() as connection:
            return set(connection.execute(query.where(trace_changes.c.number.between(after + 1, until))).scalars())

    def current(self, ids: Iterable[str]) -> Iterator[Trace]:
        """Return current traces by id."""
        for part in chunks([storable(id) for id in ids]):
            with storage_errors(self._ledger.place), self._ledger.engine.connect() as connection:
                found = read_traces(connection, answers.c.id.in_(part))
            yield from found

    def numbers(self, ids: Sequence[str]) -> dict[str, int]:
        """Return the numbers of traces by id; unknown ids are skipped."""
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
