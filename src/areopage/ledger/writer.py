"""Commit what arrives within 50 ms, many records to a transaction.

A transaction costs far more than a row, so records wait up to `WINDOW` for company. Leaving the
`async with` commits the rest.
"""

import asyncio
from types import TracebackType

from areopage.errors import StorageError
from areopage.ledger.records import Answer, Judgment
from areopage.ledger.store import Ledger

WINDOW = 0.02


class LedgerWriter:
    """An asynchronous front to `Ledger.append`; use as `async with`."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._waiting: list[Answer | Judgment] = []
        self._arrived = asyncio.Event()
        self._closing = False
        self._failure: StorageError | None = None
        self._task: asyncio.Task[None] | None = None

    async def __aenter__(self) -> "LedgerWriter":
        self._task = asyncio.create_task(self._write())
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        """Commit all that waits. A failure to do so is raised unless something else already is."""
        self._closing = True
        self._arrived.set()
        if self._task is not None:
            await self._task
        if self._failure is not None and error is None:
            raise self._failure

    def append(self, record: Answer | Judgment) -> None:
        """Hand a record over; it is committed within 50 ms.

        Raises:
            StorageError: an earlier record could not be committed.
        """
        if self._failure is not None:
            raise self._failure
        if self._task is not None and self._task.done():
            self._task.result()  # whatever else ended it must not go unseen while records pile up
        self._waiting.append(record)
        self._arrived.set()

    async def _write(self) -> None:
        while self._failure is None:
            await self._arrived.wait()
            if not self._closing:
                await asyncio.sleep(WINDOW)
            self._arrived.clear()
            batch, self._waiting = self._waiting, []
            if batch:
                try:
                    await asyncio.to_thread(self._ledger.append, batch)
                except StorageError as failure:
                    self._failure = failure
            elif self._closing:
                return
            if self._closing:
                self._arrived.set()
