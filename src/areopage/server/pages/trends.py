"""The overview's charts: the trend of each mean over the days, and how the scores are distributed."""

from collections.abc import Sequence

from markupsafe import Markup
from msgspec import Struct

from areopage.criteria.records import Scale
from areopage.monitor.figures import DayFigures, PeriodFigures
from areopage.report.charts import Level, Series, bar_chart, trend_chart
from areopage.report.languages import Language
from areopage.scoring.counts import band_of
from areopage.server.pages.formats import day_text


class Trend(Struct, frozen=True, kw_only=True):
    """One criterion's chart; `criterion` "" is the global score."""

    criterion: str
    label: str
    chart: Markup


def trends_of(
    shown: Sequence[DayFigures], figures: PeriodFigures, scale: Scale, threshold: float | None, language: Language
) -> list[Trend]:
    """A chart for the global score and one for each criterion, on the same axis; none where no day has a score.

    Args:
        shown: the days.
        figures: the criteria in order, with their labels.
        threshold: that of alerts about single answers; a line in the global score's chart.
    """
    if not any(day.means for day in shown):
        return []
    days = [day_text(language, day.day) for day in shown]
    named = [("", language.say("global_score"), "c0"), *((one.criterion, one.label, "c1") for one in figures.criteria)]
    found = []
    for criterion, label, css in named:
        levels = [Level(value=threshold, label="")] if threshold is not None and not criterion else []
        chart = trend_chart(
            days,
            [Series(label=label, values=daily(shown, criterion), css=css)],
            low=scale.min,
            high=scale.max,
            title=language.say("trend_title", name=label),
            levels=levels,
            number=lambda value: language.short(round(value, 2)),
        )
        found.append(Trend(criterion=criterion, label=label, chart=chart))
    return found


def daily(days: Sequence[DayFigures], criterion: str) -> list[float | None]:
    """The mean of each day; None where there is none."""
    return [day.means[criterion].mean if criterion in day.means else None for day in days]


def distribution_of(figures: PeriodFigures, scale: Scale, language: Language) -> Markup:
    """How many answers lie in each step of the scale, coloured by band."""
    counts = figures.overall.histogram
    width = (scale.max - scale.min) / max(len(counts), 1)
    starts = [scale.min + width * step for step in range(len(counts))]
    return bar_chart(
        [f"{language.short(start)}–{language.short(start + width)}" for start in starts],
        counts,
        title=language.say("distribution"),
        css=[band_of(start + width / 2, scale) for start in starts],
        number=language.whole,
    )
