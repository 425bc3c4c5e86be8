"""How many cases a precision takes, and what a number of cases can tell."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from areopage.bench.planning.precision import assumed_values, cases_needed, with_passes
from areopage.scoring.intervals.means import mean_interval
from areopage.scoring.intervals.planning import Detectable
from areopage.scoring.paired import paired_difference

VALUES = st.lists(st.sampled_from([0.0, 2.0, 3.5, 4.0, 4.5, 5.0]), min_size=5, max_size=40).map(np.array)


@settings(max_examples=15, deadline=None)
@given(values=VALUES, precision=st.sampled_from([0.1, 0.25, 0.5, 1.0]))
def test_the_planned_number_of_cases_reaches_the_precision_and_one_less_does_not(values: np.ndarray, precision: float) -> None:
    needed = cases_needed(values, 0.0, 5.0, precision)
    assert needed is not None
    kinds, found = np.unique(values, return_counts=True)
    times = found.astype(np.float64)

    def half(cases: int) -> float:
        low, high = mean_interval(kinds, 0.0, 5.0, counts=times * (cases / len(values)))
        return (high - low) / 2

    assert half(needed) <= precision
    assert needed == 5 or half(needed - 1) > precision


def test_a_precision_that_takes_over_a_million_cases_is_not_planned() -> None:
    assert cases_needed(np.array([0.0, 5.0] * 10), 0.0, 5.0, 0.0005) is None


def test_more_passes_leave_only_the_spread_of_the_cases() -> None:
    values = np.array([1.0, 2.0, 3.0, 4.0, 5.0])
    once, often = with_passes(values, 1.0, 1.0), with_passes(values, 1.0, 1 / 1000)
    assert once == pytest.approx(values)
    assert often.mean() == pytest.approx(3.0) and often.var() == pytest.approx(values.var() - 1.0, abs=0.01)
    assert with_passes(np.full(4, 2.0), 0.0, 0.5).tolist() == [2.0] * 4


@pytest.mark.parametrize(
    ("mean", "spread", "worst", "best"), [(4.0, 1.0, 0, 5), (4.9, 0.5, 0, 5), (1.0, 0.8, 5, 0), (3.0, 0.0, 0, 5)]
)
def test_assumed_scores_have_the_stated_mean_and_spread(mean: float, spread: float, worst: float, best: float) -> None:
    values = assumed_values(mean, spread, worst, best)
    assert values.mean() == pytest.approx(mean, abs=0.01) and values.std() == pytest.approx(spread, abs=0.02)
    assert values.min() >= 0.0 and values.max() <= 5.0


def test_a_spread_that_no_scores_have_is_refused() -> None:
    for mean, spread in ((4.0, 2.5), (5.0, 0.5)):
        with pytest.raises(ValueError, match="no scores on the scale"):
            assumed_values(mean, spread, 0.0, 5.0)


def test_four_of_five_comparisons_find_the_detectable_difference_and_hardly_any_finds_one_of_none() -> None:
    random = np.random.default_rng(11)
    cases = 60
    apart = Detectable.difference_of(random.normal(3.0, 0.6, 500).round(), 5.0, cases)
    found = {0.0: 0, apart: 0}
    for difference in found:
        for _ in range(100):
            first, second = random.normal(3.0, 0.6, (2, cases)).round()
            sides = ({str(n): float(score) for n, score in enumerate(side)} for side in (first + difference, second))
            found[difference] += paired_difference(*sides, span=5.0).is_separate
    assert 70 <= found[apart] <= 92
    assert found[0.0] <= 6


@pytest.mark.parametrize("cases", [40, 126])
def test_equal_scores_leave_a_difference_that_no_comparison_can_tell(cases: int) -> None:
    assert Detectable.difference_of(np.full(cases, 5.0), 5.0) == pytest.approx(5 * (1 - 0.025 ** (1 / cases)), rel=0.15)


def test_four_of_five_changes_of_the_detectable_size_are_found() -> None:
    rng, halves = np.random.default_rng(1), (0.3, 0.4)
    change = Detectable.change_of(*halves)
    errors = [rng.normal(0.0, half / 1.96, 20_000) for half in halves]
    found = np.abs(change + errors[0] - errors[1]) > np.hypot(*halves)
    assert found.mean() == pytest.approx(0.8, abs=0.01)
    assert Detectable.change_of(0.4, 0.3) == pytest.approx(change) and Detectable.change_of(0.0, 0.0) == 0.0
