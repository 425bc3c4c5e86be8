"""The spool: answers waiting in files, written in well under a millisecond.

Each process writes a file of its own, one line per answer, each by one system call. What is written survives the death of
the process, not a power cut. A worker takes it over (`drain`).
"""

import errno
import logging
import os
import secrets
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec

from areopage.file_lock import hold
from areopage.ledger import Answer
from areopage.monitor.hook.counts import MOST_ROWS, HookTally

ROLL_AT = 16_000_000
LONGEST_REASON = 500
LOST = "lost"
LOG = logging.getLogger(__name__)


class Spool:
    """A folder of waiting answers. It supports any thread and forked processes.

    `lost` counts what could not be written, in this process.
    """

    def __init__(self, folder: Path | str, *, roll_at: int = ROLL_AT) -> None:
        """Set the folder; the first answer creates it."""
        self.folder = Path(folder)
        self.lost = 0
        self._roll_at = roll_at
        # by process: a forked child must neither write to its parent's file nor wait for a lock that no thread of its holds
        self._writers: dict[int, _Writer] = {}

    def __getstate__(self) -> dict[str, Any]:
        """What another process gets of it: the folder, and no open file."""
        return vars(self) | {"lost": 0, "_writers": {}}

    def append(self, submission: Answer) -> bool:
        """Write a submission; on return it survives the death of this process.

        A disk that is full, or a folder that cannot be written, must not break the answer that is being given: the first
        failure is logged as a warning, all are counted in `lost`, and False is returned.
        """
        writer = self._writer()
        try:
            writer.write(msgspec.json.encode(submission) + b"\n")
        except (OSError, TypeError, ValueError) as fault:
            self.lose(f"{self.folder}: {fault}")
            return False
        writer.logged.discard(LOST)
        return True

    def lose(self, reason: str, why: str = LOST, source: str = "", variant: str = "") -> None:
        """Count a lost answer, here and in the folder, and log the first of its kind (of `LOST`: after one that was written)."""
        self.lost += 1
        writer, line = self._writer(), " ".join(reason.split())
        writer.note(why, line, source, variant)
        if why not in writer.logged:
            LOG.warning("an answer cannot be submitted for evaluation: %s", line)
        writer.logged.add(why)

    def doubt(self, kind: str, where: str, id: str, source: str = "", variant: str = "") -> None:
        """Count an answer that was written and is doubtful, in the folder."""
        self._writer().note(kind, where, source, variant, id)

    def _writer(self) -> "_Writer":
        return self._writers.get(os.getpid()) or self._writers.setdefault(os.getpid(), _Writer(self.folder, self._roll_at))

    def close(self) -> None:
        """Release this process's file, so that a worker may remove it."""
        writer = self._writers.pop(os.getpid(), None)
        if writer is not None:
            writer.close()


class _Writer:
    """The file of one process."""

    def __init__(self, folder: Path, roll_at: int) -> None:
        self._folder, self._roll_at = folder, roll_at
        self._turn = threading.RLock()  # a stream that is collected meanwhile is counted here too
        self._file: int | None = None
        self._size = 0
        self._lock: int | None = None
        self._tally: HookTally | None = None
        self.logged: set[str] = set()

    def write(self, line: bytes) -> None:
        """Append a whole line or nothing."""
        with self._turn:
            file = self._begin() if self._file is None or self._size >= self._roll_at else self._file
            try:
                written = os.write(file, line)
            except OSError:
                self._end()
                raise
            if written < len(line):
                try:
                    os.ftruncate(file, self._size)
                except OSError:
                    self._end()  # the worker puts the half line aside
                raise OSError(errno.ENOSPC, "no space left for a whole line")
            self._size += written

    def note(self, why: str, reason: str, source: str, variant: str, recorded: str = "") -> None:
        """Write how many answers were lost or are doubtful, for the worker; where that fails, too, only the log tells."""
        with self._turn, suppress(OSError):
            if self._tally is None or len(self._tally.counts) >= MOST_ROWS:
                self._tally = HookTally(self._folder, f"{time.time_ns():020d}-{os.getpid()}-{secrets.token_hex(4)}")
            self._tally.add(why, reason[:LONGEST_REASON], source, variant, recorded)

    def close(self) -> None:
        """Stop writing."""
        with self._turn:
            self._end()

    def _begin(self) -> int:
        """Open a new file; its lock is there before it is, so that it is never taken for abandoned."""
        self._end()
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        stem = self._folder / f"{time.time_ns():020d}-{os.getpid()}-{secrets.token_hex(4)}"
        self._lock, self._size = hold(stem.with_suffix(".lock")), 0
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND | getattr(os, "O_CLOEXEC", 0)
        try:
            self._file = os.open(stem.with_suffix(".jsonl"), flags, 0o600)
        except OSError:
            self._end()
            raise
        return self._file

    def _end(self) -> None:
        if self._file is not None:
            os.close(self._file)
            self._file = None
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None
