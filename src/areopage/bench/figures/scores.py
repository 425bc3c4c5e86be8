"""The scores of a run by category and criterion, with their intervals, and what its cases can tell."""

from collections.abc import Iterator
from math import ceil, floor

from areopage.bench.figures.agreement import AGREEMENT
from areopage.bench.figures.failures import FAILURES
from areopage.bench.figures.figure import Fact, Figure, Page
from areopage.bench.results.jury_agreement import JuryAgreement
from areopage.bench.results.run_data import RunData
from areopage.criteria import Scale
from areopage.locales import MISSING, NARROW, Locale
from areopage.report import Cell, Line, Paragraph, Row, Section, Span, Table, axis_of, columns, corrected_cell, line, point_on
from areopage.scoring import Detectable, Interval, Node, NodePath


def score_or_unscored(locale: Locale, score: float | None) -> str:
    """A score, or the word for none."""
    return locale.say("unscored") if score is None else locale.number(score)


def _final_interval(view: RunData) -> Interval | None:
    """The 95 % interval of the final score, for other cases like these and the same judges; null under five scored cases."""
    return view.scores.interval


def _intervals(view: RunData) -> dict[str, Interval]:
    """Those of categories and sub-categories (`category.subcategory`), like `final_interval`."""
    return {".".join(path): interval for path, interval in view.scores.intervals.items() if len(path) in (1, 2)}


def _detectable(view: RunData) -> Detectable:
    """The smallest differences and shares of failures that the run's cases can tell."""
    return Detectable.of(view.scores.values, FAILURES.of(view).first.scored)


def _if_missing(view: RunData) -> tuple[float, float] | None:
    """The final score if all that is missing were the worst, and the best; null where nothing is missing."""
    return view.scores.if_missing


def _settled_weights(view: RunData) -> dict[str, float]:
    """The weights as used: by category, and by `category.subcategory`; each level sums to 1."""
    weights: dict[str, float] = {}
    for category in view.scores.tree.parts:
        weights[category.name] = category.weight
        weights.update((f"{category.name}.{part.name}", part.weight) for part in category.parts)
    return weights


def _weight_warnings(view: RunData) -> tuple[str, ...]:
    """What is wrong with the weights as configured."""
    return tuple(map(str, view.scores.warnings))


def _interval_facts(view: RunData, page: Page) -> Iterator[Fact]:
    interval, locale = view.scores.interval, page.locale
    around: Line = locale.say("no_interval")
    if interval is not None:
        note = Span(f"– {locale.count('interval_cases', interval.cases)}", "soft")
        around = line(locale.interval(interval.low, interval.high), note)
    yield locale.say("interval"), around


def _detectable_facts(view: RunData, page: Page) -> Iterator[Fact]:
    detectable, locale = DETECTABLE.of(view), page.locale
    parts: list[str] = []
    if detectable.difference is not None:
        parts.append(locale.say("detectable_difference", difference=locale.number(detectable.difference)))
    if detectable.failures is not None:
        parts.append(locale.say("detectable_failures", share=locale.percent(detectable.failures, 0)))
    if parts:
        text = locale.say("detectable_and", first=parts[0], second=parts[1]) if len(parts) > 1 else parts[0]
        cases = max(detectable.cases, detectable.failure_cases)
        yield locale.say("detectable"), line(text, Span(f"– {locale.count('detectable_cases', cases)}", "soft"))


def _missing_facts(view: RunData, page: Page) -> Iterator[Fact]:
    if view.scores.if_missing is not None:
        worst, best = map(page.locale.number, view.scores.if_missing)
        yield page.locale.say("if_missing"), page.locale.say("if_missing_text", worst=worst, best=best)


def _section(view: RunData, page: Page) -> Section:
    locale = page.locale
    labels, criteria = view.spec.labels, view.spec.criteria_by_id()
    intervals, shares, axis = view.scores.intervals, view.scores.tree.final_shares, _axis(view)
    labels_of_axis = axis_of(axis, locale)
    ticks = [place for place, _ in labels_of_axis]

    def row(path: NodePath, node: Node) -> Row:
        criterion, interval = criteria.get(node.name), intervals.get(path)
        name = criterion.title if criterion else labels.get(".".join(path))
        failures = FAILURES.of(view).by_criterion.get(node.name)
        missing = "not_applicable" if criterion and failures and not failures.cases else "unscored"
        cells = (
            Cell(text=name, title=".".join(path) if criterion is None else node.name),
            Cell(bar=point_on(axis, node.score, (interval.low, interval.high) if interval else None, ticks)),
            locale.say(missing) if node.score is None else locale.number(node.score),
            MISSING
            if interval is None
            else locale.say("range", low=locale.number(interval.low), high=locale.number(interval.high)),
            *((corrected_cell(view.calibration.criteria.get(node.name), locale),) if view.calibration else ()),
            _agreement(AGREEMENT.of(view).by_criterion[node.name], locale) if criterion else "",
            locale.percent(shares[path]),
            locale.percent(node.coverage),
        )
        return Row(cells=cells, css=f"l{len(path)}")

    named = ("corrected",) if view.calibration else ()
    heads = (locale.say(key) for key in ("score", "interval_short", *named, "agreement", "weight", "coverage"))
    table = Table(
        columns=columns(None, *heads, first=locale.say("part"), css={2: "score"}, axis=labels_of_axis),
        rows=tuple(row(path, node) for path, node in view.scores.tree.paths if path),
        css="tree",
    )
    ends = {"low": locale.short(axis.min), "high": locale.short(axis.max)}
    lead = Paragraph(text=f"{locale.say('scores_lead')} {locale.say('scores_axis', **ends)}", look="soft")
    return Section(id="scores", title=locale.say("scores"), blocks=(lead, table), console=True)


def _agreement(agreement: JuryAgreement, locale: Locale) -> str:
    """The coefficient that says most: α, or AC2 where the scores are too alike for it."""
    name, value = ("AC2", agreement.ac2.ac2) if agreement.standing == "alike" else ("α", agreement.alpha.alpha)
    return MISSING if value is None else f"{name}{NARROW}{locale.number(value)}"


def _axis(view: RunData) -> Scale:
    """The part of the scale between whole points that holds all scores and intervals."""
    scale, nodes = view.spec.scale, [node for _, node in view.scores.tree.paths if node.score is not None]
    values = [node.score for node in nodes if node.score is not None]
    values += [end for interval in view.scores.intervals.values() for end in (interval.low, interval.high)]
    if not values or scale.max - scale.min <= 1:
        return scale
    low, high = max(scale.min, float(floor(min(values)))), min(scale.max, float(ceil(max(values))))
    if scale.higher_is_better:
        return Scale(min(low, scale.max - 1), scale.max, higher_is_better=True)
    return Scale(scale.min, max(high, scale.min + 1), higher_is_better=False)


FINAL_INTERVAL: Figure[Interval | None] = Figure(
    id="final_interval", compute=_final_interval, stored="metadata", facts=_interval_facts, brief=True, section=_section
)
INTERVALS: Figure[dict[str, Interval]] = Figure(id="intervals", compute=_intervals, stored="metadata")
DETECTABLE: Figure[Detectable] = Figure(id="detectable", compute=_detectable, stored="metadata", facts=_detectable_facts)
IF_MISSING: Figure[tuple[float, float] | None] = Figure(
    id="if_missing", compute=_if_missing, stored="metadata", facts=_missing_facts
)
SETTLED_WEIGHTS: Figure[dict[str, float]] = Figure(id="settled_weights", compute=_settled_weights, stored="metadata")
WEIGHT_WARNINGS: Figure[tuple[str, ...]] = Figure(id="weight_warnings", compute=_weight_warnings, stored="metadata")
