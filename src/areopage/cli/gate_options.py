"""Options that the gate's commands over recorded answers share."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from areopage.cli.monitor_options import monitor_config
from areopage.cli.rag_options import on_one_ledger, rag_config

if TYPE_CHECKING:
    from areopage.ledger.queries import TraceFilter
    from areopage.ledger.store import Ledger
    from areopage.monitor.config import MonitorConfig

YEARS = range(1970, 9999)

LedgerOption = Annotated[
    str | None,
    typer.Option("--ledger", metavar="PLACE", help="The ledger: a file or a URL; default that of rag.yml and monitor.yml."),
]
SinceOption = Annotated[str | None, typer.Option("--since", metavar="DATE", help="Only answers from this day on (UTC).")]
UntilOption = Annotated[str | None, typer.Option("--until", metavar="DATE", help="Only answers up to the end of this day (UTC).")]
CollectionOption = Annotated[str | None, typer.Option("--collection", metavar="NAME", help="Only answers from this collection.")]


def gate_settings(rag: Path | None, ledger: str | None) -> "MonitorConfig":
    """The monitor's configuration (storage, language) on the ledger that is named, else on that of rag.yml and monitor.yml.

    Raises:
        ConfigError: a file is missing or wrong, or both name different ledgers.
    """
    from msgspec import structs

    settings = monitor_config(None)
    if ledger is None:
        return on_one_ledger(settings, rag_config(rag))
    place = ledger if "://" in ledger else str(Path(ledger).expanduser().resolve())
    return structs.replace(settings, section=settings.section.model_copy(update={"ledger": place}))


@contextmanager
def gate_ledger(settings: "MonitorConfig") -> Iterator["Ledger"]:
    """The ledger, open.

    Raises:
        UnknownRun: there is none.
        StorageError, MissingExtra: it cannot be opened.
    """
    from areopage.errors import UnknownRun
    from areopage.ledger.store import Ledger

    if "://" not in settings.ledger and not Path(settings.ledger).is_file():
        message = "have answers checked or logs imported first, or give --ledger PLACE"
        raise UnknownRun(f"there is no ledger {settings.ledger}: {message}")
    opened = Ledger.open(settings.ledger)
    try:
        yield opened
    finally:
        opened.close()


def scope_of(since: str | None, until: str | None, collection: str | None) -> "TraceFilter":
    """The traces that are wanted.

    Raises:
        UserError: a day is none, or the last one lies before the first.
    """
    from areopage.errors import UserError
    from areopage.ledger.queries import TraceFilter

    first, last = (_midnight("--since", since), _midnight("--until", until))
    if first is not None and last is not None and last < first:
        raise UserError(f"--until {until} lies before --since {since}")
    return TraceFilter(since=first, until=None if last is None else last + timedelta(days=1), collection=collection)


def tell_reduced_texts(settings: "MonitorConfig") -> None:
    """Say on stderr that the ledger's texts are not those that the gate saw, where that is the policy."""
    if settings.section.storage.text != "full":
        note = "by storage.text the ledger does not hold whole texts: scores differ from those in service"
        typer.echo(f"areopage: {note}", err=True)


def _midnight(option: str, text: str | None) -> datetime | None:
    """The beginning of a day that was given."""
    from areopage.errors import UserError

    if text is None:
        return None
    try:
        day = date.fromisoformat(text)
    except ValueError:
        day = date.min
    if day.year not in YEARS:
        raise UserError(f"{option} {text!r}: give a day as YYYY-MM-DD, from {YEARS.start} on")
    return datetime.combine(day, time(), tzinfo=UTC)
