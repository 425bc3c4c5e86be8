"""The cases that fail a criterion and those with the worst scores, with judges' comments."""

from areopage.bench.results import RunView
from areopage.cases.records import Case
from areopage.locales import Locale, one_line
from areopage.report.elements import LONGEST_TEXT, bar_on, columns, excerpt, rows
from areopage.report.model import (
    Assessment,
    Bar,
    Column,
    Details,
    Entries,
    Entry,
    Heading,
    Paragraph,
    Quote,
    Remark,
    Section,
    Table,
)
from areopage.report.results import PassView, criterion_label, passes_of, quotable, quoted_verbatim
from areopage.scoring.failures import severity
from areopage.scoring.fold import RecordScores
from areopage.scoring.reduce import CriterionScore

WORST = 10
WHOLE = 50  # entries with texts and comments; further ones are rows of a table
MAX_TEXT = LONGEST_TEXT
MAX_EXPLANATION = 2_000
MAX_EXTRACTS = 5
OPEN, BAD = 3, 0.5  # criteria that are shown open: the worst ones, if they are worse than half of the scale
TITLE = 160


def worst_section(view: RunView, locale: Locale) -> Section:
    """Build the section: every case that fails a criterion, and, up to `WORST` cases, others without the best score.

    The lowest score on a criterion of the categories that count first decides, then the final score; ties keep their order.
    """
    cases = {case.id: case for case in view.cases}
    ranked = _ranked(view)
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
    entries = tuple(_entry(view, cases[record.case_id], record, locale) for record in listed[:WHOLE])
    more = [_short_row(view, cases[record.case_id], record, locale) for record in listed[WHOLE:]]
    heads = columns(locale.say("final_score"), first=locale.say("case"))
    heads = (*heads, *(Column(heading=locale.say(key), kind="text") for key in ("prompt", "response", "failures")))
    rest = Details(summary=locale.count("worst_more", len(more)), blocks=(Table(columns=heads, rows=rows(more), css="lines"),))
    return Section(id="worst", title=locale.say("worst"), blocks=(lead, Entries(items=entries), *((rest,) if more else ())))


def _ranked(view: RunView) -> list[RecordScores]:
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


def _short_row(view: RunView, case: Case, record: RecordScores, locale: Locale) -> tuple[str, ...]:
    return (
        case.id,
        locale.number(record.tree.score),
        one_line(case.prompt_text, TITLE),
        one_line(case.response or "", TITLE),
        _failed_criteria(view, record, locale),
    )


def _failed_criteria(view: RunView, record: RecordScores, locale: Locale) -> str:
    """The criteria that a case fails, with its scores; "" where it fails none."""
    criteria, scores = view.spec.criteria_by_id(), {one.criterion: one.score for one in record.criteria}
    failed = view.failures.by_case.get(record.case_id, ())
    return ", ".join(f"{criterion_label(criteria[id])} {locale.number(scores[id])}" for id in failed)


def audience(locale: Locale, maturity: str) -> str:
    """An audience's display name."""
    key = f"maturity_{maturity}"
    return locale.say(key) if key in locale.messages else maturity or locale.say("maturity_none")


def _entry(view: RunView, case: Case, record: RecordScores, locale: Locale) -> Entry:
    ranked = sorted(((_badness(view, one), one) for one in record.criteria), key=lambda pair: -pair[0])
    failed = view.failures.by_case.get(case.id, ())
    worst = next((one.score for one in record.criteria if failed and one.criterion == failed[0]), record.tree.score)
    told = locale.say("pair", name=locale.say("failures"), value=_failed_criteria(view, record, locale)) if failed else ""
    final = locale.say("pair", name=locale.say("final_score"), value=locale.number(record.tree.score)) if failed else ""
    facts = (told, final, case.id, audience(locale, case.maturity) if case.maturity else "", case.category, case.subcategory)
    missing = locale.say("empty_text")
    return Entry(
        score=locale.number(worst),
        title=case.prompt_text[:TITLE],
        facts=tuple(fact for fact in facts if fact),
        blocks=(
            excerpt(locale, locale.say("prompt"), case.prompt_text, missing, "cut"),
            excerpt(locale, locale.say("response"), case.response or "", missing, "cut"),
            Heading(text=locale.say("scores")),
            *(
                _assessment(view, one, case, locale, is_open=place < OPEN and badness > BAD)
                for place, (badness, one) in enumerate(ranked)
            ),
        ),
    )


def _badness(view: RunView, score: CriterionScore) -> float:
    """How bad a score is, 1 at the worst end of the scale; -1 unscored."""
    scale = view.spec.scale
    if score.score is None:
        return -1.0
    place = (score.score - scale.min) / (scale.max - scale.min)
    return 1.0 - place if scale.higher_is_better else place


def _assessment(view: RunView, score: CriterionScore, case: Case, locale: Locale, *, is_open: bool) -> Assessment:
    passes = list(passes_of(view, score))
    several = {one.judge for one in passes if one.pass_index > 1}
    whole = view.spec.criteria_by_id()[score.criterion].scope == "conversation"
    told = {turn: quotable(case, turn, whole) for turn in {one.turn for one in passes}}
    bar: Bar = bar_on(view.spec.scale, score.score)
    note = locale.say("stands_apart", judges=", ".join(score.outliers)) if score.outliers else ""
    return Assessment(
        label=criterion_label(view.spec.criteria_by_id()[score.criterion]),
        key=score.criterion,
        note=note if score.applies else locale.say("ruled_out" if score.by_rule else "not_applicable"),
        bar=bar,
        score=locale.number(score.score),
        remarks=tuple(_remark(one, told[one.turn], locale, several=one.judge in several) for one in passes),
        is_open=is_open,
    )


def _remark(one: PassView, folded: str, locale: Locale, *, several: bool) -> Remark:
    reply = [locale.say("reply_number", n=one.turn)] if one.turn else []
    name = ", ".join([one.judge, *reply, *([locale.say("pass", n=one.pass_index)] if several else [])])
    score, verdict = locale.number(one.score), one.verdict
    if verdict is None:
        failure, told = locale.say(f"said_{one.outcome_name}"), one.reason or one.explanation
        return Remark(
            name=name, score=score, failure=locale.say("pair", name=failure, value=_cut(told, locale)[0]) if told else failure
        )
    text, more = _cut(verdict.explanation, locale)
    return Remark(
        name=name,
        score=score,
        text=text,
        more=more,
        failure="" if text else locale.say("no_explanation"),
        quotes=tuple(_quote(extract, folded, locale) for extract in verdict.evidence[:MAX_EXTRACTS]),
    )


def _quote(extract: str, folded: str, locale: Locale) -> Quote:
    text, more = _cut(extract, locale)
    return Quote(text=text, more=more, remark="" if quoted_verbatim(extract, folded) else locale.say("not_verbatim"))


def _cut(text: str, locale: Locale) -> tuple[str, str]:
    rest = len(text) - MAX_EXPLANATION
    return text[:MAX_EXPLANATION], locale.count("cut", rest) if rest > 0 else ""
