"""What stores the records of a run as they arrive; all of it is called in one event loop.

A commit to a SQLite file takes a few tenths of a millisecond. The event loop makes it: a thread that commits waits for the
interpreter at each statement, longer than the commit takes. A thread commits (`write.batch`) in PostgreSQL, and while
another process writes to the file.
"""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Self

from sqlalchemy import Connection

from areopage.errors import StorageError
from areopage.ledger.tables.connection import storage_errors
from areopage.ledger.tables.database import Database, begins_at_once
from areopage.ledger.write.answers import Answers, RunRecord, insert_judged
from areopage.ledger.write.batch import Batch

WITHIN = 0.001
"""Seconds that records wait for others: each commit has a cost of its own. Their calls keep their places."""
THREAD_WITHIN = 0.004
"""Seconds that records wait for others in the thread."""
AT_ONCE = 24
"""Records that are committed without waiting for others: where many answers come together, the first calls that follow them are
on their way while the last answers are read."""
LOOK_EVERY = 1.0
"""Seconds between two looks at whether the file of the ledger is still there."""


class RunWriter:
    """Commits records in groups, each within a few milliseconds; used as `async with`.

    Where records cannot be written the block is cancelled, and the fault is raised: no call is paid whose answer would be lost.
    """

    def __init__(self, ledger: Database, what: str) -> None:
        """Prepare to write records, which the log calls `what`; nothing is opened yet."""
        self._ledger = ledger
        self._thread = Batch[RunRecord, None](Answers(ledger).append_judged, what=what, delay=THREAD_WITHIN)
        self._connection: Connection | None = None
        self._waiting: list[tuple[Sequence[RunRecord], Callable[[], None]]] = []
        self._count = 0
        self._timer: asyncio.TimerHandle | None = None
        self._fault: BaseException | None = None
        self._owner: asyncio.Task[object] | None = None
        self._file = _identity(ledger)
        self._looked_at = 0.0

    async def __aenter__(self) -> Self:
        self._loop, self._owner = asyncio.get_running_loop(), asyncio.current_task()
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        """Commit what waits; a failure is raised unless another exception is active."""
        owner, self._owner = self._owner, None
        if self._fault is not None and owner is not None:
            with suppress(asyncio.CancelledError):
                await asyncio.sleep(0)  # the cancellation may not have come yet
            if not owner.uncancel() and isinstance(error, asyncio.CancelledError):  # nobody else has cancelled it
                error = None
        try:
            self._commit()
            await asyncio.to_thread(self._thread.close, None)
            if self._fault is not None:
                raise self._fault
        except Exception:
            if error is None:
                raise
        finally:
            if self._connection is not None:
                with storage_errors(self._ledger.place):
                    self._connection.close()
                self._connection = None

    def write_soon(self, records: Sequence[RunRecord], settled: Callable[[], None] = lambda: None) -> None:
        """Write records without waiting; raises the fault of earlier ones that could not be written.

        `settled` is called, in any thread, when they are on disk; never where they cannot be written.
        """
        if self._fault is not None:
            raise self._fault
        self._waiting.append((records, settled))
        self._count += len(records)
        if self._count >= AT_ONCE:
            self._commit()
        elif self._timer is None:
            self._timer = self._loop.call_later(WITHIN, self._commit)

    async def flush(self) -> None:
        """Wait until all records so far are on disk."""
        self._commit()
        if self._thread.waiting:
            await asyncio.to_thread(self._thread.flush)
        if self._fault is not None:
            raise self._fault

    def _commit(self) -> None:
        """Commit what waits, or let the thread do it."""
        if self._timer is not None:
            self._timer.cancel()
        waiting, self._waiting, self._timer, self._count = self._waiting, [], None, 0
        if not waiting or self._fault is not None:
            return
        try:
            if self._thread.waiting or not self._committed([record for records, _ in waiting for record in records]):
                for records, settled in waiting:
                    self._thread.write_soon(records, settled=partial(self._settled_in_thread, settled))
                return
        except Exception as fault:  # noqa: BLE001 - it is raised to each caller from now on
            self._fail(fault)
            return
        for _, settled in waiting:
            settled()

    def _settled_in_thread(self, settled: Callable[[], None], fault: BaseException | None) -> None:
        if fault is None:
            settled()
        else:
            with suppress(RuntimeError):  # the loop has ended
                self._loop.call_soon_threadsafe(self._fail, fault)

    def _fail(self, fault: BaseException) -> None:
        if self._fault is None:
            self._fault = fault
            if self._owner is not None:
                self._owner.cancel()

    def _committed(self, records: Sequence[RunRecord]) -> bool:
        """Commit records; False where that is the thread's part."""
        if self._ledger.engine.dialect.name != "sqlite":
            return False
        with storage_errors(self._ledger.place):
            self._require_file()
            if self._connection is None:
                self._connection = self._ledger.unpooled()
            try:
                if not begins_at_once(self._connection):
                    return False
                insert_judged(self._connection, records)
                self._connection.commit()
            except BaseException:
                self._connection.rollback()
                raise
        return True

    def _require_file(self) -> None:
        """Look once in a while whether the file is still there: SQLite would go on with a file that has no name."""
        now = self._loop.time()
        if now - self._looked_at >= LOOK_EVERY:
            self._looked_at = now
            if _identity(self._ledger) != self._file:
                raise StorageError(f"{self._ledger.place} was deleted or replaced while it was in use: bring it back")


def _identity(ledger: Database) -> tuple[int, int] | None:
    """What a ledger's file is told from others by; None without a file."""
    if ledger.engine.dialect.name != "sqlite":
        return None
    try:
        status = Path(ledger.engine.url.database or "").stat()
    except FileNotFoundError:
        return None
    return status.st_dev, status.st_ino
