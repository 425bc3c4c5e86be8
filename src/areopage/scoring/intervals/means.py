"""The interval of a mean of bounded values. It needs no shape, holds its level for few and skewed cases, and always has a width.

Each end is a quantile of the mean under random weights: exponential ones, divided by their sum, for the values, and a Gamma one
for one value more, at the end of the range, which stands for what was not seen. With the shape 1 for this weight the interval is
that of N. Gaffke, "Three test statistics for a nonparametric one-sided hypothesis on the mean of a nonnegative variable"
(Mathematical Methods of Statistics 14, 2005) and E. Learned-Miller, P. S. Thomas, "A new confidence interval for the mean of a
bounded random variable" (arXiv:1905.06208, 2019): for two values it is Clopper's and Pearson's, for many cases the (Bayesian)
bootstrap's. With the shape 1/2 it is near that of H. Jeffreys. Where the values differ by much more than an unseen value at the
end can move the mean, a small shape is enough: see `unseen_shape`.

Nothing is drawn. P(weighted mean ≤ μ) is the probability that a sum of Gamma variables is negative, by a saddlepoint
approximation (R. Lugannani, S. Rice, Advances in Applied Probability 12, 1980; in the form r* of O. E. Barndorff-Nielsen,
Biometrika 73, 1986). For two values its ends are Clopper's and Pearson's to a hundredth of the distance to the end of the range.
"""

from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

Column = NDArray[np.float64]
Matrix = NDArray[np.float64]

LEVEL = 0.95
GUARANTEED = 1.0
"""The shape of the unseen value's weight with which an interval leaves out the truth in no more than 1 − level of all samples."""
_LEAST_SHAPE = 0.3
_STEPS = 100
_CLOSE = 1e-8
_FARTHEST = (-12.0, 30.0)
"""Logarithms of the weight's tilt between which every end of an interval lies."""
_FLAT = 1e-4
_TINY = 1e-12


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


def _moments(values: Matrix, counts: Matrix) -> tuple[Column, Column, Column]:
    """Of each mean: how many values, their mean and their variance (divided by n)."""
    total = counts.sum(axis=1)
    mean = (values * counts).sum(axis=1) / total
    variance = (counts * (values - mean[:, None]) ** 2).sum(axis=1) / total
    return total, mean, variance


def _lower_ends(values: Matrix, counts: Matrix, low: Column, tail: float, unseen: float | None) -> Column:
    """Where the weighted mean lies below with the probability `tail`."""
    end = np.minimum(low, np.where(counts > 0, values, np.inf).min(axis=1))
    shape = unseen_shape(values, counts, end) if unseen is None else np.full(len(end), unseen)
    above = np.where(counts > 0, values - end[:, None], 0.0)
    width = above.max(axis=1)
    width[width <= 0] = 1.0
    tilted = _Tilted(above / width[:, None], counts, shape)
    found = tilted.mean_at(tilted.solve(NormalDist().inv_cdf(tail)))
    ends: Column = np.minimum(end + width * found, _moments(values, counts)[1])
    return ends


class _Tilted:
    """Weighted means of values in [0, 1] and of one more at 0, under weights that are tilted towards 0.

    For each mean μ below the middle there is one tilt u > 0 under which μ is the expected weighted mean: the saddlepoint of
    P(weighted mean ≤ μ). With u as the unknown, μ is explicit.
    """

    def __init__(self, values: Matrix, counts: Matrix, shape: Column) -> None:
        self._values, self._counts, self._shape = values, counts, shape

    def mean_at(self, tilt: Column) -> Column:
        """The mean whose saddlepoint is at a tilt, given as its logarithm."""
        weights = self._counts / (1.0 + np.exp(tilt)[:, None] * self._values)
        found: Column = (weights * self._values).sum(axis=1) / (weights.sum(axis=1) + self._shape)
        return found

    def quantile_at(self, tilt: Column) -> Column:
        """The standard normal quantile of P(weighted mean ≤ `mean_at(tilt)`)."""
        force = np.exp(tilt)
        tilted = 1.0 + force[:, None] * self._values
        weights = self._counts / tilted
        mean = (weights * self._values).sum(axis=1) / (weights.sum(axis=1) + self._shape)
        factor = 1.0 + force * mean
        likelihood = (self._counts * np.log(tilted)).sum(axis=1)
        exponent = likelihood - (self._counts.sum(axis=1) + self._shape) * np.log(factor)
        spread = (self._counts * ((self._values - mean[:, None]) / tilted) ** 2).sum(axis=1) + self._shape * mean**2
        root, slope = -np.sqrt(np.maximum(2.0 * exponent, 0.0)), -force * np.sqrt(spread)
        flat = (root > -_FLAT) | (slope > -_FLAT)
        ratio = np.divide(slope, root, out=np.ones_like(root), where=~flat)
        quantile: Column = root + np.where(flat, 0.0, np.log(ratio) / np.where(flat, 1.0, root))
        return quantile

    def solve(self, quantile: float) -> Column:
        """The tilt, as its logarithm, at which `quantile_at` is a quantile below 0: by false position (the Illinois rule)."""
        total, mean, variance = _moments(self._values, self._counts)
        normal = -quantile / np.sqrt(np.maximum(variance * total + self._shape * mean**2, _TINY))
        guess = np.log(normal) + normal * mean
        near, far = np.full(len(guess), _FARTHEST[0]), np.full(len(guess), _FARTHEST[1])
        at_near, at_far = np.full(len(guess), -quantile), np.full(len(guess), quantile)
        middle, was_near = guess, np.zeros(len(guess), dtype=np.bool_)
        for step in range(_STEPS):
            value = np.where(self._values.any(axis=1), self.quantile_at(middle) - quantile, 0.0)
            if float(np.abs(value).max()) < _CLOSE:
                break
            is_near = value > 0
            same = (is_near == was_near) & (step > 0)
            near, at_near = np.where(is_near, middle, near), np.where(is_near, value, np.where(same, at_near / 2, at_near))
            far, at_far = np.where(is_near, far, middle), np.where(is_near, np.where(same, at_far / 2, at_far), value)
            share = at_near / (at_near - at_far)
            middle, was_near = near + share * (far - near), is_near
        return middle
