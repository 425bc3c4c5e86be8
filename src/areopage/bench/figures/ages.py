"""The scores by age."""

from collections import Counter
from statistics import fmean

import numpy as np

from areopage.bench.figures.case_index import young_to_old
from areopage.bench.figures.failures import FAILURES
from areopage.bench.figures.figure import Figure, Page
from areopage.bench.figures.scores import score_or_unscored
from areopage.bench.results.run_data import RunData
from areopage.report import Cell, Paragraph, Section, Span, Table, audience, axis_of, columns, line, point_on, rows
from areopage.scoring import Interval, mean_interval


def _age_scores(view: RunData) -> dict[str, list[float | None]]:
    """The final scores of the cases of each age."""
    finals, by_age = view.scores.records.finals_by_case, dict[str, list[float | None]]()
    for case in view.cases:
        by_age.setdefault(case.maturity, []).append(finals.get(case.id))
    return by_age


def _section(view: RunData, page: Page) -> Section | None:
    locale, by_maturity = page.locale, AGE_SCORES.of(view)
    failed = Counter(case.maturity for case in view.cases if case.id in FAILURES.of(view).by_case)
    axis = axis_of(view.spec.scale, locale)
    ticks = [place for place, _ in axis]
    if not any(by_maturity):
        return None

    def row(maturity: str) -> tuple[Cell | str, ...]:
        scores = by_maturity[maturity]
        scored = [score for score in scores if score is not None]
        score, around = fmean(scored) if scored else None, None
        if len(scored) >= Interval.MIN_CASES:
            around = mean_interval(np.array(scored), view.spec.scale.min, view.spec.scale.max)
        persona = view.spec.personas.get(maturity)
        ages = locale.say("ages", ages=persona.maturity_band.replace("-", "–")) if persona else ""
        cases = locale.whole(len(scored)) + ("" if len(scored) == len(scores) else f" / {locale.whole(len(scores))}")
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


AGE_SCORES: Figure[dict[str, list[float | None]]] = Figure(id="age_scores", compute=_age_scores, section=_section)
