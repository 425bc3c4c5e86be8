"""Threads of long commands share one pool of memory, and numbers need no threads of their own."""

import ctypes
import os
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


FREED = """
import resource
from pathlib import Path
from areopage.cli.memory import give_back, share_one_pool

def resident():
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()

share_one_pool()
texts, last = [bytes(4_000) for _ in range(20_000)], bytes(4_000)
texts.clear()
before = resident()
give_back()
print(before - resident())
"""


@pytest.mark.skipif(sys.platform != "linux", reason="glibc only")
def test_free_memory_below_a_block_in_use_goes_back_to_the_system() -> None:
    done = subprocess.run([sys.executable, "-c", FREED], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    if not hasattr(ctypes.CDLL(None), "malloc_trim"):
        pytest.skip("the system's library is not glibc")
    assert int(done.stdout) > 40_000_000


ALGEBRA = """
import os
from areopage.cli import main

def app(**_):
    import numpy
    numpy.ones((200, 200)) @ numpy.ones((200, 200))
    print(len(os.listdir("/proc/self/task")))

main.app = app
main.main()
"""


@pytest.mark.skipif(sys.platform != "linux", reason="Linux tells the number of threads")
def test_a_command_computes_in_its_own_thread() -> None:
    environment = {name: value for name, value in os.environ.items() if name != "OPENBLAS_NUM_THREADS"}
    done = subprocess.run([sys.executable, "-c", ALGEBRA], env=environment, capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("1\n", "")
