"""Comparisons that may be looked at every day: no false alarms over all days, and real differences are found."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from areopage.compare.statistics.sequential import _capitals, best_capitals, day_blocks, sequential_difference

SCALE = 10.0


def traffic(random: np.random.Generator, days: int, sizes: tuple[int, int], apart: float) -> list[np.ndarray]:
    """Skewed scores whose level changes from day to day for both sides alike; the first side is better by `apart`."""
    made = []
    for _ in range(days):
        level = random.uniform(0.6, 0.9)
        sides = [10 * random.beta(8 * level, 8 * (1 - level), size) for size in sizes]
        made.append(day_blocks((sides[0] + apart).clip(0, 10), sides[1], random))
    return made


def test_over_sixty_days_of_looking_equal_variants_rarely_differ() -> None:
    random = np.random.default_rng(4)
    best = [best_capitals([day / SCALE for day in traffic(random, 60, (6, 9), 0.0)])[-1] for _ in range(25)]
    assert sum(one > np.log(2 / 0.05) for one in best) <= 4  # 99 % of draws at a chance of 5 %


def test_a_difference_is_found_and_the_interval_on_all_days_holds_it() -> None:
    random = np.random.default_rng(5)
    days = traffic(random, 40, (40, 40), 0.6)
    found = sequential_difference(days, span=SCALE)
    assert found.found_on is not None and found.p_value < 0.05
    assert 0.0 < found.low < 0.6 < found.high
    earlier = sequential_difference(days[: found.found_on + 1], span=SCALE)
    assert earlier.found_on == found.found_on and earlier.p_value >= found.p_value
    assert earlier.low <= found.low + 1e-3 and found.high <= earlier.high + 1e-3, "an interval never grows again"
    mirrored = sequential_difference([-day for day in days], span=SCALE)
    assert (mirrored.low, mirrored.high) == pytest.approx((-found.high, -found.low), abs=1e-2)
    assert mirrored.p_value == pytest.approx(found.p_value)


@settings(max_examples=30)
@given(
    first=st.lists(st.floats(0, 10), max_size=12),
    second=st.lists(st.floats(0, 10), max_size=12),
    seed=st.integers(0, 5),
)
def test_a_days_blocks_hold_every_answer_and_the_interval_agrees_with_the_p_value(
    first: list[float], second: list[float], seed: int
) -> None:
    blocks = day_blocks(np.array(first), np.array(second), np.random.default_rng(seed))
    assert blocks.shape[1] == min(len(first), len(second))
    found = sequential_difference([blocks], span=SCALE)
    if not blocks.size:
        assert (found.difference, found.low, found.high, found.p_value) == (None, -SCALE, SCALE, 1.0)
        return
    assert -SCALE <= found.low <= found.high <= SCALE
    assert (found.p_value < 0.05) == (found.low > 0 or found.high < 0) or abs(found.p_value - 0.05) < 0.01


def test_the_expected_capital_never_grows_without_a_difference() -> None:
    """Computed over all outcomes of five coins with a bet on each: exactly 1 on average."""
    found = [np.exp(_capitals([np.array([[one]]) for one in signs], 0.0)[-1]) for signs in product([-1.0, 1.0], repeat=5)]
    assert np.mean(found) == pytest.approx(1.0)
