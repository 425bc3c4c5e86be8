"""The distribution of a mean under random weights (Gamma variables, divided by their sum), computed without drawing any.

The weighted mean of values v lies at or under a point m exactly where Σ (v − m)·G ≤ 0, with G independent and Gamma: their sum
of weights divides both sides. Such a sum has the cumulant function K(s) = −Σ n·log(1 − s·(v − m)), where n is the shape of a
value's weight: how often it was seen. Its distribution at 0 is computed through the saddle point of K, in two ways:

- `WeightedMeans`: many means at once, each for the price of a few logarithms (R. Lugannani, S. Rice, Advances in Applied
  Probability 12, 1980; in the form r* of O. E. Barndorff-Nielsen, Biometrika 73, 1986). With two values its quantiles are right
  to a hundredth of the distance to the end of the range;
- `chance_at_most_zero` and `quantile_of_ratio`: one ratio of sums, to about ten digits, by the integral of exp(K(s))/s along a
  line of constant real part (H. E. Daniels, "Saddlepoint approximations in statistics", Annals of Mathematical Statistics 25,
  1954; S. O. Rice, "Distribution of quadratic forms in normal random variables: evaluation by numerical integration", SIAM
  Journal on Scientific and Statistical Computing 1, 1980). Tests of no difference are exact, as McNemar's.
"""

from collections.abc import Callable

import numpy as np

from areopage.scoring.arrays import Column, Matrix

_STEP = 0.1
_REACHES = np.arange(1.5, 18.1, 0.5)
_NEGLIGIBLE = 32.0
"""The integral ends where the logarithm of the integrand has fallen by so much."""
_HALVINGS = 60
_TINY, _CLOSE = 1e-300, 1e-8
_BELOW, _ABOVE = 10.0, 4.0
_CELLS_AT_ONCE = 400_000

_STEPS = 100
_LARGEST, _SMALLEST = 30.0, -12.0
"""Logarithms of the tilts between which every quantile lies."""
_FLAT, _LEAST = 1e-4, 1e-12
_MIDDLE = 0.02
"""So near to the mean, in standard deviations, tables have no points: there r* has a gap."""
_POINTS = 321
_NEAR_ZERO, _NEAR_ONE = 40.0, 30.0
"""The logarithms of 1 + tilt at which tables end, up to their signs."""


class WeightedMeans:
    """Weighted means of values in [0, 1], tilted towards 0 or 1: approximate, for many means at once.

    For each mean μ there is one tilt u in (−1, ∞) under which μ is the expected weighted mean: the saddlepoint of
    P(weighted mean ≤ μ). With u as the unknown, μ is explicit. It is below the expected mean where u > 0.

    Args:
        values: shape (means, kinds).
        counts: the shapes of the weights, ≥ 0; 0 for a value that does not belong to the mean. Same shape.
    """

    def __init__(self, values: Matrix, counts: Matrix) -> None:
        self._values, self._counts = values, counts

    def mean_at(self, tilt: Column) -> Column:
        """The mean of each row whose saddlepoint is at a tilt."""
        weights = self._counts / (1.0 + tilt[:, None] * self._values)
        means: Column = (weights * self._values).sum(axis=1) / weights.sum(axis=1)
        return means

    def quantile_at(self, tilt: Column) -> Column:
        """The standard normal quantile of P(weighted mean ≤ `mean_at(tilt)`)."""
        tilted = 1.0 + tilt[:, None] * self._values
        weights = self._counts / tilted
        mean = (weights * self._values).sum(axis=1) / weights.sum(axis=1)
        likelihood = (self._counts * np.log(tilted)).sum(axis=1)
        exponent = likelihood - self._counts.sum(axis=1) * np.log1p(tilt * mean)
        spread = (self._counts * ((self._values - mean[:, None]) / tilted) ** 2).sum(axis=1)
        root, slope = -np.sign(tilt) * np.sqrt(np.maximum(2.0 * exponent, 0.0)), -tilt * np.sqrt(spread)
        flat = (np.abs(root) < _FLAT) | (np.abs(slope) < _FLAT)
        ratio = np.divide(slope, root, out=np.ones_like(root), where=~flat)
        quantile: Column = root + np.where(flat, 0.0, np.log(ratio) / np.where(flat, 1.0, root))
        return quantile

    def lower_quantiles(self, quantile: float) -> Column:
        """The points that the weighted means lie at or under with a probability below ½, given as its normal quantile."""
        total = self._counts.sum(axis=1)
        mean = (self._values * self._counts).sum(axis=1) / total
        variance = (self._counts * (self._values - mean[:, None]) ** 2).sum(axis=1)
        normal = -quantile / np.sqrt(np.maximum(variance, _LEAST))
        varies = self._values.any(axis=1)

        def excess(tilt: Column) -> Column:
            return np.where(varies, self.quantile_at(np.exp(tilt)) - quantile, 0.0)

        ends = np.full(len(mean), _SMALLEST), np.full(len(mean), _LARGEST)
        tilt = root_between(excess, *ends, -quantile, quantile, first=np.log(normal) + normal * mean)
        return self.mean_at(np.exp(tilt))

    def table(self) -> tuple[Column, Column]:
        """Points of the distribution of the first mean, and their standard normal quantiles, both in ascending order."""
        values, counts = self._values[0], self._counts[0]
        if not values.any():
            return np.zeros(1), np.zeros(1)
        mean = float(values @ counts) / float(counts.sum())
        normal = 1.0 / np.sqrt(float(counts @ (values - mean) ** 2))
        steps = np.linspace(np.arcsinh(_NEAR_ZERO / normal), -np.arcsinh(_NEAR_ONE / normal), _POINTS)
        tilts = np.expm1(normal * np.sinh(steps))
        quantiles = self.quantile_at(tilts)
        kept = (np.abs(steps) > _MIDDLE) & (np.diff(quantiles, prepend=-np.inf) > 0)
        return self.mean_at(tilts)[kept], quantiles[kept]


def root_between(
    excess: Callable[[Column], Column], near: Column, far: Column, at_near: float, at_far: float, *, first: Column | None = None
) -> Column:
    """Where functions are 0, by false position: Illinois' method, in which an end that stays twice counts half.

    Args:
        near, far: between which each function has its root; shape (functions,).
        at_near, at_far: about its values there, of different signs.
        first: where to begin; None: on the line between the ends.
    """
    side = 1.0 if at_near > 0 else -1.0
    at_ends = np.full(len(near), at_near), np.full(len(far), at_far)
    point = near + at_ends[0] / (at_ends[0] - at_ends[1]) * (far - near) if first is None else first
    was_near = np.zeros(len(near), dtype=np.bool_)
    for step in range(_STEPS):
        value = excess(point)
        if float(np.abs(value).max()) < _CLOSE or bool((np.abs(far - near) <= _CLOSE).all()):
            break
        is_near = side * value > 0
        same = (is_near == was_near) & (step > 0)
        near, far = np.where(is_near, point, near), np.where(is_near, far, point)
        at_ends = (
            np.where(is_near, value, np.where(same, at_ends[0] / 2, at_ends[0])),
            np.where(is_near, np.where(same, at_ends[1] / 2, at_ends[1]), value),
        )
        point = near + at_ends[0] / (at_ends[0] - at_ends[1]) * (far - near)
        was_near = is_near
    return point


def chance_at_most_zero(values: Column, counts: Column) -> float:
    """The probability that Σ value·Gamma(count) is at most 0, in [0, 1]; exact to about ten digits, relative to the smaller tail.

    Args:
        values: of any sign, shape (k,).
        counts: how many exponential variables each value has, shape (k,), positive.
    """
    kept = values != 0.0
    values, counts = values[kept], counts[kept]
    if not values.size or values.max() <= 0.0:
        return 1.0
    if values.min() >= 0.0:
        return 0.0
    values = values / np.abs(values).max()
    place = _saddle(values, counts)
    width = float(np.sum(counts * (values / (1.0 - place * values)) ** 2)) ** -0.5
    if abs(place) < width:  # the pole at 0 is near: the line goes past it on the side of the lower tail
        place = max(-width, 0.5 / values.min())
        width = float(np.sum(counts * (values / (1.0 - place * values)) ** 2)) ** -0.5
    tail = abs(_along(place, width, values, counts))
    return min(1.0, tail) if place < 0.0 else max(0.0, 1.0 - tail)


def quantile_of_ratio(sums: Column, sizes: Column, counts: Column, chance: float, low: float, high: float) -> float:
    """The point that Σ sum·weight / Σ size·weight lies at or under with a probability.

    Args:
        sums, sizes: of each kind of group of values, shape (k,).
        counts: how many groups there are of each kind, shape (k,).
        chance: the probability, in (0, 0.5].
        low, high: the ends of the range of ratios.
    """

    def excess(point: Column) -> Column:
        probability = max(chance_at_most_zero(sums - float(point[0]) * sizes, counts), _TINY)
        return np.array([np.log(probability / max(1.0 - probability, _TINY)) - np.log(chance / (1.0 - chance))])

    root = root_between(excess, np.array([low]), np.array([high]), -_BELOW, _ABOVE)  # any values will do at the ends
    return float(root[0])


def _saddle(values: Column, counts: Column) -> float:
    """Where the derivative of K is 0: it rises from −∞ to ∞ between the two poles of K that are next to 0."""
    low, high = 1.0 / values.min(), 1.0 / values.max()
    place = 0.0
    for _ in range(_HALVINGS):
        terms = values / (1.0 - place * values)
        slope, bend = float(counts @ terms), float(counts @ terms**2)
        low, high = (place, high) if slope < 0.0 else (low, place)
        step = place - slope / bend
        following = step if low < step < high else (low + high) / 2.0
        if abs(following - place) <= 1e-12 * (high - low):
            break
        place = following
    return place


def _along(place: float, width: float, values: Column, counts: Column) -> float:
    """The integral of exp(K(s))/s over the line through `place`, by 2πi."""
    fallen = 0.5 * np.log1p(np.multiply.outer((width * np.sinh(_REACHES)) ** 2, (values / (1.0 - place * values)) ** 2)) @ counts
    reach = np.searchsorted(fallen + _REACHES, _NEGLIGIBLE)
    nodes = np.arange(0.0, _REACHES[min(int(reach), len(_REACHES) - 1)], _STEP)
    heights = width * np.sinh(nodes)
    steps = width * np.cosh(nodes)
    steps[0] /= 2.0
    total = 0.0
    for some in np.array_split(np.arange(len(nodes)), -(-len(nodes) * len(values) // _CELLS_AT_ONCE)):
        line = place + 1j * heights[some]
        cumulants = -np.log(1.0 - np.multiply.outer(line, values)) @ counts
        total += float(((np.exp(cumulants) / line).real * steps[some]).sum())
    return total * float(nodes[1]) / np.pi
