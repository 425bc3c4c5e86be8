"""The verdict on a round: mean, change by question, comparison."""

import math
from collections.abc import Sequence
from typing import Literal

from msgspec import Struct

from areopage.criteria.records import Scale
from areopage.scoring.counts import critical_t

GoldenVerdict = Literal["first", "good", "drop", "incomplete"]

FEW_PAIRS = 5
"""Under so many questions an interval says little: the plain drop decides."""

MOST_FALLEN = 5


class Question(Struct, frozen=True, kw_only=True):
    """A golden question with its scores in this and the compared round."""

    id: str
    text: str
    score: float | None
    before: float | None = None


class RoundResult(Struct, frozen=True, kw_only=True):
    """A round's figures.

    `change` is the mean of the differences by question (this round minus the other), `low` and `high` its 95 % interval (None
    under two pairs). `fell` are the questions that got worse, worst first; `missing` those without a score.
    """

    verdict: GoldenVerdict
    mean: float | None
    change: float | None
    low: float | None
    high: float | None
    pairs: int
    fell: tuple[Question, ...]
    missing: tuple[Question, ...]


def judge_round(questions: Sequence[Question], drop: float, scale: Scale) -> RoundResult:
    """Compare two rounds question by question.

    It is a drop where the mean difference is at least `drop` points for the worse and, from five questions on, its 95 % interval
    (Student's, of paired differences) leaves 0 out. Else a round with a question that has no score is incomplete; else it is
    good, or the first one where no question has a score in both.
    """
    scores = [question.score for question in questions if question.score is not None]
    mean = math.fsum(scores) / len(scores) if scores else None
    missing = tuple(question for question in questions if question.score is None)
    paired = [(question, difference) for question in questions if (difference := _difference_of(question)) is not None]
    sign = 1.0 if scale.higher_is_better else -1.0
    worse = sorted((sign * difference, at) for at, (_, difference) in enumerate(paired) if sign * difference < 0)
    change, low, high = paired_change([difference for _, difference in paired])
    verdict: GoldenVerdict = "incomplete" if missing else "good" if paired else "first"
    if change is not None and -sign * change >= drop and (len(paired) < FEW_PAIRS or _excludes_zero(low, high)):
        verdict = "drop"
    return RoundResult(
        verdict=verdict,
        mean=mean,
        change=change,
        low=low,
        high=high,
        pairs=len(paired),
        fell=tuple(paired[at][0] for _, at in worse[:MOST_FALLEN]),
        missing=missing,
    )


def _difference_of(question: Question) -> float | None:
    """How much a question's score changed; None where one of the two is missing."""
    return None if question.score is None or question.before is None else question.score - question.before


def paired_change(differences: Sequence[float]) -> tuple[float | None, float | None, float | None]:
    """The mean of paired differences with its 95 % interval (from two pairs)."""
    count = len(differences)
    if not count:
        return None, None, None
    mean = math.fsum(differences) / count
    if count == 1:
        return mean, None, None
    variance = math.fsum((difference - mean) ** 2 for difference in differences) / (count - 1)
    half = critical_t(count - 1) * math.sqrt(variance / count)
    return mean, mean - half, mean + half


def _excludes_zero(low: float | None, high: float | None) -> bool:
    """Whether an interval leaves 0 out."""
    return low is not None and high is not None and not low <= 0.0 <= high
