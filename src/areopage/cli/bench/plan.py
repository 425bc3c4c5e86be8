"""`areopage bench plan`: what a run takes before it is paid for, or how many cases and passes a wished precision takes."""

from contextlib import ExitStack, suppress
from typing import Annotated

import typer
from msgspec import structs

from areopage.bench import (
    PrecisionPlan,
    PreparedRun,
    RunOptions,
    RunSpec,
    budget_of,
    load_run_cases,
    plan_assumed,
    plan_like,
    prepare_benchmark,
    prepare_run,
    view_run,
    with_measures,
)
from areopage.cli.bench.missing_exam import missing_exam_lines
from areopage.cli.bench.places import configured, opened_ledger
from areopage.cli.bench.run_plan import print_plan
from areopage.cli.options import Places, PlacesOptions, tell
from areopage.cli.run_options import BudgetOption, NewRun, NewRunOptions, SuiteOption, VerboseOption
from areopage.errors import MissingKey, ServerDown, UnknownRun, UserError, counted
from areopage.report import Printer, Row, Table, columns, report_locale
from areopage.suites import load_suite


def plan(
    named: Annotated[str | None, typer.Argument(metavar="[SUITE]", help="The suite, in place of --suite.")] = None,
    precision: Annotated[
        float | None,
        typer.Option(
            metavar="POINTS", help="Plan cases and passes for this half of the width of the final score's 95% interval, e.g. 0.2."
        ),
    ] = None,
    like: Annotated[
        str | None,
        typer.Option(metavar="RUN", help="With --precision: run whose spread, cases and panel count: its id, or `latest`."),
    ] = None,
    spread: Annotated[
        float | None,
        typer.Option(metavar="POINTS", min=0, help="With --precision: standard deviation of the cases' final scores."),
    ] = None,
    mean: Annotated[
        float | None,
        typer.Option(metavar="SCORE", help="With --spread: the expected score; default: four fifths of the scale."),
    ] = None,
    suite: SuiteOption = "child_safety",
    *,
    options: NewRunOptions,
    budget: BudgetOption = None,
    places: PlacesOptions,
    verbose: VerboseOption = False,
) -> None:
    """Plan a run before it is paid for: calls, tokens, time, cost, cases that are too long; it takes the options of `bench run`.

    With --precision: how many cases and passes a wished precision takes. No model is asked.
    """
    if len(options.languages) > 1:
        raise UserError("a plan is about one language: give --lang en or --lang fr")
    places = structs.replace(places, allowed_variables=options.allowed_variables)
    if precision is not None:
        if len(options.targets) > 1:
            raise UserError("--precision plans one run: give --target once")
        _plan_precision(named or suite, options, places, precision, like=like, spread=spread, mean=mean)
        return
    if named_options := [name for name, value in (("--like", like), ("--spread", spread), ("--mean", mean)) if value is not None]:
        raise UserError(f"{named_options[0]} tells how far scores spread: add --precision POINTS")
    _plan_run(named or suite, options, places, budget=budget, verbose=verbose)


def _plan_run(suite: str, options: NewRun, places: Places, *, budget: float | None, verbose: bool) -> None:
    """Show the plan of a run, or of one run for each target; models are checked where their servers answer, and none is asked."""
    loaded = load_suite(suite).with_shared(configured(places).shared)
    wanted = options.targets or (None,)
    prepared: list[PreparedRun] = []
    for target in wanted:
        of_target = structs.replace(options, target=target)
        try:
            prepared.append(prepare_benchmark(loaded, of_target))
        except (ServerDown, MissingKey) as fault:
            reason = " ".join(str(fault).split())
            tell(f"note: planned without what servers tell of windows and slots: {reason}")
            prepared.append(prepare_run(loaded, of_target))
    with ExitStack() as stack:
        opened = None
        with suppress(UnknownRun):
            opened = stack.enter_context(opened_ledger(places))
        runs = [(with_measures(run.spec, opened), run.cases) for run in prepared]
        if budget is not None:
            budget_of(budget, [spec for spec, _ in runs], opened)
        place = places.options(opened) if opened is not None else ("--out", str(places.out))
        exam = missing_exam_lines(loaded, runs[0][0], opened, place)
        print_plan(runs, opened, verbose=verbose, budget=budget, exam=exam, err=False)


def _plan_precision(
    suite: str,
    options: RunOptions,
    places: Places,
    precision: float,
    *,
    like: str | None,
    spread: float | None,
    mean: float | None,
) -> None:
    if (like is None) == (spread is None):
        raise UserError(
            "give --like RUN, or --spread POINTS with a suite: the spread of scores decides how many cases are needed"
        )
    if like is not None:
        refused = (("--mean", mean), ("--target", options.target), ("--judge", options.judges or None))
        if named_options := [name for name, value in refused if value is not None]:
            raise UserError(f"{named_options[0]} goes with --spread: --like takes the panel and the cases of the run")
        with opened_ledger(places) as opened:
            run = opened.run(like)
            view = view_run(run, opened)
            _print_precision(plan_like(view, load_run_cases(opened, run.id), precision), view.spec, f"run {run.id}")
        return
    whole = structs.replace(options, limit=-1 if options.limit is None else options.limit)
    prepared = prepare_run(load_suite(suite).with_shared(configured(places).shared), whole)
    planned = plan_assumed(prepared.spec, prepared.cases, precision, spread=spread or 0.0, mean=mean)
    _print_precision(planned, prepared.spec, f"an assumed spread of {spread:g} points")


def _print_precision(plan: PrecisionPlan, spec: RunSpec, source: str) -> None:
    printer = Printer(report_locale("en"))
    rests = f"{source}, {counted(plan.from_cases, 'case')}" if plan.from_cases else source
    text = f"95 % interval of ± {plan.precision:g} points, planned from {rests}; for other cases like these, by the same judges"
    printer.say(text, "bold")
    scores: list[Row] = []
    for score in plan.scores:
        criterion = spec.criteria_by_id().get(score.path[-1]) if score.path else None
        name = criterion.name if criterion else spec.labels.get(".".join(score.path)) if score.path else "final score"
        width = "" if score.half_width is None else f"± {score.half_width:.2f}"
        cases = "over a million, or too few to say" if score.cases is None else f"{score.cases:,}"
        scores.append(Row(cells=(name, width, cases), css=f"l{len(score.path)}"))
    printer.table(Table(columns=columns("now", "cases needed", first="score of"), rows=tuple(scores)))
    plans: list[Row] = []
    for row in plan.passes:
        cells: list[str] = ["over a million", "", "", "", ""]
        if row.cases is not None:
            counts = (row.cases, row.calls, row.prompt_tokens, row.completion_tokens)
            cells = [*(f"{count:,}" for count in counts), report_locale("en").costs(row.costs) or ""]
        plans.append(Row(cells=(str(row.passes), *cells), css="l1" if row is plan.cheapest else ""))
    heads = columns("cases", "calls", "prompt tokens", "answer tokens", "cost", first="passes")
    printer.table(Table(columns=heads, rows=tuple(plans)))
    if plan.cheapest is not None and plan.cheapest.cases and plan.difference is not None and plan.failures is not None:
        text = f"fewest calls: {counted(plan.cheapest.cases, 'case')}, {counted(plan.cheapest.passes, 'pass', 'passes')}"
        text = f"{text}. They can tell differences of at least {plan.difference:.2f} points, and failures of at least"
        printer.say(f"{text} {plan.failures:.1%} of cases")
