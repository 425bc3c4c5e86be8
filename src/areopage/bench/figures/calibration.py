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
    found = view.calibration
    if found is None:
        return
    answers = locale.count("corrected_answers", found.answers, raters=locale.count("people_raters", found.raters))
    yield locale.say("corrected_by", id=found.id, date=found.fitted[:10], answers=answers)
    if found.final is not None:
        yield locale.say("corrected_final", score=corrected_text(found.final, locale), id=found.id)
    every = (*found.criteria.values(), *([found.final] if found.final else []))
    if not all(one.own for one in every):
        yield locale.say("corrected_elsewhere", run=found.source)
    elif every:
        complete = locale.say("corrected_complete") if all(one.labels == one.judged for one in every) else ""
        yield " ".join(text for text in (locale.say("corrected_own"), complete) if text)
    if view.mapped:
        yield locale.say("corrected_singles")
    missing = [one.title for one in view.spec.criteria if one.id not in found.criteria]
    if missing:
        yield locale.say("corrected_not", criteria=", ".join(missing))
    shares = [(one, found.criteria[one.id].failures) for one in view.spec.criteria if one.id in found.criteria]
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
