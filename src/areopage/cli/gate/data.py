"""Commands `areopage gate import` and `areopage gate dataset export`."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Annotated, Any, get_args
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import msgspec
import typer
from msgspec import structs

from areopage.app import find_config, open_ledger
from areopage.cases import RejectedRow, table_writer
from areopage.checking import Imported
from areopage.checking import import_logs as take
from areopage.cli.exit_codes import INCONCLUSIVE
from areopage.cli.gate.report import NO_ANSWERS, scope_of
from areopage.cli.options import (
    STDOUT,
    CollectionOption,
    ConfigOption,
    LedgerOption,
    SinceOption,
    UntilOption,
    actor,
    one_of,
    tell,
    tell_rejected,
)
from areopage.cli.progress.pace import PaceLine
from areopage.errors import StorageError, UserError, counted
from areopage.ledger import Channel
from areopage.report import replacing
from areopage.review import WANTED, dataset
from areopage.text import Policy

SHOWN = 20


def import_logs(
    places: Annotated[
        list[Path], typer.Argument(metavar="FOLDER|FILE...", help="metrics.jsonl, llm_responses.jsonl, snapshots; plain or .gz.")
    ],
    config: ConfigOption = None,
    ledger: LedgerOption = None,
    timezone: Annotated[
        str, typer.Option("--timezone", metavar="NAME", help="Time zone of timestamps without one: UTC, Europe/Paris ...")
    ] = "UTC",
    rejected: Annotated[
        Path | None, typer.Option("--rejected", metavar="FILE", help="Write rejected lines to FILE (CSV).")
    ] = None,
    differences: Annotated[
        Path | None, typer.Option("--differences", metavar="FILE", help="Write contradictions between fields to FILE (CSV).")
    ] = None,
) -> None:
    """Import the logs of an older system into the ledger; list unusable lines (exit code 1).

    Pass all files in one command: the import joins each metrics row with its response and its snapshot.
    A second import adds no duplicates.
    """
    try:
        zone = ZoneInfo(timezone)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        advice = "no such time zone; use a name such as UTC or Europe/Paris"
        raise UserError(f"--timezone {timezone[:40]!r}: {advice}") from None
    with open_ledger(find_config(config, ledger), create=True) as opened, _rejected_rows(rejected) as (reject, shown):
        paces: dict[str, PaceLine] = {}

        def progress(what: str, done: int, total: int) -> None:
            paces.setdefault(what, PaceLine(what, total)).moved(done)

        imported = take(opened, places, zone=zone, reject=reject, progress=progress)
        for pace in paces.values():
            pace.finish()
        opened.audit.note(
            actor(), "import", ", ".join(place.name for place in places)[:256], f"{imported.added} answers of the gate"
        )
    _tell_imported(imported)
    if differences is not None:
        with differences.open("w", encoding="utf-8-sig", errors="backslashreplace", newline="") as stream:
            write = table_writer(stream)
            write(("file", "line", "field", "said", "derived"))
            for difference in imported.differences:
                write((difference.place, difference.line, difference.field, difference.said, difference.derived))
        tell(f"written: {differences}")
    if imported.rejected:
        tell_rejected(shown, imported.rejected, "line", SHOWN, rejected)
        raise typer.Exit(INCONCLUSIVE)


def export(
    output: Annotated[str, typer.Option("--output", metavar="FILE", help="Output file (JSON Lines); - is the standard output.")],
    config: ConfigOption = None,
    ledger: LedgerOption = None,
    since: SinceOption = None,
    until: UntilOption = None,
    verdict: Annotated[
        str,
        typer.Option(
            "--verdict", metavar="VERDICT", help="bad (did not pass, or was labelled unsupported), all, or one verdict."
        ),
    ] = "bad",
    labelled_only: Annotated[
        bool, typer.Option("--labelled-only", help="Export only labelled answers; implies --verdict all.")
    ] = False,
    collection: CollectionOption = None,
    channel: Annotated[
        list[str] | None, typer.Option("--channel", metavar="chat|check|import", help="Export only answers of this channel.")
    ] = None,
    text: Annotated[
        str | None,
        typer.Option("--text", metavar="POLICY", help="full, truncated, redacted or none; default storage.export_text."),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace an existing file.")] = False,
) -> None:
    """Export answers that did not pass with their documents, reasons and labels; personal data is redacted by default."""
    settings = find_config(config, ledger)
    storage = settings.storage
    policy = one_of("--text", text, get_args(Policy)) or storage.export_text
    channels = tuple(one_of("--channel", name, get_args(Channel)) for name in channel or ())
    chosen = one_of("--verdict", verdict, WANTED)
    filter = structs.replace(scope_of(since, until, collection), channels=channels)
    if output != STDOUT and Path(output).exists() and not force:
        raise StorageError(f"{output} exists: choose another file, or give --force")
    with open_ledger(settings, advice=NO_ANSWERS) as opened:
        # before the first row: no row is exported without an audit entry
        opened.audit.note(actor(), "export", output, f"answers of the gate: {chosen}, text {policy}")
        exported = dataset(
            opened,
            filter,
            policy,
            storage.max_chars,
            wanted="all" if labelled_only and chosen == "bad" else chosen,
            labelled_only=labelled_only,
        )
        rows = (msgspec.json.encode(row) + b"\n" for row in exported)
        if output == STDOUT:
            for row in rows:
                typer.echo(row.decode(), nl=False)
            return
        count = 0
        with replacing(Path(output)) as temporary, temporary.open("wb") as file:
            for row in rows:
                file.write(row)
                count += 1
    tell(f"{counted(count, 'answer')} written to {output}")


@contextmanager
def _rejected_rows(path: Path | None) -> Iterator[tuple[Callable[[RejectedRow], None], list[RejectedRow]]]:
    """What takes rejected lines, all of them for a file, and the first ones for the console."""
    shown: list[RejectedRow] = []
    with ExitStack() as stack:
        write: Callable[[Iterable[Any]], object] | None = None
        if path is not None:
            file = path.open("w", encoding="utf-8-sig", errors="backslashreplace", newline="")
            write = table_writer(stack.enter_context(file))
            write(("file", "row", "reason", "content"))

        def reject(row: RejectedRow) -> None:
            if len(shown) < SHOWN:
                shown.append(row)
            if write is not None:
                write((row.file, row.row, row.reason, row.content))

        yield reject, shown


def _tell_imported(imported: Imported) -> None:
    rows = ", ".join(
        counted(imported.rows.get(kind, 0), name)
        for kind, name in (("metrics", "metrics row"), ("response", "response"), ("snapshot", "snapshot"))
    )
    typer.echo(f"read: {rows}, in {counted(imported.files, 'file')}")
    outcomes = ", ".join(f"{count:,} {verdict}" for verdict, count in sorted(imported.verdicts.items()))
    typer.echo(f"imported: {imported.added:,} new, {imported.known:,} already known" + (f" ({outcomes})" if outcomes else ""))
    typer.echo(
        f"joined: {imported.joined.get('response', 0):,} with a response, {imported.joined.get('snapshot', 0):,} with a snapshot"
    )
    named = ", ".join(f"{count:,} {field}" for field, count in sorted(imported.contradictions.items()))
    typer.echo(f"fields that contradict other fields: {named or 'none'}")
    for difference in imported.differences[:SHOWN]:
        said = f"{difference.place} line {difference.line}: {difference.field} is {difference.said}"
        tell(f"  {said}, but the other fields give {difference.derived}")
    rest = sum(imported.contradictions.values()) - SHOWN
    if rest > 0:
        tell(f"  and {rest:,} more: --differences FILE lists them")
