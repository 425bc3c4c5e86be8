"""`areopage gate replay`: other rules over the answers that were recorded, and every decision that changes."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
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
    tell_reduced_texts,
)
from areopage.cli.rag_options import RagOption

if TYPE_CHECKING:
    from collections.abc import Sequence

    from areopage.gate.decide import Gate
    from areopage.gate.tuning.replay import Change, Recorded, Replay
    from areopage.ledger.exchanges import Exchanges
    from areopage.ledger.gate_records import Exchange, ExchangeFilter, GroundingLabel

CHANGED = 1
RECORDED = "recorded"
SHOWN_QUESTION = 100

Kept = Callable[[str], str]
"""What may leave the ledger of a text."""


def replay(
    config: Annotated[
        str | None,
        typer.Option(
            "--config",
            metavar="FILE|v1_1",
            help="The rules to try: a gate.yml or v1_1; default: the shipped ones.",
        ),
    ] = None,
    against: Annotated[
        str,
        typer.Option("--against", metavar="FILE|recorded", help="What with: other rules, or the decisions recorded."),
    ] = RECORDED,
    since: SinceOption = None,
    until: UntilOption = None,
    collection: CollectionOption = None,
    output: Annotated[
        Path | None, typer.Option("--output", metavar="FILE", help="Every change as one JSON object a line; else on the screen.")
    ] = None,
    fail_on_change: Annotated[bool, typer.Option("--fail-on-change", help="Exit code 1 if a decision changes.")] = False,
    rag: RagOption = None,
    ledger: LedgerOption = None,
) -> None:
    """Decide again on recorded answers by other rules: which verdicts change, and do people's labels agree more?"""
    from areopage.cli.pace import Pace
    from areopage.gate.tuning.replay import Replay
    from areopage.ledger.exchanges import Exchanges
    from areopage.monitor.storage import stored_text
    from areopage.suites.gate import load_gate

    new = load_gate(config)
    old = None if against == RECORDED else load_gate(against)
    settings = gate_settings(rag, ledger)
    scope = scope_of(since, until, collection)
    storage = settings.section.storage

    def kept(text: str) -> str:
        return stored_text(text, storage.export_text, storage.max_chars)

    done = Replay(new, old)
    tell_reduced_texts(settings)
    with gate_ledger(settings) as opened, written(output, kept) as write:
        exchanges = Exchanges(opened)
        pace = Pace("replay", exchanges.count(scope))
        for one in recorded(exchanges, scope):
            change = done.take(one)
            if change is not None:
                pace.finish()
                write(change)
            pace.moved(done.seen)
        pace.finish()
    typer.echo("\n".join(summary(done, new, old)))
    if output is not None:
        typer.echo(f"written to {output}", err=True)
    if fail_on_change and done.changed:
        raise typer.Exit(CHANGED)


def recorded(exchanges: "Exchanges", scope: "ExchangeFilter") -> "Iterator[Recorded]":
    """The recorded answers with their labels, read in portions."""
    return (recorded_of(exchange, labels) for exchange, labels in exchanges.each_labelled(scope))


def recorded_of(exchange: "Exchange", labels: "Sequence[GroundingLabel]") -> "Recorded":
    """An exchange as a replay needs it."""
    from areopage.gate.tuning.replay import Recorded, judged_of
    from areopage.ledger.exchange_sums import agreed

    decision = exchange.decision
    decisive = [reason.code for reason in decision.reasons if reason.decisive] if decision is not None else []
    return Recorded(
        id=exchange.id,
        at=exchange.at.isoformat(),
        prompt=exchange.question,
        response=exchange.generation,
        documents=exchange.documents,
        verdict=exchange.verdict,
        reasons=tuple(dict.fromkeys(decisive)),
        p_unsupported=exchange.p_unsupported,
        version=exchange.version,
        judged=judged_of(decision) if decision is not None else {},
        num_sources=int(exchange.metrics.get("num_sources") or 0),
        erased=exchange.erased,
        imported=exchange.origin == "import",
        label=agreed(labels)[0] if labels else None,
    )


@contextmanager
def written(output: Path | None, kept: Kept) -> "Iterator[Callable[[Change], None]]":
    """Where changes go: a file that is whole or not there, else the screen.

    Raises:
        StorageError: the file cannot be written.
    """
    import msgspec
    from msgspec.structs import replace

    from areopage.report.replacing import replacing

    if output is None:
        yield lambda change: typer.echo(change_text(change, kept))
        return

    def write(change: "Change") -> None:
        old = replace(change.old, quotes=tuple(map(kept, change.old.quotes)))
        new = replace(change.new, quotes=tuple(map(kept, change.new.quotes)))
        stream.write(msgspec.json.encode(replace(change, question=kept(change.question), old=old, new=new)) + b"\n")

    with replacing(output) as place, place.open("wb") as stream:
        yield write


def change_text(change: "Change", kept: Kept) -> str:
    """A change on three lines at most: what, of which question, why."""
    from areopage.locales import one_line
    from areopage.report.decisions import decision_locale

    better = {True: ", as people say", False: ", unlike people", None: ""}[change.better]
    known = decision_locale("en").probability(change.new.p_unsupported)
    p = "" if change.new.p_unsupported is None else f", p_unsupported {known}"
    lines = [f"{change.id}  {change.old.verdict} -> {change.new.verdict}{p}{better}"]
    lines.append(f"    {one_line(kept(change.question), SHOWN_QUESTION) or '(question not kept)'}")
    why = change.new if change.new.reasons else change.old
    if why.reasons:
        quotes = [f"“{one_line(kept(quote), SHOWN_QUESTION)}”" for quote in why.quotes[:2] if kept(quote)]
        before = "" if why is change.new else "no longer: "
        lines.append(f"    {before}{', '.join(why.reasons)}{': ' if quotes else ''}{' '.join(quotes)}")
    return "\n".join(lines)


def summary(done: "Replay", new: "Gate", old: "Gate | None") -> list[str]:
    """What the replay adds up to, as lines."""
    lines = [
        f"rules {new.version} against {'the recorded decisions' if old is None else f'rules {old.version}'}: "
        f"{done.seen:,} answers, {done.replayed:,} decided on again, {done.changed:,} verdicts change"
    ]
    for (before, after), count in done.changes.most_common():
        lines.append(f"  {before} -> {after}: {count:,}")
    if done.labelled:
        lines.append(
            f"  of {done.labelled:,} answers with labels the new rules agree with {done.new_agrees:,}, "
            f"the old ones with {done.old_agrees:,}"
        )
    if done.asks_judge:
        lines.append(f"  a judge would be asked about {done.asks_judge:,} and said nothing then: settled here as without one")
    lines += [f"  not replayable, {OBSTACLE_TEXTS[obstacle]}: {count:,}" for obstacle, count in done.obstacles.most_common()]
    return lines


OBSTACLE_TEXTS = {
    "erased": "texts erased",
    "no_response": "imported without a response",
    "no_documents": "imported without documents",
    "nothing_generated": "no response was generated then, and one would be now",
    "not_kept": "texts not kept (storage.text)",
    "altered": "this same version decided otherwise: the stored texts are not what it saw",
}
