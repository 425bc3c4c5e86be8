"""`areopage bench plan`: how many cases and passes a wished precision takes, with calls and cost; no model is asked."""

from typing import Annotated

import typer

from areopage.bench.planning.precision import PassesPlan, PrecisionPlan
from areopage.bench.spec import RunSpec
from areopage.cli.options import OUTPUTS, ConfigOption, LedgerOption, OutOption
from areopage.cli.run_options import CriteriaOption, DatasetOption, JudgeOption, PassesOption, SuiteOption, TargetOption
from areopage.errors import UserError, counted
from areopage.report.elements import report_locale
from areopage.scoring.tree import NodePath


def plan(
    precision: Annotated[
        float, typer.Option(metavar="POINTS", help="Wished half of the width of the final score's 95% interval, e.g. 0.2.")
    ],
    like: Annotated[
        str | None, typer.Option(metavar="RUN", help="Earlier run whose spread, cases and panel count: its id, or `latest`.")
    ] = None,
    spread: Annotated[
        float | None, typer.Option(metavar="POINTS", min=0, help="Without --like: standard deviation of the cases' final scores.")
    ] = None,
    mean: Annotated[
        float | None,
        typer.Option(metavar="SCORE", help="With --spread: the expected score; default: four fifths of the scale."),
    ] = None,
    suite: SuiteOption = "child_safety",
    dataset: DatasetOption = None,
    target: TargetOption = None,
    judge: JudgeOption = None,
    criteria: CriteriaOption = None,
    passes: PassesOption = None,
    lang: Annotated[str | None, typer.Option(metavar="en|fr", help="Language of the judges' prompts.")] = None,
    out: OutOption = OUTPUTS,
    config: ConfigOption = None,
    ledger: LedgerOption = None,
) -> None:
    """Plan how many cases and passes a wished precision takes, with calls and cost; no model is asked."""
    from areopage.bench.planning.precision import plan_assumed, plan_like
    from areopage.bench.planning.prepare import RunWishes, prepare_run
    from areopage.bench.results.run_view import load_run_cases, view_run
    from areopage.cli.bench.run import Places, configured, opened_ledger
    from areopage.suites.loader import load_suite

    if (like is None) == (spread is None):
        raise UserError(
            "give --like RUN, or --spread POINTS with a suite: the spread of scores decides how many cases are needed"
        )
    places = Places(out=out, config=config, ledger=ledger)
    if like is not None:
        if given := [name for name, one in (("--mean", mean), ("--target", target), ("--judge", judge)) if one is not None]:
            raise UserError(f"{given[0]} goes with --spread: --like takes the panel and the cases of the run")
        with opened_ledger(places) as opened:
            run = opened.run(like)
            view = view_run(run, opened)
            _print_plan(plan_like(view, load_run_cases(opened, run.id), precision), view.spec, f"run {run.id}")
        return
    wishes = RunWishes(
        datasets=tuple(dataset or ()),
        target=target,
        judges=tuple(judge or ()),
        criteria=criteria,
        passes=passes,
        limit=-1,
        language=lang,
    )
    prepared = prepare_run(load_suite(suite).with_shared(configured(places).section), wishes)
    found = plan_assumed(prepared.spec, prepared.cases, precision, spread=spread or 0.0, mean=mean)
    _print_plan(found, prepared.spec, f"an assumed spread of {spread:g} points")


def _print_plan(found: PrecisionPlan, spec: RunSpec, source: str) -> None:
    """Show a plan on the console."""
    from rich.text import Text

    from areopage.cli.console import plain_table, print_table, text_console

    console = text_console()
    rests = f"{source}, {counted(found.from_cases, 'case')}" if found.from_cases else source
    told = f"95 % interval of ± {found.precision:g} points, planned from {rests}; for other cases like these, by the same judges"
    console.print(Text(told, style="bold"), soft_wrap=True)
    scores = plain_table("score of", figures=("now", "cases needed"))
    for one in found.scores:
        now = "" if one.half_width is None else f"± {one.half_width:.2f}"
        scores.add_row(f"{'  ' * max(0, len(one.path) - 1)}{_name(one.path, spec)}", now, _cases(one.cases))
    print_table(console, scores)
    plans = plain_table(figures=("passes", "cases", "calls", "prompt tokens", "answer tokens", "cost"))
    for row in found.passes:
        style = "bold" if row is found.cheapest else ""
        plans.add_row(*(Text(cell, style=style) for cell in _cells(row)))
    print_table(console, plans)
    if found.cheapest is not None and found.cheapest.cases and found.difference is not None and found.failures is not None:
        told = f"fewest calls: {counted(found.cheapest.cases, 'case')}, {counted(found.cheapest.passes, 'pass', 'passes')}"
        told = f"{told}. They can tell differences of at least {found.difference:.2f} points, and failures of at least"
        console.print(Text(f"{told} {found.failures:.1%} of cases"), soft_wrap=True)


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
