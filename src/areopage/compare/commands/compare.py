"""`areopage bench compare`: runs against a first one, on the console and as files; the exit code can stop a release."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Literal

import typer

from areopage.bench import spec_of
from areopage.cli import DONE, FAILED, INCONCLUSIVE, STDOUT, Places, opened_ledger
from areopage.compare.commands.league import own_report
from areopage.compare.report.files import COMPARISON_PAGE, pull_request_text, write_comparison
from areopage.compare.report.page import comparison_report
from areopage.compare.runs.compare import compare_runs
from areopage.compare.runs.records import Comparison, Outcome
from areopage.digest import digest_of
from areopage.errors import StorageError, UnknownRun, UserError, counted
from areopage.ledger import Ledger, Run
from areopage.report import print_report, replacing

FailOn = Literal["regression", "new-failures", "undecided"]
DEFAULT_MARGIN = 5.0


def compare(
    names: Sequence[str],
    places: Places,
    *,
    by: Sequence[str],
    cluster: str,
    anyway: bool,
    fail_on: FailOn | None,
    margin: float = DEFAULT_MARGIN,
    markdown: str,
    language: str,
    where: Sequence[str] = (),
) -> int:
    """Compare runs with the first one, and write the files.

    Args:
        names: runs, or targets, which stand for their newest complete run.
        fail_on: `regression`: a regression fails; `new-failures`: a case that newly fails a criterion does, whatever the tests
            say; `undecided`: a regression fails, and so does a rise of failures over the margin that is not ruled out.
        margin: points of a hundred by which the share of failing cases may rise.
        markdown: where the Markdown goes: a file, `-` for the screen instead of the tables, or "".
        where: conditions of the form COLUMN=VALUE; only the cases that meet them are compared.

    Returns:
        See `exit_code` and `new_failures_code`; 3 also if a rise over the margin is not ruled out and that is to fail.
    """
    with opened_ledger(places) as ledger:
        first = find_run(ledger, names[0])
        runs = [first, *(find_run(ledger, name, first.suite) for name in names[1:])]
        if len({run.id for run in runs}) < max(len(runs), 2):
            raise UserError("a comparison needs two different runs or more: give ids or targets (areopage bench list)")
        found = compare_runs(ledger, runs, by=by, cluster=cluster, anyway=anyway, where=where)
    folder = places.out / f"comparison-{found.first.spec.suite}-{digest_of([*(run.id for run in runs), *where])[:8]}"
    reports = {run.id: own_report(run, places.out) for run in runs}
    there = {id: path for id, path in reports.items() if path.is_file()}
    write_both(markdown, lambda: pull_request_text(found, language), lambda: write_comparison(found, folder, there, language))
    if markdown == STDOUT:
        typer.echo(pull_request_text(found, language), nl=False)
    else:
        print_report(comparison_report(found, {}, language, brief=True))
        typer.echo(f"comparison: {folder / COMPARISON_PAGE}")
    if fail_on == "new-failures":
        return new_failures_code(found)
    code = exit_code(found.outcome, fails=fail_on is not None)
    if code != DONE or fail_on != "undecided":
        return code
    rises = [one.possible_rise for one in found.others]
    if all(rise is not None and rise <= margin / 100.0 for rise in rises):
        return DONE
    typer.echo(f"not decided: a rise of failures by more than {margin:g} points is not ruled out; compare more cases", err=True)
    return INCONCLUSIVE


def write_both(markdown: str, text: Callable[[], str], write_files: Callable[[], object]) -> None:
    """Write the Markdown of a comparison and its other files; where one cannot be written, no Markdown is."""
    if markdown in ("", STDOUT):
        write_files()
        return
    if Path(markdown).is_dir():
        raise StorageError(f"{markdown} cannot be written: it is a folder")
    with replacing(Path(markdown)) as place:
        place.write_text(text(), encoding="utf-8")
        write_files()


def exit_code(outcome: Outcome, *, fails: bool) -> int:
    """1 if something regressed and that is to fail; 3 if too little data is there to tell; else 0."""
    if outcome == "regression":
        return FAILED if fails else DONE
    return INCONCLUSIVE if outcome == "too_little" else DONE


def new_failures_code(comparison: Comparison) -> int:
    """1 if a case newly fails a criterion; 3 if that is not known of a case; else 0."""
    if any(found.newly_failing for found in comparison.others):
        return FAILED
    unknown = sum(len(found.not_compared) for found in comparison.others)
    if unknown:
        typer.echo(f"not decided: of {counted(unknown, 'case')} it is not known whether they newly fail", err=True)
    return INCONCLUSIVE if unknown else DONE


def find_run(ledger: Ledger, name: str, suite: str = "") -> Run:
    """Find a run by its id, the beginning of it or its folder, or the newest complete run of a target.

    Args:
        suite: of a target, the newest run of this suite is meant, if it has one.
    """
    try:
        return ledger.run(name)
    except UnknownRun as fault:
        for run in sorted(ledger.runs(), key=lambda run: run.suite != suite):  # of equal suites the newest stays first
            with suppress(StorageError):  # another version of areopage wrote it
                if run.finished_at is not None and spec_of(run).answered_by == name:
                    return run
        advice = f" ({_FLAG} compares a run with production)" if name == _FLAG.lstrip("-") else ""
        raise UnknownRun(f"{fault}; and no complete run of a target {name!r}{advice}") from fault


_FLAG = "--production"
