"""Two sets of different cases: the interval holds its level for few and skewed scores, and the p-value agrees with it."""

from itertools import product
from math import comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from areopage.compare.statistics.unpaired import Sample, UnpairedDifference, unpaired_difference

SCORES = st.lists(st.sampled_from([0.0, 1.0, 2.5, 4.0, 5.0]), min_size=1, max_size=25)


def sample(values: list[float], **fields: dict[str, str] | dict[str, float]) -> Sample:
    return Sample(scores={str(number): value for number, value in enumerate(values)}, **fields)  # type: ignore[arg-type]


def compared(first: Sample, second: Sample) -> UnpairedDifference:
    return unpaired_difference(first, second, ends=(0.0, 5.0))


@settings(max_examples=20, deadline=None)
@given(SCORES, SCORES)
def test_the_interval_holds_the_difference_and_leaves_out_0_exactly_where_p_is_small(one: list[float], two: list[float]) -> None:
    found, back = compared(sample(one), sample(two)), compared(sample(two), sample(one))
    assert found.difference == pytest.approx(np.mean(one) - np.mean(two), abs=1e-8)
    assert found.low is not None and found.high is not None and found.p_value is not None and found.difference is not None
    assert -5.0 - 1e-9 <= found.low <= found.difference <= found.high <= 5.0 + 1e-9
    assert found.low == pytest.approx(-(back.high or 0.0), abs=1e-3) and found.p_value == pytest.approx(back.p_value, abs=1e-3)
    if not 0.049 < found.p_value < 0.051:
        assert found.is_separate == (found.p_value < 0.05)


@pytest.mark.parametrize(("shares", "sizes"), [((0.02, 0.02), (8, 20)), ((0.3, 0.3), (8, 8)), ((0.05, 0.3), (9, 12))])
def test_shares_of_few_cases_are_held_in_95_of_100_samples_counted_exactly(
    shares: tuple[float, float], sizes: tuple[int, int]
) -> None:
    held = 0.0
    for failed in product(*(range(size + 1) for size in sizes)):
        chance = np.prod([comb(n, k) * p**k * (1 - p) ** (n - k) for k, n, p in zip(failed, sizes, shares, strict=True)])
        if chance < 1e-4:
            continue
        sides = [sample([5.0] * k + [0.0] * (n - k)) for k, n in zip(failed, sizes, strict=True)]
        found = compared(*sides)
        held += chance * (found.low <= 5 * (shares[0] - shares[1]) <= found.high)  # type: ignore[operator]
    assert held >= 0.95


def test_a_side_without_scores_gives_no_difference() -> None:
    found = compared(sample([4.0]), Sample(scores={"a": None}))
    assert (found.cases, found.means, found.difference, found.p_value) == ((1, 0), (4.0, None), None, None)


def test_equal_scores_everywhere_are_no_difference() -> None:
    found = compared(sample([4.0] * 9), sample([4.0] * 30))
    assert (found.difference, found.p_value, found.changed) == (0.0, 1.0, 0)


def test_a_weight_stands_for_answers_that_were_not_sampled() -> None:
    weights = {str(number): 9.0 for number in range(10)}
    found = compared(sample([0.0] * 10 + [5.0] * 10, weights=weights), sample([5.0] * 20))
    assert found.means[0] == pytest.approx(0.5)


def test_cases_that_belong_together_count_as_one() -> None:
    alone = compared(sample([0.0, 5.0] * 20), sample([4.0] * 40))
    together = compared(sample([0.0, 5.0] * 20, clusters={str(n): f"{n % 4}" for n in range(40)}), sample([4.0] * 40))
    assert (alone.clusters, together.clusters) == ((40, 40), (4, 40))
    assert alone.means == together.means and (together.high or 0) - (together.low or 0) > (alone.high or 0) - (alone.low or 0)


def test_standardised_sides_with_equal_values_in_each_stratum_do_not_differ() -> None:
    """The run has more hard questions: all of the plain difference comes from that."""
    run = sample(
        [1.0] * 30 + [5.0] * 10,
        strata={str(n): "hard" if n < 30 else "easy" for n in range(40)},
        shares={"hard": 0.2, "easy": 0.8},
    )
    users = sample(
        [1.0] * 20 + [5.0] * 80,
        strata={str(n): "hard" if n < 20 else "easy" for n in range(100)},
        shares={"hard": 0.2, "easy": 0.8},
    )
    plain = compared(Sample(scores=run.scores), Sample(scores=users.scores))
    found = compared(run, users)
    assert plain.is_separate and plain.difference == pytest.approx(-2.2)
    assert found.difference == 0.0 and found.means == pytest.approx((4.2, 4.2))


def test_a_stratum_that_one_side_lacks_gives_no_standardised_difference() -> None:
    shares = {"fr": 0.5, "en": 0.5}
    found = compared(
        sample([4.0], strata={"0": "fr"}, shares=shares), sample([4.0, 5.0], strata={"0": "fr", "1": "en"}, shares=shares)
    )
    assert found.difference is None
