"""Judges or raters who stand apart from the others over many items, by their level or by their order.

The rule of a single item (in `scoring.score_columns`) compares a score with the mean of all others. Over items,
each rater has two sums: of the differences from that mean, and of the products of score and mean (both minus the mean of all
scores). If raters differ by chance alone, the scores of an item could belong to any of them: the test permutes them within each
item, and compares each rater's sums, in units of their standard deviations, with the greatest of all raters in each permutation.
It holds its level for all raters and both sums together, for any distribution. Sources: E. J. G. Pitman, "Significance tests
which may be applied to samples from any populations" (JRSS Supplement 4, 1937); P. H. Westfall, S. S. Young, "Resampling-based
multiple testing" (1993), the greatest statistic.
"""

from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from areopage.scoring.arrays import Column, Matrix
from areopage.scoring.correlation import BATCH_CELLS, TINY, pearson
from areopage.scoring.score_columns import MIN_JUDGES
from areopage.scoring.worth.effective import FEWEST_ITEMS

ALARMS = 0.05
PERMUTATIONS = 499
LEVEL_SHARE = 0.1
"""A level that lies apart by less than this share of the scale's width is not material."""
ORDER_SHARE = 0.5
"""A correlation with the others' mean that is over this share of the raters' median is not material."""

Manner = Literal["level", "order"]


class _Terms(NamedTuple):
    """What each score adds to its rater's two sums, minus the item's mean; and the sums' standard deviations.

    `is_scored`, items × raters; `terms`, items × raters × 2; `spreads`, raters × 2.
    """

    is_scored: NDArray[np.bool_]
    others: Matrix
    terms: Matrix
    spreads: Matrix

    def units(self, sums: Matrix) -> Matrix:
        """Raters' sums in units of their standard deviations: the level's without its direction, the order's fall."""
        in_units = sums / np.maximum(self.spreads, TINY)
        return np.stack([np.abs(in_units[..., 0]), -in_units[..., 1]], axis=-1)


def standing_apart(
    scores: Matrix, scale_range: float, *, permutations: int = PERMUTATIONS, seed: int = 0
) -> dict[int, tuple[Manner, ...]]:
    """In which manner raters, by the number of their column, stand apart from the others: beyond chance and materially.

    A rater far apart moves the mean that the others are compared with. So the one farthest apart is named first, and the others
    are then compared without it, until none stands apart or fewer than three are left. `scores` are items × raters, NaN where one
    is missing; raters under `FEWEST_ITEMS` items, and items under three scores, do not count.
    """
    left, apart = list(range(scores.shape[1])), dict[int, tuple[Manner, ...]]()
    while len(left) >= MIN_JUDGES and (farthest := _farthest(scores[:, left], scale_range, permutations, seed)):
        apart[left.pop(farthest[0])] = farthest[1]
    return apart


def _farthest(scores: Matrix, scale_range: float, permutations: int, seed: int) -> tuple[int, tuple[Manner, ...]] | None:
    """The rater farthest apart, with its manner; None where none stands apart."""
    is_scored = ~np.isnan(scores)
    scores = np.where(is_scored & (is_scored.sum(axis=1, keepdims=True) >= MIN_JUDGES), scores, np.nan)
    terms = _terms(scores)
    items = terms.is_scored.sum(axis=0)
    kept = [at for at in range(len(items)) if items[at] >= FEWEST_ITEMS]
    if not kept:
        return None
    observed = terms.units(terms.terms.sum(axis=0))
    greatest = _permuted(terms, kept, permutations, seed)
    p_values = (1 + (greatest[:, None, None] >= observed - TINY).sum(axis=0)) / (1 + permutations)
    levels = np.where(terms.is_scored, scores - terms.others, 0.0).sum(axis=0) / np.maximum(items, 1)
    orders = {at: pearson(scores[terms.is_scored[:, at], at], terms.others[terms.is_scored[:, at], at]) for at in kept}
    usual = float(np.median([value for value in orders.values() if value is not None] or [0.0]))
    for at in sorted(kept, key=lambda at: -float(observed[at].max())):
        manners: list[Manner] = []
        if p_values[at, 0] <= ALARMS and abs(float(levels[at]) / scale_range) >= LEVEL_SHARE:
            manners.append("level")
        if p_values[at, 1] <= ALARMS and (orders[at] or 0.0) <= ORDER_SHARE * usual:
            manners.append("order")
        if manners:
            return at, tuple(manners)
    return None


def _terms(scores: Matrix) -> _Terms:
    is_scored = ~np.isnan(scores)
    count = np.maximum(is_scored.sum(axis=1, keepdims=True), MIN_JUDGES)
    centre = float(scores[is_scored].mean()) if is_scored.any() else 0.0
    moved = np.where(is_scored, scores - centre, 0.0)
    others = (moved.sum(axis=1, keepdims=True) - moved) / (count - 1)
    terms = np.where(is_scored[..., None], np.stack([moved - others, moved * others], axis=-1), 0.0)
    means = terms.sum(axis=1, keepdims=True) / count[..., None]
    terms = np.where(is_scored[..., None], terms - means, 0.0)
    variances = (terms**2).sum(axis=1) / count
    spreads = np.sqrt(is_scored.astype(np.float64).T @ variances)
    return _Terms(is_scored, np.where(is_scored, others + centre, np.nan), terms, spreads)


def _permuted(terms: _Terms, kept: Sequence[int], permutations: int, seed: int) -> Column:
    """The greatest sum of any rater in each permutation of the scores within items."""
    items, raters = terms.is_scored.shape
    random = np.random.default_rng(seed)
    complete = bool(terms.is_scored.all())
    places = np.argsort(~terms.is_scored, axis=1, kind="stable")  # an item's raters first
    step = max(1, BATCH_CELLS // (items * raters))
    greatest = np.empty(permutations)
    for start in range(0, permutations, step):
        size = min(step, permutations - start)
        keys = random.random((size, items, raters), dtype=np.float32)
        sources = np.argsort(keys if complete else np.where(terms.is_scored, keys, 2.0), axis=2)
        sums = np.zeros((size, raters, 2))
        for at in range(2):
            drawn = terms.terms[..., at][np.arange(items)[:, None], sources]
            if not complete:
                moved = np.zeros_like(drawn)
                np.put_along_axis(moved, np.broadcast_to(places, sources.shape), drawn, axis=2)
                drawn = moved
            sums[..., at] = drawn.sum(axis=1)
        greatest[start : start + size] = terms.units(sums)[:, kept].max(axis=(1, 2))
    return greatest
