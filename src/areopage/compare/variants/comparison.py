"""The variants of an A/B test in production, compared so that one may look every day.

Scores of one day are compared with each other, among answers of one panel: another judge, or a busy day, does not look like a
difference. Answers of two variants to the same question can be compared question by question.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Literal, TypeVar

import numpy as np
from msgspec import Struct, structs
from numpy.typing import NDArray

from areopage.compare.statistics.families import group_weights, holm_levels
from areopage.compare.statistics.sequential import SequentialDifference, day_blocks, sequential_difference
from areopage.compare.statistics.tested import Direction
from areopage.criteria import Scale
from areopage.ledger import Ledger, Period, Scope, ScoredAnswer
from areopage.scoring import ALPHA, Column, Places, holm

Kind = Literal["score", "weak", "criterion"]

OVERALL = ""
_SHARES = {"score": 1 / 3, "weak": 1 / 3, "criterion": 1 / 3}
"""The global score and the share of weak answers have a third of the level each, all criteria together the last one."""

_ORDER: tuple[Kind, ...] = ("score", "weak", "criterion")
_Measure = tuple[Kind, str]
Number = TypeVar("Number", bound=np.generic)


class _Answers(Struct, frozen=True, kw_only=True):
    """What is compared of answers, as columns, oldest first: no text is kept.

    Args:
        days: the number of each answer's day in the calendar.
        panels, questions: a number for each panel and question; -1 where the question is not known.
        values: by measure; NaN where an answer has none.
    """

    days: Places
    panels: Places
    questions: Places
    values: Mapping[_Measure, Column]

    def of(self, chosen: Places) -> "_Answers":
        """Some of the answers, by their places."""
        values = {measure: column[chosen] for measure, column in self.values.items()}
        return _Answers(days=self.days[chosen], panels=self.panels[chosen], questions=self.questions[chosen], values=values)

    def measured(self, measure: _Measure) -> "_Answers":
        """The answers that have a measure."""
        return self.of(np.flatnonzero(~np.isnan(self.values[measure])))


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
        scope = Scope(suite=suite, source=source)
        by_variant = _by_variant(ledger.lists.scored(period, scope, prompts=by_question))
        base = by_variant.pop(baseline, None)
        if base is None:
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


def _by_variant(answers: Iterable[ScoredAnswer]) -> dict[str, _Answers]:
    """The answers of each variant."""
    days, panels, questions = list[int](), list[int](), list[int]()
    numbers, places = dict[str, int](), dict[str, list[int]]()
    found: dict[_Measure, tuple[list[int], list[float]]] = {}
    for place, answer in enumerate(answers):
        places.setdefault(answer.variant, []).append(place)
        days.append(answer.day.toordinal())
        panels.append(numbers.setdefault(f"panel {answer.panel}", len(numbers)))
        questions.append(numbers.setdefault(f"question {answer.prompt}", len(numbers)) if answer.prompt else -1)
        values: dict[_Measure, float] = {("criterion", criterion): score for criterion, score in answer.scores.items()}
        if answer.score_global is not None:
            values["score", OVERALL] = answer.score_global
            values["weak", OVERALL] = float(answer.grade == "weak")
        for measure, value in values.items():
            where, column = found.setdefault(measure, ([], []))
            where.append(place)
            column.append(value)
    columns: dict[_Measure, Column] = {}
    for measure, (where, column) in found.items():
        columns[measure] = np.full(len(days), np.nan)
        columns[measure][where] = column
    whole = _Answers(days=np.array(days), panels=np.array(panels), questions=np.array(questions), values=columns)
    return {variant: whole.of(np.array(chosen)) for variant, chosen in places.items()}


def _measured(
    answers: _Answers, base: _Answers, scale: Scale, *, by_question: bool
) -> Iterator[tuple[VariantTest, list[Column], float]]:
    """All measures of a variant and the baseline: the global score, weak answers, criteria by name; tests are not corrected yet.

    Yields:
        The test, the differences that it rests on, and the width of the scale.
    """
    for measure in sorted(base.values, key=lambda measure: (_ORDER.index(measure[0]), measure[1])):
        sides = (answers.measured(measure), base.measured(measure))
        if not any(side.days.size for side in sides):  # another variant's
            continue
        days = _by_question(*sides, measure) if by_question else _by_day(*sides, measure)
        span = 1.0 if measure[0] == "weak" else scale.max - scale.min
        means = [float(side.values[measure].mean()) if side.days.size else None for side in sides]
        test = VariantTest(
            kind=measure[0],
            criterion=measure[1],
            answers=(sides[1].days.size, sides[0].days.size),
            means=(means[1], means[0]),
            difference=sequential_difference(days, span=span),
            corrected=1.0,
            direction="unclear",
        )
        yield test, days, span


def _by_day(first: _Answers, second: _Answers, measure: _Measure) -> list[Column]:
    """The differences of each day and panel, in the order of the days; pairings depend on the day alone."""
    grouped = [_groups(np.stack((side.days, side.panels)), side.values[measure]) for side in (first, second)]
    return [
        day_blocks(values, grouped[1][place], np.random.default_rng(place[0]))
        for place, values in grouped[0].items()
        if place in grouped[1]
    ]


def _groups(places: Places, values: NDArray[Number]) -> dict[tuple[int, ...], NDArray[Number]]:
    """The values at each place (a column of numbers), in the order of the places; values keep their order."""
    order = np.lexsort(places[::-1])
    inside = places[:, order]
    begins = np.flatnonzero(np.any(inside[:, 1:] != inside[:, :-1], axis=0)) + 1
    firsts = [0, *begins.tolist()] if order.size else []
    return {tuple(inside[:, at].tolist()): part for at, part in zip(firsts, np.split(values[order], begins), strict=False)}


def _by_question(first: _Answers, second: _Answers, measure: _Measure) -> list[Column]:
    """One difference for each question that one panel judged on both sides: of the means so far on the first day with both."""
    grouped = []
    for side in (first, second):
        asked = side.of(np.flatnonzero(side.questions >= 0))
        places = np.stack((asked.panels, asked.questions))
        grouped.append((_groups(places, asked.days), _groups(places, asked.values[measure])))
    days: dict[int, list[float]] = {}
    for place in grouped[0][0].keys() & grouped[1][0].keys():
        day = max(of_days[place].min() for of_days, _ in grouped)
        means = [values[place][of_days[place] <= day].mean() for of_days, values in grouped]
        days.setdefault(int(day), []).append(float(means[0] - means[1]))
    return [np.array([sorted(days[day])]) for day in sorted(days)]
