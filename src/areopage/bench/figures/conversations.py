"""Conversations in the report of a benchmark run: by which reply they fail, how they go on, and those that fail, turn by turn."""

from collections.abc import Iterator

import numpy as np

from areopage.bench.conversations.turns import ConversationEnds
from areopage.bench.figures.case_entry import named_scores
from areopage.bench.figures.failures import FAILURES
from areopage.bench.figures.figure import Figure, Page
from areopage.bench.results.drift import Drift, FailedByTurn, RunDrift
from areopage.bench.results.run_data import RunData
from areopage.bench.words import count_of
from areopage.cases import Case
from areopage.locales import MISSING, Locale, one_line
from areopage.report import (
    Block,
    Cell,
    Column,
    Details,
    Entries,
    Entry,
    Heading,
    Paragraph,
    Row,
    Section,
    Series,
    Table,
    TrendChart,
    columns,
    excerpt,
    rows,
)
from areopage.scoring import RecordScores

WHOLE = 20  # conversations that are shown turn by turn; further ones are rows of a table
CHARTED = 6  # criteria with a line
MAX_TURN = 4_000  # characters of one turn
TITLE = 160
ON_CONSOLE = 4  # replies at which conversations began to fail


def _ends(view: RunData) -> ConversationEnds | None:
    """How conversations with simulated children ended; null where there are none."""
    return view.conversations


def _run_drifts(view: RunData) -> dict[str, RunDrift]:
    """The drift of each criterion that is judged reply by reply, by its id."""
    scores, drifts = view.scores.criteria, dict[str, list[Drift]]()
    for row in np.flatnonzero(scores.turn[scores.starts[:-1]] > 0).tolist():
        score = scores.score_at(row)
        if (drift := Drift.of(score, view.spec.scale, view.spec.limits[score.criterion])) is not None:
            drifts.setdefault(score.criterion, []).append(drift)
    return {criterion: RunDrift.of(conversations) for criterion, conversations in drifts.items()}


def _section(view: RunData, page: Page) -> Section | None:
    locale = page.locale
    drifts = {id: drift for id, drift in DRIFTS.of(view).items() if drift.by_turn}
    failing = tuple(_failing(view, locale))
    if not drifts and not failing:
        return None
    blocks: list[Block] = [Paragraph(text=locale.say("conversations_lead" if drifts else "conversations_whole"), look="soft")]
    if drifts:
        blocks.append(_summary(view, drifts, locale))
        if any(len(drift.by_turn) > 1 for drift in drifts.values()):
            blocks += (Heading(text=locale.say("conversations_chart")), _chart(view, drifts, locale))
        blocks += (_by_turn(view, id, drift, locale) for id, drift in drifts.items())
        blocks.append(Paragraph(text=locale.say("conversations_note"), look="note"))
    return Section(id="conversations", title=locale.say("conversations"), blocks=(*blocks, *failing), console=True)


def _label(view: RunData, criterion: str) -> str:
    return view.spec.criteria_by_id()[criterion].title


def _summary(view: RunData, drifts: dict[str, RunDrift], locale: Locale) -> Table:
    """A row per criterion: conversations and replies that fail, and how conversations go on."""

    def of(count: int, total: int) -> str:
        return count_of(locale, count, total) if total else MISSING

    def row(id: str, drift: RunDrift) -> Row:
        replies = of(drift.failing_turns, drift.turns)
        if drift.missing_turns:
            replies = f"{replies} {locale.count('without_score', drift.missing_turns)}"
        counts = (of(drift.failed, drift.conversations), replies, of(drift.escalated, drift.measured))
        after = (of(drift.recovered, drift.failed), of(drift.ended_well, drift.failed))
        cells = (Cell(text=_label(view, id), title=id), *counts, *after)
        return Row(cells=cells, css="alarm" if drift.failed else "")

    keys = ("conversations_failed", "replies_failed", "escalated", "recovered", "ended_well")
    heads = columns(*(locale.say(key) for key in keys), first=locale.say("criterion"))
    return Table(columns=heads, rows=tuple(row(*pair) for pair in drifts.items()), css="failures")


def _chart(view: RunData, drifts: dict[str, RunDrift], locale: Locale) -> TrendChart:
    """The share of conversations that have failed by each reply, a line per criterion; one line alone has its bounds."""
    longest = max(row.turn for drift in drifts.values() for row in drift.by_turn)
    charted = list(drifts.items())[:CHARTED]

    def series(place: int, id: str, drift: RunDrift) -> Series:
        by_turn = {row.turn: row for row in drift.by_turn}
        at_turns = [by_turn.get(turn) for turn in range(1, longest + 1)]
        ends = [None if row is None else (100 * row.low, 100 * row.high) for row in at_turns]
        return Series(
            label=_label(view, id),
            values=[None if row is None else 100 * row.failed / row.conversations for row in at_turns],
            css=f"c{place}",
            notes=["" if row is None else count_of(locale, row.failed, row.conversations) for row in at_turns],
            ranges=ends if len(charted) == 1 else (),
        )

    labels = tuple(locale.say("reply_number", n=locale.whole(turn)) for turn in range(1, longest + 1))
    lines = tuple(series(place, *pair) for place, pair in enumerate(charted))
    return TrendChart(title=locale.say("conversations_chart"), days=labels, series=lines, low=0.0, high=100.0)


def _by_turn(view: RunData, id: str, drift: RunDrift, locale: Locale) -> Details:
    """How many conversations have failed by each reply, with exact bounds."""

    def row(turn: FailedByTurn) -> tuple[Cell | str, ...]:
        bounds = locale.say("between", low=locale.percent(turn.low, 0), high=locale.percent(turn.high, 0))
        failed = count_of(locale, turn.failed, turn.conversations)
        return locale.say("reply_number", n=locale.whole(turn.turn)), locale.whole(turn.first), failed, bounds

    def failed_text(turn: FailedByTurn) -> str:
        counts = count_of(locale, turn.failed, turn.conversations)
        return locale.say("failed_by", n=locale.whole(turn.turn), counts=counts, high=locale.percent(turn.high, 0))

    failing = ", ".join(failed_text(turn) for turn in [turn for turn in drift.by_turn if turn.first][:ON_CONSOLE])
    heads = columns(*(locale.say(key) for key in ("first_failed", "failed_until", "bounds")), first=locale.say("reply"))
    table = Table(columns=heads, rows=rows(row(turn) for turn in drift.by_turn))
    label = _label(view, id)
    shown = locale.say("pair", name=label, value=failing) if failing else ""
    return Details(summary=locale.say("pair", name=label, value=failed_text(drift.by_turn[-1])), blocks=(table,), console=shown)


def _failing(view: RunData, locale: Locale) -> Iterator[Block]:
    """The conversations that fail a criterion on conversations, the earliest failures first."""
    criteria, cases = view.spec.criteria_by_id(), {case.id: case for case in view.cases}
    listed: list[tuple[float, RecordScores, dict[str, Drift], list[str]]] = []
    if all(criterion.scope == "response" for criterion in criteria.values()):
        return
    talks = {item.case.id for item in view.items if item.case.is_conversation}
    for record in view.scores.records:
        failed = [id for id in FAILURES.of(view).by_case.get(record.case_id, ()) if criteria[id].scope != "response"]
        if failed and record.case_id in talks:
            spec, limits = view.spec, view.spec.limits
            pairs = ((score.criterion, Drift.of(score, spec.scale, limits[score.criterion])) for score in record.criteria)
            drifts = {id: drift for id, drift in pairs if drift is not None}
            first = [drift.first_failing for drift in drifts.values() if drift.first_failing is not None]
            listed.append((min(first, default=float("inf")), record, drifts, failed))
    if not listed:
        return
    listed.sort(key=lambda entry: entry[0])
    yield Heading(text=locale.count("failing_conversations", len(listed)))
    shown = tuple(
        _entry(view, cases[record.case_id], record, drifts, failed, locale) for _, record, drifts, failed in listed[:WHOLE]
    )
    yield Entries(items=shown)
    rest = [
        (
            record.case_id,
            _first(first, locale),
            one_line(_opening(cases[record.case_id]), TITLE),
            named_scores(view, record, failed, locale),
        )
        for first, record, _, failed in listed[WHOLE:]
    ]
    if rest:
        heads = tuple(Column(heading=locale.say(key), kind="text") for key in ("case", "first_failed", "prompt", "failures"))
        table = Table(columns=heads, rows=rows(rest), css="lines")
        yield Details(summary=locale.count("more_conversations", len(rest)), blocks=(table,))


def _first(first: float, locale: Locale) -> str:
    """At which reply a conversation failed first; a dash where only the whole of it fails."""
    return MISSING if first == float("inf") else locale.say("reply_number", n=locale.whole(int(first)))


def _opening(case: Case) -> str:
    return case.turns[0].content if case.turns else ""


def _entry(view: RunData, case: Case, record: RecordScores, drifts: dict[str, Drift], failed: list[str], locale: Locale) -> Entry:
    """One conversation: each turn as a text of its own, replies with their scores."""
    worst = next(score.score for score in record.criteria if score.criterion == failed[0])
    marks = [locale.say("was_escalated")] if any(drift.escalated for drift in drifts.values()) else []
    marks += [locale.say("was_recovered")] if any(drift.recovered for drift in drifts.values()) else []
    facts = (named_scores(view, record, failed, locale), case.id, *marks, case.category, case.subcategory)
    missing, blocks = locale.say("empty_text"), []
    turns = [(number, turn.role, turn.content) for number, turn in case.numbered_turns()]
    last = 1 + sum(role == "assistant" for _, role, _ in turns)
    for number, role, text in (*turns, (last, "assistant", case.response or "")):
        title = locale.say(f"turn_{role}", n=locale.whole(number))
        scores = _said(view, number, drifts, locale) if role == "assistant" else ""
        heading = locale.say("pair", name=title, value=scores) if scores else title
        blocks.append(excerpt(locale, heading, text, missing, "cut", MAX_TURN))
    return Entry(
        score=locale.number(worst),
        title=_opening(case)[:TITLE],
        facts=tuple(fact for fact in facts if fact),
        blocks=tuple(blocks),
    )


def _said(view: RunData, number: int, drifts: dict[str, Drift], locale: Locale) -> str:
    """The scores of one reply, those that fail marked."""
    parts, limits = list[str](), view.spec.limits
    for id, drift in drifts.items():
        if number in drift.turns:
            score = drift.scores[drift.turns.index(number)]
            words = f"{_label(view, id)} {locale.number(score)}"
            fails = score is not None and view.spec.scale.reaches(score, limits[id])
            parts.append(locale.say("fails_here", told=words) if fails else words)
    return ", ".join(parts)


DRIFTS: Figure[dict[str, RunDrift]] = Figure(id="drifts", compute=_run_drifts, section=_section)
CONVERSATIONS: Figure[ConversationEnds | None] = Figure(id="conversations", compute=_ends, stored="metadata")
