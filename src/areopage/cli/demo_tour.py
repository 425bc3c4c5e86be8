"""Command `areopage demo`: recorded answers and verdicts through the exact pipeline, in seconds, without a server or a key."""

import asyncio
import logging
from pathlib import Path
from typing import Annotated

import typer

from areopage.cli.options import one_of
from areopage.demo import console_lines, local_servers, own_command, play, read_material, tour_locale, tour_page
from areopage.locales import LANGUAGES
from areopage.report import write_report

PAGE = "index.html"


def tour(
    folder: Annotated[
        Path, typer.Option("--folder", metavar="DIR", help="New folder for pages, suites, recordings and ledger.")
    ] = Path("areopage-demo"),
    lang: Annotated[str, typer.Option("--lang", metavar="en|fr", help="Language of all of it.")] = "en",
    detect: Annotated[
        bool, typer.Option("--detect", help="Look for model servers on this computer, for the command that comes next.")
    ] = False,
) -> None:
    """Replay a benchmark of two versions, their comparison, a day in production and the gate. Writes one page about it.

    A language model wrote the answers and verdicts for the demonstration. No model is called.
    """
    language = one_of("--lang", lang, LANGUAGES)
    locale = tour_locale(language)

    def tell(step: str) -> None:
        typer.echo(f"- {locale.say(f'tour_step_{step}', cases=locale.whole(len(read_material(language).cases)))}", err=True)

    logging.getLogger("areopage.monitor").setLevel(logging.ERROR)  # the alerts of the day stand on the pages
    shown = play(folder, language, tell)
    servers = asyncio.run(local_servers()) if detect else None
    write_report(tour_page(shown, servers), "html", folder / PAGE)
    for text in console_lines(shown):
        typer.echo(text)
    typer.echo(locale.say("tour_done", seconds=locale.number(shown.seconds, 1), page=folder / PAGE))
    typer.echo(locale.say("tour_then", command=own_command(servers[0] if servers else None)))
