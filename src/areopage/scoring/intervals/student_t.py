"""The quantiles of Student's distribution (W. S. Gosset, 1908)."""

import math
from functools import lru_cache

LEVEL = 0.95
_NORMAL_QUANTILE = 1.959963984540054  # of 0.975


def two_sided_p(t: float, freedom: float) -> float:
    """The probability that Student's t with `freedom` degrees of freedom (>= 1) is at least as far from 0 as `t`."""
    return _beta_share(freedom / 2, t * t / (freedom + t * t), freedom / (freedom + t * t))


@lru_cache(maxsize=4096)
def critical_t(freedom: float) -> float:
    """How far from 0 Student's t stays with the probability `LEVEL`, for degrees of freedom >= 1.

    Newton's method on the two-sided tail, which is convex and falling: from a start on the low side it closes in without ever
    passing the root. Agrees with SciPy to eight digits. For many degrees of freedom it starts, and all but ends, at the first
    terms of the expansion about the normal quantile (Abramowitz and Stegun 26.7.5).
    """
    t, tail = _NORMAL_QUANTILE, 1.0 - LEVEL
    if freedom >= 30:
        z = _NORMAL_QUANTILE
        t = z + (z**3 + z) / (4 * freedom) + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * freedom**2)
    for _ in range(100):
        step = (two_sided_p(t, freedom) - tail) / (2.0 * _density(t, freedom))
        t += step
        if abs(step) < 1e-12 * t:
            break
    return t


def _density(t: float, freedom: float) -> float:
    return math.exp(-_log_beta_half(freedom / 2) - math.log(freedom) / 2 - (freedom + 1) / 2 * math.log1p(t * t / freedom))


def _log_beta_half(a: float) -> float:
    """log B(a, 1/2), for a >= 1/2. For large a the difference of two large logarithms would lose digits: Stirling's series."""
    if a < 50:
        return math.lgamma(a) + math.lgamma(0.5) - math.lgamma(a + 0.5)
    return math.lgamma(0.5) - math.log(a) / 2 + 1 / (8 * a) - 1 / (192 * a**3) + 1 / (640 * a**5)


def _beta_share(a: float, above: float, below: float) -> float:
    """The regularised incomplete beta function I_x(a, 1/2) at x = `below` = 1 - `above`; both are given to keep their digits."""
    if above <= 0.0:
        return 1.0
    if below <= 0.0:
        return 0.0
    log_below = math.log1p(-above) if above < 0.5 else math.log(below)
    front = math.exp(a * log_below + 0.5 * math.log(above) - _log_beta_half(a))
    if below < (a + 1) / (a + 2.5):
        return min(1.0, front * _beta_fraction(a, 0.5, below) / a)
    return max(0.0, 1.0 - front * _beta_fraction(0.5, a, above) / 0.5)


def _beta_fraction(a: float, b: float, x: float) -> float:
    """The continued fraction of the incomplete beta function (Abramowitz and Stegun 26.5.8), by Lentz's method."""
    tiny = 1e-300
    c, d = 1.0, 1.0 / _not_zero(1.0 - (a + b) * x / (a + 1.0), tiny)
    value = d
    for m in range(1, 10_000):
        even = m * (b - m) * x / ((a + 2 * m - 1.0) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1.0))
        for term in (even, odd):
            d = 1.0 / _not_zero(1.0 + term * d, tiny)
            c = _not_zero(1.0 + term / c, tiny)
            value *= c * d
        if abs(c * d - 1.0) < 1e-15:
            break
    return value


def _not_zero(value: float, tiny: float) -> float:
    return value if abs(value) > tiny else tiny
