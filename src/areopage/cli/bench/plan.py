"""`areopage bench plan`: what a run takes before it is paid for, or how many cases and passes a wished precision takes."""

from contextlib import ExitStack, suppress
from typing import TYPE_CHECKING, Annotated

import typer

from areopage.bench import PassesPlan, PrecisionPlan, RunSpec
from areopage.cli.bench.new_run import NewRun, describes_a_run
from areopage.cli.options import OUTPUTS, ConfigOption, LedgerOption, OutOption
from areopage.cli.run_options import (
    VerboseOption,
)
from areopage.errors import MissingKey, ServerDown, UnknownRun, UserError, counted
from areopage.report import report_locale
from areopage.scoring import NodePath

if TYPE_CHECKING:
    from areopage.bench import PreparedRun, RunWishes
    from areopage.cli.bench.places import Places
    from areopage.suites import Suite


@describes_a_run
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
    *,
    new: NewRun,
    out: OutOption = OUTPUTS,
    config: ConfigOption = None,
    ledger: LedgerOption = None,
    verbose: VerboseOption = False,
) -> None:
    """Plan a run before it is paid for: calls, tokens, time, cost, cases that are too long; it takes the options of `bench run`.

    With --precision: how many cases and passes a wished precision takes. No model is asked.
    """
    from areopage.cli.bench.places import Places

    targets, wishes = new.targets, new.wishes
    if len(new.languages) > 1:
        raise UserError("a plan is about one language: give --lang en or --lang fr")
    places = Places(out=out, config=config, ledger=ledger, allowed_variables=wishes.allowed_variables)
    if precision is not None:
        if len(targets) > 1:
            raise UserError("--precision plans one run: give --target once")
        _plan_precision(named or new.suite, wishes, places, precision, like=like, spread=spread, mean=mean)
        return
    if given := [name for name, one in (("--like", like), ("--spread", spread), ("--mean", mean)) if one is not None]:
        raise UserError(f"{given[0]} tells how far scores spread: add --precision POINTS")
    _plan_run(named or new.suite, wishes, targets, places, budget=new.budget, verbose=verbose)


def _plan_run(
    suite: str, wishes: "RunWishes", targets: list[str], places: "Places", *, budget: float | None, verbose: bool
) -> None:
    """Show the plan of a run, or of one run for each target; models are checked where their servers answer, and none is asked."""
    from msgspec import structs

    from areopage.bench import budget_of, with_measures
    from areopage.cli.bench.missing_exam import missing_exam_lines
    from areopage.cli.bench.places import configured, opened_ledger
    from areopage.cli.bench.run_plan import print_plan
    from areopage.suites import load_suite

    loaded = load_suite(suite).with_shared(configured(places).shared)
    wanted: list[str | None] = [*targets] or [None]
    prepared = [_checked_where_reached(loaded, structs.replace(wishes, target=one)) for one in wanted]
    with ExitStack() as stack:
        known = None
        with suppress(UnknownRun):
            known = stack.enter_context(opened_ledger(places))
        runs = [(with_measures(one.spec, known), one.cases) for one in prepared]
        if budget is not None:
            budget_of(budget, [spec for spec, _ in runs], known)
        place = places.options(known) if known is not None else ("--out", str(places.out))
        exam = missing_exam_lines(loaded, runs[0][0], known, place)
        print_plan(runs, known, verbose=verbose, budget=budget, exam=exam, err=False)


def _checked_where_reached(suite: "Suite", wishes: "RunWishes") -> "PreparedRun":
    """The run, with what its models' servers tell of windows and slots; without it where one cannot be asked, which is said."""
    from areopage.bench import prepare_benchmark, prepare_run

    try:
        return prepare_benchmark(suite, wishes)
    except (ServerDown, MissingKey) as fault:
        typer.echo(f"note: planned without what servers tell of windows and slots: {' '.join(str(fault).split())}", err=True)
        return prepare_run(suite, wishes)


def _plan_precision(
    suite: str,
    wishes: "RunWishes",
    places: "Places",
    precision: float,
    *,
    like: str | None,
    spread: float | None,
    mean: float | None,
) -> None:
    """Plan how many cases and passes a wished precision takes."""
    from msgspec import structs

    from areopage.bench import load_run_cases, plan_assumed, plan_like, prepare_run, view_run
    from areopage.cli.bench.places import configured, opened_ledger
    from areopage.suites import load_suite

    if (like is None) == (spread is None):
        raise UserError(
            "give --like RUN, or --spread POINTS with a suite: the spread of scores decides how many cases are needed"
        )
    if like is not None:
        told = (("--mean", mean), ("--target", wishes.target), ("--judge", wishes.judges or None))
        if given := [name for name, one in told if one is not None]:
            raise UserError(f"{given[0]} goes with --spread: --like takes the panel and the cases of the run")
        with opened_ledger(places) as opened:
            run = opened.run(like)
            view = view_run(run, opened)
            _print_precision(plan_like(view, load_run_cases(opened, run.id), precision), view.spec, f"run {run.id}")
        return
    whole = structs.replace(wishes, limit=-1 if wishes.limit is None else wishes.limit)
    prepared = prepare_run(load_suite(suite).with_shared(configured(places).shared), whole)
    found = plan_assumed(prepared.spec, prepared.cases, precision, spread=spread or 0.0, mean=mean)
    _print_precision(found, prepared.spec, f"an assumed spread of {spread:g} points")


def _print_precision(found: PrecisionPlan, spec: RunSpec, source: str) -> None:
    """Show a plan on the console."""
    from areopage.report import Printer, Row, Table, columns

    printer = Printer(report_locale("en"))
    rests = f"{source}, {counted(found.from_cases, 'case')}" if found.from_cases else source
    told = f"95 % interval of ± {found.precision:g} points, planned from {rests}; for other cases like these, by the same judges"
    printer.say(told, "bold")
    scores = (
        Row(
            cells=(
                _name(one.path, spec),
                "" if one.half_width is None else f"± {one.half_width:.2f}",
                _cases(one.cases),
            ),
            css=f"l{len(one.path)}",
        )
        for one in found.scores
    )
    printer.table(Table(columns=columns("now", "cases needed", first="score of"), rows=tuple(scores)))
    plans = (Row(cells=_cells(row), css="l1" if row is found.cheapest else "") for row in found.passes)
    heads = columns("cases", "calls", "prompt tokens", "answer tokens", "cost", first="passes")
    printer.table(Table(columns=heads, rows=tuple(plans)))
    if found.cheapest is not None and found.cheapest.cases and found.difference is not None and found.failures is not None:
        told = f"fewest calls: {counted(found.cheapest.cases, 'case')}, {counted(found.cheapest.passes, 'pass', 'passes')}"
        told = f"{told}. They can tell differences of at least {found.difference:.2f} points, and failures of at least"
        printer.say(f"{told} {found.failures:.1%} of cases")


def _name(path: NodePath, spec: RunSpec) -> str:
    if not path:
        return "final score"
    criterion = spec.criteria_by_id().get(path[-1])
    return criterion.name if criterion else spec.labels.get(".".join(path))


def _cases(cases: int | None) -> str:
    return "over a million, or too few to say" if cases is None else f"{cases:,}"


def _cells(row: PassesPlan) -> tuple[str, ...]:
    if row.cases is None:
        return (str(row.passes), "over a million", "", "", "", "")
    counts = (row.cases, row.calls, row.prompt_tokens, row.completion_tokens)
    return (str(row.passes), *(f"{count:,}" for count in counts), report_locale("en").costs(row.costs) or "")
