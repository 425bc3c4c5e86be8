import numpy as np
import pytest
import scipy
from hypothesis import given
from hypothesis import strategies as st

from areopage.trust.correction.shares import corrected_share, finite_share


@given(of=st.integers(2, 3000), data=st.data())
def test_the_limits_of_a_share_are_the_outermost_ones_that_the_exact_chances_do_not_rule_out(
    of: int, data: st.DataObject
) -> None:
    labels = data.draw(st.integers(1, min(of - 1, 300)))
    hits = data.draw(st.integers(0, labels))
    found = finite_share(hits, labels, of)
    counted = np.arange(hits, of - labels + hits + 1)
    half = scipy.stats.hypergeom.pmf(hits, of, counted, labels) / 2
    up = counted[scipy.stats.hypergeom.cdf(hits, of, counted, labels) - half > 0.025]
    down = counted[scipy.stats.hypergeom.sf(hits - 1, of, counted, labels) - half > 0.025]
    assert found.high == pytest.approx(max(up.max() / of if up.size else 0, hits / labels))
    assert found.low == pytest.approx(min(down.min() / of if down.size else 1, hits / labels))


@pytest.mark.parametrize(("of", "labels"), [(408, 50), (408, 100), (1292, 50), (2000, 200)])
@pytest.mark.parametrize("share", [0.01, 0.03, 0.05, 0.1, 0.2])
def test_the_interval_of_a_rare_share_covers_it_by_exact_chances(of: int, labels: int, share: float) -> None:
    counted = round(share * of)
    hits = np.arange(min(labels, counted) + 1)
    limits = [finite_share(int(one), labels, of) for one in hits]
    inside = np.array([one.low <= counted / of <= one.high for one in limits])
    assert 0.935 <= float(scipy.stats.hypergeom.pmf(hits, of, counted, labels) @ inside) <= 0.998


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


def test_a_share_of_a_large_population_has_the_binomial_mid_p_interval() -> None:
    found = finite_share(3, 40, 10**9)
    ends = ((found.low, scipy.stats.binom.sf(2, 40, found.low)), (found.high, scipy.stats.binom.cdf(3, 40, found.high)))
    for limit, tail in ends:
        assert tail - scipy.stats.binom.pmf(3, 40, limit) / 2 == pytest.approx(0.025, abs=1e-4)
