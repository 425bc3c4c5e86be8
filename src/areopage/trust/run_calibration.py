"""Calibrate a benchmark run: fit people's labels of its answers, and apply a calibration to its scores.

Only labels count that were given blind. Means and shares rest on answers that were drawn at random: other labels say how far the
jury errs on answers that were picked because they looked bad. Maps and weights of single scores also learn from the answers that
were picked as they teach most: these were chosen by the judges' scores alone, never by what people said of them.

Where three judges or more scored, the prediction that labels correct is the judges' mean weighed by their agreement with each
other, which takes no label; else it is the jury's score.
"""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime

import numpy as np

from areopage.errors import UserError, counted
from areopage.scoring import (
    FEWEST_JUDGES,
    AppliedCalibration,
    Column,
    Corrected,
    CorrectedScore,
    JuryWeights,
    MappedScore,
    Matrix,
    Rating,
    agreement_weights,
    choose_map,
    corrected_mean,
    corrected_share,
    filled,
    fit_line,
    fit_weights,
    transported_mean,
)
from areopage.trust.calibration import (
    FEWEST_LABELS,
    OVERALL,
    Calibration,
    CriterionFit,
    LabelsUsed,
    assembled,
    labels_digest,
    prompt_digests,
    refuse_other_panel,
)
from areopage.trust.failure_errors import failing_chances, fit_errors
from areopage.trust.judged import JudgedRun

FEWEST_FOR_WEIGHTS = 30
_ALIKE = 1e-9

Labelled = Mapping[str, Sequence[float]]
"""Answer -> people's scores of it on one criterion."""


def fit_calibration(
    judged: JudgedRun,
    ratings: Sequence[Rating],
    drawn: Collection[str],
    now: datetime,
    *,
    taught: Collection[str] = (),
    unblind: int = 0,
) -> Calibration:
    """Fit a calibration to the labels of a run's answers.

    Args:
        ratings: blind labels; of answers and criteria that the jury did not score they are left out.
        drawn: the ids of the answers that were drawn at random.
        taught: the ids of the answers that were queued as they teach most.
        unblind: how many labels are left out, as they are not blind.

    Raises:
        UserError: no criterion has ten answers that were drawn at random and labelled.
    """
    panel = judged.panel
    usable = [
        rating
        for rating in ratings
        if rating.item in judged.scores.get(rating.criterion, {}) and panel.scale.contains(rating.score)
    ]
    kept = [rating for rating in usable if rating.item in drawn]
    more = [rating for rating in usable if rating.item in taught and rating.item not in drawn]
    labelled, teaching = by_criterion(kept), by_criterion(more)
    enough = {path: items for path, items in labelled.items() if len(items) >= FEWEST_LABELS}
    selected = len({rating.item for rating in usable} - set(drawn) - set(taught))
    if not enough:
        at_random = max(map(len, labelled.values()), default=0)
        raise UserError(_too_few(judged.run_id, at_random, selected + len({rating.item for rating in more})))
    used = LabelsUsed(
        answers=len({rating.item for rating in kept}),
        drawn=len(drawn),
        labels=len(kept),
        raters=tuple(sorted({rating.rater for rating in [*kept, *more]})),
        taught=len({rating.item for rating in more}),
        selected=selected,
        unblind=unblind,
        digest=labels_digest([*kept, *more]),
    )
    prompts = prompt_digests(panel)
    fits = [
        _fit(judged, path, enough[path], teaching.get(path, {}), prompts.get(path, ""))
        for path in judged.scores
        if path in enough
    ]
    left_out = {path: len(labelled.get(path, {})) for path in judged.scores if path not in enough and path != OVERALL}
    return assembled(panel, judged.run_id, used, fits, left_out, now)


def by_criterion(ratings: Sequence[Rating]) -> dict[str, dict[str, list[float]]]:
    """Criterion's path -> answer -> people's scores of it."""
    by_name: dict[str, dict[str, list[float]]] = {}
    for rating in ratings:
        by_name.setdefault(rating.criterion, {}).setdefault(rating.item, []).append(rating.score)
    return by_name


def _too_few(run_id: str, at_random: int, selected: int) -> str:
    picked = f"; {counted(selected, 'other labelled answer')} cannot be used: they were not drawn at random" if selected else ""
    return (
        f"run {run_id}: {counted(at_random, 'answer')} drawn at random and labelled blind, {FEWEST_LABELS} are needed{picked}: "
        f"areopage calibrate plan {run_id} --queue draws answers at random"
    )


def _fit(judged: JudgedRun, path: str, labelled: Labelled, teaching: Labelled, prompt: str) -> CriterionFit:
    scores, scale = judged.scores[path], judged.panel.scale
    items, everything = sorted(labelled), np.array(list(scores.values()))
    people, jury = _people(labelled, items), np.array([scores[item] for item in items])
    limit, failures = judged.limits.get(path), None
    if limit is not None:
        sides = [np.array([scale.reaches(score, limit) for score in side]) for side in (people, jury, everything)]
        failures = corrected_share(*sides)
    agreement = _agreement(judged, path)
    predicted = _predictions(judged, path, agreement)
    by_answer = np.array([predicted[item] for item in items])
    learned = [*items, *sorted(teaching)]
    all_people = np.concatenate([people, _people(teaching, sorted(teaching))])
    return CriterionFit(
        criterion=path,
        prompt=prompt,
        agreement=agreement,
        jury=float(everything.mean()),
        line=fit_line(people, by_answer),
        jury_line=fit_line(people, jury),
        mean=corrected_mean(people, by_answer, np.array(list(predicted.values()))),
        failures=failures,
        map=choose_map(all_people, np.array([scores[item] for item in learned])),
        weights=_weights(all_people, _table(judged, path, learned), agreement),
        errors=fit_errors(judged, path, dict(zip(learned, all_people.tolist(), strict=True))),
    )


def _people(labelled: Labelled, items: Sequence[str]) -> Column:
    """People's mean score of each answer, shape (n,)."""
    return np.array([sum(labelled[item]) / len(labelled[item]) for item in items], dtype=np.float64)


def _table(judged: JudgedRun, path: str, items: Sequence[str]) -> Matrix | None:
    """The judges' scores of answers, shape (n, m), NaN where one is missing; None where an answer has no judge's score."""
    rows = [judged.by_judge.get(path, {}).get(item, ()) for item in items]
    if not rows or any(all(score is None for score in row) for row in rows):
        return None
    return np.array([[np.nan if score is None else score for score in row] for row in rows], dtype=np.float64)


def _agreement(judged: JudgedRun, path: str) -> tuple[float, ...]:
    """The judges' weights by their agreement over all judged answers; () where the jury's score is the prediction."""
    table = _table(judged, path, judged.voted(path))
    if table is None or table.shape[1] < FEWEST_JUDGES:
        return ()
    weights_of_judges = agreement_weights(table)
    return () if np.ptp(weights_of_judges) < _ALIKE else tuple(weights_of_judges.tolist())


def predictions(judged: JudgedRun, path: str) -> dict[str, float]:
    """What the labels of a criterion correct: by answer, the judges' mean weighed by their agreement, or the jury's score."""
    return _predictions(judged, path, _agreement(judged, path))


def _predictions(judged: JudgedRun, path: str, agreement: Sequence[float]) -> dict[str, float]:
    """The prediction of each judged answer: by judges' weights, or the jury's score; also where an answer has no judge's."""
    scores = judged.scores[path]
    if not agreement:
        return dict(scores)
    weights, predictions = np.array(agreement), dict(scores)
    voted = judged.voted(path)
    table = _table(judged, path, voted)
    if table is not None:
        predictions |= zip(voted, (filled(table) @ weights).tolist(), strict=True)
    return predictions


def _weights(people: Column, table: Matrix | None, agreement: Sequence[float]) -> JuryWeights | None:
    """Weights of the judges; None with one judge, with few labels, or where an answer has no judge's score."""
    if table is None or len(table) < FEWEST_FOR_WEIGHTS or table.shape[1] < 2:
        return None
    return fit_weights(people, table, base=np.array(agreement) if agreement else None)


def apply_calibration(calibration: Calibration, judged: JudgedRun) -> AppliedCalibration:
    """The corrected means of a run's scores.

    On the run that it was fitted to, they hold for all its answers without any assumption. On another run of the same panel they
    assume that people and jury relate to each other as on the labelled answers.

    Raises:
        UserError: the run has another panel.
    """
    refuse_other_panel(calibration, judged.panel)
    ids = {criterion.path: criterion.id for criterion in judged.panel.criteria}
    corrected = {
        fit.criterion: _corrected(calibration, fit, judged) for fit in calibration.criteria if judged.scores.get(fit.criterion)
    }
    return applied(calibration, {ids[path]: score for path, score in corrected.items() if path in ids}, corrected.get(OVERALL))


def applied(calibration: Calibration, criteria: Mapping[str, CorrectedScore], final: CorrectedScore | None) -> AppliedCalibration:
    """Corrected scores with the name of what corrected them."""
    return AppliedCalibration(
        id=calibration.id,
        digest=calibration.digest,
        fitted=calibration.fitted.isoformat(),
        source=calibration.source,
        answers=calibration.labels.answers,
        raters=len(calibration.labels.raters),
        criteria=dict(criteria),
        final=final,
    )


def _corrected(calibration: Calibration, fit: CriterionFit, judged: JudgedRun) -> CorrectedScore:
    scores = judged.scores[fit.criterion]
    jury = float(np.mean(list(scores.values())))
    same = fit.mean.judged == len(scores) and abs(fit.jury - jury) < _ALIKE
    is_fitted_run = judged.run_id == calibration.run_id and same
    predicted = float(np.mean(list(_predictions(judged, fit.criterion, fit.agreement).values())))
    mean = fit.mean if is_fitted_run else transported_mean(fit.line, predicted, len(scores))
    return corrected_score(calibration, fit, mean, jury, own=is_fitted_run)


def corrected_score(calibration: Calibration, fit: CriterionFit, mean: Corrected, jury: float, *, own: bool) -> CorrectedScore:
    """A corrected mean, cut at the ends of the scale.

    Args:
        jury: the jury's mean, uncorrected.
        own: whether the labels are of the answers whose mean it is.
    """
    low, high = calibration.scale.min, calibration.scale.max
    return CorrectedScore(
        calibration=calibration.id,
        uncorrected=jury,
        score=min(high, max(low, mean.value)),
        low=None if mean.low is None else min(high, max(low, mean.low)),
        high=None if mean.high is None else min(high, max(low, mean.high)),
        labels=fit.line.labels,
        judged=mean.judged,
        own=own,
        weight=mean.weight,
        saved=mean.saved if own else None,
        failures=fit.failures if own else None,
    )


def mapped_scores(calibration: Calibration, judged: JudgedRun) -> dict[str, dict[str, MappedScore]]:
    """What single scores become, by criterion's path and answer; "" is the overall score.

    The judges' weights predict them where these err less on labels left out, else the map of the jury's score does. An answer
    without a judge's score gets the map. The chance of a failure is that of the judges' confusion matrices.

    Raises:
        UserError: the run has another panel.
    """
    refuse_other_panel(calibration, judged.panel)
    scale, by_path = calibration.scale, dict[str, dict[str, MappedScore]]()
    for fit in calibration.criteria:
        scores = judged.scores.get(fit.criterion, {})
        items = list(scores)
        if not items:
            continue
        mapped = dict(zip(items, fit.map.apply(np.array(list(scores.values()))).tolist(), strict=True))
        by = dict.fromkeys(items, str(fit.map.kind))
        voted = judged.voted(fit.criterion)
        table = _table(judged, fit.criterion, voted)
        if table is not None and fit.weights is not None and fit.by_weights:
            mapped |= zip(voted, fit.weights.predict(table).tolist(), strict=True)
            by |= dict.fromkeys(voted, "weights")
        failing = failing_chances(judged, fit)
        by_path[fit.criterion] = {
            item: MappedScore(
                calibration=calibration.id,
                score=min(scale.max, max(scale.min, mapped[item])),
                by=by[item],
                failing=failing.get(item),
            )
            for item in items
        }
    return by_path
