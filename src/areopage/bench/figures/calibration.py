"""What people's labels correct: the corrected means beside the scores of the jury."""

from collections.abc import Iterator

from areopage.bench.figures.figure import Figure, Page
from areopage.bench.results.run_data import RunData
from areopage.locales import Locale
from areopage.report import Listing, Notice, corrected_text
from areopage.scoring import AppliedCalibration


def _calibration(view: RunData) -> AppliedCalibration | None:
    """What people's labels correct, and on what it rests; null unless a calibration was named."""
    return view.calibration


def _notices(view: RunData, page: Page) -> Iterator[Notice]:
    if view.calibration:
        lines = tuple(calibration_texts(view, page.locale))
        yield Notice(title=page.locale.say("corrected_title"), blocks=(Listing(items=lines),))


def calibration_texts(view: RunData, locale: Locale) -> Iterator[str]:
    """What corrected the scores of a run and on what it rests, in lines of plain text; nothing without a calibration."""
    calibration = view.calibration
    if calibration is None:
        return
    answers = locale.count("corrected_answers", calibration.answers, raters=locale.count("people_raters", calibration.raters))
    yield locale.say("corrected_by", id=calibration.id, date=calibration.fitted[:10], answers=answers)
    if calibration.final is not None:
        yield locale.say("corrected_final", score=corrected_text(calibration.final, locale), id=calibration.id)
    every = (*calibration.criteria.values(), *([calibration.final] if calibration.final else []))
    if not all(score.own for score in every):
        yield locale.say("corrected_elsewhere", run=calibration.source)
    elif every:
        complete = locale.say("corrected_complete") if all(score.labels == score.judged for score in every) else ""
        yield " ".join(text for text in (locale.say("corrected_own"), complete) if text)
    if view.mapped:
        yield locale.say("corrected_singles")
    missing = [criterion.title for criterion in view.spec.criteria if criterion.id not in calibration.criteria]
    if missing:
        yield locale.say("corrected_not", criteria=", ".join(missing))
    shares = [
        (criterion, calibration.criteria[criterion.id].failures)
        for criterion in view.spec.criteria
        if criterion.id in calibration.criteria
    ]
    for criterion, failures in shares:
        if failures is not None:
            around = locale.say("people_range", low=locale.percent(failures.low, 0), high=locale.percent(failures.high, 0))
            yield locale.say(
                "corrected_failures",
                criterion=criterion.title,
                before=locale.percent(failures.uncorrected, 0),
                after=locale.percent(failures.value, 0),
                range=around,
            )


CALIBRATION: Figure[AppliedCalibration | None] = Figure(
    id="calibration", compute=_calibration, stored="metadata", notices=_notices
)
