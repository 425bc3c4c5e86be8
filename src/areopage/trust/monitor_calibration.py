"""Calibrate a monitored period: labels of the random sample of its days correct the mean scores of its answers.

The monitor draws the same number of answers each day, at any traffic: an answer of a busy day is labelled with a
smaller chance. Each label therefore stands for the answers of its day that were judged, over those that were labelled; means are
weighed by it. Days without a label of the random sample speak for nothing: their answers are counted and left out.
"""

from collections.abc import Mapping, Sequence
from datetime import date, datetime

import numpy as np
from msgspec import Struct

from areopage.errors import UserError, counted
from areopage.jury import Panel
from areopage.scoring import OVERALL, AppliedCalibration, CorrectedScore, Rating
from areopage.trust.calibration import FEWEST_LABELS, Calibration, CriterionFit, LabelledDays, PeopleLabels
from areopage.trust.correction.maps import choose_map
from areopage.trust.correction.means import fit_line, stratified_mean, transported_mean

_ALIKE = 1e-6


class DayTotal(Struct, frozen=True, kw_only=True):
    """How many answers of a day the jury scored on a criterion, and the sum of these scores."""

    answers: int
    total: float


Judged = Mapping[str, Mapping[date, DayTotal]]
"""Criterion's path ("" is the overall score) -> day in UTC -> what the jury said of it."""


class MonitoredPeriod(Struct, frozen=True, kw_only=True):
    """What the jury said of the answers of a monitored period.

    Args:
        panel, run_id: the panel that judged all of them, and its id.
        judged: of all answers.
        days: of each answer that was drawn at random, or labelled, the day in UTC, by its id.
        scores: of these answers, by criterion's path and id.
        drawn: the ids of those that were drawn at random.
    """

    panel: Panel
    run_id: str
    period: LabelledDays
    judged: Judged
    days: Mapping[str, date] = {}
    scores: Mapping[str, Mapping[str, float]] = {}
    drawn: frozenset[str] = frozenset()

    def fit(self, ratings: Sequence[Rating], now: datetime, *, unblind: int = 0) -> Calibration:
        """Fit a calibration to the labels of the period's random sample.

        Args:
            ratings: blind labels; of answers and criteria that the jury did not score they are left out.
            unblind: how many labels are left out, as they are not blind.

        Raises:
            UserError: no criterion has ten labelled answers of the random sample.
        """
        labels = PeopleLabels.of(ratings, self.scores, self.panel.scale, self.drawn, unblind=unblind)
        if labels.most < FEWEST_LABELS:
            raise UserError(
                f"monitored {self.period.text}: {counted(labels.most, 'answer')} of the random sample labelled blind, "
                f"{FEWEST_LABELS} are needed: label the review queue, or take more days"
            )

        def fit_criterion(path: str, prompt: str) -> CriterionFit:
            labelled, judged = labels.sample[path], self.judged[path]
            items = sorted(labelled)
            people, jury = (np.array([scores[item] for item in items]) for scores in (labelled, self.scores[path]))
            covered = tuple(sorted({self.days[item] for item in items}))
            days = np.array([covered.index(self.days[item]) for item in items])
            sizes = np.array([float(judged[day].answers) for day in covered])
            mean = _mean_of(judged, covered)
            line = fit_line(people, jury, (sizes / np.bincount(days))[days])
            return CriterionFit(
                criterion=path,
                prompt=prompt,
                jury=mean,
                line=line,
                jury_line=line,
                mean=stratified_mean(people, jury, days, sizes, mean),
                failures=None,
                map=choose_map(people, jury),
                weights=None,
                days=covered,
            )

        return Calibration.fit(self.panel, self.run_id, labels, self.judged, fit_criterion, now, monitored=self.period)

    def corrected(self, calibration: Calibration) -> AppliedCalibration:
        """The corrected means of the period, by criterion's path.

        Of the period that it was fitted to, they hold for the answers of its labelled days without any assumption. Of another
        period they assume that people and jury relate to each other as on the labelled answers.

        Raises:
            UserError: the period was judged by another panel.
        """
        calibration.refuse_other_panel(self.panel)
        corrected: dict[str, CorrectedScore] = {}
        for fit in calibration.criteria:
            days = self.judged.get(fit.criterion, {})
            if not days:
                continue
            same_period = (calibration.monitored, calibration.run_id) == (self.period, self.run_id)
            is_as_fitted = same_period and _is_as_fitted(fit, days)
            jury, mean = fit.jury, fit.mean
            if not is_as_fitted:
                jury, answers = _mean_of(days, list(days)), sum(day_scores.answers for day_scores in days.values())
                mean = transported_mean(fit.jury_line, jury, answers)
            corrected[fit.criterion] = calibration.corrected(fit, mean, jury, is_own=is_as_fitted)
        final = corrected.pop(OVERALL, None)
        return calibration.applied(corrected, final)


def _mean_of(judged: Mapping[date, DayTotal], days: Sequence[date]) -> float:
    return sum(judged[day].total for day in days) / sum(judged[day].answers for day in days)


def _is_as_fitted(fit: CriterionFit, judged: Mapping[date, DayTotal]) -> bool:
    """Whether the labelled days have the answers and scores that they had when the calibration was fitted."""
    if not fit.days or not set(fit.days) <= set(judged):
        return False
    answers = sum(judged[day].answers for day in fit.days)
    return answers == fit.mean.judged and abs(_mean_of(judged, fit.days) - fit.jury) < _ALIKE
