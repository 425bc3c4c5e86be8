"""How the quality report puts its values: the same in HTML and in Markdown."""

import shlex
from collections.abc import Mapping
from datetime import date, timedelta
from itertools import pairwise
from pathlib import Path

from areopage.criteria.records import Scale
from areopage.jury.judges import NEVER_EXAMINED, is_unfit
from areopage.ledger.queries import Period
from areopage.monitor.figures import Change, CriterionFigures, Mean
from areopage.report.languages import MISSING, WIDE, Language, language_for
from areopage.report.quality.page import QualityReport, band_limits, certain, cut_interval
from areopage.report.standing import unfit_judges

WORDS = Path(__file__).with_name("words.yml")


def language_of(report: QualityReport) -> Language:
    """The language that a report is written in."""
    return language_for(report.language, WORDS)


def period_text(language: Language, period: Period) -> str:
    """The days of a period, with no month or year said twice: 13–19 November 2026, du 13 au 19 novembre 2026."""
    first, last = period.start, period.end - timedelta(days=1)
    if first == last:
        return day_name(language, first)
    start = _day_number(language, first)
    same_month = (first.year, first.month) == (last.year, last.month)
    if not same_month:
        start += f"{WIDE}{language.words['months'][first.month - 1]}"
    if first.year != last.year:
        start += f" {first.year}"
    return language.say("between_days" if same_month else "between_months", first=start, last=day_name(language, last))


def day_name(language: Language, day: date) -> str:
    """A day in full: 21 November 2026, 1er janvier 2027."""
    return f"{_day_number(language, day)}{WIDE}{language.words['months'][day.month - 1]} {day.year}"


def short_day(language: Language, day: date) -> str:
    """A day for an axis or a list: 21 Nov, 21 nov."""
    return f"{day.day}{WIDE}{language.words['months_short'][day.month - 1]}"


def _day_number(language: Language, day: date) -> str:
    return "1er" if language.code == "fr" and day.day == 1 else str(day.day)


def title_case(text: str) -> str:
    """A text with its first letter large, and nothing else changed."""
    return text[:1].upper() + text[1:]


def interval_text(language: Language, mean: Mean, scale: Scale) -> str:
    """The interval of a mean, cut at the ends of the scale; a dash where there is none."""
    interval = cut_interval(mean, scale)
    if interval is None:
        return MISSING
    return language.say("interval_text", low=language.number(interval[0]), high=language.number(interval[1]))


def change_text(language: Language, change: Change) -> str:
    """A change in short: +0.42, certain."""
    sure = certain(change)
    if sure is None:
        return MISSING
    return f"{language.signed(change.difference)}, {language.say('change_certain' if sure else 'change_uncertain')}"


def change_sentence(language: Language, change: Change, days: int) -> str:
    """A change against the period before, with its interval and what it is worth."""
    sure = certain(change)
    if sure is None or change.low is None or change.high is None:
        return language.say("change_none")
    interval = language.say("interval_text", low=language.signed(change.low), high=language.signed(change.high))
    worth = language.say("change_certain_long" if sure else "change_uncertain_long")
    return f"{language.signed(change.difference)} {language.count('days_before', days)} ({interval}) – {worth}"


def answers_text(language: Language, report: QualityReport) -> str:
    """How many answers there are, by what became of them."""
    figures = report.figures
    parts = [language.count("answers_scored", figures.scored)]
    for key, count in (
        ("answers_unscored", figures.unscored),
        ("answers_failed", figures.failed),
        ("answers_waiting", figures.waiting),
    ):
        parts += [language.count(key, count)] if count else []
    return ", ".join([*parts, *left_out_text(language, report)])


def coverage_note(language: Language, report: QualityReport) -> str:
    """What coverage is a share of, and how many answers are in no share because sampling left them out."""
    figures = report.figures
    note = language.say("coverage_answers", scored=language.whole(figures.scored), planned=language.whole(figures.planned))
    return ", ".join([note, *left_out_text(language, report)])


def left_out_text(language: Language, report: QualityReport) -> list[str]:
    """How many answers sampling left out, and which share of all; nothing where there are none."""
    figures = report.figures
    share = language.percent(figures.left_out_share)
    return [language.count("answers_left_out", figures.left_out, share=share)] if figures.left_out else []


def cost_text(language: Language, cost: Mapping[str, float]) -> str:
    """What was spent, by currency, "" where nothing is known; small amounts keep more decimals."""
    amounts = [
        f"{language.number(amount, 2 if amount == 0 or amount >= 1 else 4)}{WIDE}{currency}"
        for currency, amount in sorted(cost.items())
        if currency
    ]
    return " + ".join(amounts)


def seconds_text(language: Language, seconds: float | None) -> str:
    """A short time; under a tenth of a second with thousandths."""
    return MISSING if seconds is None else language.say("seconds_short", n=language.number(seconds, 2 if seconds >= 0.1 else 3))


def standing_text(language: Language, standing: str) -> str:
    """What is known of all judges: never examined; not fit to judge: tiny (why)."""
    if is_unfit(standing):
        return language.say("standing_known_unfit", judges=unfit_judges(language, standing))
    return language.say("standing_unexamined") if standing in ("", NEVER_EXAMINED) else standing


def standing_mark(language: Language, standing: str) -> str:
    """The same in the fewest words, to stand beside means."""
    if is_unfit(standing):
        return language.say("judges_unfit")
    return language.say("judges_unknown") if standing in ("", NEVER_EXAMINED) else standing


def band_rows(language: Language, figures: CriterionFigures, scale: Scale) -> list[tuple[str, str, int, float]]:
    """The bands: class, name with its limits, count, and share of the scored answers."""
    limits = band_limits(scale)
    good, excellent = (language.short(round(limit, 4)) for limit in limits)
    low, high = (language.short(round(limit, 4)) for limit in sorted(limits))
    between = language.say("from_to", **{"from": low, "to": high})
    if scale.higher_is_better:
        words = (language.say("over", **{"from": excellent}), between, language.say("under", to=good))
    else:
        words = (language.say("under", to=excellent), between, language.say("over", **{"from": good}))
    total = sum(figures.bands)
    return [
        (name, f"{language.say(f'band_{name}')} ({limit})", count, count / total if total else 0.0)
        for name, limit, count in zip(("excellent", "good", "weak"), words, figures.bands, strict=True)
    ]


def steps(language: Language, scale: Scale, count: int) -> list[str]:
    """What each bar of a histogram counts: 0–1, 1–2."""
    width = (scale.max - scale.min) / count
    ends = [language.short(round(scale.min + width * step, 4)) for step in range(count + 1)]
    return [f"{start}–{end}" for start, end in pairwise(ends)]


def hints(language: Language, report: QualityReport) -> list[tuple[str, str]]:
    """Why there is nothing to show and what to do, each with a command or ""."""
    figures = report.figures
    found = []
    if figures.waiting:
        found.append((language.count("nothing_waiting", figures.waiting), "areopage monitor worker"))
    if figures.failed:
        found.append((language.count("nothing_failed", figures.failed), "areopage monitor retry"))
    if figures.unscored:
        found.append((language.count("nothing_unscored", figures.unscored), ""))
    if figures.left_out:
        found.append((language.count("nothing_sampled", figures.left_out), ""))
    wider = command(report, days=max(30, figures.period.days * 4))
    return found or [(language.say("nothing_received"), wider)]


def command(report: QualityReport, days: int | None = None) -> str:
    """The command that makes the report again, or one over more days."""
    scope = report.figures.scope
    parts = ["areopage", "monitor", "report", "--days", str(days or report.figures.period.days)]
    parts += ["--until", report.last_day.isoformat()]
    parts += ["--source", scope.source] if scope.source is not None else []
    parts += ["--variant", scope.variant] if scope.variant is not None else []
    return shlex.join(parts)


def variant_name(language: Language, variant: str) -> str:
    """A variant's name."""
    return variant or language.say("variant_none")


def text_note(language: Language, report: QualityReport) -> str:
    """What was done to the texts; "" where they are whole."""
    return "" if report.text == "full" else language.say(f"text_{report.text}")
