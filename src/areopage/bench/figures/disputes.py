"""The scores of which some judges say that they are failures and others that they are not, in the report of a benchmark run."""

from collections import Counter

from areopage.bench.figures.agreement import AGREEMENT
from areopage.bench.figures.assessment import assessment
from areopage.bench.figures.case_index import CASES, CaseIndex
from areopage.bench.figures.failures import FAILURES
from areopage.bench.figures.figure import Figure, Page
from areopage.bench.results.jury_agreement import Dispute
from areopage.bench.results.run_data import RunData
from areopage.locales import Locale
from areopage.report import Cell, Entries, Entry, Paragraph, Section, Span, Table, audience, columns, excerpt, line, rows

SHOWN = 10
TITLE = 160
MAX_TEXT = 1_500


def _disputes(view: RunData) -> tuple[Dispute, ...]:
    """The scores of which some judges say that they are failures and others that they are not, the widest apart first."""
    spec = view.spec
    return Dispute.of_scores(view.scores.criteria, spec.scale, spec.limits, spec.first_criteria)


def _section(view: RunData, page: Page) -> Section | None:
    """Build the disputes: how many by criterion, then the widest apart; None where no two judges scored the same answers."""
    locale = page.locale
    if AGREEMENT.of(view).overall.ac2.ac2 is None:
        return None
    disputes = DISPUTES.of(view)
    if not disputes:
        return Section(id="disputes", title=locale.say("disputes"), blocks=(Paragraph(text=locale.say("disputes_none")),))
    cases = locale.count("cases", len({dispute.case_id for dispute in disputes}))
    lead = locale.count("disputes_lead", len(disputes), cases=cases)
    shown = disputes[:SHOWN]
    view.judgments.expect([dispute.case_id for dispute in shown])
    entries = Entries(items=tuple(_entry(page.index, dispute, locale) for dispute in shown))
    every = line(locale.say("disputes_all"), Span(CASES, "link", page.index.only_kind("disputed")))
    criteria, failed = view.spec.criteria_by_id(), FAILURES.of(view).by_case
    counts = Counter(dispute.criterion for dispute in disputes)
    failing = Counter(dispute.criterion for dispute in disputes if dispute.criterion in failed.get(dispute.case_id, ()))
    widest = {dispute.criterion: dispute for dispute in sorted(disputes, key=lambda dispute: dispute.spread)}

    def row(id: str) -> tuple[Cell | str, ...]:
        scores = ", ".join(f"{judge} {locale.number(score)}" for judge, score in widest[id].scores.items())
        apart = locale.say("pair", name=widest[id].case_id, value=scores)
        return Cell(text=criteria[id].title, title=id), locale.whole(counts[id]), locale.whole(failing[id]), apart

    order = sorted(counts, key=lambda id: (criteria[id].gravity, -failing[id], -counts[id]))
    heads = columns(*map(locale.say, ("disputed", "disputes_failing", "widest")), first=locale.say("criterion"))
    blocks = (
        Paragraph(text=lead, look="soft", console=True),
        Table(columns=heads, rows=rows(map(row, order)), css="failures"),
        Paragraph(text=every, look="note"),
        entries,
    )
    return Section(id="disputes", title=locale.say("disputes"), blocks=blocks, console=True)


def _entry(index: CaseIndex, dispute: Dispute, locale: Locale) -> Entry:
    view = index.view
    scores = view.scores.records.of(dispute.case_id).criteria
    score = next(score for score in scores if score.criterion == dispute.criterion)
    case = next(case for case in view.cases if case.id == dispute.case_id)
    label = view.spec.criteria_by_id()[dispute.criterion].title
    passing = [judge for judge in dispute.scores if judge not in dispute.failing]
    sides = (locale.say("dispute_sides", fail=", ".join(dispute.failing), passed=", ".join(passing)),)
    facts = (label, *sides, case.id, audience(locale, case.maturity) if case.maturity else "")
    missing, response = locale.say("empty_text"), case.response or ""
    return Entry(
        score=locale.number(score.score),
        title=case.prompt_text[:TITLE],
        facts=tuple(fact for fact in facts if fact),
        blocks=(
            excerpt(locale, locale.say("prompt"), case.prompt_text, missing, "cut", MAX_TEXT),
            excerpt(locale, locale.say("response"), response, missing, "cut", MAX_TEXT),
            assessment(view, score, case, locale, is_open=True),
            Paragraph(text=Span(locale.say("whole_case"), "link", index.address(case.id)), look="small"),
        ),
    )


DISPUTES: Figure[tuple[Dispute, ...]] = Figure(id="disputes", compute=_disputes, stored="metadata", section=_section)


DISPUTED: Figure[frozenset[tuple[str, str]]] = Figure(
    id="disputed", compute=lambda view: frozenset((dispute.case_id, dispute.criterion) for dispute in DISPUTES.of(view))
)
"""The pairs of case and criterion that are disputed."""
