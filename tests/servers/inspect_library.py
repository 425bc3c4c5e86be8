"""Inspect's own library, in a process of its own: it changes the standard library's `zipfile` where it is imported."""

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest


def with_inspect(code: str, *arguments: str | Path, folder: Path) -> Any:
    """Run code with inspect_ai installed, and return what it prints as JSON on its last line.

    The interpreter is this one, else that of `AREOPAGE_INSPECT_PYTHON`; without either the test is skipped, unless
    `AREOPAGE_REQUIRE` names `inspect`.
    """
    python = sys.executable if importlib.util.find_spec("inspect_ai") else os.environ.get("AREOPAGE_INSPECT_PYTHON", "")
    if not python:
        if "inspect" in os.environ.get("AREOPAGE_REQUIRE", ""):
            pytest.fail("inspect_ai is not installed")
        pytest.skip("inspect_ai is not installed: pip install inspect-ai, or set AREOPAGE_INSPECT_PYTHON")
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    done = subprocess.run(
        [python, "-c", code, *map(str, arguments)],
        cwd=folder,
        env=kept | {"INSPECT_DISPLAY": "none"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout.splitlines()[-1])
