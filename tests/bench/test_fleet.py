"""Workers carry out a benchmark run: each call is paid for once, and a worker's death or stop costs what was in flight."""

import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from areopage.ledger.fleet import Fleet
from areopage.ledger.store import Ledger
from servers import PATIENCE
from servers.command import Command, Ended
from servers.fake_llm import FakeServer
from servers.forked import Forked
from servers.small_suite import CONFIG

CASES, CRITERIA, JUDGES, PASSES = 5, 4, 2, 2
CALLS = CASES + CASES * CRITERIA * JUDGES * PASSES
CONCURRENCY = CONFIG["execution"]["concurrency"]

Process = subprocess.Popen[str] | Forked


@pytest.fixture(params=["sqlite", "postgresql"])
def any_ledger(request: pytest.FixtureRequest, command: Command) -> str:
    if request.param == "sqlite":
        return str(command.folder / "shared.db")
    found: str = request.getfixturevalue("postgres_ledger")
    return found


@pytest.fixture
def begin(command: Command) -> Iterator[Callable[..., Forked]]:
    """Starts commands; what still runs in the end is killed, with its processes."""
    begun: list[Forked] = []

    def start(*arguments: str | Path) -> Forked:
        begun.append(command.begin(*arguments))
        return begun[-1]

    yield start
    for one in begun:
        kill_with_children(one)
        one.communicate()


def kill_with_children(process: Process) -> None:
    """End a process and those that it started, at once."""
    if process.poll() is None:
        children = children_of(process.pid)
        process.kill()
        for child in children:
            os.kill(child, signal.SIGKILL)


def children_of(pid: int) -> list[int]:
    listed = Path(f"/proc/{pid}/task/{pid}/children")
    return [int(one) for one in listed.read_text().split()] if listed.exists() else []


def start_run(command: Command, begin: Callable[..., Forked], suite: Path, ledger: str, *options: str) -> Forked:
    """A benchmark that workers carry out; its follower."""
    arguments = ("--suite", suite, "--target", "ollama:fake-target", "--ledger", ledger, "--yes", *options)
    return begin("bench", "run", "--fleet", *arguments)


def ended(process: Process) -> Ended:
    out, err = process.communicate(timeout=PATIENCE)
    return Ended(process.returncode, out, err)


def only_run(ledger: str) -> tuple[str, bool, str]:
    """The run, whether it is complete, and the state of its fleet."""
    with Ledger.open(ledger) as opened:
        (run,) = opened.runs()
        fleet = Fleet(opened).run(run.id)
    return run.id, run.finished_at is not None, fleet.state if fleet else ""


def wait_for(condition: Callable[[], bool]) -> None:
    until = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < until
        time.sleep(0.05)


def test_two_workers_make_each_call_of_a_run_once_and_the_follower_shows_its_results(
    command: Command, server: FakeServer, begin: Callable[..., Forked], suite: Path, any_ledger: str
) -> None:
    server.latency = 0.02
    workers = [begin("worker", "--ledger", any_ledger, "--out", f"w{number}") for number in range(2)]
    follower = ended(start_run(command, begin, suite, any_ledger))
    assert follower.code == 0, follower.err
    assert (len(server.calls), server.repeated()) == (CALLS, 0)
    assert "coverage 100.0%" in follower.out
    assert only_run(any_ledger)[1:] == (True, "ended")
    assert list((command.folder / "outputs").glob("*/results.json"))
    for worker in workers:
        worker.terminate()
    assert [ended(worker).code for worker in workers] == [0, 0]
