"""What people's labels correct: the corrected means beside the scores of the jury."""

from collections.abc import Iterator

from areopage.bench.figures.figure import Figure, Page
from areopage.bench.results.run_data import RunData
from areopage.locales import Locale
from areopage.report import Listing, Notice, correction_texts
from areopage.scoring import AppliedCalibration


def _calibration(view: RunData) -> AppliedCalibration | None:
    """What people's labels correct, and on what it rests; null unless a calibration was named."""
    return view.calibration


def _notices(view: RunData, page: Page) -> Iterator[Notice]:
    if view.calibration:
        lines = tuple(_lines(view, view.calibration, page.locale))
        yield Notice(title=page.locale.say("corrected_title"), blocks=(Listing(items=lines),))


def _lines(view: RunData, calibration: AppliedCalibration, locale: Locale) -> Iterator[str]:
    scores, criteria, details = calibration.scores, view.spec.criteria, list[str]()
    if scores and all(score.own for score in scores):
        complete = locale.say("corrected_complete") if all(score.labels == score.judged for score in scores) else ""
        details.append(" ".join(text for text in (locale.say("corrected_own"), complete) if text))
    if view.mapped:
        details.append(locale.say("corrected_singles"))
    yield from correction_texts(
        calibration,
        locale,
        elsewhere=locale.say("corrected_elsewhere", run=calibration.source),
        details=details,
        not_corrected=[criterion.title for criterion in criteria if criterion.id not in calibration.criteria],
    )
    for criterion in criteria:
        failures = calibration.criteria[criterion.id].failures if criterion.id in calibration.criteria else None
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
