"""Tails and intervals of shares, against SciPy and the textbook."""

import numpy as np
import pytest
import scipy
from hypothesis import given
from hypothesis import strategies as st

from areopage.scoring.shares import Share, at_least, at_most, lower_bound, upper_bound, wilson


@given(n=st.integers(1, 5000), share=st.floats(1e-4, 1 - 1e-4), place=st.floats(0, 1))
def test_tails_are_those_of_scipy(n: int, share: float, place: float) -> None:
    k = round(place * n)
    assert at_most(k, n, share) == pytest.approx(float(scipy.stats.binom.cdf(k, n, share)), abs=1e-9)
    assert at_least(k, n, share) == pytest.approx(float(scipy.stats.binom.sf(k - 1, n, share)), abs=1e-9)


def test_a_tiny_tail_keeps_its_digits() -> None:
    assert at_most(3, 1000, 0.05) == pytest.approx(float(scipy.stats.binom.cdf(3, 1000, 0.05)), rel=1e-9)


def test_the_ends_are_certain() -> None:
    assert at_most(-1, 5, 0.5) == 0.0
    assert at_most(5, 5, 0.5) == 1.0
    assert at_most(2, 5, 0.0) == 1.0
    assert at_most(2, 5, 1.0) == 0.0


@given(n=st.integers(1, 2000), place=st.floats(0, 1), confidence=st.sampled_from([0.8, 0.9, 0.95, 0.99]))
def test_bounds_are_those_of_clopper_and_pearson(n: int, place: float, confidence: float) -> None:
    k = round(place * n)
    exact = scipy.stats.binomtest(k, n, alternative="less").proportion_ci(confidence, method="exact").high
    assert upper_bound(k, n, confidence) == pytest.approx(float(exact), abs=1e-9)
    exact = scipy.stats.binomtest(k, n, alternative="greater").proportion_ci(confidence, method="exact").low
    assert lower_bound(k, n, confidence) == pytest.approx(float(exact), abs=1e-9)


@given(n=st.integers(1, 2000), place=st.floats(0, 1))
def test_intervals_are_wilsons(n: int, place: float) -> None:
    k = round(place * n)
    found, exact = wilson(k, n), scipy.stats.binomtest(k, n).proportion_ci(0.95, method="wilson")
    assert found is not None
    assert found == pytest.approx((float(exact.low), float(exact.high)), abs=1e-9)


@pytest.mark.parametrize("cases", [20, 50, 150, 400])
def test_the_interval_of_a_share_holds_it_in_94_of_100_samples_at_least(cases: int) -> None:
    """Computed over all numbers of hits; Wilson's interval alone fails this where hits are rare."""
    ends = np.array([(one.low, one.high) for one in (Share.counted(hits, cases) for hits in range(cases + 1))])
    true = np.array([0.001, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.35, 0.5, 0.8, 0.95, 0.99])
    chances = scipy.stats.binom.pmf(np.arange(cases + 1)[:, None], cases, true)
    holds = (ends[:, :1] <= true) & (true <= ends[:, 1:])
    assert (chances * holds).sum(axis=0).min() >= 0.94


def test_nothing_counted_has_no_interval() -> None:
    assert wilson(0, 0) is None
