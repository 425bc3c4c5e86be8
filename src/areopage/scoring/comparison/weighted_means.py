"""The distribution of a mean under random weights (exponential, divided by their sum), computed without drawing any.

The weighted mean of values v lies at or under a point m exactly where Σ (v − m)·E ≤ 0, with E independent and exponential: their
sum of weights divides both sides. A sum of exponential variables with signs has the cumulant function
K(s) = −Σ n·log(1 − s·v), and its distribution at 0 is an integral of exp(K(s))/s along a line of constant real part, which is
taken through the saddle point: there even tiny chances keep their digits. Sources: H. E. Daniels, "Saddlepoint approximations in
statistics" (Annals of Mathematical Statistics 25, 1954); S. O. Rice, "Distribution of quadratic forms in normal random variables:
evaluation by numerical integration" (SIAM Journal on Scientific and Statistical Computing 1, 1980).
"""

import numpy as np
from numpy.typing import NDArray

Column = NDArray[np.float64]

_STEP = 0.1
_REACHES = np.arange(1.5, 18.1, 0.5)
_NEGLIGIBLE = 32.0
"""The integral ends where the logarithm of the integrand has fallen by so much."""
_HALVINGS = 60
_TINY, _CLOSE = 1e-300, 1e-7
_BELOW, _ABOVE = 10.0, 4.0
_CELLS_AT_ONCE = 400_000


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


def quantile_of_mean(sums: Column, sizes: Column, counts: Column, chance: float, low: float, high: float) -> float:
    """The point that a weighted mean lies at or under with a probability.

    Args:
        sums, sizes: of each kind of group of values, shape (k,): the mean is Σ sum·weight / Σ size·weight.
        counts: how many groups there are of each kind, shape (k,).
        chance: the probability, in (0, 0.5].
        low, high: the ends of the range of means.
    """

    def excess(point: float) -> float:
        found = max(chance_at_most_zero(sums - point * sizes, counts), _TINY)
        return float(np.log(found / max(1.0 - found, _TINY)) - np.log(chance / (1.0 - chance)))

    below, above, side = -_BELOW, _ABOVE, 0  # any signs will do at the ends of the range
    for _ in range(_HALVINGS):
        point = (low * above - high * below) / (above - below)
        if high - low <= _CLOSE or not low < point < high:
            break
        found = excess(point)
        if abs(found) <= _CLOSE:
            return point
        if found < 0.0:  # Illinois' method: an end that stays twice counts half
            low, below, above, side = point, found, above / 2.0 if side < 0 else above, -1
        else:
            high, above, below, side = point, found, below / 2.0 if side > 0 else below, 1
    return point


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
