"""The built wheel in a clean environment: it runs, it is typed, and its bill of materials names what is installed."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import areopage

from .conftest import ROOT, Built, clean_environment

CLIENT = """
import areopage
from areopage import Decision, RunView

DOCUMENTS = ["The notice period is 30 days."]


async def weakest(prompt: str, response: str) -> float:
    found = await areopage.evaluate(prompt, response, DOCUMENTS)
    return min(score for score in found.scores.values() if score is not None)


def complete(view: RunView) -> bool:
    return view.complete


def decide(response: str) -> str:
    decision: Decision = areopage.check_answer("How long is the notice period?", response, DOCUMENTS)
    return decision.verdict


if __name__ == "__main__":
    print(decide("The notice period is 30 days."), decide("The notice period is 60 days."))
"""
WRONG = """
import areopage

verdict: int = areopage.check_answer("How long?", "30 days.", []).verdict
"""


def _run(*command: str | Path, folder: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    environment = clean_environment() | {"COLUMNS": "120"} | variables
    return subprocess.run([*map(str, command)], cwd=folder, env=environment, capture_output=True, text=True, check=False)


@pytest.mark.long
def test_a_user_of_the_wheel_sees_the_help_and_the_demo(clean: Path, tmp_path: Path) -> None:
    done = _run(clean / "areopage", "--help", folder=tmp_path)
    assert done.returncode == 0 and "demo" in done.stdout, done.stderr
    done = _run(clean / "areopage", "demo", "--folder", "shown", folder=tmp_path)
    assert done.returncode == 0 and "REGRESSION" in done.stdout, done.stdout + done.stderr
    assert (tmp_path / "shown" / "index.html").is_file()


@pytest.mark.long
def test_a_typed_program_of_a_user_is_checked_strictly_against_the_wheel(clean: Path, tmp_path: Path) -> None:
    (tmp_path / "client.py").write_text(CLIENT, encoding="utf-8")
    (tmp_path / "wrong.py").write_text(WRONG, encoding="utf-8")
    options = [
        "--strict",
        "--config-file=",
        "--no-error-summary",
        f"--cache-dir={os.devnull}",
        "--python-executable",
        str(clean / "python"),
    ]
    done = _run(sys.executable, "-m", "mypy", *options, "client.py", "wrong.py", folder=tmp_path)
    (told,) = done.stdout.splitlines()
    assert told.startswith("wrong.py:4: error: Incompatible types"), "the types of the wheel are read, and the program fits them"
    ran = _run(clean / "python", "client.py", folder=tmp_path)
    assert ran.stdout.split() == ["deliver", "human_review"], ran.stdout + ran.stderr


@pytest.mark.long
def test_the_bill_of_materials_is_valid_and_names_what_is_installed_with_allowed_licences(clean: Path, tmp_path: Path) -> None:
    place = tmp_path / "areopage.cdx.json"
    done = _run(sys.executable, ROOT / "tools" / "sbom.py", clean / "python", place, folder=tmp_path)
    assert done.returncode == 0, done.stderr
    bill = json.loads(place.read_text(encoding="utf-8"))
    assert "serialNumber" not in bill and "timestamp" not in bill["metadata"], "the same versions give the same file"
    assert bill["metadata"]["component"]["version"] == areopage.__version__
    program = "import importlib.metadata as m, json; print(json.dumps([[d.name, d.version] for d in m.distributions()]))"
    installed = json.loads(_run(clean / "python", "-c", program, folder=tmp_path).stdout)
    listed = [[one["name"], one["version"]] for one in bill["components"]]
    assert sorted(listed) == sorted(one for one in installed if one[0] != "areopage")
    checked = _run(sys.executable, ROOT / "tools" / "licences.py", place, folder=tmp_path)
    assert checked.returncode == 0, checked.stdout + checked.stderr


@pytest.mark.long
def test_uvx_runs_the_wheel_without_an_installation(clean: Path, built: Built, tmp_path: Path) -> None:
    places = {"UV_TOOL_DIR": str(tmp_path / "tools"), "UV_PYTHON": sys.executable, "UV_PYTHON_DOWNLOADS": "never"}
    done = _run(sys.executable, "-m", "uv", "tool", "run", "--from", built.wheel, "areopage", "--help", folder=tmp_path, **places)
    assert done.returncode == 0 and "demo" in done.stdout, done.stderr
    assert {one.name for one in tmp_path.iterdir()} <= {"tools"}, "nothing is left in the user's folder"
