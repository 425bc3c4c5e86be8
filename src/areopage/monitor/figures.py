"""The figures of a period, aggregated from the ledger's counts by day. Scores are on the suite's scale.

Means are of the scores as they were given; grades and histograms count scores as they are shown, with two decimals.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date, timedelta

from msgspec import Struct

from areopage.criteria import Scale
from areopage.ledger import (
    DayScore,
    EqualAnswers,
    Evaluation,
    Filters,
    JudgeDays,
    Ledger,
    Period,
    Scope,
    Standing,
    midnight,
)
from areopage.monitor.scored_answers import MeanChange, Repeat, ScoredAnswers, answer_intervals, compare
from areopage.suites import Suite

GLOBAL = ""
WORST = 5
_NONE = ScoredAnswers()

ScorePlace = tuple[date | str, str]
"""A day or a variant, "" for all of them, and a criterion."""
ByPlace = Mapping[ScorePlace, ScoredAnswers]


class Mean(Struct, frozen=True, kw_only=True):
    """A mean with its 95 % interval, on the scale; None where there is nothing, the interval None under two different answers."""

    answers: int
    mean: float | None = None
    low: float | None = None
    high: float | None = None

    @property
    def interval(self) -> tuple[float, float] | None:
        """Both ends of the interval."""
        return None if self.low is None or self.high is None else (self.low, self.high)


class CriterionFigures(Struct, frozen=True, kw_only=True):
    """One criterion over a period; `criterion` "" is the global score.

    `grades` are counts (excellent, acceptable, weak). `histogram` counts answers in ten equal steps of the scale.
    `change` is against the period before, of the same length.
    """

    criterion: str
    label: str
    mean: Mean
    grades: tuple[int, int, int]
    histogram: tuple[int, ...]
    previous: Mean
    change: MeanChange


class DayFigures(Struct, frozen=True, kw_only=True):
    """One day's mean per criterion ("" the global one); days without answers have no means."""

    day: date
    means: dict[str, Mean]
    weak: int

    @staticmethod
    def of_period(ledger: Ledger, period: Period, scope: Scope, scale: Scale) -> "tuple[DayFigures, ...]":
        """The days of a period, including days without scores."""
        return _days(period, ledger.days.scores(period, scope), _equals(ledger, period, scope), scale)


class VariantFigures(Struct, frozen=True, kw_only=True):
    """One side of an A/B test; `change` is its global mean minus that of the baseline (empty for the baseline)."""

    variant: str
    overall: Mean
    criteria: dict[str, Mean]
    weak: int
    change: MeanChange


class JudgeFigures(Struct, frozen=True, kw_only=True):
    """What one judge did: `seconds_per_call` is a mean, None without calls.

    `scored_share`, in [0, 1], is of its verdicts but for those that say that a criterion does not apply; None without any.
    """

    use: JudgeDays
    scored_share: float | None
    seconds_per_call: float | None

    @classmethod
    def of_days(cls, use: JudgeDays) -> "JudgeFigures":
        """Compute the figures."""
        verdicts = sum(use.outcomes.values()) - use.outcomes.get("not_applicable", 0)
        return cls(
            use=use,
            scored_share=use.outcomes.get("scored", 0) / verdicts if verdicts else None,
            seconds_per_call=use.seconds / use.calls if use.calls else None,
        )


class PeriodFigures(Struct, frozen=True, kw_only=True):
    """Everything about a period.

    `coverage` is scored / (scored + unscored + failed + still waiting + lost by hooks), None where there is none of them.
    Answers that sampling left out were not to be judged: they are `left_out`, and in no share. `planned` were to be judged,
    `received` are all. `lost` are the answers that hooks
    did not submit, by kind, `doubtful` those that they submitted with a doubt, by kind. The counts of what waits are those of
    now, for any period. `cost` is by currency. `baseline` is the variant that the others are compared with; None without
    variants.
    `worst` has no excellent answer where there are others.
    """

    period: Period
    scope: Scope
    scored: int
    unscored: int
    failed: int
    waiting: int
    left_out: int
    planned: int
    received: int
    lost: dict[str, int]
    doubtful: dict[str, int]
    coverage: float | None
    overall: CriterionFigures
    criteria: tuple[CriterionFigures, ...]
    days: tuple[DayFigures, ...]
    variants: tuple[VariantFigures, ...]
    baseline: str | None
    judges: tuple[JudgeFigures, ...]
    worst: tuple[Evaluation, ...]
    seconds: float
    prompt_tokens: int
    completion_tokens: int
    cost: dict[str, float]
    qualification: str
    standings: tuple[Standing, ...] = ()

    @property
    def not_in_mean(self) -> str:
        """The names of the criteria without a score, which the mean of the global score leaves out; "" without a mean."""
        return ", ".join(part.label for part in self.criteria if not part.mean.answers) if self.overall.mean.answers else ""

    @property
    def lost_answers(self) -> int:
        """The answers that hooks did not submit."""
        return sum(self.lost.values())

    @property
    def doubts(self) -> int:
        """The doubts about answers that hooks submitted."""
        return sum(self.doubtful.values())

    @property
    def left_out_share(self) -> float:
        """The share of submitted answers that sampling left out, in [0, 1]."""
        return self.left_out / (self.planned + self.left_out) if self.left_out else 0.0

    @classmethod
    def of(
        cls,
        ledger: Ledger,
        period: Period,
        scope: Scope,
        scale: Scale,
        labels: Mapping[str, str],
        *,
        baseline: str | None = None,
    ) -> "PeriodFigures":
        """Compute a period's figures and the change from the previous period.

        Args:
            scope: golden questions count only where its source names them.
            labels: what people call each criterion, by its path, in the order in which criteria are shown; criteria with scores
                and no label come after them.
            baseline: the variant that the others are compared with; one without answers counts as None: the most frequent one.
        """
        counts, lists = ledger.days, ledger.lists
        rows, equals = counts.scores(period, scope), _equals(ledger, period, scope)
        now, sides = _by_place(rows, equals, lambda _: ""), _by_place(rows, equals, lambda row: row.variant)
        earlier = previous_of(period)
        before = _by_place(counts.scores(earlier, scope), _equals(ledger, earlier, scope), lambda _: "")
        variants = sorted({str(variant) for variant, _ in sides}, key=lambda name: (not name, name))  # without a name last
        counted = {name: sides.get((name, GLOBAL), _NONE).answers for name in variants}
        base = baseline if baseline in variants else most_frequent(counted)
        totals, judges = counts.totals(period, scope), counts.judges(period)
        backlog = ledger.evaluations.backlog(() if scope.source is None else (scope.source,))
        states = ("scored", "unscored", "failed", "left_out")
        scored, unscored, failed, left_out = (sum(getattr(day, name) for day in totals) for name in states)
        lost = ledger.hook_counts.lost(period, scope)
        planned = scored + unscored + failed + backlog.waiting + sum(lost.values())
        newest = lists.page(Filters(period=period, source=scope.source, variant=scope.variant), limit=1)
        unlabelled = sorted({criterion for _, criterion in (*now, *before)} - {GLOBAL, *labels})
        shown = {GLOBAL: "", **labels} | {path: path.rpartition(".")[2].replace("_", " ") for path in unlabelled}
        figures = _criteria(shown, now, before, scale)
        worst = lists.worst(period, scope, WORST, higher_is_better=scale.higher_is_better)
        return cls(
            period=period,
            scope=scope,
            scored=scored,
            unscored=unscored,
            failed=failed,
            waiting=backlog.waiting,
            left_out=left_out,
            planned=planned,
            received=planned + left_out,
            lost=lost,
            doubtful=ledger.hook_counts.doubtful(period, scope),
            coverage=scored / planned if planned else None,
            overall=figures[0],
            criteria=tuple(figures[1:]),
            days=_days(period, rows, equals, scale),
            variants=tuple(_variants(variants, base, sides, scale)),
            baseline=base,
            judges=tuple(JudgeFigures.of_days(use) for use in judges),
            worst=tuple(evaluation for evaluation in worst if evaluation.grade != "excellent") or tuple(worst),
            seconds=sum(day.seconds for day in totals),
            prompt_tokens=sum(day.prompt_tokens for day in totals),
            completion_tokens=sum(day.completion_tokens for day in totals),
            cost=_cost(judges),
            qualification=newest[0].qualification if newest else "",
            standings=newest[0].standings if newest else (),
        )


def most_frequent(answers: Mapping[str, int]) -> str | None:
    """The variant with the most answers, the first by name of equals; answers without one count last. None without any."""
    return min(answers, key=lambda name: (not name, -answers[name], name), default=None)


def criterion_labels(suite: Suite, language: str) -> dict[str, str]:
    """Display names of a suite's criteria by path, in the registry's order."""
    return {entry.path: suite.registry.label(entry.id, language) for entry in suite.registry.entries.values()}


def _equals(ledger: Ledger, period: Period, scope: Scope) -> list[EqualAnswers]:
    return ledger.lists.equals(midnight(period.start), midnight(period.end), scope)


def _days(period: Period, rows: Iterable[DayScore], equals: Iterable[EqualAnswers], scale: Scale) -> tuple[DayFigures, ...]:
    by_day = _by_place(rows, equals, lambda row: row.day)
    means: dict[date | str, dict[str, Mean]] = {}
    for (day, criterion), mean in _means(by_day, scale).items():
        means.setdefault(day, {})[criterion] = mean
    days = [period.start + timedelta(days=number) for number in range(period.days)]
    return tuple(
        DayFigures(day=day, means=means.get(day, {}), weak=by_day.get((day, GLOBAL), _NONE).tally.grades(scale)[2])
        for day in days
    )


def previous_of(period: Period) -> Period:
    """The preceding period of the same length; shorter where the calendar begins."""
    days = min(period.days, (period.start - date.min).days)
    return Period(start=period.start - timedelta(days=days), end=period.start)


def _by_place(
    rows: Iterable[DayScore], equals: Iterable[EqualAnswers], place: Callable[[DayScore | EqualAnswers], date | str]
) -> dict[ScorePlace, ScoredAnswers]:
    """The answers of each day, of each variant, or of all, by criterion."""
    sums: dict[ScorePlace, dict[float, tuple[int, float]]] = {}
    for row in rows:
        scores = sums.setdefault((place(row), row.criterion), {})
        answers, total = scores.get(row.score, (0, 0.0))
        scores[row.score] = (answers + row.answers, total + row.total)
    sets: dict[date | str, list[EqualAnswers]] = {}
    for same in equals:
        sets.setdefault(place(same), []).append(same)
    repeats = {where: repeats_of(some) for where, some in sets.items()}
    return {
        (where, criterion): ScoredAnswers(scores, repeats.get(where, {}).get(criterion, ()))
        for (where, criterion), scores in sums.items()
    }


def repeats_of(equals: Iterable[EqualAnswers]) -> dict[str, tuple[Repeat, ...]]:
    """Sum sets of equal answers over days and variants, by criterion."""
    sums: dict[str, dict[int, tuple[int, float]]] = {}
    for same in equals:
        sets = sums.setdefault(same.criterion, {})
        answers, total = sets.get(same.first, (0, 0.0))
        sets[same.first] = (answers + same.answers, total + same.total)
    return {
        criterion: tuple(Repeat(answers, total / answers) for answers, total in sets.values() if answers > 1)
        for criterion, sets in sums.items()
    }


def _means(some: ByPlace, scale: Scale) -> dict[ScorePlace, Mean]:
    """All means with their intervals, computed at once."""
    intervals = answer_intervals(list(some.values()), scale)
    return {
        place: Mean(answers=answers.answers, mean=answers.mean, low=ends[0] if ends else None, high=ends[1] if ends else None)
        for (place, answers), ends in zip(some.items(), intervals, strict=True)
    }


def _criteria(labels: Mapping[str, str], now: ByPlace, before: ByPlace, scale: Scale) -> list[CriterionFigures]:
    means, previous = _means(now, scale), _means(before, scale)
    return [
        CriterionFigures(
            criterion=criterion,
            label=label,
            mean=means.get(("", criterion), Mean(answers=0)),
            grades=(later := now.get(("", criterion), _NONE)).tally.grades(scale),
            histogram=later.tally.histogram(scale),
            previous=previous.get(("", criterion), Mean(answers=0)),
            change=compare(later, before.get(("", criterion), _NONE), scale) or MeanChange(),
        )
        for criterion, label in labels.items()
    ]


def _variants(variants: Sequence[str], base: str | None, sides: ByPlace, scale: Scale) -> Iterable[VariantFigures]:
    """Every variant, compared with the baseline."""
    means = _means(sides, scale)
    for name in variants:
        overall = sides.get((name, GLOBAL), _NONE)
        yield VariantFigures(
            variant=name,
            overall=means.get((name, GLOBAL), Mean(answers=0)),
            criteria={criterion: mean for (side, criterion), mean in means.items() if side == name and criterion != GLOBAL},
            weak=overall.tally.grades(scale)[2],
            change=(compare(overall, sides.get((base, GLOBAL), _NONE), scale) if base is not None and name != base else None)
            or MeanChange(),
        )


def _cost(judges: Sequence[JudgeDays]) -> dict[str, float]:
    total: dict[str, float] = {}
    for use in judges:
        for currency, cost in use.cost.items():
            total[currency] = total.get(currency, 0.0) + cost
    return total
