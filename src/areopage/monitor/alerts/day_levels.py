"""Falls of a level from one day to another, found day by day against the weeks before.

The answers of one day have something in common, so that a day, not an answer, is what counts. The mean of a day varies with
variance τ² + σ²/n: between days, and within a day of n answers. Both are estimated from the days themselves (τ² by the method of
moments of R. DerSimonian and N. Laird, "Meta-analysis in clinical trials", 1986), and days are weighted by the inverse.

For each day on which a fall may have begun, the days since then are compared with up to 28 days before by the ratio of
likelihoods of Student's statistic: with a fall of some size, and with none. It depends on neither level nor variance. The sum
over these days is the statistic of A. N. Shiryaev (1963) and S. W. Roberts (1966): without a fall its mean grows by 1 a day, so
that the mean time to a false alarm at a limit A is at least A days (M. Pollak, "Average run lengths of an optimal method of
detecting a change in distribution", 1987). With A = 365 times the number of tests there is at most one false alarm a year over
all of them.

The comparison by betting (`comparison.sequential`) needs scores that are independent; here it would take each answer of a bad
Monday as evidence of its own, and a bettor on bounded means of days wins too slowly.
"""

from collections.abc import Sequence

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

Column = NDArray[np.float64]

LEAST_REFERENCE, MOST_REFERENCE = 7, 28
"""Days that a reference has."""
MOST_AFTER = 14
"""A fall that began earlier is no longer looked for: it has become part of the reference."""
DAYS_A_YEAR = 365.0
RECOVERY = 50.0
"""An incident is called over with a probability of at most 1/`RECOVERY` while no more than half of its fall is made up."""
HALF_SPENT = 14
"""Days since the report on which half of this probability is spent."""
LEAST_RETURN, MOST_RETURN = 3, 56
"""Days that a level has been back when it is called so."""

_SIZES = np.array([1.2, 2.0, 3.5, 7.0])
"""Differences that are bet on, in standard deviations of a day."""
_LEAST_VARIANCE = 1e-12


class DayLevels(Struct, frozen=True):
    """What is known of each day: arrays whose last axis is the days; the others are tests, such as sources and measures.

    Args:
        answers: how many; 0 leaves the day out.
        means, variances: of their scores, where higher is better; any value where there are no answers.
    """

    answers: Column
    means: Column
    variances: Column

    @property
    def arrays(self) -> tuple[Column, Column, Column]:
        """The three arrays."""
        return self.answers, self.means, self.variances

    def masked(self, out: NDArray[np.bool_]) -> "DayLevels":
        """The same without some days."""
        return DayLevels(np.where(out, 0.0, self.answers), self.means, self.variances)


class Falls(Struct, frozen=True):
    """What each test found on the last day.

    Args:
        evidence: the statistic, to be compared with `limit_of`; 0 where there is no reference.
        points: by how much the mean fell since `after` days; an estimate, 0 where nothing was compared.
        after: on how many of the last days, as most likely.
        reference: how many days the reference has.
        level: its mean.
    """

    evidence: Column
    points: Column
    after: NDArray[np.int64]
    reference: NDArray[np.int64]
    level: Column


class _Compared(Struct, frozen=True):
    points: Column
    uncertainty: Column
    freedom: Column
    weight: Column
    days: NDArray[np.int64]
    before: Column
    enough: NDArray[np.bool_]


def with_all(scores: DayLevels) -> DayLevels:
    """The sources and, as a last one, all of them together; a single source stays as it is.

    A source counts by how far it is from its own mean over all days, so that another mix of sources is no fall.
    The arrays have the shape (…, sources, measures, days).
    """
    if scores.answers.shape[-3] == 1:
        return scores
    answers, totals = scores.answers, np.maximum(scores.answers.sum(-1, keepdims=True), 1.0)
    within = (answers * scores.means).sum(-1, keepdims=True) / totals
    count = answers.sum(-3, keepdims=True)
    whole = np.maximum(count, 1.0)
    grand = (answers * scores.means).sum((-3, -1), keepdims=True) / np.maximum(answers.sum((-3, -1), keepdims=True), 1.0)
    means = (answers * (scores.means - within)).sum(-3, keepdims=True) / whole + grand
    variances = (answers * scores.variances).sum(-3, keepdims=True) / whole
    joined = [(answers, count), (scores.means, means), (scores.variances, variances)]
    return DayLevels(*(np.concatenate(pair, axis=-3) for pair in joined))


def limit_of(tests: int) -> float:
    """From which evidence on a fall is reported: at most one false alarm a year over all tests."""
    return DAYS_A_YEAR * max(tests, 1)


def find_falls(scores: DayLevels) -> Falls:
    """Look for a fall that lasts to the last day.

    Args:
        scores: of complete days, the newest last; days that must not be in a reference have 0 answers.
    """
    shape = scores.answers.shape[:-1]
    total, best = np.zeros(shape), np.zeros(shape)
    points, level = np.zeros(shape), np.zeros(shape)
    after, reference = np.zeros(shape, np.int64), np.zeros(shape, np.int64)
    days = scores.answers.shape[-1]
    has_answers = scores.answers[..., -1] > 0
    for length in range(1, min(MOST_AFTER, days - LEAST_REFERENCE) + 1):
        begins = scores.answers[..., days - length] > 0
        since = days - length
        before, after_it = slice(max(0, since - MOST_REFERENCE), since), slice(since, None)
        fall = _compare(scores, [(before, 1.0), (after_it, -1.0)])
        ratio = np.where(has_answers & begins & fall.enough, _ratio(fall), 0.0)
        total += ratio
        better = ratio > best
        best = np.where(better, ratio, best)
        points, level = np.where(better, fall.points, points), np.where(better, fall.before, level)
        after, reference = np.where(better, length, after), np.where(better, fall.days, reference)
    return Falls(total, points, after, reference, level)


def days_back(scores: DayLevels, reference: int, age: int, least: float) -> NDArray[np.int64]:
    """For how many of the last days the level before a fall has been back; 0: it is not back, as far as is known.

    For each day since the report on which the level may have come back, the days since are compared with the middle between the
    reference and the fallen days before it. At the middle or under it each ratio of likelihoods reaches its limit with
    probability 1/limit at most, over all days to come (J. Ville, 1939). The limits grow with the day of return, so that these
    probabilities add up to 1/`RECOVERY`.

    Args:
        scores: the reference of the fall in the first days, then those since it began, without gaps from the report on.
        reference: how many days the reference takes.
        age: how many days have passed since the report.
        least: how far under the reference the mean of the days since is no longer the level before.
    """
    days = scores.answers.shape[-1]
    back = np.zeros(scores.answers.shape[:-1], np.int64)
    has_answers = scores.answers[..., -1] > 0
    for length in range(LEAST_RETURN, min(age, days - reference - 1, MOST_RETURN) + 1):
        since, number = days - length, age - length + HALF_SPENT
        fallen = slice(max(reference, since - MOST_REFERENCE), since)
        middle = _compare(scores, [(slice(0, reference), -0.5), (fallen, -0.5), (slice(since, None), 1.0)])
        enough = has_answers & middle.enough & (scores.answers[..., since] > 0)
        likely = enough & (_ratio(middle) >= RECOVERY * number * (number + 1) / HALF_SPENT)
        if likely.any():
            back[likely & (shortfall(scores, reference, length) < least)] = length
    return back


def shortfall(scores: DayLevels, reference: int, length: int) -> Column:
    """By how much the mean of the last days is under that of the reference in the first days; -inf where it has too few days."""
    level = _compare(scores, [(slice(0, reference), 1.0), (slice(-length, None), -1.0)])
    return np.where(level.enough, level.points, -np.inf)


def _compare(scores: DayLevels, sides: Sequence[tuple[slice, float]]) -> _Compared:
    """Compare the means of groups of days, the reference first: each counts with a factor, and the factors add up to 0."""
    groups = [(scores.answers[..., side], scores.means[..., side], scores.variances[..., side]) for side, _ in sides]
    factors = [factor for _, factor in sides]
    numbers = [(answers > 0).sum(-1) for answers, _, _ in groups]
    within = sum((answers * variances).sum(-1) for answers, _, variances in groups) / np.maximum(
        sum(answers.sum(-1) for answers, _, _ in groups), 1.0
    )
    within = np.maximum(within, _LEAST_VARIANCE)[..., None]
    freedom = np.maximum(sum(numbers) - len(sides), 1).astype(float)
    between = _between([(answers, means) for answers, means, _ in groups], within, freedom)
    spread, points, scale, inverse = (np.zeros(freedom.shape) for _ in range(4))
    before = points
    for place, (answers, means, _) in enumerate(groups):
        weights = np.where(answers > 0, 1.0 / (between[..., None] + within / np.maximum(answers, 1.0)), 0.0)
        total = np.maximum(weights.sum(-1), _LEAST_VARIANCE)
        centre = (weights * means).sum(-1) / total
        spread += (weights * (means - centre[..., None]) ** 2).sum(-1)
        points = points + factors[place] * centre
        scale += factors[place] ** 2 / total
        inverse += factors[place] ** 2 / np.maximum(numbers[place], 1)
        before = centre if place == 0 else before
    return _Compared(
        points=points,
        uncertainty=np.sqrt(np.maximum(spread / freedom, 1.0) * scale),
        freedom=freedom,
        weight=1.0 / np.sqrt(inverse),
        days=numbers[0],
        before=before,
        enough=(numbers[0] >= LEAST_REFERENCE) & np.all([number > 0 for number in numbers], axis=0),
    )


def _between(sides: list[tuple[Column, Column]], within: Column, freedom: Column) -> Column:
    """The variance between days, by the method of moments around the mean of each side; not under 0."""
    excess, scale = -freedom, np.zeros(freedom.shape)
    for answers, means in sides:
        weights = answers / within
        total = np.maximum(weights.sum(-1), _LEAST_VARIANCE)
        centre = (weights * means).sum(-1) / total
        excess = excess + (weights * (means - centre[..., None]) ** 2).sum(-1)
        scale = scale + total - (weights**2).sum(-1) / total
    return np.asarray(np.maximum(excess, 0.0) / np.maximum(scale, _LEAST_VARIANCE))


def _ratio(compared: _Compared) -> Column:
    """The likelihood of Student's statistic with a difference over that without one, a mean over sizes of a difference.

    With λ the expected statistic the ratio is exp(−λ²/2) · E exp(λ·t·w/√(ν + t²)), w of a χ distribution of ν + 1 degrees
    of freedom; the mean is taken by Laplace's method.
    """
    statistic = compared.points / compared.uncertainty
    freedom = compared.freedom[..., None]
    expected = _SIZES * compared.weight[..., None]
    pull = expected * (statistic / np.sqrt(compared.freedom + statistic**2))[..., None]
    top, base = (pull + np.sqrt(pull**2 + 4.0 * freedom)) / 2.0, np.sqrt(freedom)
    logs = pull * top - (top**2 - base**2) / 2.0 + freedom * np.log(top / base)
    logs += 0.5 * np.log(2.0 / (1.0 + freedom / top**2)) - expected**2 / 2.0
    return np.asarray(np.exp(np.minimum(logs, 600.0)).mean(-1))
