"""Command `areopage gate report`: report on the gate's decisions."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Annotated

import typer

from areopage.app.config import AppConfig, find_config
from areopage.app.ledger import open_ledger
from areopage.cli.options import (
    STDOUT,
    CollectionOption,
    ConfigOption,
    LedgerOption,
    SinceOption,
    UntilOption,
    midnight_of,
    tell,
)
from areopage.cli.pace import Pace
from areopage.errors import UserError
from areopage.ledger.connection import make_folder, shown, url_of
from areopage.ledger.queries import TraceFilter
from areopage.ledger.traces import Traces
from areopage.locales import LANGUAGES
from areopage.report.gate import file_name, gate_report
from areopage.report.gate_figures import gather
from areopage.report.render import FORMS, Form, render, write_report

NO_ANSWERS = "check answers or import logs first, or give --ledger FILE|URL"
"""Advice for a missing ledger."""

SUFFIXES: dict[str, Form] = {".html": "html", ".htm": "html", ".md": "md", ".json": "json"}


def report(
    since: SinceOption = None,
    until: UntilOption = None,
    collection: CollectionOption = None,
    lang: Annotated[str, typer.Option("--lang", metavar="fr|en", help="Language; default rag.language.")] = "",
    form: Annotated[
        str | None,
        typer.Option(
            "--format", metavar="FORMS", help="html, md, json, or several: html,md. Default: from the file's extension."
        ),
    ] = None,
    output: Annotated[
        str | None,
        typer.Option("--output", metavar="DIR|FILE", help="Output file, or a folder for gate-report.html. Default: the screen."),
    ] = None,
    config: ConfigOption = None,
    ledger: LedgerOption = None,
) -> None:
    """Write a report on the gate's decisions and their reasons.

    The report shows rates with confidence intervals, reasons, histograms, labels, collections, latency and the answers to review.
    """
    settings = find_config(config, ledger)
    scope = scope_of(since, until, collection)
    places = _places_of(_forms_of(form, output), output)
    spoken = _language_of(lang, settings)
    storage = settings.storage
    with open_ledger(settings, advice=NO_ANSWERS) as opened:
        pace = Pace("report", Traces(opened).count(scope))
        figures = gather(
            opened,
            scope,
            language=spoken,
            policy=storage.export_text,
            max_chars=storage.max_chars,
            now=datetime.now(UTC),
            place=named_place(config, ledger),
            moved=pace.moved,
        )
        pace.finish()
    made = gate_report(figures)
    for chosen, place in places:
        if place is None:
            typer.echo(render(made, chosen), nl=False)
            continue
        write_report(made, chosen, place)
        typer.echo(f"written to {place}", err=True)


def named_place(config: Path | None, ledger: str | None) -> list[str]:
    """The ledger options to print in a report, without a password."""
    named = ["--config", str(config)] if config is not None else []
    if ledger is None:
        return named
    return [*named, "--ledger", shown(url_of(ledger)) if "://" in ledger else ledger]


def _forms_of(named: str | None, output: str | None) -> list[Form]:
    """The requested formats, else the format of the file's extension, else Markdown.

    Raises:
        UserError: there is no such form.
    """
    if named is None:
        if output in (None, STDOUT):
            return ["md"]
        return ["html"] if _is_folder(output or "") else [SUFFIXES.get(Path(output or "").suffix.lower(), "md")]
    found: list[Form] = []
    for part in named.split(","):
        known = next((form for form in FORMS if form == part.strip()), None)
        if known is None:
            raise UserError(f"--format {named!r}: use html, md, json, or several separated by commas")
        found += [known] if known not in found else []
    return found


def _places_of(forms: list[Form], output: str | None) -> list[tuple[Form, Path | None]]:
    """The output path of each format; None is the screen.

    Raises:
        UserError: several forms for one place.
        StorageError: the folder cannot be made.
    """
    if output is not None and output != STDOUT and _is_folder(output):
        folder = Path(output)
        make_folder(folder)
        return [(form, folder / file_name(form)) for form in forms]
    if len(forms) > 1:
        raise UserError("several formats need a folder: give --output DIR/")
    return [(forms[0], None if output in (None, STDOUT) else Path(output or ""))]


def _is_folder(output: str) -> bool:
    """Whether an output path means a folder."""
    path = Path(output)
    return path.is_dir() or output.endswith(("/", "\\")) or (not path.suffix and not path.exists())


def _language_of(named: str, config: AppConfig) -> str:
    """The requested language, else the pipeline's.

    Raises:
        UserError: reports are not written in it.
    """
    if named and named not in LANGUAGES:
        raise UserError(f"--lang {named!r}: use one of {', '.join(LANGUAGES)}")
    return named or config.rag.section.language


def scope_of(since: str | None, until: str | None, collection: str | None) -> TraceFilter:
    """The filter of the requested period and collection.

    Raises:
        UserError: a day is invalid, or the last day is before the first.
    """
    first, last = midnight_of("--since", since), midnight_of("--until", until)
    if first is not None and last is not None and last < first:
        raise UserError(f"--until {until} is before --since {since}")
    return TraceFilter(since=first, until=None if last is None else last + timedelta(days=1), collection=collection)


def tell_reduced_texts(config: AppConfig) -> None:
    """Warn that the ledger stores reduced texts, if the policy says so."""
    if config.storage.text != "full":
        tell("areopage: the ledger stores reduced texts (storage.text): scores can differ from those in production")
