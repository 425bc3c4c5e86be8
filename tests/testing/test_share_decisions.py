"""Shares of passing answers are found too low only with certainty, and everything in between is not decided."""

from functools import cache
from math import ceil

import numpy as np
import pytest

from areopage.scoring.shares import at_least, at_most
from areopage.testing import share_decisions
from areopage.testing.share_decisions import AnswerCounts, decide_shares


def decide(passed: int, failed: int, demanded: float = 0.9, missing: int = 0, confidence: float = 0.95) -> str:
    found = decide_shares({"one": AnswerCounts(passed=passed, failed=failed, missing=missing)}, demanded, confidence)
    return found["one"].verdict


@pytest.mark.parametrize("answers", [1, 5, 20, 60, 200, 1000])
@pytest.mark.parametrize("demanded", [0.5, 0.8, 0.9, 0.95, 0.99])
def test_a_system_as_good_as_demanded_fails_with_at_most_the_stated_chance(
    answers: int, demanded: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    for figure in ("_needed", "lower_bound", "upper_bound"):  # no verdict depends on them
        monkeypatch.setattr(share_decisions, figure, lambda *_: None)
    verdicts = [decide(k, answers - k, demanded) for k in range(answers + 1)]
    failing = [k for k, verdict in enumerate(verdicts) if verdict == "fail"]
    assert failing == list(range(len(failing))), "few passes fail, many do not"
    chance = at_most(failing[-1], answers, demanded) if failing else 0.0
    assert chance <= 0.05
    passing = [k for k, verdict in enumerate(verdicts) if verdict == "pass"]
    assert not passing or at_least(passing[0], answers, demanded) <= 0.05


@pytest.mark.parametrize("shares", [(0.9, 0.9), (1.0, 0.8), (0.99, 0.81)])
def test_prompts_that_pass_unequally_often_keep_the_chance(shares: tuple[float, float]) -> None:
    draws = np.random.default_rng(1)
    of_each = 30
    passed = draws.binomial(of_each, shares[0], 4000) + draws.binomial(of_each, shares[1], 4000)
    drawn = zip(*np.unique(passed, return_counts=True), strict=True)
    failed = sum(int(times) for k, times in drawn if decide(int(k), 2 * of_each - int(k)) == "fail")
    assert failed / 4000 <= 0.055


def test_a_clear_failure_fails_and_a_clear_pass_passes() -> None:
    assert decide(60, 40) == "fail"
    assert decide(99, 1) == "pass"
    assert decide(95, 5) == "undecided"
    assert decide(10, 0) == "undecided"


def test_no_answer_decides_nothing() -> None:
    assert decide(0, 0) == "undecided"


def test_answers_without_a_verdict_count_against_either_decision() -> None:
    assert decide(99, 1, missing=0) == "pass"
    assert decide(99, 1, missing=20) == "undecided"
    assert decide(60, 20, missing=0) == "fail"
    assert decide(60, 20, missing=100) == "undecided"
    assert decide(0, 0, missing=50) == "undecided"


def test_each_answer_must_pass_where_the_whole_share_is_demanded() -> None:
    assert (decide(10, 0, 1.0), decide(9, 1, 1.0), decide(9, 0, 1.0, missing=1)) == ("pass", "fail", "undecided")


def test_several_criteria_together_fail_with_at_most_the_stated_chance(monkeypatch: pytest.MonkeyPatch) -> None:
    for pure in ("at_most", "lower_bound", "upper_bound", "_needed"):  # each count is drawn thousands of times
        monkeypatch.setattr(share_decisions, pure, cache(getattr(share_decisions, pure)))
    draws = np.random.default_rng(2)
    runs = draws.binomial(40, 0.8, size=(2000, 10))
    failed = 0
    for run in runs:
        found = decide_shares({f"{n}": AnswerCounts(passed=int(k), failed=40 - int(k)) for n, k in enumerate(run)}, 0.8)
        failed += any(one.verdict == "fail" for one in found.values())
    assert failed / len(runs) <= 0.05


@pytest.mark.parametrize(("passed", "failed"), [(19, 1), (85, 15), (48, 2), (10, 0)])
def test_the_number_of_answers_that_is_named_decides_if_the_share_stays(passed: int, failed: int) -> None:
    found = decide_shares({"one": AnswerCounts(passed=passed, failed=failed)}, 0.9)["one"]
    assert found.verdict == "undecided" and found.needed is not None
    share = passed / (passed + failed)
    later = round(share * 2 * found.needed)
    assert decide(later, 2 * found.needed - later) != "undecided"
    sooner = found.needed - 2
    then = int(share * sooner) if share > 0.9 else ceil(share * sooner)
    assert sooner <= passed + failed or decide(then, sooner - then) == "undecided"


def test_no_number_decides_where_the_share_is_exactly_as_demanded() -> None:
    assert decide_shares({"one": AnswerCounts(passed=9, failed=1)}, 0.9)["one"].needed is None


@pytest.mark.parametrize(("demanded", "confidence"), [(0.0, 0.95), (1.1, 0.95), (0.9, 1.0), (0.9, 0.4)])
def test_impossible_demands_are_refused(demanded: float, confidence: float) -> None:
    with pytest.raises(ValueError, match="must lie"):
        decide_shares({"one": AnswerCounts(passed=9, failed=1)}, demanded, confidence)
