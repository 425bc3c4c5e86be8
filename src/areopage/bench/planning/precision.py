"""How many cases and passes a wished precision takes, and what they cost."""

from collections.abc import Sequence
from math import sqrt

import msgspec
import numpy as np
from msgspec import Struct

from areopage.bench.planning.run_plan import plan_run
from areopage.bench.results.run_view import RunView
from areopage.bench.spec import RunCase, RunSpec
from areopage.errors import UserError
from areopage.scoring import CaseValues, Column, Detectable, Interval, NodePath, least_enough, mean_interval, upper_bound

PASSES = (1, 2, 3, 5)
_BOUND = 0.975
MOST_CASES = 1_000_000
_ALIKE = 1e-9
_ASSUMED = 1000


class NeededCases(Struct, frozen=True, kw_only=True):
    """One score of the tree.

    Args:
        path: in the tree of scores; () is the final score.
        half_width: half of the width of its interval in the run that the plan rests on; None for assumed scores.
        cases: how many cases of the dataset make it the wished one; None over a million, and for a score of under five cases.
    """

    path: NodePath
    half_width: float | None
    cases: int | None


class PlannedSize(Struct, frozen=True, kw_only=True):
    """A run with the wished precision of the final score.

    Args:
        passes: of each judge.
        cases: None over a million.
        costs: by currency; empty without a price.
    """

    passes: int
    cases: int | None
    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    costs: dict[str, float] = {}


class PrecisionPlan(Struct, frozen=True, kw_only=True):
    """What a wished half-width takes.

    Args:
        precision: half of the width of a 95 % interval, in points of the scale.
        from_cases: the cases of the run that the spread is from; 0 where it is assumed.
        passes: one row per number of passes; only that of the run where its spread over passes is not known.
        cheapest: the row with the fewest calls.
        difference: the smallest difference between two targets that the cheapest row's cases can tell.
        failures: the smallest share of failing cases of which its cases show at least one, with a certainty of 97.5 %.
    """

    precision: float
    from_cases: int
    scores: tuple[NeededCases, ...]
    passes: tuple[PlannedSize, ...]
    cheapest: PlannedSize | None
    difference: float | None
    failures: float | None


def plan_like(view: RunView, cases: Sequence[RunCase], precision: float) -> PrecisionPlan:
    """A plan from the spread of an earlier run's scores.

    Raises:
        UserError: the run has a final score of fewer than five cases, or the precision is not within its scale.
    """
    scale = view.spec.scale
    _check(precision, scale.max - scale.min)
    values = view.scores.values
    if () not in values.nodes or values.cases[values.nodes.index(())] < Interval.MIN_CASES:
        raise UserError(f"run {view.run.id} has scores of fewer than five cases: give --spread")
    needed = tuple(_needed(values, row, len(cases), precision) for row in range(len(values.nodes)))
    row = values.nodes.index(())
    column, factor = _known_values(values, row), len(cases) / float(values.counted[row].sum())
    noise = float(values.noise[row])
    now = max(judge.passes for judge in view.spec.judges)
    varies = not np.isnan(noise)
    plans: list[PlannedSize] = []
    for passes in sorted({*PASSES, now}) if varies else [now]:
        spread = with_passes(column, noise, now / passes) if varies else column
        enough = cases_needed(spread, values.low[row], values.high[row], precision)
        plans.append(_planned_size(view.spec, cases, passes, enough, factor))
    return _plan(precision, len(cases), needed, plans, column, scale.max - scale.min)


def plan_assumed(
    spec: RunSpec, cases: Sequence[RunCase], precision: float, *, spread: float, mean: float | None = None
) -> PrecisionPlan:
    """A plan from a stated spread of the cases' final scores.

    Args:
        spread: their standard deviation, in points.
        mean: of the final scores; None: four fifths of the scale from its worst end.

    Raises:
        UserError: no scores on the scale have this mean and spread, or the precision is not within the scale.
    """
    scale = spec.scale
    _check(precision, scale.max - scale.min)
    worst, best = (scale.min, scale.max) if scale.higher_is_better else (scale.max, scale.min)
    middle = worst + 0.8 * (best - worst) if mean is None else mean
    try:
        column = assumed_values(middle, spread, worst, best)
    except ValueError as fault:
        raise UserError(f"--spread {spread:g} with --mean {middle:g}: {fault} ({scale.min:g} to {scale.max:g})") from fault
    needed = cases_needed(column, scale.min, scale.max, precision)
    now = max(judge.passes for judge in spec.judges)
    plans = [_planned_size(spec, cases, now, needed, 1.0)]
    scores = (NeededCases(path=(), half_width=None, cases=needed),)
    return _plan(precision, 0, scores, plans, column, scale.max - scale.min)


def _check(precision: float, width: float) -> None:
    if not 0 < precision < width / 2:
        raise UserError(f"--precision {precision:g}: give points of the scale, more than 0 and less than {width / 2:g}")


def _known_values(values: CaseValues, row: int) -> Column:
    column: Column = values.values[row][values.counted[row] > 0]
    return column


def _needed(values: CaseValues, row: int, cases: int, precision: float) -> NeededCases:
    column = _known_values(values, row)
    low, high = float(values.low[row]), float(values.high[row])
    ends = mean_interval(column, low, high)
    if values.cases[row] < Interval.MIN_CASES:
        return NeededCases(path=values.nodes[row], half_width=None, cases=None)
    needed = cases_needed(column, low, high, precision)
    return NeededCases(
        path=values.nodes[row],
        half_width=(min(ends[1], values.ends[1]) - max(ends[0], values.ends[0])) / 2.0,
        cases=None if needed is None else _scaled(needed, cases / len(column)),
    )


def _scaled(number: float, factor: float) -> int:
    return int(np.ceil(number * factor - 1e-9))


def _planned_size(spec: RunSpec, cases: Sequence[RunCase], passes: int, needed: int | None, factor: float) -> PlannedSize:
    """What a run with a number of passes asks for; `needed` are clusters of `factor` cases of the dataset each."""
    if needed is None:
        return PlannedSize(passes=passes, cases=None)
    judges = tuple(msgspec.structs.replace(judge, pass_options=(judge.pass_options * passes)[:passes]) for judge in spec.judges)
    plan, wanted = plan_run(msgspec.structs.replace(spec, judges=judges), cases), _scaled(needed, factor)
    times = wanted / max(1, len(cases))
    return PlannedSize(
        passes=passes,
        cases=wanted,
        calls=_scaled(plan.size.calls, times),
        prompt_tokens=_scaled(plan.prompt_tokens, times),
        completion_tokens=_scaled(plan.answer_tokens, times),
        costs={currency: amount * times for currency, amount in plan.costs.items()},
    )


def _plan(
    precision: float, from_cases: int, scores: tuple[NeededCases, ...], plans: Sequence[PlannedSize], column: Column, span: float
) -> PrecisionPlan:
    cheapest = min(
        (plan for plan in plans if plan.cases is not None), key=lambda plan: (plan.calls, plan.cases or 0), default=None
    )
    cases = cheapest.cases if cheapest else None
    return PrecisionPlan(
        precision=precision,
        from_cases=from_cases,
        scores=scores,
        passes=tuple(plans),
        cheapest=cheapest,
        difference=Detectable.difference_of(column, span, cases) if cases else None,
        failures=upper_bound(0, cases, _BOUND) if cases else None,
    )


def cases_needed(values: Column, low: float, high: float, precision: float) -> int | None:
    """How many values such as these make half of the interval's width at most `precision`; None over a million.

    Args:
        values: one for each case or cluster of an earlier run, or assumed ones; shape (cases,).
        low, high: the ends of the range of the values.
        precision: > 0, in the values' unit.
    """

    def is_enough(cases: int) -> bool:
        ends = mean_interval(kinds, low, high, counts=counts * (cases / len(values)))
        return (ends[1] - ends[0]) / 2.0 <= precision

    kinds, times = np.unique(values.round(9), return_counts=True)
    counts = times.astype(np.float64)
    return least_enough(is_enough, Interval.MIN_CASES, MOST_CASES)


def with_passes(values: Column, noise: float, factor: float) -> Column:
    """Values as they would spread with other numbers of passes.

    Args:
        values: one for each case.
        noise: the part of their variance that comes from passes.
        factor: passes now over passes then.
    """
    variance = float(values.var())
    if variance < _ALIKE:
        return values
    between = max(0.0, variance - noise)
    scaled: Column = values.mean() + (values - values.mean()) * sqrt((between + min(noise, variance) * factor) / variance)
    return scaled


def assumed_values(mean: float, spread: float, worst: float, best: float) -> Column:
    """A thousand values with about this mean and standard deviation: most a little better than the mean, few far worse.

    Args:
        mean, spread: in points of the scale.
        worst, best: the ends of the scale.

    Raises:
        ValueError: no scores on the scale have this mean and spread.
    """
    better = min(abs(best - mean), spread)
    worse = spread**2 / better if better > 0 else 0.0
    if spread < 0 or worse > abs(mean - worst) + _ALIKE or (better <= 0 < spread):
        raise ValueError("no scores on the scale have this mean and spread")
    if spread <= 0:
        return np.full(_ASSUMED, mean)
    sign = 1.0 if best > worst else -1.0
    few = max(1, round(_ASSUMED * better / (better + worse)))
    return np.repeat([mean - sign * worse, mean + sign * better], [few, _ASSUMED - few])
