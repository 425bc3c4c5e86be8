"""Several processes may carry out one benchmark: each call is paid for once, and what one of them leaves the others do."""

import re
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from areopage.bench.results.run_view import view_run
from areopage.ledger.store import Ledger
from servers import PATIENCE
from servers.command import Command, ended
from servers.fake_answers import Call
from servers.fake_llm import FakeServer
from servers.forked import Forked
from servers.small_suite import CONFIG, write_cases
from servers.small_suite import CRITERIA as IDS

CASES = 8
CRITERIA, JUDGES, PASSES = 4, 2, 2
CALLS = CASES + CASES * CRITERIA * JUDGES * PASSES
CONCURRENCY = CONFIG["execution"]["concurrency"]
NAMES = [id.split(".")[2].partition("__")[0] for id in IDS]
QUESTION = re.compile(r"Why is number \d+ odd\?")
SMALL_BLOCKS = """
from areopage.bench.execution import blocks
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
        assert "Coverage: 100% – " in end.out


Place = tuple[str, str, str, float]


def place_of(call: Call) -> Place:
    """What a call asks: the question, and the criterion, model and temperature of a judge; the target has none."""
    (question,) = set(QUESTION.findall(call.user))
    if not call.asks_verdict:
        return question, "", "", 0.0
    (criterion,) = (name for name in NAMES if f"keep clear of {name}?" in call.system)
    return question, criterion, call.model, call.options["temperature"]


def stored_places(ledger: str) -> set[Place]:
    """The calls whose answers are stored."""
    evaluation = CONFIG["judge_system"]["evaluation"]
    with Ledger.open(ledger) as opened:
        (view,) = (view_run(run, opened) for run in opened.runs())
    questions = {case.id: case.prompt_text for case in view.cases}
    judged: set[Place] = set()
    for case, criterion, judge, number, _ in view.judgments:
        model = CONFIG["judge_system"]["judges"][judge]["model"]
        temperature = evaluation["hyperparameters"][f"pass_{number}"]["temperature"]
        judged.add((questions[case], criterion.split(".")[2].partition("__")[0], model, temperature))
    return judged | {(questions[case], "", "", 0.0) for case in view.answers}


def wait_for_stored(ledger: str, count: int) -> None:
    """Wait until so many judgments are stored."""
    end = time.monotonic() + PATIENCE
    with Ledger.open(ledger) as opened:
        while sum(opened.judgment_counts().values()) < count:
            assert time.monotonic() < end, "too few judgments are stored"
            time.sleep(0.02)


def test_what_a_killed_process_leaves_is_done_by_the_other(
    command: Command, server: FakeServer, benchmark: tuple[str | Path, ...], ledger: str
) -> None:
    server.latency = 0.1
    one, other = (begin(command, benchmark) for _ in range(2))
    server.wait_for_calls(CASES + 8)
    wait_for_stored(ledger, 8)
    one.kill()
    one.communicate()
    stored = stored_places(ledger)
    before = len(server.calls)
    assert CASES + 8 <= len(stored) < CALLS
    end = ended(other)
    assert end.code == 0, end.err
    assert len(server.calls) - server.repeated() == CALLS
    asked = [place_of(call) for call in server.calls]
    assert not stored & set(asked[before:])
    assert server.repeated() <= len(set(asked[:before]) - stored)  # in flight, or received and not yet stored
    assert [complete for complete, _ in runs_in(ledger)] == [True]


def test_what_a_stopped_process_leaves_is_done_by_the_other(
    command: Command, server: FakeServer, benchmark: tuple[str | Path, ...], ledger: str
) -> None:
    server.latency = 0.1
    one, other = (begin(command, benchmark) for _ in range(2))
    server.wait_for_calls(CASES + 20)
    one.send_signal(signal.SIGINT)
    stopped, finished = ended(one), ended(other)
    assert stopped.code == 130, stopped.err
    assert "areopage bench resume" in stopped.err
    assert finished.code == 0, finished.err
    assert server.repeated() <= 2 * CONCURRENCY
    assert [complete for complete, _ in runs_in(ledger)] == [True]
