"""How far a judge agrees with people, criterion by criterion, and whether its correlation with them is over 0.8.

An item's score by people is the mean of its raters' labels. Each item counts once, however many raters it had. Source of the
bound: answer-quality specification, criteria of success.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from math import atanh, ceil, isfinite, sqrt
from statistics import NormalDist, fmean
from typing import Literal

import msgspec
import numpy as np
from msgspec import Struct

from areopage.scoring.arrays import Column, Matrix
from areopage.scoring.chance_agreement import MIN_UNITS, Alpha, krippendorff_alpha
from areopage.scoring.correlation import (
    MIN_PAIRS,
    PERFECT,
    TINY,
    Correlation,
    Estimate,
    Missing,
    pearson,
    pearson_estimate,
    spearman_estimate,
    z_range,
)
from areopage.scoring.intervals.coefficients import coefficient_interval
from areopage.scoring.intervals.means import mean_interval

MOST_RATERS = 200
"""Of more raters no pairs are compared: the pairs grow with their square."""

BOUND = 0.8
CERTAINTY = 0.95
MIN_SETTLED = 20
"""With fewer items nothing is settled: z is too rough there for scores in whole points."""

MOST_NEEDED = 100_000
WORST = 20
ClaimVerdict = Literal["holds", "does_not_hold", "not_settled"]
JudgeScores = Mapping[str, Mapping[str, float]]
"""Criterion -> item -> score."""


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


def kappa_estimate(first: Column, second: Column, ends: tuple[float, float]) -> Estimate:
    """Quadratic κ of scores, rounded to whole points, with its interval over items; `ends` are those of the scale."""
    if first.size < MIN_PAIRS:
        return Estimate(reason="few")
    left, right = whole_points(first), whole_points(second)
    value = weighted_kappa(left, right)
    if value is None:
        return Estimate(reason="constant")
    if bool((left == right).all()):
        return Estimate(value=1.0, reason="perfect")
    pairs, times = np.unique(np.stack([left, right], axis=1), axis=0, return_counts=True)
    counts = times.astype(np.float64)
    end = max(ends, key=lambda end: abs(end - float(pairs.mean(axis=1) @ counts / counts.sum())))
    agreed = weighted_kappa(np.append(left, end), np.append(right, end))
    interval = coefficient_interval(value, _kappas_without(pairs, counts), counts, value if agreed is None else agreed)
    if interval is None:
        return Estimate(value=value, reason="constant")
    return Estimate(value=value, low=interval[0], high=interval[1])


def _kappas_without(pairs: Matrix, counts: Column) -> Column:
    """Quadratic κ without one item of each pair of scores; NaN where all scores that are left are the same one."""
    kept = counts - np.eye(len(counts))
    items = kept.sum(axis=1)
    means = kept @ pairs / items[:, None]
    squares = kept @ pairs**2 / items[:, None]
    both = kept @ pairs.prod(axis=1) / items - means.prod(axis=1)
    apart = (squares - means**2).sum(axis=1) + (means[:, 0] - means[:, 1]) ** 2
    kappas: Column = np.divide(2 * both, apart, out=np.full_like(apart, np.nan), where=apart > TINY)
    return kappas


class RaterPair(Struct, frozen=True, kw_only=True):
    """Two raters on the items that both labelled, with Fisher's 95 % interval.

    `pearson` is None under four items or where one was constant, the interval also where they agree without exception.
    """

    first: str
    second: str
    items: int
    pearson: float | None
    low: float | None
    high: float | None


class RaterAgreement(Struct, frozen=True, kw_only=True):
    """People among themselves on one criterion.

    Args:
        items: those that at least two raters labelled.
        pearson: mean of the pairs' coefficients, weighed by their items; None where no pair has one.
        alpha: Krippendorff's, ordinal; None under five items.
        pairs: those with an item in common, most items first.
    """

    items: int
    pearson: float | None
    alpha: Alpha
    pairs: tuple[RaterPair, ...]


def rater_agreement(labels: Mapping[str, Mapping[str, float]]) -> RaterAgreement:
    """Compare raters with each other; labels are item -> rater -> score."""
    shared = [scores for scores in labels.values() if len(scores) > 1]
    raters = sorted({rater for scores in shared for rater in scores})
    units = [[scores.get(rater) for rater in raters] for scores in shared]
    table = np.array([[np.nan if score is None else score for score in unit] for unit in units], dtype=np.float64)
    pairs: list[RaterPair] = []
    if len(raters) <= MOST_RATERS:
        for left, right in combinations(range(len(raters)), 2):
            both = ~np.isnan(table[:, left]) & ~np.isnan(table[:, right])
            if both.any():
                first, second = table[both, left], table[both, right]
                value = pearson(first, second) if first.size >= MIN_PAIRS else None
                inner = None if value is None or abs(value) > PERFECT else z_range(value, 1 / sqrt(first.size - 3))
                pairs.append(
                    RaterPair(
                        first=raters[left],
                        second=raters[right],
                        items=first.size,
                        pearson=value,
                        low=inner.low if inner else None,
                        high=inner.high if inner else None,
                    )
                )
    alpha = krippendorff_alpha(units)
    measured = [(pair.pearson, pair.items) for pair in pairs if pair.pearson is not None]
    items = sum(count for _, count in measured)
    return RaterAgreement(
        items=len(shared),
        pearson=sum(value * count for value, count in measured) / items if items else None,
        alpha=alpha if alpha.units >= MIN_UNITS else msgspec.structs.replace(alpha, alpha=None),
        pairs=tuple(sorted(pairs, key=lambda pair: (-pair.items, pair.first, pair.second))),
    )


class Rating(Struct, frozen=True, kw_only=True):
    """One rater's score of one item on one criterion; "" is the overall score."""

    item: str
    rater: str
    criterion: str
    score: float


class CorrelationClaim(Struct, frozen=True, kw_only=True):
    """Whether the true correlation is over `bound`.

    Args:
        certainty: that it is, in [0, 1]; None where there is no coefficient.
        verdict: settled from 95 % on, either way, and never under 20 items.
        needed: how many items in all would settle it if the coefficient stayed; None where it is settled, where there is no
            coefficient, and where it lies so near the bound that 100,000 would not do.
        reason: why there is no coefficient; `selected`: other answers than those of a random sample count, which settle nothing.
    """

    bound: float
    certainty: float | None
    verdict: ClaimVerdict
    needed: int | None
    reason: Missing | Literal["selected"] = ""


class CriterionAgreement(Struct, frozen=True, kw_only=True):
    """A judge against people on one criterion; "" is the overall score. Scores are in points of their scale.

    Args:
        items: those with a score on both sides; everything but `raters` is over these.
        labels: of people on these items.
        without_judge: labelled items that the judge gave no score.
        kappa: quadratic κ, of scores rounded to whole points.
        error: mean absolute difference; None without items.
        bias: mean of judge − people, with its 95 % interval; see `intervals.means`.
        raters: how far people agree among themselves, on all items they labelled.
    """

    criterion: str
    items: int
    labels: int
    without_judge: int
    pearson: Correlation
    spearman: Estimate
    kappa: Estimate
    error: float | None
    bias: Estimate
    claim: CorrelationClaim
    raters: RaterAgreement


class Disagreement(Struct, frozen=True, kw_only=True):
    """An item where judge and people are far apart; `difference` is judge − people."""

    item: str
    criterion: str
    judge: float
    people: float
    difference: float
    raters: int


class HumanAgreement(Struct, frozen=True, kw_only=True):
    """A judge against people. `worst` has each item once, the farthest apart first."""

    items: int
    labels: int
    raters: tuple[str, ...]
    criteria: tuple[CriterionAgreement, ...]
    worst: tuple[Disagreement, ...]

    @classmethod
    def of(
        cls,
        judge: JudgeScores,
        ratings: Sequence[Rating],
        scales: Mapping[str, tuple[float, float]],
        originals: Sequence[Rating] | None = None,
    ) -> "HumanAgreement":
        """Measure a judge against people, on the criteria of `scales`; of several labels of one rater the last counts.

        Args:
            originals: what raters said before disagreements were decided, by which they are compared with each other; None: the
                ratings.
        """
        wanted = [rating for rating in ratings if rating.criterion in scales and isfinite(rating.score)]
        tables = _tables(wanted, scales)
        by_raters = tables if originals is None else _tables(originals, scales)
        parts = [
            _criterion_agreement(criterion, judge.get(criterion, {}), tables[criterion], by_raters[criterion], ends)
            for criterion, ends in scales.items()
        ]
        return cls(
            items=len({rating.item for rating in wanted}),
            labels=sum(len(labels) for table in tables.values() for labels in table.values()),
            raters=tuple(sorted({rating.rater for rating in wanted})),
            criteria=tuple(parts),
            worst=tuple(_disagreements(judge, tables)[:WORST]),
        )


def _tables(ratings: Iterable[Rating], criteria: Iterable[str]) -> dict[str, dict[str, dict[str, float]]]:
    """The finite scores of criteria: criterion -> item -> rater -> score."""
    tables: dict[str, dict[str, dict[str, float]]] = {criterion: {} for criterion in criteria}
    for rating in ratings:
        if rating.criterion in tables and isfinite(rating.score):
            tables[rating.criterion].setdefault(rating.item, {})[rating.rater] = rating.score
    return tables


def _criterion_agreement(
    criterion: str,
    judge: Mapping[str, float],
    labels: Mapping[str, Mapping[str, float]],
    by_raters: Mapping[str, Mapping[str, float]],
    ends: tuple[float, float],
) -> CriterionAgreement:
    """One criterion's figures; `judge` is item -> score, `labels` and `by_raters` (as raters labelled) item -> rater -> score,
    and `ends` are those of the scale."""
    items = [item for item in labels if item in judge]
    first = np.array([judge[item] for item in items], dtype=np.float64)
    second = np.array([fmean(list(labels[item].values())) for item in items], dtype=np.float64)
    correlation = pearson_estimate(first, second)
    bias = Estimate(value=float((first - second).mean()) if items else None, reason="few")
    if len(items) >= MIN_PAIRS:
        low, high = mean_interval(first - second, ends[0] - ends[1], ends[1] - ends[0])
        bias = Estimate(value=bias.value, low=low, high=high)
    return CriterionAgreement(
        criterion=criterion,
        items=len(items),
        labels=sum(len(labels[item]) for item in items),
        without_judge=len(labels) - len(items),
        pearson=correlation,
        spearman=spearman_estimate(first, second),
        kappa=kappa_estimate(first, second, ends),
        error=float(np.abs(first - second).mean()) if items else None,
        bias=bias,
        claim=claim_of(correlation, len(items)),
        raters=rater_agreement(by_raters),
    )


def claim_of(correlation: Correlation, items: int) -> CorrelationClaim:
    """Whether the true correlation is over `BOUND`.

    Fisher's z of the coefficient and of the bound are compared in units of the coefficient's standard error.
    """
    if correlation.value is None or correlation.error is None:
        return CorrelationClaim(bound=BOUND, certainty=None, verdict="not_settled", needed=None, reason=correlation.reason)
    distance = atanh(min(PERFECT, max(-PERFECT, correlation.value))) - atanh(BOUND)
    certainty = NormalDist().cdf(distance / correlation.error)
    if items >= MIN_SETTLED and certainty >= CERTAINTY:
        return CorrelationClaim(bound=BOUND, certainty=certainty, verdict="holds", needed=None)
    if items >= MIN_SETTLED and certainty <= 1 - CERTAINTY:
        return CorrelationClaim(bound=BOUND, certainty=certainty, verdict="does_not_hold", needed=None)
    needed = items_needed(distance, correlation.error * sqrt(items - 3))
    return CorrelationClaim(bound=BOUND, certainty=certainty, verdict="not_settled", needed=needed)


def items_needed(distance: float, unit_error: float) -> int | None:
    """How many items settle a distance in z, at 95 % on one side; None over `MOST_NEEDED`.

    `unit_error` is the standard error of z times √(n − 3): 1 where scores are normal.
    """
    if distance == 0:
        return None
    needed = 3 + (NormalDist().inv_cdf(CERTAINTY) * unit_error / distance) ** 2
    return None if needed > MOST_NEEDED else max(MIN_SETTLED, ceil(needed))


def _disagreements(judge: JudgeScores, tables: Mapping[str, Mapping[str, Mapping[str, float]]]) -> list[Disagreement]:
    """Every item's largest difference, the largest first; where they agree to the point, it is left out."""
    largest: dict[str, Disagreement] = {}
    for criterion, labels in tables.items():
        for item, scores in labels.items():
            score = judge.get(criterion, {}).get(item)
            if score is None:
                continue
            people = fmean(list(scores.values()))
            disagreement = Disagreement(
                item=item, criterion=criterion, judge=score, people=people, difference=score - people, raters=len(scores)
            )
            if item not in largest or abs(disagreement.difference) > abs(largest[item].difference):
                largest[item] = disagreement
    apart = [disagreement for disagreement in largest.values() if disagreement.difference != 0]
    return sorted(apart, key=lambda disagreement: (-abs(disagreement.difference), disagreement.item))
