"""One criterion of a case with the words of its judges."""

from areopage.bench.results.pass_views import PassView, passes_of, quotable, quoted_verbatim
from areopage.bench.results.run_data import RunData
from areopage.cases import Case
from areopage.locales import Locale
from areopage.report import Assessment, Bar, Quote, Remark, bar_on
from areopage.scoring import CriterionScore

MAX_EXPLANATION = 2_000
MAX_EXTRACTS = 5


def mapped_text(view: RunData, score: CriterionScore, locale: Locale) -> str:
    """What people are expected to say where the jury gave this score, with the calibration's id; "" without a calibration."""
    found = view.mapped.get((score.case_id, score.criterion))
    if found is None:
        return ""
    told = locale.say("mapped", score=locale.number(found.score), id=found.calibration)
    return told if found.failing is None else locale.say("mapped_failing", told=told, chance=locale.percent(found.failing, 0))


def inapplicable(score: CriterionScore, locale: Locale) -> str:
    """Why a criterion does not apply to a case."""
    return locale.say("ruled_out" if score.by_rule else "not_applicable")


def assessment(view: RunData, score: CriterionScore, case: Case, locale: Locale, *, is_open: bool) -> Assessment:
    """One criterion of a case with the words of all its judges."""
    passes = list(passes_of(view, score))
    several = {one.judge for one in passes if one.pass_index > 1}
    whole = view.spec.criteria_by_id()[score.criterion].scope == "conversation"
    told = {turn: quotable(case, turn, whole) for turn in {one.turn for one in passes}}
    bar: Bar = bar_on(view.spec.scale, score.score)
    apart = locale.say("stands_apart", judges=", ".join(score.outliers)) if score.outliers else ""
    note = " · ".join(one for one in (apart, mapped_text(view, score, locale)) if one)
    return Assessment(
        label=view.spec.criteria_by_id()[score.criterion].title,
        key=score.criterion,
        note=note if score.applies else inapplicable(score, locale),
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
