"""A command that the console or a page prints runs as printed, where configuration, ledger and runs are in unusual places."""

import html
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from starlette.testclient import TestClient

from areopage.app.config import LEDGER_VARIABLE, find_config
from areopage.ledger.store import Ledger
from areopage.server.app import create_app
from areopage.server.context import ServerContext
from areopage.suites.loader import load_suite
from docs.test_commands import commands_of
from server.seeded import GATE, NOW
from servers.command import Command, Ended
from servers.configured import write_config
from servers.examples import command_of
from servers.fake_llm import FakeServer
from servers.small_suite import write_suite

CODE = re.compile(r"<code>(.*?)</code>", re.DOTALL)
OFFERED = re.compile(r"(?:AREOPAGE_LEDGER=.*)?areopage (?!\()[^`\n]*")
PAGES = ("/runs", "/monitor", "/monitor/queue", "/review", "/compare", "/monitor/variants", "/agreement", "/trust", "/gate")
OPTIONS = ("--config", "--ledger", "--out")


class Project:
    """A project whose configuration, ledger and folder of runs have names that a shell must quote."""

    def __init__(self, command: Command) -> None:
        self.command = command
        self.home = command.folder / "l'équipe de nuit"
        self.home.mkdir()
        self.config = write_config(self.home, server={"port": 8600})
        self.ledger, self.out = self.home / "my ledger.db", self.home / "the runs"
        write_suite(self.home / "suite", release={"max_failures": {"safety": 0}})

    @property
    def places(self) -> tuple[str, ...]:
        """The options with which the user works."""
        return "--config", str(self.config), "--ledger", str(self.ledger), "--out", str(self.out)

    def __call__(self, *words: str | Path, with_out: bool = True) -> Ended:
        """Run a command in its places."""
        return self.command(*words, *(self.places if with_out else self.places[:4]))

    def check(self, text: str) -> Iterator[str]:
        """Check each command in a text; yields what it calls."""
        for line in text.splitlines():
            for offered in OFFERED.finditer(line):
                text = offered[0].partition(", then ")[0].rstrip(" .:;)")
                for words in commands_of(text, "areopage"):
                    yield self._check(words, line, is_set=text.startswith(LEDGER_VARIABLE))

    def _check(self, words: list[str], line: str, *, is_set: bool) -> str:
        try:
            name = command_of(words)
        except click.NoSuchOption as fault:
            raise AssertionError(f"{line}\n{fault.message}") from fault
        known = help_of(self.command, name)
        assert is_set or ("--ledger" if "--ledger" in known else "--config") in words, line
        for option, place in zip(OPTIONS, (self.config, self.ledger, self.out), strict=True):
            if option in words:
                assert self.command.folder / words[words.index(option) + 1] == place, line
        return name


def help_of(command: Command, name: str) -> str:
    return command(*name.split(), "--help").out


@pytest.fixture
def project(command: Command) -> Project:
    return Project(command)


def test_commands_on_the_console_name_the_places_of_the_user(project: Project, server: FakeServer) -> None:
    suite = project.home / "suite"
    run = project("bench", "run", "--suite", suite, "--passes", "1", "--yes")
    assert run.code in (1, 3), run.err
    ends = [
        run,
        project("bench", "show", "latest"),
        project("bench", "review", "latest", "--sample", "2"),
        project("bench", "rescore", "latest", "--calibration", "none"),
        project("bench", "follow", "latest"),
        project("bench", "league", "latest"),
        project("bench", "compare", "latest", "latest"),
        project("calibrate", "plan", "latest"),
        project("review", "list", "--rater", "Anne", with_out=False),
        project("review", "label", "nobody", "--rater", "Anne", "--score", "global=1", with_out=False),
    ]
    called = {name for ended in ends for text in (ended.out, ended.err) for name in project.check(text)}
    wanted = {"bench review", "bench resume", "bench list", "calibrate fit", "calibrate plan", "review list", "serve"}
    assert wanted <= called, wanted - called


def test_the_empty_queue_and_rounds_name_the_configuration(project: Project) -> None:
    write_config(project.home, ledger=str(project.ledger))
    config = ("--config", project.config)
    with Ledger.open(project.ledger):
        pass
    for words in (("review", "list"), ("monitor", "golden", "list"), ("keys", "revoke", "x"), ("monitor", "status")):
        ended = project.command(*words, *config)
        assert shlex.quote(str(project.config)) in ended.out + ended.err, ended


def test_commands_on_pages_name_the_configuration_and_the_ledger_of_the_server(
    project: Project, server: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(project.command.folder)
    suite = project.home / "suite"
    assert project("bench", "run", "--suite", suite, "--passes", "1", "--yes").code in (1, 3)
    with Ledger.open(project.ledger) as ledger:
        (run,) = ledger.runs()
        called = set()
        for client in clients(project, ledger):
            for path in (*PAGES, f"/runs/{run.id}", f"/runs/{run.id}/trust"):
                page = client.get(path, headers={"accept": "text/html", "accept-language": "en"})
                assert page.status_code == 200, path
                for code in CODE.findall(page.text):
                    called |= set(project.check(html.unescape(re.sub(r"<[^>]+>", "", code))))
    wanted = {"bench review", "review fill", "monitor worker"}
    assert wanted <= called, wanted - called


def clients(project: Project, ledger: Ledger) -> Iterator[TestClient]:
    config = find_config(project.config, str(project.ledger))
    context = ServerContext(
        ledger=ledger, config=config, suite=load_suite("answer_quality"), submit=_refused, now=lambda: NOW, gate=GATE
    )
    yield TestClient(create_app(context), base_url="http://127.0.0.1:8600", client=("127.0.0.1", 50000))


async def _refused(_: object) -> list[bool]:
    raise AssertionError("nothing is submitted")
