"""The cases that fail a criterion and those with the worst scores, with judges' comments."""

import numpy as np

from areopage.bench.figures.case_entry import case_entry, failed_criteria
from areopage.bench.figures.case_index import CASES, CaseIndex
from areopage.bench.figures.failures import FAILURES
from areopage.bench.figures.figure import Figure, Page
from areopage.bench.results.run_data import RunData
from areopage.cases import Case
from areopage.locales import Locale, one_line
from areopage.report import Block, Cell, Column, Details, Entries, Paragraph, Section, Span, Table, columns, line, rows
from areopage.scoring import RecordScores

WORST = 10
WHOLE = 20  # entries with texts and comments; further ones are rows of a table
ROWS = 200  # of that table; further ones are on the page of cases alone
MAX_TEXT = 4_000
TITLE = 160


def _section(view: RunData, page: Page) -> Section:
    """Build the section: every case that fails a criterion, and, up to `WORST` cases, others without the best score.

    The lowest score on a criterion of the categories that count first decides, then the final score; ties keep their order.
    """
    locale = page.locale
    cases = {case.id: case for case in view.cases}
    ranked, perfect = RANKED.of(view), _perfect_cases(view)
    failing = [case_id for case_id in ranked if case_id in FAILURES.of(view).by_case]
    others = [case_id for case_id in ranked if case_id not in FAILURES.of(view).by_case and case_id not in perfect]
    listed = [*failing, *others[: max(0, WORST - len(failing))]]
    if not listed:
        return Section(
            id="worst",
            title=locale.say("worst"),
            blocks=(Paragraph(text=locale.say("worst_perfect" if ranked else "worst_none")),),
        )
    lead = Paragraph(
        text=locale.say("worst_lead", n=locale.whole(len(listed)), categories=", ".join(view.spec.first_names)), look="soft"
    )
    index, more = page.index, listed[WHOLE:]
    view.judgments.expect(listed[:WHOLE])
    shown = [(cases[case_id], view.scores.records.of(case_id)) for case_id in listed[:WHOLE]]
    entries = tuple(case_entry(index, case, record, locale, in_report=True, limit=MAX_TEXT) for case, record in shown)
    heads = columns(locale.say("final_score"), first=locale.say("case"))
    heads = (*heads, *(Column(heading=locale.say(key), kind="text") for key in ("prompt", "response", "failures")))
    short = (_short_row(view, cases[case_id], view.scores.records.of(case_id), index, locale) for case_id in more[:ROWS])
    blocks: list[Block] = [Table(columns=heads, rows=rows(short), css="lines")]
    if len(more) > ROWS:
        address = Span(CASES, "link", CASES)
        blocks.append(Paragraph(text=line(locale.count("more_cases", len(more) - ROWS), address), look="note"))
    rest = Details(summary=locale.count("worst_more", len(more)), blocks=tuple(blocks))
    return Section(id="worst", title=locale.say("worst"), blocks=(lead, Entries(items=entries), *((rest,) if more else ())))


def _ranked(view: RunData) -> list[str]:
    """The ids of the cases with a score, worst first: by the weakest score that counts first, then by the final score."""
    scores, scale = view.scores.criteria, view.spec.scale
    if not len(scores):
        return []
    firsts, has_score = scores.case_starts[:-1], ~np.isnan(scores.cells.score)
    share = (scores.cells.score - scale.min) / (scale.max - scale.min)
    goodness = share if scale.higher_is_better else 1.0 - share
    by_id = view.spec.criteria_by_id()
    counted = [by_id[criterion].category in FAILURES.of(view).categories for criterion in scores.criteria]
    first = has_score & np.array(counted, dtype=bool)[scores.criterion]
    weakest = np.minimum.reduceat(np.where(first, goodness, np.inf), firsts)
    finals = view.scores.records.finals if scale.higher_is_better else -view.scores.records.finals
    order = np.lexsort((np.where(np.isnan(finals), np.inf, finals), weakest))
    scored = np.logical_or.reduceat(has_score, firsts)
    return [scores.case_ids[at] for at in order[scored[order]].tolist()]


def _perfect_cases(view: RunData) -> set[str]:
    """The ids of the cases of which every score is the best one."""
    scores, scale = view.scores.criteria, view.spec.scale
    best = scale.max if scale.higher_is_better else scale.min
    fine = np.isnan(scores.cells.score) | (scores.cells.score == best)
    perfect = np.logical_and.reduceat(fine, scores.case_starts[:-1]) if len(scores) else fine
    return {scores.case_ids[at] for at in np.flatnonzero(perfect).tolist()}


def _short_row(view: RunData, case: Case, record: RecordScores, index: CaseIndex, locale: Locale) -> tuple[Cell | str, ...]:
    address = index.address(case.id)
    return (
        Cell(text=Span(case.id, "link", address) if address else case.id),
        locale.number(record.tree.score),
        one_line(case.prompt_text, TITLE),
        one_line(case.response or "", TITLE),
        failed_criteria(view, record, locale),
    )


RANKED: Figure[list[str]] = Figure(id="ranked", compute=_ranked, section=_section)
