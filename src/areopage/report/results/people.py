"""What people said of a run, measured against its jury: the figures of `results.json`, the report and the console."""

from math import isnan

from msgspec import Struct

from areopage.bench import RunView, SignedRun, signed_runs
from areopage.ledger import SAMPLE, TEACHING
from areopage.review import OVERALL, RunReview, panel_rubric, run_review
from areopage.scoring import Alpha, Correlation, CriterionAgreement, Estimate, FailuresSeen


class HumanCriterion(Struct, frozen=True, kw_only=True):
    """The jury against people on one criterion; `final` is the overall score.

    Args:
        answers: with a score on both sides; `labels` are people's labels of them.
        kappa: quadratic, of scores rounded to whole points.
        error: mean absolute difference.
        bias: mean of jury − people.
        raters_alpha: Krippendorff's α of the raters among themselves, over `twice` answers.
        failures: null for the overall score.
    """

    answers: int
    labels: int
    pearson: Correlation
    kappa: Estimate
    error: float | None
    bias: Estimate
    twice: int
    raters_alpha: Alpha
    failures: FailuresSeen | None


class HumanFigures(Struct, frozen=True, kw_only=True):
    """The jury against people over some answers.

    Args:
        answers: that are labelled.
        first: failures on any of the criteria that count first.
        criteria: by a criterion's id, and `final`.
    """

    answers: int
    labels: int
    raters: int
    first: FailuresSeen
    criteria: dict[str, HumanCriterion]


class PeopleResult(Struct, frozen=True, kw_only=True):
    """People's part in a run.

    Args:
        queued: how many answers were queued for review, `drawn` of them at random.
        not_counted: labels that do not count, as their raters had seen the judges' scores.
        sample: over the random sample, which speaks for all answers; null where nothing of it is labelled.
        all_labelled: over all labelled answers, also those that were chosen as they fail or are disputed.
        sign_offs: of each name the latest, newest first.
    """

    queued: int
    drawn: int
    not_counted: int
    sample: HumanFigures | None
    all_labelled: HumanFigures | None
    sign_offs: tuple[SignedRun, ...]


def run_reviewed(view: RunView, language: str, *, sample_only: bool) -> RunReview:
    """The jury of a run against people; only labels count whose raters had not seen the judges' scores."""
    spec, by_answer = view.spec, scores_by_answer(view)
    paths = {criterion.id: criterion.path for criterion in spec.criteria}
    limits = spec.failures.limits(spec.criteria, spec.scale)
    return run_review(
        panel_rubric(spec, view.run.id),
        view.people.labels,
        drawn_ids(view),
        by_answer,
        {paths[id]: limit for id, limit in limits.items()},
        [criterion.path for criterion in spec.criteria if criterion.category in view.failures.categories],
        language,
        sample_only=sample_only,
        unblind=view.people.unblind,
        worth=view.worth,
    )


def scores_by_answer(view: RunView) -> dict[str, dict[str, float]]:
    """The jury's scores: answer -> criterion's path ("" is the overall score) -> score."""
    columns = view.scores.criteria
    paths = {criterion.id: criterion.path for criterion in view.spec.criteria}
    names = [paths[criterion] for criterion in columns.criteria]
    by_case: dict[int, dict[str, float]] = {}
    rows = zip(columns.case.tolist(), columns.criterion.tolist(), columns.cells.score.tolist(), strict=True)
    for case, criterion, score in rows:
        own = by_case.setdefault(case, {})
        if not isnan(score):
            own[names[criterion]] = score
    finals = view.scores.records.finals_by_case
    by_answer: dict[str, dict[str, float]] = {}
    for case, scores in by_case.items():
        case_id = columns.cases[case]
        if (id := view.answer_ids.get(case_id)) is not None:
            final = finals[case_id]
            by_answer[id] = scores if final is None else scores | {OVERALL: final}
    return by_answer


def drawn_ids(view: RunView) -> set[str]:
    """The ids of the answers of the run's random sample."""
    return {id for id, item in view.people.items.items() if item.why == SAMPLE}


def taught_ids(view: RunView) -> set[str]:
    """The ids of the answers of the run that were queued as they teach most."""
    return {id for id, item in view.people.items.items() if item.why == TEACHING}


def people_result(view: RunView) -> PeopleResult | None:
    """People's part in a run; None where no answer was queued or labelled, and no one signed."""
    people = view.people
    if not (people.items or people.labels or people.signoffs):
        return None
    return PeopleResult(
        queued=len(people.items),
        drawn=len(drawn_ids(view)),
        not_counted=people.unblind,
        sample=_figures(view, sample_only=True),
        all_labelled=_figures(view, sample_only=False),
        sign_offs=tuple(signed_runs(view)),
    )


def _figures(view: RunView, *, sample_only: bool) -> HumanFigures | None:
    found = run_reviewed(view, view.spec.language, sample_only=sample_only)
    agreement, ids = found.report.agreement, {criterion.path: criterion.id for criterion in view.spec.criteria}
    if not agreement.labels:
        return None
    criteria = {
        ids.get(one.criterion, "final"): human_criterion(one, found.failures.by_criterion.get(one.criterion))
        for one in agreement.criteria
        if one.items or one.raters.items
    }
    return HumanFigures(
        answers=found.report.labelled,
        labels=agreement.labels,
        raters=len(agreement.raters),
        first=found.failures.first,
        criteria=criteria,
    )


def human_criterion(one: CriterionAgreement, failures: FailuresSeen | None = None) -> HumanCriterion:
    """The agreement with people on one criterion, in short."""
    return HumanCriterion(
        answers=one.items,
        labels=one.labels,
        pearson=one.pearson,
        kappa=one.kappa,
        error=one.error,
        bias=one.bias,
        twice=one.raters.items,
        raters_alpha=one.raters.alpha,
        failures=failures,
    )
