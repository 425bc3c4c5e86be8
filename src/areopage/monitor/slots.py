"""A worker's name: its computer and the first free slot there, so that who starts again takes his own place."""

import os
import socket
import uuid
import zlib
from pathlib import Path

from areopage.errors import StorageError
from areopage.work.file_lock import hold

MOST_SLOTS = 1000


class Slot:
    """A place that is held until it is released, or its holder dies."""

    def __init__(self, folder: Path, host: str | None = None) -> None:
        """Take the first free slot.

        Args:
            folder: where the lock files lie; all workers of this computer that share a ledger should name the same.
            host: the computer's name, None to ask it.

        Raises:
            StorageError: the folder cannot be written.
        """
        self.host = host or socket.gethostname()
        self._lock, number = take(folder)
        # Two computers may share a name, and two containers an address; hardly both.
        self.name = f"{self.host}-{zlib.crc32(f'{self.host} {uuid.getnode()}'.encode()):08x}-{number}"

    def release(self) -> None:
        """Let it go; may be called twice."""
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None


def take(folder: Path) -> tuple[int | None, int]:
    """The lock and the number, from 1, of the first free slot.

    Raises:
        StorageError: the folder cannot be written, or all slots are taken.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for number in range(1, MOST_SLOTS + 1):
            lock = hold(folder / f"worker-{number}.lock")
            if lock is not None:
                return lock, number
    except OSError as error:
        raise StorageError(f"{error.filename or folder}: {error.strerror}: a worker must be able to write there") from None
    raise StorageError(f"{folder}: {MOST_SLOTS} workers are running here already: stop some")
