"""How far the scores of a period of production can be trusted, from all that the ledger knows of it."""

from collections.abc import Iterator, Sequence

from areopage.bench import (
    FEW,
    FINAL,
    PartScore,
    PeopleTrust,
    ScoreTrust,
    Step,
    Trust,
    Uncovered,
    examining_steps,
    human_criterion,
    judges_trust,
    unexamined,
)
from areopage.ledger import JudgeStanding, Ledger
from areopage.monitor import Mean, PeriodFigures
from areopage.report.monitor.calibrated import fitting_to_period
from areopage.review import OVERALL, AgreementReport, Rubric
from areopage.scoring import FEWEST_ITEMS, AppliedCalibration, Detectable, JuryWorth
from areopage.suites import Suite
from areopage.trust import FEWEST_LABELS, altered_calibrations


def period_trust(
    ledger: Ledger,
    suite: Suite,
    figures: PeriodFigures,
    language: str,
    worth: JuryWorth | None,
    sources: Sequence[str] = (),
    calibration: AppliedCalibration | None = None,
) -> Trust:
    """Make the record of a period.

    Args:
        language: of the criteria's names.
        worth: what the jury is worth, over the labels of answers of any day.
        sources: labels count of answers of these alone; () for all.
        calibration: the corrected means that the period is shown with; None: those of the newest calibration that fits.

    Raises:
        StorageError: the ledger cannot be read.
    """
    newest = ledger.lists.newest_panel(figures.period, figures.scope)
    standings = ledger.qualifications.of_panel(newest) if newest else ()
    judges = judges_trust(standings, worth)
    people = _people(ledger, suite, language, sources)
    calibration = calibration or fitting_to_period(ledger, figures.period, figures.scope)
    labels = {criterion.criterion: criterion.label for criterion in figures.criteria}
    ids = dict.fromkeys(criterion.criterion for judge in standings for criterion in judge.criteria)
    overall = figures.overall
    now, before = _half(overall.mean), _half(overall.previous)
    return Trust(
        about="period",
        suite=suite.name,
        names=labels | {id: labels[path] for id in ids if (path := id.rpartition("__v")[0]) in labels},
        judges=judges,
        jury=worth,
        people=people,
        score=ScoreTrust(
            scale=suite.scale,
            final=_part(overall.mean),
            criteria={criterion.criterion: _part(criterion.mean) for criterion in figures.criteria if criterion.mean.answers},
            calibration=calibration,
            altered=altered_calibrations(ledger.calibrations.all(suite.name)),
            needed=(),
            difference=None if now is None else Detectable.change_of(now, now if before is None else before),
            failures=None,
            failure_cases=0,
            if_missing=None,
        ),
        uncovered=_uncovered(suite, figures, standings),
        steps=(*examining_steps(suite.name, standings), *_labelling_steps(figures, people, calibration)),
    )


def _labelling_steps(
    figures: PeriodFigures, people: PeopleTrust | None, calibration: AppliedCalibration | None
) -> Iterator[Step]:
    random_ones = people.answers if people is not None and people.at_random else 0
    if random_ones < FEWEST_ITEMS:
        yield Step(name="period_label", command=("areopage", "review", "fill"), labels=FEWEST_ITEMS)
    if random_ones >= FEWEST_LABELS and calibration is None:
        period, scope = figures.period, figures.scope
        days = ("--days", str(period.days), "--until", period.last.isoformat())
        source = () if scope.source is None else ("--source", scope.source)
        variant = () if scope.variant is None else ("--variant", scope.variant)
        yield Step(name="calibrate", command=("areopage", "calibrate", "monitored", *days, *source, *variant))


def _people(ledger: Ledger, suite: Suite, language: str, sources: Sequence[str]) -> PeopleTrust | None:
    rubric = Rubric.of_suite(suite)
    at_random, report = True, AgreementReport.of_ledger(ledger, rubric, language, sources=sources, sample_only=True)
    if not report.agreement.labels:
        at_random, report = False, AgreementReport.of_ledger(ledger, rubric, language, sources=sources)
    if not report.agreement.labels:
        return None
    return PeopleTrust(
        answers=report.labelled,
        labels=report.agreement.labels - report.weighed,
        raters=len(report.agreement.raters),
        of=None,
        at_random=at_random,
        others=report.selected if at_random else 0,
        unblind=report.unblind,
        origins={},
        languages={},
        ages={},
        criteria={
            FINAL if criterion.criterion == OVERALL else criterion.criterion: human_criterion(criterion)
            for criterion in report.agreement.criteria
            if criterion.items or criterion.raters.items
        },
        first=None,
    )


def _half(mean: Mean) -> float | None:
    return None if mean.low is None or mean.high is None else (mean.high - mean.low) / 2


def _part(mean: Mean) -> PartScore:
    return PartScore(score=mean.mean, low=mean.low, high=mean.high, cases=mean.answers)


def _uncovered(suite: Suite, figures: PeriodFigures, standings: Sequence[JudgeStanding]) -> Uncovered:
    return Uncovered(
        cases=figures.planned,
        unanswered=figures.failed,
        unscored=figures.unscored,
        waiting=figures.waiting,
        sampled_out=figures.left_out,
        without_score=tuple(criterion.criterion for criterion in figures.criteria if not criterion.mean.answers),
        few={criterion.criterion: criterion.mean.answers for criterion in figures.criteria if 0 < criterion.mean.answers < FEW},
        unexamined=unexamined(standings, suite.config.languages),
        complete=not figures.waiting,
    )
