"""How many passes the judges made and why, in the report of a benchmark run."""

from functools import reduce

from areopage.bench import RunView
from areopage.locales import MISSING, Locale
from areopage.report.elements import columns, rows
from areopage.report.model import Cell, Details, Facts, Line, Paragraph, Section, Table
from areopage.report.results.adaptive_passes import AdaptivePasses, CriterionPasses, adaptive_passes
from areopage.report.results.run_results import criterion_label
from areopage.scoring import REASONS


def passes_section(view: RunView, locale: Locale) -> Section | None:
    """Build the section; None where every judge made all of its passes."""
    found = adaptive_passes(view)
    if found is None:
        return None
    added = found.calls - sum(one.reasons["start"] for one in found.criteria.values())
    facts: list[tuple[str, Line]] = [
        (locale.say("passes_made"), locale.say("passes_made_of", calls=locale.whole(found.calls), added=locale.whole(added))),
        (locale.say("passes_rounds"), locale.whole(found.rounds)),
        (locale.say("passes_bounds"), _bounds(found, locale)),
        (locale.say("passes_stopped"), locale.say(f"passes_stopped_{found.stopped}")),
    ]
    lead = locale.count("passes_lead", found.start, precision=locale.short(found.precision))
    table = Details(summary=locale.say("passes_by_criterion"), blocks=(_table(found, view, locale),))
    blocks = (Paragraph(text=lead), Facts(items=tuple(facts)), table, Paragraph(text=locale.say("passes_bias"), look="note"))
    return Section(id="passes", title=locale.say("passes_title"), blocks=blocks)


def _bounds(found: AdaptivePasses, locale: Locale) -> str:
    told = [locale.say("passes_most", n=locale.whole(found.most))]
    if found.budget_calls is not None:
        told.append(locale.say("passes_budget_calls", n=locale.whole(found.budget_calls)))
    if found.budget_cost is not None:
        told.append(locale.say("passes_budget_cost", n=locale.short(found.budget_cost)))
    return reduce(lambda one, other: locale.say("then", one=one, other=other), told)


def _table(found: AdaptivePasses, view: RunView, locale: Locale) -> Table:
    criteria = view.spec.criteria_by_id()

    def row(id: str, one: CriterionPasses) -> tuple[Cell | str, ...]:
        return (
            Cell(text=criterion_label(criteria[id]), title=id),
            locale.whole(one.passes),
            *(locale.whole(one.reasons[name]) for name in REASONS[1:]),
            locale.say("failures_of", failed=locale.whole(one.cases_added), scored=locale.whole(one.cases)),
            locale.whole(one.unsettled),
            _shift(one, locale),
        )

    keys = ["passes_count", *(f"passes_{name}" for name in REASONS[1:]), "passes_cases", "passes_unsettled", "passes_shift"]
    heads = columns(*map(locale.say, keys), first=locale.say("criterion"))
    return Table(columns=heads, rows=rows(row(id, one) for id, one in found.criteria.items()), css="failures")


def _shift(one: CriterionPasses, locale: Locale) -> str:
    shift = one.stopping
    if shift is None:
        return MISSING
    value = locale.number(shift.shift)
    if shift.low is None or shift.high is None:
        return value
    return f"{value}, {locale.say('alpha_interval', low=locale.number(shift.low), high=locale.number(shift.high))}"
