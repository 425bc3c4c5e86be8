"""Paired differences and paired failures: what they count, and that their intervals keep their level for few and skewed cases."""

from collections.abc import Iterator
from itertools import product
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from areopage.scoring.paired import cases_for, least_width, mcnemar, paired_difference, paired_failures
from areopage.scoring.shares import lower_bound, upper_bound

PRECISE = 1e-6
"""What an end of an interval may be off by, as a share of the range."""

SCORES = st.sampled_from([None, 0.0, 0.5, 2.0, 3.5, 4.5, 5.0])
SIDE = st.dictionaries(st.sampled_from([f"c{number}" for number in range(12)]), SCORES, max_size=12)


def sides(*differences: float) -> tuple[dict[str, float | None], dict[str, float | None]]:
    """Scores of two sides that differ so, case by case."""
    return {f"c{n}": value for n, value in enumerate(differences)}, {f"c{n}": 0.0 for n in range(len(differences))}


@given(first=SIDE, second=SIDE)
def test_every_case_is_a_pair_or_named_as_missing_on_one_side(
    first: dict[str, float | None], second: dict[str, float | None]
) -> None:
    found = paired_difference(first, second, span=5.0)
    scored = [{id for id, score in side.items() if score is not None} for side in (first, second)]
    assert (set(found.only_first), set(found.only_second)) == (scored[0] - scored[1], scored[1] - scored[0])
    assert found.pairs == len(scored[0] & scored[1]) == found.clusters
    if not found.pairs:
        assert (found.difference, found.low, found.high, found.p_value) == (None, None, None, None)
        assert not found.is_separate
        return
    mean = np.mean([(first[id] or 0.0) - (second[id] or 0.0) for id in scored[0] & scored[1]])
    assert found.difference == pytest.approx(mean)
    assert found.low is not None and found.high is not None and found.p_value is not None
    assert -5.0 <= found.low < mean + 1e-9 and mean - 1e-9 < found.high <= 5.0
    assert found.is_separate == (found.p_value < 0.05)


@given(first=SIDE, second=SIDE)
def test_the_sides_exchanged_give_the_same_with_the_other_sign(
    first: dict[str, float | None], second: dict[str, float | None]
) -> None:
    one, other = paired_difference(first, second, span=5.0), paired_difference(second, first, span=5.0)
    assert (one.only_first, one.only_second) == (other.only_second, other.only_first)
    if one.difference is not None and one.low is not None and one.high is not None:
        assert other.difference == pytest.approx(-one.difference)
        assert other.low == pytest.approx(-one.high, abs=5 * PRECISE)
        assert other.high == pytest.approx(-one.low, abs=5 * PRECISE)


@pytest.mark.parametrize(("failed", "cases"), [(0, 5), (1, 5), (3, 20), (0, 126), (126, 126)])
def test_against_a_side_without_failures_it_is_the_exact_bound_of_failures(failed: int, cases: int) -> None:
    found = paired_difference(*sides(*[1.0] * failed, *[0.0] * (cases - failed)), span=1.0)
    if failed:
        low = lower_bound(failed, cases, 0.975)
        assert found.low is not None and found.low <= low + PRECISE
    assert found.high == pytest.approx(upper_bound(failed, cases, 0.975), abs=PRECISE)


@given(first=st.integers(0, 14), second=st.integers(0, 14), neither=st.integers(0, 30))
def test_failures_are_separate_where_mcnemars_exact_test_says_so(first: int, second: int, neither: int) -> None:
    ids = [f"c{number}" for number in range(first + second + neither)]
    fails = {id: place < first for place, id in enumerate(ids)}
    others = {id: first <= place < first + second for place, id in enumerate(ids)}
    found = paired_failures(fails, others)
    assert (len(found.first), len(found.second), found.neither, found.both) == (first, second, neither, 0)
    if ids:
        exact = min(1.0, 2 * sum(comb(first + second, k) for k in range(min(first, second) + 1)) / 2 ** (first + second))
        assert found.p_value == pytest.approx(exact) == mcnemar(first, second)
        assert found.difference.p_value == pytest.approx(exact, rel=1e-9)
        assert found.is_separate == found.difference.is_separate == (exact < 0.05)


def test_a_score_that_is_no_number_is_missing() -> None:
    found = paired_difference({"a": float("nan"), "b": 1.0}, {"a": 2.0, "b": 1.0}, span=4.0)
    assert (found.pairs, found.difference, found.p_value, found.only_second) == (1, 0.0, 1.0, ("a",))


def test_failures_that_are_not_known_on_one_side_are_named() -> None:
    found = paired_failures({"a": True, "b": None, "c": False}, {"a": True, "b": True, "c": None, "d": False})
    assert (found.both, found.neither, found.first, found.second, found.difference.pairs) == (1, 0, (), (), 1)
    assert (found.difference.only_first, found.difference.only_second) == (("c",), ("b", "d"))


def outcomes(cases: int) -> Iterator[tuple[int, int, int]]:
    return ((one, two, cases - one - two) for one, two in product(range(cases + 1), repeat=2) if one + two <= cases)


@pytest.mark.parametrize(
    ("cases", "values"), [(6, (-1.0, 0.0, 1.0)), (10, (-1.0, 0.0, 1.0)), (10, (-5.0, 0.0, 0.5)), (12, (-5.0, -0.5, 0.0))]
)
def test_the_interval_holds_the_true_difference_in_95_of_100_runs_whatever_its_shape(
    cases: int, values: tuple[float, ...]
) -> None:
    """The coverage is computed, not simulated: over all outcomes, for common and for rare differences."""
    span, ends, counts = max(map(abs, values)), [], list(outcomes(cases))
    for numbers in counts:
        found = paired_difference(*sides(*np.repeat(values, numbers)), span=span)
        ends.append((found.low, found.high))
    lows, highs = np.array(ends).T
    ways = np.array([comb(cases, one) * comb(cases - one, two) for one, two, _ in counts])
    for first, second in product([0.02, 0.07, 0.15, 0.3, 0.5], [0.05, 0.25, 0.48]):
        chances = np.array([first, second, 1 - first - second])
        mean = float(chances @ values)
        likely = ways * np.prod(chances ** np.array(counts), axis=1)
        held = float(likely[(lows <= mean) & (mean <= highs)].sum())
        assert held >= 0.95, (chances, held)


def test_cases_that_belong_together_count_as_one_draw() -> None:
    first, second = sides(*[1.0, 1.0, 1.0, 1.0] * 5, *[0.0] * 20)
    clusters = {f"c{number}": f"source {number // 4}" for number in range(40)}
    alone, together = (paired_difference(first, second, span=5.0, clusters=one) for one in (None, clusters))
    assert (alone.clusters, together.clusters, together.pairs) == (40, 10, 40)
    assert together.difference == alone.difference == 0.5
    widths = [(found.high or 0.0) - (found.low or 0.0) for found in (alone, together)]
    assert widths[1] > 1.5 * widths[0]


def test_failures_of_cases_that_belong_together_prove_less() -> None:
    fails = {f"c{number}": number < 8 for number in range(40)}
    others = dict.fromkeys(fails, False)
    clusters = {id: str(number // 8) for number, id in enumerate(fails)}
    assert paired_failures(fails, others).is_separate
    assert not paired_failures(fails, others, clusters=clusters).is_separate


def test_many_cases_with_many_different_scores_take_no_long_time_and_give_the_normal_interval() -> None:
    random = np.random.default_rng(3)
    scores = random.normal(3.0, 0.5, (2, 5000)).clip(0, 5)
    first, second = ({f"c{n}": float(score) for n, score in enumerate(side)} for side in scores)
    found = paired_difference(first, second, span=5.0)
    apart = scores[0] - scores[1]
    half = 1.96 * apart.std() / 5000**0.5
    assert found.low == pytest.approx(apart.mean() - half, abs=0.12 * half)
    assert found.high == pytest.approx(apart.mean() + half, abs=0.12 * half)


@pytest.mark.parametrize("clusters", [1, 8, 76, 400])
def test_an_interval_is_as_wide_at_least_as_that_of_equal_runs(clusters: int) -> None:
    equal = paired_difference(*sides(*[0.0] * clusters), span=5.0)
    assert equal.high == pytest.approx(least_width(clusters, 5.0), abs=5 * PRECISE)
    needed = cases_for(least_width(clusters, 5.0) / 2.0, 5.0)
    assert least_width(needed, 5.0) <= least_width(clusters, 5.0) / 2.0 < least_width(max(needed - 1, 1), 5.0) * (1 + 1e-9)
