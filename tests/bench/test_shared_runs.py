"""Several processes may carry out one benchmark: each call is paid for once, and what one of them leaves the others do."""

import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from areopage.ledger.store import Ledger
from servers.command import Command, ended
from servers.fake_llm import FakeServer
from servers.forked import Forked
from servers.small_suite import CONFIG, write_cases

CASES = 16
CRITERIA, JUDGES, PASSES = 4, 2, 2
CALLS = CASES + CASES * CRITERIA * JUDGES * PASSES
CONCURRENCY = CONFIG["execution"]["concurrency"]
SMALL_BLOCKS = """
from areopage.bench import blocks
assert blocks.block_calls(4) == 128
blocks._LEAST_CALLS, blocks._CALLS_IN_A_ROW = 8, 10
from areopage.cli.main import main
main()
"""  # each judge has several


@pytest.fixture(params=["sqlite", "postgresql"])
def ledger(request: pytest.FixtureRequest, command: Command) -> Iterator[str]:
    if request.param == "sqlite":
        yield str(command.folder / "shared.db")
    else:
        yield request.getfixturevalue("postgres_ledger")


@pytest.fixture
def benchmark(suite: Path, command: Command, ledger: str) -> tuple[str | Path, ...]:
    rows = [{"prompt": f"Why is number {number} odd?"} for number in range(CASES)]
    cases = write_cases(command.folder / "many.csv", rows)
    return ("bench", "run", "--suite", suite, "--dataset", cases, "--target", "ollama:fake-target", "--ledger", ledger, "--yes")


def begin(command: Command, benchmark: tuple[str | Path, ...], *options: str) -> Forked:
    """The benchmark as a process of its own."""
    return Forked(SMALL_BLOCKS, *benchmark, *options, folder=command.folder, environment=command.full_environment())


def runs_in(ledger: str) -> list[tuple[bool, int]]:
    """Of each run whether it is complete, and how many judgments it paid for."""
    with Ledger.open(ledger) as opened:
        counts = opened.judgment_counts()
        return [(run.finished_at is not None, counts[run.id]) for run in opened.runs()]


def test_two_processes_that_start_the_same_benchmark_pay_for_each_call_once(
    command: Command, server: FakeServer, benchmark: tuple[str | Path, ...], ledger: str
) -> None:
    server.latency = 0.1
    # the number of calls in flight differs, and the blocks are those of the process that began the run
    processes = [begin(command, benchmark, "--concurrency", number) for number in ("4", "7")]
    ends = [ended(process) for process in processes]
    assert [end.code for end in ends] == [0, 0], "".join(end.err[-500:] for end in ends)
    assert (len(server.calls), server.repeated()) == (CALLS, 0)
    assert runs_in(ledger) == [(True, CALLS - CASES)]
    for end in ends:
        assert "coverage 100.0%" in end.out


def test_what_a_killed_process_leaves_is_done_by_the_other(
    command: Command, server: FakeServer, benchmark: tuple[str | Path, ...], ledger: str
) -> None:
    server.latency = 0.1
    one, other = (begin(command, benchmark) for _ in range(2))
    server.wait_for_calls(CASES + 40)
    one.kill()
    one.communicate()
    end = ended(other)
    assert end.code == 0, end.err
    assert len(server.calls) - server.repeated() == CALLS
    assert server.repeated() <= 2 * CONCURRENCY
    assert [complete for complete, _ in runs_in(ledger)] == [True]


def test_what_a_stopped_process_leaves_is_done_by_the_other(
    command: Command, server: FakeServer, benchmark: tuple[str | Path, ...], ledger: str
) -> None:
    server.latency = 0.1
    one, other = (begin(command, benchmark) for _ in range(2))
    server.wait_for_calls(CASES + 40)
    one.send_signal(signal.SIGINT)
    stopped, finished = ended(one), ended(other)
    assert stopped.code == 130, stopped.err
    assert "areopage bench resume" in stopped.err
    assert finished.code == 0, finished.err
    assert server.repeated() <= 2 * CONCURRENCY
    assert [complete for complete, _ in runs_in(ledger)] == [True]
