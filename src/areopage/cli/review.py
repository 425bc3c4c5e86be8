"""`areopage review`: list, show, label, verdict, fill, import."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from areopage.app.config import find_config
from areopage.app.ledger import open_ledger
from areopage.app.monitor import fill_settings
from areopage.cases.loader import write_rejected
from areopage.cli.options import ConfigOption, read_text_file
from areopage.cli.review_show import print_answer, print_comparison, print_exchange, print_queue
from areopage.errors import UserError
from areopage.ledger.exchange_rows import HELD
from areopage.ledger.exchanges import Exchanges
from areopage.ledger.people import ReviewQueue
from areopage.ledger.store import Ledger
from areopage.review.fill import fill_queue
from areopage.review.grounding import Settlement, Storage, label_exchange, review_exchange
from areopage.review.import_ratings import import_ratings
from areopage.review.label import label_answer
from areopage.review.rubric import rubric_of

REJECTED = 1
SHOWN_REJECTED = 20

IdArgument = Annotated[str, typer.Argument(metavar="ID", help="The id of the answer.")]
RaterOption = Annotated[str | None, typer.Option("--rater", metavar="NAME", help="Who labels.")]
RevealOption = Annotated[bool, typer.Option("--reveal", help="Show what the judge and others say, before a label is given.")]


def list_items(
    config: ConfigOption = None,
    rater: RaterOption = None,
    limit: Annotated[int, typer.Option("--limit", min=1, max=1000, help="How many.")] = 50,
    reveal: RevealOption = False,
) -> None:
    """List the answers that wait for a label, or were held back; with --rater only those that he has not labelled yet."""
    settings = find_config(config)
    with open_ledger(settings) as ledger:
        print_queue(ledger, rater, limit, reveal=reveal)


def show(id: IdArgument, config: ConfigOption = None, rater: RaterOption = None, reveal: RevealOption = False) -> None:
    """Show an answer to somebody who will label it; with what the judge says once he has, or with --reveal.

    Of an answer that the gate has seen, its sentences are numbered, and the reasons told.
    """
    settings = find_config(config)
    with open_ledger(settings) as ledger:
        exchange, item = Exchanges(ledger).get(id), ReviewQueue(ledger).item(id)
        # a client may have handed an answer of the gate over for evaluation too, under the same id
        if exchange is not None and not exchange.erased and (item is None or item.why == HELD):
            print_exchange(ledger, exchange)
            return
        print_answer(ledger, rubric_of(settings.monitor.load_suite()), id, rater, reveal=reveal)


def label(
    id: IdArgument,
    rater: Annotated[str, typer.Option("--rater", metavar="NAME", help="Who labels.")],
    score: Annotated[
        list[str], typer.Option("--score", metavar="CRITERION=SCORE", help="A score; the criterion `global` is the overall one.")
    ],
    note: Annotated[str, typer.Option("--note", metavar="TEXT", help="Why.")] = "",
    config: ConfigOption = None,
) -> None:
    """Label an answer with scores: areopage review label ID --rater NAME --score exactitude=7 --score global=6 --note "..."."""
    scores: dict[str, str] = {}
    for pair in score:
        name, sign, text = pair.rpartition("=")
        if not sign or not name.strip() or name in scores:
            raise UserError(f"--score {pair!r}: give CRITERION=SCORE, each criterion once")
        scores[name] = text
    settings = find_config(config)
    rubric = rubric_of(settings.monitor.load_suite())
    with open_ledger(settings) as ledger:
        given = label_answer(ledger, rubric, id, rater, scores, note, "cli", datetime.now(UTC))
        typer.echo(f"labelled: {id} ({len(given)} scores by {given[0].rater})")
        print_comparison(ledger, rubric, id)


def fill(config: ConfigOption = None) -> None:
    """Queue what should be looked at: alerts, weak and disputed answers, answers without a score, and a random sample."""
    settings = find_config(config)
    with open_ledger(settings) as ledger:
        added = fill_queue(ledger, fill_settings(settings.monitor), datetime.now(UTC))
        parts = (
            f"{added.sample} drawn at random, {added.alert} alerted on, {added.low_score} weak, "
            f"{added.disagreement} disputed, {added.unscored} without a score"
        )
        typer.echo(f"added: {added.total} ({parts}); waiting: {ReviewQueue(ledger).count_open()}")


def import_file(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A table: id, rater, a column per criterion, note.")],
    config: ConfigOption = None,
    rater: Annotated[str | None, typer.Option("--rater", metavar="NAME", help="Who rated rows that name nobody.")] = None,
    rejected: Annotated[
        Path | None, typer.Option("--rejected", metavar="FILE", help="Where rows go that were not taken.")
    ] = None,
) -> None:
    """Take labels from a table (CSV, XLSX, JSON Lines). Rows that cannot be used are listed (exit code 1).

    Importing a file again adds nothing twice.
    """
    settings = find_config(config)
    with open_ledger(settings) as ledger:
        found = import_ratings(ledger, rubric_of(settings.monitor.load_suite()), file, rater, datetime.now(UTC))
    typer.echo(f"labels: {found.labels} new, {found.known} known already, of {found.answers} answers")
    if found.unread_columns:
        typer.echo(f"note: no criterion is called {', '.join(found.unread_columns)}: these columns were not read", err=True)
    if not found.rejected:
        return
    typer.echo(f"not taken: {len(found.rejected)} rows", err=True)
    for row in found.rejected[:SHOWN_REJECTED]:
        typer.echo(f"  row {row.row}: {row.reason}", err=True)
    if rejected is not None:
        write_rejected(found.rejected, rejected)
        typer.echo(f"written: {rejected}", err=True)
    elif len(found.rejected) > SHOWN_REJECTED:
        typer.echo(f"  and {len(found.rejected) - SHOWN_REJECTED} more: --rejected FILE writes them all", err=True)
    raise typer.Exit(REJECTED)


MAX_BYTES = 1_000_000


def verdict(
    id: Annotated[str, typer.Argument(metavar="ID", help="The id of an answer that the gate has seen.")],
    rater: Annotated[str, typer.Option("--rater", metavar="NAME", help="Who labels.")],
    grounded: Annotated[
        str, typer.Option("--grounded", metavar="yes|partly|no", help="Whether its documents say what the answer says.")
    ],
    sentence: Annotated[
        list[int] | None,
        typer.Option(
            "--sentence", metavar="N", help="A sentence that no document supports, as `review show` counts (repeatable)."
        ),
    ] = None,
    note: Annotated[str, typer.Option("--note", metavar="TEXT", help="Why.")] = "",
    release: Annotated[bool, typer.Option("--release", help="Let the answer that was held back go out as it is.")] = False,
    release_text: Annotated[
        Path | None, typer.Option("--release-text", metavar="FILE", help="Let the text of this file go out in its place.")
    ] = None,
    refuse: Annotated[bool, typer.Option("--refuse", help="Tell whoever asked that there will be no answer.")] = False,
    config: ConfigOption = None,
) -> None:
    """Say whether an answer is grounded, and what becomes of it: review verdict ID --rater NAME --grounded yes --release."""
    settlement = settlement_of(release, release_text, refuse)
    marked = [number - 1 for number in sentence or ()]
    settings, now = find_config(config), datetime.now(UTC)
    kept = settings.storage
    with open_ledger(settings) as ledger:
        if settlement is None:
            label = label_exchange(ledger, id, rater, grounded, sentences=marked, note=note, origin="cli", now=now)
            typer.echo(f"labelled: {id} (grounded: {label.grounded}, by {label.rater}){still_waits(ledger, id)}")
            return
        storage = Storage(policy=kept.text, max_chars=kept.max_chars)
        label, settled = review_exchange(
            ledger, id, rater, grounded, settlement, sentences=marked, note=note, origin="cli", now=now, storage=storage
        )
    equal = f" and {settled.answers - 1} equal ones" if settled.answers > 1 else ""
    typer.echo(f"{settled.release.state}: {id}{equal} (grounded: {label.grounded}, by {label.rater})")


def settlement_of(release: bool, release_text: Path | None, refuse: bool) -> Settlement | None:
    """What is to become of the answer; None where nobody says.

    Raises:
        UserError: the options contradict each other, or the file cannot be used.
    """
    if release + (release_text is not None) + refuse > 1:
        raise UserError("give one of --release, --release-text FILE and --refuse")
    if refuse:
        return Settlement(state="refused")
    if release_text is not None:
        text = read_text_file(release_text, MAX_BYTES, "the text that is to go out")
        return Settlement(state="released", text=text)
    return Settlement(state="released") if release else None


def still_waits(ledger: Ledger, id: str) -> str:
    """A reminder that whoever asked still has no answer."""
    release = Exchanges(ledger).release(id)
    waits = release is not None and release.state == "waiting"
    return "; it still waits: --release, --release-text FILE or --refuse settles it" if waits else ""
