"""How many cases and passes a wished precision takes, and what they cost."""

from collections.abc import Sequence

import msgspec
import numpy as np
from msgspec import Struct

from areopage.bench.planning.estimate import estimate
from areopage.bench.results.run_view import RunView
from areopage.bench.spec import RunCase, RunSpec
from areopage.errors import UserError
from areopage.scoring import (
    CaseValues,
    Column,
    Detectable,
    Interval,
    NodePath,
    assumed_values,
    cases_needed,
    mean_interval,
    upper_bound,
    with_passes,
)

PASSES = (1, 2, 3, 5)
_BOUND = 0.975


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


class PassesPlan(Struct, frozen=True, kw_only=True):
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
    passes: tuple[PassesPlan, ...]
    cheapest: PassesPlan | None
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
    own, factor = _own(values, row), len(cases) / float(values.known[row].sum())
    noise = float(values.noise[row])
    now = max(judge.passes for judge in view.spec.judges)
    known = not np.isnan(noise)
    plans = [
        _with_passes(
            view.spec,
            cases,
            number,
            cases_needed(with_passes(own, noise, now / number) if known else own, values.low[row], values.high[row], precision),
            factor,
        )
        for number in (sorted({*PASSES, now}) if known else [now])
    ]
    return _plan(precision, len(cases), needed, plans, own, scale.max - scale.min)


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
        own = assumed_values(middle, spread, worst, best)
    except ValueError as fault:
        raise UserError(f"--spread {spread:g} with --mean {middle:g}: {fault} ({scale.min:g} to {scale.max:g})") from fault
    found = cases_needed(own, scale.min, scale.max, precision)
    now = max(judge.passes for judge in spec.judges)
    plans = [_with_passes(spec, cases, now, found, 1.0)]
    scores = (NeededCases(path=(), half_width=None, cases=found),)
    return _plan(precision, 0, scores, plans, own, scale.max - scale.min)


def _check(precision: float, width: float) -> None:
    if not 0 < precision < width / 2:
        raise UserError(f"--precision {precision:g}: give points of the scale, more than 0 and less than {width / 2:g}")


def _own(values: CaseValues, row: int) -> Column:
    own: Column = values.values[row][values.known[row] > 0]
    return own


def _needed(values: CaseValues, row: int, cases: int, precision: float) -> NeededCases:
    own = _own(values, row)
    low, high = float(values.low[row]), float(values.high[row])
    ends = mean_interval(own, low, high)
    if values.cases[row] < Interval.MIN_CASES:
        return NeededCases(path=values.nodes[row], half_width=None, cases=None)
    found = cases_needed(own, low, high, precision)
    return NeededCases(
        path=values.nodes[row],
        half_width=(min(ends[1], values.ends[1]) - max(ends[0], values.ends[0])) / 2.0,
        cases=None if found is None else _scaled(found, cases / len(own)),
    )


def _scaled(number: float, factor: float) -> int:
    return int(np.ceil(number * factor - 1e-9))


def _with_passes(spec: RunSpec, cases: Sequence[RunCase], passes: int, needed: int | None, factor: float) -> PassesPlan:
    """What a run with a number of passes asks for.

    Args:
        needed: clusters of cases; `factor` cases of the dataset each.
    """
    if needed is None:
        return PassesPlan(passes=passes, cases=None)
    judges = tuple(msgspec.structs.replace(one, pass_options=(one.pass_options * passes)[:passes]) for one in spec.judges)
    size, wanted = estimate(msgspec.structs.replace(spec, judges=judges), cases), _scaled(needed, factor)
    times = wanted / max(1, len(cases))
    return PassesPlan(
        passes=passes,
        cases=wanted,
        calls=_scaled(size.calls, times),
        prompt_tokens=_scaled(size.prompt_tokens, times),
        completion_tokens=_scaled(size.completion_tokens, times),
        costs={currency: amount * times for currency, amount in size.costs.items()},
    )


def _plan(
    precision: float, from_cases: int, scores: tuple[NeededCases, ...], plans: Sequence[PassesPlan], own: Column, span: float
) -> PrecisionPlan:
    cheapest = min((one for one in plans if one.cases is not None), key=lambda one: (one.calls, one.cases or 0), default=None)
    cases = cheapest.cases if cheapest else None
    return PrecisionPlan(
        precision=precision,
        from_cases=from_cases,
        scores=scores,
        passes=tuple(plans),
        cheapest=cheapest,
        difference=Detectable.difference_of(own, span, cases) if cases else None,
        failures=upper_bound(0, cases, _BOUND) if cases else None,
    )
