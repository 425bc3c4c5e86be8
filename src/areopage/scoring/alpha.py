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
    if levels.size == 0:  # nobody gave any score
        return Alpha(alpha=None, low=None, high=None, units=0)
    counts = np.stack([(table == level).sum(axis=1) for level in levels], axis=1).astype(np.float64)
    counts = counts[counts.sum(axis=1) >= 2]
    units = counts.shape[0]
    if units == 0:
        return Alpha(alpha=None, low=None, high=None, units=0)
    kinds, kind_of = np.unique(counts, axis=0, return_inverse=True)
    kind_of = kind_of.reshape(-1)
    random = np.random.default_rng(seed)
    draws = (kind_of[random.integers(0, units, units)] for _ in range(resamples if units >= MIN_UNITS else 0))
    tallies = np.stack([np.bincount(drawn, minlength=len(kinds)) for drawn in (kind_of, *draws)])
    value, *others = _alphas(kinds, tallies.astype(np.float64))
    known = [one for one in others if one is not None]
    if not known:
        return Alpha(alpha=value, low=None, high=None, units=units)
    low, high = np.quantile(np.array(known), [0.025, 0.975])
    return Alpha(alpha=value, low=float(low), high=float(high), units=units)


def _alphas(kinds: Matrix, tallies: Matrix) -> list[float | None]:
    """Ordinal α of samples of units; None where only one level occurs.

    Args:
        kinds: one row per kind of unit, with its counts of each level, ascending.
        tallies: one row per sample: how many units it has of each kind.
    """
    same = np.arange(kinds.shape[1])
    weighted = kinds / (kinds.sum(axis=1) - 1)[:, None]
    pairs = weighted[:, :, None] * kinds[:, None, :]
    pairs[:, same, same] -= weighted
    observed = np.tensordot(tallies, pairs, 1)
    totals = tallies @ kinds
    expected = totals[:, :, None] * totals[:, None, :]
    expected[:, same, same] -= totals
    expected /= (totals.sum(axis=1) - 1)[:, None, None]
    middles = np.cumsum(totals, axis=1) - totals / 2
    distance = (middles[:, :, None] - middles[:, None, :]) ** 2
    found = zip((observed * distance).sum(axis=(1, 2)), (expected * distance).sum(axis=(1, 2)), strict=True)
    return [None if chance == 0 else 1.0 - float(seen) / float(chance) for seen, chance in found]
