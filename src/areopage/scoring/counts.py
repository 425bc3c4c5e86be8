"""Counted scores: their grades and histograms; and the quantiles of Student's distribution (W. S. Gosset, 1908)."""

import math
from collections.abc import Mapping
from functools import lru_cache
from typing import Literal

from msgspec import Struct

from areopage.criteria import Scale

Grade = Literal["excellent", "acceptable", "weak", "unscored"]
"""Over 80 % of the scale, from 60 % to 80 %, under 60 %: over 8, 6 to 8, under 6 on a scale of 0 to 10."""

DECIMALS = 2
"""Scores are counted, and put into grades, as they are shown: rounded to this number of decimals."""

STEPS = 10
LEVEL = 0.95

EXCELLENT_ABOVE, WEAK_UNDER = 0.8, 0.6
"""Shares of the scale at which the grades part."""

CRITICAL_SHARE = 0.3
"""Share of the scale, from its bad end, at which a critical criterion makes an answer weak."""

_NORMAL_QUANTILE = 1.959963984540054  # of 0.975
_SHARE_DECIMALS = 9  # 8.0 is 80 % of the scale, in spite of binary fractions


class ScoreTally(Struct, frozen=True):
    """How many answers got each score. Counts are positive; scores are in units of the suite's scale."""

    counts: Mapping[float, int] = {}

    @property
    def answers(self) -> int:
        """How many answers."""
        return sum(self.counts.values())

    @property
    def mean(self) -> float | None:
        """The mean score, None without answers."""
        answers = self.answers
        return math.fsum(score * count for score, count in self.counts.items()) / answers if answers else None

    def grades(self, scale: Scale) -> tuple[int, int, int]:
        """How many answers are excellent, acceptable and weak; see `grade_of`."""
        counts: dict[Grade, int] = {"excellent": 0, "acceptable": 0, "weak": 0}
        for score, count in self.counts.items():
            counts[grade_of(score, scale)] += count
        return counts["excellent"], counts["acceptable"], counts["weak"]

    def histogram(self, scale: Scale) -> tuple[int, ...]:
        """How many answers lie in each of ten equal steps of the scale, from its low end to its high end.

        A step takes its lower end; the last one takes both. Scores beyond the scale (there was another once) go to the end steps.
        """
        steps = [0] * STEPS
        for score, count in self.counts.items():
            share = round((score - scale.min) / (scale.max - scale.min), _SHARE_DECIMALS)
            steps[min(max(int(share * STEPS), 0), STEPS - 1)] += count
        return tuple(steps)


def grade_of(score: float | None, scale: Scale) -> Grade:
    """The grade of a score, rounded as it is shown; where lower is better, shares of the scale are taken from its other end."""
    if score is None:
        return "unscored"
    share = (round(score, DECIMALS) - scale.min) / (scale.max - scale.min)
    better = round(share if scale.higher_is_better else 1.0 - share, _SHARE_DECIMALS)
    if better > EXCELLENT_ABOVE:
        return "excellent"
    return "weak" if better < WEAK_UNDER else "acceptable"


def critical_floor(severity: str | None, critical_limit: float | None, scale: Scale) -> float | None:
    """The score of a criterion from which on an answer is weak, whatever its global score; None for none.

    It is the limit that the suite states, else for a critical criterion 30 % of the scale from its bad end.
    """
    if critical_limit is not None or severity != "critical":
        return critical_limit
    way = CRITICAL_SHARE * (scale.max - scale.min)
    return round(scale.min + way if scale.higher_is_better else scale.max - way, _SHARE_DECIMALS)


def grade_limits(scale: Scale) -> tuple[float, float]:
    """Where the grade "acceptable" begins and ends on a scale; the first is the greater one where lower is better."""
    start, width = (scale.min, scale.max - scale.min) if scale.higher_is_better else (scale.max, scale.min - scale.max)
    return start + WEAK_UNDER * width, start + EXCELLENT_ABOVE * width


def two_sided_p(t: float, freedom: float) -> float:
    """The probability that Student's t with `freedom` degrees of freedom (>= 1) is at least as far from 0 as `t`."""
    return _beta_share(freedom / 2, t * t / (freedom + t * t), freedom / (freedom + t * t))


@lru_cache(maxsize=4096)
def critical_t(freedom: float, level: float = LEVEL) -> float:
    """How far from 0 Student's t stays with probability `level`, for degrees of freedom >= 1 and a level >= 0.95.

    Newton's method on the two-sided tail, which is convex and falling: from a start on the low side it closes in without ever
    passing the root. Agrees with SciPy to eight digits. For the level of intervals and many degrees of freedom it starts, and all
    but ends, at the first terms of the expansion about the normal quantile (Abramowitz and Stegun 26.7.5).
    """
    t, tail = _NORMAL_QUANTILE, 1.0 - level
    if level == LEVEL and freedom >= 30:
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
