"""Charts of the monitor's figures, which its pages and its report have in common."""

from collections.abc import Sequence

from areopage.criteria import Scale
from areopage.locales import Locale
from areopage.monitor import CriterionFigures, DayFigures, Mean
from areopage.report.charts import Series
from areopage.report.elements import histogram
from areopage.report.model import BarChart
from areopage.scoring import grade_of


def score_histogram(figures: CriterionFigures, scale: Scale, locale: Locale) -> BarChart:
    """Count answers in each step of the scale, coloured by grade."""
    counts = figures.histogram
    width = (scale.max - scale.min) / max(len(counts), 1)
    css = [grade_of(scale.min + width * (step + 0.5), scale) for step in range(len(counts))]
    return histogram(locale.say("distribution"), counts, locale, scale.min, scale.max, css)


def daily_series(
    days: Sequence[DayFigures], criterion: str, label: str, css: str, locale: Locale, *, ranges: bool = True
) -> Series:
    """The mean of each day, with its number of answers and its interval.

    Args:
        criterion: "" is the global score.
        ranges: also draw the intervals.
    """
    means = [day.means.get(criterion, Mean(answers=0)) for day in days]
    intervals = [mean.interval for mean in means]
    return Series(
        label=label,
        values=[mean.mean for mean in means],
        css=css,
        notes=[_note(mean, interval, locale) for mean, interval in zip(means, intervals, strict=True)],
        ranges=intervals if ranges else (),
    )


def _note(mean: Mean, interval: tuple[float, float] | None, locale: Locale) -> str:
    note = locale.count("day_answers", mean.answers)
    if interval is None:
        return note
    return note + locale.say("day_interval", low=locale.number(interval[0]), high=locale.number(interval[1]))
