"""Whether a worker may have something to do: what files say about it costs a tenth of a look at the ledger."""

import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from areopage.ledger import Ledger

SETTLED = 0.05
"""Seconds after which a state hides no other write: the clock of files may stand still for hundredths of a second."""


class Changes:
    """Notices writes to a SQLite ledger and to the files of folders; of a ledger on a server, it can say nothing."""

    def __init__(self, ledger: Ledger, folders: Iterable[Path], clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self._files: tuple[Path, ...] = ()
        if ledger.is_sqlite:  # of a link: the file that it leads to, as its log lies there
            file = Path(ledger.engine.url.database or "").resolve()
            self._files = (file, file.with_name(f"{file.name}-wal"))
        self._listed: dict[Path, tuple[int, list[Path]]] = {folder: (-1, []) for folder in folders}
        """The files of each folder, and the time of its last change then."""
        self._state: frozenset[tuple[Path, int, int]] = frozenset()

    def noticed(self) -> bool:
        """Whether anything may have been written since the last call."""
        if not self._files:
            return True
        state = frozenset(self._read())
        changed = state != self._state
        settled = (self._clock() - SETTLED) * 1e9
        if any(written > settled for _, written, _ in state):
            state, self._listed = frozenset(), dict.fromkeys(self._listed, (-1, []))
        self._state = state
        return changed

    def _read(self) -> Iterator[tuple[Path, int, int]]:
        """The files and the folders with the times of their last changes and their sizes."""
        for folder, (before, _) in self._listed.items():
            state = _state_of(folder)
            yield state
            if state[1] != before:
                self._listed[folder] = (state[1], _files_in(folder))
        for file in (*self._files, *(file for _, files in self._listed.values() for file in files)):
            yield _state_of(file)


def _state_of(path: Path) -> tuple[Path, int, int]:
    try:
        state = path.stat()
    except OSError:  # it was removed, or is not there yet
        return path, 0, 0
    return path, state.st_mtime_ns, state.st_size


def _files_in(folder: Path) -> list[Path]:
    try:
        return [path for path in folder.iterdir() if path.is_file()]
    except OSError:
        return []
