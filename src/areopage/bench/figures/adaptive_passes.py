"""How many passes a run made and why; only of runs with adaptive passes."""

from collections import Counter
from collections.abc import Iterator
from functools import reduce
from typing import Literal

from msgspec import Struct

from areopage.bench.figures.figure import Figure, Page
from areopage.bench.pass_allocation import PassPlan, StoppingShift
from areopage.bench.results.run_data import RunData
from areopage.bench.words import count_of
from areopage.locales import MISSING, Locale
from areopage.records import record_from
from areopage.report import Cell, Details, Facts, Line, Paragraph, Section, Table, columns, rows, with_interval

Stopped = Literal["settled", "budget", "open"]
"""Why no more passes were added: none was worth its price; a budget was spent; calls of the last round are open."""


class CriterionPasses(Struct, frozen=True, kw_only=True):
    """The passes on one criterion.

    Args:
        passes: how many are planned; `reasons` counts them by why they were: `start`, every case has it; `pilot`, to learn how
            noisy a judge is; `floor`, a release floor depended on the case; `decision`, it was not settled whether the score is a
            failure; `precision`, the score's interval was wide.
        cases: how many cases are judged; `cases_added`, how many of them have more than the first passes.
        unsettled: the cases that would get another pass but for `most` and the budget.
        stopping: the cases' scores by all passes beside those by the first passes alone, which averages rest on; null without a
            case that has both.
    """

    passes: int
    reasons: dict[str, int]
    cases: int
    cases_added: int
    unsettled: int
    stopping: StoppingShift | None


class AdaptivePasses(Struct, frozen=True, kw_only=True):
    """The adaptive passes of a run.

    Args:
        start, most, precision, reliability, risk, budget_calls, budget_cost, seed: as set; `precision` on the run's scale.
        rounds: how many there were, the first passes included.
        calls: planned judge calls.
        cost: of those with a price, in the currency of their judges; calls that the ledger knew are counted too.
        criteria: by the criterion's id.
    """

    start: int
    most: int
    precision: float
    reliability: float | None
    risk: float
    budget_calls: int | None
    budget_cost: float | None
    seed: int
    rounds: int
    calls: int
    cost: float
    stopped: Stopped
    criteria: dict[str, CriterionPasses]


def _adaptive_passes(view: RunData) -> AdaptivePasses | None:
    """How many passes were made and why; null where every judge made all of its passes."""
    settings, plan = view.spec.adaptive, view.passes.plan
    if settings is None or plan is None:
        return None
    return record_from(
        AdaptivePasses,
        settings,
        budget_calls=settings.calls,
        budget_cost=settings.cost,
        rounds=plan.rounds,
        calls=sum(view.passes.items.values()),
        cost=sum({judgment.key: judgment.cost or 0.0 for _, _, judgment in view.judgments.numbered()}.values()),
        stopped="open" if plan.waiting else "budget" if plan.spent else "settled",
        criteria=dict(_by_criterion(view, plan)),
    )


def _by_criterion(view: RunData, plan: PassPlan) -> Iterator[tuple[str, CriterionPasses]]:
    first = view.passes.first or 0
    reasons: dict[str, Counter[str]] = {}
    counts: dict[str, Counter[str]] = {}
    pairs: dict[tuple[str, str, int], int] = {}
    unsettled: dict[str, set[str]] = {}
    for row, ((case, criterion, _, turn), count) in enumerate(view.passes.items.items()):
        reasons.setdefault(criterion, Counter()).update(PassPlan.REASONS[code] for code in plan.reasons[row, :count])
        passes_by_case = counts.setdefault(criterion, Counter())
        passes_by_case[case] = max(passes_by_case[case], count)
        if plan.unsettled[pairs.setdefault((case, criterion, turn), len(pairs))]:
            unsettled.setdefault(criterion, set()).add(case)
    shifts = _shifts(view)
    for key in view.spec.criteria_by_id():
        if counted := reasons.get(key):
            yield (
                key,
                CriterionPasses(
                    passes=counted.total(),
                    reasons={name: counted[name] for name in PassPlan.REASONS},
                    cases=len(counts[key]),
                    cases_added=sum(count > first for count in counts[key].values()),
                    unsettled=len(unsettled.get(key, ())),
                    stopping=shifts.get(key),
                ),
            )


def _shifts(view: RunData) -> dict[str, StoppingShift]:
    """The scores by all passes beside those by the first ones, by criterion."""
    every = {(score.case_id, score.criterion): score.score for score in view.scores.criteria}
    scores: dict[str, list[tuple[float, float]]] = {}
    for first in view.scores.averaged:
        late = every.get((first.case_id, first.criterion))
        if first.score is not None and late is not None:
            scores.setdefault(first.criterion, []).append((first.score, late))
    shifts = {criterion: StoppingShift.of(*map(list, zip(*pairs, strict=True))) for criterion, pairs in scores.items()}
    return {criterion: shift for criterion, shift in shifts.items() if shift is not None}


def _section(view: RunData, page: Page) -> Section | None:
    adaptive, locale = ADAPTIVE_PASSES.of(view), page.locale
    if adaptive is None:
        return None
    added = adaptive.calls - sum(passes.reasons["start"] for passes in adaptive.criteria.values())
    bounds = [locale.say("passes_most", n=locale.whole(adaptive.most))]
    if adaptive.budget_calls is not None:
        bounds.append(locale.say("passes_budget_calls", n=locale.whole(adaptive.budget_calls)))
    if adaptive.budget_cost is not None:
        bounds.append(locale.say("passes_budget_cost", n=locale.short(adaptive.budget_cost)))
    facts: list[tuple[str, Line]] = [
        (locale.say("passes_made"), locale.say("passes_made_of", calls=locale.whole(adaptive.calls), added=locale.whole(added))),
        (locale.say("passes_rounds"), locale.whole(adaptive.rounds)),
        (locale.say("passes_bounds"), reduce(lambda text, more: locale.say("then", one=text, other=more), bounds)),
        (locale.say("passes_stopped"), locale.say(f"passes_stopped_{adaptive.stopped}")),
    ]
    lead = locale.count("passes_lead", adaptive.start, precision=locale.short(adaptive.precision))
    table = Details(summary=locale.say("passes_by_criterion"), blocks=(_table(adaptive, view, locale),))
    blocks = (Paragraph(text=lead), Facts(items=tuple(facts)), table, Paragraph(text=locale.say("passes_bias"), look="note"))
    return Section(id="passes", title=locale.say("passes_title"), blocks=blocks)


def _table(adaptive: AdaptivePasses, view: RunData, locale: Locale) -> Table:
    criteria = view.spec.criteria_by_id()

    def row(id: str, passes: CriterionPasses) -> tuple[Cell | str, ...]:
        shift = passes.stopping
        return (
            Cell(text=criteria[id].title, title=id),
            locale.whole(passes.passes),
            *(locale.whole(passes.reasons[name]) for name in PassPlan.REASONS[1:]),
            count_of(locale, passes.cases_added, passes.cases),
            locale.whole(passes.unsettled),
            with_interval(locale, shift.shift, shift.low, shift.high) if shift else MISSING,
        )

    reasons = [f"passes_{name}" for name in PassPlan.REASONS[1:]]
    keys = ["passes_count", *reasons, "passes_cases", "passes_unsettled", "passes_shift"]
    heads = columns(*map(locale.say, keys), first=locale.say("criterion"))
    return Table(columns=heads, rows=rows(row(id, passes) for id, passes in adaptive.criteria.items()), css="failures")


ADAPTIVE_PASSES: Figure[AdaptivePasses | None] = Figure(
    id="adaptive_passes", compute=_adaptive_passes, stored="metadata", section=_section
)
