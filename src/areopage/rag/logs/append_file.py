"""A file of lines that many processes append to, and that is rotated when it has grown.

Beside `NAME.jsonl` lies `NAME.jsonl.lock`: whoever appends holds it, and the system frees it when its holder dies. A line that
was acknowledged is on the disk, whole, and once. A line that a dying process wrote half is cut off by whoever comes next: nobody
was told that it was there. Rotated files are `NAME.000001.jsonl`, `NAME.000002.jsonl` and so on, the newest last.
"""

import os
import re
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

TAIL = 65_536


class AppendFile:
    """Appends lines. One object may be used from any thread; any number of them, in any processes, share a file."""

    def __init__(self, path: Path, max_bytes: int, keep: int) -> None:
        """Args:
        max_bytes: a file that would grow beyond it is put aside first; a longer line has a file of its own.
        keep: how many files that were put aside stay; older ones are removed.
        """
        self.path = path
        self.cut = 0
        """How many half-written lines of others this object cut off."""
        self._max_bytes, self._keep = max_bytes, keep
        self._guard = threading.Lock()

    def append(self, line: bytes) -> None:
        """Append a line, which ends in its only line feed; it is on the disk when this returns.

        Raises:
            OSError: it cannot be written (no space left, no permission); nothing of it is in the file then.
        """
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self._guard, locked(self.path.with_name(self.path.name + ".lock")):
            descriptor, new = open_to_append(self.path)
            try:
                size = self._whole_lines(descriptor)
                if size and size + len(line) > self._max_bytes:
                    os.close(descriptor)
                    self._rotate()
                    descriptor, new = open_to_append(self.path)
                    size = 0
                write_whole(descriptor, line, size)
                # with the lock held: whoever rotates, or removes what is old, finds only lines that are safe
                os.fsync(descriptor)
            finally:
                os.close(descriptor)
            if new:
                sync_folder(self.path.parent)

    def _whole_lines(self, descriptor: int) -> int:
        """Cut off a line that has no end; returns the size of what is left."""
        size = os.fstat(descriptor).st_size
        end = end_of_lines(descriptor, size)
        if end < size:
            os.ftruncate(descriptor, end)
            self.cut += 1
        return end

    def _rotate(self) -> None:
        """Put the file aside, and remove those that are too many."""
        older = rotated(self.path)
        number = older[-1][0] + 1 if older else 1
        put_aside = self.path.with_name(f"{self.path.stem}.{number:06d}{self.path.suffix}")
        self.path.rename(put_aside)
        for _, path in [*older, (number, put_aside)][: max(0, len(older) + 1 - self._keep)]:
            path.unlink(missing_ok=True)
        sync_folder(self.path.parent)


def rotated(path: Path) -> list[tuple[int, Path]]:
    """The files that were put aside, with their numbers, the oldest first."""
    name = re.compile(rf"{re.escape(path.stem)}\.(\d{{6,}}){re.escape(path.suffix)}")
    matched = [(name.fullmatch(one.name), one) for one in path.parent.glob(f"{path.stem}.*{path.suffix}")]
    return sorted((int(match[1]), one) for match, one in matched if match)


def open_to_append(path: Path) -> tuple[int, bool]:
    """A descriptor of a file, and whether it is empty, hence maybe new; its group may read it, others may not."""
    flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NOFOLLOW", 0)
    descriptor = os.open(path, flags, 0o640)
    return descriptor, os.fstat(descriptor).st_size == 0


def end_of_lines(descriptor: int, size: int) -> int:
    """Where the last whole line of a file ends; 0 where there is none."""
    end = size
    while end:
        start = max(0, end - TAIL)
        os.lseek(descriptor, start, os.SEEK_SET)  # appending goes to the end all the same
        found = os.read(descriptor, end - start).rfind(b"\n")
        if found >= 0:
            return start + found + 1
        end = start
    return 0


def write_whole(descriptor: int, line: bytes, size: int) -> None:
    """Write a line in one piece, or leave the file at the size that it had.

    Raises:
        OSError: it cannot be written.
    """
    rest = memoryview(line)
    try:
        while rest:  # one round, unless the disk is about to be full
            rest = rest[os.write(descriptor, rest) :]
    except OSError:
        os.ftruncate(descriptor, size)
        raise


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold a lock, waiting for it as long as it takes: who holds it writes one line, or dies."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), 0o660)
    try:
        wait_for_lock(descriptor)
        yield
    finally:
        os.close(descriptor)


def wait_for_lock(descriptor: int) -> None:
    """Lock an open file until it is closed."""
    if sys.platform == "win32":
        import msvcrt

        while True:
            try:
                msvcrt.locking(descriptor, msvcrt.LK_LOCK, 1)
            except OSError:
                continue
            return
    import fcntl

    fcntl.flock(descriptor, fcntl.LOCK_EX)


def sync_folder(folder: Path) -> None:
    """Put a folder's names on the disk; on Windows that is the system's business."""
    if sys.platform == "win32":
        return
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
