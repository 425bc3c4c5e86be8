"""Locks that the system frees when their holder dies, held as plain file descriptors.

A descriptor has no finaliser: a forked child that ends cannot free its parent's lock.
"""

import os
import sys
from pathlib import Path


def hold(path: Path) -> int | None:
    """Take a lock; None where another holder (of this process, too) has it.

    Returns:
        A descriptor that holds the lock until it is closed.

    Raises:
        OSError: the file cannot be opened.
    """
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), 0o600)
    if lock(descriptor):
        return descriptor
    os.close(descriptor)
    return None


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
