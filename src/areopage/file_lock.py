"""Locks that the system frees when their holder dies, held as plain file descriptors.

A descriptor has no finaliser: a forked child that ends cannot free its parent's lock.
"""

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_PAUSE = 0.01  # seconds between two looks


def hold(path: Path) -> int | None:
    """Take a lock, which the descriptor holds until it is closed; None where another holder (of this process, too) has it."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), 0o600)
    if lock(descriptor):
        return descriptor
    os.close(descriptor)
    return None


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold a lock, whose file stays; other holders are waited for."""
    while (descriptor := hold(path)) is None:
        time.sleep(_PAUSE)
    try:
        yield
    finally:
        os.close(descriptor)


def hold_existing(path: Path) -> int | None:
    """As `hold`, for files that their holders remove at the end: one that was just removed is made anew."""
    while (descriptor := hold(path)) is not None:
        with suppress(FileNotFoundError):
            if os.path.samestat(os.fstat(descriptor), path.stat()):
                return descriptor
        os.close(descriptor)
    return None


def remove(path: Path, descriptor: int) -> None:
    """Remove the file of a lock, and free the lock."""
    with suppress(OSError):  # one system does not remove an open file: there it stays, free
        path.unlink()
    os.close(descriptor)


def lock(descriptor: int) -> bool:
    """Lock an open file, unless another holder has locked it."""
    if sys.platform == "win32":
        import msvcrt

        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True
    import fcntl

    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):
        return False
    return True
