"""Intervals that hold for the few rows of a gold set.

Source: R. G. Newcombe, "Confidence intervals for an effect size measure based on the Mann-Whitney statistic. Part 2" (Statistics
in Medicine 25, 2006), method 5: it keeps its level for ten rows a side and has a width where the separation is perfect.
"""

import math
from bisect import bisect_left
from collections.abc import Callable, Mapping

import numpy as np

from areopage.scoring.arrays import Column
from areopage.scoring.correlation import Z_95
from areopage.scoring.intervals.means import GUARANTEED, mean_interval

_HALVINGS = 50


def separation(low: Column, high: Column) -> float | None:
    """The chance that a value of `high` lies above one of `low`, ties counting half, in [0, 1]; None where a side is empty.

    It is the area under the ROC curve (AUC), and U / (m·n) of Mann and Whitney.
    """
    if not low.size or not high.size:
        return None
    apart = high[:, None] - low[None, :]
    return float(((apart > 0) + 0.5 * (apart == 0)).mean())


def separation_interval(value: float, low: int, high: int) -> tuple[float, float]:
    """Newcombe's 95 % interval of a separation in [0, 1] of `low` and `high` values, at least one each."""

    def beyond(share: float) -> bool:
        return (value - share) ** 2 > Z_95**2 * _variance(share, low, high)

    lower = 0.0 if value == 0.0 else _edge(beyond, 0.0, value)
    upper = 1.0 if value == 1.0 else _edge(beyond, 1.0, value)
    return lower, upper


def _variance(share: float, low: int, high: int) -> float:
    """The variance of an estimated separation by Hanley's and McNeil's formula, with sides of equal weight."""
    others = (low + high) / 2 - 1
    return share * (1 - share) * (1 + others * ((1 - share) / (2 - share) + share / (1 + share))) / (low * high)


def _edge(beyond: Callable[[float], bool], outside: float, inside: float) -> float:
    """Where `beyond` ends to hold, going from a place outside of the interval to one inside."""
    if not beyond(outside):
        return outside
    for _ in range(_HALVINGS):
        middle = (outside + inside) / 2
        outside, inside = (middle, inside) if beyond(middle) else (outside, middle)
    return inside


def counts_of(values: Column) -> dict[float, float]:
    """How often each value occurs, after rounding to nine decimals."""
    kinds, counts = np.unique(values.round(9), return_counts=True)
    return dict(zip(kinds.tolist(), map(float, counts.tolist()), strict=True))


def error_interval(counts: Mapping[float, float], end: float) -> tuple[float, float]:
    """The 95 % interval of the mean of values in [0, end] of any shape, by how often each was seen; counts may be fractions."""
    values, seen = (np.fromiter(side, dtype=np.float64) for side in (counts.keys(), counts.values()))
    return mean_interval(values, 0.0, end, counts=seen, unseen=GUARANTEED)


def rows_for_mean(counts: Mapping[float, float], end: float, limit: float, most: int) -> int | None:
    """How many rows bring the upper end of the interval to `limit`, if the values stay as they are; None over `most` rows."""
    rows = sum(counts.values())
    if sum(value * count for value, count in counts.items()) / rows >= limit:
        return None

    def enough(size: int) -> bool:
        grown = {value: count * size / rows for value, count in counts.items()}
        return error_interval(grown, end)[1] <= limit

    return first_enough(enough, math.ceil(rows), most)


def rows_for_separation(value: float, low: int, high: int, limit: float, most: int) -> tuple[int, int] | None:
    """How many rows with a low and with a high band bring the lower end of the interval to `limit`, if the value stays.

    The side with fewer rows grows first. None where the value is not over the limit, or over `most` rows on a side.
    """
    if value <= limit:
        return None
    size = first_enough(
        lambda size: separation_interval(value, max(low, size), max(high, size))[0] >= limit, max(1, min(low, high)), most
    )
    return None if size is None else (max(low, size), max(high, size))


def first_enough(enough: Callable[[int], bool], least: int, most: int) -> int | None:
    """The smallest size from `least` on that is enough, where every larger one is, too; None over `most`."""
    size = least
    while not enough(size):
        if size >= most:
            return None
        least, size = size + 1, min(most, size * 2)
    return least + bisect_left(range(least, size), True, key=enough)
