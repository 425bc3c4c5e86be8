"""`areopage ledger`: compare stored scores with what they are computed from, compute them again, export what is held."""

from pathlib import Path
from typing import Annotated

import typer

from areopage.app.config import find_config
from areopage.app.ledger import open_ledger
from areopage.app.rebuild import Comparison, check_ledger, count_stored, rebuild_ledger
from areopage.cli.options import ConfigOption, LedgerOption, actor, one_of, tell
from areopage.cli.progress import Pace
from areopage.ledger.access import Audit
from areopage.ledger.caches import Difference
from areopage.report.export import LEDGER_FORMS, export_ledger

DIFFERS = 1


def check(config: ConfigOption = None, ledger: LedgerOption = None) -> None:
    """Compare every stored score and count with its recomputed value; nothing is written.

    Exit code 1: a value differs, or a panel cannot be read. The command also lists orphaned rows.
    """
    with open_ledger(find_config(config, ledger)) as opened:
        pace = Pace("checked", count_stored(opened))
        found = check_ledger(opened, pace.moved, _tell_difference)
        pace.finish()
    for line in _lines_of(found):
        typer.echo(line)
    raise typer.Exit(0 if found.clean else DIFFERS)


def rebuild(config: ConfigOption = None, ledger: LedgerOption = None) -> None:
    """Recompute every stored score and count; no model is called.

    The command writes only values that differ. It can be interrupted and run again.
    """
    with open_ledger(find_config(config, ledger)) as opened:
        pace = Pace("rebuilt", count_stored(opened))
        done = rebuild_ledger(opened, pace.moved)
        pace.finish()
    for reason in done.unreadable.values():
        tell(f"left as they are, the scores of {reason}")
    typer.echo(f"evaluations computed: {done.computed:,}; changed: {done.written:,}; counts by day computed")


def export(
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="A new folder. It appears only once the export is complete.")],
    form: Annotated[str, typer.Option("--format", metavar="jsonl|csv", help="csv for spreadsheets.")] = "jsonl",
    config: ConfigOption = None,
    ledger: LedgerOption = None,
) -> None:
    """Write answers, evaluations, judgments, labels and decisions into a folder.

    The export contains all rows. Texts are as stored: reduced by the storage policy, without erased texts.
    """
    chosen = one_of("--format", form, LEDGER_FORMS) or "jsonl"
    with open_ledger(find_config(config, ledger)) as opened:
        # before the first row: nothing leaves without an entry
        Audit(opened).note(actor(), "export", str(out), f"{chosen}, the whole ledger")
        counts = export_ledger(opened, out, chosen)
    typer.echo(f"written to {out}: " + ", ".join(f"{rows:,} {name}" for name, rows in counts.items()), err=True)


def _tell_difference(one: Difference) -> None:
    of = f" (run {one.run_id})" if one.run_id else ""
    typer.echo(f"{one.subject}: {one.field}: stored {one.stored}, computed {one.computed}{of}")


def _lines_of(found: Comparison) -> list[str]:
    lines = [f"cannot be read: {reason}" for reason in found.unreadable.values()]
    orphans = found.orphans
    for what, rows, names in (
        ("judgments that belong to no answer", orphans.judgments, orphans.judgment_keys),
        ("labels of answers that are not there", orphans.labels, orphans.labelled),
        ("scores without a judgment", orphans.scores, orphans.scored),
    ):
        if rows:
            lines.append(f"{what}: {rows:,} ({', '.join(names)}{', …' if len(names) < rows else ''})")
    differing = f"values that differ: {found.differing:,}" if found.differing else "nothing differs"
    return [*lines, f"evaluations compared: {found.checked:,}; {differing}"]
