"""Memory of long commands: glibc keeps a pool for each thread by default, and what one thread frees, another cannot use.

With one pool for all threads a run of 50,000 judgments peaks at three quarters of the memory. Python's own lock lets one thread
allocate at a time anyway. A large block goes back to the system by default, which has to empty it for the next array.
"""

import sys
from collections.abc import Mapping

_ARENA_MAX, _MMAP_MAX, _TRIM_THRESHOLD = -8, -4, -1
"""The numbers of the options in glibc's `malloc.h`."""
_NEVER = 2**31 - 1


def share_one_pool() -> None:
    """Have all threads allocate from one pool; without effect where the system's library is not glibc."""
    _set({_ARENA_MAX: 1})


def keep_large_blocks() -> None:
    """Keep the memory of arrays that are freed for the next ones, in one pool; without effect without glibc."""
    _set({_ARENA_MAX: 1, _MMAP_MAX: 0, _TRIM_THRESHOLD: _NEVER})


def _set(options: Mapping[int, int]) -> None:
    if sys.platform != "linux":
        return
    import ctypes

    try:
        set_option = ctypes.CDLL(None).mallopt
    except (OSError, AttributeError):  # another library
        return
    for option, value in options.items():
        set_option(option, value)
