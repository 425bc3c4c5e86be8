"""The responses with the worst final scores, with judges' comments."""

from areopage.bench.results import RunView
from areopage.cases.records import Case
from areopage.locales import Locale
from areopage.report.model import (
    LONGEST_TEXT,
    Assessment,
    Bar,
    Block,
    Entries,
    Entry,
    Heading,
    Paragraph,
    Quote,
    Remark,
    Section,
    bar_on,
    excerpt,
)
from areopage.report.results import PassView, criterion_label, fold_space, passes_of, quoted_verbatim
from areopage.scoring.fold import RecordScores
from areopage.scoring.reduce import CriterionScore

WORST = 10
MAX_TEXT = LONGEST_TEXT
MAX_EXPLANATION = 2_000
MAX_EXTRACTS = 5
OPEN, BAD = 3, 0.5  # criteria that are shown open: the worst ones, if they are worse than half of the scale
TITLE = 160


def worst_section(view: RunView, locale: Locale) -> Section:
    """Build the section, worst first; ties keep the dataset's order."""
    cases = {case.id: case for case in view.cases}
    sign = 1 if view.spec.scale.higher_is_better else -1
    scored = [(sign * record.tree.score, record) for record in view.scores.records if record.tree.score is not None]
    scored.sort(key=lambda pair: pair[0])
    entries = [_entry(view, cases[record.case_id], record, sign * key, locale) for key, record in scored[:WORST]]
    blocks: tuple[Block, ...] = (Paragraph(text=locale.say("worst_none")),)
    if entries:
        blocks = (Paragraph(text=locale.say("worst_lead", n=len(entries)), look="soft"), Entries(items=tuple(entries)))
    return Section(id="worst", title=locale.say("worst"), blocks=blocks)


def audience(locale: Locale, maturity: str) -> str:
    """An audience's display name."""
    key = f"maturity_{maturity}"
    return locale.say(key) if key in locale.messages else maturity or locale.say("maturity_none")


def _entry(view: RunView, case: Case, record: RecordScores, score: float, locale: Locale) -> Entry:
    folded = fold_space(case.response or "")
    ranked = sorted(((_badness(view, one), one) for one in record.criteria), key=lambda pair: -pair[0])
    facts = (case.id, audience(locale, case.maturity) if case.maturity else "", case.category, case.subcategory)
    missing = locale.say("empty_text")
    return Entry(
        score=locale.number(score),
        title=case.prompt_text[:TITLE],
        facts=tuple(fact for fact in facts if fact),
        blocks=(
            excerpt(locale, locale.say("prompt"), case.prompt_text, missing, "cut"),
            excerpt(locale, locale.say("response"), case.response or "", missing, "cut"),
            Heading(text=locale.say("scores")),
            *(
                _assessment(view, one, folded, locale, is_open=place < OPEN and badness > BAD)
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


def _assessment(view: RunView, score: CriterionScore, folded: str, locale: Locale, *, is_open: bool) -> Assessment:
    planned = {judge.judge: judge.planned for judge in score.judges}
    bar: Bar = bar_on(view.spec.scale, score.score)
    return Assessment(
        label=criterion_label(view.spec.criteria_by_id()[score.criterion]),
        key=score.criterion,
        note=locale.say("stands_apart", judges=", ".join(score.outliers)) if score.outliers else "",
        bar=bar,
        score=locale.number(score.score),
        remarks=tuple(_remark(one, planned[one.judge], folded, locale) for one in passes_of(view, score)),
        is_open=is_open,
    )


def _remark(one: PassView, passes: int, folded: str, locale: Locale) -> Remark:
    name = f"{one.judge}, {locale.say('pass', n=one.pass_index)}" if passes > 1 else one.judge
    score, verdict = locale.number(one.score), one.verdict
    if verdict is None:
        failure = locale.say(f"said_{one.outcome_name}")
        return Remark(
            name=name, score=score, failure=locale.say("pair", name=failure, value=one.reason) if one.reason else failure
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
