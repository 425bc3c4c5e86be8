"""`areopage bench`: run the benchmark, resume, look at runs, score them again, export them."""

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from msgspec import structs

from areopage.bench import RunOptions
from areopage.cli.options import CalibrationOption, PlacesOptions, tell
from areopage.cli.run_options import (
    AllowVariableOption,
    BudgetOption,
    ByOption,
    FleetOption,
    FreshOption,
    NewOption,
    NewRunOptions,
    OnlyQualifiedOption,
    RunArgument,
    RunsArgument,
    SuiteOption,
    VerboseOption,
    YesOption,
    run_options,
)
from areopage.errors import UserError
from areopage.extensions import required

if TYPE_CHECKING:
    from areopage.ledger import Ledger


def run(
    suite: SuiteOption = "child_safety",
    *,
    options: NewRunOptions,
    budget: BudgetOption = None,
    by: ByOption = None,
    fresh: FreshOption = False,
    start_new: NewOption = False,
    only_qualified: OnlyQualifiedOption = False,
    fleet: FleetOption = False,
    places: PlacesOptions,
    yes: YesOption = False,
    verbose: VerboseOption = False,
) -> None:
    """Run a benchmark, or resume an interrupted run with the same options."""

    from areopage.cli.bench.run import run_new

    if by and len(options.targets) < 2:
        raise UserError(
            "--by compares several targets: give --target twice or more, or areopage bench league RUN RUN --by COLUMN"
        )
    places = structs.replace(places, allowed_variables=options.allowed_variables)
    how = {"fresh": fresh, "new": start_new, "yes": yes, "verbose": verbose, "only_qualified": only_qualified}
    if len(options.targets) > 1:
        if len(options.languages) > 1:
            raise UserError("--lang takes one language where there are several targets")
        if fleet:
            raise UserError("--fleet takes one target: start a run for each, then compare them with areopage bench league")
        run_targets = required("runs", "targets", "a run of several targets")
        raise typer.Exit(run_targets(suite, options, options.targets, places, by=by or (), budget=budget, **how))
    if len(options.languages) > 1:
        if budget is not None:
            raise UserError("--budget takes one language: give each run its own")
        run_languages = required("runs", "languages", "a run in several languages")
        raise typer.Exit(run_languages(suite, options, places, fleet=fleet, **how))
    raise typer.Exit(run_new(suite, options, places, budget=budget, fleet=fleet, **how))


def follow(run: RunArgument = "latest", *, places: PlacesOptions, verbose: VerboseOption = False) -> None:
    """Follow a run that workers carry out, and show its results when they are done; Ctrl-C leaves the run going."""
    from areopage.cli.bench.places import opened_ledger
    from areopage.cli.bench.run import follow_run

    with opened_ledger(places) as opened:
        stored = opened.run(run)
        if opened.fleet.run(stored.id) is None:
            ask = places.command(opened, "resume", stored.id, "--fleet")
            raise UserError(f"no worker was asked to carry out {stored.id}: {ask} asks them")
        raise typer.Exit(follow_run(stored, opened, places, run, verbose=verbose))


def stop(run: RunArgument = "latest", *, places: PlacesOptions) -> None:
    """Stop a run that workers carry out. They finish calls in flight, and what has arrived is kept."""
    from areopage.cli.bench.places import opened_ledger

    with opened_ledger(places) as opened:
        stored = opened.run(run)
        if not opened.fleet.close(stored.id, "stopped", datetime.now(UTC)):
            raise UserError(f"workers do not carry out {stored.id}")
        tell(f"stopped: workers finish their calls in flight. Go on with: {places.command(opened, 'resume', stored.id)} --fleet")


def show(
    runs: RunsArgument = None,
    calibration: CalibrationOption = "",
    *,
    places: PlacesOptions,
    verbose: VerboseOption = False,
) -> None:
    """Show the report of a run in short; of runs in several languages the one verdict, with its exit code."""
    from areopage.bench import terminal_report, view_run, with_calibration, with_history
    from areopage.cli.bench.places import opened_ledger
    from areopage.report import print_report

    names = runs or ["latest"]
    with opened_ledger(places, read_only=True) as opened:
        if len(names) > 1:
            show_languages = required("runs", "verdict", "one verdict on several runs")
            if calibration:
                raise UserError("--calibration is for one run")
            raise typer.Exit(show_languages(opened, names))
        stored = opened.run(names[0])
        view = with_calibration(with_history(view_run(stored, opened), opened), opened, calibration)
        shown = terminal_report(view, Path(stored.folder), places.options(opened), whole=verbose)
        print_report(shown, short=not (verbose or calibration))
        _print_batches(opened, stored.id)


def batches(
    run: RunArgument = "latest",
    cancel: Annotated[bool, typer.Option("--cancel", help="Ask the providers to cancel the batches that are out.")] = False,
    allow_variable: AllowVariableOption = None,
    *,
    places: PlacesOptions,
    yes: YesOption = False,
) -> None:
    """List the batches of a run as they were last seen, or cancel those that are out."""
    from areopage.cli.bench.places import configured, opened_ledger

    places = structs.replace(places, allowed_variables=tuple(allow_variable or ()))
    with opened_ledger(places) as opened:
        stored = opened.run(run)
        if cancel:
            import asyncio

            from areopage.bench import RunSpec, agreed, cancel_batches
            from areopage.cli.asking import ask_to_send
            from areopage.jury import reached_by

            spec = RunSpec.of(stored)
            settings = reached_by(spec.settings, configured(places).shared, places.allowed_variables)
            spec = agreed(structs.replace(spec, settings=settings), None if yes else ask_to_send)
            asyncio.run(cancel_batches(opened, stored.id, spec.settings.with_environment()))
        if not _print_batches(opened, stored.id):
            typer.echo(f"run {stored.id} has no batches")


def _print_batches(ledger: "Ledger", run_id: str) -> int:
    from areopage.cli.progress.lines import batch_text

    batches = ledger.batches.of_run(run_id)
    for batch in batches:
        seen = f", seen {batch.seen_at:%Y-%m-%d %H:%M} UTC" if batch.seen_at else ""
        typer.echo(f"{batch_text(batch)}{seen}{', stored' if batch.ended_at else ''}")
    return len(batches)


_SOURCE_HELP = "A run's id, the beginning of it, its folder or `latest`; or a file of cases with their responses."


_PANEL = ("judges", "criteria", "passes", "joint", "repeat_identical")
_CASES_AND_CALLS = ("where", "ages", "limit", "language", "profile", "concurrency", "timeout", "allowed_variables")


def reassess(
    source: Annotated[str, typer.Argument(metavar="RUN|FILE", help=_SOURCE_HELP)],
    suite: Annotated[
        str | None,
        typer.Option(metavar="NAME|DIR", help="Suite with the criteria and judges; default: the run's if it is a bundled one."),
    ] = None,
    *,
    options: Annotated[RunOptions, run_options(RunOptions, *_PANEL, *_CASES_AND_CALLS)],
    fresh: FreshOption = False,
    places: PlacesOptions,
    yes: YesOption = False,
    verbose: VerboseOption = False,
) -> None:
    """Judge the answers of a run, or of a file, with another panel. The target is not asked again."""
    from areopage.bench import answers_of_run
    from areopage.cases import SUFFIXES
    from areopage.cli.bench.places import opened_ledger
    from areopage.cli.bench.run import run_new
    from areopage.suites import bundled_names

    options = structs.replace(options, limit=-1 if options.limit is None else options.limit, responses_only=True)
    places = structs.replace(places, allowed_variables=options.allowed_variables)
    file = Path(source)
    if file.suffix.lower() in SUFFIXES and not file.is_dir():
        options = structs.replace(options, datasets=(file,))
    else:
        with opened_ledger(places) as opened:
            run = opened.run(source)
            answers = answers_of_run(run, opened)
        suite = suite or (run.suite if run.suite in bundled_names() else None)
        options = structs.replace(
            options, stored_answers=answers, mode=answers.mode, language=options.language or answers.language
        )
    if suite is None:
        raise UserError("give --suite NAME|DIR: the suite whose criteria and judges judge these answers")
    raise typer.Exit(run_new(suite, options, places, fresh=fresh, yes=yes, verbose=verbose))
