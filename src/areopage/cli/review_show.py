"""Console output of `areopage review`."""

import typer

from areopage.gate.records import Decision
from areopage.ledger.answers import Answers
from areopage.ledger.evaluations import Evaluations
from areopage.ledger.held import HELD
from areopage.ledger.labels import Labels, ReviewQueue
from areopage.ledger.records import GROUNDING, Trace
from areopage.ledger.store import Ledger
from areopage.ledger.traces import Traces
from areopage.locales import one_line
from areopage.report.agreement import table
from areopage.report.decisions import explain
from areopage.review.label import find_answer
from areopage.review.rubric import OVERALL, Rubric

PROMPT = 100


def print_queue(ledger: Ledger, rater: str | None, limit: int, *, reveal: bool) -> None:
    """Print the open items; `reveal` adds why each was queued, which hints at the judge's score."""
    queue = ReviewQueue(ledger)
    items = queue.open_items(rater, limit=limit)
    if not items:
        typer.echo("the review queue is empty (areopage review fill adds answers)")
        return
    ids = [item.answer_id for item in items]
    given, together = Labels(ledger).current_of(ids), Traces(ledger).waiting(ids)
    rows = [["id", "kind", "queued (UTC)", "raters", *(["why"] if reveal else []), "prompt"]]
    for item in items:
        raters = len({who for id, who, _ in given if id == item.answer_id})
        answer = Answers(ledger).get(item.answer_id)
        waiting = together.get(item.answer_id, 0)
        kind = f"held ({waiting} waiting)" if waiting > 1 else "held" if item.why == HELD else "answer"
        why = [item.why] if reveal else []
        prompt = one_line(answer.case.prompt_text if answer else "", PROMPT)
        queued = f"{item.created_at:%Y-%m-%d %H:%M}"
        rows.append([one_line(item.answer_id, 128), kind, queued, f"{raters}/{item.wanted}", *why, prompt])
    typer.echo("\n".join(table(rows)))
    all_open = queue.count_open()
    if all_open > len(items):
        typer.echo(f"shown: {len(items)} of {all_open}")


def print_answer(ledger: Ledger, rubric: Rubric, id: str, rater: str | None, *, reveal: bool) -> None:
    """Print an answer with its documents, the gate's decision and the labels.

    Raises:
        UnknownAnswer: there is no such answer, or it was erased.
    """
    answer, trace = find_answer(ledger, id), Traces(ledger).get(id)
    case, decision = answer.case, trace.decision if trace is not None else None
    parts = [("prompt", case.prompt_text)]
    parts += [(f"document {one.id}" + (f": {one.title}" if one.title else ""), one.text) for one in case.documents]
    parts += [("reference", case.reference)] if case.reference else []
    parts += [("response", case.response or "")] if decision is None else []
    for title, text in parts:
        typer.echo(f"--- {one_line(title, 200)}\n{visible(text)}\n")
    if decision is not None:
        _print_decision(decision)
    if trace is not None:
        _print_trace(ledger, trace)
        if Evaluations(ledger).get(id) is None:
            return
    scale = rubric.scale
    names = ", ".join([*(entry.name for entry in rubric.entries), "global"])
    typer.echo(f"score from {scale.min:g} to {scale.max:g}: {names}")
    if reveal or (rater is not None and any(one.rater == rater for one in Labels(ledger).of(id))):
        print_comparison(ledger, rubric, id)


def _print_decision(decision: Decision) -> None:
    """Print the sentences of a response and the gate's reasons."""
    typer.echo("--- response")
    for line in _sentence_lines(decision):
        typer.echo(line)
    typer.echo(f"\n--- verdict: {decision.verdict}")
    for reason in explain(decision, decision.prompt_lang or "en"):
        typer.echo(f"- {visible(reason)}")


def _print_trace(ledger: Ledger, trace: Trace) -> None:
    """Print the labels and the review state of an answer of the gate."""
    for label in Labels(ledger).grounding([trace.id]).get(trace.id, ()):
        marked = f", sentences {', '.join(str(at + 1) for at in label.sentences)}" if label.sentences else ""
        typer.echo(f"{one_line(label.rater, 40)}: grounded {label.grounded}{marked} {one_line(label.note, 1000)}".rstrip())
    release = Traces(ledger).release(trace.id)
    if release is not None:
        together = Traces(ledger).waiting([trace.id]).get(trace.id, 1)
        equal = f"; the decision also applies to {together - 1} equal answers" if together > 1 else ""
        typer.echo(f"review: {release.state}" + (f" by {one_line(release.rater, 40)}" if release.rater else "") + equal)


def _sentence_lines(decision: Decision) -> list[str]:
    """The numbered sentences of an answer; doubtful ones are marked with their probability."""
    named = {reason.sentence for reason in decision.reasons} | set(decision.doubtful)
    lines = []
    for index, sentence in enumerate(decision.sentences):
        doubt = f" ({sentence.p_unsupported:.0%} unsupported)" if index in named and sentence.p_unsupported is not None else ""
        lines.append(f"{'!' if index in named else ' '} {index + 1}. {one_line(sentence.text, 2000)}{doubt}")
    return lines


def still_waits(ledger: Ledger, id: str) -> str:
    """A reminder that the answer is still held."""
    release = Traces(ledger).release(id)
    waits = release is not None and release.state == "waiting"
    return "; it is still held: use --release, --release-text FILE or --refuse" if waits else ""


def print_comparison(ledger: Ledger, rubric: Rubric, id: str) -> None:
    """Print the scores of judge and reviewers on an answer by criterion."""
    judge = Labels(ledger).panel_scores([id]).get(id, {}).get(rubric.suite.name, {})
    labels = [label for label in Labels(ledger).current_of([id]).values() if label.criterion != GROUNDING]
    raters = list(dict.fromkeys(label.rater for label in labels))
    given = {(label.rater, label.criterion): label.score for label in labels}
    rows = [["", "judge", *(one_line(rater, 40) for rater in raters)]]
    for path, name in [*((entry.path, entry.name) for entry in rubric.entries), (OVERALL, "global")]:
        rows.append([name, shown(judge.get(path)), *(shown(given.get((rater, path))) for rater in raters)])
    typer.echo("\n".join(table(rows)))
    for label in {(label.rater, label.note): label for label in labels if label.note}.values():
        typer.echo(f"  {one_line(label.rater, 40)}: {one_line(label.note, 1000)}")
    evaluation = Evaluations(ledger).get(id)
    if evaluation is None or evaluation.state != "evaluated":
        typer.echo("  this answer has no evaluation yet")
    elif evaluation.feedback:
        typer.echo(f"  judge: {one_line(evaluation.feedback, 1000)}")


def shown(score: float | None) -> str:
    """A score, or a dash."""
    return "-" if score is None else f"{score:g}"


def visible(text: str) -> str:
    """An untrusted text without terminal control characters."""
    return "".join(sign if sign.isprintable() or sign in "\n\t" else "\ufffd" for sign in text.replace("\r\n", "\n"))
