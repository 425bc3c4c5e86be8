"""Cohen's κ with quadratic weights: agreement beyond chance where a small miss counts less than a large one.

Source: J. Cohen, "Weighted kappa" (1968). With quadratic weights κ = 1 − Σ(x − y)² / (mean over all pairs (x − y)²), which is
2·cov/(var x + var y + (mean x − mean y)²): J. Fleiss, J. Cohen, "The equivalence of weighted kappa and the intraclass correlation
coefficient as measures of reliability" (1973). κ is made for steps: scores are rounded to whole points first, halves upwards.
"""

import numpy as np

from areopage.scoring.correlation import MIN_PAIRS, RESAMPLES, TINY, Column, Estimate, percentiles, resampled_moments


def whole_points(values: Column) -> Column:
    """Scores rounded to whole points, halves upwards; the last bit of a mean does not decide."""
    points: Column = np.floor(values.round(9) + 0.5)
    return points


def weighted_kappa(first: Column, second: Column) -> float | None:
    """Quadratic κ in [−1, 1] of scores that are whole points; None where all scores on both sides are the same one."""
    variances = float(first.var() + second.var())
    apart = variances + float(first.mean() - second.mean()) ** 2
    if first.size == 0 or apart == 0:
        return None
    return 2 * float(((first - first.mean()) * (second - second.mean())).mean()) / apart


def kappa_estimate(first: Column, second: Column, resamples: int = RESAMPLES, seed: int = 0) -> Estimate:
    """Quadratic κ of scores, rounded to whole points, with the percentile bootstrap's interval over items.

    Args:
        resamples: of the bootstrap.
        seed: of the bootstrap.
    """
    if first.size < MIN_PAIRS:
        return Estimate(reason="few")
    left, right = whole_points(first), whole_points(second)
    value = weighted_kappa(left, right)
    if value is None:
        return Estimate(reason="constant")
    if bool((left == right).all()):
        return Estimate(value=1.0, reason="perfect")
    found = resampled_moments(left, right, resamples, seed)
    apart = found.first + found.second + found.apart**2
    inner = percentiles(2 * found.both[apart > TINY] / apart[apart > TINY])
    return Estimate(value=value, low=inner.low if inner else None, high=inner.high if inner else None)
