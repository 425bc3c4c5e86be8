"""One case of a benchmark run in its report: prompt, response, and what the judges said."""

from collections.abc import Collection, Sequence

from areopage.bench.figures.assessment import assessment, inapplicable, mapped_text
from areopage.bench.figures.case_index import CaseIndex
from areopage.bench.figures.disputes import DISPUTED
from areopage.bench.figures.failures import FAILURES
from areopage.bench.results.run_data import RunData
from areopage.cases import Case
from areopage.locales import Locale
from areopage.report import LONGEST_TEXT, Block, Entry, Excerpt, Heading, Paragraph, Span, audience, excerpt
from areopage.scoring import CriterionScore, RecordScores

OPEN, BAD = 3, 0.5  # criteria that are shown open: the worst ones, if they are worse than half of the scale
CASE_TITLE = 160


def entry_facts(view: RunData, case: Case, locale: Locale, *leading: str) -> tuple[str, ...]:
    """What stands under the title of a case: its id, age, category and sub-category, as far as it has them."""
    labels, age = view.spec.labels, audience(locale, case.maturity) if case.maturity else ""
    subcategory = labels.get(f"{case.category}.{case.subcategory}") if case.subcategory else ""
    return tuple(fact for fact in (*leading, case.id, age, labels.get(case.category), subcategory) if fact)


def named_scores(view: RunData, record: RecordScores, ids: Collection[str], locale: Locale) -> str:
    """Criteria with their scores of a case; "" where there are none."""
    scores = {score.criterion: score.score for score in record.criteria}
    return ", ".join(f"{name} {locale.number(scores[id])}" for id, name in zip(ids, view.spec.titles(ids), strict=True))


def failed_criteria(view: RunData, record: RecordScores, locale: Locale) -> str:
    """The criteria that a case fails, with its scores; "" where it fails none."""
    return named_scores(view, record, FAILURES.of(view).by_case.get(record.case_id, ()), locale)


def case_entry(
    index: CaseIndex, case: Case, record: RecordScores, locale: Locale, *, in_report: bool = False, limit: int = LONGEST_TEXT
) -> Entry:
    """A case with its texts, and the judges' words on the criteria that it fails, that are disputed or lack a score.

    Scores of its other criteria are named; the worst ones of a case without such a criterion are shown with words.
    """
    view = index.view
    ranked = sorted(record.criteria, key=lambda score: -_badness(view, score))
    failed = FAILURES.of(view).by_case.get(case.id, ())
    worst = next((score.score for score in record.criteria if failed and score.criterion == failed[0]), record.tree.score)
    failures = locale.say("pair", name=locale.say("failures"), value=failed_criteria(view, record, locale)) if failed else ""
    final = locale.say("pair", name=locale.say("final_score"), value=locale.number(record.tree.score)) if failed else ""
    missing, address = locale.say("empty_text"), index.address(case.id)
    to_read = [
        score
        for score in ranked
        if score.is_missing or score.criterion in failed or ((score.case_id, score.criterion) in DISPUTED.of(view))
    ] or ranked[:OPEN]
    return Entry(
        score=locale.number(worst),
        title=case.prompt_text[:CASE_TITLE],
        facts=entry_facts(view, case, locale, failures, final),
        blocks=(
            excerpt(locale, locale.say("prompt"), case.prompt_text, missing, "cut", limit),
            *thoughts_excerpt(view, case, locale, limit),
            excerpt(locale, locale.say("response"), case.response or "", missing, "cut", limit),
            Heading(text=locale.say("scores")),
            *(
                assessment(view, score, case, locale, is_open=place < OPEN and _badness(view, score) > BAD)
                for place, score in enumerate(to_read)
            ),
            *_other_scores(view, [score for score in ranked if score not in to_read], locale),
            *((Paragraph(text=Span(locale.say("whole_case"), "link", address), look="small"),) if in_report and address else ()),
        ),
        anchor="" if in_report else index.anchor(case.id),
        css="" if in_report else " ".join(index.classes(case)),
    )


def thoughts_excerpt(view: RunData, case: Case, locale: Locale, limit: int = LONGEST_TEXT) -> Sequence[Excerpt]:
    """The thoughts in the text of an answer that no judge has read; nothing where there are none."""
    if case.id not in view.stored.thoughts:
        return ()
    return (
        excerpt(locale, locale.say("thoughts"), view.stored.thoughts[case.id], locale.say("thoughts_withheld"), "cut", limit),
    )


def _other_scores(view: RunData, scores: Sequence[CriterionScore], locale: Locale) -> Sequence[Block]:
    if not scores:
        return ()
    criteria, parts = view.spec.criteria_by_id(), list[str]()
    for score in scores:
        expected = mapped_text(view, score, locale)
        shown = locale.number(score.score) if score.applies else inapplicable(score, locale)
        parts.append(f"{criteria[score.criterion].title} {shown}" + (f" ({expected})" if expected else ""))
    return (Paragraph(text=locale.say("pair", name=locale.say("other_criteria"), value=", ".join(parts)), look="small"),)


def _badness(view: RunData, score: CriterionScore) -> float:
    """How bad a score is, 1 at the worst end of the scale; -1 unscored."""
    scale = view.spec.scale
    if score.score is None:
        return -1.0
    place = (score.score - scale.min) / (scale.max - scale.min)
    return 1.0 - place if scale.higher_is_better else place
