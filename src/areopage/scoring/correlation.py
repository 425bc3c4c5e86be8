"""Correlation of two ratings of the same items, with 95 % intervals.

Sources: R. A. Fisher, "On the probable error of a coefficient of correlation deduced from a small sample" (1921): z = artanh r
has a standard error of 1/√(n − 3) where both ratings are normal. D. G. Bonett, T. A. Wright, "Sample size requirements for
estimating Pearson, Kendall and Spearman correlations" (2000): √((1 + r²/2)/(n − 3)) for ranks.

Scores of answers are not normal: most lie near the good end, a few far off. Fisher's interval is too narrow then, so the standard
error of z is taken from a bootstrap over items where that one is larger. Ratings are arrays of one length, without NaN.
"""

from math import atanh, sqrt, tanh
from statistics import NormalDist
from typing import Literal

import numpy as np
from msgspec import Struct

from areopage.scoring.arrays import Column, Matrix

MIN_PAIRS = 4
PERFECT = 1 - 1e-9
RESAMPLES = 1000
BATCH_CELLS = 250_000  # numbers that are drawn at once: 2 MB; more are not faster
TINY = 1e-12
DIGITS = 9
"""Means of the same labels may differ by the last bit: values are compared after rounding to this number of decimals."""

Z_95 = NormalDist().inv_cdf(0.975)

Missing = Literal["", "few", "constant", "perfect"]
"""Why a figure is missing: under four pairs; one side gave everything the same score; or agreement without any exception, which
leaves nothing to compute an interval from."""


class Range(Struct, frozen=True, kw_only=True):
    """A 95 % interval."""

    low: float
    high: float


class Estimate(Struct, frozen=True, kw_only=True):
    """A figure with its 95 % interval; where either is missing, `reason` says why. A value may be known without its interval."""

    value: float | None = None
    low: float | None = None
    high: float | None = None
    reason: Missing = ""


class Correlation(Struct, frozen=True, kw_only=True):
    """Pearson's r. `error` is the standard error of z that `low` and `high` rest on.

    `fisher` and `bootstrap` are the intervals of the textbook formula and of the percentile bootstrap over items.
    """

    value: float | None = None
    low: float | None = None
    high: float | None = None
    error: float | None = None
    fisher: Range | None = None
    bootstrap: Range | None = None
    reason: Missing = ""


def pearson(first: Column, second: Column) -> float | None:
    """Pearson's r in [−1, 1]; None where either side is constant, or there are no items."""
    if _is_constant(first) or _is_constant(second):
        return None
    left, right = first - first.mean(), second - second.mean()
    value = float(left @ right / sqrt(float(left @ left) * float(right @ right)))
    return min(1.0, max(-1.0, value))


def ranks(values: Column) -> Column:
    """Ranks from 1; equal values get the mean of the ranks that they take."""
    _, places, counts = np.unique(values.round(DIGITS), return_inverse=True, return_counts=True)
    middles: Column = np.cumsum(counts) - (counts - 1) / 2
    return middles[places]


def _is_constant(values: Column) -> bool:
    return values.size == 0 or bool(np.ptp(values.round(DIGITS)) == 0)


def pearson_estimate(first: Column, second: Column, resamples: int = RESAMPLES, seed: int = 0) -> Correlation:
    """Pearson's r with its intervals."""
    if first.size < MIN_PAIRS:
        return Correlation(reason="few")
    value = pearson(first, second)
    if value is None:
        return Correlation(reason="constant")
    if abs(value) > PERFECT:
        return Correlation(value=value, error=1 / sqrt(first.size - 3), reason="perfect")
    draws = _resampled(first, second, resamples, seed)
    normal = 1 / sqrt(first.size - 3)
    spread = float(np.arctanh(draws.clip(-PERFECT, PERFECT)).std()) if draws.size else 0.0
    error = max(normal, spread)
    inner = z_range(value, error)
    middle = np.quantile(draws, [0.025, 0.975]).tolist() if draws.size else None
    return Correlation(
        value=value,
        low=inner.low,
        high=inner.high,
        error=error,
        fisher=z_range(value, normal),
        bootstrap=Range(low=middle[0], high=middle[1]) if middle else None,
    )


def spearman_estimate(first: Column, second: Column) -> Estimate:
    """Spearman's ρ, equal values sharing their rank, with Bonett's and Wright's interval."""
    if first.size < MIN_PAIRS:
        return Estimate(reason="few")
    value = pearson(ranks(first), ranks(second))
    if value is None:
        return Estimate(reason="constant")
    if abs(value) > PERFECT:
        return Estimate(value=value, reason="perfect")
    inner = z_range(value, sqrt((1 + value * value / 2) / (first.size - 3)))
    return Estimate(value=value, low=inner.low, high=inner.high)


def z_range(value: float, error: float) -> Range:
    """The interval of a coefficient inside (−1, 1) whose z has a standard error."""
    centre = atanh(value)
    return Range(low=tanh(centre - Z_95 * error), high=tanh(centre + Z_95 * error))


def _resampled(first: Column, second: Column, resamples: int, seed: int) -> Column:
    """Pearson's r of each resample of a bootstrap over items; those in which one side came out constant are left out.

    Items with the same two scores are drawn together: on a scale of points there are few different ones, however many items.
    """
    pairs, counts = np.unique(np.stack([first, second], axis=1), axis=0, return_counts=True)
    size = first.size
    left, right = (pairs - np.array([first.mean(), second.mean()])).T
    random = np.random.default_rng(seed)
    step = max(1, BATCH_CELLS // counts.size)
    parts: list[Column] = []
    for start in range(0, resamples, step):
        draws: Matrix = random.multinomial(size, counts / size, min(step, resamples - start)).astype(np.float64)
        mean_left, mean_right = draws @ left / size, draws @ right / size
        of_left = draws @ (left * left) / size - mean_left**2
        of_right = draws @ (right * right) / size - mean_right**2
        both = draws @ (left * right) / size - mean_left * mean_right
        varying = (of_left > TINY) & (of_right > TINY)
        parts.append(both[varying] / np.sqrt(of_left[varying] * of_right[varying]))
    return np.concatenate(parts).clip(-1.0, 1.0)
