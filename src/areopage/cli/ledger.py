"""`areopage ledger`: compare stored scores with what they are computed from, compute them again, export what is held."""

from pathlib import Path
from typing import Annotated

import msgspec
import typer

from areopage.app import (
    LedgerComparison,
    Verification,
    check_ledger,
    count_stored,
    find_config,
    kept_heads,
    open_ledger,
    rebuild_ledger,
    results_in,
    verify_ledger,
)
from areopage.cli.exit_codes import DONE, FAILED, INCONCLUSIVE
from areopage.cli.options import ConfigOption, LedgerOption, actor, one_of, tell, tell_cut
from areopage.cli.progress.pace import PaceLine
from areopage.errors import EmptyLedger, UserError, counted
from areopage.ledger import StaleValue
from areopage.locales import one_line
from areopage.report import LEDGER_FORMS, export_ledger

LONGEST_PART = 500
_EMPTY = "empty: nothing to verify"


def check(config: ConfigOption = None, ledger: LedgerOption = None) -> None:
    """Compare every stored score and count with its recomputed value; nothing is written.

    Exit code 1: a value differs, or a panel cannot be read. The command also lists orphaned rows.
    """
    with open_ledger(find_config(config, ledger), read_only=True) as opened:
        pace = PaceLine("checked", count_stored(opened))
        comparison = check_ledger(opened, pace.moved, _tell_difference)
        pace.finish()
    for line in _lines_of(comparison):
        typer.echo(line)
    raise typer.Exit(DONE if comparison.clean else FAILED)


def rebuild(config: ConfigOption = None, ledger: LedgerOption = None) -> None:
    """Recompute every stored score and count; no model is called.

    The command writes only values that differ. It can be interrupted and run again.
    """
    with open_ledger(find_config(config, ledger)) as opened:
        pace = PaceLine("rebuilt", count_stored(opened))
        done = rebuild_ledger(opened, pace.moved)
        pace.finish()
    for reason in done.unreadable.values():
        tell(f"left as they are, the scores of {reason}")
    for damage in done.damaged:
        tell(f"left as they are, the scores that rest on it: {damage}")
    typer.echo(f"evaluations computed: {done.computed:,}; changed: {done.written:,}; counts by day computed")


def compact(config: ConfigOption = None, ledger: LedgerOption = None) -> None:
    """Write a SQLite file anew, so that no unused space holds erased texts; stop workers and servers first."""
    with open_ledger(find_config(config, ledger)) as opened:
        if opened.engine.dialect.name != "sqlite":
            raise UserError(f"{opened.place}: PostgreSQL reuses the space of deleted rows by itself (autovacuum)")
        opened.erasure.compact()
        opened.audit.note(actor(), "compact", opened.place)
        typer.echo(f"written anew: {opened.place}")


def verify(
    against: Annotated[
        Path | None,
        typer.Option("--against", metavar="FILE", help="A results.json or a report that was kept: it names the heads."),
    ] = None,
    allow_changes: Annotated[
        bool, typer.Option("--allow-changes", help="With --against: exit code 0 though areopage has changed rows since.")
    ] = False,
    config: ConfigOption = None,
    ledger: LedgerOption = None,
) -> None:
    """Verify the hash chains of the ledger, and recompute every stored score and count. Nothing is written.

    Exit code 1: a row or a link was altered, inserted or deleted, a stored score differs, or a figure of a results.json is not
    that of the ledger. Exit code 3: the ledger is empty, something could not be compared, or areopage changed rows since FILE.
    Without --against, a ledger that was rewritten as a whole is not told from an intact one.
    """
    kept = kept_heads(against) if against else ()
    try:
        with open_ledger(find_config(config, ledger), read_only=True) as opened:
            if damaged := opened.damages():
                typer.echo("\n".join([*(f"the file is damaged: {damage}" for damage in damaged), "altered"]))
                raise typer.Exit(FAILED)
            pace = PaceLine("verified", count_stored(opened))
            results = results_in(against) if against else None
            verification = verify_ledger(opened, kept, pace.moved, typer.echo, _tell_difference, results)
            pace.finish()
    except EmptyLedger:
        if kept:
            raise
        typer.echo(_EMPTY)
        raise typer.Exit(INCONCLUSIVE) from None
    for line in _lines_of_verification(verification, against):
        typer.echo(line)
    is_whole = verification.whole and not verification.empty and (allow_changes or not verification.chains.since)
    raise typer.Exit(FAILED if not verification.intact else DONE if is_whole else INCONCLUSIVE)


def export(
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="A new folder. It appears only once the export is complete.")],
    form: Annotated[
        str, typer.Option("--format", metavar="jsonl|csv|parquet|xlsx", help="csv and xlsx for spreadsheets.")
    ] = "jsonl",
    config: ConfigOption = None,
    ledger: LedgerOption = None,
) -> None:
    """Write answers, evaluations, judgments, labels and decisions into a folder.

    The export contains all rows. Texts are as stored: reduced by the storage policy, without erased texts.
    """
    chosen = one_of("--format", form, LEDGER_FORMS)
    with open_ledger(find_config(config, ledger)) as opened:
        # before the first row: nothing leaves without an entry
        opened.audit.note(actor(), "export", str(out), f"{chosen}, the whole ledger")
        counts = export_ledger(opened, out, chosen)
    tell_cut(sum(written.cut for written in counts.values()))
    tell(f"written to {out}: " + ", ".join(f"{written.rows:,} {name}" for name, written in counts.items()))


def show_audit(
    subject: Annotated[str | None, typer.Option("--subject", metavar="ID", help="Only entries about this answer or key.")] = None,
    limit: Annotated[int, typer.Option("--limit", min=1, help="Number of entries, newest first.")] = 100,
    form: Annotated[str, typer.Option("--format", metavar="text|jsonl", help="jsonl for programs.")] = "text",
    config: ConfigOption = None,
    ledger: LedgerOption = None,
) -> None:
    """Show the audit log: who read, labelled, erased, exported or changed what, newest first."""
    chosen = one_of("--format", form, ("text", "jsonl"))
    with open_ledger(find_config(config, ledger), read_only=True) as opened:
        for entry in opened.audit.list(subject=subject, limit=limit):
            if chosen == "jsonl":
                typer.echo(msgspec.json.encode(entry).decode())
                continue
            who = f"{entry.actor} (key {entry.key_id})" if entry.key_id else entry.actor
            parts = (f"{entry.at:%Y-%m-%d %H:%M:%S}", who, entry.action, entry.subject, entry.detail)
            typer.echo("  ".join(one_line(part, LONGEST_PART) for part in parts if part))


def _tell_difference(difference: StaleValue) -> None:
    of = f" (run {difference.run_id})" if difference.run_id else ""
    typer.echo(f"{difference.subject}: {difference.field}: stored {difference.stored}, computed {difference.computed}{of}")


def _lines_of_verification(verification: Verification, against: Path | None) -> list[str]:
    chains = verification.chains
    if verification.empty:
        return [_EMPTY]
    lines = _lines_of(verification.scores)
    lines += [f"rows compared with {chains.links:,} links: {chains.rows:,}; altered: {chains.faults + verification.misread:,}"]
    if verification.unread:
        lines.append(
            f"scores that were read again and cannot be compared with a raw text: {counted(verification.unread, 'judgment')}"
        )
    if against and verification.figures is None:
        lines.append(f"the figures in {against} are not compared: only the heads that it names")
    elif verification.figures is not None:
        lines.append(f"figures in {against} that are not those of the ledger: {verification.figures:,}")
    if chains.since:
        lines.append(f"rows that areopage has changed since {against}:")
    for kind, rows in chains.since.items():
        by = f" ({one_line(kind.actor, LONGEST_PART)})" if kind.actor else ""
        lines.append(f"  {kind.table}: {rows:,} {kind.change}{by}")
    lines += [f"head: {head}" for head in chains.heads]
    if not verification.intact:
        return [*lines, "altered"]
    if not verification.whole:
        return [*lines, "not altered, as far as it could be compared"]
    return [*lines, "intact; areopage has changed rows since, see above" if chains.since else "intact"]


def _lines_of(comparison: LedgerComparison) -> list[str]:
    lines = [*comparison.damaged, *(f"cannot be read: {reason}" for reason in comparison.unreadable.values())]
    orphans = comparison.orphans
    for what, rows, names in (
        ("judgments that belong to no answer", orphans.judgments, orphans.judgment_keys),
        ("labels of answers that are not there", orphans.labels, orphans.labelled),
        ("scores without a judgment", orphans.scores, orphans.scored),
    ):
        if rows:
            lines.append(f"{what}: {rows:,} ({', '.join(names)}{', …' if len(names) < rows else ''})")
    differing = f"values that differ: {comparison.differing:,}" if comparison.differing else "nothing differs"
    return [*lines, f"evaluations compared: {comparison.checked:,}; {differing}"]
