"""How far judges agree.

On one criterion of one case: agreement and who stands apart (child-safety benchmark specification V1.1, section on judges and
criteria; sd is the sample standard deviation). Over many cases: Krippendorff's α, agreement beyond chance among any number of
judges, with missing values (K. Krippendorff, "Content Analysis" (2004), chapter 11; ordinal difference function).
"""

from collections.abc import Mapping, Sequence
from math import fsum, sqrt

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

Z_LIMIT = 2.0
MIN_JUDGES = 3
APART_SHARE = 0.3


def mean(values: Sequence[float]) -> float:
    """Arithmetic mean of at least one value."""
    return fsum(values) / len(values)


def sample_variance(values: Sequence[float]) -> float:
    """Sample variance (n − 1); 0 under two values."""
    if len(values) < 2:
        return 0.0
    centre = mean(values)
    return fsum((value - centre) ** 2 for value in values) / (len(values) - 1)


def sample_sd(values: Sequence[float]) -> float:
    """Sample standard deviation; 0 under two values."""
    return sqrt(sample_variance(values))


def agreement(scores: Sequence[float]) -> float:
    """max(0, 1 − sd/|mean|), in [0, 1]; 1 when the mean is 0 (V1.1, whose scores are never negative). Needs one score."""
    centre = mean(scores)
    return 1.0 if centre == 0 else max(0.0, 1.0 - sample_sd(scores) / abs(centre))


def z_outliers(scores: Mapping[str, float]) -> tuple[str, ...]:
    """The judges with |score − mean| / sd > 2, of at least three (V1.1).

    With n judges z cannot pass (n − 1)/√n, so this rule cannot fire under six judges; it is kept for comparison.
    """
    values = list(scores.values())
    deviation = sample_sd(values)
    if len(values) < MIN_JUDGES or deviation == 0:
        return ()
    centre = mean(values)
    return tuple(judge for judge, score in scores.items() if abs(score - centre) / deviation > Z_LIMIT)


def leave_one_out_outliers(scores: Mapping[str, float], scale_range: float) -> tuple[str, ...]:
    """The judges who stand apart from the mean of all others, of at least three.

    A judge is named when the distance to the others' mean exceeds both 2 sd of the others and 30 % of the scale's range:
    the first makes room for judges who differ anyway, the second keeps a step of one point silent where the others
    are of one mind (sd 0). On 0–5, {5, 5, 0} names the last judge and {4, 4, 5} nobody.

    Args:
        scores: the score of each judge, in units of the scale.
        scale_range: max − min of the scale, > 0.
    """
    if len(scores) < MIN_JUDGES:
        return ()
    apart: list[str] = []
    for judge, score in scores.items():
        others = [value for name, value in scores.items() if name != judge]
        if abs(score - mean(others)) > max(Z_LIMIT * sample_sd(others), APART_SHARE * scale_range):
            apart.append(judge)
    return tuple(apart)


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
