"""`areopage bench compare RUN --production`: a run against the answers that the monitor evaluated."""

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import typer

from areopage.bench import spec_of
from areopage.cli import STDOUT, Places, last_day, opened_ledger, period_since
from areopage.compare.commands.compare import FailOn, exit_code, find_run, write_both
from areopage.compare.commands.league import own_report
from areopage.compare.report.production import production_report
from areopage.compare.report.production_files import PRODUCTION_PAGE, production_pull_request, write_production
from areopage.compare.runs.production import compare_production
from areopage.compare.runs.production_answers import Wanted
from areopage.digest import digest_of
from areopage.errors import UserError
from areopage.ledger import last_days
from areopage.report import print_report

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

    Returns:
        As `compare.exit_code`.
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
        print_report(production_report(found, language, brief=True))
        typer.echo(f"comparison: {folder / PRODUCTION_PAGE}")
    return exit_code(found.outcome, fails=fail_on is not None)
