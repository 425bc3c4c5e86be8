"""Statistics over counted scores: the same as over the answers one by one, and as SciPy has them."""

import math
import statistics
from collections import Counter

import pytest
import scipy
from hypothesis import assume, given
from hypothesis import strategies as st

from areopage.criteria.records import Scale
from areopage.scoring.counts import Repeat, Tally, compare, critical_t, grade_of, two_sided_p

TEN = Scale(min=0.0, max=10.0)
scores = st.integers(min_value=0, max_value=1000).map(lambda hundredths: hundredths / 100)
lists = st.lists(scores, max_size=60)
freedoms = st.floats(min_value=1.0, max_value=1e8)


def tally(values: list[float]) -> Tally:
    return Tally(dict(Counter(values)))


@given(lists)
def test_statistics_of_counts_are_those_of_the_expanded_list(values: list[float]) -> None:
    found = tally(values)
    assert found.answers == len(values)
    if not values:
        assert (found.mean, found.variance, found.interval) == (None, None, None)
        return
    assert found.mean == pytest.approx(statistics.fmean(values))
    if len(values) < 2:
        assert (found.variance, found.interval) == (None, None)
        return
    assert found.variance == pytest.approx(statistics.variance(values), abs=1e-9)
    assert found.interval is not None
    sd = statistics.stdev(values)
    error = sd / math.sqrt(len(values)) if sd > 1e-6 else 1.0 / len(values)  # else as if one were a point off
    half = scipy.stats.t.ppf(0.975, len(values) - 1) * error
    assert found.interval == pytest.approx((found.mean - half, found.mean + half), abs=1e-6)


@given(lists, lists, lists)
def test_merging_is_associative_and_equals_one_list(one: list[float], two: list[float], three: list[float]) -> None:
    left = tally(one).merge(tally(two)).merge(tally(three))
    right = tally(one).merge(tally(two).merge(tally(three)))
    assert dict(left.counts) == dict(right.counts) == dict(tally(one + two + three).counts)
    assert tally(one).merge(Tally()) == tally(one)


@given(lists)
def test_grades_and_histogram_count_every_answer_once(values: list[float]) -> None:
    found = tally(values)
    assert sum(found.grades(TEN)) == sum(found.histogram(TEN)) == len(values)
    assert found.grades(TEN) == (sum(v > 8 for v in values), sum(6 <= v <= 8 for v in values), sum(v < 6 for v in values))
    assert found.histogram(TEN) == tuple(sum(min(int(v), 9) == step for v in values) for step in range(10))


@pytest.mark.parametrize(
    ("score", "grade"),
    [
        (None, "unscored"),
        (10.0, "excellent"),
        (8.01, "excellent"),
        (8.0, "acceptable"),
        (6.0, "acceptable"),
        (5.99, "weak"),
        (0.0, "weak"),
    ],
)
def test_a_grade_goes_by_limits_of_which_the_middle_one_has_both(score: float | None, grade: str) -> None:
    assert grade_of(score, TEN) == grade


@pytest.mark.parametrize(
    ("score", "grade"), [(8.004, "acceptable"), (8.006, "excellent"), (5.996, "acceptable"), (5.994, "weak")]
)
def test_a_grade_goes_by_the_score_as_it_is_shown(score: float | None, grade: str) -> None:
    assert grade_of(score, TEN) == grade


@pytest.mark.parametrize("high", [1.0, 3.0, 5.0, 7.0, 20.0, 100.0])
def test_the_limits_of_the_middle_grade_belong_to_it_on_every_scale(high: float) -> None:
    scale = Scale(min=0.0, max=high)
    assert grade_of(high * 0.6, scale) == grade_of(high * 0.8, scale) == "acceptable"


def test_where_lower_is_better_the_low_end_is_excellent() -> None:
    scale = Scale(min=0.0, max=10.0, higher_is_better=False)
    assert [grade_of(score, scale) for score in (0.0, 1.99, 2.0, 4.0, 4.01, 10.0)] == [
        "excellent", "excellent", "acceptable", "acceptable", "weak", "weak",
    ]  # fmt: skip


def test_scores_beyond_the_scale_are_counted_at_its_ends() -> None:
    assert Tally({-1.0: 2, 12.0: 3}).histogram(TEN) == (2, 0, 0, 0, 0, 0, 0, 0, 0, 3)


def test_an_interval_may_reach_past_the_scale() -> None:
    interval = Tally({9.0: 1, 10.0: 1}).interval
    assert interval is not None
    assert interval[1] > 10


@pytest.mark.parametrize("freedom", [1, 1.3, 2, 2.7, 3, 5, 10, 29, 99, 100, 101, 1000, 1e4, 123_456.7, 1e6, 1e7, 1e9])
@pytest.mark.parametrize("level", [0.95, 0.99])
def test_the_quantile_is_scipys(freedom: float, level: float) -> None:
    assert critical_t(freedom, level) == pytest.approx(scipy.stats.t.ppf((1 + level) / 2, freedom), rel=1e-8)


@given(st.floats(min_value=1e-3, max_value=200.0), freedoms)
def test_the_p_value_is_scipys(t: float, freedom: float) -> None:
    expected = 2 * scipy.stats.t.sf(t, freedom)
    assert two_sided_p(t, freedom) == pytest.approx(expected, rel=1e-6, abs=1e-12)
    assert two_sided_p(-t, freedom) == two_sided_p(t, freedom)


@given(freedoms)
def test_the_quantile_is_where_the_tail_is_five_percent(freedom: float) -> None:
    assert two_sided_p(critical_t(freedom), freedom) == pytest.approx(0.05, rel=1e-7)


@given(st.lists(scores, min_size=2, max_size=40), st.lists(scores, min_size=2, max_size=40))
def test_a_comparison_is_welchs_test(later: list[float], earlier: list[float]) -> None:
    assume(statistics.variance(later) > 1e-6 and statistics.variance(earlier) > 1e-6)
    found = compare(tally(later).moments(), tally(earlier).moments())
    assert found is not None
    expected = scipy.stats.ttest_ind(later, earlier, equal_var=False)
    low, high = expected.confidence_interval()
    assert found.p_value == pytest.approx(expected.pvalue, abs=1e-6)
    assert (found.low, found.high) == pytest.approx((low, high), abs=1e-6)
    assert found.difference == pytest.approx(statistics.fmean(later) - statistics.fmean(earlier), abs=1e-9)


def test_a_comparison_needs_two_answers_on_either_side() -> None:
    assert compare(Tally({5.0: 1}).moments(), Tally({5.0: 9, 6.0: 1}).moments()) is None
    assert compare(Tally({5.0: 2}).moments(), Tally().moments()) is None


def test_sides_without_spread_differ_for_certain_where_answers_are_many() -> None:
    few, many = Tally({5.0: 3}).moments(), Tally({5.0: 40}).moments()
    same, apart = compare(few, Tally({5.0: 9}).moments()), compare(many, Tally({8.0: 40}).moments())
    assert same is not None and apart is not None
    assert (same.difference, same.p_value) == (0.0, 1.0) and same.low < 0.0 < same.high
    assert apart.difference == -3.0 and apart.low < -3.0 < apart.high and apart.p_value < 0.001


def test_equal_answers_are_one_group_of_the_error_and_each_of_them_counts_in_the_mean() -> None:
    plain, clustered = (Tally({6.0: 4, 8.0: 4}).moments(1.0, repeats) for repeats in ((), (Repeat(4, 6.0),)))
    assert (plain.groups, clustered.groups, plain.mean, clustered.mean) == (8, 5, 7.0, 7.0)
    assert plain.squared_error == pytest.approx(1 / 7)
    assert clustered.squared_error == pytest.approx((4 * 4 + 4) / 64 * 5 / 4)
    alike = Tally({6.1: 30}).moments(1.0, (Repeat(30, 6.1),))
    assert alike.mean == pytest.approx(6.1) and alike.interval is None and compare(alike, plain) is None


def test_no_interval_is_without_width() -> None:
    low, high = Tally({6.1: 30}).interval or (0.0, 0.0)
    assert (low, high) == pytest.approx((6.1 - critical_t(29) / 30, 6.1 + critical_t(29) / 30))
    found = compare(Tally({5.0: 3}).moments(), Tally({5.5: 3}).moments())
    assert found is not None and found.low < 0.0 < found.high - 0.5 and found.p_value > 0.05
