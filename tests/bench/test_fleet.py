"""Workers carry out a benchmark run: each call is paid for once, and a worker's death or stop costs what was in flight."""

import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import yaml
from sqlalchemy import Engine

from areopage.bench.planning.budget import spent_by
from areopage.bench.spec import RunSpec
from areopage.ledger.store import Ledger
from areopage.ledger.write.fleet import Fleet
from servers import PATIENCE
from servers.command import Command, Ended
from servers.databases import gone
from servers.fake_llm import FakeServer
from servers.forked import Forked, Process, children_of, kill_with_children
from servers.small_suite import CONFIG, write_config

CASES, CRITERIA, JUDGES, PASSES = 5, 4, 2, 2
CALLS = CASES + CASES * CRITERIA * JUDGES * PASSES
CONCURRENCY = CONFIG["execution"]["concurrency"]


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


def start_run(command: Command, begin: Callable[..., Forked], suite: Path, ledger: str, *options: str) -> Forked:
    """A benchmark that workers carry out; its follower."""
    target = () if "--target" in options else ("--target", "ollama:fake-target")
    arguments = ("--suite", suite, *target, "--ledger", ledger, "--yes", *options)
    return begin("bench", "run", "--fleet", *arguments)


def ended(process: Process) -> Ended:
    out, err = process.communicate(timeout=PATIENCE)
    return Ended(process.returncode or 0, out, err)


def only_run(ledger: str) -> tuple[str, bool, str]:
    """The run, whether it is complete, and the state of its fleet."""
    with Ledger.open(ledger) as opened:
        (run,) = opened.runs()
        fleet = Fleet(opened).run(run.id)
    return run.id, run.finished_at is not None, fleet.state if fleet else ""


def is_handed_over(ledger: str) -> bool:
    if not Path(ledger).exists():
        return False
    with Ledger.open(ledger) as opened:
        return bool(Fleet(opened).open_runs())


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
    assert "Coverage: 100% – " in follower.out
    assert " | done, " in follower.err
    assert only_run(any_ledger)[1:] == (True, "ended")
    assert list((command.folder / "outputs").glob("*/results.json"))
    for worker in workers:
        worker.terminate()
    ends = [ended(worker) for worker in workers]
    assert [end.code for end in ends] == [0, 0]
    assert any(f"run {only_run(any_ledger)[0]}: " in end.err for end in ends), "a worker's log says which run it works on"


def test_a_killed_worker_costs_what_was_in_flight_and_the_other_does_the_rest(
    command: Command, server: FakeServer, begin: Callable[..., Forked], suite: Path, postgres_ledger: str
) -> None:
    server.latency = 0.1
    one, other = (begin("worker", "--ledger", postgres_ledger) for _ in range(2))
    follower = start_run(command, begin, suite, postgres_ledger)
    server.wait_for_calls(CASES + 20)
    wait_for(lambda: bool(children_of(one.pid)))
    kill_with_children(one)
    end = ended(follower)
    assert end.code == 0, end.err
    assert len(server.calls) - server.repeated() == CALLS
    assert server.repeated() <= CONCURRENCY
    assert other.poll() is None


def test_workers_keep_one_budget_together_and_a_higher_one_resumes_the_run(
    command: Command, server: FakeServer, begin: Callable[..., Forked], suite: Path, postgres_ledger: str
) -> None:
    price = {"input_per_million": 0.0, "output_per_million": 1000.0, "currency": "EUR"}  # a token of an answer costs 0.001 EUR
    own = CONFIG["judge_system"]["judges"]
    judges = {name: {**own[name], "options": {"num_predict": 200}, "price": price} for name in ("alpha", "beta")}
    models = [{"provider": "ollama", "model": "fake-target", "options": {"num_predict": 200}, "price": price}]
    write_config(suite, judge_system={**CONFIG["judge_system"], "judges": judges}, models=models)
    server.latency = 0.02
    workers = [begin("worker", "--ledger", postgres_ledger, "--out", f"w{number}") for number in range(2)]
    stopped = ended(start_run(command, begin, suite, postgres_ledger, "--budget", "1.00"))
    assert stopped.code == 4, stopped.err
    assert "the budget of 1 EUR is spent" in stopped.err and "--fleet --budget AMOUNT" in stopped.err
    run_id, complete, state = only_run(postgres_ledger)
    assert (complete, state) == (False, "spent")
    assert 1.0 - 0.2 < spent_in(postgres_ledger) <= 1.0
    assert len(server.calls) < CALLS
    done = ended(begin("bench", "resume", run_id, "--fleet", "--yes", "--ledger", postgres_ledger, "--budget", "1000"))
    assert done.code == 0, done.err
    assert (len(server.calls), server.repeated()) == (CALLS, 0)
    for worker in workers:
        worker.terminate()
    assert [ended(worker).code for worker in workers] == [0, 0]


def spent_in(ledger: str) -> float:
    """What the only run has cost by the ledger."""
    with Ledger.open(ledger) as opened:
        (run,) = opened.runs()
        return spent_by(run, RunSpec.of(run), opened)["EUR"]


def test_ctrl_c_ends_the_follower_and_leaves_the_run_going(
    command: Command, server: FakeServer, begin: Callable[..., Forked], suite: Path
) -> None:
    ledger, server.latency = str(command.folder / "shared.db"), 0.05
    follower = start_run(command, begin, suite, ledger)
    wait_for(lambda: is_handed_over(ledger))
    follower.send_signal(signal.SIGINT)
    end = ended(follower)
    assert end.code == 130
    run_id, complete, state = only_run(ledger)
    for wanted in (f"bench follow {run_id}", f"bench stop {run_id}", f"bench resume {run_id}"):
        assert wanted in end.err
    assert (complete, state) == (False, "open")
    assert "workers carry out" in command("bench", "resume", run_id, "--ledger", ledger, "--yes").refused()
    worker = begin("worker", "--run", run_id, "--ledger", ledger)
    again = ended(begin("bench", "follow", run_id, "--ledger", ledger))
    assert again.code == 0, again.err
    assert "Coverage: 100% – " in again.out
    assert ended(worker).code == 0  # its only run has ended
    assert (len(server.calls), server.repeated()) == (CALLS, 0)


def test_a_stopped_worker_finishes_its_calls_in_flight_and_a_stopped_run_is_resumed(
    command: Command, server: FakeServer, begin: Callable[..., Forked], suite: Path
) -> None:
    ledger, server.latency = str(command.folder / "shared.db"), 0.3
    worker = begin("worker", "--ledger", ledger)
    follower = start_run(command, begin, suite, ledger)
    server.wait_for_calls(CASES + 6)
    worker.terminate()
    end = ended(worker)
    assert end.code == 0
    assert "Fatal" not in end.err, "each process of the worker ends by itself"
    asked = len(server.calls)
    assert asked < CALLS
    assert server.answered == asked
    run_id, *_ = only_run(ledger)
    stopped = command("bench", "stop", run_id, "--ledger", ledger)
    assert stopped.code == 0
    assert stopped.err.rstrip().endswith("--fleet")
    assert ended(follower).code == 130
    assert "do not carry out" in command("bench", "stop", run_id, "--ledger", ledger).refused()
    again = begin("bench", "resume", run_id, "--fleet", "--yes", "--ledger", ledger)
    wait_for(lambda: is_handed_over(ledger))
    worker = begin("worker", "--run", run_id, "--ledger", ledger)
    end = ended(again)
    assert end.code == 0, end.err
    assert ended(worker).code == 0
    assert (len(server.calls), server.repeated()) == (CALLS, 0)


def test_worker_and_follower_outlast_a_database_that_is_gone_for_a_while(
    command: Command, server: FakeServer, begin: Callable[..., Forked], suite: Path, postgres: Engine, postgres_ledger: str
) -> None:
    server.latency = 0.1
    # the patience of a follower is that of the run, which is short in the tests' suite
    write_config(suite, execution={"outage_seconds": PATIENCE})
    worker = begin("worker", "--ledger", postgres_ledger)
    follower = start_run(command, begin, suite, postgres_ledger)
    server.wait_for_calls(CASES + 10)
    with gone(postgres, postgres_ledger):
        wait_for(lambda: not children_of(worker.pid))
    end = ended(follower)
    assert end.code == 0, end.err
    assert "Coverage: 100% – " in end.out
    assert end.err.count("trying again until the ledger can be used") == end.err.count("the ledger can be used again") == 1
    assert len(server.calls) - server.repeated() == CALLS
    assert server.repeated() <= CONCURRENCY  # no call is made after the database is gone
    assert worker.poll() is None
    worker.terminate()
    end = ended(worker)
    assert end.code == 0, end.err
    assert end.err.count("trying again until the ledger can be used") == end.err.count("the ledger can be used again") == 1


def configure(folder: Path, server: FakeServer, *names: str, concurrency: int | None = None) -> Path:
    """A folder with an `areopage.yml` that names endpoints, the second one by another address."""
    folder.mkdir(exist_ok=True)
    urls = (server.openai_url, server.openai_url.replace("127.0.0.1", "localhost"))
    limit = {"concurrency": concurrency} if concurrency else {}
    found = {name: {"provider": "openai", "base_url": url} | limit for name, url in zip(names, urls, strict=False)}
    (folder / "areopage.yml").write_text(yaml.safe_dump({"endpoints": found}))
    return folder / "areopage.yml"


def test_a_worker_leaves_to_others_what_its_own_configuration_does_not_name_or_its_endpoints_do_not_include(
    command: Command, server: FakeServer, begin: Callable[..., Forked], suite: Path
) -> None:
    ledger = str(command.folder / "shared.db")
    whole = configure(command.folder / "whole", server, "one", "two")
    half = configure(command.folder / "half", server, "one")
    judges = ("--judge", "a=openai@one:fake-a", "--judge", "b=openai@two:fake-b")
    follower = start_run(command, begin, suite, ledger, "--config", str(whole), *judges)
    first = begin("worker", "--ledger", ledger, "--config", str(half), "--out", "w1")
    judged = CASES * CRITERIA * PASSES
    server.wait_for_calls(CASES + judged)
    wait_for(lambda: "two" in notes_of(ledger))
    assert {call.model for call in server.verdict_calls} == {"fake-a"}
    second = begin("worker", "--ledger", ledger, "--config", str(whole), "--endpoints", "two", "--out", "w2")
    end = ended(follower)
    assert end.code == 0, end.err
    assert (len(server.calls), server.repeated()) == (CALLS, 0)
    assert "is not in this worker's areopage.yml" in end.err
    for worker in (first, second):
        worker.terminate()
    assert ended(first).err.count("define 'two'") == 1  # it says so once
    ended(second)


def notes_of(ledger: str) -> str:
    run_id, *_ = only_run(ledger)
    with Ledger.open(ledger) as opened:
        return " ".join(f"{note.server} {note.text}" for note in Fleet(opened).notes(run_id))


def test_workers_keep_the_limits_of_an_endpoint_together(
    command: Command, server: FakeServer, begin: Callable[..., Forked], suite: Path
) -> None:
    ledger, server.latency = str(command.folder / "shared.db"), 0.03
    config = configure(command.folder / "limited", server, "one", concurrency=3)
    for number in range(2):
        begin("worker", "--ledger", ledger, "--config", config, "--out", f"w{number}")
    judges = ("--judge", "openai@one:fake-a", "--target", "openai@one:fake-target")
    follower = ended(start_run(command, begin, suite, ledger, "--config", str(config), *judges))
    assert follower.code == 0, follower.err
    assert server.repeated() == 0
    assert server.most_open <= 3
