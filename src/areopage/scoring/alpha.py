"""Krippendorff's α: agreement beyond chance among any number of judges, with missing values.

Source: K. Krippendorff, "Content Analysis" (2004), chapter 11; ordinal difference function.
"""

from collections.abc import Sequence

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

Matrix = NDArray[np.float64]

MIN_UNITS = 5


class Alpha(Struct, frozen=True, kw_only=True):
    """α with its 95 % percentile bootstrap interval over units; None where it is not defined.

    1 is perfect agreement, 0 is chance, negative is worse than chance. `units` counts the units rated at least twice.
    """

    alpha: float | None
    low: float | None
    high: float | None
    units: int


def krippendorff_alpha(ratings: Sequence[Sequence[float | None]], *, resamples: int = 500, seed: int = 0) -> Alpha:
    """Ordinal α.

    Args:
        ratings: one row per unit (a case on a criterion), one column per judge; None where a judge gave no score.
        resamples: bootstrap resamples of the units.
        seed: seed of the bootstrap.
    """
    table = np.array([[np.nan if value is None else value for value in row] for row in ratings], dtype=np.float64)
    levels = np.unique(table[~np.isnan(table)])
    if levels.size == 0:
        return Alpha(alpha=None, low=None, high=None, units=0)
    counts = np.stack([(table == level).sum(axis=1) for level in levels], axis=1).astype(np.float64)
    counts = counts[counts.sum(axis=1) >= 2]
    units = counts.shape[0]
    value = _alpha_of_counts(counts)
    if value is None or units < MIN_UNITS:
        return Alpha(alpha=value, low=None, high=None, units=units)
    random = np.random.default_rng(seed)
    draws = [_alpha_of_counts(counts[random.integers(0, units, units)]) for _ in range(resamples)]
    known = [draw for draw in draws if draw is not None]
    if not known:
        return Alpha(alpha=value, low=None, high=None, units=units)
    low, high = np.quantile(np.array(known), [0.025, 0.975])
    return Alpha(alpha=value, low=float(low), high=float(high), units=units)


def _alpha_of_counts(counts: Matrix) -> float | None:
    """Ordinal α of a units × levels table of counts, levels ascending; None where only one level occurs."""
    if counts.shape[0] == 0:
        return None
    sizes = counts.sum(axis=1)
    weighted = counts / (sizes - 1)[:, None]
    observed = weighted.T @ counts - np.diag(weighted.sum(axis=0))
    totals = counts.sum(axis=0)
    whole = totals.sum()
    expected = (np.outer(totals, totals) - np.diag(totals)) / (whole - 1)
    middles = np.cumsum(totals) - totals / 2
    distance = (middles[:, None] - middles[None, :]) ** 2
    disagreement = float((expected * distance).sum())
    if disagreement == 0:
        return None
    return 1.0 - float((observed * distance).sum()) / disagreement
