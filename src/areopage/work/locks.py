"""A named lock at a ledger, which one process holds at a time; the system frees it when its holder dies.

At SQLite it is a file beside the ledger, at PostgreSQL a lock of the database.
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

_SHORTEST_PAUSE, _LONGEST_PAUSE = 0.02, 0.5


@asynccontextmanager
async def exclusive(ledger: Ledger, name: str) -> AsyncIterator[None]:
    """Wait until no other process holds a lock, and hold it."""
    pause = _SHORTEST_PAUSE
    while True:
        with try_exclusive(ledger, name) as mine:
            if mine:
                yield
                return
        await asyncio.sleep(pause)
        pause = min(2 * pause, _LONGEST_PAUSE)


@contextmanager
def try_exclusive(ledger: Ledger, name: str) -> Iterator[bool]:
    """Yield whether this process holds a lock until the block ends."""
    digest = hashlib.sha256(name.encode()).digest()
    if ledger.engine.dialect.name == "sqlite":
        path = Path(f"{ledger.engine.url.database}.{digest.hex()[:16]}.lock")
        try:
            lock = hold_existing(path)
        except OSError as error:
            raise StorageError(f"{path} cannot be written: {error.strerror}") from None
        try:
            yield lock is not None
        finally:
            if lock is not None:
                remove(path, lock)
        return
    number = int.from_bytes(digest[:8], "big", signed=True)
    with ledger.reading() as connection:
        guard = connection.execution_options(isolation_level="AUTOCOMMIT")  # no transaction stays open meanwhile
        mine = bool(guard.execute(text("SELECT pg_try_advisory_lock(:number)"), {"number": number}).scalar())
        try:
            yield mine
        finally:
            if mine:
                guard.execute(text("SELECT pg_advisory_unlock(:number)"), {"number": number})
