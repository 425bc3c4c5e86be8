"""The variants of an A/B test in production, compared so that one may look every day.

Scores of one day are compared with each other, among answers of one panel: another judge, or a busy day, does not look like a
difference. Answers of two variants to the same question can be compared question by question.
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from typing import Literal

import numpy as np
from msgspec import Struct, structs
from numpy.typing import NDArray

from areopage.criteria import Scale
from areopage.digest import digest_of
from areopage.ledger import Evaluation, Filters, Ledger, Period
from areopage.scoring import (
    ALPHA,
    Direction,
    SequentialDifference,
    day_blocks,
    group_weights,
    holm,
    holm_levels,
    sequential_difference,
)

Column = NDArray[np.float64]
Kind = Literal["score", "weak", "criterion"]

OVERALL = ""
_SHARES = {"score": 1 / 3, "weak": 1 / 3, "criterion": 1 / 3}
"""The global score and the share of weak answers have a third of the level each, all criteria together the last one."""

_ORDER: tuple[Kind, ...] = ("score", "weak", "criterion")
_Measure = tuple[Kind, str]


class _Answer(Struct, frozen=True, kw_only=True):
    """What is compared of an answer: no text is kept."""

    day: date
    panel: str
    question: str
    values: Mapping[_Measure, float]


class VariantTest(Struct, frozen=True, kw_only=True):
    """One measure of a variant against the baseline; the difference is the variant's minus the baseline's.

    Args:
        kind: the global score, the share of weak answers, or the score on a criterion, by its path.
        answers: with this measure, of the baseline and of the variant.
        means: of all their answers in the period; None without any.
        difference: with the interval of the level at which it is tested: all intervals together hold with 95 %.
        corrected: the p-value corrected over all tests (Holm), valid at any moment of inspection.
    """

    kind: Kind
    criterion: str
    answers: tuple[int, int]
    means: tuple[float | None, float | None]
    difference: SequentialDifference
    corrected: float
    direction: Direction


class VariantComparison(Struct, frozen=True, kw_only=True):
    """A variant against the baseline."""

    variant: str
    tests: tuple[VariantTest, ...]


class _Measured(Struct, frozen=True, kw_only=True):
    variant: str
    kind: Kind
    criterion: str
    answers: tuple[int, int]
    means: tuple[float | None, float | None]
    difference: SequentialDifference
    days: list[Column]
    span: float


def compare_variants(
    ledger: Ledger,
    period: Period,
    scale: Scale,
    *,
    suite: str,
    baseline: str,
    source: str | None = None,
    by_question: bool = False,
) -> tuple[VariantComparison, ...]:
    """Compare all variants of a period with a baseline.

    Args:
        period: begins where the test began; another beginning is another test.
        source: only these answers; golden questions count only where it names them.
        by_question: compare only the answers to questions that both variants answered, one difference for each.

    Returns:
        A comparison for each other variant, by name; nothing where the baseline has no answers.

    Raises:
        StorageError: the ledger cannot be read.
    """
    by_variant: dict[str, list[_Answer]] = {}
    for one in ledger.lists.stream(Filters(period=period, source=source)):
        if one.suite == suite:
            by_variant.setdefault(one.variant, []).append(_answer(one))
    if not (base := by_variant.pop(baseline, [])):
        return ()
    measured = [
        one
        for variant in sorted(by_variant)
        for one in _measured(variant, by_variant[variant], base, scale, by_question=by_question)
    ]
    weights = group_weights([one.kind for one in measured], _SHARES)
    p_values = [one.difference.p_value for one in measured]
    corrected, levels = holm(p_values, weights), holm_levels(p_values, weights, ALPHA)
    tests: dict[str, list[VariantTest]] = {}
    for found, p_value, level in zip(measured, corrected, levels, strict=True):
        tests.setdefault(found.variant, []).append(_settled(_at_level(found, level), p_value, scale))
    return tuple(VariantComparison(variant=variant, tests=tuple(own)) for variant, own in tests.items())


def _at_level(one: _Measured, level: float) -> _Measured:
    """A measure with the interval of the level at which it is tested: it leaves out 0 exactly where the test finds something."""
    found = sequential_difference(one.days, span=one.span, alpha=level)
    return structs.replace(one, difference=structs.replace(one.difference, low=found.low, high=found.high))


def _settled(one: _Measured, corrected: float, scale: Scale) -> VariantTest:
    direction: Direction = "unclear"
    if corrected < ALPHA:
        rises = (one.difference.low + one.difference.high) > 0
        direction = "better" if rises == (one.kind != "weak" and scale.higher_is_better) else "worse"
    return VariantTest(
        kind=one.kind,
        criterion=one.criterion,
        answers=one.answers,
        means=one.means,
        difference=one.difference,
        corrected=corrected,
        direction=direction,
    )


def _answer(one: Evaluation) -> _Answer:
    values: dict[_Measure, float] = {("criterion", own.criterion): own.score for own in one.criteria if own.score is not None}
    if one.score_global is not None:
        values["score", OVERALL] = one.score_global
        values["weak", OVERALL] = float(one.grade == "weak")
    question = digest_of(one.prompt) if one.prompt else ""
    return _Answer(day=one.timestamp.date(), panel=one.run_id, question=question, values=values)


def _measured(
    variant: str, own: Sequence[_Answer], base: Sequence[_Answer], scale: Scale, *, by_question: bool
) -> Iterator[_Measured]:
    """All measures of a variant and the baseline: the global score, weak answers, criteria by name."""
    known = sorted({measure for answer in (*own, *base) for measure in answer.values})
    for measure in sorted(known, key=lambda one: (_ORDER.index(one[0]), one[1])):
        sides = [[one for one in side if measure in one.values] for side in (own, base)]
        days = _by_question(sides, measure) if by_question else _by_day(sides, measure)
        values = [[one.values[measure] for one in side] for side in sides]
        span = 1.0 if measure[0] == "weak" else scale.max - scale.min
        yield _Measured(
            variant=variant,
            kind=measure[0],
            criterion=measure[1],
            answers=(len(values[1]), len(values[0])),
            means=(_mean(values[1]), _mean(values[0])),
            difference=sequential_difference(days, span=span),
            days=days,
            span=span,
        )


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None


def _by_day(sides: Sequence[Sequence[_Answer]], measure: _Measure) -> list[Column]:
    """The differences of each day and panel, in the order of the days; pairings depend on the day alone."""
    grouped: list[dict[tuple[date, str], list[float]]] = [{}, {}]
    for side, groups in zip(sides, grouped, strict=True):
        for one in side:
            groups.setdefault((one.day, one.panel), []).append(one.values[measure])
    places = sorted(place for place in grouped[0] if place in grouped[1])
    return [
        day_blocks(np.array(grouped[0][place]), np.array(grouped[1][place]), np.random.default_rng(place[0].toordinal()))
        for place in places
    ]


def _by_question(sides: Sequence[Sequence[_Answer]], measure: _Measure) -> list[Column]:
    """One difference for each question that one panel judged on both sides: of the means so far on the first day with both."""
    grouped: list[dict[tuple[str, str], list[_Answer]]] = [{}, {}]
    for side, groups in zip(sides, grouped, strict=True):
        for one in side:
            if one.question:
                groups.setdefault((one.panel, one.question), []).append(one)
    days: dict[date, list[float]] = {}
    for place in sorted(place for place in grouped[0] if place in grouped[1]):
        both = [groups[place] for groups in grouped]
        day = max(min(one.day for one in side) for side in both)
        means = [np.mean([one.values[measure] for one in side if one.day <= day]) for side in both]
        days.setdefault(day, []).append(float(means[0] - means[1]))
    return [np.array([days[day]]) for day in sorted(days)]
