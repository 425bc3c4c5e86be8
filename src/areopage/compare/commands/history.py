"""`areopage bench compare RUN --against last:N`: a run against the runs of its target before it."""

import re
from collections.abc import Sequence
from datetime import UTC, datetime, time

import typer

from areopage.cli import DONE, FAILED, INCONCLUSIVE, STDOUT, Places, day_of, opened_ledger
from areopage.compare.commands.compare import FailOn, exit_code, find_run, write_both
from areopage.compare.commands.league import own_report
from areopage.compare.report.history import HISTORY_PAGE, history_pull_request, history_report, write_history
from areopage.compare.runs.history import compare_history
from areopage.digest import digest_of
from areopage.errors import UserError
from areopage.report import print_report
from areopage.text import visible

_MOST = 200


def pool_size(against: str) -> int:
    """How many earlier runs `last:N` means."""
    match = re.fullmatch(r"last:(\d{1,3})", against)
    if match is None or not 1 <= int(match[1]) <= _MOST:
        raise UserError(f"--against {visible(against)}: use last:N, the number of earlier runs, such as last:14 (1 to {_MOST})")
    return int(match[1])


def compare(
    names: Sequence[str],
    places: Places,
    *,
    against: str,
    since: str | None,
    fail_on: FailOn | None,
    markdown: str,
    language: str,
    where: Sequence[str] = (),
) -> int:
    """Compare a run with the complete runs of its target before it, and write the files.

    Returns:
        As `compare.exit_code`; with `new-failures` 1 if a case newly fails, 3 if that is not known of one.
    """
    size = pool_size(against)
    if len(names) != 1:
        raise UserError(f"--against compares one run with earlier ones: give one run, not {len(names)}")
    first = datetime.combine(day_of("--since", since), time(), UTC) if since else None
    with opened_ledger(places) as ledger:
        found = compare_history(ledger, find_run(ledger, names[0]), size, first, where)
    ids = [found.entry.run.id, *found.conclusion.pool, *where]
    folder = places.out / f"comparison-{found.entry.spec.suite}-{digest_of(ids)[:8]}"
    reports = {entry.run.id: own_report(entry.run, places.out) for entry in (found.entry, *found.pool)}
    there = {id: path for id, path in reports.items() if path.is_file()}
    write_both(markdown, lambda: history_pull_request(found, language), lambda: write_history(found, folder, there, language))
    if markdown == STDOUT:
        typer.echo(history_pull_request(found, language), nl=False)
    else:
        print_report(history_report(found, {}, language))
        typer.echo(f"comparison: {folder / HISTORY_PAGE}")
    if fail_on == "new-failures":
        return FAILED if found.conclusion.newly else INCONCLUSIVE if found.conclusion.failures.unknown else DONE
    return exit_code(found.conclusion.outcome, fails=fail_on is not None)
