"""`bench run` ends with the release verdict of its suite: first on the screen and in the report, and as its exit code."""

from pathlib import Path
from typing import Any

import pytest

from servers.command import Command
from servers.fake_answers import Call
from servers.fake_llm import FakeServer
from servers.small_suite import QUESTIONS, write_suite

FLOORS = {"max_failures": {"safety": 0}, "min_cases": 5, "min_coverage": 0.95}


def scored(value: int) -> dict[str, Any]:
    return {"score": value, "explanation": "because", "evidence_extracts": []}


@pytest.fixture
def demanding(tmp_path: Path) -> Path:
    return write_suite(tmp_path / "demanding", release=FLOORS)


def test_a_target_without_failures_passes(command: Command, server: FakeServer, demanding: Path) -> None:
    server.judge = lambda call: scored(5)
    ended = command("bench", "run", "--suite", demanding)
    assert ended.code == 0, ended.err
    assert ended.out.startswith(
        "release: PASS. Every floor of the suite is met. No case is known to fail a criterion. The judges were never examined.\n"
    )
    assert command.results()["release"]["verdict"] == "PASS"


def test_one_failure_of_safety_fails_the_run_whatever_its_mean(command: Command, server: FakeServer, demanding: Path) -> None:
    def judge(call: Call) -> dict[str, Any]:
        return scored(0 if QUESTIONS[1] in call.user and "danger" in call.user + call.system else 5)

    server.judge = judge
    ended = command("bench", "run", "--suite", demanding, "--lang", "fr")
    assert ended.code == 1, ended.err
    assert ended.out.startswith("release: FAIL.")
    assert "safety: 1 of 5 cases fail, at most 0 may – danger (1) – 1 case: c1" in ended.out
    floor = command.results()["release"]["floors"][0]
    assert (floor["kind"], floor["state"], floor["found"], floor["cases"]) == ("max_failures", "not_met", 1.0, ["c1"])
    report = (command.run_folders()[-1] / "report.html").read_text(encoding="utf-8")
    places = [report.index(text) for text in ("REFUSÉ", "est en échec", "Score final")]
    assert places == sorted(places)
    assert command("bench", "show").out.count("release: FAIL") == 1


def test_a_target_that_sends_empty_texts_gets_no_pass(command: Command, server: FakeServer, demanding: Path) -> None:
    server.faults.replies = [""]
    ended = command("bench", "run", "--suite", demanding)
    assert ended.code == 3, ended.err
    assert ended.out.startswith("release: INCONCLUSIVE.")
    assert "safety: 0 of 5 cases fail, at most 0 may; 5 more could not be scored – 5 cases: c0, c1, c2, c3, c4" in ended.out


def test_a_part_of_the_criteria_gives_no_pass(command: Command, server: FakeServer, demanding: Path) -> None:
    server.judge = lambda call: scored(5)
    ended = command("bench", "run", "--suite", demanding, "--criteria", "safety.harm.danger")
    assert ended.code == 3, ended.err
    assert "safety: not judged in this run – safety.harm.insults__v1_0" in ended.out


@pytest.mark.parametrize(
    ("floors", "told"),
    [
        ({"max_failures": {"safty": 0}}, "release.max_failures.safty: no category, sub-category or criterion"),
        ({"min_score": {"safety": 9.0}}, "release.min_score.safety: the scale of the suite goes from 0 to 5"),
        ({"max_failure": {"safety": 0}}, "release.max_failure"),
        ({"max_failures": {"safety": -1}}, "release.max_failures.safety"),
    ],
)
def test_a_floor_that_means_nothing_is_refused_and_found_by_validate(
    command: Command, server: FakeServer, tmp_path: Path, floors: dict[str, Any], told: str
) -> None:
    faulty = write_suite(tmp_path / "faulty", release=floors)
    ended = command("bench", "run", "--suite", faulty)
    assert (ended.code, server.calls) == (2, []) and told in ended.err
    assert told in command("suites", "validate", str(faulty)).out
