"""Differences of two independent means: Fisher's exact test of shares, the normal interval of many values, no false finds."""

import numpy as np
import pytest
import scipy
from hypothesis import given
from hypothesis import strategies as st

from areopage.scoring.intervals.differences import CountedValues, difference_interval
from areopage.scoring.intervals.means import GUARANTEED


def counted(scores: list[float]) -> CountedValues:
    values, counts = np.unique(scores, return_counts=True)
    return CountedValues(values, counts.astype(np.float64), 0.0, 5.0)


SIDES = st.lists(st.sampled_from([0.0, 0.5, 2.5, 4.0, 5.0]), min_size=1, max_size=30).map(counted)


def shares(hits: int, of: int) -> CountedValues:
    values, counts = np.array([0.0, 1.0]), np.array([of - hits, hits], dtype=np.float64)
    return CountedValues(values[counts > 0], counts[counts > 0], 0.0, 1.0)


@pytest.mark.parametrize(
    ("first", "second"), [((0, 20), (5, 20)), ((1, 30), (8, 40)), ((10, 200), (25, 220)), ((0, 1000), (7, 1000))]
)
def test_with_the_full_guarantee_the_test_of_two_shares_is_fishers(first: tuple[int, int], second: tuple[int, int]) -> None:
    table = [[hits, of - hits] for hits, of in (first, second)]
    expected = 2 * min(scipy.stats.fisher_exact(table, alternative=side)[1] for side in ("less", "greater"))
    assert difference_interval(shares(*first), shares(*second), unseen=GUARANTEED)[2] == pytest.approx(expected, rel=0.03)


@given(first=SIDES, second=SIDES)
def test_an_interval_holds_the_difference_and_mirrors_and_leaves_0_out_where_p_is_small(
    first: CountedValues, second: CountedValues
) -> None:
    low, high, p_value = difference_interval(first, second)
    difference = float(first.values @ first.counts / first.counts.sum() - second.values @ second.counts / second.counts.sum())
    assert -5.0 <= low <= difference + 1e-6 and difference - 1e-6 <= high <= 5.0 and high - low > 0.002
    back = difference_interval(second, first)
    assert back == pytest.approx((-high, -low, p_value), abs=1e-3)
    if abs(p_value - 0.05) > 1e-3:
        assert (p_value < 0.05) == (not low <= 0.0 <= high)


def test_of_many_values_it_is_the_normal_interval() -> None:
    random = np.random.default_rng(5)
    first, second = (random.normal(middle, 0.8, 4000).clip(0.0, 5.0) for middle in (3.0, 2.9))
    half = 1.96 * float(np.sqrt(first.var() / 4000 + second.var() / 4000))
    apart = float(first.mean() - second.mean())
    ones = np.ones(4000)
    low, high, _ = difference_interval(CountedValues(first, ones, 0.0, 5.0), CountedValues(second, ones, 0.0, 5.0))
    assert (low, high) == pytest.approx((apart - half, apart + half), abs=0.05 * half)


def test_quantiles_are_those_of_drawn_weights() -> None:
    random = np.random.default_rng(1)
    first, second = (
        CountedValues(np.array([0.0, 2, 4, 5]), np.array([1.0, 3, 6, 10]), 0.0, 5.0),
        CountedValues(np.array([0.0, 3, 5]), np.array([2.0, 5, 40]), 0.0, 5.0),
    )
    drawn = [random.gamma(np.append(side.counts, 1.0), size=(200_000, len(side.counts) + 1)) for side in (first, second)]
    ends = [(0.0, 5.0), (5.0, 0.0)]
    apart = [
        np.quantile(
            drawn[0] @ np.append(first.values, end[0]) / drawn[0].sum(axis=1)
            - drawn[1] @ np.append(second.values, end[1]) / drawn[1].sum(axis=1),
            chance,
        )
        for end, chance in zip(ends, (0.025, 0.975), strict=True)
    ]
    assert difference_interval(first, second, unseen=GUARANTEED)[:2] == pytest.approx(apart, abs=0.02)
