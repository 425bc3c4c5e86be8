"""Whether a worker may have something to do: SQLite and folders say so at a tenth of the cost of a look at the ledger."""

import os
import sqlite3
from collections.abc import Iterable
from pathlib import Path

from areopage.ledger import Ledger


class Changes:
    """Notices writes to a SQLite ledger and to the files of folders; of a ledger on a server, it can say nothing.

    The clock of files may stand still for hundredths of a second: after a change of theirs the next call says that there may be
    another.
    """

    def __init__(self, ledger: Ledger, folders: Iterable[Path]) -> None:
        self._ledger, self._folders = ledger, tuple(folders)
        self._connection: sqlite3.Connection | None = None
        self._version: object = None
        self._files: list[list[tuple[str, int, int]]] = []
        self._again = False

    def noticed(self) -> bool:
        """Whether anything may have been written since the last call."""
        if not self._ledger.is_sqlite:
            return True
        before, again = (self._version, self._files), self._again
        self._version, self._files = self._data_version(), [_files_in(folder) for folder in self._folders]
        self._again = self._files != before[1]
        return again or before != (self._version, self._files)

    def close(self) -> None:
        """Close the connection to the ledger."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _data_version(self) -> object:
        """A number that changes with each commit of another connection; unlike any other where the ledger does not say."""
        try:
            if self._connection is None:
                file = self._ledger.engine.url.database or ""
                self._connection = sqlite3.connect(file, timeout=0)
            return self._connection.execute("PRAGMA data_version").fetchall()
        except sqlite3.Error:
            return object()


def _files_in(folder: Path) -> list[tuple[str, int, int]]:
    try:
        with os.scandir(folder) as entries:
            files = [(entry.name, entry.stat()) for entry in entries if entry.is_file()]
    except OSError:  # the folder, or a file in it, was removed or is not there yet
        return []
    return [(name, stat.st_mtime_ns, stat.st_size) for name, stat in files]
