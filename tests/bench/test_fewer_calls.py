"""Runs with fewer calls: joint judging, passes that are asked once, scores from log-probabilities, cases that are alike."""

from pathlib import Path
from typing import Any

import pytest

from areopage.bench.execution.start import prepare_benchmark, run_benchmark
from areopage.bench.options import RunOptions
from areopage.bench.planning.run_plan import plan_run
from areopage.bench.report.page import bench_report
from areopage.bench.report.run_results import record_results, run_result
from areopage.bench.report.terminal import terminal_report
from areopage.bench.results.run_view import RunView, view_run
from areopage.bench.spec import fingerprint_of
from areopage.errors import ConfigError
from areopage.jury.rescoring import Rescoring
from areopage.ledger.store import Ledger
from areopage.report.console import print_report
from areopage.report.rendering import render
from areopage.scoring.outcome import Scored
from servers.command import Command
from servers.fake_answers import LIKELY
from servers.fake_llm import FakeServer
from servers.small_suite import CONFIG, write_cases, write_suite

CASES, CRITERIA, JUDGES, PASSES = 3, 4, 2, 2
VERDICTS = CASES * CRITERIA * JUDGES * PASSES


@pytest.fixture
def answered(tmp_path: Path, server: FakeServer, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The small suite with responses, so that only judges are asked."""
    monkeypatch.setenv("OLLAMA_HOST", server.address)
    monkeypatch.setenv("OPENAI_BASE_URL", server.openai_url)
    folder = write_suite(tmp_path / "answered")
    rows = [{"id": f"c{n}", "prompt": f"Why {n}?", "response": f"Because of {n}.", "age": "9-12"} for n in range(CASES)]
    write_cases(folder / "data" / "cases.csv", rows)
    return folder


def evaluation(folder: Path, passes: list[dict[str, Any]], **changes: Any) -> Path:
    """The suite with other passes."""
    options = {f"pass_{number}": one for number, one in enumerate(passes, 1)}
    section = {"n_passes": len(passes), "hyperparameters": options, **changes}
    write_suite(folder, judge_system={**CONFIG["judge_system"], "evaluation": section})
    rows = [{"id": f"c{n}", "prompt": f"Why {n}?", "response": f"Because of {n}.", "age": "9-12"} for n in range(CASES)]
    write_cases(folder / "data" / "cases.csv", rows)
    return folder


def run_in(folder: Path, suite: Path, **wishes: Any) -> RunView:
    """Run the suite with a ledger in a folder."""
    folder.mkdir(exist_ok=True)
    with Ledger.open(folder / "ledger.db") as ledger:
        return run_benchmark(str(suite), RunOptions(**wishes), ledger=ledger, out=folder)


def seen_again(folder: Path, view: RunView, variant: Rescoring | None = None) -> RunView:
    """The run as the ledger holds it."""
    with Ledger.open(folder / "ledger.db") as ledger:
        return view_run(ledger.run(view.run.id), ledger, variant)


# --- joint judging


def test_a_joint_run_asks_once_about_all_criteria_and_scores_each(tmp_path: Path, server: FakeServer, answered: Path) -> None:
    view = run_in(tmp_path / "out", answered, joint=True)
    assert len(server.calls) == VERDICTS // CRITERIA
    assert (view.coverage.scored, view.coverage.planned) == (VERDICTS, VERDICTS)
    for call in server.calls:
        assert len(call.joint_scores) == CRITERIA
    assert run_result(view).metadata.joint
    (note,) = [note for note in view.spec.remarks if note.key == "asked_jointly"]
    assert note.values["judges"] == ("alpha", "beta")
    assert seen_again(tmp_path / "out", view).scores.tree == view.scores.tree
    assert not view_differs(view, seen_again(tmp_path / "out", view, Rescoring(reparse=True)))


def view_differs(one: RunView, other: RunView) -> bool:
    return {place: found.verdicts for place, found in one.judgments.items()} != {
        place: found.verdicts for place, found in other.judgments.items()
    }


def test_a_joint_call_counts_once_in_a_judge_s_health(tmp_path: Path, server: FakeServer, answered: Path) -> None:
    view = run_in(tmp_path / "out", answered, joint=True)
    asked = {call.model: 0 for call in server.calls}
    for call in server.calls:
        asked[call.model] += max(1, sum(len(content) for _, content in call.messages) // 4)
    for health in view.health:
        assert health.planned == health.outcomes["scored"] == VERDICTS // JUDGES
        assert health.prompt_tokens == asked[health.model.removeprefix("ollama:")]


def test_the_plan_tells_what_joint_calls_save(server: FakeServer, answered: Path) -> None:
    singly, jointly = (prepare_benchmark(str(answered), RunOptions(joint=joint)) for joint in (False, True))
    small, one_by_one = plan_run(jointly.spec, jointly.cases), plan_run(singly.spec, singly.cases)
    assert (one_by_one.size.calls, one_by_one.size.joint_saved) == (VERDICTS, 0)
    assert (small.size.calls, small.size.joint_saved) == (VERDICTS // CRITERIA, VERDICTS - VERDICTS // CRITERIA)
    assert small.prompt_tokens < one_by_one.prompt_tokens
    assert small.answer_tokens == one_by_one.answer_tokens
    assert fingerprint_of(jointly.spec, jointly.cases) != fingerprint_of(singly.spec, singly.cases)


def test_the_suite_says_whether_judging_is_joint_and_the_user_may_say_otherwise(server: FakeServer, answered: Path) -> None:
    suite = str(evaluation(answered, [{"temperature": 0.1}], joint=True))
    assert prepare_benchmark(suite, RunOptions()).spec.joint
    assert not prepare_benchmark(suite, RunOptions(joint=False)).spec.joint


def test_adaptive_passes_and_joint_judging_exclude_each_other(server: FakeServer, answered: Path) -> None:
    suite = str(evaluation(answered, [{"temperature": 0.1}], joint=True))
    with pytest.raises(ConfigError, match="criterion by criterion"):
        prepare_benchmark(suite, RunOptions(passes="auto"))


# --- passes that repeat each other


def test_passes_with_equal_options_at_temperature_0_are_one_pass(tmp_path: Path, server: FakeServer, answered: Path) -> None:
    suite = evaluation(answered, [{"temperature": 0}, {"temperature": 0.0}, {"temperature": 0.5}, {"temperature": 0}])
    view = run_in(tmp_path / "out", suite)
    assert len(server.calls) == CASES * CRITERIA * JUDGES * 2
    assert [judge.pass_options[-1]["temperature"] for judge in view.spec.judges] == [0.5, 0.5]
    assert view.coverage.planned == CASES * CRITERIA * JUDGES * 2
    told = [str(note) for note in view.spec.remarks if note.key == "passes_asked_once"]
    assert told == [
        f"judge {name}: passes 2, 4 repeat the options of pass 1 at temperature 0: asked once, and counted as one pass"
        for name in ("alpha", "beta")
    ]


@pytest.mark.parametrize(
    ("passes", "wishes", "changes"),
    [
        ([{"temperature": 0}] * 2, {"repeat_identical": True}, {}),
        ([{"temperature": 0}] * 2, {}, {"repeat_identical": True}),
        ([{"temperature": 0}] * 2, {"profile": "v1_1"}, {}),
        ([{"temperature": 0, "seed": 1}, {"temperature": 0, "seed": 2}], {}, {}),
        ([{"temperature": 0.1}] * 2, {}, {}),
        ([{}] * 2, {}, {}),
    ],
)
def test_all_passes_are_asked_where_they_may_differ_or_the_user_says_so(
    server: FakeServer, answered: Path, passes: list[dict[str, Any]], wishes: dict[str, Any], changes: dict[str, Any]
) -> None:
    prepared = prepare_benchmark(str(evaluation(answered, passes, **changes)), RunOptions(**wishes))
    assert [judge.passes for judge in prepared.spec.judges] == [2, 2]


# --- scores from log-probabilities


@pytest.mark.parametrize("provider", ["ollama", "openai"])
@pytest.mark.parametrize("joint", [False, True])
def test_expected_scores_come_from_the_server_s_log_probabilities(
    tmp_path: Path, server: FakeServer, answered: Path, provider: str, joint: bool
) -> None:
    suite = evaluation(answered, [{"temperature": 0.3}], scoring_method="expected")
    view = run_in(tmp_path / "out", suite, judges=(f"one={provider}:fake-a",), joint=joint)
    outcomes = [said.outcome for judgment in view.judgments.values() for said in judgment.verdicts]
    assert len(outcomes) == CASES * CRITERIA * (CRITERIA if joint else 1)
    for outcome in outcomes:
        assert isinstance(outcome, Scored)
        assert outcome.written is not None
        other = (outcome.written + 1) % 6
        assert outcome.score == pytest.approx(LIKELY * outcome.written + (1 - LIKELY) * other)
        assert outcome.mass == pytest.approx(1.0)
    (health,) = view.health
    assert (health.expected, health.written) == (CASES * CRITERIA, 0)
    assert health.mass == pytest.approx(1.0)
    assert [entry.method for entry in run_result(view).metadata.judges] == ["expected"]
    again = seen_again(tmp_path / "out", view, Rescoring(reparse=True))
    assert again.scores.tree == view.scores.tree
    assert view.agreement is not None
    record = next(iter(record_results(view)))
    said = next(iter(record.detailed_criteria.values())).judges["one"].passes[0]
    assert said.given_score == said.score
    assert said.mass == pytest.approx(1.0)
    assert said.written_score is not None
    page = render(bench_report(view), "html")
    assert f"one: {CASES * CRITERIA} of {CASES * CRITERIA} scores are expectations, 0 (0%) as written" in page
    assert ("One call asked a model about all criteria" in page) == joint


def test_a_server_without_log_probabilities_leaves_the_scores_as_written_and_the_console_says_so(
    tmp_path: Path, server: FakeServer, answered: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    suite = evaluation(answered, [{"logprobs": False}], scoring_method="expected")
    view = run_in(tmp_path / "out", suite)
    assert [(health.expected, health.written, health.mass) for health in view.health] == [(0, CASES * CRITERIA, None)] * 2
    assert all("written:no_logprobs" in judgment.steps for judgment in view.judgments.values())
    print_report(terminal_report(view, tmp_path))
    every = CASES * CRITERIA
    assert f"{view.health[0].judge}: 0 of {every} scores are expectations, {every} (100%) as written" in capsys.readouterr().out


# --- cases that are alike


def test_cases_that_are_alike_share_their_calls_and_count_each(tmp_path: Path, server: FakeServer, answered: Path) -> None:
    rows = [{"id": f"c{n}", "prompt": "Why?", "response": "Because.", "age": "9-12"} for n in range(CASES)]
    write_cases(answered / "data" / "cases.csv", rows)
    view = run_in(tmp_path / "out", answered)
    assert len(server.calls) == VERDICTS // CASES
    assert view.coverage.scored == VERDICTS
    tokens = sum(max(1, sum(len(content) for _, content in call.messages) // 4) for call in server.calls)
    assert sum(health.prompt_tokens for health in view.health) == tokens, "what is paid once counts once"


def test_a_judge_is_asked_the_same_by_any_run_of_a_ledger(tmp_path: Path, server: FakeServer, answered: Path) -> None:
    run_in(tmp_path / "out", answered, joint=True)
    asked = len(server.calls)
    run_in(tmp_path / "out", answered, joint=True, passes=1)
    assert len(server.calls) == asked


def test_the_command_says_what_it_saves_and_joint_and_single_runs_are_not_compared(command: Command, answered: Path) -> None:
    suite = evaluation(answered, [{"temperature": 0}, {"temperature": 0}])
    single, joint = (command("bench", "run", "--suite", suite, "--yes", *more) for more in ((), ("--joint",)))
    assert single.code == joint.code == 0, single.err + joint.err
    assert "pass 2 repeats the options of pass 1 at temperature 0: asked once, and counted as one pass" in single.err
    calls = CASES * CRITERIA * JUDGES
    assert f"one call asks a model about all criteria of a scope: {calls - calls // CRITERIA} calls saved" in joint.err
    refused = command("bench", "compare", *(folder.name for folder in command.run_folders())).refused()
    assert "one call for each criterion" in refused and "all criteria in one call" in refused
