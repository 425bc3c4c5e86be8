"""The responses with the worst final scores, with everything that the judges said of them."""

from msgspec import Struct

from areopage.bench.results import RunView
from areopage.cases.records import Case
from areopage.criteria.records import Criterion
from areopage.report.passes import PassView, fold_space, passes_of, quoted_verbatim
from areopage.scoring.fold import RecordScores
from areopage.scoring.reduce import CriterionScore

WORST = 10
MAX_TEXT = 20_000  # characters of a prompt or response: what is shown must stay readable, and the file small
MAX_EXPLANATION = 2_000
MAX_EXTRACTS = 5


class Quoted(Struct, frozen=True, kw_only=True):
    """A text from outside, cut to a length; `left_out` counts the characters that are not shown."""

    text: str
    left_out: int


class Extract(Struct, frozen=True, kw_only=True):
    """What a judge quotes. `verbatim`: it stands in the response word for word, white space aside."""

    text: Quoted
    verbatim: bool


class Said(Struct, frozen=True, kw_only=True):
    """What one judge said in one pass. `passes` is how often it was asked; `outcome` and `reason` tell why a score is missing."""

    judge: str
    pass_index: int
    passes: int
    outcome: str
    score: float | None
    reason: str
    explanation: Quoted
    extracts: tuple[Extract, ...]


class WorstCriterion(Struct, frozen=True, kw_only=True):
    """One criterion of a response. `badness` is the place on the scale, 1 the worst end; None unscored."""

    key: str
    label: str
    score: float | None
    badness: float | None
    agreement: float | None
    outliers: tuple[str, ...]
    said: tuple[Said, ...]


class WorstCase(Struct, frozen=True, kw_only=True):
    """One response. Criteria stand with the worst first."""

    case: Case
    score: float
    prompt: Quoted
    response: Quoted
    criteria: tuple[WorstCriterion, ...]


def worst_cases(view: RunView) -> tuple[WorstCase, ...]:
    """The responses with the worst final scores, the worst first; the dataset's order decides between equals."""
    cases = {case.id: case for case in view.cases}
    sign = 1 if view.spec.scale.higher_is_better else -1
    scored = [(sign * record.tree.score, record) for record in view.scores.records if record.tree.score is not None]
    scored.sort(key=lambda pair: pair[0])
    return tuple(worst_case(view, cases[record.case_id], record, sign * key) for key, record in scored[:WORST])


def worst_case(view: RunView, case: Case, record: RecordScores, score: float) -> WorstCase:
    """One response."""
    response = fold_space(case.response or "")
    criteria = [worst_criterion(view, one, response) for one in record.criteria]
    criteria.sort(key=lambda one: -1.0 if one.badness is None else one.badness, reverse=True)
    return WorstCase(
        case=case,
        score=score,
        prompt=quoted(case.prompt_text, MAX_TEXT),
        response=quoted(case.response or "", MAX_TEXT),
        criteria=tuple(criteria),
    )


def worst_criterion(view: RunView, score: CriterionScore, folded_response: str) -> WorstCriterion:
    """One criterion of a response."""
    criterion, scale = view.spec.criteria_by_id()[score.criterion], view.spec.scale
    planned = {judge.judge: judge.planned for judge in score.judges}
    badness = None
    if score.score is not None:
        place = (score.score - scale.min) / (scale.max - scale.min)
        badness = 1.0 - place if scale.higher_is_better else place
    return WorstCriterion(
        key=score.criterion,
        label=label_of(criterion),
        score=score.score,
        badness=badness,
        agreement=score.agreement,
        outliers=score.outliers,
        said=tuple(said(one, planned[one.judge], folded_response) for one in passes_of(view, score)),
    )


def label_of(criterion: Criterion) -> str:
    """What people call a criterion."""
    return criterion.label or criterion.name.replace("_", " ")


def said(one: PassView, passes: int, folded_response: str) -> Said:
    """What a judge said in one pass."""
    verdict = one.verdict
    return Said(
        judge=one.judge,
        pass_index=one.pass_index,
        passes=passes,
        outcome=one.outcome_name,
        score=one.score,
        reason=one.reason,
        explanation=quoted(verdict.explanation if verdict else "", MAX_EXPLANATION),
        extracts=tuple(
            Extract(text=quoted(extract, MAX_EXPLANATION), verbatim=quoted_verbatim(extract, folded_response))
            for extract in (verdict.evidence if verdict else ())[:MAX_EXTRACTS]
        ),
    )


def quoted(text: str, limit: int) -> Quoted:
    """A text cut to a length."""
    return Quoted(text=text[:limit], left_out=max(0, len(text) - limit))
