"""What `areopage review` prints."""

import typer

from areopage.errors import UserError
from areopage.ledger.exchange_rows import HELD
from areopage.ledger.exchanges import Exchanges
from areopage.ledger.people import Labels, ReviewQueue
from areopage.ledger.quality import QualityScores
from areopage.ledger.quality_records import ReviewItem
from areopage.ledger.store import Ledger
from areopage.ledger.submissions import Submissions
from areopage.locales import one_line
from areopage.report.agreement import table
from areopage.review.rubric import OVERALL, Rubric

QUESTION = 100


def print_queue(ledger: Ledger, rater: str | None, limit: int, *, reveal: bool) -> None:
    """The open items. Why an answer is there tells what the judge thinks of it, so that is shown on demand only."""
    queue = ReviewQueue(ledger)
    items = queue.open_items(rater, limit=limit)
    if not items:
        typer.echo("nothing waits for a label (areopage review fill queues answers)")
        return
    ids = [item.submission_id for item in items]
    given, said = Labels(ledger).current_of(ids), Exchanges(ledger).labels(ids)
    together = Exchanges(ledger).waiting([item.submission_id for item in items if item.why == HELD])
    rows = [["id", "kind", "queued (UTC)", "raters", *(["why"] if reveal else []), "question"]]
    for item in items:
        held = item.why == HELD
        raters = len(said.get(item.submission_id, ())) if held else len({who for id, who, _ in given if id == item.submission_id})
        question = one_line(held_question(ledger, item) if held else answer_question(ledger, item), QUESTION)
        waiting = together.get(item.submission_id, 0) if held else 0
        kind = "answer" if not held else f"held back ({waiting} wait)" if waiting > 1 else "held back"
        why = [item.why] if reveal else []
        queued = f"{item.created_at:%Y-%m-%d %H:%M}"
        rows.append([one_line(item.submission_id, 128), kind, queued, f"{raters}/{item.wanted}", *why, question])
    typer.echo("\n".join(table(rows)))
    all_open = queue.count_open()
    if all_open > len(items):
        typer.echo(f"shown: {len(items)} of {all_open}")


def held_question(ledger: Ledger, item: ReviewItem) -> str:
    """The question of an answer that the gate held back; "" where it is gone."""
    found = Exchanges(ledger).get(item.submission_id)
    return found.question if found else ""


def answer_question(ledger: Ledger, item: ReviewItem) -> str:
    """The question of an answer that was handed over; "" where it is gone."""
    found = Submissions(ledger).get(item.submission_id)
    return found.case.prompt_text if found else ""


def print_answer(ledger: Ledger, rubric: Rubric, id: str, rater: str | None, *, reveal: bool) -> None:
    """An answer with its question and documents.

    Raises:
        UserError: there is no such answer.
    """
    found = Submissions(ledger).get(id)
    if found is None:
        raise UserError(f"no answer {id!r} in {ledger.place}: areopage review list shows those that wait")
    case = found.case
    parts = [("question", case.prompt_text), ("answer", case.response or "")]
    parts += [(f"document {number}: {one.title or one.id}", one.text) for number, one in enumerate(case.documents, start=1)]
    for title, text in parts:
        typer.echo(f"--- {one_line(title, 200)}\n{visible(text)}\n")
    scale = rubric.scale
    names = ", ".join([*(entry.name for entry in rubric.entries), "global"])
    typer.echo(f"score from {scale.min:g} to {scale.max:g}: {names}")
    if reveal or (rater is not None and any(one.rater == rater for one in Labels(ledger).of(id))):
        print_comparison(ledger, rubric, id)


def print_comparison(ledger: Ledger, rubric: Rubric, id: str) -> None:
    """Judge and people on one answer, criterion by criterion."""
    judge = Labels(ledger).judge_scores([id]).get(id, {})
    labels = [label for (_, _, _), label in Labels(ledger).current_of([id]).items()]
    raters = list(dict.fromkeys(label.rater for label in labels))
    given = {(label.rater, label.criterion): label.score for label in labels}
    rows = [["", "judge", *(one_line(rater, 40) for rater in raters)]]
    for path, name in [*((entry.path, entry.name) for entry in rubric.entries), (OVERALL, "global")]:
        rows.append([name, shown(judge.get(path)), *(shown(given.get((rater, path))) for rater in raters)])
    typer.echo("\n".join(table(rows)))
    for label in {(label.rater, label.note): label for label in labels if label.note}.values():
        typer.echo(f"  {one_line(label.rater, 40)}: {one_line(label.note, 1000)}")
    score = QualityScores(ledger).get(id)
    if score is None:
        typer.echo("  the judge has not judged this answer yet")
    elif score.feedback:
        typer.echo(f"  judge: {one_line(score.feedback, 1000)}")


def shown(score: float | None) -> str:
    """A score, or a dash."""
    return "-" if score is None else f"{score:g}"


def visible(text: str) -> str:
    """A text from outside with its lines, without signs that a terminal would obey."""
    return "".join(sign if sign.isprintable() or sign in "\n\t" else "\ufffd" for sign in text.replace("\r\n", "\n"))
