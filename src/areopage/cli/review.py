"""`areopage review`: list, show, label, verdict, fill, import."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from areopage.cli.monitor_options import ConfigOption, monitor_ledger
from areopage.cli.rag_options import one_ledger_config
from areopage.cli.review_held import verdict

if TYPE_CHECKING:
    from areopage.monitor.config import MonitorConfig
    from areopage.review.rubric import Rubric

app = typer.Typer(help="People's labels of answers: a queue, and how to give them.", no_args_is_help=True)

REJECTED = 1
SHOWN_REJECTED = 20

app.command("verdict")(verdict)

IdArgument = Annotated[str, typer.Argument(metavar="ID", help="The id of the answer.")]
RaterOption = Annotated[str | None, typer.Option("--rater", metavar="NAME", help="Who labels.")]
RevealOption = Annotated[bool, typer.Option("--reveal", help="Show what the judge and others say, before a label is given.")]


@app.command("list")
def list_items(
    config: ConfigOption = None,
    rater: RaterOption = None,
    limit: Annotated[int, typer.Option("--limit", min=1, max=1000, help="How many.")] = 50,
    reveal: RevealOption = False,
) -> None:
    """List the answers that wait for a label, or were held back; with --rater only those that he has not labelled yet."""
    from areopage.cli.review_show import print_queue

    settings = one_ledger_config(config)
    with monitor_ledger(settings) as ledger:
        print_queue(ledger, rater, limit, reveal=reveal)


@app.command()
def show(id: IdArgument, config: ConfigOption = None, rater: RaterOption = None, reveal: RevealOption = False) -> None:
    """Show an answer to somebody who will label it; with what the judge says once he has, or with --reveal.

    Of an answer that the gate has seen, its sentences are numbered, and the reasons told.
    """
    from areopage.cli.review_held import print_exchange
    from areopage.cli.review_show import print_answer
    from areopage.ledger.exchange_rows import HELD
    from areopage.ledger.exchanges import Exchanges
    from areopage.ledger.labels import ReviewQueue

    settings = one_ledger_config(config)
    with monitor_ledger(settings) as ledger:
        exchange, item = Exchanges(ledger).get(id), ReviewQueue(ledger).item(id)
        # a client may have handed an answer of the gate over for evaluation too, under the same id
        if exchange is not None and not exchange.erased and (item is None or item.why == HELD):
            print_exchange(ledger, exchange)
            return
        print_answer(ledger, rubric_of_config(settings), id, rater, reveal=reveal)


@app.command()
def label(
    id: IdArgument,
    rater: Annotated[str, typer.Option("--rater", metavar="NAME", help="Who labels.")],
    score: Annotated[
        list[str], typer.Option("--score", metavar="CRITERION=SCORE", help="A score; the criterion `global` is the overall one.")
    ],
    note: Annotated[str, typer.Option("--note", metavar="TEXT", help="Why.")] = "",
    config: ConfigOption = None,
) -> None:
    """Label an answer: areopage review label ID --rater NAME --score exactitude=7 --score global=6 --note "..."."""
    from datetime import UTC, datetime

    from areopage.cli.review_show import print_comparison
    from areopage.errors import UserError
    from areopage.review.label import label_answer

    scores: dict[str, str] = {}
    for pair in score:
        name, sign, text = pair.rpartition("=")
        if not sign or not name.strip() or name in scores:
            raise UserError(f"--score {pair!r}: give CRITERION=SCORE, each criterion once")
        scores[name] = text
    settings = one_ledger_config(config)
    rubric = rubric_of_config(settings)
    with monitor_ledger(settings) as ledger:
        given = label_answer(ledger, rubric, id, rater, scores, note, "cli", datetime.now(UTC))
        typer.echo(f"labelled: {id} ({len(given)} scores by {given[0].rater})")
        print_comparison(ledger, rubric, id)


@app.command()
def fill(config: ConfigOption = None) -> None:
    """Queue what should be looked at: alerts, weak and disputed answers, answers without a score, and a random sample."""
    from datetime import UTC, datetime

    from areopage.cli.review_duty import fill_settings
    from areopage.ledger.labels import ReviewQueue
    from areopage.review.fill import fill_queue

    settings = one_ledger_config(config)
    with monitor_ledger(settings) as ledger:
        added = fill_queue(ledger, fill_settings(settings), datetime.now(UTC))
        parts = (
            f"{added.sample} drawn at random, {added.alert} alerted on, {added.low_score} weak, "
            f"{added.disagreement} disputed, {added.unscored} without a score"
        )
        typer.echo(f"added: {added.total} ({parts}); waiting: {ReviewQueue(ledger).count_open()}")


@app.command("import")
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
    from datetime import UTC, datetime

    from areopage.cases.loader import write_rejected
    from areopage.review.import_ratings import import_ratings

    settings = one_ledger_config(config)
    with monitor_ledger(settings) as ledger:
        found = import_ratings(ledger, rubric_of_config(settings), file, rater, datetime.now(UTC))
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


def rubric_of_config(config: "MonitorConfig") -> "Rubric":
    """The criteria of the monitor's suite."""
    from areopage.review.rubric import rubric_of
    from areopage.suites.loader import load_suite

    return rubric_of(load_suite(config.suite))
