"""Counted scores say the same as the answers one by one; quantiles are those of SciPy."""

import statistics
from collections import Counter

import pytest
import scipy
from hypothesis import given
from hypothesis import strategies as st

from areopage.criteria.records import Scale
from areopage.scoring.grades import ScoreTally, grade_of
from areopage.scoring.intervals.student_t import critical_t, two_sided_p

TEN = Scale(min=0.0, max=10.0)
scores = st.integers(min_value=0, max_value=1000).map(lambda hundredths: hundredths / 100)
lists = st.lists(scores, max_size=60)
freedoms = st.floats(min_value=1.0, max_value=1e8)


def tally(values: list[float]) -> ScoreTally:
    return ScoreTally(dict(Counter(values)))


@given(lists)
def test_the_mean_of_counts_is_that_of_the_expanded_list(values: list[float]) -> None:
    found = tally(values)
    assert found.answers == len(values)
    assert found.mean == (pytest.approx(statistics.fmean(values)) if values else None)


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
    assert ScoreTally({-1.0: 2, 12.0: 3}).histogram(TEN) == (2, 0, 0, 0, 0, 0, 0, 0, 0, 3)


@pytest.mark.parametrize("freedom", [1, 1.3, 2, 2.7, 3, 5, 10, 29, 99, 100, 101, 1000, 1e4, 123_456.7, 1e6, 1e7, 1e9])
def test_the_quantile_is_scipys(freedom: float) -> None:
    assert critical_t(freedom) == pytest.approx(scipy.stats.t.ppf(0.975, freedom), rel=1e-8)


@given(st.floats(min_value=1e-3, max_value=200.0), freedoms)
def test_the_p_value_is_scipys(t: float, freedom: float) -> None:
    expected = 2 * scipy.stats.t.sf(t, freedom)
    assert two_sided_p(t, freedom) == pytest.approx(expected, rel=1e-6, abs=1e-12)
    assert two_sided_p(-t, freedom) == two_sided_p(t, freedom)


@given(freedoms)
def test_the_quantile_is_where_the_tail_is_five_percent(freedom: float) -> None:
    assert two_sided_p(critical_t(freedom), freedom) == pytest.approx(0.05, rel=1e-7)
