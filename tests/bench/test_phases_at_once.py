"""Phases of a run that are carried out at once: on different servers from the beginning, on one server at their seam."""

import time
from collections.abc import Callable, Iterator
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest

from areopage.bench.execution.blocks import AT_ONCE
from areopage.bench.execution.context import Observers
from areopage.bench.execution.phases import TARGET_PHASE, places, servers
from areopage.bench.execution.run import RunPart
from areopage.bench.execution.start import begin_run, carry_on, prepare_benchmark, run_folder
from areopage.bench.options import RunOptions
from areopage.bench.planning.prepare import prepare_run
from areopage.bench.spec import RunSpec
from areopage.suites.loader import load_suite
from servers import PATIENCE
from servers.command import Command, ended
from servers.fake_answers import Call
from servers.fake_llm import FakeServer
from servers.forked import Forked
from servers.new_ledger import ledger_at
from servers.small_suite import CONFIG, CRITERIA, write_cases, write_config

CONCURRENCY = CONFIG["execution"]["concurrency"]
PASSES = 2
SMALL_BLOCKS = """
from areopage.bench.execution import blocks
blocks._LEAST_CALLS, blocks._CALLS_IN_A_ROW = 8, 1
from areopage.cli.main import main
main()
"""


@pytest.fixture
def other() -> Iterator[FakeServer]:
    """A second server."""
    with FakeServer() as running:
        yield running


def endpoint(server: FakeServer, provider: str = "ollama", **more: Any) -> dict[str, Any]:
    return {"provider": provider, "base_url": server.openai_url if provider == "openai" else f"http://{server.address}", **more}


def begin(command: Command, suite: Path, *options: str | Path) -> Forked:
    """A benchmark with small blocks, as a process of its own."""
    arguments = ("bench", "run", "--suite", suite, "--yes", *options)
    return Forked(SMALL_BLOCKS, *arguments, folder=command.folder, environment=command.full_environment())


def dataset(command: Command, cases: int, *, answered: bool = True, alike: int = 1) -> tuple[str, Path]:
    """A dataset; every so many cases in a row are alike."""
    rows = [{"prompt": f"Why {n // alike}?", **({"response": f"So {n // alike}."} if answered else {})} for n in range(cases)]
    return "--dataset", write_cases(command.folder / "many.csv", rows)


def wait_until(is_so: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE
    while not is_so():
        assert time.monotonic() < end, "it did not come to that"
        time.sleep(0.005)


def models_in_turn(server: FakeServer) -> list[str]:
    """The models in the order in which they were asked, each time that another one is."""
    return [model for model, _ in groupby(call.model for call in server.calls)]


# --- on different servers


def test_judges_on_two_servers_are_asked_at_the_same_time(
    command: Command, server: FakeServer, other: FakeServer, suite: Path
) -> None:
    write_config(suite, endpoints={"one": endpoint(server), "two": endpoint(other)})
    server.faults.hold = other.faults.hold = True
    judges = ("--judge", "alpha=ollama@one:fake-a", "--judge", "beta=ollama@two:fake-b")
    process = begin(command, suite, *dataset(command, 8), *judges)
    for each in (server, other):  # no answer has come yet
        each.wait_for_calls(CONCURRENCY)
    assert (len(server.calls), len(other.calls)) == (CONCURRENCY, CONCURRENCY)
    server.faults.hold = other.faults.hold = False
    end = ended(process)
    assert end.code == 0, end.err
    assert "Coverage: 100% – " in end.out
    for each in (server, other):
        assert (len(each.calls), each.repeated()) == (8 * len(CRITERIA) * PASSES, 0)


def test_a_judge_is_asked_about_answered_cases_while_the_target_still_answers(
    command: Command, server: FakeServer, other: FakeServer, suite: Path
) -> None:
    cases, first = 16, 12  # two blocks of answers
    write_config(suite, endpoints={"one": endpoint(server), "two": endpoint(other)})

    def respond(call: Call) -> str:
        server.faults.hold = len(server.calls) == first
        return "Because."

    server.respond = respond
    names = ("--target", "ollama@one:fake-target", "--judge", "alpha=ollama@two:fake-a")
    one_call = ("--criteria", CRITERIA[0], "--passes", "1", "--concurrency", "1")
    process = begin(command, suite, *dataset(command, cases, answered=False), *names, *one_call)
    wait_until(lambda: server.faults.hold and len(other.calls) >= cases / 2)
    assert first <= len(server.calls) < cases
    server.respond, server.faults.hold = None, False
    end = ended(process)
    assert end.code == 0, end.err
    assert "Coverage: 100% – " in end.out
    assert (len(server.calls), server.repeated()) == (cases, 0)
    assert (len(other.calls), other.repeated()) == (cases, 0)


def test_cases_that_are_alike_are_judged_once_also_where_their_blocks_are_planned_apart(
    command: Command, server: FakeServer, other: FakeServer, suite: Path
) -> None:
    write_config(suite, endpoints={"one": endpoint(server), "two": endpoint(other)})
    server.latency = 0.02
    rows = [{"prompt": f"Why {n % 9}?"} for n in range(36)]
    cases = write_cases(command.folder / "alike.csv", rows)
    names = ("--target", "ollama@one:fake-target", "--judge", "alpha=ollama@two:fake-a")
    end = ended(begin(command, suite, "--dataset", cases, *names))
    assert end.code == 0, end.err
    assert "Coverage: 100% – " in end.out
    assert (len(server.calls), server.repeated()) == (9, 0)
    assert (len(other.calls), other.repeated()) == (9 * len(CRITERIA) * PASSES, 0)


def test_a_server_that_is_gone_pauses_its_own_phase_alone(
    command: Command, server: FakeServer, other: FakeServer, suite: Path
) -> None:
    write_config(suite, endpoints={"one": endpoint(server), "two": endpoint(other)}, execution={"outage_seconds": 600})
    server.latency = other.latency = 0.01
    judges = ("--judge", "alpha=ollama@one:fake-a", "--judge", "beta=ollama@two:fake-b")
    process = begin(command, suite, *dataset(command, 8), *judges)
    server.wait_for_calls(10)
    server.stop()
    other.wait_for_calls(8 * len(CRITERIA) * PASSES)
    assert process.poll() is None
    server.start()
    end = ended(process)
    assert end.code == 0, end.err
    assert "Coverage: 100% – " in end.out
    assert other.repeated() == 0


def test_a_server_that_is_given_up_does_not_stop_the_phases_on_others(
    command: Command, server: FakeServer, other: FakeServer, suite: Path
) -> None:
    write_config(suite, endpoints={"one": endpoint(server), "two": endpoint(other)})
    server.latency = other.latency = 0.02
    judges = ("--judge", "alpha=ollama@one:fake-a", "--judge", "beta=ollama@two:fake-b")
    process = begin(command, suite, *dataset(command, 8), *judges)
    server.wait_for_calls(10)
    server.stop()
    end = ended(process)
    assert end.code == 3, end.err
    assert "alpha stopped: " in end.err
    assert "the other phases go on" in end.err
    calls = 8 * len(CRITERIA) * PASSES
    assert (len(other.calls), other.repeated()) == (calls, 0)
    server.start()
    resumed = command("bench", "resume")
    assert resumed.code == 0, resumed.err
    assert len(other.calls) == calls
    assert len(server.calls) - server.repeated() == calls


def test_after_kill_9_in_the_overlap_only_what_was_in_flight_is_repeated(
    command: Command, server: FakeServer, other: FakeServer, suite: Path
) -> None:
    write_config(suite, endpoints={"one": endpoint(server, "openai"), "two": endpoint(other, "openai")})
    server.latency = other.latency = 0.1
    names = ("--target", "openai@one:fake-target", "--judge", "alpha=openai@one:fake-a", "--judge", "beta=openai@two:fake-b")
    cases, moments = 8, (14, 40)
    options = (*dataset(command, cases, answered=False), *names)
    for moment in moments:
        process = begin(command, suite, *options)
        server.wait_for_calls(moment)
        process.kill()
        process.communicate()
    assert other.calls
    end = ended(begin(command, suite, *options))
    assert end.code == 0, end.err
    assert "Coverage: 100% – " in end.out
    calls = cases * len(CRITERIA) * PASSES
    assert len(server.calls) - server.repeated() == cases + calls
    assert len(other.calls) - other.repeated() == calls
    for each in (server, other):  # sent, or answered and not yet committed
        assert each.repeated() <= len(moments) * 2 * CONCURRENCY


def test_two_processes_that_share_a_run_pay_for_each_call_once_while_phases_overlap(
    command: Command, server: FakeServer, other: FakeServer, suite: Path
) -> None:
    write_config(suite, endpoints={"one": endpoint(server, "openai"), "two": endpoint(other, "openai")})
    server.latency = other.latency = 0.05
    names = ("--target", "openai@one:fake-target", "--judge", "alpha=openai@one:fake-a", "--judge", "beta=openai@two:fake-b")
    options = (*dataset(command, 16, answered=False, alike=2), *names, "--passes", "1")
    ends = [ended(process) for process in [begin(command, suite, *options) for _ in range(2)]]
    assert [end.code for end in ends] == [0, 0], "".join(end.err[-500:] for end in ends)
    calls = 8 * len(CRITERIA)
    assert (len(server.calls), server.repeated()) == (8 + calls, 0)
    assert (len(other.calls), other.repeated()) == (calls, 0)


# --- on one server


@pytest.mark.parametrize(
    ("provider", "more", "turns"),
    [("ollama", {}, 2), ("openai", {"resident": 1}, 2)],
    ids=["ollama", "openai with one resident model"],
)
def test_a_server_with_one_model_in_memory_never_goes_back_to_another(
    command: Command, server: FakeServer, suite: Path, provider: str, more: dict[str, Any], turns: int
) -> None:
    write_config(suite, endpoints={"one": endpoint(server, provider, **more)})
    server.faults.failures, server.faults.failures_in_a_row = 0.1, 1  # some calls are out longer than others
    names = [f"alpha={provider}@one:fake-a", f"beta={provider}@one:fake-b"]
    options = (*dataset(command, 8), "--judge", names[0], "--judge", names[1])
    end = ended(begin(command, suite, *options))
    assert end.code == 0, end.err
    assert models_in_turn(server) == ["fake-a", "fake-b"][:turns]


def test_the_next_judge_of_a_hosted_server_begins_while_the_last_calls_of_the_one_before_are_out(
    command: Command, server: FakeServer, suite: Path
) -> None:
    write_config(suite, endpoints={"one": endpoint(server, "openai")})
    server.faults.hold = True
    judges = ("--judge", "alpha=openai@one:fake-a", "--judge", "beta=openai@one:fake-b")
    options = (*dataset(command, 1), *judges, "--criteria", CRITERIA[0], "--passes", "1")
    process = begin(command, suite, *options)
    server.wait_for_calls(2)
    assert models_in_turn(server) == ["fake-a", "fake-b"]
    server.faults.hold = False
    end = ended(process)
    assert end.code == 0, end.err


def test_the_next_judge_of_a_hosted_server_waits_for_the_last_blocks_of_the_one_before(
    command: Command, server: FakeServer, suite: Path
) -> None:
    write_config(suite, endpoints={"one": endpoint(server, "openai")})
    server.latency = 0.01
    judges = ("--judge", "alpha=openai@one:fake-a", "--judge", "beta=openai@one:fake-b")
    cases = 96  # twelve blocks of eight calls
    options = (*dataset(command, cases), *judges, "--criteria", CRITERIA[0], "--passes", "1")
    end = ended(begin(command, suite, *options))
    assert end.code == 0, end.err
    asked = [call.model for call in server.calls]
    assert asked.count("fake-a") == asked.count("fake-b") == cases
    assert asked.index("fake-b") >= cases - (AT_ONCE + 1) * 8


# --- the rule


def spec_of(suite: Path, *judges: str, target: str | None = None) -> RunSpec:
    return prepare_run(load_suite(str(suite)), RunOptions(judges=judges, target=target)).spec


def after(spec: RunSpec, *, answers: bool = False) -> dict[str, tuple[str, ...]]:
    """What each phase waits for."""
    found = places(spec, spec.settings, [judge.name for judge in spec.judges], answers=answers)
    return {place.name: place.after for place in found}


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ({"provider": "openai"}, [(), (), ()]),
        ({"provider": "ollama"}, [(), ("a",), ("a", "b")]),
        ({"provider": "openai", "resident": 1}, [(), ("a",), ("a", "b")]),
        ({"provider": "ollama", "resident": 2}, [(), (), ("a",)]),
        ({"provider": "ollama", "resident": 3}, [(), (), ()]),
    ],
)
def test_no_more_models_are_in_use_than_a_server_holds(
    suite: Path, more: dict[str, Any], expected: list[tuple[str, ...]]
) -> None:
    write_config(suite, endpoints={"one": {"base_url": "http://127.0.0.1:10", **more}})
    names = [f"{name}={more['provider']}@one:model-{name}" for name in "abc"]
    assert after(spec_of(suite, *names)) == dict(zip("abc", expected, strict=True))


def test_judges_of_one_model_do_not_wait_for_each_other(suite: Path) -> None:
    assert after(spec_of(suite, "a=ollama:same", "b=ollama:same", "c=ollama:other")) == {"a": (), "b": (), "c": ("a", "b")}


def test_a_judge_waits_for_the_target_only_on_its_server(suite: Path) -> None:
    write_config(suite, endpoints={"one": {"provider": "ollama", "base_url": "http://127.0.0.1:10"}})
    spec = spec_of(suite, "a=ollama:same", "b=ollama@one:same", target="ollama@one:target")
    assert after(spec, answers=True) == {TARGET_PHASE: (), "a": (), "b": (TARGET_PHASE,)}


def test_endpoints_with_one_address_are_one_server(suite: Path) -> None:
    same = {"provider": "ollama", "base_url": "http://127.0.0.1:10"}
    write_config(suite, endpoints={"one": same, "two": same})
    spec = spec_of(suite, "a=ollama@one:x", "b=ollama@two:y")
    assert servers(spec, spec.settings)[1:] == ["http://127.0.0.1:10"]  # the first is the target's
    assert after(spec)["b"] == ("a",)


# --- processes that keep to some servers


def test_processes_that_keep_to_a_server_each_carry_out_a_run_together(
    server: FakeServer, other: FakeServer, suite: Path, tmp_path: Path
) -> None:
    write_config(suite, endpoints={"one": endpoint(server), "two": endpoint(other)})
    rows = [{"prompt": f"Why {n}?"} for n in range(6)]
    wishes = RunOptions(
        datasets=(write_cases(tmp_path / "many.csv", rows),),
        target="ollama@one:fake-target",
        judges=("alpha=ollama@one:fake-a", "beta=ollama@two:fake-b"),
    )
    prepared = prepare_benchmark(str(suite), wishes)
    with ledger_at(tmp_path / "ledger.db") as ledger:
        run, _ = begin_run(prepared, ledger, tmp_path)
        folder = run_folder(run, tmp_path)

        def carried_out(*addresses: str) -> int:
            part = RunPart(servers=addresses or None)
            return carry_on(run, prepared.spec, ledger, Observers(), folder, part=part)

        each = 6 * len(CRITERIA) * PASSES
        assert carried_out(f"http://{server.address}") == 0
        assert (len(server.calls), len(other.calls)) == (6 + each, 0)
        assert carried_out(f"http://{other.address}") == 0
        assert (len(server.calls), len(other.calls)) == (6 + each, each)
        assert carried_out() == 0
        assert (len(server.calls), len(other.calls)) == (6 + each, each)
