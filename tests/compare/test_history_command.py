"""`bench compare RUN --against last:N` and `bench trend`: a night against the nights before it."""

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from servers.command import Command
from servers.fake_answers import Call
from servers.fake_llm import FakeServer
from servers.small_suite import write_cases

CASES = [{"id": f"c{n}", "prompt": f"Question number {n}, please?", "age": "9-12"} for n in range(24)]
Night = Callable[[set[int]], str]
UNREADABLE = -1
"""In a night with this number the judge gives no readable verdict on case 3."""


@pytest.fixture
def night(command: Command, server: FakeServer, tmp_path: Path, suite: Path) -> Night:
    """Run a benchmark in which the answers to some cases fail on warmth; the id of the run."""
    cases = write_cases(tmp_path / "cases.csv", CASES)
    failing: set[int] = set()

    def judge(call: Call) -> dict[str, Any]:
        if UNREADABLE in failing and "number 3," in call.user:
            return {"score": "none", "explanation": "", "evidence_extracts": []}
        fails = "warmth" in call.user + call.system and any(f"number {n}," in call.user for n in failing)
        return {"score": 0 if fails else 4, "explanation": "because", "evidence_extracts": []}

    server.judge = judge

    def run(some: set[int]) -> str:
        failing.clear()
        failing.update(some)
        before = set(command.run_folders())
        options = ("--dataset", cases, "--passes", "1", "--judge", "alpha", "--yes", "--fresh")
        assert command("bench", "run", "--suite", suite, *options).code in (0, 3)
        (new,) = set(command.run_folders()) - before
        return new.name

    return run


def test_a_night_that_fails_more_often_than_the_nights_before_is_a_regression(command: Command, night: Night) -> None:
    for quiet in ({1}, {2}, set(), {1}, {3}, {2}):
        night(set(quiet))
    same, worse = night({1, 4}), night({1, 4, 5, 6, 7, 8})
    quiet_night = command("bench", "compare", same, "--against", "last:6", "--fail-on", "regression")
    assert quiet_night.code == 0 and "no difference beyond chance" in quiet_night.out, quiet_night.out
    markdown = command.folder / "night.md"
    found = command("bench", "compare", worse, "--against", "last:14", "--fail-on", "regression", "--md", markdown)
    assert found.code == 1, found.out
    assert "against 7 earlier runs\n" in found.out and f"\n{worse}: REGRESSION\n" in found.out
    assert "6 of 24" in found.out and "Newly failing cases: 4." in found.out
    assert "  - c5 · warmth · " in found.out, found.out
    assert "REGRESSION" in markdown.read_text(encoding="utf-8")
    (figures,) = [
        one
        for path in command.outputs.glob("comparison-*/history.json")
        if (one := json.loads(path.read_text(encoding="utf-8")))["run"] == worse
    ]
    assert figures["outcome"] == "regression" and len(figures["pool"]) == 7
    assert set(figures["newly_failing"]) == {"c5", "c6", "c7", "c8"}
    trend = command("bench", "trend", "--fail-on", "regression")
    assert trend.code == 1 and "Newest run: fails more often." in trend.out, trend.out
    assert "échoue plus souvent" in (_page(command, "trend", "--lang", "fr"))


def test_a_lasting_fall_stays_a_regression_until_its_level_is_accepted(command: Command, night: Night) -> None:
    bad = {1, 4, 5, 6, 7, 8}
    for quiet in ({1}, {2}, set(), {1}, {3}, {2}):
        night(set(quiet))
    first = night(bad)
    for _ in range(3):
        last = night(bad)
    found = command("bench", "compare", last, "--against", "last:3", "--fail-on", "regression")
    assert found.code == 1, "bad nights are not compared with bad nights"
    assert first in found.out and "Left out of the comparison" in found.out
    assert command("bench", "trend", "--fail-on", "regression").code == 1
    assert (
        "no earlier complete run" in command("bench", "compare", last, "--against", "last:3", "--since", "2999-01-01").refused()
    )


def test_a_case_that_newly_fails_can_fail_a_pull_request_whatever_the_tests_say(command: Command, night: Night) -> None:
    first, second, third = night({1}), night({1, 2, 3}), night({1})
    told = command("bench", "compare", first, second, "--fail-on", "regression")
    assert told.code == 0 and "Cases that newly fail a criterion: 2 of 24; fixed without a new failure: 0." in told.out
    assert told.out.index("  - c2 · ") < told.out.index("level by level"), "the cases come before the statistics"
    assert command("bench", "compare", first, second, "--fail-on", "new-failures").code == 1
    assert command("bench", "compare", second, third, "--fail-on", "new-failures").code == 0
    assert command("bench", "compare", third, "--against", "last:1", "--fail-on", "new-failures").code == 0
    assert command("bench", "compare", second, "--against", "last:1", "--fail-on", "new-failures").code == 1


def test_earlier_runs_that_are_passed_over_are_counted_with_the_reason(command: Command, night: Night, suite: Path) -> None:
    for _ in range(2):
        night({1})
    options = ("--dataset", command.folder / "cases.csv", "--yes", "--fresh", "--passes", "1")
    command("bench", "run", "--suite", suite, *options, "--judge", "beta")
    older = write_cases(command.folder / "older.csv", [{**one, "age": "13-17"} for one in CASES])
    command("bench", "run", "--suite", suite, "--dataset", older, *options[2:], "--judge", "alpha")
    newest = night({1})
    told = command("bench", "compare", newest, "--against", "last:14")
    assert "against 2 earlier runs\n" in told.out and f"\n{newest}: " in told.out
    lines = [line.strip() for line in told.out.splitlines() if "Left out of the comparison" in line]
    assert [line.partition(": ")[2].rpartition(":")[0] for line in lines] == [
        "1 earlier run, judged otherwise (different: judges)",
        "1 earlier run, judged otherwise (different: cases)",
    ]
    figures = json.loads(next(command.outputs.glob("comparison-*/history.json")).read_text(encoding="utf-8"))
    assert [(one["why"], one["differs"]) for one in figures["left_out"]] == [
        ("other_panel", ["judges"]),
        ("other_panel", ["cases"]),
    ]
    chosen = command("bench", "compare", newest, "--against", "last:14", "--where", "age=9-12")
    assert "1 earlier run, without a case of the chosen value: " in chosen.out, chosen.out
    trend = command("bench", "trend")
    assert [line.strip() for line in trend.out.splitlines() if "Left out" in line] == lines
    page = next(command.outputs.glob("comparison-*/history.html")).read_text(encoding="utf-8")
    assert "judged otherwise (different: judges)" in page and "judged otherwise (different: cases)" in _page(command, "trend")


def test_a_run_that_is_not_finished_is_named_among_those_that_are_not_compared(command: Command, night: Night) -> None:
    night({1})
    stopped, newest = night({1}), night({1})
    with closing(sqlite3.connect(command.outputs / "ledger.db")) as ledger:
        ledger.execute("update runs set finished_at = null where id = ?", (stopped,))
        ledger.commit()
    line = f"Left out of the comparison: 1 earlier run, not finished: {stopped}"
    assert line in command("bench", "compare", newest, "--against", "last:14").out
    assert line in command("bench", "trend").out
    assert f"évaluation antérieure, travail inachevé\u00a0: {stopped}" in _page(command, "trend", "--lang", "fr")


def test_a_run_with_the_answers_of_another_says_nothing_of_the_target(command: Command, night: Night, suite: Path) -> None:
    night({1})
    night({1})
    options = ("--dataset", command.folder / "cases.csv", "--passes", "1", "--judge", "alpha", "--yes", "--reuse-answers")
    assert command("bench", "run", "--suite", suite, *options).code in (0, 3)
    told = command("bench", "compare", "latest", "--against", "last:14", "--fail-on", "regression")
    assert told.code == 3 and "too little data to tell" in told.out, told.out
    assert "Newest run: not comparable" in command("bench", "trend").out
    assert "against 2 earlier runs\n" in command("bench", "compare", night({1}), "--against", "last:14").out


def test_of_a_case_without_a_score_it_is_not_said_that_it_does_not_fail(command: Command, night: Night) -> None:
    first, second = night({1}), night({UNREADABLE})
    done = command("bench", "compare", first, second, "--fail-on", "new-failures")
    assert done.code == 3 and "not decided: of 1 case it is not known whether they newly fail" in done.err
    assert "Not known of 1 case" in done.out
    pooled = command("bench", "compare", second, "--against", "last:1", "--fail-on", "new-failures")
    assert pooled.code == 3 and "1 case is not compared" in pooled.out


def test_what_cannot_be_compared_with_earlier_runs_is_refused_in_one_line(command: Command, night: Night) -> None:
    only = night({1})
    assert "use last:N" in command("bench", "compare", only, "--against", "14").refused()
    assert "use last:N" in command("bench", "compare", only, "--against", "last:0").refused()
    assert "no earlier complete run" in command("bench", "compare", only, "--against", "last:14").refused()
    assert "does not go with --against" in command("bench", "compare", only, "--against", "last:2", "--production").refused()
    assert "one run" in command("bench", "compare", only, only, "--against", "last:2").refused()
    trend = command("bench", "trend", "--fail-on", "regression")
    assert trend.code == 0 and "no earlier run" in trend.out


def _page(command: Command, name: str, *options: str) -> str:
    assert command("bench", name, *options).code == 0
    (page,) = command.outputs.glob("trend-*/trend.html")
    return page.read_text(encoding="utf-8")
