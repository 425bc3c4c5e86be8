"""The fake server as a process of its own, for trying things by hand."""

import json
import subprocess
import sys
import urllib.request
from pathlib import Path

from servers import PATIENCE


def test_the_fake_server_runs_as_a_process_and_prints_its_address() -> None:
    arguments = [sys.executable, "-m", "servers.fake_llm", "--models", "a,b"]
    process = subprocess.Popen(arguments, cwd=Path(__file__).parents[1], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        address = process.stdout.readline().strip()
        with urllib.request.urlopen(f"{address}/api/tags", timeout=PATIENCE) as reply:
            assert [model["name"] for model in json.load(reply)["models"]] == ["a", "b"]
    finally:
        process.kill()
        process.communicate()
