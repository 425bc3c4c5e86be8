"""`areopage review verdict`, and what `areopage review show` prints of an answer that the gate has seen."""

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from areopage.cli.monitor_options import ConfigOption, monitor_ledger
from areopage.cli.rag_options import one_ledger_config

if TYPE_CHECKING:
    from areopage.gate.records import Decision
    from areopage.ledger.gate_records import Exchange
    from areopage.ledger.store import Ledger
    from areopage.review.grounding import Settlement

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
    from areopage.review.grounding import Storage, label_exchange, review_exchange

    settlement = settlement_of(release, release_text, refuse)
    marked = [number - 1 for number in sentence or ()]
    settings, now = one_ledger_config(config), datetime.now(UTC)
    kept = settings.section.storage
    with monitor_ledger(settings) as ledger:
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


def settlement_of(release: bool, release_text: Path | None, refuse: bool) -> "Settlement | None":
    """What is to become of the answer; None where nobody says.

    Raises:
        UserError: the options contradict each other, or the file cannot be used.
    """
    from areopage.cli.text_files import read_text_file
    from areopage.errors import UserError
    from areopage.review.grounding import Settlement

    if release + (release_text is not None) + refuse > 1:
        raise UserError("give one of --release, --release-text FILE and --refuse")
    if refuse:
        return Settlement(state="refused")
    if release_text is not None:
        text = read_text_file(release_text, MAX_BYTES, "the text that is to go out")
        return Settlement(state="released", text=text)
    return Settlement(state="released") if release else None


def still_waits(ledger: "Ledger", id: str) -> str:
    """A reminder that whoever asked still has no answer."""
    from areopage.ledger.exchanges import Exchanges

    release = Exchanges(ledger).release(id)
    waits = release is not None and release.state == "waiting"
    return "; it still waits: --release, --release-text FILE or --refuse settles it" if waits else ""


def print_exchange(ledger: "Ledger", exchange: "Exchange") -> None:
    """An answer that the gate has seen: question, documents, the answer by sentences, reasons, and what people said."""
    from areopage.cli.review_show import visible
    from areopage.ledger.exchanges import Exchanges
    from areopage.locales import one_line
    from areopage.report.decisions import explain

    parts = [("question", exchange.question)]
    parts += [(f"document {one.id}" + (f": {one.title}" if one.title else ""), one.text) for one in exchange.documents]
    for title, text in parts:
        typer.echo(f"--- {one_line(title, 200)}\n{visible(text)}\n")
    decision = exchange.decision
    typer.echo("--- answer" + ("" if decision else f"\n{visible(exchange.generation)}"))
    if decision is not None:
        for line in sentence_lines(decision):
            typer.echo(line)
        typer.echo(f"\n--- verdict: {exchange.verdict}")
        for reason in explain(decision, decision.prompt_lang or "en"):
            typer.echo(f"- {visible(reason)}")
    store = Exchanges(ledger)
    for label in store.labels([exchange.id]).get(exchange.id, ()):
        marked = f", sentences {', '.join(str(at + 1) for at in label.sentences)}" if label.sentences else ""
        typer.echo(f"{one_line(label.rater, 40)}: grounded {label.grounded}{marked} {one_line(label.note, 1000)}".rstrip())
    release = store.release(exchange.id)
    if release is not None:
        together = store.waiting([exchange.id]).get(exchange.id, 1)
        equal = f", with {together - 1} equal ones, which are settled with it" if together > 1 else ""
        typer.echo(f"held back: {release.state}" + (f" by {one_line(release.rater, 40)}" if release.rater else "") + equal)


def sentence_lines(decision: "Decision") -> list[str]:
    """The sentences of an answer, numbered from 1; those that a reason names are marked, with how doubtful they are."""
    from areopage.locales import one_line

    named = {reason.sentence for reason in decision.reasons} | set(decision.doubtful)
    lines = []
    for index, sentence in enumerate(decision.sentences):
        doubt = f" ({sentence.p_unsupported:.0%} unsupported)" if index in named and sentence.p_unsupported is not None else ""
        lines.append(f"{'!' if index in named else ' '} {index + 1}. {one_line(sentence.text, 2000)}{doubt}")
    return lines
