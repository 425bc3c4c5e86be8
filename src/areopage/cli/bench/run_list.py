"""The runs of a ledger on the console, and what a run measures."""

from pathlib import Path

import typer

from areopage.bench import RunSummary, run_summaries
from areopage.cli.bench.places import opened_ledger
from areopage.cli.options import PlacesOptions, tell
from areopage.locales import MISSING
from areopage.report import UNSEEN_WIDTH, Printer, Table, columns, report_locale, rows, text_console


def list_runs(*, places: PlacesOptions) -> None:
    """List the runs of a ledger, newest first."""
    with opened_ledger(places, read_only=True) as opened:
        summaries, place = list(run_summaries(opened)), opened.place
    if not summaries:
        typer.echo(f"no runs in {place}")
        return
    for damage in (damage for summary in summaries for damage in summary.damaged):
        tell(damage)
    facts_shown = ("begun (UTC)", "suite", "target", "mode", "language", "dataset", "state", "verdict")
    heads = columns(*facts_shown, "cases", "coverage", "judgments", first="run", texts=range(1, 9))

    def row(summary: RunSummary) -> tuple[str, ...]:
        run, spec = summary.run, summary.spec
        facts = dict.fromkeys(("target", "mode", "language", "dataset"), MISSING)
        facts |= {"begun": f"{run.created_at:%Y-%m-%d %H:%M}", "suite": run.suite}
        facts["state"] = "complete" if run.finished_at else "unfinished"
        if spec is not None:  # else another version of areopage wrote the run
            facts |= {"suite": f"{spec.suite} {spec.suite_version}", "language": spec.language}
            facts["target"] = spec.answered_by or "recorded answers"
            facts["target"] += f" (answers of {spec.reassessed.run})" if spec.reassessed is not None else ""
            facts["mode"] = spec.mode if spec.target is not None else MISSING
            facts["dataset"] = ", ".join(Path(name).name for name in spec.datasets)
            facts["dataset"] += f", only {spec.part.text}" if spec.part is not None else ""
        coverage = MISSING if summary.coverage is None else f"{summary.coverage.share:.1%}"
        if summary.reused:
            facts["begun"] += f", answers of {summary.reused.oldest:%Y-%m-%d} and later"
        named = (facts[name] for name in ("begun", "suite", "target", "mode", "language", "dataset", "state"))
        counts = (f"{summary.cases:,}", coverage, f"{summary.judgments:,}")
        return summary.run.id, *named, summary.verdict or MISSING, *counts

    console = text_console()
    console.width = max(console.width, UNSEEN_WIDTH)  # a narrow terminal breaks lines: ids stay whole, to be copied
    Printer(report_locale("en"), console).table(Table(columns=heads, rows=rows(map(row, summaries))))
