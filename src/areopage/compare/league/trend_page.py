"""The trend of one target over its runs: the page and its table."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from areopage.bench import Target
from areopage.compare.league.table import LeagueEntry
from areopage.compare.league.text import count_notes, failed_text, interval_notes, standing_cell
from areopage.compare.league.trend import Trend, TrendGroup
from areopage.compare.report.files import write_page
from areopage.compare.report.history import conclusion_of_run, expected_text, passed_lines
from areopage.compare.runs.history import Conclusion
from areopage.digest import digest_of, short_digest
from areopage.locales import MISSING, Locale
from areopage.report import (
    Block,
    Cell,
    Column,
    Heading,
    Notice,
    Paragraph,
    Report,
    Row,
    Section,
    Series,
    Span,
    Table,
    TrendChart,
    report_locale,
)
from areopage.version import __version__

_COLUMNS = (
    *("group", "differs_in", "run", "begun", "target", "version", "suite", "suite_version", "verdict", "reason", "complete"),
    *("failed", "failures_of", "cases", "failed_share_low", "failed_share_high", "score", "score_low", "score_high", "coverage"),
    *("against_earlier", "failing", "fewest_expected", "most_expected", "newly_failing"),
    *("oldest_answer", "left_out"),
)
_AXIS_ENDS = (5.0, 10.0, 25.0, 50.0, 100.0)


def write_trend(trend: Trend, folder: Path, links: Mapping[str, str], language: str = "") -> list[Path]:
    """Write the page and the table of a trend."""
    return write_page(trend_report(trend, links, language), folder, "trend", {"trend.csv": (_COLUMNS, _csv_rows(trend))})


def trend_report(trend: Trend, links: Mapping[str, str], language: str = "") -> Report:
    """Build the page of a trend; in the language of the newest run where it is ""."""
    entries = sorted((entry for group in trend.groups for entry in group.entries), key=lambda entry: entry.run.created_at)
    locale = report_locale(language or entries[-1].spec.language)
    first, last = (locale.date(entry.run.created_at) for entry in (entries[0], entries[-1]))
    _, conclusion = trend.newest
    expected = expected_text(conclusion, locale) if conclusion.pool else ""
    newest = locale.say("trend_newest", conclusion=conclusion_of_run(conclusion, locale), expected=expected).rstrip()
    lines = [newest, *passed_lines(trend.passed, locale)]
    lines += [locale.count("trend_left_out", trend.left_out)] if trend.left_out else []
    facts = (
        (locale.say("size"), locale.count("trend_runs", len(entries))),
        (locale.say("date"), first if first == last else f"{first} – {last}"),
    )
    return Report(
        locale=locale,
        kind=locale.say("run_trend"),
        title=trend.target,
        window=f"{locale.say('run_trend')} · {trend.target}",
        facts=facts,
        notices=(
            Notice(
                title=locale.say("trend_conclusion"),
                blocks=tuple(Paragraph(text=text) for text in lines),
                alarm=conclusion.outcome == "regression",
            ),
        ),
        headline=None,
        sections=tuple(_section(group, place, links, locale) for place, group in enumerate(trend.groups, 1)),
        footer=(f"areopage {__version__}",),
        figures={},
    )


def _section(group: TrendGroup, place: int, links: Mapping[str, str], locale: Locale) -> Section:
    blocks: list[Block] = []
    if place == 1:
        blocks.append(Paragraph(text=locale.say("trend_lead"), look="soft"))
    if group.nearest is not None:
        parts = ", ".join(locale.say(f"part_{part}") for part in group.differs)
        blocks.append(Paragraph(text=locale.say("trend_differs", n=group.nearest + 1, parts=parts), look="soft", console=True))
    if len(group.entries) > 1:
        blocks += _charts(group, locale)
    blocks.append(_table(group, links, locale))
    if not group.is_one_version:
        blocks.append(Paragraph(text=locale.say("trend_other_weights"), look="note", console=True))
    first, last = (locale.date(entry.run.created_at) for entry in (group.entries[0], group.entries[-1]))
    when = first if first == last else locale.say("between_days", first=first, last=last)
    runs, suite = locale.count("trend_runs", len(group.entries)), group.entries[0].spec.suite
    title = locale.say("trend_group", n=place, suite=suite, runs=runs, when=when)
    return Section(id=f"group-{place}", title=title, blocks=tuple(blocks), console=True)


def _charts(group: TrendGroup, locale: Locale) -> list[Block]:
    entries, scale = group.entries, group.entries[0].spec.scale
    days = tuple(locale.short_date(entry.run.created_at) for entry in entries)
    notes = tuple(entry.run.id for entry in entries)
    counts = [entry.failures for entry in entries]
    failures = Series(
        label=locale.say("failed_of"),
        values=[count.failed / count.scored * 100 if count.scored else None for count in counts],
        css="c2",
        notes=notes,
        ranges=[None if count.low is None or count.high is None else (count.low * 100, count.high * 100) for count in counts],
    )
    score = Series(
        label=locale.say("score"),
        values=[entry.score for entry in entries],
        css="c0",
        notes=notes,
        ranges=[None if entry.interval is None else (entry.interval.low, entry.interval.high) for entry in entries],
    )
    most = max((high * 100 for count in counts if (high := count.high) is not None), default=100.0)
    end = next(end for end in _AXIS_ENDS if end >= min(most, 100.0))
    titles = locale.say("trend_failures"), locale.say("trend_score")
    return [
        Heading(text=titles[0]),
        TrendChart(title=titles[0], days=days, series=(failures,), low=0.0, high=end),
        Heading(text=titles[1]),
        TrendChart(title=titles[1], days=days, series=(score,), low=scale.min, high=scale.max),
    ]


def _table(group: TrendGroup, links: Mapping[str, str], locale: Locale) -> Table:
    def row(entry: LeagueEntry, conclusion: Conclusion) -> Row:
        begun, link = locale.moment(entry.run.created_at), links.get(entry.run.id, "")
        cells = (
            Cell(text=Span(begun, "link", link) if link else begun, under=(entry.run.id,)),
            standing_cell(entry, locale),
            Cell(text=failed_text(entry.failures, locale), under=count_notes(entry.failures, locale)),
            Cell(text=locale.number(entry.score), under=interval_notes(entry, locale)),
            locale.percent(entry.coverage),
            Cell(
                text=conclusion_of_run(conclusion, locale),
                under=(expected_text(conclusion, locale),) if conclusion.pool else (),
                css="failed" if conclusion.outcome == "regression" else "",
            ),
            version_text(entry.spec.target, locale) or MISSING,
        )
        return Row(cells=cells, css="alarm" if entry.standing == "FAIL" else "")

    heads = (
        *(Column(heading=locale.say(key), kind="text") for key in ("run_id", "verdict")),
        *(Column(heading=locale.say(key)) for key in ("failed_of", "score", "coverage")),
        Column(heading=locale.say("trend_conclusion"), kind="text"),
        Column(heading=locale.say("version_of_target"), kind="text"),
    )
    return Table(columns=heads, rows=tuple(map(row, group.entries, group.conclusions)), css="league")


def version_text(target: Target | None, locale: Locale) -> str:
    """What may change in a target under the same name: its weights, its options, and its system prompt."""
    if target is None:
        return ""
    parts = [short_digest(target.digest)] if target.digest else []
    parts += [f"{name} {value}" for name, value in sorted(target.options.items())]
    parts += [locale.say("system_prompt_of", digest=digest_of(target.system_prompt)[:8])] if target.system_prompt else []
    return ", ".join(parts)


def _csv_rows(trend: Trend) -> Iterator[list[Any]]:
    locale = report_locale("en")
    passed = {passed_over.run: passed_over.why for passed_over in trend.passed}
    for place, group in enumerate(trend.groups, 1):
        for entry, conclusion in zip(group.entries, group.conclusions, strict=True):
            count, interval, failures = entry.failures, entry.interval, conclusion.failures
            yield [
                *(place, ", ".join(group.differs), entry.run.id, entry.run.created_at.isoformat(), entry.target),
                *(version_text(entry.spec.target, locale), entry.spec.suite, entry.spec.suite_version, entry.standing),
                *(entry.doubt, "true" if entry.run.finished_at else "false", count.failed, count.scored, count.cases),
                *(count.low, count.high, entry.score, interval and interval.low, interval and interval.high, entry.coverage),
                *(
                    conclusion.outcome if conclusion.pool else "",
                    failures.failed,
                    failures.low,
                    failures.high,
                    " ".join(conclusion.newly),
                ),
                *(entry.reused.oldest.isoformat() if entry.reused else "", passed.get(entry.run.id, "")),
            ]
