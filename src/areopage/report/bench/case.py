"""One case of a benchmark run in its report: prompt, response, and what the judges said."""

from collections.abc import Sequence

from areopage.bench import RunView
from areopage.cases import Case
from areopage.locales import Locale
from areopage.report.bench.case_index import CaseIndex
from areopage.report.elements import LONGEST_TEXT, bar_on, excerpt
from areopage.report.model import Assessment, Bar, Block, Entry, Excerpt, Heading, Paragraph, Quote, Remark, Span
from areopage.report.results.run_results import PassView, criterion_label, passes_of, quotable, quoted_verbatim
from areopage.scoring import CriterionScore, RecordScores

MAX_EXPLANATION = 2_000
MAX_EXTRACTS = 5
OPEN, BAD = 3, 0.5  # criteria that are shown open: the worst ones, if they are worse than half of the scale
TITLE = 160


def audience(locale: Locale, maturity: str) -> str:
    """An audience's display name."""
    key = f"maturity_{maturity}"
    return locale.say(key) if key in locale.messages else maturity or locale.say("maturity_none")


def group_labels(view: RunView, case: Case) -> tuple[str, str]:
    """What people call a case's own category and sub-category; "" where it has none."""
    labels, place = view.spec.labels, f"{case.category}.{case.subcategory}"
    return labels.get(case.category), labels.get(place) if case.subcategory else ""


def failed_criteria(view: RunView, record: RecordScores, locale: Locale) -> str:
    """The criteria that a case fails, with its scores; "" where it fails none."""
    criteria, scores = view.spec.criteria_by_id(), {one.criterion: one.score for one in record.criteria}
    failed = view.failures.by_case.get(record.case_id, ())
    return ", ".join(f"{criterion_label(criteria[id])} {locale.number(scores[id])}" for id in failed)


def case_entry(
    index: CaseIndex, case: Case, record: RecordScores, locale: Locale, *, in_report: bool = False, limit: int = LONGEST_TEXT
) -> Entry:
    """A case with its texts, and the judges' words on the criteria that it fails, that are disputed or lack a score.

    Scores of its other criteria are named; the worst ones of a case without such a criterion are shown with words.

    Args:
        in_report: it stands in the report, with a link to the page of cases.
        limit: characters of each text.
    """
    view = index.view
    ranked = sorted(record.criteria, key=lambda one: -_badness(view, one))
    failed = view.failures.by_case.get(case.id, ())
    worst = next((one.score for one in record.criteria if failed and one.criterion == failed[0]), record.tree.score)
    told = locale.say("pair", name=locale.say("failures"), value=failed_criteria(view, record, locale)) if failed else ""
    final = locale.say("pair", name=locale.say("final_score"), value=locale.number(record.tree.score)) if failed else ""
    facts = (told, final, case.id, audience(locale, case.maturity) if case.maturity else "", *group_labels(view, case))
    missing = locale.say("empty_text")
    to_read = [one for one in ranked if one.is_missing or one.criterion in failed or _is_disputed(view, one)] or ranked[:OPEN]
    return Entry(
        score=locale.number(worst),
        title=case.prompt_text[:TITLE],
        facts=tuple(fact for fact in facts if fact),
        blocks=(
            excerpt(locale, locale.say("prompt"), case.prompt_text, missing, "cut", limit),
            *thoughts_excerpt(view, case, locale, limit),
            excerpt(locale, locale.say("response"), case.response or "", missing, "cut", limit),
            Heading(text=locale.say("scores")),
            *(
                assessment(view, one, case, locale, is_open=place < OPEN and _badness(view, one) > BAD)
                for place, one in enumerate(to_read)
            ),
            *_other_scores(view, [one for one in ranked if one not in to_read], locale),
            *(_more_of(index, case, locale) if in_report else ()),
        ),
        anchor="" if in_report else index.anchor(case.id),
        css="" if in_report else " ".join(index.classes(case)),
    )


def thoughts_excerpt(view: RunView, case: Case, locale: Locale, limit: int = LONGEST_TEXT) -> Sequence[Excerpt]:
    """The thoughts in the text of an answer that no judge has read; nothing where there are none."""
    if case.id not in view.stored.thoughts:
        return ()
    return (
        excerpt(locale, locale.say("thoughts"), view.stored.thoughts[case.id], locale.say("thoughts_withheld"), "cut", limit),
    )


def _is_disputed(view: RunView, score: CriterionScore) -> bool:
    return (score.case_id, score.criterion) in view.disputed


def _other_scores(view: RunView, scores: Sequence[CriterionScore], locale: Locale) -> Sequence[Block]:
    if not scores:
        return ()
    criteria = view.spec.criteria_by_id()
    told = (_named(view, one, criterion_label(criteria[one.criterion]), locale) for one in scores)
    return (Paragraph(text=locale.say("pair", name=locale.say("other_criteria"), value=", ".join(told)), look="small"),)


def _named(view: RunView, score: CriterionScore, name: str, locale: Locale) -> str:
    mapped = _mapped(view, score, locale)
    return f"{name} {_shown(score, locale)}" + (f" ({mapped})" if mapped else "")


def _mapped(view: RunView, score: CriterionScore, locale: Locale) -> str:
    """What people are expected to say where the jury gave this score, with the calibration's id; "" without a calibration."""
    found = view.mapped.get((score.case_id, score.criterion))
    if found is None:
        return ""
    told = locale.say("mapped", score=locale.number(found.score), id=found.calibration)
    return told if found.failing is None else locale.say("mapped_failing", told=told, chance=locale.percent(found.failing, 0))


def _shown(score: CriterionScore, locale: Locale) -> str:
    return locale.number(score.score) if score.applies else _inapplicable(score, locale)


def _inapplicable(score: CriterionScore, locale: Locale) -> str:
    return locale.say("ruled_out" if score.by_rule else "not_applicable")


def _more_of(index: CaseIndex, case: Case, locale: Locale) -> Sequence[Block]:
    address = index.address(case.id)
    return (Paragraph(text=Span(locale.say("whole_case"), "link", address), look="small"),) if address else ()


def _badness(view: RunView, score: CriterionScore) -> float:
    """How bad a score is, 1 at the worst end of the scale; -1 unscored."""
    scale = view.spec.scale
    if score.score is None:
        return -1.0
    place = (score.score - scale.min) / (scale.max - scale.min)
    return 1.0 - place if scale.higher_is_better else place


def assessment(view: RunView, score: CriterionScore, case: Case, locale: Locale, *, is_open: bool) -> Assessment:
    """One criterion of a case with the words of all its judges."""
    passes = list(passes_of(view, score))
    several = {one.judge for one in passes if one.pass_index > 1}
    whole = view.spec.criteria_by_id()[score.criterion].scope == "conversation"
    told = {turn: quotable(case, turn, whole) for turn in {one.turn for one in passes}}
    bar: Bar = bar_on(view.spec.scale, score.score)
    apart = locale.say("stands_apart", judges=", ".join(score.outliers)) if score.outliers else ""
    note = " · ".join(one for one in (apart, _mapped(view, score, locale)) if one)
    return Assessment(
        label=criterion_label(view.spec.criteria_by_id()[score.criterion]),
        key=score.criterion,
        note=note if score.applies else _inapplicable(score, locale),
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
