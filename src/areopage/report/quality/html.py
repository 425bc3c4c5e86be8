"""The quality report as one HTML page that needs nothing else, runs nothing and asks nobody.

As in the benchmark's report, everything that comes from outside is escaped, and a policy in the page forbids scripts and loads.
"""

from markupsafe import Markup

from areopage import __version__
from areopage.jury.judges import is_unfit
from areopage.report.charts import Level, Series, bar_chart, trend_chart
from areopage.report.html import environment
from areopage.report.languages import MISSING, Language
from areopage.report.page import place_on
from areopage.report.quality import wording
from areopage.report.quality.page import TREND_LINES, QualityReport, certain, cut_interval
from areopage.scoring.counts import band_of
from areopage.scoring.outcome import OUTCOME_NAMES

TEMPLATE = "quality.html.j2"
LONGEST_TEXT = 20_000  # characters of one text: what is shown must stay readable, and the file small
FAILURES = tuple(name for name in OUTCOME_NAMES if name != "scored")


def render_html(report: QualityReport) -> str:
    """The page."""
    language = wording.language_of(report)
    scale, figures = report.scale, report.figures
    labels = {one.criterion: one.label for one in figures.criteria}
    made = environment(language)
    made.globals.update(
        certain=certain,
        changed=lambda change: wording.change_text(language, change),
        cost=lambda cost: wording.cost_text(language, cost),
        cut=lambda mean: cut_interval(mean, scale),
        interval=lambda mean: wording.interval_text(language, mean, scale),
        is_unfit=is_unfit,
        label=lambda criterion: labels.get(criterion, criterion),
        place=lambda score: place_on(score, scale),
        seconds=lambda seconds: wording.seconds_text(language, seconds),
        short_day=lambda day: wording.short_day(language, day),
        standing_mark=lambda standing: wording.standing_mark(language, standing),
        standing_text=lambda standing: wording.standing_text(language, standing),
        title_case=wording.title_case,
        variant_name=lambda variant: wording.variant_name(language, variant),
    )
    return made.get_template(TEMPLATE).render(
        report=report,
        version=__version__,
        longest=LONGEST_TEXT,
        outcomes=FAILURES,
        period=wording.title_case(wording.period_text(language, figures.period)),
        answers=wording.answers_text(language, report),
        bands=wording.band_rows(language, figures.overall, scale),
        change_sentence=wording.change_sentence(language, figures.overall.change, figures.period.days),
        command=wording.command(report),
        coverage=MISSING if figures.coverage is None else language.percent(figures.coverage),
        coverage_note=wording.coverage_note(language, report),
        hints=wording.hints(language, report),
        histogram=histogram(report, language),
        text_note=wording.text_note(language, report),
        trend=trend(report, language),
    )


def trend(report: QualityReport, language: Language) -> Markup | None:
    """The chart of the days' means: the global one and the first criteria; None for a single day."""
    days = report.figures.days
    if len(days) < 2:
        return None
    named = [("", language.say("global_score")), *((one.criterion, one.label) for one in report.criteria)]
    series = [
        Series(
            label=label,
            values=[day.means[criterion].mean if criterion in day.means else None for day in days],
            css=f"c{place}",
        )
        for place, (criterion, label) in enumerate(named[: TREND_LINES + 1])
    ]
    threshold = report.threshold
    alert = "threshold" if report.scale.higher_is_better else "threshold_over"
    return trend_chart(
        [wording.short_day(language, day.day) for day in days],
        series,
        low=report.scale.min,
        high=report.scale.max,
        title=language.say("trend_title"),
        levels=() if threshold is None else [Level(value=threshold, label=language.say(alert, n=language.short(threshold)))],
        number=lambda value: language.short(round(value, 2)),
    )


def histogram(report: QualityReport, language: Language) -> Markup:
    """How many answers lie in each step of the scale, coloured by band."""
    counts, scale = report.figures.overall.histogram, report.scale
    width = (scale.max - scale.min) / len(counts)
    return bar_chart(
        wording.steps(language, scale, len(counts)),
        counts,
        title=language.say("distribution"),
        css=[band_of(scale.min + width * (step + 0.5), scale) for step in range(len(counts))],
        number=language.whole,
    )
