"""The scores of which some judges say that they are failures and others that they are not, in the report of a benchmark run."""

from collections import Counter

from areopage.bench import RunView
from areopage.locales import Locale
from areopage.report.bench.case import TITLE, assessment, audience
from areopage.report.bench.case_index import CASES, DISPUTED, KINDS, CaseIndex
from areopage.report.bench.failing_cases import gravity
from areopage.report.elements import columns, excerpt, rows
from areopage.report.model import Cell, Entries, Entry, Paragraph, Section, Span, Table, line
from areopage.report.results.run_results import criterion_label
from areopage.scoring import CriterionScore, Dispute

SHOWN = 10
MAX_TEXT = 1_500


def disputes_section(view: RunView, locale: Locale) -> Section | None:
    """Build the disputes: how many by criterion, then the widest apart; None where no two judges scored the same answers."""
    if view.agreement.overall.ac2.ac2 is None:
        return None
    if not view.disputes:
        return Section(id="disputes", title=locale.say("disputes"), blocks=(Paragraph(text=locale.say("disputes_none")),))
    index, cases = CaseIndex(view=view), len({one.case_id for one in view.disputes})
    told = locale.count("disputes_lead", len(view.disputes), cases=locale.count("cases", cases))
    shown = view.disputes[:SHOWN]
    view.judgments.expect([one.case_id for one in shown])
    records = (view.scores.records.of(one.case_id) for one in shown)
    scores = {(score.case_id, score.criterion): score for record in records for score in record.criteria}
    entries = Entries(items=tuple(_entry(index, one, scores[one.case_id, one.criterion], locale) for one in shown))
    address = Span(CASES, "link", f"{CASES}#only-w{KINDS.index(DISPUTED)}")
    all_of_them = line(locale.say("disputes_all"), address)
    blocks = (
        Paragraph(text=told, look="soft", console=True),
        _table(view, locale),
        Paragraph(text=all_of_them, look="note"),
        entries,
    )
    return Section(id="disputes", title=locale.say("disputes"), blocks=blocks, console=True)


def _table(view: RunView, locale: Locale) -> Table:
    """The disputes by criterion: how many, and how many of them count as failures."""
    criteria, failed = view.spec.criteria_by_id(), view.failures.by_case
    counts = Counter(one.criterion for one in view.disputes)
    failing = Counter(one.criterion for one in view.disputes if one.criterion in failed.get(one.case_id, ()))
    widest = {one.criterion: one for one in sorted(view.disputes, key=lambda one: one.spread)}
    listed = (
        (
            Cell(text=criterion_label(criteria[id]), title=id),
            locale.whole(count),
            locale.whole(failing[id]),
            locale.say("pair", name=widest[id].case_id, value=_scores(widest[id], locale)),
        )
        for id, count in sorted(counts.items(), key=lambda pair: (gravity(criteria[pair[0]]), -failing[pair[0]], -pair[1]))
    )
    heads = columns(*(locale.say(key) for key in ("disputed", "disputes_failing", "widest")), first=locale.say("criterion"))
    return Table(columns=heads, rows=rows(listed), css="failures")


def _scores(dispute: Dispute, locale: Locale) -> str:
    return ", ".join(f"{judge} {locale.number(score)}" for judge, score in dispute.scores.items())


def _entry(index: CaseIndex, dispute: Dispute, score: CriterionScore, locale: Locale) -> Entry:
    view = index.view
    case = next(case for case in view.cases if case.id == dispute.case_id)
    label = criterion_label(view.spec.criteria_by_id()[dispute.criterion])
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
