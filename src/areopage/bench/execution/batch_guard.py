"""One process at a time drives the batches of a run.

The lock is freed by the system when its holder dies: the next process finds every batch in the ledger. A process that only sleeps
keeps it.
"""

import asyncio
import hashlib
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

from sqlalchemy import text

from areopage.errors import StorageError
from areopage.file_lock import hold_existing, remove
from areopage.ledger import Ledger

_LOOK_EVERY = 0.5


@asynccontextmanager
async def batch_turn(ledger: Ledger, run_id: str) -> AsyncIterator[None]:
    """Wait until no other process drives the batches of a run, and keep others from it.

    Raises:
        StorageError: the lock cannot be taken.
    """
    while True:
        with try_batch_turn(ledger, run_id) as mine:
            if mine:
                yield
                return
        await asyncio.sleep(_LOOK_EVERY)


@contextmanager
def try_batch_turn(ledger: Ledger, run_id: str) -> Iterator[bool]:
    """Yield whether this process has the turn; see `batch_turn`."""
    turn = _try_file if ledger.engine.dialect.name == "sqlite" else _try_database
    with turn(ledger, run_id) as mine:
        yield mine


@contextmanager
def _try_file(ledger: Ledger, run_id: str) -> Iterator[bool]:
    """Lock a file beside the ledger, which is removed at the end."""
    path = Path(f"{ledger.engine.url.database}.batches-{hashlib.sha256(run_id.encode()).hexdigest()[:16]}.lock")
    try:
        held = hold_existing(path)
    except OSError as error:
        raise StorageError(f"{path} cannot be written: {error.strerror}") from None
    try:
        yield held is not None
    finally:
        if held is not None:
            remove(path, held)


@contextmanager
def _try_database(ledger: Ledger, run_id: str) -> Iterator[bool]:
    number = int.from_bytes(hashlib.sha256(f"batches {run_id}".encode()).digest()[:8], "big", signed=True)
    with ledger.reading() as connection:
        guard = connection.execution_options(isolation_level="AUTOCOMMIT")  # no transaction stays open meanwhile
        mine = bool(guard.execute(text("SELECT pg_try_advisory_lock(:number)"), {"number": number}).scalar())
        try:
            yield mine
        finally:
            if mine:
                guard.execute(text("SELECT pg_advisory_unlock(:number)"), {"number": number})
