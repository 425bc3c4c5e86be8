"""What a round of golden questions says."""

import math
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from areopage.criteria.records import Scale
from areopage.monitor.golden_rounds import GoldenQuestion, judge_round, paired_change

TEN = Scale(min=0.0, max=10.0)


def questions(pairs: Sequence[tuple[float | None, float | None]]) -> list[GoldenQuestion]:
    return [GoldenQuestion(id=f"q{at}", text=f"Q {at}?", score=now, before=before) for at, (now, before) in enumerate(pairs)]


def test_a_round_without_another_is_the_first() -> None:
    result = judge_round(questions([(8.0, None), (9.0, None)]), 0.5, TEN)
    assert (result.verdict, result.mean, result.change, result.pairs) == ("first", 8.5, None, 0)


def test_a_drop_must_be_large_and_its_interval_must_leave_0_out() -> None:
    steady = [(8.0 - 0.6 + 0.01 * at, 8.0) for at in range(10)]
    result = judge_round(questions(steady), 0.5, TEN)
    assert (result.verdict, result.pairs) == ("drop", 10)
    assert result.high is not None and result.high < 0
    noisy = [(0.0, 8.0), *[(8.1, 8.0)] * 9]
    result = judge_round(questions(noisy), 0.5, TEN)
    assert (result.verdict, result.high is not None and result.high > 0) == ("good", True)
    assert [question.id for question in result.fell] == ["q0"]
    small = [(7.6 + 0.01 * at, 8.0) for at in range(10)]
    assert judge_round(questions(small), 0.5, TEN).verdict == "good"


def test_under_five_questions_the_plain_drop_decides() -> None:
    assert judge_round(questions([(5.0, 9.0), (9.0, 9.0)]), 0.5, TEN).verdict == "drop"
    assert judge_round(questions([(5.0, 9.0)]), 0.5, TEN).verdict == "drop"
    assert judge_round(questions([(8.8, 9.0)]), 0.5, TEN).verdict == "good"


def test_a_missing_score_makes_a_round_incomplete_unless_it_dropped() -> None:
    result = judge_round(questions([(8.0, 8.0), (None, 9.0)]), 0.5, TEN)
    assert (result.verdict, result.mean, result.pairs) == ("incomplete", 8.0, 1)
    assert [question.id for question in result.missing] == ["q1"]
    assert judge_round(questions([(3.0, 8.0), (None, 9.0)]), 0.5, TEN).verdict == "drop"
    nothing = judge_round(questions([(None, 8.0)]), 0.5, TEN)
    assert (nothing.verdict, nothing.mean) == ("incomplete", None)


def test_the_questions_that_fell_most_come_first() -> None:
    result = judge_round(questions([(7.0, 8.0), (2.0, 9.0), (9.0, 8.0), *[(7.9, 8.0)] * 6]), 0.5, TEN)
    assert [question.id for question in result.fell] == ["q1", "q0", "q3", "q4", "q5"]


def test_where_lower_is_better_a_rise_is_the_drop() -> None:
    scale = Scale(min=0.0, max=5.0, higher_is_better=False)
    result = judge_round(questions([(3.0, 1.0), (1.0, 2.0)]), 0.5, scale)
    assert (result.verdict, [question.id for question in result.fell]) == ("drop", ["q0"])
    assert judge_round(questions([(1.0, 3.0)]), 0.5, scale).verdict == "good"


def test_the_interval_is_students_of_paired_differences() -> None:
    # by hand: the sample variance is 2/3, so the standard error is √(1/6); t(3) = 3.182446
    half = 3.182446 * (1 / 6) ** 0.5
    assert paired_change([-1.0, -2.0, 0.0, -1.0]) == pytest.approx((-1.0, -1.0 - half, -1.0 + half))
    assert paired_change([-1.0]) == (-1.0, None, None)
    assert paired_change([]) == (None, None, None)


@given(st.lists(st.tuples(st.none() | st.floats(0, 10), st.none() | st.floats(0, 10))))
def test_any_round_has_a_verdict(pairs: list[tuple[float | None, float | None]]) -> None:
    result = judge_round(questions(pairs), 0.5, TEN)
    assert result.verdict in ("first", "good", "drop", "incomplete")
    assert result.mean is None or math.isfinite(result.mean)
    assert (result.verdict in ("good", "first")) <= (not result.missing)
