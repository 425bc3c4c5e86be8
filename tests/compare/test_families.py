"""Families of tests: the corrected p-values are those of the definitions, and keep the level."""

from itertools import combinations

import numpy as np
import pytest
import scipy
from hypothesis import given
from hypothesis import strategies as st

from areopage.compare.statistics.families import benjamini_hochberg, group_weights
from areopage.scoring.families import ALPHA, holm

P = st.floats(0.0, 1.0)
FAMILY = st.lists(st.tuples(P, st.floats(0.01, 1.0)), min_size=1, max_size=6)


def closed(p_values: list[float], weights: list[float], place: int) -> float:
    """The corrected p-value by the closure principle: the worst weighted Bonferroni p-value of a set with this test."""
    others = [number for number in range(len(p_values)) if number != place]
    found = 0.0
    for size in range(len(others) + 1):
        for some in combinations(others, size):
            own = [place, *some]
            found = max(found, min(p_values[one] * sum(weights[two] for two in own) / weights[one] for one in own))
    return min(1.0, found)


@given(FAMILY)
def test_holms_p_values_are_those_of_the_closure_of_weighted_bonferroni_tests(
    family: list[tuple[float, float]],
) -> None:
    p_values, weights = [one[0] for one in family], [one[1] for one in family]
    found = holm(p_values, weights)
    assert found == pytest.approx([closed(p_values, weights, place) for place in range(len(family))], rel=1e-9, abs=1e-300)
    assert all(one >= given_ * (1 - 1e-9) for one, given_ in zip(found, p_values, strict=True))
    assert holm(p_values) == pytest.approx(holm(p_values, [3.0] * len(family)))


@given(st.lists(P, min_size=1, max_size=30))
def test_benjamini_and_hochberg_is_scipys(p_values: list[float]) -> None:
    assert benjamini_hochberg(p_values) == pytest.approx(scipy.stats.false_discovery_control(p_values))


def test_families_without_a_test_have_no_p_value() -> None:
    assert holm([]) == benjamini_hochberg([]) == group_weights([], {"a": 1.0}) == ()


def test_the_level_is_divided_among_groups_then_among_their_tests() -> None:
    found = group_weights(
        ["final", "final", "criterion", "criterion", "criterion"], {"final": 0.5, "criterion": 0.2, "category": 0.3}
    )
    assert found == pytest.approx([0.5 / 1.4] * 2 + [0.2 / 0.7 / 3] * 3)
    assert sum(found) == pytest.approx(1.0)


def test_of_many_families_without_a_difference_at_most_one_in_twenty_finds_one() -> None:
    random = np.random.default_rng(5)
    weights = group_weights(["final"] * 2 + ["rest"] * 60, {"final": 1.0, "rest": 1.0})
    shared = random.normal(size=(1500, 1))
    z = 0.6 * shared + 0.8 * random.normal(size=(1500, 62))
    p_values = np.array([[np.exp(-one * one / 2) for one in row] for row in z]).clip(0, 1)  # over the normal tail: conservative
    finds = sum(min(holm(list(row), weights)) < ALPHA for row in p_values)
    assert finds <= 1500 * ALPHA
