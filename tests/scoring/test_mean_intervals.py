"""Intervals of bounded means: within the range, never without a width, and true in 93 of 100 samples at least."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from areopage.scoring.intervals.means import GUARANTEED, mean_interval, mean_intervals
from areopage.scoring.shares import lower_bound, upper_bound

VALUES = st.lists(st.sampled_from([0.0, 0.5, 1.0, 2.5, 3.25, 4.0, 4.5, 5.0]), min_size=1, max_size=40).map(np.array)
LEVELS = st.sampled_from([0.6, 0.8, 0.9, 0.95, 0.99, 0.999])


@given(values=VALUES, level=LEVELS)
def test_an_interval_holds_the_mean_lies_within_the_range_and_has_a_width(values: np.ndarray, level: float) -> None:
    low, high = mean_interval(values, 0.0, 5.0, level=level)
    assert 0.0 <= low <= values.mean() + 1e-9 and values.mean() - 1e-9 <= high <= 5.0
    assert high - low > 0.002


@given(values=VALUES, levels=st.tuples(LEVELS, LEVELS))
def test_a_higher_level_never_gives_a_narrower_interval(values: np.ndarray, levels: tuple[float, float]) -> None:
    inner, outer = (mean_interval(values, 0.0, 5.0, level=level) for level in sorted(levels))
    assert outer[0] <= inner[0] + 1e-7 and inner[1] <= outer[1] + 1e-7


@given(values=VALUES)
def test_a_flipped_scale_gives_the_flipped_interval(values: np.ndarray) -> None:
    low, high = mean_interval(values, 0.0, 5.0)
    assert mean_interval(5.0 - values, 0.0, 5.0) == pytest.approx((5.0 - high, 5.0 - low), abs=1e-6)
    assert mean_interval(values * 20 - 7, -7.0, 93.0) == pytest.approx((low * 20 - 7, high * 20 - 7), abs=1e-5)


@given(values=VALUES)
def test_values_can_be_counted_and_many_means_computed_at_once(values: np.ndarray) -> None:
    kinds, counts = np.unique(values, return_counts=True)
    alone = mean_interval(values, 0.0, 5.0)
    assert mean_interval(kinds, 0.0, 5.0, counts=counts.astype(float)) == pytest.approx(alone, abs=1e-6)
    table = np.stack([np.append(values, 2.0), np.full(len(values) + 1, 1.0)])
    known = np.stack([np.append(np.ones_like(values), 0.0), np.ones(len(values) + 1)])
    lows, highs = mean_intervals(table, known, np.zeros(2), np.full(2, 5.0))
    assert (lows[0], highs[0]) == pytest.approx(alone, abs=1e-6)


@pytest.mark.parametrize(("hits", "of"), [(0, 5), (1, 5), (0, 20), (1, 20), (7, 20), (19, 20), (3, 126), (0, 1000), (40, 1000)])
def test_with_the_full_guarantee_the_interval_of_a_share_is_the_exact_one(hits: int, of: int) -> None:
    low, high = mean_interval(np.repeat([0.0, 1.0], [of - hits, hits]), 0.0, 1.0, unseen=GUARANTEED)
    assert low == pytest.approx(lower_bound(hits, of, 0.975), rel=0.03, abs=1e-9)
    assert high == pytest.approx(upper_bound(hits, of, 0.975), rel=0.01)


def test_for_many_cases_it_is_the_normal_interval() -> None:
    values = np.random.default_rng(5).normal(3.0, 0.8, 4000).clip(0.0, 5.0)
    half = 1.96 * values.std() / 4000**0.5
    low, high = mean_interval(values, 0.0, 5.0)
    assert (low, high) == pytest.approx((values.mean() - half, values.mean() + half), abs=0.05 * half)


GRID = np.arange(0.0, 5.01, 0.5)
SHAPES = {
    "even": [1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1],
    "in the middle": [0, 0, 1, 2, 4, 6, 4, 2, 1, 0, 0],
    "at the top": [1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 95],
    "two heaps": [20, 10, 0, 0, 0, 0, 0, 0, 0, 20, 50],
    "rare zeros": [3, 0, 0, 0, 0, 0, 0, 0, 30, 30, 37],
    "rarer zeros": [1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 99],
    "at the bottom": [90, 0, 5, 0, 0, 0, 0, 0, 0, 0, 5],
}


@pytest.mark.parametrize("cases", [20, 50, 200])
@pytest.mark.parametrize("shape", SHAPES)
def test_the_interval_holds_the_true_mean_in_93_of_100_samples_at_least(shape: str, cases: int) -> None:
    """1,500 samples each, all at once; Student's interval fails this for all shapes but the first two."""
    chances = np.array(SHAPES[shape]) / sum(SHAPES[shape])
    counts = np.random.default_rng(cases).multinomial(cases, chances, 1500).astype(np.float64)
    kinds, times = np.unique(counts, axis=0, return_counts=True)
    ends = np.zeros(len(kinds)), np.full(len(kinds), 5.0)
    lows, highs = mean_intervals(np.broadcast_to(GRID, kinds.shape), kinds, *ends)
    true = float(chances @ GRID)
    assert times[(lows <= true) & (true <= highs)].sum() / 1500 >= 0.93
