"""Command group `areopage review`."""

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from areopage.app.config import AppConfig, find_config
from areopage.app.ledger import open_ledger
from areopage.app.monitor import fill_settings
from areopage.cases.loader import write_rejected
from areopage.cli.options import ConfigOption, read_text_file
from areopage.cli.review_show import print_answer, print_comparison, print_queue, still_waits
from areopage.errors import UserError
from areopage.ledger.labels import ReviewQueue
from areopage.review.fill import fill_queue
from areopage.review.import_ratings import import_ratings
from areopage.review.label import Given, Settlement, Storage, review_answer
from areopage.review.rubric import Rubric, rubric_of
from areopage.suites.loader import load_suite

REJECTED = 1
SHOWN_REJECTED = 20
MAX_BYTES = 1_000_000

IdArgument = Annotated[str, typer.Argument(metavar="ID", help="Id of the answer.")]
RaterOption = Annotated[str | None, typer.Option("--rater", metavar="NAME", help="Name of the reviewer.")]
RevealOption = Annotated[bool, typer.Option("--reveal", help="Show scores of the judge and of other reviewers before you label.")]
SuiteOption = Annotated[
    str | None, typer.Option("--suite", metavar="NAME|FOLDER", help="Suite whose criteria are scored; default: the monitor's.")
]


def list_items(
    config: ConfigOption = None,
    rater: RaterOption = None,
    limit: Annotated[int, typer.Option("--limit", min=1, max=1000, help="Maximum number of answers.")] = 50,
    reveal: RevealOption = False,
) -> None:
    """List the held answers and those that need a label; with --rater only those without a label by this reviewer."""

    settings = find_config(config)
    with open_ledger(settings) as ledger:
        print_queue(ledger, rater, limit, reveal=reveal)


def show(
    id: IdArgument,
    config: ConfigOption = None,
    rater: RaterOption = None,
    reveal: RevealOption = False,
    suite: SuiteOption = None,
) -> None:
    """Show an answer for labelling; the judge's scores appear after your label, or with --reveal.

    For an answer of the gate, the sentences are numbered and the reasons are shown.
    """

    settings = find_config(config)
    with open_ledger(settings) as ledger:
        print_answer(ledger, _rubric_of_config(settings, suite), id, rater, reveal=reveal)


def label(
    id: IdArgument,
    rater: Annotated[str, typer.Option("--rater", metavar="NAME", help="Name of the reviewer.")],
    score: Annotated[
        list[str] | None,
        typer.Option("--score", metavar="CRITERION=SCORE", help="A score (repeatable); `global` is the overall score."),
    ] = None,
    grounded: Annotated[
        str, typer.Option("--grounded", metavar="yes|partly|no", help="Whether the documents support the answer.")
    ] = "",
    sentence: Annotated[
        list[int] | None,
        typer.Option("--sentence", metavar="N", help="Number of an unsupported sentence, as in `review show` (repeatable)."),
    ] = None,
    note: Annotated[str, typer.Option("--note", metavar="TEXT", help="Reason.")] = "",
    release: Annotated[bool, typer.Option("--release", help="Release the held answer as it is.")] = False,
    release_text: Annotated[
        Path | None, typer.Option("--release-text", metavar="FILE", help="Release the text of this file instead.")
    ] = None,
    refuse: Annotated[bool, typer.Option("--refuse", help="Reject the answer: the user gets no answer.")] = False,
    suite: SuiteOption = None,
    config: ConfigOption = None,
) -> None:
    """Label an answer: scores, or whether its documents support it.

    areopage review label ID --rater NAME --score exactitude=7 --score global=6 --note "..."

    For an answer held by the gate, state whether it is grounded and release or reject it: --grounded yes --release.
    """
    given = Given(
        scores=_scores_of_options(score or ()),
        grounded=grounded,
        sentences=[number - 1 for number in sentence or ()],
        note=note,
        settlement=_settlement_of(release, release_text, refuse),
    )
    settings = find_config(config)
    kept, rubric = settings.storage, _rubric_of_config(settings, suite)
    storage = Storage(policy=kept.text, max_chars=kept.max_chars)
    with open_ledger(settings) as ledger:
        done = review_answer(ledger, id, rater, given, origin="cli", now=datetime.now(UTC), rubric=rubric, storage=storage)
        scores = len(done.labels) - bool(grounded)
        said = ([f"{scores} scores"] if scores else []) + ([f"grounded: {grounded},"] if grounded else [])
        by = " ".join([*said, "by", " ".join(rater.split())])
        equal = f" and {done.settled - 1} equal ones" if done.settled > 1 else ""
        typer.echo(f"{done.release.state if done.release else 'labelled'}: {id}{equal} ({by}){still_waits(ledger, id)}")
        if scores:
            print_comparison(ledger, rubric, id)


def fill(config: ConfigOption = None) -> None:
    """Queue answers for review: alerts, weak, disputed and unscored answers, and a random sample."""
    settings = find_config(config)
    with open_ledger(settings) as ledger:
        added = fill_queue(ledger, fill_settings(settings.monitor), datetime.now(UTC))
        parts = (
            f"{added.sample} at random, {added.alert} with an alert, {added.low_score} weak, "
            f"{added.disagreement} disputed, {added.unscored} without a score"
        )
        typer.echo(f"added: {added.total} ({parts}); waiting: {ReviewQueue(ledger).count_open()}")


def import_file(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A table: id, rater, a column per criterion, note.")],
    config: ConfigOption = None,
    rater: Annotated[str | None, typer.Option("--rater", metavar="NAME", help="Reviewer of rows without a rater.")] = None,
    rejected: Annotated[Path | None, typer.Option("--rejected", metavar="FILE", help="Write rejected rows to FILE.")] = None,
    suite: SuiteOption = None,
) -> None:
    """Import labels from a table (CSV, XLSX, JSON Lines); list unusable rows (exit code 1).

    A second import of a file adds no duplicates.
    """
    settings = find_config(config)
    with open_ledger(settings) as ledger:
        found = import_ratings(ledger, _rubric_of_config(settings, suite), file, rater, datetime.now(UTC))
    typer.echo(f"labels: {found.labels} new, {found.known} already known, on {found.answers} answers")
    if found.unread_columns:
        typer.echo(f"note: ignored columns without a criterion: {', '.join(found.unread_columns)}", err=True)
    if not found.rejected:
        return
    typer.echo(f"rejected: {len(found.rejected)} rows", err=True)
    for row in found.rejected[:SHOWN_REJECTED]:
        typer.echo(f"  row {row.row}: {row.reason}", err=True)
    if rejected is not None:
        write_rejected(found.rejected, rejected)
        typer.echo(f"written: {rejected}", err=True)
    elif len(found.rejected) > SHOWN_REJECTED:
        typer.echo(f"  and {len(found.rejected) - SHOWN_REJECTED} more: --rejected FILE writes them all", err=True)
    raise typer.Exit(REJECTED)


def _rubric_of_config(config: AppConfig, suite: str | None = None) -> Rubric:
    """The criteria of a suite, by default the monitor's."""

    return rubric_of(load_suite(suite) if suite else config.monitor.load_suite())


def _scores_of_options(pairs: Sequence[str]) -> dict[str, str]:
    """Parse CRITERION=SCORE options.

    Raises:
        UserError: an option is not a pair, or a criterion is repeated.
    """

    scores: dict[str, str] = {}
    for pair in pairs:
        name, sign, text = pair.rpartition("=")
        if not sign or not name.strip() or name in scores:
            raise UserError(f"--score {pair!r}: give CRITERION=SCORE, each criterion once")
        scores[name] = text
    return scores


def _settlement_of(release: bool, release_text: Path | None, refuse: bool) -> Settlement | None:
    """The settlement requested by the options, if any.

    Raises:
        UserError: the options contradict each other, or the file cannot be used.
    """

    if release + (release_text is not None) + refuse > 1:
        raise UserError("give one of --release, --release-text FILE and --refuse")
    if refuse:
        return Settlement(state="refused")
    if release_text is not None:
        text = read_text_file(release_text, MAX_BYTES, "the text to release")
        return Settlement(state="released", text=text)
    return Settlement(state="released") if release else None
