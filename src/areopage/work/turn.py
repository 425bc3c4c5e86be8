"""The turn of a pool's processes to open their queue, one after the other.

A process that holds it, and whose pool had no worker before, knows that no other process has begun an item of the pool or can
begin one: it needs no queue until another process waits for the turn. The system frees the turn when its holder dies. There are
turns at SQLite ledgers, whose processes are on one computer.
"""

import os
import threading
import time
from contextlib import suppress
from pathlib import Path

from sqlalchemy import URL

from areopage.digest import digest_of
from areopage.errors import StorageError
from areopage.file_lock import hold_existing, remove
from areopage.work.database import queue_url

WAITS = 30.0
"""Seconds after which a process no longer waits for another one that holds the turn: it may be stopped."""
_LOOK_EVERY = 0.02


class Turn:
    """The turn of one process. Its methods may be called from any thread, one after the other."""

    def __init__(self, ledger: URL, pool: str) -> None:
        """Prepare.

        Args:
            ledger: the ledger's database.
            pool: the worker pool.
        """
        is_file = ledger.get_backend_name() == "sqlite"
        self._place = Path(f"{queue_url(ledger).database}.{digest_of(pool)[:16]}.lock") if is_file else None
        self._lock: int | None = None
        self._given_up = threading.Event()

    @property
    def exists(self) -> bool:
        """Whether processes of the pool take turns."""
        return self._place is not None

    def take(self) -> bool:
        """Take the turn; False where another process has it, or there are no turns.

        Raises:
            StorageError: the lock file cannot be written.
        """
        if self._place is None:
            return False
        try:
            self._lock = self._lock if self._lock is not None else hold_existing(self._place)
        except OSError as error:
            raise StorageError(f"{self._place}: {error.strerror}: a worker must be able to write there") from None
        return self._lock is not None

    def wait(self) -> bool:
        """Wait for the turn, unless there are no turns; not for ever. False where `give_up` is called meanwhile.

        Raises:
            StorageError: the lock file cannot be written.
        """
        until = time.monotonic() + WAITS
        while self._place is not None and not self.take() and time.monotonic() < until:
            _ask_for(self._place)
            if self._given_up.wait(_LOOK_EVERY):
                return False
        return True

    @property
    def wanted(self) -> bool:
        """Whether this process holds the turn and another one has waited for it."""
        return self._lock is not None and os.fstat(self._lock).st_size > 0

    def give_up(self) -> None:
        """Let a call of `wait` in another thread return."""
        self._given_up.set()

    def pass_on(self) -> None:
        """Let other processes open their queue; may be called twice."""
        if self._place is not None and self._lock is not None:
            remove(self._place, self._lock)
            self._lock = None


def _ask_for(place: Path) -> None:
    """Let the holder of a turn know that this process waits: the lock file is no longer empty."""
    with suppress(OSError):  # the holder has just removed it
        descriptor = os.open(place, os.O_WRONLY | getattr(os, "O_CLOEXEC", 0))
        try:
            os.lseek(descriptor, 1, os.SEEK_SET)  # one system keeps others from writing the first byte, which is locked
            os.write(descriptor, b"w")
        finally:
            os.close(descriptor)
