"""`areopage gate report`: what became of the answers, and why."""

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from areopage.cli.gate_options import (
    CollectionOption,
    LedgerOption,
    SinceOption,
    UntilOption,
    gate_ledger,
    gate_settings,
    scope_of,
)
from areopage.cli.rag_options import RagOption

if TYPE_CHECKING:
    from areopage.report.render import Form

STDOUT = "-"
SUFFIXES: "dict[str, Form]" = {".html": "html", ".htm": "html", ".md": "md", ".json": "json"}


def report(
    since: SinceOption = None,
    until: UntilOption = None,
    collection: CollectionOption = None,
    lang: Annotated[str, typer.Option("--lang", metavar="fr|en", help="Language; default rag.yml's.")] = "",
    form: Annotated[
        str | None,
        typer.Option("--format", metavar="FORMS", help="html, md, json, or several: html,md. Default: by the file's ending."),
    ] = None,
    output: Annotated[
        str | None,
        typer.Option("--output", metavar="DIR|FILE", help="Where to; a folder gets gate-report.html. Default: the screen."),
    ] = None,
    rag: RagOption = None,
    ledger: LedgerOption = None,
) -> None:
    """Write a report: rates with their certainty, reasons, histograms, labels, collections, latency, the answers to look at."""
    from areopage.cli.pace import Pace
    from areopage.ledger.exchanges import Exchanges
    from areopage.report.gate import gate_report
    from areopage.report.gate_figures import gather
    from areopage.report.render import render, write_report

    settings = gate_settings(rag, ledger)
    scope = scope_of(since, until, collection)
    places = places_of(forms_of(form, output), output)
    spoken = language_of(lang, rag)
    storage = settings.section.storage
    with gate_ledger(settings) as opened:
        pace = Pace("report", Exchanges(opened).count(scope))
        figures = gather(
            opened,
            scope,
            language=spoken,
            policy=storage.export_text,
            max_chars=storage.max_chars,
            now=datetime.now(UTC),
            place=named_place(rag, ledger),
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


def named_place(rag: Path | None, ledger: str | None) -> list[str]:
    """The options that were given for the ledger, as a report may repeat them: without a password."""
    from areopage.ledger.connection import shown, url_of

    named = ["--rag", str(rag)] if rag is not None else []
    if ledger is None:
        return named
    return [*named, "--ledger", shown(url_of(ledger)) if "://" in ledger else ledger]


def forms_of(named: str | None, output: str | None) -> "list[Form]":
    """The forms that are named, else that of the file's ending, else Markdown (HTML for a folder).

    Raises:
        UserError: there is no such form.
    """
    from areopage.errors import UserError
    from areopage.report.render import FORMS

    if named is None:
        if output in (None, STDOUT):
            return ["md"]
        return ["html"] if is_folder(output or "") else [SUFFIXES.get(Path(output or "").suffix.lower(), "md")]
    found: list[Form] = []
    for part in named.split(","):
        known = next((form for form in FORMS if form == part.strip()), None)
        if known is None:
            raise UserError(f"--format {named!r}: use html, md, json, or several with commas between them")
        found += [known] if known not in found else []
    return found


def places_of(forms: "list[Form]", output: str | None) -> "list[tuple[Form, Path | None]]":
    """Where each form goes; None is the screen.

    Raises:
        UserError: several forms for one place.
        StorageError: the folder cannot be made.
    """
    from areopage.errors import UserError
    from areopage.ledger.connection import make_folder
    from areopage.report.gate import file_name

    if output is not None and output != STDOUT and is_folder(output):
        folder = Path(output)
        make_folder(folder)
        return [(form, folder / file_name(form)) for form in forms]
    if len(forms) > 1:
        raise UserError("several forms go to a folder: give --output DIR/")
    return [(forms[0], None if output in (None, STDOUT) else Path(output or ""))]


def is_folder(output: str) -> bool:
    """Whether a place is a folder: one that is there, or a name that ends as folders do and as no report does."""
    path = Path(output)
    return path.is_dir() or output.endswith(("/", "\\")) or (not path.suffix and not path.exists())


def language_of(named: str, rag: Path | None) -> str:
    """The language that is named, else the pipeline's.

    Raises:
        UserError: reports are not written in it.
    """
    from areopage.cli.rag_options import rag_config
    from areopage.errors import UserError
    from areopage.locales import LANGUAGES

    if named and named not in LANGUAGES:
        raise UserError(f"--lang {named!r}: use one of {', '.join(LANGUAGES)}")
    return named or rag_config(rag).section.language
