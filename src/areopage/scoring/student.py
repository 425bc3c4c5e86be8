"""Quantiles of Student's t, for intervals of means.

Sources: M. Abramowitz, I. Stegun, "Handbook of Mathematical Functions" (1964), 26.7.3 and 26.7.4 (the distribution as a finite
sum, whole degrees of freedom) and 26.7.5 (expansion about the normal quantile).
"""

from math import atan, cos, fsum, pi, sin, sqrt
from statistics import NormalDist

EXACT_UNTIL = 60
"""Beyond so many degrees of freedom the expansion is right to 1e-8."""

_STEPS = 200


def t_quantile(probability: float, freedom: int) -> float:
    """The value that Student's t stays under with a probability.

    Args:
        probability: in (0.5, 1).
        freedom: degrees of freedom, from 1.
    """
    if freedom > EXACT_UNTIL:
        return expansion(NormalDist().inv_cdf(probability), freedom)
    low, high = 0.0, 1.0
    while inner_share(high, freedom) < 2 * probability - 1:
        high *= 2
    for _ in range(_STEPS):
        middle = (low + high) / 2
        if middle in (low, high):
            break
        low, high = (middle, high) if inner_share(middle, freedom) < 2 * probability - 1 else (low, middle)
    return high


def inner_share(value: float, freedom: int) -> float:
    """The probability that |t| stays under a value ≥ 0."""
    angle = atan(value / sqrt(freedom))
    square = cos(angle) ** 2
    if freedom % 2:
        term, total = cos(angle), 0.0
        for step in range(1, (freedom - 1) // 2 + 1):
            total += term
            term *= square * (2 * step) / (2 * step + 1)
        return 2 / pi * (angle + sin(angle) * total)
    term, total = 1.0, 0.0
    for step in range(1, freedom // 2 + 1):
        total += term
        term *= square * (2 * step - 1) / (2 * step)
    return sin(angle) * total


def expansion(normal: float, freedom: int) -> float:
    """The quantile of t from the normal one, by powers of 1/freedom."""
    square = normal * normal
    parts = (
        (square + 1) / 4,
        ((5 * square + 16) * square + 3) / 96,
        (((3 * square + 19) * square + 17) * square - 15) / 384,
        ((((79 * square + 776) * square + 1482) * square - 1920) * square - 945) / 92160,
    )
    return normal * (1 + fsum(part / float(freedom) ** power for power, part in enumerate(parts, start=1)))
