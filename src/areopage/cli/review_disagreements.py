"""`areopage review disagreements`, `adjudicate` and `progress`: where reviewers disagree, and how far the review is."""

from datetime import UTC, datetime
from typing import Annotated

import msgspec
import typer

from areopage.app import find_config, open_ledger, review_disagreements
from areopage.cli.options import ConfigOption, LedgerOption, actor
from areopage.cli.review import (
    CorrectionOption,
    GroundedOption,
    IdArgument,
    NoteOption,
    RaterOption,
    ScoreOption,
    SuiteOption,
    rubric_of,
    scores_of_options,
)
from areopage.errors import counted
from areopage.locales import one_line
from areopage.report import table
from areopage.review import Given, review_answer

JsonOption = Annotated[bool, typer.Option("--json", help="Print all as JSON.")]


def disagreements(
    config: ConfigOption = None, rater: RaterOption = None, as_json: JsonOption = False, ledger: LedgerOption = None
) -> None:
    """List the answers on which reviewers disagree, with their labels.

    An answer is listed once it has as many labels as are wanted. A reviewer who reads the list should not label these answers
    afterwards: with --rater, later labels of this reviewer are not blind.
    """
    settings = find_config(config, ledger)
    with open_ledger(settings) as opened:
        store = review_disagreements(opened, settings.monitor)
        listed = store.said(store.open())
        ids = [answer.answer_id for answer in listed]
        opened.audit.note(actor(), "read", "", f"the labels of {len(ids)} answers on which reviewers disagree")
        if rater is not None:
            opened.audit.note_labels_seen(" ".join(rater.split()), ids)
    if as_json:
        typer.echo(msgspec.json.encode(listed).decode())
        return
    if not listed:
        typer.echo("no reviewers disagree")
        return
    rows = [["id", "criterion", "labels"]]
    for answer in listed:
        for criterion, labels in answer.criteria.items():
            said = [f"{one_line(label.rater, 40)} {label.grounded or f'{label.score:g}'}" for label in labels]
            rows.append([one_line(answer.answer_id, 128), criterion or "global", ", ".join(said)])
    typer.echo("\n".join(table(rows)))


def adjudicate(
    id: IdArgument,
    rater: Annotated[str, typer.Option("--rater", metavar="NAME", help="Name of the person who adjudicates.")],
    score: ScoreOption = None,
    grounded: GroundedOption = "",
    note: NoteOption = "",
    correction: CorrectionOption = "",
    suite: SuiteOption = None,
    config: ConfigOption = None,
    ledger: LedgerOption = None,
) -> None:
    """Adjudicate between reviewers who disagree on an answer: this label counts in place of theirs, which stay in the ledger.

    A third person adjudicates, or one of the reviewers after they have talked.
    """
    settings = find_config(config, ledger)
    said = Given(scores=scores_of_options(score or ()), grounded=grounded, note=note, correction=correction, adjudicates=True)
    with open_ledger(settings) as opened:
        rubric, now = rubric_of(settings, opened, id, suite), datetime.now(UTC)
        labels = review_answer(opened, id, rater, said, origin="cli", now=now, rubric=rubric).labels
    view = "" if labels[0].blind else " (given with the scores in view: it does not measure the judges)"
    typer.echo(f"adjudicated: {id} ({counted(len(labels), 'criterion', 'criteria')} by {labels[0].rater}){view}")


def progress(config: ConfigOption = None, as_json: JsonOption = False, ledger: LedgerOption = None) -> None:
    """Tell how many answers are labelled, by whom, and on how many reviewers agree."""
    settings = find_config(config, ledger)
    with open_ledger(settings) as opened:
        figures = review_disagreements(opened, settings.monitor).progress()
    if as_json:
        typer.echo(msgspec.json.encode(figures).decode())
        return
    typer.echo(f"done: {figures.done} of {counted(figures.done + figures.open, 'answer')} in the queue")
    for name, answers in figures.raters.items():
        typer.echo(f"  {one_line(name, 40)}: {counted(answers, 'answer')} labelled")
    if figures.compared:
        typer.echo(
            f"labelled by several: {figures.compared}; they agree on {figures.agree}, disagree on {figures.disagree} "
            f"(areopage review disagreements), and {figures.adjudicated} are adjudicated"
        )
