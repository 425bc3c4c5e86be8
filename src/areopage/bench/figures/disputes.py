"""The scores of which some judges say that they are failures and others that they are not, in the report of a benchmark run."""

from collections import Counter

from areopage.bench.figures.agreement import AGREEMENT
from areopage.bench.figures.assessment import assessment
from areopage.bench.figures.case_index import CASES, CaseIndex
from areopage.bench.figures.failures import FAILURES
from areopage.bench.figures.figure import Figure, Page
from areopage.bench.results.jury_agreement import Dispute
from areopage.bench.results.run_data import RunData
from areopage.bench.words import audience
from areopage.locales import Locale
from areopage.report import Cell, Entries, Entry, Paragraph, Section, Span, Table, columns, excerpt, line, rows
from areopage.scoring import (
    CriterionScore,
)

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
    if not DISPUTES.of(view):
        return Section(id="disputes", title=locale.say("disputes"), blocks=(Paragraph(text=locale.say("disputes_none")),))
    index, cases = page.index, len({dispute.case_id for dispute in DISPUTES.of(view)})
    lead = locale.count("disputes_lead", len(DISPUTES.of(view)), cases=locale.count("cases", cases))
    shown = DISPUTES.of(view)[:SHOWN]
    view.judgments.expect([dispute.case_id for dispute in shown])
    records = (view.scores.records.of(dispute.case_id) for dispute in shown)
    scores = {(score.case_id, score.criterion): score for record in records for score in record.criteria}
    entries = Entries(
        items=tuple(_entry(index, dispute, scores[dispute.case_id, dispute.criterion], locale) for dispute in shown)
    )
    address = Span(CASES, "link", index.only_kind("disputed"))
    all_of_them = line(locale.say("disputes_all"), address)
    criteria, failed = view.spec.criteria_by_id(), FAILURES.of(view).by_case
    counts = Counter(dispute.criterion for dispute in DISPUTES.of(view))
    failing = Counter(dispute.criterion for dispute in DISPUTES.of(view) if dispute.criterion in failed.get(dispute.case_id, ()))
    widest = {dispute.criterion: dispute for dispute in sorted(DISPUTES.of(view), key=lambda dispute: dispute.spread)}
    listed = (
        (
            Cell(text=criteria[id].title, title=id),
            locale.whole(count),
            locale.whole(failing[id]),
            locale.say("pair", name=widest[id].case_id, value=_scores(widest[id], locale)),
        )
        for id, count in sorted(counts.items(), key=lambda pair: (criteria[pair[0]].gravity, -failing[pair[0]], -pair[1]))
    )
    heads = columns(*(locale.say(key) for key in ("disputed", "disputes_failing", "widest")), first=locale.say("criterion"))
    blocks = (
        Paragraph(text=lead, look="soft", console=True),
        Table(columns=heads, rows=rows(listed), css="failures"),
        Paragraph(text=all_of_them, look="note"),
        entries,
    )
    return Section(id="disputes", title=locale.say("disputes"), blocks=blocks, console=True)


def _scores(dispute: Dispute, locale: Locale) -> str:
    return ", ".join(f"{judge} {locale.number(score)}" for judge, score in dispute.scores.items())


def _entry(index: CaseIndex, dispute: Dispute, score: CriterionScore, locale: Locale) -> Entry:
    view = index.view
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
