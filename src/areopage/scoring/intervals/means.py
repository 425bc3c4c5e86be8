"""The interval of a mean of bounded values. It needs no shape, holds its level for few and skewed cases, and always has a width.

Each end is a quantile of the mean under random weights: exponential ones, divided by their sum, for the values, and a Gamma one
for one value more, at the end of the range, which stands for what was not seen. With the shape 1 for this weight the interval is
that of N. Gaffke, "Three test statistics for a nonparametric one-sided hypothesis on the mean of a nonnegative variable"
(Mathematical Methods of Statistics 14, 2005) and E. Learned-Miller, P. S. Thomas, "A new confidence interval for the mean of a
bounded random variable" (arXiv:1905.06208, 2019): for two values it is Clopper's and Pearson's, for many cases the (Bayesian)
bootstrap's. With the shape 1/2 it is near that of H. Jeffreys. Where the values differ by much more than an unseen value at the
end can move the mean, a small shape is enough: see `unseen_shape`.

Nothing is drawn: see `random_weights`. `mean_intervals` takes many means at once; `cluster_interval` takes one of clusters of
unequal sizes, with an exact test of a mean of 0; `differences` takes two means of independent values.
"""

from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from areopage.scoring.arrays import Column, Matrix
from areopage.scoring.intervals.random_weights import WeightedMeans, chance_at_most_zero, quantile_of_ratio

LEVEL = 0.95
GUARANTEED = 1.0
"""The shape of the unseen value's weight with which an interval leaves out the truth in no more than 1 − level of all samples."""
_LEAST_SHAPE = 0.3
_TINY = 1e-12
_MOST_KINDS, _STEPS = 400, 500
"""Where there are more kinds of clusters, their sums are rounded to this many steps of half of the range."""


def mean_interval(
    values: Column, low: float, high: float, *, counts: Column | None = None, level: float = LEVEL, unseen: float | None = None
) -> tuple[float, float]:
    """The interval of the mean of independent values from a range.

    Args:
        values: at least one; shape (kinds,).
        low, high: the ends of the range, in the values' unit; values beyond them widen it.
        counts: how often each value was seen, > 0; need not be whole, so that values that depend on each other can count as
            fewer. None: once.
        level: in (0.5, 1).
        unseen: the shape of the unseen value's weight, > 0; None: `unseen_shape`.

    Returns:
        Its ends, with low ≤ mean ≤ high.
    """
    table = values[None, :]
    shapes = np.ones_like(table) if counts is None else counts[None, :]
    lows, highs = mean_intervals(table, shapes, np.array([low]), np.array([high]), level=level, unseen=unseen)
    return float(lows[0]), float(highs[0])


def mean_intervals(
    values: Matrix, counts: Matrix, low: Column, high: Column, *, level: float = LEVEL, unseen: float | None = None
) -> tuple[Column, Column]:
    """The intervals of many means: see `mean_interval`.

    Args:
        values: shape (means, kinds).
        counts: how often each value was seen; 0 for one that does not belong to the mean. Same shape.
        low, high: the ends of each mean's range; shape (means,).
    """
    tail = (1.0 - level) / 2.0
    lows = _lower_ends(values, counts, low, tail, unseen)
    return lows, -_lower_ends(-values, counts, -high, tail, unseen)


def unseen_shape(values: Matrix, counts: Matrix, end: Column) -> Column:
    """The shape of the unseen value's weight, between 0.3 and 1: 1 where all values are equal, less the more they differ.

    0.3 + 0.7 / (1 + q²) with q = s √n / d, where s is the values' standard deviation and d the distance of their mean to the end:
    q compares the standard error of the mean with how far one more value at the end moves it. The constants were chosen by
    `benchmarks/intervals.py`: with less, intervals of samples with few bad values leave out the truth in over 7 of 100 samples.
    """
    total, mean, variance = _moments(values, counts)
    distance = mean - end
    squared = np.divide(variance * total, distance**2, out=np.full_like(mean, np.inf), where=np.abs(distance) > _TINY)
    shape: Column = _LEAST_SHAPE + (GUARANTEED - _LEAST_SHAPE) / (1.0 + squared)
    return shape


def cluster_values(values: Column, clusters: NDArray[np.intp]) -> Column:
    """One value for each cluster, whose mean is that of all values: the mean, plus what the cluster adds to it.

    What it adds counts as often as there are clusters (the delta method), so that clusters of unequal sizes weigh as they should.
    """
    centre, size = values.mean(), int(clusters.max()) + 1
    values_of: Column = centre + np.bincount(clusters, weights=values - centre, minlength=size) * size / len(values)
    return values_of


def with_unseen(values: Matrix, counts: Matrix, end: Column, unseen: float | None) -> tuple[WeightedMeans, Column, Column]:
    """The means under random weights of the values' shares of the range, with an unseen value at the range's lower end `end`.

    A value below the end widens the range. Also returns the lower end, and the range's width up to the greatest value.
    """
    end = np.minimum(end, np.where(counts > 0, values, np.inf).min(axis=1))
    shape = unseen_shape(values, counts, end) if unseen is None else np.full(len(end), unseen)
    above = np.where(counts > 0, values - end[:, None], 0.0)
    width = above.max(axis=1)
    width[width <= 0] = 1.0
    means = WeightedMeans(np.column_stack([above / width[:, None], np.zeros(len(end))]), np.column_stack([counts, shape]))
    return means, end, width


def _lower_ends(values: Matrix, counts: Matrix, low: Column, tail: float, unseen: float | None) -> Column:
    """Where the weighted mean lies below with the probability `tail`."""
    means, end, width = with_unseen(values, counts, low, unseen)
    ends: Column = np.minimum(end + width * means.lower_quantiles(NormalDist().inv_cdf(tail)), _moments(values, counts)[1])
    return ends


def _moments(values: Matrix, counts: Matrix) -> tuple[Column, Column, Column]:
    """Of each mean: how many values, their mean and their variance (divided by n)."""
    total = counts.sum(axis=1)
    mean = (values * counts).sum(axis=1) / total
    variance = (counts * (values - mean[:, None]) ** 2).sum(axis=1) / total
    return total, mean, variance


def cluster_interval(sums: Column, sizes: Column, span: float, level: float = LEVEL) -> tuple[float, float, float]:
    """The interval of a mean over clusters of unequal sizes, with the full guarantee, and the p-value of a mean of 0.

    The unseen cluster has the mean size.

    Args:
        sums, sizes: of the values of each cluster, and how many there are; shape (clusters,).
        span: the values lie in [−span, span].

    Returns:
        The ends, and the two-sided p-value: under 1 − level exactly where 0 lies outside of the interval.
    """
    kinds, counts = np.unique(np.stack([sizes, sums], axis=1), axis=0, return_counts=True)
    if len(kinds) > _MOST_KINDS:
        step = span / _STEPS
        kinds, counts = np.unique(np.stack([sizes, (sums / step).round() * step], axis=1), axis=0, return_counts=True)
    unseen, numbers = sizes.mean(), np.append(counts, GUARANTEED).astype(np.float64)
    sizes, down, up = (
        np.append(kinds[:, 0], unseen),
        np.append(kinds[:, 1], -span * unseen),
        np.append(kinds[:, 1], span * unseen),
    )
    tail = (1.0 - level) / 2.0
    middle = float(kinds[:, 1] @ counts / (kinds[:, 0] @ counts))
    low = quantile_of_ratio(down, sizes, numbers, tail, -span, middle)
    high = -quantile_of_ratio(-up, sizes, numbers, tail, -span, -middle)
    p_value = 2.0 * min(chance_at_most_zero(down, numbers), chance_at_most_zero(-up, numbers))
    return low, high, min(1.0, p_value)
