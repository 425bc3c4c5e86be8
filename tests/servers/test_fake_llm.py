"""The fake server as a process of its own, for trying things by hand."""

import json
import subprocess
import sys
import urllib.request
from pathlib import Path


def test_the_fake_server_runs_as_a_process_and_prints_its_address() -> None:
    script = Path(__file__).with_name("fake_llm.py")
    process = subprocess.Popen([sys.executable, str(script), "--models", "a,b"], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        address = process.stdout.readline().strip()
        with urllib.request.urlopen(f"{address}/api/tags", timeout=20) as reply:
            assert [model["name"] for model in json.load(reply)["models"]] == ["a", "b"]
    finally:
        process.kill()
        process.communicate()
