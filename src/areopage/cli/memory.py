"""Memory of long commands: glibc keeps a pool for each thread by default, and what one thread frees, another cannot use.

With one pool for all threads a run of 50,000 judgments peaks at three quarters of the memory. Python's own lock lets one thread
allocate at a time anyway. A large block goes back to the system by default, which has to empty it for the next array.
"""

import sys
from collections.abc import Mapping
from typing import Any

_ARENA_MAX, _MMAP_MAX, _MMAP_THRESHOLD, _TRIM_THRESHOLD = -8, -4, -3, -1
"""The numbers of the options in glibc's `malloc.h`."""
_NEVER = 2**31 - 1
_LARGE, _FREE = 2**20, 2**23
"""Bytes of a large block, and of free memory at the end of the pool that goes back to the system."""


def share_one_pool() -> None:
    """Have all threads allocate from one pool, and large blocks go back to the system; without effect without glibc.

    By default blocks of up to 32 MB come from the pool once some have been freed, and leave holes in it.
    """
    _set({_ARENA_MAX: 1, _MMAP_THRESHOLD: _LARGE, _TRIM_THRESHOLD: _FREE})


def keep_large_blocks() -> None:
    """Keep the memory of arrays that are freed for the next ones, in one pool; without effect without glibc."""
    _set({_ARENA_MAX: 1, _MMAP_MAX: 0, _TRIM_THRESHOLD: _NEVER})


def give_back() -> None:
    """Return what is free in the pool to the system, for what follows takes memory of its own; without effect without glibc."""
    if (library := _library("malloc_trim")) is not None:
        library.malloc_trim(0)


def _set(options: Mapping[int, int]) -> None:
    if (library := _library("mallopt")) is not None:
        for option, value in options.items():
            library.mallopt(option, value)


def _library(function: str) -> Any:
    """The system's library, where it is glibc and has a function; else None."""
    if sys.platform != "linux":
        return None
    import ctypes

    try:
        library = ctypes.CDLL(None)
        getattr(library, function)
    except (OSError, AttributeError):  # another library
        return None
    return library
