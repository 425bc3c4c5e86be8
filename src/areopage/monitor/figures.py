"""The figures of a period, aggregated from the ledger's counts by day. Scores are on the suite's scale.

Means, intervals and comparisons are made of sums of the scores as they were given; grades and histograms count scores as they are
shown, with two decimals.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import date, timedelta

from msgspec import Struct

from areopage.criteria.records import Scale
from areopage.ledger.days import Days
from areopage.ledger.equal_answers import EqualAnswers, read_equals
from areopage.ledger.evaluations import Evaluations
from areopage.ledger.lists import EvaluationLists
from areopage.ledger.queries import DaySums, Filters, JudgeDays, Period, Scope, midnight
from areopage.ledger.records import Evaluation, Standing
from areopage.ledger.store import Ledger
from areopage.scoring.counts import STEPS, Moments, Repeat, Tally, compare
from areopage.suites.loader import Suite

GLOBAL = ""
CERTAIN_UNDER = 0.05
"""A change with a smaller p-value is called certain."""

WORST = 5

Tallies = Mapping[str, Tally]
Means = Mapping[str, Moments]


class Mean(Struct, frozen=True, kw_only=True):
    """A mean with its 95 % interval; None where there is nothing, the interval None under two answers."""

    answers: int
    mean: float | None = None
    low: float | None = None
    high: float | None = None


class Change(Struct, frozen=True, kw_only=True):
    """A difference of two means (later minus earlier, or variant minus the other), its 95 % interval, and the two-sided p-value.

    `certain`: chance alone would make such a difference in less than one of twenty cases. All None where either side has under
    two answers.
    """

    difference: float | None = None
    low: float | None = None
    high: float | None = None
    p_value: float | None = None
    certain: bool | None = None


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
    change: Change


class DayFigures(Struct, frozen=True, kw_only=True):
    """One day's mean per criterion ("" the global one); days without answers have no means."""

    day: date
    means: dict[str, Mean]
    weak: int


class VariantFigures(Struct, frozen=True, kw_only=True):
    """One side of an A/B test; `change` is its global mean minus that of the baseline (empty for the baseline)."""

    variant: str
    overall: Mean
    criteria: dict[str, Mean]
    weak: int
    change: Change


class JudgeFigures(Struct, frozen=True, kw_only=True):
    """What one judge did: `seconds_per_call` is a mean, None without calls.

    `scored_share`, in [0, 1], is of its verdicts but for those that say that a criterion does not apply; None without any.
    """

    use: JudgeDays
    scored_share: float | None
    seconds_per_call: float | None


class PeriodFigures(Struct, frozen=True, kw_only=True):
    """Everything about a period.

    `coverage` is scored / (scored + unscored + failed + still waiting), None where there is none of them. Answers that
    sampling left out were not to be judged: they are `left_out`, and in no share. The counts of what waits are those of now,
    for any period. `cost` is by currency. `baseline` is the variant that the others are compared with; None without variants.
    `worst` has no excellent answer where there are others.
    """

    period: Period
    scope: Scope
    scored: int
    unscored: int
    failed: int
    waiting: int
    left_out: int
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
    def planned(self) -> int:
        """The answers that were to be judged, which coverage is a share of."""
        return self.scored + self.unscored + self.failed + self.waiting

    @property
    def left_out_share(self) -> float:
        """The share of submitted answers that sampling left out, in [0, 1]."""
        return self.left_out / (self.planned + self.left_out) if self.left_out else 0.0


def measure(
    ledger: Ledger,
    period: Period,
    scope: Scope,
    scale: Scale,
    labels: Mapping[str, str],
    *,
    baseline: str | None = None,
) -> PeriodFigures:
    """Compute a period's figures and the change from the previous period.

    Args:
        scope: golden questions count only where its source names them.
        scale: the suite's.
        labels: what people call each criterion, by its path, in the order in which criteria are shown; criteria that have scores
            and no label come after them.
        baseline: the variant that the others are compared with; one without answers counts as None: the first by name.

    Raises:
        StorageError: the ledger cannot be read.
    """
    counts, lists = Days(ledger), EvaluationLists(ledger)
    sums, sides = counts.sums(period, scope, scale), _sides(counts, period, scope)
    equals = _equals(ledger, period, scope)
    now = _moments(sums, equals, scale)
    before = _moments(counts.sums(previous_of(period), scope, scale), _equals(ledger, previous_of(period), scope), scale)
    base = baseline if baseline in sides else min(sides, key=_by_name, default=None)
    tallies = _total(sides)
    totals, judges = counts.totals(period, scope), counts.judges(period)
    backlog = Evaluations(ledger).backlog(() if scope.source is None else (scope.source,))
    states = ("scored", "unscored", "failed", "left_out")
    scored, unscored, failed, left_out = (sum(getattr(day, name) for day in totals) for name in states)
    waiting = backlog.waiting
    planned = scored + unscored + failed + waiting
    newest = lists.page(Filters(period=period, source=scope.source, variant=scope.variant), limit=1)
    return PeriodFigures(
        period=period,
        scope=scope,
        scored=scored,
        unscored=unscored,
        failed=failed,
        waiting=waiting,
        left_out=left_out,
        coverage=scored / planned if planned else None,
        overall=_criterion(GLOBAL, "", tallies, now, before, scale),
        criteria=tuple(
            _criterion(path, label, tallies, now, before, scale) for path, label in _shown_criteria(now, before, labels).items()
        ),
        days=_days(period, sums, equals, scale),
        variants=tuple(_variants(sides, base, sums, equals, scale)),
        baseline=base,
        judges=tuple(_health(use) for use in judges),
        worst=tuple(_weakest(lists.worst(period, scope, WORST, higher_is_better=scale.higher_is_better))),
        seconds=sum(day.seconds for day in totals),
        prompt_tokens=sum(day.prompt_tokens for day in totals),
        completion_tokens=sum(day.completion_tokens for day in totals),
        cost=_cost(judges),
        qualification=newest[0].qualification if newest else "",
        standings=newest[0].standings if newest else (),
    )


def criterion_labels(suite: Suite, language: str) -> dict[str, str]:
    """Display names of a suite's criteria by path, in the registry's order."""
    return {entry.path: suite.registry.label(entry.id, language) for entry in suite.registry.entries.values()}


def daily_figures(ledger: Ledger, period: Period, scope: Scope, scale: Scale) -> tuple[DayFigures, ...]:
    """The days of a period, including days without scores.

    Raises:
        StorageError: the ledger cannot be read.
    """
    return _days(period, Days(ledger).sums(period, scope, scale), _equals(ledger, period, scope), scale)


def _equals(ledger: Ledger, period: Period, scope: Scope) -> list[EqualAnswers]:
    return read_equals(ledger, midnight(period.start), midnight(period.end), scope)


def _days(period: Period, sums: Iterable[DaySums], equals: Iterable[EqualAnswers], scale: Scale) -> tuple[DayFigures, ...]:
    by_day: dict[date, list[DaySums]] = {}
    for one in sums:
        by_day.setdefault(one.day, []).append(one)
    equal_by_day: dict[date, list[EqualAnswers]] = {}
    for same in equals:
        equal_by_day.setdefault(same.day, []).append(same)
    days = [period.start + timedelta(days=number) for number in range(period.days)]
    return tuple(
        DayFigures(
            day=day,
            means={
                criterion: _mean(moments)
                for criterion, moments in _moments(by_day.get(day, ()), equal_by_day.get(day, ()), scale).items()
            },
            weak=sum(one.weak for one in by_day.get(day, ()) if one.criterion == GLOBAL),
        )
        for day in days
    )


def previous_of(period: Period) -> Period:
    """The preceding period of the same length; shorter where the calendar begins."""
    days = min(period.days, (period.start - date.min).days)
    return Period(start=period.start - timedelta(days=days), end=period.start)


def _shown_criteria(now: Iterable[str], before: Iterable[str], labels: Mapping[str, str]) -> dict[str, str]:
    """The criteria that have scores, or a label, with what they are called, in the order in which they are shown."""
    others = sorted({*now, *before} - {GLOBAL, *labels})
    return dict(labels) | {path: path.rpartition(".")[2].replace("_", " ") for path in others}


def _sides(counts: Days, period: Period, scope: Scope) -> dict[str, Tallies]:
    found = counts.variants(period, scope)
    return {variant: {criterion: Tally(scores) for criterion, scores in by.items()} for variant, by in found.items()}


def _total(sides: Mapping[str, Tallies]) -> dict[str, Tally]:
    total: dict[str, Tally] = {}
    for tallies in sides.values():
        for criterion, tally in tallies.items():
            total[criterion] = total[criterion].merge(tally) if criterion in total else tally
    return total


def _moments(sums: Iterable[DaySums], equals: Iterable[EqualAnswers], scale: Scale) -> dict[str, Moments]:
    repeats, step = repeats_of(equals), (scale.max - scale.min) / STEPS
    found: dict[str, Moments] = {}
    for one in sums:
        known = found.get(one.criterion) or Moments(repeats=repeats.get(one.criterion, ()), step=step)
        found[one.criterion] = known.plus(one.answers, one.total, one.squares)
    return found


def repeats_of(equals: Iterable[EqualAnswers]) -> dict[str, tuple[Repeat, ...]]:
    """Sum sets of equal answers over days and variants, by criterion."""
    sums: dict[str, dict[int, tuple[int, float]]] = {}
    for one in equals:
        sets = sums.setdefault(one.criterion, {})
        answers, total = sets.get(one.first, (0, 0.0))
        sets[one.first] = (answers + one.answers, total + one.total)
    return {
        criterion: tuple(Repeat(answers, total / answers) for answers, total in sets.values() if answers > 1)
        for criterion, sets in sums.items()
    }


def _mean(moments: Moments) -> Mean:
    low, high = moments.interval or (None, None)
    return Mean(answers=moments.answers, mean=moments.mean, low=low, high=high)


def _change(later: Moments, earlier: Moments) -> Change:
    found = compare(later, earlier)
    if found is None:
        return Change()
    certain = found.p_value < CERTAIN_UNDER
    return Change(difference=found.difference, low=found.low, high=found.high, p_value=found.p_value, certain=certain)


def _criterion(criterion: str, label: str, tallies: Tallies, now: Means, before: Means, scale: Scale) -> CriterionFigures:
    tally, later, earlier = tallies.get(criterion, Tally()), now.get(criterion, Moments()), before.get(criterion, Moments())
    return CriterionFigures(
        criterion=criterion,
        label=label,
        mean=_mean(later),
        grades=tally.grades(scale),
        histogram=tally.histogram(scale),
        previous=_mean(earlier),
        change=_change(later, earlier),
    )


def _weakest(worst: Sequence[Evaluation]) -> Sequence[Evaluation]:
    """Those that are not excellent, if there are any."""
    return [one for one in worst if one.grade != "excellent"] or worst


def _by_name(variant: str) -> tuple[bool, str]:
    """The order of variants: by name, answers without one last."""
    return not variant, variant


def _variants(
    sides: Mapping[str, Tallies], base: str | None, sums: Sequence[DaySums], equals: Sequence[EqualAnswers], scale: Scale
) -> Iterable[VariantFigures]:
    """Every variant, compared with the baseline."""
    means = {
        name: _moments((one for one in sums if one.variant == name), (one for one in equals if one.variant == name), scale)
        for name in sides
    }
    for name in sorted(sides, key=_by_name):
        overall = means[name].get(GLOBAL, Moments())
        yield VariantFigures(
            variant=name,
            overall=_mean(overall),
            criteria={criterion: _mean(moments) for criterion, moments in means[name].items() if criterion != GLOBAL},
            weak=sides[name].get(GLOBAL, Tally()).grades(scale)[2],
            change=Change() if base is None or name == base else _change(overall, means[base].get(GLOBAL, Moments())),
        )


def _health(use: JudgeDays) -> JudgeFigures:
    verdicts = sum(use.outcomes.values()) - use.outcomes.get("not_applicable", 0)
    return JudgeFigures(
        use=use,
        scored_share=use.outcomes.get("scored", 0) / verdicts if verdicts else None,
        seconds_per_call=use.seconds / use.calls if use.calls else None,
    )


def _cost(judges: Sequence[JudgeDays]) -> dict[str, float]:
    total: dict[str, float] = {}
    for use in judges:
        for currency, cost in use.cost.items():
            total[currency] = total.get(currency, 0.0) + cost
    return total


def interval_on(mean: Mean, scale: Scale) -> tuple[float, float] | None:
    """The interval of a mean, cut at the ends of its scale."""
    if mean.low is None or mean.high is None:
        return None
    return max(mean.low, scale.min), min(mean.high, scale.max)
