"""A monitored period with a calibration: what its jury said for fitting one, and the corrected means beside its scores."""

from collections.abc import Iterator, Sequence
from datetime import date, datetime

from areopage.errors import StorageError, UserError, counted
from areopage.jury import Panel
from areopage.ledger import DayScore, Ledger, Period, Scope
from areopage.locales import Locale
from areopage.report.elements import correction_texts
from areopage.review import Rubric, ratings_of
from areopage.scoring import AppliedCalibration, CorrectedScore
from areopage.trust import (
    Calibration,
    DayTotal,
    LabelledDays,
    MonitoredPeriod,
)


def fit_period(ledger: Ledger, period: Period, scope: Scope, now: datetime) -> Calibration:
    """Fit a calibration to the blind labels of a monitored period's random sample.

    Raises:
        UserError: no answer was judged, several panels judged them, or too few answers of the sample are labelled.
    """
    panel, run_id = _panel(ledger, period, scope)
    reviewed = ledger.lists.reviewed(period, scope)
    ids, store = [answer.id for answer in reviewed], ledger.labels
    labels = store.current(ids, blind=True)
    ratings, _ = ratings_of(labels, Rubric.of_panel(panel, run_id))
    scores: dict[str, dict[str, float]] = {}
    for id, by_suite in store.panel_scores(ids, run_id).items():
        for path, score in by_suite.get(panel.suite, {}).items():
            scores.setdefault(path, {})[id] = score
    monitored = MonitoredPeriod(
        panel=panel,
        run_id=run_id,
        period=_labelled_days(period, scope),
        judged=_judged(ledger.days.scores(period, scope)),
        days={answer.id: answer.day for answer in reviewed},
        scores=scores,
        drawn=frozenset(answer.id for answer in reviewed if answer.drawn),
    )
    return monitored.fit(ratings, now, unblind=store.unblind_of(ids))


def applied_to_period(ledger: Ledger, period: Period, scope: Scope, id: str) -> AppliedCalibration | None:
    """The corrected means of a period by the calibration with this id or its beginning, or the `latest`; None for "".

    Raises:
        UserError: there is no such calibration, no answer was judged, or another panel, or several, judged them.
    """
    if not id:
        return None
    calibration = Calibration.read(ledger.calibrations.find(id))
    panel, run_id = _panel(ledger, period, scope)
    judged = _judged(ledger.days.scores(period, scope))
    monitored = MonitoredPeriod(panel=panel, run_id=run_id, period=_labelled_days(period, scope), judged=judged)
    return monitored.corrected(calibration)


def fitting_to_period(ledger: Ledger, period: Period, scope: Scope) -> AppliedCalibration | None:
    """The corrected means of a monitored period by the newest calibration that fits its panel; None without one."""
    for stored in reversed(ledger.calibrations.all(scope.suite)):
        try:
            return applied_to_period(ledger, period, scope, stored.id)
        except StorageError:
            raise
        except UserError:
            continue  # of another panel, or several panels judged the period
    return None


def _panel(ledger: Ledger, period: Period, scope: Scope) -> tuple[Panel, str]:
    """The panel that judged all answers of a period, and its id."""
    ids = ledger.lists.panels(period, scope)
    text = _labelled_days(period, scope).text
    if not ids:
        raise UserError(f"monitored {text}: no answer was judged")
    if len(ids) > 1:
        panels = counted(len(ids), "panel")
        raise UserError(f"monitored {text}: {panels} judged the answers: choose days since the judges or criteria last changed")
    run = ledger.panel(ids[0], "monitor")
    if run is None:
        raise UserError(f"monitored {text}: the panel {ids[0]} is not in this ledger")
    return Panel.of(run), run.id


def _labelled_days(period: Period, scope: Scope) -> LabelledDays:
    return LabelledDays(start=period.start, end=period.end, source=scope.source, variant=scope.variant)


def _judged(scores: Sequence[DayScore]) -> dict[str, dict[date, DayTotal]]:
    by_criterion: dict[str, dict[date, DayTotal]] = {}
    for score in scores:
        if score.answers:
            days = by_criterion.setdefault(score.criterion, {})
            before = days.get(score.day, DayTotal(answers=0, total=0.0))
            days[score.day] = DayTotal(answers=before.answers + score.answers, total=before.total + score.total)
    return by_criterion


def correction_of(calibration: AppliedCalibration | None, path: str) -> CorrectedScore | None:
    """The corrected mean of a criterion; "" is the global score."""
    return None if calibration is None else calibration.criteria.get(path) if path else calibration.final


def period_calibration_texts(
    calibration: AppliedCalibration, answers: int, not_corrected: Sequence[str], locale: Locale
) -> Iterator[str]:
    """What corrected the scores of a period and on what it rests, in lines of plain text."""
    details: list[str] = []
    if judged := [score.judged for score in calibration.scores if score.own]:
        details.append(locale.say("corrected_weighted"))
        if (covered := max(judged)) < answers:
            details.append(locale.say("corrected_covered", covered=locale.whole(covered), answers=locale.whole(answers)))
    elsewhere = locale.say("corrected_elsewhere_period", source=calibration.source)
    return correction_texts(calibration, locale, elsewhere=elsewhere, details=details, not_corrected=not_corrected)
