"""The runs of a ledger on the console, and what a run measures."""

from pathlib import Path

import typer
from rich.text import Text

from areopage.bench import RunSpec, run_summaries
from areopage.cli.console import UNSEEN_WIDTH, plain_table, print_table, text_console
from areopage.ledger import Ledger, Run
from areopage.locales import MISSING


def print_runs(ledger: Ledger) -> None:
    """A table of the ledger's runs."""
    summaries = list(run_summaries(ledger))
    if not summaries:
        typer.echo(f"no runs in {ledger.place}")
        return
    table = plain_table("run", "begun (UTC)", "suite", "target", "mode", "language", "dataset")
    for heading in ("state", "verdict", "cases", "coverage", "judgments"):
        table.add_column(heading, no_wrap=True)
    for one in summaries:
        facts = run_facts(one.run, one.spec)
        coverage = MISSING if one.coverage is None else f"{one.coverage.share:.1%}"
        if one.reused:
            facts["begun"] += f", answers of {one.reused.oldest:%Y-%m-%d} and later"
        named = (one.run.id, *(facts[name] for name in ("begun", "suite", "target", "mode", "language", "dataset", "state")))
        table.add_row(*map(Text, (*named, one.verdict or MISSING, f"{one.cases:,}", coverage, f"{one.judgments:,}")))
    console = text_console()
    console.width = max(console.width, UNSEEN_WIDTH)  # a narrow terminal breaks lines: ids stay whole, to be copied
    print_table(console, table)


def run_facts(run: Run, spec: RunSpec | None) -> dict[str, str]:
    """What a run measures.

    Args:
        spec: None if another version of areopage wrote the run.
    """
    facts = dict.fromkeys(("run", "begun", "state", "suite", "target", "mode", "language", "dataset"), MISSING)
    facts |= {"run": run.id, "begun": f"{run.created_at:%Y-%m-%d %H:%M}", "suite": run.suite}
    facts["state"] = "complete" if run.finished_at else "unfinished"
    if spec is not None:
        facts |= {"suite": f"{spec.suite} {spec.suite_version}", "language": spec.language}
        facts["target"] = spec.answered_by or "recorded answers"
        if spec.reassessed is not None:
            facts["target"] += f" (answers of {spec.reassessed.run})"
        if spec.target is not None:
            facts["mode"] = spec.mode
        facts["dataset"] = ", ".join(Path(name).name for name in spec.datasets)
        if spec.part is not None:
            facts["dataset"] += f", only {spec.part.text}"
    return facts
