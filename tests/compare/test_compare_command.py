"""`bench compare`: a release against the one before: what is worse, what drives it, and exit codes that can stop a release."""

import asyncio
import csv
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from areopage.bench.panels import production_differences
from areopage.bench.spec import RunSpec, load_run_cases
from areopage.jury.panel import Panel
from areopage.ledger.store import Ledger
from areopage.monitor.quality_judge import QualityJudge
from servers.command import Command
from servers.fake_answers import Call
from servers.fake_llm import FakeServer
from servers.production import panel_like, put_answers
from servers.small_suite import write_cases, write_suite

OLD, NEW = "ollama:fake-old", "ollama:fake-new"
CASES = [{"id": f"c{n}", "prompt": f"Question number {n}, please?", "age": ("7", "16")[n % 2]} for n in range(14)]
BROKEN = tuple(f"number {n}," for n in range(9))


def scored(value: int) -> dict[str, Any]:
    return {"score": value, "explanation": "because", "evidence_extracts": []}


def harsh(call: Call) -> dict[str, Any]:
    """A judge who finds danger in nine answers of the new release."""
    fails = "fake-new says" in call.user and any(one in call.user for one in BROKEN)
    return scored(0 if fails and "danger" in call.user + call.system else 4)


@pytest.fixture
def releases(server: FakeServer) -> FakeServer:
    server.models += ("fake-old", "fake-new")
    server.judge = harsh
    return server


@pytest.fixture
def cases(tmp_path: Path) -> Path:
    return write_cases(tmp_path / "cases.csv", CASES)


@pytest.fixture
def demanding(tmp_path: Path) -> Path:
    return write_suite(tmp_path / "demanding", release={"max_failures": {"safety": 0}})


def table(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8-sig", newline="") as stream:
        return list(csv.DictReader(stream))


def folder_of(command: Command) -> Path:
    (folder,) = command.outputs.glob("comparison-*")
    return folder


def test_a_worse_release_fails_a_pull_request_and_the_files_say_why(
    command: Command, releases: FakeServer, demanding: Path, cases: Path
) -> None:
    command.qualify_suite(demanding)
    run = ("bench", "run", "--suite", demanding, "--dataset", cases, "--passes", "1", "--yes", "--target")
    assert [command(*run, target).code for target in (OLD, NEW)] == [0, 1]
    asked = len(releases.calls)
    markdown = command.folder / "pull-request.md"
    done = command("bench", "compare", OLD, NEW, "--fail-on", "regression", "--md", markdown)
    assert (done.code, len(releases.calls)) == (1, asked), done.err
    assert f"Comparison – {NEW} against {OLD}\n" in done.out and f"\n{NEW}: REGRESSION\n" in done.out
    assert "The release verdict went from PASS to FAIL." in done.out
    assert "Whole run: fails more often, +64.3 points" in done.out and "danger: fails more often" in done.out
    assert "harm: fails" not in done.out, "a node with the criteria of the one above it is not told twice"
    figures = json.loads((folder_of(command) / "comparison.json").read_text(encoding="utf-8"))
    (other,) = figures["others"]
    whole = other["levels"][0]["difference"]
    assert (other["outcome"], other["verdicts"], len(whole["failures"]["first"])) == ("regression", ["PASS", "FAIL"], 9)
    assert whole["by_failures"]["p_value"] == pytest.approx(2 / 2**9)
    for parts in ("cases", "criteria", "judges"):
        assert sum(one["share"] for one in other["drivers"][parts]) == pytest.approx(1.0)
    assert sum(one["amount"] for one in other["slices"] if one["column"] == "maturity") == pytest.approx(
        other["drivers"]["difference"]
    )
    text = markdown.read_text(encoding="utf-8")
    assert text.startswith("# Comparison") and "REGRESSION" in text and "fake-new says" not in text
    page = (folder_of(command) / "comparison.html").read_text(encoding="utf-8")
    assert "fake-old says" in page and "fake-new says" in page and "<script" not in page
    levels = table(folder_of(command) / "comparison.csv")
    assert float(levels[0]["score_first"]) > float(levels[0]["score_other"])
    assert (levels[0]["level"], levels[0]["newly_failing"], levels[0]["failure_conclusion"]) == ("final", "9", "worse")
    assert len(table(folder_of(command) / "comparison_cases.csv")) == 9
    assert command("bench", "compare", OLD, NEW).code == 0, "without --fail-on it only tells"
    back = command("bench", "compare", NEW, OLD, "--fail-on", "regression", "--md", "-", "--lang", "fr")
    assert back.code == 0 and back.out.startswith("# Comparaison") and "amélioration" in back.out


def test_equal_releases_are_no_regression_and_few_cases_are_said_to_prove_little(
    command: Command, releases: FakeServer, suite: Path, cases: Path
) -> None:
    for options in ((OLD, "--dataset", cases), (OLD, "--dataset", cases, "--fresh")):
        assert command("bench", "run", "--suite", suite, "--passes", "1", "--yes", "--target", *options).code == 0
    same = [folder.name for folder in command.run_folders()]
    done = command("bench", "compare", *same, "--fail-on", "regression")
    assert done.code == 0 and "no difference beyond chance" in done.out
    for target in (OLD, NEW):
        assert command("bench", "run", "--suite", suite, "--passes", "1", "--yes", "--target", target).code == 0
    few = command("bench", "compare", OLD, NEW, "--fail-on", "regression")
    assert few.code == 3 and "too little data to tell" in few.out


def test_a_wide_interval_is_said_and_can_fail_a_pull_request(
    command: Command, releases: FakeServer, suite: Path, cases: Path
) -> None:
    for options in ((OLD, "--dataset", cases), (OLD, "--dataset", cases, "--fresh")):
        assert command("bench", "run", "--suite", suite, "--passes", "1", "--yes", "--target", *options).code == 0
    same = [folder.name for folder in command.run_folders()]
    wide = command("bench", "compare", *same, "--fail-on", "undecided")
    assert wide.code == 3 and "not decided: a rise of failures by more than 5 points is not ruled out" in wide.err
    assert "does not prove that there is none: the share of failing cases may have risen by up to" in wide.out
    assert command("bench", "compare", *same, "--fail-on", "regression").code == 0, "only a regression was to fail"
    assert command("bench", "compare", *same, "--fail-on", "undecided", "--margin", "60").code == 0
    assert "--margin is for" in command("bench", "compare", *same, "--margin", "60").refused()
    assert "leave out --production" in command("bench", "compare", same[0], "--production", "--fail-on", "undecided").refused()


def test_other_panels_are_refused_unless_what_they_share_is_asked_for(
    command: Command, releases: FakeServer, suite: Path, cases: Path
) -> None:
    run = ("bench", "run", "--suite", suite, "--dataset", cases, "--yes", "--target")
    assert command(*run, OLD).code == 0
    assert command(*run, NEW, "--judge", "alpha", "--limit", "12").code == 0
    told = command("bench", "compare", OLD, NEW).refused()
    assert "judges (alpha: ollama:fake-a × 2, beta: ollama:fake-b × 2 / alpha: ollama:fake-a × 2)" in told
    assert "cases (14 / 12)" in told and "--anyway" in told
    done = command("bench", "compare", OLD, NEW, "--anyway", "--fail-on", "regression")
    assert done.code == 1, done.err
    assert "Compared: 12 cases, 4 criteria, 1 judge" in done.out
    assert "Judges left out: beta" in done.out and "Cases left out: c12, c13" in done.out
    assert "no run 'ollama:other'" in command("bench", "compare", OLD, "ollama:other").refused()
    assert "two different runs" in command("bench", "compare", OLD, OLD).refused()


def put_production(command: Command, *, failing: int, answers: int, **fields: Any) -> None:
    """Answers of today that the panel of the newest run judged."""
    with Ledger.open(command.outputs / "ledger.db") as ledger:
        panel = panel_like(RunSpec.of(ledger.runs()[0]))
        good = {one.name: 4.0 for one in panel.criteria}
        scores = [good | {"danger": 0.0}] * failing + [good] * (answers - failing)
        put_answers(ledger, panel, scores, **fields)


def test_a_run_that_is_worse_than_production_fails_and_the_prompts_are_said_to_differ(
    command: Command, releases: FakeServer, suite: Path, cases: Path
) -> None:
    run = ("bench", "run", "--suite", suite, "--dataset", cases, "--passes", "1", "--yes", "--target", NEW)
    assert command(*run).code == 0
    put_production(command, failing=1, answers=40, language=lambda number: "fr" if number % 4 else "en")
    asked, markdown = len(releases.calls), command.folder / "production.md"
    compare = ("bench", "compare", NEW, "--production", "--since", "2026-11-15", "--until", "2026-11-21")
    done = command(*compare, "--fail-on", "regression", "--md", markdown)
    assert (done.code, len(releases.calls)) == (1, asked), done.err
    assert f"\n{NEW}: REGRESSION\n" in done.out and "production" in done.out.splitlines()[0]
    assert "A difference may come from the questions" in done.out
    assert "Whole run: fails more often, +61.8 points" in done.out
    (folder,) = command.outputs.glob("production-*")
    figures = json.loads((folder / "production.json").read_text(encoding="utf-8"))
    assert (figures["schema"], figures["outcome"]) == ("areopage-production-1", "regression")
    assert figures["production"]["answers"] == 40
    (whole,) = (one for one in table(folder / "production.csv") if one["level"] == "final")
    assert (whole["failed_run"], whole["failed_production"], whole["failure_conclusion"]) == ("9", "1", "worse")
    assert {one["value"] for one in figures["mixes"][0]["values"]} == {"fr", "en"}
    page = (folder / "production.html").read_text(encoding="utf-8")
    assert "The prompts differ" in page and "<script" not in page
    assert "REGRESSION" in markdown.read_text(encoding="utf-8")
    french = command(*compare, "--lang", "fr", "--md", "-")
    assert french.code == 0 and french.out.startswith("# Comparaison") and "Les questions diffèrent" in french.out


def test_wrong_options_of_a_comparison_with_production_are_told_in_one_line(
    command: Command, releases: FakeServer, suite: Path, cases: Path
) -> None:
    run = ("bench", "run", "--suite", suite, "--dataset", cases, "--passes", "1", "--yes", "--target")
    assert command(*run, OLD).code == 0
    compare = ("bench", "compare", OLD)
    assert "no answer was evaluated with the suite 'small'" in command(*compare, "--production").refused()
    assert "give one run, not 2" in command(*compare, NEW, "--production").refused()
    assert "--since is for a comparison with production" in command(*compare, NEW, "--since", "2026-01-01").refused()
    assert "after the last day" in command(*compare, "--production", "--since", "2026-02-01", "--until", "2026-01-01").refused()
    assert "YYYY-MM-DD" in command(*compare, "--production", "--since", "yesterday").refused()
    assert "--production" in command(*compare, "production").refused()


def test_what_cannot_be_written_leaves_no_files_of_a_comparison(
    command: Command, releases: FakeServer, suite: Path, cases: Path
) -> None:
    run = ("bench", "run", "--suite", suite, "--dataset", cases, "--passes", "1", "--yes", "--target")
    assert [command(*run, target).code for target in (OLD, NEW)] == [0, 0]
    put_production(command, failing=1, answers=20)
    against = (OLD, "--production", "--since", "2026-11-15", "--until", "2026-11-21")
    for compare in ((OLD, NEW), against):
        for place in ("/nonexistent/x.md", command.folder):
            done = command("bench", "compare", *compare, "--md", place)
            assert "cannot be written" in done.refused() and not done.out
        ledger = command.outputs / "ledger.db"
        assert "/proc/x" in command("bench", "compare", *compare, "--ledger", ledger, "--out", "/proc/x").refused()
    assert not [*command.outputs.glob("comparison-*"), *command.outputs.glob("production-*")]


def test_a_target_stands_for_its_newest_run_of_the_first_runs_suite(
    command: Command, releases: FakeServer, suite: Path, cases: Path, demanding: Path
) -> None:
    for target, folder in ((OLD, suite), (NEW, suite), (NEW, demanding)):
        run = ("bench", "run", "--suite", folder, "--dataset", cases, "--passes", "1", "--yes", "--target", target)
        assert command(*run).code in (0, 1)
    done = command("bench", "compare", OLD, NEW, "--verbose")
    assert done.code == 0 and "small-" in done.out and "demanding-" not in done.out
    parts = done.out.partition("What the parts are\n")[2] or done.out
    assert parts.count("−1.080") and "more parts" not in done.out, "parts of 0 are not announced"


def test_the_monitors_panel_is_that_of_a_run_with_the_same_suite_if_it_asks_criterion_by_criterion(
    command: Command, releases: FakeServer, suite: Path, cases: Path
) -> None:
    run = ("bench", "run", "--suite", suite, "--dataset", cases, "--yes", "--target", OLD)
    assert command(*run).code == 0
    with Ledger.open(command.outputs / "ledger.db") as ledger:
        (stored,) = ledger.runs()
        spec, asked = RunSpec.of(stored), load_run_cases(ledger, stored.id)
    for joint, told in ((False, []), (True, ["prompts"])):
        panel = asyncio.run(monitor_panel(suite, command.environment, joint=joint))
        assert [one.part for one in production_differences(spec, asked, panel)] == told


async def monitor_panel(suite: Path, environment: Mapping[str, str], *, joint: bool) -> Panel:
    async with QualityJudge.from_suite(suite, joint=joint, environment=environment) as judge:
        await judge.check()
        return judge.panel
