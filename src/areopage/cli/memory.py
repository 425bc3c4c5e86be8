"""Memory of long commands: glibc keeps a pool for each thread by default, and what one thread frees, another cannot use.

With one pool for all threads a run of 50,000 judgments peaks at three quarters of the memory. Python's own lock lets one thread
allocate at a time anyway.
"""

import sys

_ARENA_MAX = -8
"""The number of the option in glibc's `malloc.h`."""


def share_one_pool() -> None:
    """Have all threads allocate from one pool; without effect where the system's library is not glibc."""
    if sys.platform != "linux":
        return
    import ctypes

    try:
        set_option = ctypes.CDLL(None).mallopt
    except (OSError, AttributeError):  # another library
        return
    set_option(_ARENA_MAX, 1)
