"""Stored scores: show and export runs; `rescore` of the benchmark, the monitor and the gate."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated

import typer
from pydantic import ValidationError
from rich.console import Console
from rich.table import Table
from rich.text import Text

from areopage.app.config import find_config
from areopage.app.ledger import open_ledger
from areopage.app.rebuild import count_stored, store_readings
from areopage.bench.results import RunView, changed_readings, view_run
from areopage.cli.gate_report import scope_of
from areopage.cli.options import (
    CollectionOption,
    ConfigOption,
    LedgerOption,
    ProfileOption,
    ReparseOption,
    SinceOption,
    UntilOption,
    WeightsOption,
    WithoutJudgeOption,
    WriteOption,
    actor,
    one_of,
    tell,
)
from areopage.cli.progress import Pace
from areopage.errors import ConfigError, UserError, name_list
from areopage.jury.rescore import GLOBAL, Rescored, Variant, gated, monitored, rescore
from areopage.ledger.connection import make_folder
from areopage.ledger.queries import EvaluationFilter
from areopage.ledger.records import Judgment, Run
from areopage.ledger.store import Ledger
from areopage.report.run_files import REPORT, write_judgments_csv, write_judgments_jsonl, write_run_files
from areopage.scoring.failures import FailureCount
from areopage.scoring.reduce import profile_named
from areopage.scoring.tree import Node, Weights
from areopage.suites.config import WeightsSection
from areopage.yaml_document import read_yaml

UNSEEN_WIDTH = 200

IdOption = Annotated[list[str] | None, typer.Option("--id", metavar="ID", help="Use only this answer (repeatable).")]


def print_runs(ledger: Ledger) -> None:
    """A table of the ledger's runs."""
    runs = ledger.runs()
    if not runs:
        typer.echo(f"no runs in {ledger.place}")
        return
    counts = ledger.judgment_counts()
    table = Table(box=None, pad_edge=False)
    table.add_column("run, begun (UTC)", overflow="fold")
    for heading in ("state", "judgments"):
        table.add_column(heading, no_wrap=True)
    for run in runs:
        state = "complete" if run.finished_at else "unfinished"
        table.add_row(Text(run.id), state, str(counts.get(run.id, 0)))
    _text_console().print(table)


def _text_console() -> Console:
    """A console for plain text; output that is not a terminal is never cut at a width."""
    console = Console(highlight=False)
    if not console.is_terminal:
        console.width = UNSEEN_WIDTH
    return console


def print_view(view: RunView, folder: Path) -> None:
    """The scores of a run, how its judges did, and the report in `folder`, if it is there."""
    console = _text_console()
    unfit = [health for health in view.health if health.unfit]
    for health in unfit:
        console.print(Text(f"NOT VALID: judge {health.judge} is unfit ({health.unfit})", style="bold red"))
    if unfit:
        console.print(Text("  for scores that count, use real judges: areopage bench run --judge ollama:MODEL", style="red"))
    if view.variant:
        console.print(Text(f"recomputed: {view.variant}"))
    tree, scale = view.scores.tree, view.spec.scale
    interval = view.scores.interval
    spread = f", 95 % interval {interval.low:.2f} to {interval.high:.2f}" if interval else ""
    state = "" if view.complete else ", run NOT COMPLETE"
    headline = f"final score {_shown(tree.score)} of {scale.max:g}{spread}, coverage {tree.coverage:.1%}{state}"
    console.print(Text("\n".join(_failures(view)), style="bold red" if view.failures.first.failed else "bold"))
    console.print(Text(headline, style="bold"))
    if view.scores.if_missing is not None:
        worst, best = view.scores.if_missing
        console.print(Text(f"  if all that is missing were the worst: {worst:.2f}, the best: {best:.2f}"))
    console.print(Text(f"  judges: {_qualifications(view)}; {_agreement(view)}"))
    if states := view.answer_states():
        whole = states.pop("answered", 0)
        others = "".join(f", {count} {state.replace('_', ' ')}" for state, count in states.items())
        counts = f"answers: {whole} of {whole + sum(states.values())} whole{others}"
        console.print(Text(counts, style="bold red" if others else ""))
    console.print(_scores_table(view))
    console.print(_health_table(view))
    if view.addressing:
        console.print(Text(f"cases that address the judge, read them: {name_list(view.addressing)}", style="bold"))
    report = folder / REPORT
    if report.is_file():
        console.print(Text(f"report: {report}"), soft_wrap=True)


def _qualifications(view: RunView) -> str:
    unfit = sum(bool(health.unfit) for health in view.health)
    told = [f"{unfit} unfit"] if unfit else []
    return ", ".join([*told, *([f"{len(view.health) - unfit} never examined"] if unfit < len(view.health) else [])])


def _agreement(view: RunView) -> str:
    found, alpha = view.scores.consistency.judge_agreement_avg, view.scores.alpha.alpha
    if found is None:
        return "agreement unknown: no two judges scored the same answers"
    return f"mean agreement {found:.2f}" + ("" if alpha is None else f", Krippendorff's alpha {alpha:.2f}")


def _failures(view: RunView) -> Iterator[str]:
    """What is said of failures before any score."""
    found = view.failures.first
    of = "" if len(view.failures.categories) > 2 else f" of {' or '.join(view.failures.categories)}"
    yield f"failures: {found.failed} of {found.scored} cases fail a criterion{of}"
    if found.scored < found.cases:
        yield f"  {found.cases - found.scored} more cases could not be scored"
    if found.high is not None:
        yield f"  of other cases like these, up to {found.high:.0%} could fail"


def _scores_table(view: RunView) -> Table:
    table = Table(box=None, pad_edge=False)
    table.add_column("score of", overflow="fold")
    for heading in ("score", "failed", "weight", "coverage"):
        table.add_column(heading, justify="right", no_wrap=True)
    names = {key: criterion.name for key, criterion in view.spec.criteria_by_id().items()}
    for category in view.scores.tree.parts:
        _add_row(table, category, view.spec.labels.get(category.name), style="bold")
        for subcategory in category.parts:
            _add_row(table, subcategory, f"  {view.spec.labels.get(f'{category.name}.{subcategory.name}')}")
            for criterion in subcategory.parts:
                _add_row(table, criterion, f"    {names[criterion.name]}", view.failures.by_criterion[criterion.name])
    return table


def _add_row(table: Table, node: Node, name: str, failures: FailureCount | None = None, *, style: str = "") -> None:
    failed = f"{failures.failed} of {failures.scored}" if failures else ""
    style = "red" if failures and failures.failed else style
    cells = (name, _shown(node.score), failed, f"{node.weight:.2f}", f"{node.coverage:.1%}")
    table.add_row(*(Text(cell, style=style) for cell in cells))


def _health_table(view: RunView) -> Table:
    table = Table(box=None, pad_edge=False)
    for heading in ("judge", "qualification", "scored", "failed", "repaired", "s/call", "tokens", "cost"):
        table.add_column(heading, overflow="fold")
    for health in view.health:
        failed = ", ".join(f"{count} {name}" for name, count in health.outcomes.items() if count and name != "scored")
        table.add_row(
            Text(health.judge),
            "unfit" if health.unfit else "never examined",
            f"{health.outcomes['scored']}/{health.planned}",
            failed or "0",
            str(health.repaired_heuristic + health.repaired_model),
            f"{health.seconds:.2f}",
            f"{health.prompt_tokens + health.completion_tokens:,}",
            "" if health.cost is None else f"{health.cost:.4f} {health.currency}",
        )
    return table


def _shown(score: float | None) -> str:
    return "unscored" if score is None else f"{score:.2f}"


def rescore_run(run: Run, ledger: Ledger, variant: Variant) -> list[Judgment]:
    """Score a run again and write the results into a folder of their own, `rescore-N`, inside of the run's.

    Returns:
        The judgments that were read otherwise than they are stored.
    """
    view = view_run(run, ledger, variant)
    folder = _new_folder(Path(run.folder), "rescore")
    write_run_files(view, folder)
    for warning in view.scores.warnings:
        typer.echo(f"note: {warning}", err=True)
    print_view(view, folder)
    typer.echo(f"written to {folder}", err=True)
    return changed_readings(view_run(run, ledger), view) if variant.reparse else []


def _new_folder(parent: Path, stem: str) -> Path:
    number = 1
    while (parent / f"{stem}-{number}").exists():
        number += 1
    return parent / f"{stem}-{number}"


def export_run(run: Run, ledger: Ledger, form: str, file: Path | None) -> None:
    """Write every judgment of a run.

    Raises:
        UserError: no such format.
        StorageError: the file cannot be written.
    """
    writers = {"csv": write_judgments_csv, "jsonl": write_judgments_jsonl}
    one_of("--format", form, tuple(writers))
    if file is None:
        make_folder(Path(run.folder))
    path = file or Path(run.folder) / f"judgments.{form}"
    writers[form](view_run(run, ledger), path)
    typer.echo(f"written to {path}")


def rescore_monitor(
    since: SinceOption = None,
    until: UntilOption = None,
    source: Annotated[
        str | None,
        typer.Option("--source", metavar="NAME", help="Use only this source. Golden questions are excluded unless named."),
    ] = None,
    id: IdOption = None,
    weights: WeightsOption = None,
    profile: ProfileOption = None,
    without_judge: WithoutJudgeOption = None,
    reparse: ReparseOption = False,
    write: WriteOption = False,
    config: ConfigOption = None,
    ledger: LedgerOption = None,
) -> None:
    """Recompute scores with other weights, rules or judges, without model calls.

    The command shows the means before and after, and how many grades change. Stored scores do not change without --write.
    """
    change, days = variant_of(weights, profile, without_judge, reparse=reparse, write=write), scope_of(since, until, None)
    wanted = EvaluationFilter(since=days.since, until=days.until, source=source, ids=tuple(id or ()))
    with open_ledger(find_config(config, ledger)) as opened:
        done = rescore(monitored(opened, wanted, texts=reparse), opened.panels("monitor"), change)
        _print_rescored(opened, done, change, "answers", write=write)


def rescore_gate(
    since: SinceOption = None,
    until: UntilOption = None,
    collection: CollectionOption = None,
    id: IdOption = None,
    weights: WeightsOption = None,
    profile: ProfileOption = None,
    without_judge: WithoutJudgeOption = None,
    reparse: ReparseOption = False,
    write: WriteOption = False,
    config: ConfigOption = None,
    ledger: LedgerOption = None,
) -> None:
    """Recompute the scores of the gate's judge, without model calls.

    The command shows the means before and after, and how many grades of sentences change. Decisions do not change.
    """
    change, wanted = variant_of(weights, profile, without_judge, reparse=reparse, write=write), scope_of(since, until, collection)
    with open_ledger(find_config(config, ledger)) as opened:
        runs = opened.panels("gate")
        done = rescore(gated(opened, runs, wanted, id or ()), runs, change)
        _print_rescored(opened, done, change, "sentences", write=write)


def variant_of(
    weights: Path | None, profile: str | None, without: Sequence[str] | None, *, reparse: bool, write: bool
) -> Variant:
    """The changes that the options name.

    Raises:
        UserError: a file or a name is wrong, or --write stands beside anything but --reparse.
    """
    if write and (not reparse or weights or profile or without):
        raise UserError("--write stores what --reparse reads: give it with --reparse and no other change")
    return Variant(
        weights=_read_weights(weights) if weights else None,
        profile=profile_named(profile) if profile else None,
        without_judges=tuple(without or ()),
        reparse=reparse,
    )


def _print_rescored(ledger: Ledger, done: Rescored, change: Variant, what: str, *, write: bool) -> None:
    for reason in done.unreadable.values():
        tell(f"left out, the scores of {reason}")
    if not done.answers:
        raise UserError(f"no {what} with judgments there: name other days, or none")
    console = _text_console()
    console.print(Text(f"scored again: {change.describe() or 'no change'}", style="bold"))
    table = Table(box=None, pad_edge=False)
    table.add_column("score of", overflow="fold")
    for heading in ("scored before", "mean before", "scored after", "mean after"):
        table.add_column(heading, justify="right", no_wrap=True)
    for criterion, shift in done.criteria.items():
        before, after = shift.means
        cells = (f"{shift.before:,}", _shown(before), f"{shift.after:,}", _shown(after))
        table.add_row(Text("all" if criterion == GLOBAL else criterion), *cells)
    console.print(table)
    moved = sorted(((places, rows) for places, rows in done.grades.items() if places[0] != places[1]), key=lambda one: -one[1])
    listed = "; ".join(f"{before} to {after} {rows:,}" for (before, after), rows in moved)
    console.print(Text(f"another grade: {done.changed:,} of {done.answers:,} {what}" + (f" ({listed})" if listed else "")))
    if change.reparse:
        console.print(Text(f"judgments read otherwise: {len(done.readings):,}; texts not stored in full: {done.unread:,}"))
    if write:
        write_readings(ledger, done.readings)


def write_readings(ledger: Ledger, readings: Sequence[Judgment]) -> None:
    """Store what was read, and compute the stored scores again."""
    if not readings:
        tell("nothing was read otherwise: nothing is written")
        return
    pace = Pace("rebuilt", count_stored(ledger))
    done = store_readings(ledger, readings, actor(), pace.moved)
    pace.finish()
    tell(f"judgments written: {len(readings):,}; evaluations changed: {done.written:,}")


def _read_weights(path: Path) -> Weights:
    document = read_yaml(path)
    nested = isinstance(document.data.get("weights"), dict)
    data = document.data["weights"] if nested else document.data
    if not set(data) & set(WeightsSection.model_fields):
        raise ConfigError(f"must hold {', '.join(WeightsSection.model_fields)}, or a section `weights` with them", path=path)
    try:
        section = WeightsSection.model_validate(data)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        keys = [*(["weights"] if nested else []), *(str(part) for part in first["loc"])]
        raise document.error(first["msg"][:1].lower() + first["msg"][1:], *keys) from None
    return Weights(categories=section.categories, subcategories=section.subcategories, criteria=section.criteria)
