"""May a judge replace a person? The alternative annotator test.

Each rater in turn is left out, and the judge takes the rater's place. On each item the one wins that is nearer to the other
raters' labels; where both are equally near, both win. The judge beats the rater if its share of wins is certainly above the
rater's minus ε, where ε is what a person's label costs more. Its winning rate ω is the share of raters it beats, with the false
discovery rate over raters held at 5 %. From ω ≥ 0.5 on the judge may replace a person.

Source: N. Calderon, R. Reichart, R. Dror, "The Alternative Annotator Test for LLM-as-a-Judge" (ACL 2025). Correction:
Y. Benjamini, D. Yekutieli, "The control of the false discovery rate in multiple testing under dependency" (Annals of Statistics
29, 2001).
"""

from collections.abc import Mapping, Sequence
from math import sqrt
from typing import ClassVar, Literal

import numpy as np
from msgspec import Struct

from areopage.scoring.arrays import Column, Matrix
from areopage.scoring.correlation import TINY
from areopage.scoring.intervals.student_t import two_sided_p
from areopage.scoring.worth.tables import JuryTable, summed

Raters = Literal["expert", "skilled", "crowd"]


ENOUGH = 0.5
FALSE_DISCOVERIES = 0.05


class AgainstRater(Struct, frozen=True, kw_only=True):
    """A judge in one rater's place.

    Args:
        items: which the rater and another one labelled, with a score of the judge.
        judge_wins, rater_wins: shares of these, each item counting once; equally near counts for both.
        p_values: that the judge is worse than the rater by ε or more; by kind of rater, corrected over the raters, in [0, 1].
    """

    rater: str
    items: int
    judge_wins: float
    rater_wins: float
    p_values: dict[Raters, float]


class Replacement(Struct, frozen=True, kw_only=True):
    """Whether a judge may replace a person.

    Args:
        judge: its name; "" is the whole jury.
        winning_rate: ω in [0, 1], by what kind of raters the people are.
        may_replace: whether ω is at least 0.5.
        advantage: ρ, the mean over raters of the judge's share of wins, in [0, 1]; it compares judges.
        raters: those it is compared with.
    """

    EPSILON: ClassVar[Mapping[Raters, float]] = {"expert": 0.2, "skilled": 0.15, "crowd": 0.1}
    """By how much a judge's share of wins may lie under a person's."""
    FEWEST_RATERS: ClassVar[int] = 3
    FEWEST_LABELLED: ClassVar[int] = 50
    FEWEST_OF_RATER: ClassVar[int] = 30
    """Raters with fewer items in common with another rater are not left out in turn; their labels count all the same."""

    judge: str
    winning_rate: dict[Raters, float]
    may_replace: dict[Raters, bool]
    advantage: float
    raters: tuple[AgainstRater, ...]


class AlternativeTest(Struct, frozen=True, kw_only=True):
    """The test of each judge and of the whole jury; `items` that two raters labelled, and raters with enough of them."""

    items: int
    raters: int
    judges: tuple[Replacement, ...]


def alternative_test(table: JuryTable, *, categories: bool = False) -> AlternativeTest | None:
    """Test each judge and, of scores, the whole jury; None with too few raters or items, see `Replacement`.

    Where scores and labels are numbers of categories, the share of the other raters with the same one counts, in place of the
    root mean squared distance.
    """
    table = table.only((~np.isnan(table.labels)).sum(axis=1) >= 2)
    items = [np.unique(table.items[~np.isnan(labels)]).size for labels in table.labels.T]
    raters = [rater for rater, count in enumerate(items) if count >= Replacement.FEWEST_OF_RATER]
    if len(raters) < Replacement.FEWEST_RATERS or table.size < Replacement.FEWEST_LABELLED:
        return None
    columns = [(name, table.scores[:, at]) for at, name in enumerate(table.judges)]
    columns += [] if categories or len(columns) < 2 else [("", table.jury)]
    replacements = [_replacement(table, name, scores, raters, categories=categories) for name, scores in columns]
    return AlternativeTest(items=table.size, raters=len(raters), judges=tuple(filter(None, replacements)))


def _replacement(table: JuryTable, judge: str, scores: Column, raters: Sequence[int], *, categories: bool) -> Replacement | None:
    compared: list[tuple[int, Column, Column]] = []
    for rater in raters:
        labels = table.labels[:, rater]
        units = ~np.isnan(labels) & ~np.isnan(scores)
        others = np.delete(table.labels[units], rater, axis=1)
        near = [_nearness(ratings[units], others, categories=categories) for ratings in (scores, labels)]
        wins = np.stack([near[0] >= near[1] - TINY, near[1] >= near[0] - TINY], axis=1).astype(np.float64)
        numbers, places, counts = np.unique(table.items[units], return_inverse=True, return_counts=True)
        by_item = summed(wins, places, numbers.size) / counts[:, None]
        if len(by_item) >= Replacement.FEWEST_OF_RATER:
            compared.append((rater, by_item[:, 0], by_item[:, 1]))
    if len(compared) < Replacement.FEWEST_RATERS:
        return None
    tests = {
        kind: corrected([worse_by(people - judges, epsilon) for _, judges, people in compared])
        for kind, epsilon in Replacement.EPSILON.items()
    }
    rates = {kind: float(np.mean(np.array(values) <= FALSE_DISCOVERIES)) for kind, values in tests.items()}
    return Replacement(
        judge=judge,
        winning_rate=rates,
        may_replace={kind: rate >= ENOUGH for kind, rate in rates.items()},
        advantage=float(np.mean([judges.mean() for _, judges, _ in compared])),
        raters=tuple(
            AgainstRater(
                rater=table.raters[rater],
                items=len(judges),
                judge_wins=float(judges.mean()),
                rater_wins=float(people.mean()),
                p_values={kind: values[at] for kind, values in tests.items()},
            )
            for at, (rater, judges, people) in enumerate(compared)
        ),
    )


def _nearness(values: Column, others: Matrix, *, categories: bool) -> Column:
    """How near values are to the other raters' labels; more is nearer."""
    is_labelled = ~np.isnan(others)
    count = np.maximum(is_labelled.sum(axis=1), 1)
    if categories:
        near: Column = (others == values[:, None]).sum(axis=1) / count
        return near
    squares = np.where(is_labelled, others - values[:, None], 0.0) ** 2
    nearness: Column = -np.sqrt(squares.sum(axis=1) / count)
    return nearness


def worse_by(differences: Column, epsilon: float) -> float:
    """The one-sided p-value that a mean difference (rater's wins − judge's) is ε or more: Student's t test."""
    centre, spread = float(differences.mean()) - epsilon, float(differences.std(ddof=1))
    if spread < TINY:
        return 0.0 if centre < 0 else 1.0
    t = centre / (spread / sqrt(differences.size))
    tail = two_sided_p(t, differences.size - 1) / 2
    return tail if t < 0 else 1.0 - tail


def corrected(p_values: Sequence[float]) -> list[float]:
    """Benjamini and Yekutieli's corrected p-values, in [0, 1]: those up to q are found at a false discovery rate of q."""
    values, ranks = np.array(p_values, dtype=np.float64), np.arange(1, len(p_values) + 1)
    order = np.argsort(values)
    raised = values[order] * (values.size * float((1 / ranks).sum())) / ranks
    p_corrected = np.empty(values.size)
    p_corrected[order] = np.minimum(1.0, np.minimum.accumulate(raised[::-1])[::-1])
    return [float(value) for value in p_corrected]
