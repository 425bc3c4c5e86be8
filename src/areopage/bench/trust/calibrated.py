"""A run with a calibration: what its jury said for fitting one, and the corrected means beside its scores."""

from contextlib import suppress
from datetime import datetime
from typing import TypeVar

import numpy as np
from msgspec import structs

from areopage.bench.figures.people import drawn_ids, scores_by_answer, taught_ids
from areopage.bench.results.run_data import RunData
from areopage.errors import UserError
from areopage.ledger import Ledger
from areopage.review import OVERALL, Rubric, ratings_of
from areopage.scoring import AppliedCalibration, MappedScore
from areopage.trust import (
    Calibration,
    CriterionPlan,
    JudgedRun,
    apply_calibration,
    fit_calibration,
    mapped_scores,
    plan_run,
    read_calibration,
)

View = TypeVar("View", bound=RunData)


def judged_run(view: RunData) -> JudgedRun:
    """The scores of a run's jury, by criterion and answer, and those of each judge."""
    spec = view.spec
    paths = {criterion.id: criterion.path for criterion in spec.criteria}
    scores: dict[str, dict[str, float]] = {path: {} for path in (OVERALL, *paths.values())}
    by_judge: dict[str, dict[str, tuple[float | None, ...]]] = {}
    for id, given in scores_by_answer(view).items():
        for path, score in given.items():
            scores[path][id] = score
    columns = view.scores.criteria
    ids = [view.answer_ids.get(case_id, "") for case_id in columns.cases]
    names = [paths[criterion] for criterion in columns.criteria]
    known = np.where(np.isnan(columns.cells.judge_score), None, columns.cells.judge_score).tolist()  # type: ignore[call-overload]
    rows = zip(columns.case.tolist(), columns.criterion.tolist(), known, strict=True)
    for case, criterion, given_by in rows:
        by_judge.setdefault(names[criterion], {})[ids[case]] = tuple(given_by)
    limits = spec.limits
    return JudgedRun(
        panel=spec,
        run_id=view.run.id,
        scores=scores,
        by_judge=by_judge,
        limits={paths[id]: limit for id, limit in limits.items()},
    )


def fit_run(view: RunData, now: datetime) -> Calibration:
    """Fit a calibration to the blind labels of a run's random sample, and of the answers that teach most.

    Raises:
        UserError: too few answers were drawn at random and labelled.
    """
    ratings, _ = ratings_of(view.people.labels, Rubric.of_panel(view.spec, view.run.id))
    return fit_calibration(judged_run(view), ratings, drawn_ids(view), now, taught=taught_ids(view), unblind=view.people.unblind)


def planned_labels(view: RunData, precision: float, judged: JudgedRun | None = None) -> list[CriterionPlan]:
    """How many random labels each criterion of a run takes, and the overall score; none where the jury has scored nothing.

    Args:
        precision: half the width of the 95 % interval of a corrected mean, in points of the run's scale.
        judged: what the jury said; None: it is read from the run.
    """
    ratings, _ = ratings_of(view.people.labels, Rubric.of_panel(view.spec, view.run.id))
    return plan_run(judged or judged_run(view), ratings, drawn_ids(view), precision)


def fitting_calibration(view: RunData) -> AppliedCalibration | None:
    """The calibration that the run is shown with, else the newest that fits it, first of those from its own answers.

    A calibration that cannot be read, or is for another panel, does not fit.
    """
    if view.calibration is not None:
        return view.calibration
    own = [one for one in view.calibrations if one.run_id == view.run.id]
    newest = [*reversed(own), *(one for one in reversed(view.calibrations) if one.run_id != view.run.id)]
    judged = judged_run(view) if newest else None
    for stored in newest:
        with suppress(UserError):
            return apply_calibration(read_calibration(stored), judged) if judged is not None else None
    return None


def with_calibration(view: View, ledger: Ledger, id: str) -> View:
    """The run with the corrected means and single scores of a stored calibration beside its scores.

    Args:
        id: of the calibration, the beginning of it, or `latest`; "" leaves the run as it is.

    Raises:
        UserError: there is no such calibration, or it was fitted for other judges, prompts, language or scale.
    """
    if not id:
        return view
    calibration = read_calibration(ledger.calibrations.find(id))
    judged = judged_run(view)
    by_path, found = mapped_scores(calibration, judged), dict[tuple[str, str], MappedScore]()
    ids = {OVERALL: OVERALL} | {criterion.path: criterion.id for criterion in view.spec.criteria}
    for record in view.scores.records:
        answer = view.answer_ids.get(record.case_id, "")
        found |= {
            (record.case_id, ids[path]): scores[answer] for path, scores in by_path.items() if path in ids and answer in scores
        }
    return structs.replace(view, calibration=apply_calibration(calibration, judged), mapped=found)
