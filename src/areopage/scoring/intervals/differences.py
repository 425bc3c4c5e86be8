"""The interval of the difference of two means of independent bounded values: of two periods, or of two variants.

Each mean has random weights and an unseen value, as in `means`. The lower end is a quantile of the first mean, whose unseen value
is at the low end of the range, minus the second, whose unseen value is at the high end; the upper end is the other way around.
Nothing is drawn: the difference's distribution is an integral over those of both means. Source: M. P. Fay, M. A. Proschan,
E. Brittain, "Combining one-sample confidence procedures for inference in the two-sample case" (Biometrics 71, 2015). With the
full guarantee and values of two kinds its test is Fisher's exact one.
"""

from math import erfc, sqrt
from typing import NamedTuple

import numpy as np

from areopage.scoring.arrays import Column
from areopage.scoring.intervals.means import LEVEL, with_unseen
from areopage.scoring.intervals.random_weights import root_between

_NODES = np.linspace(-8.0, 8.0, 513)
"""Standard normal quantiles at which distributions are tabled."""
_CHANCES = np.array([erfc(-node / sqrt(2.0)) / 2.0 for node in _NODES])
_MASSES = np.exp(-(_NODES**2) / 2.0) / np.exp(-(_NODES**2) / 2.0).sum()
_LEAST = 1e-15
_BELOW, _ABOVE = 35.0, 4.0


class CountedValues(NamedTuple):
    """Values and how often each was seen, > 0, and the ends of their range; see `mean_interval`. Shape (kinds,) each."""

    values: Column
    counts: Column
    low: float
    high: float

    def negated(self) -> "CountedValues":
        """The values with the other sign."""
        return CountedValues(-self.values, self.counts, -self.high, -self.low)


def difference_interval(
    first: CountedValues, second: CountedValues, *, level: float = LEVEL, unseen: float | None = None
) -> tuple[float, float, float]:
    """The interval of the mean of the first minus that of the second, and the p-value of no difference.

    Args:
        first, second: at least one value each.
        level: in (0.5, 1).
        unseen: see `mean_interval`.

    Returns:
        The ends, and the two-sided p-value: under 1 − level exactly where 0 lies outside of the interval.
    """
    tail = (1.0 - level) / 2.0
    below, chance_below = _lower_end(first, second, tail, unseen)
    above, chance_above = _lower_end(first.negated(), second.negated(), tail, unseen)
    return below, -above, min(1.0, 2.0 * min(chance_below, chance_above))


def _lower_end(first: CountedValues, second: CountedValues, tail: float, unseen: float | None) -> tuple[float, float]:
    """Where the difference lies below with the probability `tail`, and the probability that it is at most 0."""
    side, other = _distribution(first, unseen), -_distribution(second.negated(), unseen)[::-1]
    if side[0] == side[-1]:  # the side whose distribution is interpolated must have one
        side, other = -other[::-1], -side[::-1]

    def chance(point: float) -> float:
        return float(_MASSES @ np.interp(point + other, side, _CHANCES, left=0.0, right=1.0))

    def excess(point: Column) -> Column:
        probability = max(chance(float(point[0])), _LEAST)
        return np.array([np.log(probability / max(1.0 - probability, _LEAST)) - np.log(tail / (1.0 - tail))])

    ends = np.array([side[0] - other[-1]]), np.array([side[-1] - other[0]])
    return float(root_between(excess, *ends, -_BELOW, _ABOVE)[0]), chance(0.0)


def _distribution(side: CountedValues, unseen: float | None) -> Column:
    """The quantiles at `_NODES` of a weighted mean with an unseen value at the lower end of the range."""
    means, ends, widths = with_unseen(side.values[None, :], side.counts[None, :], np.array([side.low]), unseen)
    points, quantiles = means.table()
    quantiles_at_nodes: Column = ends[0] + widths[0] * np.interp(_NODES, quantiles, points)
    return quantiles_at_nodes
