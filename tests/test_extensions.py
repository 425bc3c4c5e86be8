"""The core works where an extension is not there: commands, the server, messages."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from areopage.extensions import NAMES, installed
from servers.command import Command

HIDE = """
import sys
from importlib.abc import MetaPathFinder

class Hidden(MetaPathFinder):
    name = "areopage." + sys.argv.pop(1)

    def find_spec(self, fullname, path, target=None):
        if fullname == self.name:
            raise ModuleNotFoundError(f"No module named {fullname!r}", name=fullname)

sys.meta_path.insert(0, Hidden())
"""
COMMAND = (
    HIDE
    + """
from areopage.cli.process import command
command()
"""
)
EVERY_COMMAND = (
    HIDE
    + """
import click
from areopage.cli.main import app

def walk(group):
    context = click.Context(group)
    for name in group.list_commands(context):
        below = group.get_command(context, name)
        assert below.get_help(click.Context(below)), name
        if isinstance(below, click.Group):
            walk(below)

walk(app)
"""
)
SERVER = (
    HIDE
    + """
from pathlib import Path
from fastapi.testclient import TestClient
from areopage.server.app import create_app
from server.seeded import context_for

app = create_app(context_for(Path(sys.argv[1])))
with TestClient(app, client=("127.0.0.1", 50000), base_url="http://127.0.0.1:8600") as client:
    for address in ("/healthz", "/", "/monitor", "/review", "/gate", "/runs", "/openapi.json"):
        answer = client.get(address)
        assert answer.status_code == 200, (address, answer.status_code, answer.text)
"""
)


def script(text: str, *arguments: str | Path) -> None:
    path = os.pathsep.join([str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", text, *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"PYTHONPATH": path},
    )
    assert done.returncode == 0, done.stderr


def test_all_extensions_are_installed() -> None:
    assert len(list(installed())) == len(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_every_other_command_exists_without_an_extension(name: str) -> None:
    script(EVERY_COMMAND, name)


@pytest.mark.parametrize("name", NAMES)
def test_the_server_answers_without_an_extension(name: str, tmp_path: Path) -> None:
    script(SERVER, name, tmp_path)


@pytest.mark.parametrize("name", NAMES)
def test_a_benchmark_runs_without_an_extension(name: str, command: Command, suite: Path) -> None:
    process = command.start("bench", "run", "--suite", suite, interpreter=("-c", COMMAND, name))
    _, text = process.communicate()
    assert process.returncode == 0, text


@pytest.mark.parametrize("name", ["compare", "exams"])
def test_the_demonstration_runs_without_an_extension(name: str, command: Command) -> None:
    process = command.start("demo", "tour", interpreter=("-c", COMMAND, name))
    _, text = process.communicate()
    assert process.returncode == 0, text


def test_a_plan_without_the_extension_that_examines_judges_says_so(command: Command) -> None:
    plan = ("bench", "plan", "--suite", "child_safety", "--target", "ollama:fake-a", "--judge", "ollama:fake-a")
    process = command.start(*plan, interpreter=("-c", COMMAND, "exams"))
    text, errors = process.communicate()
    assert process.returncode == 0, errors
    assert (
        "not examined on criteria of the release floors\n  the exam cannot be planned: examining judges needs an extension"
        in text
    )


def test_what_a_missing_extension_registers_is_refused_in_one_line(command: Command, tmp_path: Path) -> None:
    """Here: a command and a format of `interop`."""
    interpreter = ("-c", COMMAND, "interop")
    for arguments in (("suites", "import", "kora", "a", "b"), ("cases", "convert", tmp_path, tmp_path / "cases.csv")):
        process = command.start(*arguments, interpreter=interpreter)
        _, text = process.communicate()
        assert process.returncode == 2
        assert "Traceback" not in text
