"""Show runs, score them again, export them."""

from pathlib import Path

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from areopage.bench.results import RunView, changed_readings, view_run
from areopage.errors import UserError
from areopage.jury.rescore import Variant
from areopage.ledger.connection import make_folder
from areopage.ledger.records import Judgment, Run
from areopage.ledger.store import Ledger
from areopage.report.run_files import REPORT, write_judgments_csv, write_judgments_jsonl, write_run_files
from areopage.scoring.tree import Node

UNSEEN_WIDTH = 200


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
    text_console().print(table)


def text_console() -> Console:
    """A console for plain text; where nobody looks at a terminal no line is cut at its width."""
    console = Console(highlight=False)
    if not console.is_terminal:
        console.width = UNSEEN_WIDTH
    return console


def print_view(view: RunView, folder: Path) -> None:
    """The scores of a run, how its judges did, and the report in `folder`, if it is there."""
    console = text_console()
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
    headline = f"final score {shown(tree.score)} of {scale.max:g}{spread}, coverage {tree.coverage:.1%}{state}"
    console.print(Text(headline, style="bold"))
    console.print(_scores_table(view))
    console.print(_health_table(view))
    report = folder / REPORT
    if report.is_file():
        console.print(Text(f"report: {report}"), soft_wrap=True)


def _scores_table(view: RunView) -> Table:
    """Scores of categories, sub-categories and criteria; each weight is the share among its siblings."""
    table = Table(box=None, pad_edge=False)
    table.add_column("score of", overflow="fold")
    for heading in ("score", "weight", "coverage"):
        table.add_column(heading, justify="right", no_wrap=True)
    names = {key: criterion.name for key, criterion in view.spec.criteria_by_id().items()}
    for category in view.scores.tree.parts:
        _add_row(table, category, view.spec.labels.get(category.name), bold=True)
        for subcategory in category.parts:
            _add_row(table, subcategory, f"  {view.spec.labels.get(f'{category.name}.{subcategory.name}')}", bold=False)
            for criterion in subcategory.parts:
                _add_row(table, criterion, f"    {names[criterion.name]}", bold=False)
    return table


def _add_row(table: Table, node: Node, name: str, *, bold: bool) -> None:
    """A row of the scores."""
    cells = (name, shown(node.score), f"{node.weight:.2f}", f"{node.coverage:.1%}")
    table.add_row(*(Text(cell, style="bold" if bold else "") for cell in cells))


def _health_table(view: RunView) -> Table:
    """How each judge did."""
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


def shown(score: float | None) -> str:
    """A score with two decimals; a missing one says so."""
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
    """The first folder `stem-N` that does not exist yet."""
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
    if form not in writers:
        raise UserError(f"--format {form!r}: use one of {', '.join(writers)}")
    if file is None:
        make_folder(Path(run.folder))
    path = file or Path(run.folder) / f"judgments.{form}"
    writers[form](view_run(run, ledger), path)
    typer.echo(f"written to {path}")
