"""The cases that fail a criterion and those with the worst scores, with judges' comments."""

from areopage.bench.results.run_view import RunView
from areopage.cases.records import Case
from areopage.locales import Locale, one_line
from areopage.report.bench.case import case_entry, failed_criteria
from areopage.report.bench.case_index import CASES, CaseIndex
from areopage.report.elements import columns, rows
from areopage.report.model import Block, Cell, Column, Details, Entries, Paragraph, Section, Span, Table, line
from areopage.scoring.failures import severity
from areopage.scoring.fold import RecordScores

WORST = 10
WHOLE = 20  # entries with texts and comments; further ones are rows of a table
ROWS = 200  # of that table; further ones are on the page of cases alone
MAX_TEXT = 4_000
TITLE = 160


def worst_section(view: RunView, locale: Locale) -> Section:
    """Build the section: every case that fails a criterion, and, up to `WORST` cases, others without the best score.

    The lowest score on a criterion of the categories that count first decides, then the final score; ties keep their order.
    """
    cases = {case.id: case for case in view.cases}
    ranked = ranked_records(view)
    failing = [record for record in ranked if record.case_id in view.failures.by_case]
    others = [record for record in ranked if record.case_id not in view.failures.by_case and not _perfect(view, record)]
    listed = [*failing, *others[: max(0, WORST - len(failing))]]
    if not listed:
        return Section(
            id="worst",
            title=locale.say("worst"),
            blocks=(Paragraph(text=locale.say("worst_perfect" if ranked else "worst_none")),),
        )
    names = ", ".join(view.spec.labels.get(name) for name in view.failures.categories)
    lead = Paragraph(text=locale.say("worst_lead", n=locale.whole(len(listed)), categories=names), look="soft")
    index, more = CaseIndex(view=view), listed[WHOLE:]
    shown = [(cases[record.case_id], record) for record in listed[:WHOLE]]
    entries = tuple(case_entry(index, case, record, locale, in_report=True, limit=MAX_TEXT) for case, record in shown)
    heads = columns(locale.say("final_score"), first=locale.say("case"))
    heads = (*heads, *(Column(heading=locale.say(key), kind="text") for key in ("prompt", "response", "failures")))
    short = (_short_row(view, cases[record.case_id], record, index, locale) for record in more[:ROWS])
    blocks: list[Block] = [Table(columns=heads, rows=rows(short), css="lines")]
    if len(more) > ROWS:
        address = Span(CASES, "link", CASES)
        blocks.append(Paragraph(text=line(locale.count("more_cases", len(more) - ROWS), address), look="note"))
    rest = Details(summary=locale.count("worst_more", len(more)), blocks=tuple(blocks))
    return Section(id="worst", title=locale.say("worst"), blocks=(lead, Entries(items=entries), *((rest,) if more else ())))


def ranked_records(view: RunView) -> list[RecordScores]:
    """The cases with a score, worst first."""
    scale, criteria = view.spec.scale, view.spec.criteria_by_id()
    sign = 1 if scale.higher_is_better else -1

    def rank(record: RecordScores) -> tuple[float, float]:
        final = float("inf") if record.tree.score is None else sign * record.tree.score
        return severity(record.criteria, criteria, scale, view.failures.categories), final

    scored = [record for record in view.scores.records if any(one.score is not None for one in record.criteria)]
    return sorted(scored, key=rank)


def _perfect(view: RunView, record: RecordScores) -> bool:
    """Whether every score of a case is the best one."""
    scale = view.spec.scale
    best = scale.max if scale.higher_is_better else scale.min
    return all(one.score in (None, best) for one in record.criteria)


def _short_row(view: RunView, case: Case, record: RecordScores, index: CaseIndex, locale: Locale) -> tuple[Cell | str, ...]:
    address = index.address(case.id)
    return (
        Cell(text=Span(case.id, "link", address) if address else case.id),
        locale.number(record.tree.score),
        one_line(case.prompt_text, TITLE),
        one_line(case.response or "", TITLE),
        failed_criteria(view, record, locale),
    )
