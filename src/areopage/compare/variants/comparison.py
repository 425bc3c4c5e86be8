"""The variants of an A/B test in production, compared so that one may look every day.

Scores of one day are compared with each other, among answers of one panel: another judge, or a busy day, does not look like a
difference. Answers of two variants to the same question can be compared question by question.
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from typing import Literal

import numpy as np
from msgspec import Struct, structs

from areopage.compare.statistics.families import group_weights, holm_levels
from areopage.compare.statistics.sequential import SequentialDifference, day_blocks, sequential_difference
from areopage.compare.statistics.tested import Direction
from areopage.criteria import Scale
from areopage.digest import digest_of
from areopage.ledger import Filters, Ledger, Period
from areopage.scoring import ALPHA, Column, holm

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

    @classmethod
    def of(
        cls,
        ledger: Ledger,
        period: Period,
        scale: Scale,
        *,
        suite: str,
        baseline: str,
        source: str | None = None,
        by_question: bool = False,
    ) -> "tuple[VariantComparison, ...]":
        """Compare all variants of a period with a baseline.

        Args:
            period: begins where the test began; another beginning is another test.
            source: only these answers; golden questions count only where it names them.
            by_question: compare only the answers to questions that both variants answered, one difference for each.

        Returns:
            A comparison for each other variant, by name; nothing where the baseline has no answers.
        """
        by_variant: dict[str, list[_Answer]] = {}
        for evaluation in ledger.lists.stream(Filters(period=period, source=source)):
            if evaluation.suite == suite:
                values: dict[_Measure, float] = {
                    ("criterion", result.criterion): result.score for result in evaluation.criteria if result.score is not None
                }
                if evaluation.score_global is not None:
                    values["score", OVERALL] = evaluation.score_global
                    values["weak", OVERALL] = float(evaluation.grade == "weak")
                question, day = digest_of(evaluation.prompt) if evaluation.prompt else "", evaluation.timestamp.date()
                answer = _Answer(day=day, panel=evaluation.run_id, question=question, values=values)
                by_variant.setdefault(evaluation.variant, []).append(answer)
        if not (base := by_variant.pop(baseline, [])):
            return ()
        measured = [
            (variant, *measure)
            for variant in sorted(by_variant)
            for measure in _measured(by_variant[variant], base, scale, by_question=by_question)
        ]
        weights = group_weights([test.kind for _, test, _, _ in measured], _SHARES)
        p_values = [test.difference.p_value for _, test, _, _ in measured]
        corrected, levels = holm(p_values, weights), holm_levels(p_values, weights, ALPHA)
        tests: dict[str, list[VariantTest]] = {}
        for (variant, test, days, span), p_value, level in zip(measured, corrected, levels, strict=True):
            # the interval has the level at which it is tested: it leaves out 0 exactly where the test finds something
            at_level = sequential_difference(days, span=span, alpha=level)
            difference = structs.replace(test.difference, low=at_level.low, high=at_level.high)
            direction: Direction = "unclear"
            if p_value < ALPHA:
                rises = (difference.low + difference.high) > 0
                direction = "better" if rises == (test.kind != "weak" and scale.higher_is_better) else "worse"
            settled = structs.replace(test, difference=difference, corrected=p_value, direction=direction)
            tests.setdefault(variant, []).append(settled)
        return tuple(cls(variant=variant, tests=tuple(variant_tests)) for variant, variant_tests in tests.items())


def _measured(
    answers: Sequence[_Answer], base: Sequence[_Answer], scale: Scale, *, by_question: bool
) -> Iterator[tuple[VariantTest, list[Column], float]]:
    """All measures of a variant and the baseline: the global score, weak answers, criteria by name; tests are not corrected yet.

    Yields:
        The test, the differences that it rests on, and the width of the scale.
    """
    measures = sorted({measure for answer in (*answers, *base) for measure in answer.values})
    for measure in sorted(measures, key=lambda measure: (_ORDER.index(measure[0]), measure[1])):
        sides = [[answer for answer in side if measure in answer.values] for side in (answers, base)]
        days = _by_question(sides, measure) if by_question else _by_day(sides, measure)
        values = [[answer.values[measure] for answer in side] for side in sides]
        span = 1.0 if measure[0] == "weak" else scale.max - scale.min
        means = [sum(side) / len(side) if side else None for side in values]
        test = VariantTest(
            kind=measure[0],
            criterion=measure[1],
            answers=(len(values[1]), len(values[0])),
            means=(means[1], means[0]),
            difference=sequential_difference(days, span=span),
            corrected=1.0,
            direction="unclear",
        )
        yield test, days, span


def _by_day(sides: Sequence[Sequence[_Answer]], measure: _Measure) -> list[Column]:
    """The differences of each day and panel, in the order of the days; pairings depend on the day alone."""
    grouped: list[dict[tuple[date, str], list[float]]] = [{}, {}]
    for side, groups in zip(sides, grouped, strict=True):
        for answer in side:
            groups.setdefault((answer.day, answer.panel), []).append(answer.values[measure])
    places = sorted(place for place in grouped[0] if place in grouped[1])
    return [
        day_blocks(np.array(grouped[0][place]), np.array(grouped[1][place]), np.random.default_rng(place[0].toordinal()))
        for place in places
    ]


def _by_question(sides: Sequence[Sequence[_Answer]], measure: _Measure) -> list[Column]:
    """One difference for each question that one panel judged on both sides: of the means so far on the first day with both."""
    grouped: list[dict[tuple[str, str], list[_Answer]]] = [{}, {}]
    for side, groups in zip(sides, grouped, strict=True):
        for answer in side:
            if answer.question:
                groups.setdefault((answer.panel, answer.question), []).append(answer)
    days: dict[date, list[float]] = {}
    for place in sorted(place for place in grouped[0] if place in grouped[1]):
        both = [groups[place] for groups in grouped]
        day = max(min(answer.day for answer in side) for side in both)
        means = [np.mean([answer.values[measure] for answer in side if answer.day <= day]) for side in both]
        days.setdefault(day, []).append(float(means[0] - means[1]))
    return [np.array([days[day]]) for day in sorted(days)]
