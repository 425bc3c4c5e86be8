"""Agreement beyond chance among any number of judges, with missing values: Krippendorff's α and Gwet's AC2, both ordinal.

α asks how far the judges follow the differences between the units. Where nearly all units are alike there is little to follow,
and α is low however well the judges agree. AC2 does not depend on that: the two are read together.

Sources: K. Krippendorff, "Content Analysis" (2004), chapter 11, ordinal difference function; K. L. Gwet, "Handbook of Inter-Rater
Reliability" (4th edition, 2014), chapters 3 and 6, ordinal weights, after K. L. Gwet, "Computing inter-rater reliability and its
variance in the presence of high agreement" (British Journal of Mathematical and Statistical Psychology 61, 2008).
"""

from collections.abc import Callable, Sequence

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from areopage.scoring.arrays import Matrix
from areopage.scoring.intervals.coefficients import coefficient_interval

Ratings = Sequence[Sequence[float | None]] | Matrix
"""A row per unit (a case on a criterion), a column per judge; None or NaN where a judge gave no score."""

MIN_UNITS = 5
_BITS = 62
_AT_ONCE = 500  # units that are left out in turn, which keeps the tables of large runs small


class Alpha(Struct, frozen=True, kw_only=True):
    """α with its 95 % interval over units; None where it is not defined, the interval also under five units or where all agree.

    1 is perfect agreement, 0 is chance, negative is worse than chance. `units` counts the units rated at least twice.
    """

    alpha: float | None
    low: float | None
    high: float | None
    units: int


class Ac2(Struct, frozen=True, kw_only=True):
    """AC2 with its interval, like `Alpha`; None without a unit that is rated twice."""

    ac2: float | None
    low: float | None
    high: float | None
    units: int


def krippendorff_alpha(ratings: Ratings) -> Alpha:
    """Ordinal α; None where all ratings are equal. The levels are those that occur."""
    table = _table(ratings)
    counts = _counts(table, np.unique(table[~np.isnan(table)]))
    counts = counts[counts.sum(axis=1) >= 2]
    value, low, high = _with_interval(counts, _alphas)
    return Alpha(alpha=value, low=low, high=high, units=counts.shape[0])


def gwet_ac2(ratings: Ratings, levels: Sequence[float]) -> Ac2:
    """AC2 = (p_a − p_e) / (1 − p_e) with ordinal weights.

    Of q levels, two that are d steps apart agree with the weight w = 1 − d(d + 1) / (q(q − 1)). p_a is the mean over the units
    rated at least twice of the weighted share of pairs of judges that agree. p_e is Σ w / (q(q − 1)) · Σ π(1 − π), where Σ w is
    over all pairs of levels and π is a level's mean share of a unit's ratings.

    Args:
        ratings: values outside of `levels` are ignored.
        levels: all levels of the scale, ascending, also those that do not occur; at least two.
    """
    counts = _counts(_table(ratings), np.array(levels))
    counts = counts[counts.sum(axis=1) >= 1]
    value, low, high = _with_interval(counts, _ac2s)
    return Ac2(ac2=value, low=low, high=high, units=int((counts.sum(axis=1) >= 2).sum()))


def _table(ratings: Ratings) -> Matrix:
    if isinstance(ratings, np.ndarray):
        return ratings
    return np.array([[np.nan if value is None else value for value in row] for row in ratings], dtype=np.float64)


def _counts(table: Matrix, levels: Matrix) -> Matrix:
    """How many judges gave each unit each level: units × levels."""
    if not table.size or not levels.size:
        return np.zeros((0, 1))
    return np.stack([(table == level).sum(axis=1) for level in levels], axis=1).astype(np.float64)


def _with_interval(
    counts: Matrix, coefficients: Callable[[Matrix, Matrix], Matrix]
) -> tuple[float | None, float | None, float | None]:
    """A coefficient with the ends of its interval.

    `coefficients` takes how often each sample has each pattern of counts, and the patterns; NaN where not defined.
    """
    if not counts.shape[0]:
        return None, None, None
    patterns, repetitions = _patterns(counts)
    times = repetitions.astype(np.float64)
    value = float(coefficients(times[None, :], patterns)[0])
    if np.isnan(value) or (counts.sum(axis=1) >= 2).sum() < MIN_UNITS:
        return (None if np.isnan(value) else value), None, None
    kinds = np.arange(len(times))
    left_out = [
        coefficients(times - (kinds[None, :] == part[:, None]), patterns)
        for part in np.array_split(kinds, -(-len(kinds) // _AT_ONCE))
    ]
    agreed = float(coefficients(np.append(times, 1.0)[None, :], np.vstack([patterns, _unseen(counts)]))[0])
    low, high = coefficient_interval(value, np.concatenate(left_out), times, agreed) or (None, None)
    return value, low, high


def _patterns(counts: Matrix) -> tuple[Matrix, NDArray[np.intp]]:
    """The different rows in order, and how often each occurs."""
    base = int(counts.max(initial=0)) + 1
    if counts.shape[1] * np.log2(base) > _BITS:
        return np.unique(counts, axis=0, return_counts=True)
    powers = base ** np.arange(counts.shape[1] - 1, -1, -1, dtype=np.int64)  # a row as one number, in the same order
    _, firsts, repetitions = np.unique(counts.astype(np.int64) @ powers, return_index=True, return_counts=True)
    return counts[firsts], repetitions


def _unseen(counts: Matrix) -> Matrix:
    """A unit on which all judges agree at the end of the levels that is farthest from the others."""
    levels = np.arange(counts.shape[1])
    share = float(counts.sum(axis=0) @ levels) / float(counts.sum())
    unit = np.zeros((1, len(levels)))
    unit[0, 0 if share > levels[-1] / 2 else -1] = counts.sum(axis=1).max()
    return unit


def _alphas(times: Matrix, patterns: Matrix) -> Matrix:
    """α of each sample; NaN where only one level occurs."""
    totals = times @ patterns
    whole = totals.sum(axis=1)
    ranks = np.cumsum(totals, axis=1) - totals / 2 - whole[:, None] / 2  # midranks of the levels, their mean is 0
    expected = whole / (whole - 1) * (totals * ranks**2).sum(axis=1)
    disputed = patterns[(patterns > 0).sum(axis=1) > 1]
    sizes = disputed.sum(axis=1)
    between = sizes * (ranks**2 @ disputed.T) - (ranks @ disputed.T) ** 2
    observed = (times[:, (patterns > 0).sum(axis=1) > 1] / (sizes - 1) * between).sum(axis=1)
    alphas: Matrix = 1.0 - np.divide(observed, expected, out=np.full_like(expected, np.nan), where=expected > 0)
    return alphas


def _ac2s(times: Matrix, patterns: Matrix) -> Matrix:
    """AC2 of each sample; NaN where no unit is rated twice."""
    levels = patterns.shape[1]
    pairs = levels * (levels - 1)
    steps = np.abs(np.subtract.outer(np.arange(levels), np.arange(levels)))
    weights = 1.0 - steps * (steps + 1) / pairs
    sizes = patterns.sum(axis=1)
    twice = sizes >= 2
    of_pairs = ((patterns * (patterns @ weights)).sum(axis=1) - sizes)[twice] / (sizes * (sizes - 1))[twice]
    rated = times[:, twice].sum(axis=1)
    observed = np.divide(times[:, twice] @ of_pairs, rated, out=np.full_like(rated, np.nan), where=rated > 0)
    shares = times @ (patterns / sizes[:, None]) / times.sum(axis=1, keepdims=True)
    chance = weights.sum() / pairs * (shares * (1.0 - shares)).sum(axis=1)
    coefficients: Matrix = (observed - chance) / (1.0 - chance)
    return coefficients
