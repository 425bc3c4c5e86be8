"""`areopage monitor export`, `erase` and `init`: what leaves the store, what is removed from it, and how a monitor begins."""

import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar, get_args

import typer

from areopage.cli.monitor_options import ConfigOption, monitor_config, monitor_ledger
from areopage.cli.monitor_report import STDOUT, day_of
from areopage.cli.rag_options import one_ledger_config

if TYPE_CHECKING:
    from areopage.ledger.quality_records import Filters
    from areopage.report.export import ExportForm

SUFFIXES: "dict[str, ExportForm]" = {
    ".csv": "csv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".parquet": "parquet",
    ".pq": "parquet",
}
TEMPLATE = "monitor.yml.template"

Choice = TypeVar("Choice")


def export(
    out: Annotated[str, typer.Option("--out", metavar="FILE", help="Where to; - is the standard output (csv and jsonl).")],
    config: ConfigOption = None,
    form: Annotated[str | None, typer.Option("--format", metavar="csv|jsonl|parquet", help="Default: by --out's ending.")] = None,
    days: Annotated[
        int | None, typer.Option("--days", min=1, max=3660, metavar="N", help="Only the last N days; default all.")
    ] = None,
    until: Annotated[str | None, typer.Option("--until", metavar="DATE", help="The last of these days (UTC).")] = None,
    source: Annotated[
        str | None, typer.Option("--source", metavar="NAME", help="Only this source; golden questions only by name.")
    ] = None,
    variant: Annotated[str | None, typer.Option("--variant", metavar="NAME", help="Only this variant.")] = None,
    band: Annotated[
        str | None, typer.Option("--band", metavar="BAND", help="Only excellent, good, weak, or unscored answers.")
    ] = None,
    find: Annotated[str, typer.Option("--find", metavar="TEXT", help="Only answers with these words.")] = "",
    text: Annotated[
        str | None,
        typer.Option(
            "--text",
            metavar="POLICY",
            help="full, truncated, redacted or none; default storage.export_text of the configuration.",
        ),
    ] = None,
) -> None:
    """Write answers with their scores into a file; by default without personal data."""
    from areopage.ledger.access import Audit
    from areopage.ledger.quality_lists import QualityLists
    from areopage.monitor.measure import criterion_labels
    from areopage.monitor.storage import Policy
    from areopage.report.export import export_answers, print_answers
    from areopage.suites.loader import load_suite

    chosen, filters = form_of(form, out), filters_of(days, until, source, variant, band, find)
    found = monitor_config(config)
    policy, longest = (
        one_of("--text", text, get_args(Policy)) or found.section.storage.export_text,
        found.section.storage.max_chars,
    )
    criteria = list(criterion_labels(load_suite(found.suite), "en"))
    with monitor_ledger(found, missing="empty") as ledger:
        # before the first row: nothing leaves without an entry
        Audit(ledger).note(actor(), "export", out, f"{chosen}, text {policy}, {described(filters)}")
        scores = QualityLists(ledger).stream(filters)
        if out == STDOUT:
            print_answers(scores, chosen, sys.stdout, criteria, policy, longest)
            return
        rows = export_answers(scores, chosen, Path(out), criteria, policy, longest)
    typer.echo(f"{rows:,} answers written to {out}", err=True)


def erase(
    config: ConfigOption = None,
    ids: Annotated[list[str] | None, typer.Option("--id", metavar="ID", help="An answer (repeatable).")] = None,
    older_than: Annotated[
        int | None, typer.Option("--older-than", min=0, metavar="DAYS", help="All answers received so many days ago or earlier.")
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
) -> None:
    """Remove answers for good: texts, scores, verdicts, labels; of the gate's answers all texts. Counts hold none, and stay.

    Trace files of the pipeline (rag.yml) lose them, too. Exit code 1: one of these cannot be rewritten; it is named.
    """
    from areopage.cli.trace_files import erase_files
    from areopage.errors import StorageError, UserError
    from areopage.ledger.access import Audit
    from areopage.ledger.exchanges import Exchanges
    from areopage.ledger.quality import QualityScores
    from areopage.monitor.retention import erase_older

    if bool(ids) == (older_than is not None):
        raise UserError("say what to erase: --id ID (several times for several answers), or --older-than DAYS")
    what = f"{len(set(ids))} answers" if ids else f"all answers that are older than {older_than} days"
    with monitor_ledger(one_ledger_config(config)) as ledger:
        if not yes and sys.stdin.isatty():
            typer.confirm(f"Erase {what} from {ledger.place}? They cannot be had again.", abort=True)
        moment = datetime.now(UTC) - timedelta(days=older_than) if older_than is not None else None
        left = erase_files(ids, moment)
        if moment is not None:
            erased = erase_older(ledger, moment, actor())
        else:
            named = list(dict.fromkeys(ids or ()))
            scores, exchanges = QualityScores(ledger), Exchanges(ledger)
            erased = sum([bool(scores.erase([id], wipe=False)) | exchanges.erase(id, wipe=False) for id in named])
            scores.wipe()
            for id in named:
                Audit(ledger).note(actor(), "erase", id)
    missing = len(set(ids or ())) - erased
    typer.echo(f"answers erased: {erased:,}" + (f"; not there: {missing:,}" if missing > 0 else ""))
    if left:
        raise StorageError(left)


def init(
    folder: Annotated[Path, typer.Argument(metavar="[DIR]", help="Where to; created if need be. Default: here.")] = Path(),
) -> None:
    """Write a monitor.yml with every key, its default and what it means."""
    from importlib.resources import files

    from areopage.errors import StorageError
    from areopage.ledger.connection import make_folder
    from areopage.monitor.config import CONFIG_FILE

    path = folder / CONFIG_FILE
    make_folder(folder)
    text = files("areopage.monitor").joinpath(TEMPLATE).read_text(encoding="utf-8")
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        raise StorageError(f"{path} is there already: edit it, or name another folder") from None
    typer.echo(f"written to {path}")


def form_of(form: str | None, out: str) -> "ExportForm":
    """The form that is named, else the one of the file's ending.

    Raises:
        UserError: there is no such form, or none is named.
    """
    from areopage.errors import UserError

    chosen = SUFFIXES.get(f".{form}" if form else Path(out).suffix.lower())
    if chosen is None or (form and form != chosen):
        given = f"--format {form!r}" if form else f"--out {out}: the ending says no format; give --format"
        raise UserError(f"{given}: use one of csv, jsonl, parquet")
    if chosen == "parquet" and out == STDOUT:
        raise UserError("--out -: Parquet goes to a file only; name one, or use --format csv or jsonl")
    return chosen


def filters_of(
    days: int | None, until: str | None, source: str | None, variant: str | None, band: str | None, find: str
) -> "Filters":
    """Which answers are meant.

    Raises:
        UserError: a day or a band that is none.
    """
    from areopage.ledger.quality_records import Band, Filters, Period
    from areopage.report.monitor_figures import last_days

    last = day_of(until) if until else datetime.now(UTC).date()
    period: Period | None = None
    if days is not None:
        period = last_days(days, last)
    elif until is not None:
        period = Period(start=datetime.min.date(), end=last + timedelta(days=1))
    return Filters(period=period, band=one_of("--band", band, get_args(Band)), source=source, variant=variant, text=find)


def one_of(option: str, name: str | None, allowed: tuple[Choice, ...]) -> Choice | None:
    """The choice of a name, None where none is named.

    Raises:
        UserError: it is none of those allowed.
    """
    from areopage.errors import UserError

    if name is None:
        return None
    for choice in allowed:
        if name == choice:
            return choice
    raise UserError(f"{option} {name!r}: use one of {', '.join(str(choice) for choice in allowed)}")


def described(filters: "Filters") -> str:
    """What an export was about, for the audit log; the words of a search may name a person, and stay out of it."""
    parts = [f"{filters.period.start} to {filters.period.end - timedelta(days=1)}" if filters.period else "all days"]
    parts += [
        f"{name} {value!r}"
        for name, value in (
            ("band", filters.band),
            ("source", filters.source),
            ("variant", filters.variant),
        )
        if value is not None
    ]
    return ", ".join([*parts, "only answers with words that were searched for"] if filters.text else parts)


def actor() -> str:
    """Who is at the command line, for the audit log: the account's name, as far as the system knows it."""
    import getpass

    try:
        return f"cli:{getpass.getuser()}"
    except (KeyError, OSError, ImportError):
        return "cli"
