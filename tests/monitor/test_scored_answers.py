"""Means of answers by how often each score was given: exact scores, equal answers as one observation, and changes."""

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from areopage.criteria.records import Scale
from areopage.monitor.scored_answers import Repeat, ScoredAnswers, answer_intervals, compare
from areopage.scoring.intervals.means import mean_interval

TEN = Scale(min=0.0, max=10.0)
SCORES = st.integers(min_value=0, max_value=1000).map(lambda hundredths: hundredths / 100)


def of(values: dict[float, int], *repeats: Repeat) -> ScoredAnswers:
    return ScoredAnswers({score: (answers, score * answers) for score, answers in values.items()}, repeats)


def interval(some: ScoredAnswers) -> tuple[float, float]:
    found = answer_intervals([some], TEN)[0]
    assert found is not None
    return found


def change(later: ScoredAnswers, earlier: ScoredAnswers) -> tuple[float, float, float, float]:
    compared = compare(later, earlier, TEN)
    assert compared is not None
    difference, low, high, p_value = compared.difference, compared.low, compared.high, compared.p_value
    assert difference is not None and low is not None and high is not None and p_value is not None
    return difference, low, high, p_value


@given(st.lists(SCORES, min_size=2, max_size=60))
def test_a_mean_has_the_interval_of_its_answers_one_by_one(values: list[float]) -> None:
    some = of(dict(Counter(values)))
    assert some.mean == pytest.approx(math.fsum(values) / len(values))
    assert interval(some) == pytest.approx(mean_interval(np.array(values), 0.0, 10.0), abs=1e-5)


def test_many_kinds_of_scores_are_merged_without_moving_the_mean() -> None:
    values = np.random.default_rng(2).beta(6.0, 2.0, 3000).round(2) * 10
    low, high = interval(of(dict(Counter(values.tolist()))))
    assert (low, high) == pytest.approx(mean_interval(values, 0.0, 10.0), abs=0.01 * (high - low))


def test_several_means_are_computed_at_once_and_one_group_has_no_interval() -> None:
    some = [of({6.0: 4, 8.0: 4}), of({6.1: 30}, Repeat(30, 6.1)), of({5.0: 1}), ScoredAnswers(), of({0.0: 2, 3.0: 7, 10.0: 20})]
    found = answer_intervals(some, TEN)
    assert found[1:4] == [None, None, None]
    assert [found[0], found[4]] == [pytest.approx(interval(some[0]), abs=1e-6), pytest.approx(interval(some[4]), abs=1e-6)]
    assert answer_intervals([], TEN) == []


def test_means_are_of_exact_scores() -> None:
    some = ScoredAnswers({2.58: (2, 5.168), 2.59: (1, 2.589)})
    low, high = interval(some)
    assert some.mean == pytest.approx(2.585666666, abs=1e-8) and low < 2.5856 < high


def test_equal_answers_are_one_group_of_the_interval_and_each_of_them_counts_in_the_mean() -> None:
    plain, clustered = of({6.0: 40, 8.0: 40}), of({6.0: 40, 8.0: 40}, *[Repeat(4, 6.0)] * 10)
    assert (plain.groups, clustered.groups, plain.mean, clustered.mean) == (80, 50, 7.0, 7.0)
    inner, outer = interval(plain), interval(clustered)
    assert outer[0] < inner[0] < 7.0 < inner[1] < outer[1]
    # ten groups of four and forty of one: √(10 · 4² + 40) / √80 times as wide, for many answers
    many = interval(of({6.0: 4000, 8.0: 4000}, *[Repeat(4, 6.0)] * 1000))
    alone = interval(of({6.0: 4000, 8.0: 4000}))
    assert (many[1] - many[0]) / (alone[1] - alone[0]) == pytest.approx(math.sqrt(200 / 80), rel=0.03)


def test_scores_beyond_the_scale_widen_the_range() -> None:
    low, high = interval(of({-1.0: 1, 12.0: 4}))
    assert -1.0 <= low < 9.4 < high <= 12.0


def test_no_interval_is_without_width_and_equal_sides_do_not_differ() -> None:
    low, high = interval(of({6.1: 30}))
    assert low < 6.0 and high > 6.2
    difference, low, high, p_value = change(of({5.0: 3}), of({5.0: 9}))
    assert (difference, p_value) == (0.0, 1.0) and low < 0.0 < high
    difference, low, high, p_value = change(of({5.0: 40}), of({8.0: 40}))
    assert difference == -3.0 and low < -3.0 < high and p_value < 0.001


def test_a_comparison_needs_two_different_answers_on_either_side() -> None:
    assert compare(of({5.0: 1}), of({5.0: 9, 6.0: 1}), TEN) is None
    assert compare(of({5.0: 2}), ScoredAnswers(), TEN) is None
    assert compare(of({5.0: 8}, Repeat(8, 5.0)), of({5.0: 9, 6.0: 1}), TEN) is None


def test_one_bad_answer_of_twenty_after_none_of_a_thousand_is_no_change_beyond_chance() -> None:
    difference, low, high, _ = change(of({10.0: 19, 0.0: 1}), of({10.0: 1000}))
    assert low < -0.5 <= difference < high <= 0.1
    assert change(of({10.0: 17, 0.0: 3}), of({10.0: 1000}))[3] < 0.01
