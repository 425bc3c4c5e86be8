"""The examples of the documentation: files to write, commands to run, and what they print."""

import os
import re
import shlex
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import click

from areopage.cli.main import DefaultGroup, app
from areopage.ledger.store import Ledger
from areopage.ledger.write.evaluations import Evaluations
from servers.command import Command
from servers.forked import Forked
from servers.monitored import wait_until

ROOT = Path(__file__).parents[2]
# the page's seconds may be too few for a worker
STOPPED = re.compile(r"timeout -s INT \d+ (?P<command>areopage monitor worker) \|\| true")
# what a shell does after a command whatever its exit code
WHATEVER = re.compile(r'(?P<command>areopage [^|&;<>$()]+) \|\| (true|echo "exit code \$\?")')
# what a command takes from the list of another
SUBSTITUTED = re.compile(r"\$\((?P<command>areopage [^|&;<>$()]+) \| (?P<filter>awk '[^']*')\)")
PYTEST = "python -m pytest "
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
    """The first expected line that the output does not have in its place: below the one before, or later where `...` stands."""
    lines, place, may_skip = output.splitlines(), 0, True
    for wanted in expected:
        if wanted == "...":
            may_skip = True
            continue
        pattern = re.compile(".*".join(re.escape(part) for part in wanted.split("...")))
        room = range(place, len(lines) if may_skip else min(place + 1, len(lines)))
        at = next((number for number in room if pattern.fullmatch(lines[number])), None)
        if at is None:
            return wanted
        place, may_skip = at + 1, False
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
    plain = not set("|&;<>$()") & set(command)
    if command.startswith("areopage ") and plain:
        done = Command(folder, environment)(*shlex.split(command)[1:], together=True)
        return done.code, done.out
    if command.startswith(PYTEST) and plain:
        words = shlex.split(command.removeprefix(PYTEST))
        process = Forked("pytest", *words, module=True, folder=folder, environment=environment, together=True)
        said = process.communicate()[0]
        return process.wait(), said
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


def command_of(words: Sequence[str]) -> str:
    """Parse a command as the program does, without running it; the names of its commands."""
    group: click.Command = app
    names: list[str] = []
    context = click.Context(group, info_name="areopage")
    rest = list(words)
    while isinstance(group, click.Group):
        name = group.default if isinstance(group, DefaultGroup) and rest[:1] not in _named(group) else rest.pop(0)
        found = group.get_command(context, name)
        assert found is not None, f"areopage {shlex.join(words)}: no command {name}"
        group, names = found, [*names, name]
    group.make_parser(context).parse_args(rest)
    return " ".join(names)


def _named(group: click.Group) -> list[list[str]]:
    return [[name] for name in group.list_commands(click.Context(group))]


def environment_of(folder: Path) -> dict[str, str]:
    """The environment of a reader who has installed Areopage: its command and `python` are found first."""
    folder.mkdir()
    for name, start in (("areopage", "-m areopage "), ("python", "")):
        (folder / name).write_text(f'#!/bin/sh\nexec "{sys.executable}" {start}"$@"\n')
        (folder / name).chmod(0o755)
    own = {"PATH": f"{folder}:{os.environ['PATH']}", "COLUMNS": "160", "PYTEST_PLUGINS": "areopage.pytest_plugin"}
    own["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"  # of all that is installed beside it
    return os.environ | own


def play(text: str, folder: Path, environment: dict[str, str]) -> int:
    """Write the files of a page and run its commands; the number of commands.

    Raises:
        AssertionError: a command fails, or does not print what the page shows.
    """
    folder.mkdir()
    ran = 0
    for file, command, lines in steps(text):
        if file:
            (folder / file).write_text("\n".join(lines) + "\n", encoding="utf-8")
            continue
        code, said = run(command, folder, environment)
        assert code == 0, f"{command}\n{said}"
        missing = matches(lines, said)
        assert missing is None, f"{command}\ndoes not print {missing!r} but\n{said}"
        ran += 1
    return ran
