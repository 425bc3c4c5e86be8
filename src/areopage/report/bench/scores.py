"""The scores of a benchmark run by category, criterion and age, in its report."""

from math import ceil, floor
from statistics import fmean

import numpy as np

from areopage.bench import RunView
from areopage.criteria import Scale
from areopage.locales import MISSING, NARROW, Locale
from areopage.report.bench.case import audience
from areopage.report.bench.case_index import young_to_old
from areopage.report.elements import axis_of, columns, point_on, rows
from areopage.report.model import Cell, Paragraph, Row, Section, Span, Table, line
from areopage.report.results.calibrated import corrected_text
from areopage.report.results.run_results import criterion_label
from areopage.scoring import (
    MIN_CASES,
    Detectable,
    Interval,
    JuryAgreement,
    Node,
    NodePath,
    mean_interval,
)


def score_or_unscored(locale: Locale, score: float | None) -> str:
    """A score, or the word for none."""
    return locale.say("unscored") if score is None else locale.number(score)


def detectable_text(found: Detectable, locale: Locale) -> str:
    """The smallest difference and share of failures that a run can tell; "" where it can tell neither."""
    parts: list[str] = []
    if found.difference is not None:
        parts.append(locale.say("detectable_difference", difference=locale.number(found.difference)))
    if found.failures is not None:
        parts.append(locale.say("detectable_failures", share=locale.percent(found.failures, 0)))
    return locale.say("detectable_and", first=parts[0], second=parts[1]) if len(parts) > 1 else "".join(parts)


def scores_section(view: RunView, locale: Locale) -> Section:
    """Build the tree of scores with their intervals on the part of the scale that they lie on."""
    labels, criteria = view.spec.labels, view.spec.criteria_by_id()
    intervals, shares, axis = view.scores.intervals, view.scores.tree.final_shares, _axis(view)
    labels_of_axis = axis_of(axis, locale)
    ticks = [place for place, _ in labels_of_axis]

    def row(path: NodePath, node: Node) -> Row:
        criterion, found = criteria.get(node.name), intervals.get(path)
        name = criterion_label(criterion) if criterion else labels.get(".".join(path))
        failures = view.failures.by_criterion.get(node.name)
        missing = "not_applicable" if criterion and failures and not failures.cases else "unscored"
        cells = (
            Cell(text=name, title=".".join(path) if criterion is None else node.name),
            Cell(bar=point_on(axis, node.score, (found.low, found.high) if found else None, ticks)),
            locale.say(missing) if node.score is None else locale.number(node.score),
            _interval(locale, found),
            *((_corrected(view, node, locale),) if view.calibration else ()),
            _agreement(view.agreement.by_criterion[node.name], locale) if criterion else "",
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


def _corrected(view: RunView, node: Node, locale: Locale) -> Cell | str:
    """The corrected mean of a criterion, with the calibration's id as its title."""
    found = view.calibration.criteria.get(node.name) if view.calibration else None
    return Cell(text=corrected_text(found, locale), title=found.calibration) if found else ""


def _agreement(found: JuryAgreement, locale: Locale) -> str:
    """The coefficient that says most: α, or AC2 where the scores are too alike for it."""
    name, value = ("AC2", found.ac2.ac2) if found.standing == "alike" else ("α", found.alpha.alpha)
    return MISSING if value is None else f"{name}{NARROW}{locale.number(value)}"


def _interval(locale: Locale, found: Interval | None) -> str:
    return MISSING if found is None else locale.say("range", low=locale.number(found.low), high=locale.number(found.high))


def _axis(view: RunView) -> Scale:
    """The part of the scale between whole points that holds all scores and intervals."""
    scale, nodes = view.spec.scale, [node for _, node in view.scores.tree.paths if node.score is not None]
    values = [node.score for node in nodes if node.score is not None]
    values += [end for found in view.scores.intervals.values() for end in (found.low, found.high)]
    if not values or scale.max - scale.min <= 1:
        return scale
    low, high = max(scale.min, float(floor(min(values)))), min(scale.max, float(ceil(max(values))))
    if scale.higher_is_better:
        return Scale(min(low, scale.max - 1), scale.max, higher_is_better=True)
    return Scale(scale.min, max(high, scale.min + 1), higher_is_better=False)


def ages_section(view: RunView, locale: Locale) -> Section | None:
    """Build the scores by age; None where no case states one."""
    axis = axis_of(view.spec.scale, locale)
    ticks = [place for place, _ in axis]
    finals = view.scores.records.finals_by_case
    by_maturity: dict[str, list[float | None]] = {}
    failed: dict[str, int] = {}
    for case in view.cases:
        by_maturity.setdefault(case.maturity, []).append(finals.get(case.id))
        failed[case.maturity] = failed.get(case.maturity, 0) + (case.id in view.failures.by_case)
    if not any(by_maturity):
        return None

    def row(maturity: str) -> tuple[Cell | str, ...]:
        scores = by_maturity[maturity]
        known = [score for score in scores if score is not None]
        score, around = fmean(known) if known else None, None
        if len(known) >= MIN_CASES:
            around = mean_interval(np.array(known), view.spec.scale.min, view.spec.scale.max)
        persona = view.spec.personas.get(maturity)
        ages = locale.say("ages", ages=persona.maturity_band.replace("-", "–")) if persona else ""
        cases = locale.whole(len(known)) + ("" if len(known) == len(scores) else f" / {locale.whole(len(scores))}")
        name = line(audience(locale, maturity), Span(ages, "soft"))
        fails = locale.whole(failed[maturity])
        return (
            Cell(text=name),
            Cell(bar=point_on(view.spec.scale, score, around, ticks)),
            score_or_unscored(locale, score),
            fails,
            cases,
        )

    keys = ("score", "cases_failed", "cases_heading")
    heads = columns(None, *map(locale.say, keys), first=locale.say("audience"), css={2: "score"}, axis=axis)
    table = Table(columns=heads, rows=rows(row(maturity) for maturity in young_to_old(by_maturity)), css="grades")
    lead = Paragraph(text=locale.say("by_age_lead"), look="soft")
    return Section(id="by-age", title=locale.say("by_age"), blocks=(lead, table))
