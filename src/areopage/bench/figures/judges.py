"""The judges of a run: how their calls ended, what exams say of them, and whether any is unfit."""

from collections.abc import Iterator
from typing import Any

from msgspec import Struct

from areopage.bench.figures.figure import Fact, Figure, Page
from areopage.bench.results.run_columns import JudgeHealth
from areopage.bench.results.run_data import RunData
from areopage.jury import ScoringMethod
from areopage.ledger import JudgeStanding
from areopage.locales import MISSING, Locale
from areopage.records import record_from
from areopage.report import (
    ALARMING,
    Badge,
    Block,
    Cell,
    Listing,
    Notice,
    Paragraph,
    Section,
    Span,
    Table,
    columns,
    count_cell,
    drift_lines,
    exam_text,
    judge_reason,
    line,
    missed_lines,
    qualification_text,
    rows,
)
from areopage.scoring import OUTCOME_NAMES

_OUTCOMES = (*OUTCOME_NAMES, "not_run")


class JudgeEntry(Struct, frozen=True, kw_only=True):
    """A judge of the run.

    Args:
        qualification: what exams say of it now, criterion by criterion.
        criteria: what it may judge; empty: everything.
        passes: the options of each pass.
        method: `sampled`: scores as it writes them; `expected`: their expectation from log-probabilities.
    """

    name: str
    model: str
    digest: str
    qualification: JudgeStanding
    criteria: tuple[str, ...]
    passes: tuple[dict[str, Any], ...]
    method: ScoringMethod
    health: JudgeHealth


def _judges(view: RunData) -> tuple[JudgeEntry, ...]:
    """The judges with their models, their options, what exams say of them now, and how their calls ended."""
    return tuple(
        record_from(
            JudgeEntry,
            judge,
            model=str(judge.reference),
            qualification=standing,
            passes=judge.pass_options,
            health=health,
        )
        for judge, health, standing in zip(view.spec.judges, view.health, view.standings, strict=True)
    )


def _notices(view: RunData, page: Page) -> Iterator[Notice]:
    locale = page.locale
    unfit = [
        f"{locale.say('not_valid_judge', judge=health.judge)} ({_model(health, locale)}) – {judge_reason(locale, health.unfit)}"
        for health in view.unfit
    ]
    if unfit:
        hint = line(locale.say("use_real_judges"), Span("areopage bench run --judge ollama:MODEL", "code"))
        blocks = (Listing(items=tuple(unfit)), Paragraph(text=hint))
        yield Notice(title=locale.say("not_valid"), blocks=blocks, alarm=True)


def _facts(view: RunData, page: Page) -> Iterator[Fact]:
    yield page.locale.say("qualification"), qualification_text(page.locale, view.qualification)


def _section(view: RunData, page: Page) -> Section:
    locale = page.locale
    failed_score = view.spec.profile.failed_pass_score
    shown = [name for name in _OUTCOMES if name == "scored" or any(health.outcomes[name] for health in view.health)]
    priced = any(health.cost is not None for health in view.health)
    lead = locale.say("judges_lead")
    if failed_score is not None:
        lead = locale.say("judges_lead_failed", score=locale.short(failed_score))

    standings = {standing.judge: standing for standing in view.standings}

    def row(health: JudgeHealth) -> tuple[Cell | str, ...]:
        standing = standings[health.judge]
        word = locale.say(f"judge_{standing.word}")
        fitness = Badge(text=word, alarm=True) if standing.state in ALARMING else word
        examined = exam_text(locale, standing)
        return (
            Cell(text=Span(health.judge, "strong"), under=(_model(health, locale), fitness, *([examined] if examined else []))),
            locale.whole(health.planned),
            *(count_cell(locale, health.outcomes[name]) for name in shown),
            locale.whole(health.repaired_heuristic + health.repaired_model),
            locale.whole(health.outliers),
            locale.say("seconds_unit", n=locale.number(health.seconds, 1)),
            f"{locale.whole(health.prompt_tokens)} / {locale.whole(health.completion_tokens)}",
            *([MISSING if health.cost is None else locale.money(health.cost, health.currency)] if priced else []),
        )

    keys = ("planned", *(f"outcome_{name}" for name in shown), "repaired", "outliers", "seconds", "tokens")
    keys += ("cost",) if priced else ()
    page_only = [keys.index(key) + 1 for key in ("outliers", "tokens", "cost") if key in keys]
    heads = columns(*(locale.say(key) for key in keys), first=locale.say("judge"), css={0: "who"}, page_only=page_only)
    note = locale.say("judges_note")
    if any(standing.word == "never_examined" for standing in view.standings):
        note = f"{note} {locale.say('never_examined_note', suite=view.spec.suite)}"
    names = {criterion.id: criterion.title for criterion in view.spec.criteria}
    missed, drifted = tuple(missed_lines(locale, view.standings, names)), tuple(drift_lines(locale, view.standings, names))
    blocks: tuple[Block, ...] = (
        Paragraph(text=lead, look="soft"),
        Table(columns=heads, rows=rows(row(health) for health in view.health), css="jury"),
        Paragraph(text=note, look="note"),
    )
    if view.spec.joint:
        blocks += (Paragraph(text=locale.say("judges_joint"), look="note"),)
    by_expectation = {judge.name for judge in view.spec.judges if judge.method == "expected"}
    expected = tuple(_expected_line(health, locale) for health in view.health if health.judge in by_expectation)
    for key, lines in (("drifted_lead", drifted), ("not_qualified_lead", missed), ("judges_expected_lead", expected)):
        if lines:
            blocks += (Paragraph(text=Span(locale.say(key), "strong")), Listing(items=lines))
    return Section(id="judges", title=locale.say("judges"), blocks=blocks, console=True)


def _expected_line(health: JudgeHealth, locale: Locale) -> str:
    """How many scores of a judge are expectations, and how much of the probability was on valid scores."""
    scored = health.expected + health.written
    return locale.say(
        "judges_expected",
        judge=health.judge,
        expected=locale.whole(health.expected),
        all=locale.whole(scored),
        written=locale.whole(health.written),
        share=locale.percent(health.written / scored) if scored else MISSING,
        mass=MISSING if health.mass is None else locale.number(health.mass),
    )


def _model(health: JudgeHealth, locale: Locale) -> str:
    """What judged; of a recording, the model beside it."""
    if not health.recorded_model:
        return health.model
    return locale.say("recorded_from", recording=health.model, model=health.recorded_model)


JUDGES: Figure[tuple[JudgeEntry, ...]] = Figure(
    id="judges", compute=_judges, stored="metadata", notices=_notices, section=_section
)
QUALIFICATION: Figure[str] = Figure(id="qualification", compute=lambda view: view.qualification, facts=_facts, brief=True)
