"""Statistics over counted scores: how often each score was given is all that means, intervals, grades and comparisons need.

Intervals are Student's (W. S. Gosset, 1908), comparisons of two means Welch's ("The generalization of Student's problem when
several different population variances are involved", Biometrika 34, 1947). Both take groups of equal answers, and the answers
that have no equal, as independent of each other: the variance of a mean is that of clusters (K.-Y. Liang and S. L. Zeger, 1986).
"""

import math
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Literal, NamedTuple

from msgspec import Struct, structs

from areopage.criteria.records import Scale

Grade = Literal["excellent", "acceptable", "weak", "unscored"]
"""Over 80 % of the scale, from 60 % to 80 %, under 60 %: over 8, 6 to 8, under 6 on a scale of 0 to 10."""

STEP = 1.0
"""A tenth of a scale from 0 to 10."""

DECIMALS = 2
"""Scores are counted, and put into grades, as they are shown: rounded to so many decimals."""

STEPS = 10
LEVEL = 0.95

EXCELLENT_ABOVE, WEAK_UNDER = 0.8, 0.6
"""Shares of the scale at which the grades part."""

_NORMAL_QUANTILE = 1.959963984540054  # of 0.975
_SHARE_DECIMALS = 9  # 8.0 is 80 % of the scale, in spite of binary fractions
_SUM_ERROR = 1e-12  # the share of a sum that adding up a million binary fractions may be off by


class Comparison(Struct, frozen=True, kw_only=True):
    """A difference of two means, its 95 % interval in the same units, and the two-sided p-value in [0, 1]."""

    difference: float
    low: float
    high: float
    p_value: float


class Tally(Struct, frozen=True):
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

    @property
    def variance(self) -> float | None:
        """The sample variance, None under two answers."""
        answers, mean = self.answers, self.mean
        if answers < 2 or mean is None:
            return None
        return math.fsum(count * (score - mean) ** 2 for score, count in self.counts.items()) / (answers - 1)

    @property
    def interval(self) -> tuple[float, float] | None:
        """The 95 % interval of the mean, None under two answers; see `Moments.interval`."""
        return self.moments().interval

    def moments(self, step: float = STEP, repeats: "Sequence[Repeat]" = ()) -> "Moments":
        """The sums of these scores; see `Moments`."""
        total = math.fsum(score * count for score, count in self.counts.items())
        squares = math.fsum(score * score * count for score, count in self.counts.items())
        return Moments(self.answers, total, squares, tuple(repeats), step)

    def grades(self, scale: Scale) -> tuple[int, int, int]:
        """How many answers are excellent, acceptable and weak; see `grade_of`."""
        found: dict[Grade, int] = {"excellent": 0, "acceptable": 0, "weak": 0}
        for score, count in self.counts.items():
            found[grade_of(score, scale)] += count
        return found["excellent"], found["acceptable"], found["weak"]

    def histogram(self, scale: Scale) -> tuple[int, ...]:
        """How many answers lie in each of ten equal steps of the scale, from its low end to its high end.

        A step takes its lower end; the last one takes both. Scores beyond the scale (there was another once) go to the end steps.
        """
        steps = [0] * STEPS
        for score, count in self.counts.items():
            share = round((score - scale.min) / (scale.max - scale.min), _SHARE_DECIMALS)
            steps[min(max(int(share * STEPS), 0), STEPS - 1)] += count
        return tuple(steps)

    def merge(self, other: "Tally") -> "Tally":
        """The tally of both."""
        counts = dict(self.counts)
        for score, count in other.counts.items():
            counts[score] = counts.get(score, 0) + count
        return Tally(counts)


class Repeat(NamedTuple):
    """Several answers with equal texts: how many, and their mean score."""

    answers: int
    mean: float


class Moments(Struct, frozen=True):
    """How many answers there were, the sum of their scores, and the sum of their scores' squares, none of them rounded.

    Args:
        repeats: which of them have equal texts.
        step: a tenth of the scale.
    """

    answers: int = 0
    total: float = 0.0
    squares: float = 0.0
    repeats: tuple[Repeat, ...] = ()
    step: float = STEP

    @property
    def mean(self) -> float | None:
        """The mean score, None without answers."""
        return self.total / self.answers if self.answers else None

    @property
    def variance(self) -> float | None:
        """The sample variance, None under two answers; 0 where it is no more than the sums may be off by."""
        mean = self.mean
        if mean is None or self.answers < 2:
            return None
        spread = self.squares - self.total * mean
        return spread / (self.answers - 1) if spread > _SUM_ERROR * self.squares else 0.0

    @property
    def groups(self) -> int:
        """How many different answers: equal ones count as one."""
        return self.answers - sum(one.answers - 1 for one in self.repeats)

    @property
    def squared_error(self) -> float | None:
        """The variance of the mean, None under two groups.

        Where no group differs from another, it is as if one of them did by `step`: so few answers may hide such a one.
        """
        mean, variance, groups = self.mean, self.variance, self.groups
        if mean is None or variance is None or groups < 2:
            return None
        alike = math.fsum(one.answers * (one.answers - 1) * (one.mean - mean) ** 2 for one in self.repeats)
        spread = variance * (self.answers - 1) + alike
        if spread <= _SUM_ERROR * self.squares:
            return (self.step / groups) ** 2
        return spread / self.answers**2 * groups / (groups - 1)

    @property
    def interval(self) -> tuple[float, float] | None:
        """The 95 % interval of the mean, None under two groups.

        It is not cut at the ends of the scale, which it may reach past where answers are few.
        """
        mean, squared_error = self.mean, self.squared_error
        if mean is None or squared_error is None:
            return None
        half = critical_t(self.groups - 1) * math.sqrt(squared_error)
        return mean - half, mean + half

    def plus(self, answers: int, total: float, squares: float) -> "Moments":
        """With further answers."""
        return structs.replace(self, answers=self.answers + answers, total=self.total + total, squares=self.squares + squares)


def grade_of(score: float | None, scale: Scale) -> Grade:
    """The grade of a score, rounded as it is shown; where lower is better, shares of the scale are taken from its other end."""
    if score is None:
        return "unscored"
    share = (round(score, DECIMALS) - scale.min) / (scale.max - scale.min)
    better = round(share if scale.higher_is_better else 1.0 - share, _SHARE_DECIMALS)
    if better > EXCELLENT_ABOVE:
        return "excellent"
    return "weak" if better < WEAK_UNDER else "acceptable"


def grade_limits(scale: Scale) -> tuple[float, float]:
    """Where the grade "acceptable" begins and ends on a scale; the first is the greater one where lower is better."""
    start, width = (scale.min, scale.max - scale.min) if scale.higher_is_better else (scale.max, scale.min - scale.max)
    return start + WEAK_UNDER * width, start + EXCELLENT_ABOVE * width


def compare(later: Moments, earlier: Moments) -> Comparison | None:
    """How much the mean changed (later minus earlier), by Welch's test; None where a side has under two groups of answers."""
    mean1, mean2, part1, part2 = later.mean, earlier.mean, later.squared_error, earlier.squared_error
    if mean1 is None or mean2 is None or part1 is None or part2 is None:
        return None
    difference = 0.0 if math.isclose(mean1, mean2, rel_tol=_SUM_ERROR) else mean1 - mean2
    squared_error, n1, n2 = part1 + part2, later.groups, earlier.groups
    # Welch-Satterthwaite, in shares of the squared error so that tiny variances do not underflow
    share1, share2 = part1 / squared_error, part2 / squared_error
    freedom = 1.0 / (share1**2 / (n1 - 1) + share2**2 / (n2 - 1))
    error = math.sqrt(squared_error)
    half = critical_t(freedom) * error
    return Comparison(
        difference=difference, low=difference - half, high=difference + half, p_value=two_sided_p(difference / error, freedom)
    )


def two_sided_p(t: float, freedom: float) -> float:
    """The probability that Student's t with so many degrees of freedom (>= 1) is at least as far from 0 as `t`."""
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
