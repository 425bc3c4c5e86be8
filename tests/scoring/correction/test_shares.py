import numpy as np
import pytest
import scipy
from hypothesis import given
from hypothesis import strategies as st

from areopage.scoring.correction.shares import beta_below, beta_quantile, corrected_share, finite_share, share_difference


@given(chance=st.floats(0.001, 0.999), a=st.floats(0.5, 2000), b=st.floats(0.5, 2000))
def test_quantiles_of_the_beta_distribution_are_scipys(chance: float, a: float, b: float) -> None:
    assert beta_quantile(chance, a, b) == pytest.approx(scipy.stats.beta.ppf(chance, a, b), abs=1e-9)
    assert beta_below(0.3, a, b) == pytest.approx(scipy.stats.beta.cdf(0.3, a, b), abs=1e-9)


@pytest.mark.parametrize("share", [0.04, 0.2, 0.5])
def test_the_interval_of_a_corrected_share_holds_its_level_for_rare_failures_too(share: float) -> None:
    random, hits, draws, items, labels = np.random.default_rng(1), 0, 600, 500, 60
    people = random.random(items) < share
    judged = np.where(random.random(items) < 0.15, ~people, people)
    for _ in range(draws):
        own = random.permutation(items)[:labels]
        found = corrected_share(people[own], judged[own], judged)
        hits += found.low <= people.mean() <= found.high
    assert 0.93 <= hits / draws <= 0.98


def test_no_failure_among_the_labels_still_leaves_a_bound() -> None:
    judged = np.zeros(400, dtype=bool)
    judged[:40] = True
    verdicts = np.r_[np.ones(10, dtype=bool), np.zeros(40, dtype=bool)]
    found = corrected_share(np.zeros(50, dtype=bool), verdicts, judged)
    assert (found.value, found.low) == (0.0, 0.0)
    assert 0.02 < found.high < 0.1
    assert found.by_verdict


def test_a_verdict_with_too_few_labels_is_not_used() -> None:
    judged = np.zeros(400, dtype=bool)
    judged[:40] = True
    found = corrected_share(np.ones(5, dtype=bool), np.zeros(5, dtype=bool), judged)
    assert not found.by_verdict
    assert found.value == found.labels_alone.value == 1.0


def test_labelling_all_items_leaves_the_share_of_people() -> None:
    people, verdicts = np.arange(30) < 9, np.arange(30) < 4
    found = corrected_share(people, verdicts, verdicts)
    assert [found.low, found.value, found.high] == pytest.approx([0.3, 0.3, 0.3])


def test_a_share_of_a_large_population_has_jeffreyss_interval() -> None:
    found = finite_share(3, 40, 10**9)
    assert found.low == pytest.approx(scipy.stats.beta.ppf(0.025, 3.5, 37.5), abs=1e-6)
    assert found.high == pytest.approx(scipy.stats.beta.ppf(0.975, 3.5, 37.5), abs=1e-6)


def test_a_difference_of_shares_lies_around_its_value() -> None:
    judged = np.arange(200) % 2 == 0
    first = corrected_share(np.arange(40) % 4 == 0, np.arange(40) % 2 == 0, judged)
    second = corrected_share(np.arange(40) % 8 == 0, np.arange(40) % 2 == 0, judged)
    value, low, high = share_difference(first, second)
    assert value == pytest.approx(0.125)
    assert low < value < high
    assert list(share_difference(second, first)) == pytest.approx([-value, -high, -low])
