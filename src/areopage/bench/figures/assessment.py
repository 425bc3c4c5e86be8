"""One criterion of a case with the words of its judges."""

from areopage.bench.results.pass_views import PassView, pass_views, quotable, quoted_verbatim
from areopage.bench.results.run_data import RunData
from areopage.cases import Case
from areopage.locales import Locale
from areopage.report import Assessment, Bar, Quote, Remark, bar_on
from areopage.scoring import CriterionScore

MAX_EXPLANATION = 2_000
MAX_EXTRACTS = 5


def mapped_text(view: RunData, score: CriterionScore, locale: Locale) -> str:
    """What people are expected to say where the jury gave this score, with the calibration's id; "" without a calibration."""
    mapped = view.mapped.get((score.case_id, score.criterion))
    if mapped is None:
        return ""
    text = locale.say("mapped", score=locale.number(mapped.score), id=mapped.calibration)
    return text if mapped.failing is None else locale.say("mapped_failing", told=text, chance=locale.percent(mapped.failing, 0))


def inapplicable(score: CriterionScore, locale: Locale) -> str:
    """Why a criterion does not apply to a case."""
    return locale.say("ruled_out" if score.by_rule else "not_applicable")


def assessment(view: RunData, score: CriterionScore, case: Case, locale: Locale, *, is_open: bool) -> Assessment:
    """One criterion of a case with the words of all its judges."""
    passes = list(pass_views(view, score))
    several = {pass_view.judge for pass_view in passes if pass_view.pass_index > 1}
    whole = view.spec.criteria_by_id()[score.criterion].scope == "conversation"
    quotable_texts = {turn: quotable(case, turn, whole) for turn in {pass_view.turn for pass_view in passes}}
    bar: Bar = bar_on(view.spec.scale, score.score)
    apart = locale.say("stands_apart", judges=", ".join(score.outliers)) if score.outliers else ""
    note = " · ".join(part for part in (apart, mapped_text(view, score, locale)) if part)
    return Assessment(
        label=view.spec.criteria_by_id()[score.criterion].title,
        key=score.criterion,
        note=note if score.applies else inapplicable(score, locale),
        bar=bar,
        score=locale.number(score.score),
        remarks=tuple(
            _remark(pass_view, quotable_texts[pass_view.turn], locale, several=pass_view.judge in several) for pass_view in passes
        ),
        is_open=is_open,
    )


def _remark(pass_view: PassView, folded: str, locale: Locale, *, several: bool) -> Remark:
    reply = [locale.say("reply_number", n=pass_view.turn)] if pass_view.turn else []
    name = ", ".join([pass_view.judge, *reply, *([locale.say("pass", n=pass_view.pass_index)] if several else [])])
    score, verdict = locale.number(pass_view.score), pass_view.verdict
    if verdict is None:
        failure, reason = locale.say(f"said_{pass_view.outcome_name}"), pass_view.reason or pass_view.explanation
        return Remark(
            name=name, score=score, failure=locale.say("pair", name=failure, value=_cut(reason, locale)[0]) if reason else failure
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
