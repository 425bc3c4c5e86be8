"""`areopage monitor report`: how good the answers were over some days."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from areopage.app.config import find_config
from areopage.app.ledger import open_ledger
from areopage.cli.options import STDOUT, ConfigOption, day_of, tell
from areopage.errors import UserError
from areopage.locales import LANGUAGES
from areopage.report.monitor import file_name, quality_report
from areopage.report.monitor_figures import gather, last_days
from areopage.report.render import FORMS, Form, render, write_report

SUFFIXES: dict[str, Form] = {".html": "html", ".htm": "html", ".md": "md", ".json": "json"}


def report(
    config: ConfigOption = None,
    days: Annotated[int, typer.Option("--days", min=1, max=3660, metavar="N", help="How many days, the last one included.")] = 7,
    until: Annotated[str | None, typer.Option("--until", metavar="DATE", help="The last day (UTC); default today.")] = None,
    lang: Annotated[str, typer.Option("--lang", metavar="fr|en", help="Language; default the configuration's.")] = "",
    form: Annotated[
        str | None, typer.Option("--format", metavar="html|md|json", help="Default: by --out's ending, else md.")
    ] = None,
    out: Annotated[
        str | None,
        typer.Option(
            "--out", metavar="FILE", help="Where to; - is the screen, the default of md and json. html: quality-report-DATE.html."
        ),
    ] = None,
    source: Annotated[str | None, typer.Option("--source", metavar="NAME", help="Only answers of this source.")] = None,
    variant: Annotated[str | None, typer.Option("--variant", metavar="NAME", help="Only answers of this variant.")] = None,
) -> None:
    """Write a quality report on the answers of a period.

    It has means with their certainty, grades, trend, change, the weakest answers, the judges' health and the cost.
    """
    now = datetime.now(UTC)
    last = day_of("--until", until) if until else now.date()
    chosen = _form_of(form, out)
    found = find_config(config)
    with open_ledger(found, or_empty=tell) as ledger:
        figures = gather(
            ledger, found.monitor, last_days(days, last), now=now, language=_language_of(lang), source=source, variant=variant
        )
    made = quality_report(figures)
    place = out or (file_name(last, chosen) if chosen == "html" else STDOUT)
    if place == STDOUT:
        typer.echo(render(made, chosen), nl=False)
        return
    write_report(made, chosen, Path(place))
    typer.echo(f"written to {place}", err=True)


def _form_of(form: str | None, out: str | None) -> Form:
    """The form that is named, else the one of the file's ending, else Markdown.

    Raises:
        UserError: there is no such form.
    """
    if form is None:
        return SUFFIXES.get(Path(out).suffix.lower(), "md") if out else "md"
    for known in FORMS:
        if form == known:
            return known
    raise UserError(f"--format {form!r}: use one of {', '.join(FORMS)}")


def _language_of(named: str) -> str:
    """The language that is named.

    Raises:
        UserError: reports are not written in it.
    """
    if named and named not in LANGUAGES:
        raise UserError(f"--lang {named!r}: use one of {', '.join(LANGUAGES)}")
    return named
