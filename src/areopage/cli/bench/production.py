"""`areopage bench compare RUN --production`: a run against the answers that the monitor evaluated."""

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from areopage.bench import ProductionComparison, Wanted, compare_production, spec_of
from areopage.cli.bench.compare import STYLES, FailOn, exit_code, find_run, write_both
from areopage.cli.bench.league import own_report
from areopage.cli.bench.places import Places, opened_ledger
from areopage.cli.console import plain_table, print_table, text_console
from areopage.cli.options import STDOUT, visible
from areopage.cli.periods import last_day, period_since
from areopage.digest import digest_of
from areopage.errors import UserError
from areopage.ledger import last_days
from areopage.locales import Locale
from areopage.report import (
    PRODUCTION_PAGE,
    column_name,
    conclusion_text,
    failed_texts,
    node_name,
    panel_lines,
    period_text,
    production_failures,
    production_findings,
    production_pull_request,
    production_remarks,
    report_locale,
    run_name,
    score_difference,
    slice_value,
    tested_text,
    write_production,
)
from areopage.scoring import UnpairedOutcomes

DAYS = 30
"""The days that are compared without --since."""


def compare(
    names: Sequence[str],
    places: Places,
    *,
    since: str | None,
    until: str | None,
    source: str | None,
    suite: str | None,
    by: Sequence[str],
    cluster: str,
    anyway: bool,
    fail_on: FailOn | None,
    markdown: str,
    language: str,
) -> int:
    """Compare a run with production, and write the files.

    Args:
        names: one run, or a target, which stands for its newest complete run.
        since, until: the first and the last day, UTC; None: the last 30 days.
        source: only answers of this source.
        suite: the suite that judged production's answers; None: that of the run.
        markdown: where the Markdown goes: a file, `-` for the screen instead of the tables, or "".

    Returns:
        As `areopage.cli.bench.compare.exit_code`.

    Raises:
        UserError: several runs are named; the run is not known; its panel differs; or there is nothing to compare.
    """
    if len(names) != 1:
        raise UserError(f"--production compares one run with production: give one run, not {len(names)}")
    last = last_day(until, datetime.now(UTC))
    period = period_since(since, last) if since else last_days(DAYS, last)
    with opened_ledger(places) as ledger:
        run = find_run(ledger, names[0])
        wanted = Wanted(period=period, suite=suite or spec_of(run).suite, source=source)
        found = compare_production(ledger, run, wanted, by=by, cluster=cluster, anyway=anyway)
    named = digest_of([run.id, wanted.suite, source, str(period.start), str(period.end)])[:8]
    folder = places.out / f"production-{Path(found.run.spec.suite).name}-{named}"
    report = own_report(run, places.out)
    own = report if report.is_file() else None
    write_both(markdown, lambda: production_pull_request(found, language), lambda: write_production(found, folder, own, language))
    if markdown == STDOUT:
        typer.echo(production_pull_request(found, language), nl=False)
    else:
        print_production(found)
        typer.echo(f"comparison: {folder / PRODUCTION_PAGE}")
    return exit_code(found.outcome, fails=fail_on is not None)


def print_production(found: ProductionComparison) -> None:
    """Print what came of a comparison with production."""
    console, locale = text_console(), report_locale("en")
    if found.run.unfit:
        console.print(Text(f"NOT VALID: unfit judges: {visible(', '.join(found.run.unfit))}", style="bold red"))
    name = visible(run_name(found, locale))
    title = f"{name} against production, {period_text(found, locale)}: {locale.say(f'outcome_{found.outcome}')}"
    console.print(Text(title, style=STYLES[found.outcome] or "bold"), soft_wrap=True)
    if found.outcome == "too_little":
        _say(console, locale.say("production_too_little"))
    for line in production_findings(found, locale):
        _say(console, line)
    if found.differs:
        _say(console, locale.say("production_anyway_title"), "yellow")
        for line in panel_lines(found, locale):
            _say(console, f"  {line}")
    _say(console, locale.say("production_differs_text"))
    for line in production_remarks(found, locale):
        _say(console, line)
    print_table(console, _levels(found, locale))
    print_table(console, _mixes(found, locale))
    if found.standardised:
        print_table(console, _standardised(found, locale))


def _say(console: Console, line: str, style: str = "") -> None:
    console.print(Text(f"  {visible(line)}", style=style), soft_wrap=True)


_HEADINGS = ("run", "production", "score, difference", "failures, difference", "corrected p", "conclusion")


def _levels(found: ProductionComparison, locale: Locale) -> Table:
    """The whole run, the categories, and what differs beyond chance."""
    table = plain_table("level", *_HEADINGS)
    for one in found.levels:
        if one.level in ("final", "category") or one.difference.is_telling:
            name = visible(node_name(one, found.run.spec, locale))
            table.add_row(*_cells(name, one.difference, locale))
    return table


def _standardised(found: ProductionComparison, locale: Locale) -> Table:
    table = plain_table("standardised to production’s mix", *_HEADINGS)
    for one in found.standardised:
        name = f"{visible(column_name(one.column, locale))}, {locale.percent(one.covered, 0)} covered"
        table.add_row(*_cells(name, one.difference, locale, counted=False))
    return table


def _cells(name: str, own: UnpairedOutcomes, locale: Locale, *, counted: bool = True) -> list[Text]:
    failed = failed_texts(own, locale, counted=counted)
    fails = "fail " if counted else ""
    sides = [f"{locale.number(mean)}, {fails}{told}" for mean, told in zip(own.score.means, failed, strict=True)]
    corrected = " / ".join(tested_text(test, locale) for test in (own.by_failures, own.by_score))
    cells = (
        name,
        *sides,
        score_difference(own.score, locale),
        production_failures(own, locale),
        corrected,
        conclusion_text(own, locale),
    )
    return [Text(cell, style="red" if "worse" in own.directions else "") for cell in cells]


def _mixes(found: ProductionComparison, locale: Locale) -> Table:
    table = plain_table("mix", "value", "run", "production")
    for mix in found.mixes:
        for place, one in enumerate(mix.values[:_SHOWN_VALUES]):
            shares = [
                locale.percent(n / max(total, 1), 1) for n, total in zip((one.run, one.production), mix.totals, strict=True)
            ]
            name = visible(column_name(mix.column, locale)) if place == 0 else ""
            table.add_row(*map(Text, (name, visible(slice_value(mix.column, one.value, found.run.spec.labels, locale)), *shares)))
        if len(mix.values) > _SHOWN_VALUES:
            table.add_row("", locale.count("production_more_values", len(mix.values) - _SHOWN_VALUES), "", "")
    return table


_SHOWN_VALUES = 6
