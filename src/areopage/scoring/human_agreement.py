"""How far a judge agrees with people, criterion by criterion, and whether its correlation with them is over 0.8.

An item's score by people is the mean of its raters' labels. Each item counts once, however many raters it had. Source of the
bound: answer-quality specification, criteria of success.
"""

from collections.abc import Mapping, Sequence
from math import atanh, ceil, isfinite, sqrt
from statistics import NormalDist
from typing import Literal

import numpy as np
from msgspec import Struct

from areopage.scoring.agreement import mean, sample_sd
from areopage.scoring.correlation import (
    MIN_PAIRS,
    PERFECT,
    RESAMPLES,
    Column,
    Correlation,
    Estimate,
    Missing,
    pearson_estimate,
    spearman_estimate,
)
from areopage.scoring.counts import critical_t
from areopage.scoring.rater_agreement import RaterAgreement, rater_agreement
from areopage.scoring.weighted_kappa import kappa_estimate

BOUND = 0.8
CERTAINTY = 0.95
MIN_SETTLED = 20
"""Under so many items nothing is settled: z is too rough there for scores in whole points."""

MOST_NEEDED = 100_000
WORST = 20

Verdict = Literal["holds", "does_not_hold", "not_settled"]


class Rating(Struct, frozen=True, kw_only=True):
    """One rater's score of one item on one criterion; "" is the overall score."""

    item: str
    rater: str
    criterion: str
    score: float


class Claim(Struct, frozen=True, kw_only=True):
    """Whether the true correlation is over `bound`.

    Args:
        certainty: that it is, in [0, 1]; None where there is no coefficient.
        verdict: settled from 95 % on, either way, and never under 20 items.
        needed: how many items in all would settle it if the coefficient stayed; None where it is settled, where there is no
            coefficient, and where it lies so near the bound that 100,000 would not do.
        reason: why there is no coefficient.
    """

    bound: float
    certainty: float | None
    verdict: Verdict
    needed: int | None
    reason: Missing = ""


class CriterionAgreement(Struct, frozen=True, kw_only=True):
    """A judge against people on one criterion; "" is the overall score. Scores are in points of their scale.

    Args:
        items: those with a score on both sides; everything but `raters` is over these.
        labels: of people on these items.
        without_judge: labelled items that the judge gave no score.
        kappa: quadratic κ, of scores rounded to whole points.
        error: mean absolute difference; None without items.
        bias: mean of judge − people, with Student's interval.
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
    claim: Claim
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


JudgeScores = Mapping[str, Mapping[str, float]]
"""Criterion -> item -> score."""


def human_agreement(
    judge: JudgeScores,
    ratings: Sequence[Rating],
    criteria: Sequence[str],
    *,
    worst: int = WORST,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> HumanAgreement:
    """Measure a judge against people.

    Args:
        ratings: at most one per item, rater and criterion (of several the last counts). Finite scores.
        criteria: which are measured, in this order.
        worst: how many disagreements are listed.
        resamples: of the bootstraps.
        seed: of the bootstraps.
    """
    wanted = [rating for rating in ratings if rating.criterion in set(criteria) and isfinite(rating.score)]
    tables: dict[str, dict[str, dict[str, float]]] = {criterion: {} for criterion in criteria}
    for rating in wanted:
        tables[rating.criterion].setdefault(rating.item, {})[rating.rater] = rating.score
    parts = [
        _criterion_agreement(criterion, judge.get(criterion, {}), tables[criterion], resamples, seed) for criterion in criteria
    ]
    return HumanAgreement(
        items=len({rating.item for rating in wanted}),
        labels=sum(len(labels) for table in tables.values() for labels in table.values()),
        raters=tuple(sorted({rating.rater for rating in wanted})),
        criteria=tuple(parts),
        worst=tuple(_disagreements(judge, tables)[:worst]),
    )


def _criterion_agreement(
    criterion: str, judge: Mapping[str, float], labels: Mapping[str, Mapping[str, float]], resamples: int, seed: int
) -> CriterionAgreement:
    """One criterion's figures.

    Args:
        judge: item -> score.
        labels: item -> rater -> score.
    """
    items = [item for item in labels if item in judge]
    first = np.array([judge[item] for item in items], dtype=np.float64)
    second = np.array([mean(list(labels[item].values())) for item in items], dtype=np.float64)
    correlation = pearson_estimate(first, second, resamples, seed)
    return CriterionAgreement(
        criterion=criterion,
        items=len(items),
        labels=sum(len(labels[item]) for item in items),
        without_judge=len(labels) - len(items),
        pearson=correlation,
        spearman=spearman_estimate(first, second),
        kappa=kappa_estimate(first, second, resamples, seed),
        error=float(np.abs(first - second).mean()) if items else None,
        bias=_bias_estimate(first - second),
        claim=claim_of(correlation, len(items)),
        raters=rater_agreement(labels, seed),
    )


def _bias_estimate(differences: Column) -> Estimate:
    """The mean difference with Student's interval."""
    values = differences.tolist()
    if not values:
        return Estimate(reason="few")
    centre = mean(values)
    if len(values) < MIN_PAIRS:
        return Estimate(value=centre, reason="few")
    spread = sample_sd(values)
    if spread < 1e-12:
        return Estimate(value=centre, reason="constant")
    half = critical_t(len(values) - 1) * spread / sqrt(len(values))
    return Estimate(value=centre, low=centre - half, high=centre + half)


def claim_of(correlation: Correlation, items: int, bound: float = BOUND) -> Claim:
    """Whether the true correlation is over the bound.

    Fisher's z of the coefficient and of the bound are compared in units of the coefficient's standard error.
    """
    if correlation.value is None or correlation.error is None:
        return Claim(bound=bound, certainty=None, verdict="not_settled", needed=None, reason=correlation.reason)
    distance = atanh(min(PERFECT, max(-PERFECT, correlation.value))) - atanh(bound)
    certainty = NormalDist().cdf(distance / correlation.error)
    if items >= MIN_SETTLED and certainty >= CERTAINTY:
        return Claim(bound=bound, certainty=certainty, verdict="holds", needed=None)
    if items >= MIN_SETTLED and certainty <= 1 - CERTAINTY:
        return Claim(bound=bound, certainty=certainty, verdict="does_not_hold", needed=None)
    needed = items_needed(distance, correlation.error * sqrt(items - 3))
    return Claim(bound=bound, certainty=certainty, verdict="not_settled", needed=needed)


def items_needed(distance: float, unit_error: float) -> int | None:
    """How many items settle a distance in z, at 95 % on one side; None over `MOST_NEEDED`.

    Args:
        unit_error: the standard error of z times √(n − 3): 1 where scores are normal.
    """
    if distance == 0:
        return None
    needed = 3 + (NormalDist().inv_cdf(CERTAINTY) * unit_error / distance) ** 2
    return None if needed > MOST_NEEDED else max(MIN_SETTLED, ceil(needed))


def _disagreements(judge: JudgeScores, tables: Mapping[str, Mapping[str, Mapping[str, float]]]) -> list[Disagreement]:
    """Every item's largest difference, the largest first; where they agree to the point, it is left out."""
    largest: dict[str, Disagreement] = {}
    for criterion, labels in tables.items():
        for item, given in labels.items():
            score = judge.get(criterion, {}).get(item)
            if score is None:
                continue
            people = mean(list(given.values()))
            found = Disagreement(
                item=item, criterion=criterion, judge=score, people=people, difference=score - people, raters=len(given)
            )
            if item not in largest or abs(found.difference) > abs(largest[item].difference):
                largest[item] = found
    apart = [found for found in largest.values() if found.difference != 0]
    return sorted(apart, key=lambda found: (-abs(found.difference), found.item))
