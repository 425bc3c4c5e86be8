"""A run with adaptive passes: rounds from the ledger alone, paid once, within the budget, the same after every interruption."""

import random
import re
from pathlib import Path
from typing import Any

import pytest

from areopage.bench.execution.start import run_benchmark
from areopage.bench.options import RunOptions
from areopage.bench.report.run_results import run_result
from areopage.bench.results.run_view import RunView, view_run
from areopage.errors import ConfigError, ServerDown, UserError
from areopage.jury.rescoring import Rescoring
from areopage.ledger.store import Ledger
from servers.command import Command
from servers.fake_answers import Call, digest
from servers.fake_llm import FakeServer
from servers.small_suite import CONFIG, write_cases, write_suite

CASES, CRITERIA, JUDGES, MOST = 3, 4, 2, 4
FIRST = CASES * CRITERIA * JUDGES
IN_FLIGHT = 2 * CONFIG["execution"]["concurrency"]


def place_of(call: Call) -> tuple[str, str, str, int]:
    """What a call asks: the question, the criterion, the judge and the pass; texts of different ledgers differ by their fence."""
    (question,) = set(re.findall(r"Why \d\?", call.user))
    (criterion,) = re.findall(r"keep clear of (\w+)\?", call.system)
    return question, criterion, call.model, call.options["seed"]


def noisy(call: Call) -> dict[str, Any]:
    """A verdict that depends on the case and criterion and, by up to a point and a half, on judge and pass."""
    place = place_of(call)
    level, shift = int(digest(repr(place[:2]))[:4], 16) % 5, int(digest(repr(place))[:4], 16) % 4 / 2
    return {"score": min(5.0, level + shift), "explanation": "as drawn", "evidence_extracts": []}


@pytest.fixture
def adaptive(tmp_path: Path, server: FakeServer, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A suite with adaptive passes, whose passes differ by their seed."""
    server.judge = noisy
    monkeypatch.setenv("OLLAMA_HOST", server.address)
    folder = write_suite(tmp_path / "adaptive", judge_system=judge_system({"start": 1, "most": MOST, "precision": 0.6}))
    rows = [{"id": f"c{n}", "prompt": f"Why {n}?", "response": f"Because of {n}.", "age": "9-12"} for n in range(CASES)]
    write_cases(folder / "data" / "cases.csv", rows)
    return folder


def judge_system(passes: dict[str, Any], temperature: float = 0.7) -> dict[str, Any]:
    """The jury of the small suite with other passes."""
    options = {f"pass_{number}": {"temperature": temperature, "seed": number} for number in range(1, MOST + 1)}
    return {**CONFIG["judge_system"], "evaluation": {"passes": passes, "hyperparameters": options}}


def run_in(folder: Path, suite: Path, **wishes: Any) -> RunView:
    """Run the suite with a ledger in a folder."""
    folder.mkdir(exist_ok=True)
    with Ledger.open(folder / "ledger.db") as ledger:
        return run_benchmark(str(suite), RunOptions(**wishes), ledger=ledger, out=folder)


def test_passes_are_added_where_they_are_worth_it_and_nothing_planned_is_missing(
    tmp_path: Path, server: FakeServer, adaptive: Path
) -> None:
    view = run_in(tmp_path / "out", adaptive)
    assert view.passes.plan is not None
    assert FIRST < view.passes.plan.passes.sum() < FIRST * MOST
    assert len(server.calls) == view.passes.plan.passes.sum() == view.coverage.planned
    assert server.repeated() == 0
    assert view.coverage.share == 1.0
    assert not view.missing
    counts = {judge.planned for score in view.scores.criteria for judge in score.judges}
    assert {1, MOST} & counts and len(counts) > 1
    found = run_result(view).metadata.adaptive_passes
    assert found is not None
    assert sum(one.passes for one in found.criteria.values()) == view.passes.plan.passes.sum()
    assert sum(sum(one.reasons.values()) for one in found.criteria.values()) == view.passes.plan.passes.sum()


def test_averages_are_those_of_the_first_passes_alone(tmp_path: Path, adaptive: Path) -> None:
    view = run_in(tmp_path / "out", adaptive)
    once = run_in(tmp_path / "once", adaptive, passes=1)
    assert view.scores.tree == with_counts(once, view)
    assert view.scores.interval == once.scores.interval
    assert [one.score for one in view.scores.criteria] != [one.score for one in once.scores.criteria]


def with_counts(once: RunView, view: RunView) -> Any:
    """The tree of a run of one pass with the numbers of passes of another run."""
    numbers = {node.name: node for node in nodes(view.scores.tree)}

    def counted(node: Any) -> Any:
        own = numbers[node.name]
        return type(node)(
            **{name: getattr(node, name) for name in node.__struct_fields__}
            | {"scored": own.scored, "planned": own.planned, "parts": tuple(counted(part) for part in node.parts)}
        )

    return counted(once.scores.tree)


def nodes(tree: Any) -> list[Any]:
    """A node and all below it."""
    return [tree, *(below for part in tree.parts for below in nodes(part))]


def test_scores_are_computed_again_from_the_ledger_without_a_call(tmp_path: Path, server: FakeServer, adaptive: Path) -> None:
    view = run_in(tmp_path / "out", adaptive)
    calls = len(server.calls)
    with Ledger.open(tmp_path / "out" / "ledger.db") as ledger:
        again = view_run(ledger.run(view.run.id), ledger)
        without = view_run(ledger.run(view.run.id), ledger, Rescoring(without_judges=("beta",)))
    assert len(server.calls) == calls
    assert (again.scores.tree, [*again.scores.records]) == (view.scores.tree, [*view.scores.records])
    assert again.passes.items == view.passes.items
    kept = {item: count for item, count in view.passes.items.items() if item[2] == "alpha"}
    assert without.coverage.planned == sum(kept.values())  # the plan is that of the whole jury


def test_a_run_that_is_broken_off_and_resumed_adds_the_same_passes_and_pays_for_none_twice(
    tmp_path: Path, server: FakeServer, adaptive: Path
) -> None:
    whole = run_in(tmp_path / "whole", adaptive)
    paid = len(server.calls)
    for stop in (FIRST // 2, FIRST + 8):
        server.faults.stop_after = paid + stop
        with pytest.raises(ServerDown):
            run_in(tmp_path / "broken", adaptive)
        server.stop()
        server.faults.stop_after = 0
        server.start()
    resumed = run_in(tmp_path / "broken", adaptive)
    assert resumed.passes.items == whole.passes.items
    assert (resumed.scores.tree, [*resumed.scores.records]) == (whole.scores.tree, [*whole.scores.records])
    assert {place_of(call) for call in server.calls[paid:]} == {place_of(call) for call in server.calls[:paid]}
    assert len(server.calls) - 2 * paid <= 2 * IN_FLIGHT


def test_after_kill_9_in_any_round_the_same_passes_are_added(
    tmp_path: Path, command: Command, server: FakeServer, adaptive: Path
) -> None:
    whole = run_in(tmp_path / "whole", adaptive)
    paid, server.latency = len(server.calls), 0.05
    process = command.begin("bench", "run", "--suite", adaptive, "--yes")
    server.wait_for_calls(paid + FIRST + random.randint(1, 20))
    process.kill()
    process.communicate()
    finished = command("bench", "run", "--suite", adaptive, "--yes")
    assert finished.code == 0, finished.err
    assert "plan, at least" not in finished.err  # it is resumed
    assert len(server.calls) - 2 * paid <= IN_FLIGHT
    assert {place_of(call) for call in server.calls[paid:]} == {place_of(call) for call in server.calls[:paid]}
    results = command.results(command.run_folders()[0])
    assert results["run"]["metadata"]["adaptive_passes"]["calls"] == whole.coverage.planned


def test_the_budget_is_never_exceeded(tmp_path: Path, server: FakeServer, adaptive: Path) -> None:
    view = run_in(tmp_path / "out", adaptive, most_calls=FIRST + 7, passes="auto")
    assert len(server.calls) == view.coverage.planned == FIRST + 7
    found = run_result(view).metadata.adaptive_passes
    assert found is not None
    assert found.stopped == "budget"
    with pytest.raises(UserError, match="less than the first passes take"):
        run_in(tmp_path / "none", adaptive, most_calls=FIRST - 1)
    with pytest.raises(UserError, match="--passes auto"):
        run_in(tmp_path / "none", adaptive, most_calls=FIRST, passes=2)


def test_a_jury_at_temperature_0_is_refused_since_its_passes_are_copies(
    tmp_path: Path, server: FakeServer, adaptive: Path
) -> None:
    write_suite(adaptive, judge_system=judge_system({"most": MOST}, temperature=0))
    server.judge = None  # `noisy` knows the cases of `adaptive` alone, and each call about others would fail
    with pytest.raises(ConfigError, match="copy of the first"):
        run_in(tmp_path / "out", adaptive)
    view = run_in(tmp_path / "out", adaptive, passes=2, limit=1)
    assert view.complete
    assert any(note.key == "passes_are_copies" for note in view.spec.remarks)


def test_the_option_takes_a_number_or_auto(command: Command, tmp_path: Path, adaptive: Path) -> None:
    for text in ("0", "101", "-1", "3.0", "many"):
        refused = command("bench", "run", "--suite", adaptive, "--passes", text).refused()
        assert refused == f"--passes {text}: give a number from 1 to 100, or auto"
    with pytest.raises(UserError, match="--passes 0"):
        run_in(tmp_path / "out", adaptive, passes=0)


def test_a_budget_in_money_needs_a_price_of_every_model(tmp_path: Path, adaptive: Path) -> None:
    write_suite(adaptive, judge_system=judge_system({"most": MOST, "budget": {"cost": 5.0}}))
    with pytest.raises(UserError, match="have no price: alpha, beta"):
        run_in(tmp_path / "out", adaptive)
