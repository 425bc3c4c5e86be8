"""`areopage bench compare`: runs against a first one, on the console and as files; the exit code can stop a release."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Literal

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from areopage.bench import Compared, Comparison, Outcome, RunSpec, compare_runs, spec_of
from areopage.cli.bench.league import own_report
from areopage.cli.bench.places import Places, opened_ledger
from areopage.cli.console import plain_table, print_table, text_console
from areopage.cli.exit_codes import DONE, FAILED, INCONCLUSIVE
from areopage.cli.options import STDOUT, visible
from areopage.digest import digest_of
from areopage.errors import StorageError, UnknownRun, UserError, counted
from areopage.ledger import Ledger, Run
from areopage.locales import MISSING, Locale
from areopage.report import (
    COMPARISON_PAGE,
    conclusion_text,
    corrected_p_value,
    crossed_text,
    failed_text,
    failures_text,
    findings,
    more_newly_failing,
    newly_failing_head,
    newly_failing_lines,
    node_name,
    open_text,
    part_text,
    price_text,
    pull_request_text,
    replacing,
    report_locale,
    run_names,
    run_verdict_text,
    score_difference,
    shared_lines,
    write_comparison,
)
from areopage.scoring import ONE_SIDED, Contribution

STYLES: dict[Outcome, str] = {"regression": "bold red", "too_little": "yellow", "improvement": "green", "no_difference": ""}
FailOn = Literal["regression", "new-failures", "undecided"]
DEFAULT_MARGIN = 5.0
_SHOWN_PARTS = 3
_DECIMALS = 3


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

    Raises:
        UserError: a run is not known, is named twice, or its panel differs.
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
        print_comparison(found)
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
    """Write the Markdown of a comparison and its other files; where one cannot be written, no Markdown is.

    Args:
        markdown: a file; "" or `-` for none.

    Raises:
        StorageError: a file cannot be written.
    """
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

    Raises:
        UnknownRun: there is neither.
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


def print_comparison(comparison: Comparison) -> None:
    """Print what came of a comparison, run by run."""
    console, locale = text_console(), report_locale("en")
    names = {id: visible(name) for id, name in run_names(comparison, locale).items()}
    runs = (comparison.first, *(one.other for one in comparison.others))
    print_part(console, comparison.first.spec)
    if unfit := dict.fromkeys(judge for run in runs for judge in run.unfit):
        console.print(Text(f"NOT VALID: unfit judges: {', '.join(unfit)}", style="bold red"))
    for one in comparison.others:
        title = f"{names[one.other.run.id]} against {names[comparison.first.run.id]}: {locale.say(f'outcome_{one.outcome}')}"
        console.print(Text(title, style=STYLES[one.outcome] or "bold"), soft_wrap=True)
        for line in _outcome_lines(one, comparison, locale):
            console.print(Text(f"  {visible(line)}"), soft_wrap=True)
        if one.shared.differs:
            console.print(Text(f"  {locale.say('anyway_title')}", style="yellow"), soft_wrap=True)
            for line in shared_lines(one.shared, locale):
                console.print(Text(f"    {visible(line)}"), soft_wrap=True)
        print_table(console, _summary(comparison, one, locale))
        print_table(console, _levels(comparison, one, locale))
        for line in _driver_lines(one, locale):
            console.print(Text(visible(line)), soft_wrap=True)


def print_part(console: Console, spec: RunSpec) -> None:
    """Say which cases the following is about; nothing where it is all of them."""
    if spec.part is not None:
        console.print(Text(f"part: {visible(part_text(spec.part, report_locale('en')))}", style="bold red"), soft_wrap=True)


def _outcome_lines(found: Compared, comparison: Comparison, locale: Locale) -> Iterator[str]:
    """The cases that newly fail, then what the tests find, then what they leave open."""
    spec = comparison.first.spec
    yield newly_failing_head(found, locale)
    for id, names, prompt in newly_failing_lines(found, spec, locale):
        yield f"  {id}: {names}: {prompt}"
    yield from (text for text in (more_newly_failing(found, locale),) if text)
    yield from findings(found, spec, locale)
    yield from (text for text in (open_text(found, locale), price_text(found, locale)) if text)


def _summary(comparison: Comparison, found: Compared, locale: Locale) -> Table:
    table = plain_table("run", "verdict", "failed", "score", "coverage")
    for run in (comparison.first, found.other):
        cells = (run.run.id, run_verdict_text(run, locale), failed_text(run.failures, locale), locale.number(run.score))
        table.add_row(*map(Text, (*cells, locale.percent(run.coverage))))
    return table


def _levels(comparison: Comparison, found: Compared, locale: Locale) -> Table:
    """The whole run, the categories, and all that changed beyond chance."""
    table = plain_table("level", "cases", "score, difference", "new / fixed", "failures, difference", "corrected p", "conclusion")
    for one in found.levels:
        own = one.difference
        if one.level not in ("final", "category") and not own.is_telling:
            continue
        corrected = " / ".join(corrected_p_value(test, locale) for test in (own.by_failures, own.by_score))
        cells = (
            *(visible(node_name(one, comparison.first.spec, locale)), str(own.score.pairs), score_difference(own.score, locale)),
            *(crossed_text(own, locale), failures_text(own, locale), corrected, conclusion_text(own, locale)),
        )
        table.add_row(*(Text(cell, style="red" if "worse" in own.directions else "") for cell in cells))
    return table


def _driver_lines(found: Compared, locale: Locale) -> list[str]:
    drivers = found.drivers
    if drivers is None or not any(one.amount for one in drivers.cases):
        return []
    lines = [f"what drives the difference of {locale.signed(drivers.difference, _DECIMALS)} (parts add up to it):"]
    for name, parts in (("criteria", drivers.criteria), ("judges", drivers.judges), ("cases", drivers.cases)):
        counting = [one for one in parts if one.amount]
        told = ", ".join(_part(one, locale) for one in counting[:_SHOWN_PARTS])
        lines.append(f"  {name}: {told}{', …' if len(counting) > _SHOWN_PARTS else ''}")
    return lines


def _part(one: Contribution, locale: Locale) -> str:
    name = locale.say("one_sided") if one.name == ONE_SIDED else one.name
    share = MISSING if one.share is None else locale.percent(one.share, 0)
    return f"{name} {locale.signed(one.amount, _DECIMALS)} ({share})"
