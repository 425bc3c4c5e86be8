"""A command computes in its own thread."""

import os
import subprocess
import sys

import pytest

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
