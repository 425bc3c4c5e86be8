"""The noise of a judge's passes over one item, shrunk to what the judge shows on other items (empirical Bayes).

An item is a judge on one criterion of one case. Few items have enough passes for a variance of their own, so each variance is
drawn to that of its group (the judge on the criterion), a group's to that of the judge, and a judge's to that of the jury. An
item's own passes only raise its variance: a few equal passes prove little, since a rare low score may not have come yet.

Source of the shrinkage: G. K. Smyth, "Linear models and empirical Bayes methods for assessing differential expression in
microarray experiments" (2004): a scaled inverse χ² prior with ν degrees of freedom gives (ν·pool + SS)/(ν + df). ν is taken from
the second moment of the items' variances, since scores on a scale of points have many variances of 0, which have no logarithm.
"""

import numpy as np

from areopage.scoring.arrays import Column, Matrix, Places

LEAST_STRENGTH = 4.0
"""Degrees of freedom of the prior at least, where the items' variances differ without bound."""
MOST_STRENGTH = 100.0
USUAL_STRENGTH = 8.0
"""The prior's degrees of freedom where fewer than `MIN_REPEATED` items have two passes."""
MIN_REPEATED = 30
POOL_STRENGTH = 4.0
"""Degrees of freedom with which a group's variance is drawn to its judge's, and a judge's to the jury's."""


def item_noise(scores: Matrix, groups: Places, judges: Places, prior: float) -> Column:
    """Estimate the variance of one pass for each item.

    Args:
        scores: items × passes, on the suite's scale; NaN where a pass gave no score or was not made.
        groups: of each item, the number of its judge and criterion together, from 0.
        judges: of each item, the number of its judge, from 0.
        prior: a variance that counts as one degree of freedom of the whole jury: what is assumed before any item has two scores.

    Returns:
        A positive variance for each item, in squared units of the scale.
    """
    squares, freedom = _squares(scores)
    pools = _pools(squares, freedom, groups, judges, prior)
    strength = _strength(squares, freedom, pools)
    variances: Column = np.maximum(pools, (strength * pools + squares) / (strength + freedom))
    return variances


def _squares(scores: Matrix) -> tuple[Column, Column]:
    """The sum of squares around each item's mean, and its degrees of freedom."""
    is_scored = ~np.isnan(scores)
    counts = is_scored.sum(axis=1)
    values = np.where(is_scored, scores, 0.0)
    means = values.sum(axis=1) / np.maximum(counts, 1)
    squares: Column = (np.where(is_scored, scores - means[:, None], 0.0) ** 2).sum(axis=1)
    return squares, np.maximum(counts - 1, 0).astype(np.float64)


def _pools(squares: Column, freedom: Column, groups: Places, judges: Places, prior: float) -> Column:
    """The variance of each item's group."""
    jury = (squares.sum() + prior) / (freedom.sum() + 1.0)
    by_judge = _drawn(squares, freedom, judges, np.full(judges.size, jury))
    return _drawn(squares, freedom, groups, by_judge)


def _drawn(squares: Column, freedom: Column, groups: Places, centre: Column) -> Column:
    """The pooled variance of each item's group, drawn to a centre that all items of the group share."""
    sums, weights = np.bincount(groups, squares), np.bincount(groups, freedom)
    drawn: Column = (sums[groups] + POOL_STRENGTH * centre) / (weights[groups] + POOL_STRENGTH)
    return drawn


def _strength(squares: Column, freedom: Column, pools: Column) -> float:
    """The degrees of freedom of the prior, from how much the items' variances differ beyond chance.

    A variance over its pool, from d degrees of freedom, has the mean 1 and the variance 2/d·(1 + c) + c, where c is the squared
    coefficient of variation of the true variances; a scaled inverse χ² has c = 2/(ν − 4).
    """
    repeated = freedom > 0
    if repeated.sum() < MIN_REPEATED:
        return USUAL_STRENGTH
    apart = float(((squares[repeated] / freedom[repeated] / pools[repeated] - 1.0) ** 2).mean())
    chance = float((2.0 / freedom[repeated]).mean())
    differing = (apart - chance) / (1.0 + chance)
    if differing <= 0:
        return MOST_STRENGTH
    return min(MOST_STRENGTH, LEAST_STRENGTH + 2.0 / differing)
