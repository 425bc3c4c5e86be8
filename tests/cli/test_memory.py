"""Threads of long commands share one pool of memory."""

import subprocess
import sys

import pytest

PROGRAM = """
import threading
from areopage.cli.memory import share_one_pool

share_one_pool()
keep = []

def allocate():
    keep.append([bytes(4_000) for _ in range(2_000)])

threads = [threading.Thread(target=allocate) for _ in range(8)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
import ctypes
ctypes.CDLL(None).malloc_stats()
"""


@pytest.mark.skipif(sys.platform != "linux", reason="glibc only")
def test_threads_share_one_pool_of_memory() -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=False)
    if "malloc_stats" in done.stderr:
        pytest.skip("the system's library is not glibc")
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("Arena ") == 1
