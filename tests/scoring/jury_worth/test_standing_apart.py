"""Raters who stand apart: planted ones are named, alike ones are not, and one far apart does not draw others with it."""

import numpy as np
import pytest

from areopage.scoring.arrays import Matrix
from areopage.scoring.worth.standing_apart import standing_apart


def raters(items: int, count: int, seed: int) -> Matrix:
    """Labels from 1 to 5 of raters who differ by chance."""
    random = np.random.default_rng(seed)
    truth = random.integers(1, 6, (items, 1))
    labels: Matrix = np.clip(truth + random.integers(-1, 2, (items, count)), 1, 5).astype(np.float64)
    return labels


def named(scores: Matrix) -> dict[int, tuple[str, ...]]:
    return dict(standing_apart(scores, 4.0, permutations=99))


def test_alike_raters_are_seldom_named() -> None:
    assert sum(bool(named(raters(40, 4, seed))) for seed in range(60)) <= 7  # 5 % of 60, and what chance adds


def test_a_rater_who_gives_the_labels_of_other_items_stands_apart_by_order() -> None:
    scores = raters(100, 5, 1)
    scores[:, 2] = np.random.default_rng(2).permutation(scores[:, 2])
    assert named(scores) == {2: ("order",)}


@pytest.mark.parametrize("shift", [-1.0, 1.0])
def test_a_lenient_or_strict_rater_stands_apart_by_level_and_alone(shift: float) -> None:
    scores = raters(100, 4, 3)
    scores[:, 0] += shift
    assert named(scores) == {0: ("level",)}


def test_a_small_difference_is_not_material_however_certain() -> None:
    scores = raters(2000, 4, 4)
    scores[:, 0] += 0.2
    assert named(scores) == {}


def test_missing_labels_and_small_groups_are_left_out() -> None:
    scores = raters(60, 4, 5)
    scores[:, 3] += 2.0
    assert 3 in named(scores)
    scores[15:, 3] = np.nan
    assert named(scores) == {}
    assert named(scores[:, :2]) == {}
    assert named(np.full((30, 3), np.nan)) == {}
    scores[:, 1] = np.where(np.arange(60) % 2 == 0, np.nan, scores[:, 1] + 2.0)
    assert 1 in named(scores)
