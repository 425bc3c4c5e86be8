"""The mock model server of ../shared/bench, started for a measurement."""

import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

MOCK = Path(__file__).parents[2] / "shared" / "bench" / "mock_llm.py"


@contextmanager
def mock_server(latency: int, *options: str, python: str = sys.executable) -> Iterator[str]:
    """The address of a running server.

    Args:
        latency: of an answer, in milliseconds.
        options: further options of the server.
        python: the interpreter that runs it.
    """
    command = [python, str(MOCK), "--port", "0", "--latency-ms", str(latency), *options]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            found = re.search(r"http://[\d.:]+", process.stdout.readline())
            assert found is not None
            yield found.group()
        finally:
            process.kill()
