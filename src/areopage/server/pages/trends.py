"""The overview's charts: the trend of each mean over the days, and how the scores are distributed."""

from collections.abc import Sequence

from markupsafe import Markup
from msgspec import Struct

from areopage.criteria.records import Scale
from areopage.locales import Locale
from areopage.monitor.figures import DayFigures, PeriodFigures
from areopage.report.charts import Level, Series
from areopage.report.model import TrendChart
from areopage.report.monitor import daily_means, score_histogram
from areopage.report.render import draw


class Trend(Struct, frozen=True, kw_only=True):
    """One criterion's chart; `criterion` "" is the global score."""

    criterion: str
    label: str
    chart: Markup


def trends_of(
    shown: Sequence[DayFigures], figures: PeriodFigures, scale: Scale, threshold: float | None, locale: Locale
) -> list[Trend]:
    """A chart for the global score and one for each criterion, on the same axis; none where no day has a score.

    Args:
        shown: the days.
        figures: the criteria in order, with their labels.
        threshold: that of alerts about single answers; a line in the global score's chart.
    """
    if not any(day.means for day in shown):
        return []
    named = [("", locale.say("global_score"), "c0"), *((one.criterion, one.label, "c1") for one in figures.criteria)]
    found = []
    for criterion, label, css in named:
        chart = TrendChart(
            title=locale.say("trend_title", name=label),
            days=tuple(locale.short_date(day.day) for day in shown),
            series=(Series(label=label, values=daily_means(shown, criterion), css=css),),
            low=scale.min,
            high=scale.max,
            levels=(Level(value=threshold, label=""),) if threshold is not None and not criterion else (),
        )
        found.append(Trend(criterion=criterion, label=label, chart=draw(chart, locale)))
    return found


def distribution_of(figures: PeriodFigures, scale: Scale, locale: Locale) -> Markup:
    """How many answers lie in each step of the scale, coloured by grade."""
    return draw(score_histogram(figures.overall, scale, locale), locale)
