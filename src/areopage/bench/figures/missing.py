"""What has no verdict in a run, case by case, and why."""

from collections.abc import Sequence

import numpy as np
from msgspec import Struct

from areopage.bench.figures.figure import Figure, Page
from areopage.bench.results.run_data import RunData
from areopage.locales import Locale
from areopage.report import Column, Details, Filter, Paragraph, Row, Section, Table, rows
from areopage.scoring import OUTCOME_NAMES

NOT_RUN = "not_run"
_NAMES = (NOT_RUN, *OUTCOME_NAMES)
LISTED = 100  # rows of a list of cases
MAX_REASON = 400
STATES = ("refused", "unparsed", "timed_out", "unreachable", "not_run")


class MissingVerdict(Struct, frozen=True, kw_only=True):
    """Verdicts on a case that are missing for one reason.

    Args:
        judge: "" if the target gave no answer that could be judged.
        state: of the target's answer, or the outcome of the judge's pass; `not_run` where there is none.
        criteria: the ids of the criteria without the verdict.
        counts_first: one of them belongs to the categories whose failures count first.
    """

    case_id: str
    judge: str
    state: str
    reason: str
    criteria: tuple[str, ...]
    counts_first: bool


def _missing(view: RunData) -> tuple[MissingVerdict, ...]:
    """What has no score, case by case."""
    columns, scores, answers, passes = view.columns, view.scores.criteria, view.stored.states, view.columns.passes
    without, first = (view.stored.unanswered | view.stored.not_whole) - view.erased.keys(), view.spec.first_criteria
    unanswered = {item.case.id: view.answer_state(item.case.id) for item in view.items if item.case.id in without}
    reasons: dict[int, dict[tuple[str, str, str], dict[str, None]]] = {}
    for row, judge, number, code in columns.missing():
        if passes.cases[passes.case[row]] not in unanswered:
            criterion, at = passes.criteria[passes.criterion[row]], int(columns.judgment[row, judge, number])
            place = (passes.judges[judge], _NAMES[code], view.judgments.reasons.get((at, criterion), "") if code else "")
            reasons.setdefault(int(passes.case[row]), {}).setdefault(place, {})[criterion] = None
    for position, case_id in enumerate(passes.cases):
        if case_id in unanswered and (rows := scores.rows_of(case_id)):
            lacking = [at for at in rows if not scores.cells.by_rule[at] and np.isnan(scores.cells.score[at])]
            place = ("", unanswered[case_id], answers[case_id].reason if case_id in answers else "")
            reasons[position] = {place: dict.fromkeys(scores.criteria[scores.criterion[at]] for at in lacking)}
    return tuple(
        MissingVerdict(
            case_id=passes.cases[position],
            judge=judge_name,
            state=state,
            reason=reason,
            criteria=tuple(criteria),
            counts_first=any(criterion in first for criterion in criteria),
        )
        for position in sorted(reasons)
        for (judge_name, state, reason), criteria in reasons[position].items()
    )


def _unscored(view: RunData) -> tuple[str, ...]:
    """The ids of the cases that are judged and lack a criterion's score."""
    judged = {verdict.case_id for verdict in MISSING.of(view) if verdict.judge}
    scores = view.scores.criteria
    lacking = np.unique(scores.case[scores.is_missing]).tolist()
    return tuple(scores.cases[case] for case in lacking if scores.cases[case] in judged)


def _refused_first(view: RunData) -> tuple[str, ...]:
    """The ids of the cases with a criterion whose failures count first that a judge refused to judge."""
    refused = (
        verdict.case_id for verdict in MISSING.of(view) if verdict.judge and verdict.state == "refused" and verdict.counts_first
    )
    return tuple(dict.fromkeys(refused))


def _unanswered_section(view: RunData, page: Page) -> Section | None:
    locale = page.locale
    without = set(view.without_response)
    cases = [case for case in view.cases if case.id in without]
    if not cases:
        return None

    def row(case_id: str) -> tuple[str, ...]:
        answer = view.answers.get(case_id)
        return case_id, locale.say(f"said_{view.answer_state(case_id)}"), answer.reason if answer else ""

    heads = [Column(heading=locale.say(key), kind="text") for key in ("case", "state", "reason")]
    listed = [row(case.id) for case in cases[:LISTED]]
    lead = Paragraph(text=locale.count("unanswered_lead", len(cases)))
    blocks = (lead, case_list(locale, heads, listed, "more_results", len(cases)))
    return Section(id="unanswered", title=locale.say("unanswered"), blocks=blocks)


def _section(view: RunData, page: Page) -> Section | None:
    locale = page.locale
    missing = [verdict for verdict in MISSING.of(view) if verdict.judge]
    if not missing:
        return None
    criteria, states = (
        view.spec.criteria_by_id(),
        [state for state in STATES if any(verdict.state == state for verdict in missing)],
    )
    missing.sort(key=lambda verdict: (not verdict.counts_first, states.index(verdict.state)))
    shown = missing[:LISTED]

    def row(verdict: MissingVerdict) -> Row:
        names = ", ".join(criteria[id].title for id in verdict.criteria)
        cells = (verdict.case_id, verdict.judge, locale.say(f"said_{verdict.state}"), names, verdict.reason[:MAX_REASON])
        return Row(cells=cells, css=f"of{states.index(verdict.state)}")

    heads = tuple(
        Column(heading=locale.say(key), kind="text") for key in ("case", "judge", "state", "criteria_heading", "reason")
    )
    table = Table(columns=heads, rows=tuple(map(row, shown)), css="lines")
    counts = tuple(
        (locale.say(f"outcome_{state}"), locale.whole(sum(verdict.state == state for verdict in missing))) for state in states
    )
    lead = [Paragraph(text=locale.count("missing_lead", len({verdict.case_id for verdict in missing})), look="soft")]
    if REFUSED_FIRST.of(view):
        names = ", ".join(view.spec.first_names)
        text = locale.count("refused_first", len(REFUSED_FIRST.of(view)), categories=names)
        lead.append(Paragraph(text=f"{text} {locale.names(REFUSED_FIRST.of(view))}"))
    if UNSCORED.of(view):
        lead.append(Paragraph(text=f"{locale.count('cases_unscored', len(UNSCORED.of(view)))} {locale.names(UNSCORED.of(view))}"))
    rest = len(missing) - len(shown)
    note = (Paragraph(text=locale.count("more_results", rest), look="note"),) if rest else ()
    listed = Filter(name="missing", every=locale.say("all"), total=locale.whole(len(missing)), choices=counts, table=table)
    shown_list = Details(summary=locale.say("list"), blocks=(listed, *note))
    return Section(id="missing", title=locale.say("missing"), blocks=(*lead, shown_list), console=True)


def case_list(locale: Locale, heads: Sequence[Column], listed: Sequence[Sequence[str]], more: str, total: int) -> Details:
    """A table behind a summary, with a note of how many rows are left out."""
    table = Table(columns=tuple(heads), rows=rows(listed), css="lines")
    rest = total - len(listed)
    note = (Paragraph(text=locale.count(more, rest), look="note"),) if rest else ()
    return Details(summary=locale.say("list"), blocks=(table, *note))


MISSING: Figure[tuple[MissingVerdict, ...]] = Figure(id="missing", compute=_missing, stored="metadata", section=_section)
UNSCORED: Figure[tuple[str, ...]] = Figure(id="unscored", compute=_unscored)
REFUSED_FIRST: Figure[tuple[str, ...]] = Figure(id="refused_first", compute=_refused_first)
UNANSWERED: Figure[tuple[str, ...]] = Figure(
    id="unanswered", compute=lambda view: view.without_response, section=_unanswered_section
)
