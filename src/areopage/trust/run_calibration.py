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
from msgspec import Struct
from numpy.typing import NDArray

from areopage.errors import UserError, counted
from areopage.jury import Panel
from areopage.scoring import OVERALL, AppliedCalibration, Column, MappedScore, Matrix, Rating
from areopage.trust.calibration import FEWEST_LABELS, Calibration, CriterionFit, FailureErrors, PeopleLabels
from areopage.trust.correction.confusion import UNKNOWN, anchored_confusion, category_chances
from areopage.trust.correction.maps import choose_map
from areopage.trust.correction.means import corrected_mean, fit_line, transported_mean
from areopage.trust.correction.shares import corrected_share
from areopage.trust.correction.weights import FEWEST_JUDGES, JuryWeights, agreement_weights, filled, fit_weights

FEWEST_FOR_WEIGHTS = 30
FEWEST_OF_EACH = 2
"""With fewer labelled failures, or labelled answers that pass, there are no confusion matrices."""

_PASSES, _FAILS = 0, 1
_ALIKE = 1e-9


class JudgedRun(Struct, frozen=True, kw_only=True):
    """What the jury of a run said.

    Args:
        scores: of the jury, on the panel's scale: criterion's path ("" is the overall score) -> answer -> score.
        by_judge: criterion's path -> answer -> score of each judge, in the panel's order; None where one gave none.
        limits: of failures, by a criterion's path.
    """

    panel: Panel
    run_id: str
    scores: Mapping[str, Mapping[str, float]]
    by_judge: Mapping[str, Mapping[str, Sequence[float | None]]]
    limits: Mapping[str, float]

    def voted(self, path: str) -> list[str]:
        """The answers with the jury's score on a criterion, and one of a judge at least."""
        scores = self.by_judge.get(path, {})
        return [item for item in self.scores.get(path, {}) if any(score is not None for score in scores.get(item, ()))]

    def fit(
        self,
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
        labels = PeopleLabels.of(ratings, self.scores, self.panel.scale, drawn, taught=taught, unblind=unblind)
        if labels.most < FEWEST_LABELS:
            others = labels.used.selected + labels.used.taught
            picked = (
                f"; {counted(others, 'other labelled answer')} cannot be used: they were not drawn at random" if others else ""
            )
            raise UserError(
                f"run {self.run_id}: {counted(labels.most, 'answer')} drawn at random and labelled blind, {FEWEST_LABELS} are "
                f"needed{picked}: areopage calibrate plan {self.run_id} --queue draws answers at random"
            )

        def fit_criterion(path: str, prompt: str) -> CriterionFit:
            return _fit(self, path, labels.sample[path], labels.taught.get(path, {}), prompt)

        return Calibration.fit(self.panel, self.run_id, labels, self.scores, fit_criterion, now)

    def corrected(self, calibration: Calibration) -> AppliedCalibration:
        """The corrected means of the run's scores.

        On the run that it was fitted to, they hold for all its answers without any assumption. On another run of the same panel
        they assume that people and jury relate to each other as on the labelled answers.

        Raises:
            UserError: the run has another panel.
        """
        calibration.refuse_other_panel(self.panel)
        corrected = {}
        for fit in calibration.criteria:
            if scores := self.scores.get(fit.criterion):
                jury = float(np.mean(list(scores.values())))
                same = fit.mean.judged == len(scores) and abs(fit.jury - jury) < _ALIKE
                is_fitted_run = self.run_id == calibration.run_id and same
                predicted = float(np.mean(list(predictions(self, fit.criterion, fit.agreement).values())))
                mean = fit.mean if is_fitted_run else transported_mean(fit.line, predicted, len(scores))
                corrected[fit.criterion] = calibration.corrected(fit, mean, jury, is_own=is_fitted_run)
        ids = {criterion.path: criterion.id for criterion in self.panel.criteria}
        return calibration.applied({ids[path]: score for path, score in corrected.items() if path in ids}, corrected.get(OVERALL))

    def mapped(self, calibration: Calibration) -> dict[str, dict[str, MappedScore]]:
        """What single scores become, by criterion's path and answer; "" is the overall score.

        The judges' weights predict them where these err less on labels left out, else the map of the jury's score does. An answer
        without a judge's score gets the map. The chance of a failure is that of the judges' confusion matrices.

        Raises:
            UserError: the run has another panel.
        """
        calibration.refuse_other_panel(self.panel)
        scale, by_path = calibration.scale, dict[str, dict[str, MappedScore]]()
        for fit in calibration.criteria:
            scores = self.scores.get(fit.criterion, {})
            items = list(scores)
            if not items:
                continue
            mapped = dict(zip(items, fit.map.apply(np.array(list(scores.values()))).tolist(), strict=True))
            by = dict.fromkeys(items, str(fit.map.kind))
            voted = self.voted(fit.criterion)
            table = _table(self, fit.criterion, voted)
            if table is not None and fit.weights is not None and fit.by_weights:
                mapped |= zip(voted, fit.weights.predict(table).tolist(), strict=True)
                by |= dict.fromkeys(voted, "weights")
            failing = failing_chances(self, fit)
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


def _fit(judged: JudgedRun, path: str, labelled: Mapping[str, float], taught: Mapping[str, float], prompt: str) -> CriterionFit:
    scores, scale = judged.scores[path], judged.panel.scale
    items, everything = sorted(labelled), np.array(list(scores.values()))
    people, jury = np.array([labelled[item] for item in items]), np.array([scores[item] for item in items])
    limit, failures = judged.limits.get(path), None
    if limit is not None:
        sides = [np.array([scale.reaches(score, limit) for score in side]) for side in (people, jury, everything)]
        failures = corrected_share(*sides)
    agreement = _agreement(judged, path)
    predicted = predictions(judged, path, agreement)
    by_answer = np.array([predicted[item] for item in items])
    every_label = {item: labelled[item] for item in items} | {item: taught[item] for item in sorted(taught)}
    all_people = np.array(list(every_label.values()))
    return CriterionFit(
        criterion=path,
        prompt=prompt,
        agreement=agreement,
        jury=float(everything.mean()),
        line=fit_line(people, by_answer),
        jury_line=fit_line(people, jury),
        mean=corrected_mean(people, by_answer, np.array(list(predicted.values()))),
        failures=failures,
        map=choose_map(all_people, np.array([scores[item] for item in every_label])),
        weights=_weights(all_people, _table(judged, path, list(every_label)), agreement),
        errors=fit_errors(judged, path, every_label),
    )


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


def predictions(judged: JudgedRun, path: str, agreement: Sequence[float] | None = None) -> dict[str, float]:
    """What the labels of a criterion correct, by answer: the judges' mean, weighed by `agreement`, or the jury's score."""
    weights, predicted = _agreement(judged, path) if agreement is None else agreement, dict(judged.scores[path])
    voted = judged.voted(path)
    table = _table(judged, path, voted) if weights else None
    if table is not None:
        predicted |= zip(voted, (filled(table) @ np.array(weights)).tolist(), strict=True)
    return predicted


def _weights(people: Column, table: Matrix | None, agreement: Sequence[float]) -> JuryWeights | None:
    """Weights of the judges; None with one judge, with few labels, or where an answer has no judge's score."""
    if table is None or len(table) < FEWEST_FOR_WEIGHTS or table.shape[1] < 2:
        return None
    return fit_weights(people, table, base=np.array(agreement) if agreement else None)


def fit_errors(judged: JudgedRun, path: str, people: Mapping[str, float]) -> FailureErrors | None:
    """Estimate judges' confusion matrices of failing and passing on one criterion, by people's mean scores.

    None where no score is a failure, no judge's score is known, or people fail, or pass, fewer than two answers.
    """
    limit, items = judged.limits.get(path), judged.voted(path)
    if limit is None or not items:
        return None
    scale = judged.panel.scale
    labels = np.array([int(scale.reaches(people[item], limit)) if item in people else UNKNOWN for item in items])
    if min(int((labels == kind).sum()) for kind in (_PASSES, _FAILS)) < FEWEST_OF_EACH:
        return None
    confusion = anchored_confusion(labels, _votes(judged, path, items, limit), 2)
    return FailureErrors(
        missed=tuple(confusion.matrices[:, _FAILS, _PASSES].tolist()),
        alarms=tuple(confusion.matrices[:, _PASSES, _FAILS].tolist()),
        weights=tuple(confusion.weights.tolist()),
        share=float(confusion.shares[_FAILS]),
        effective=confusion.effective,
    )


def failing_chances(judged: JudgedRun, fit: CriterionFit) -> dict[str, float]:
    """The chance that people fail each answer, in [0, 1], by what its judges say; {} where no matrices are known."""
    errors, limit, items = fit.errors, judged.limits.get(fit.criterion), judged.voted(fit.criterion)
    if errors is None or limit is None or not items:
        return {}
    missed, alarms = np.array(errors.missed), np.array(errors.alarms)
    matrices = np.stack([np.column_stack([1 - alarms, alarms]), np.column_stack([missed, 1 - missed])], axis=1)
    shares, votes = np.array([1 - errors.share, errors.share]), _votes(judged, fit.criterion, items, limit)
    chances = category_chances(votes, matrices, np.array(errors.weights), shares)[:, _FAILS]
    return dict(zip(items, chances.tolist(), strict=True))


def _votes(judged: JudgedRun, path: str, items: Sequence[str], limit: float) -> NDArray[np.int64]:
    """Whether each judge fails each answer, shape (N, m); `UNKNOWN` without a score."""
    scale, votes = judged.panel.scale, judged.by_judge[path]
    return np.array([[UNKNOWN if score is None else int(scale.reaches(score, limit)) for score in votes[item]] for item in items])
