"""Command `areopage gate replay`: apply other rules to recorded answers."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import msgspec
import typer
from msgspec.structs import replace

from areopage.app.config import find_config
from areopage.app.gate_rules import load_gate
from areopage.app.ledger import open_ledger
from areopage.cli.gate_report import NO_ANSWERS, scope_of, tell_reduced_texts
from areopage.cli.options import (
    CollectionOption,
    ConfigOption,
    LedgerOption,
    RulesOption,
    SinceOption,
    UntilOption,
)
from areopage.cli.pace import Pace
from areopage.gate.decide import Gate
from areopage.gate.tuning.replay import Change, Replay
from areopage.ledger.storage import stored_text
from areopage.ledger.traces import Traces
from areopage.locales import one_line
from areopage.report.decisions import decision_locale
from areopage.report.replacing import replacing
from areopage.review.labelled_answers import recorded

CHANGED = 1
RECORDED = "recorded"
SHOWN_QUESTION = 100

Kept = Callable[[str], str]
"""Applies the export policy to a text."""


def replay(
    rules: RulesOption = None,
    against: Annotated[
        str,
        typer.Option("--against", metavar="FILE|NAME|recorded", help="Compare with other rules, or with the recorded decisions."),
    ] = RECORDED,
    since: SinceOption = None,
    until: UntilOption = None,
    collection: CollectionOption = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", metavar="FILE", help="Write each change as one JSON object per line; default: the screen."),
    ] = None,
    fail_on_change: Annotated[bool, typer.Option("--fail-on-change", help="Exit with code 1 if a verdict changes.")] = False,
    config: ConfigOption = None,
    ledger: LedgerOption = None,
) -> None:
    """Decide again on recorded answers with other rules: list the verdicts that change and compare both with the labels."""
    settings = find_config(config, ledger)
    new = load_gate(rules) if rules else Gate(settings.gate)
    old = None if against == RECORDED else load_gate(against)
    scope = scope_of(since, until, collection)
    storage = settings.storage

    def kept(text: str) -> str:
        return stored_text(text, storage.export_text, storage.max_chars)

    done = Replay(new, old)
    tell_reduced_texts(settings)
    with open_ledger(settings, advice=NO_ANSWERS) as opened, written(output, kept) as write:
        traces = Traces(opened)
        pace = Pace("replay", traces.count(scope))
        for one in recorded(traces, scope):
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


@contextmanager
def written(output: Path | None, kept: Kept) -> Iterator[Callable[[Change], None]]:
    """Open the output for changes: a file that is replaced atomically, or the screen.

    Raises:
        StorageError: the file cannot be written.
    """

    if output is None:
        yield lambda change: typer.echo(_change_text(change, kept))
        return

    def write(change: Change) -> None:
        old = replace(change.old, quotes=tuple(map(kept, change.old.quotes)))
        new = replace(change.new, quotes=tuple(map(kept, change.new.quotes)))
        stream.write(msgspec.json.encode(replace(change, question=kept(change.question), old=old, new=new)) + b"\n")

    with replacing(output) as place, place.open("wb") as stream:
        yield write


def _change_text(change: Change, kept: Kept) -> str:
    """A change on up to three lines: verdicts, question, reasons."""
    better = {True: ", as labelled", False: ", unlike the label", None: ""}[change.better]
    known = decision_locale("en").probability(change.new.p_unsupported)
    p = "" if change.new.p_unsupported is None else f", p_unsupported {known}"
    lines = [f"{change.id}  {change.old.verdict} -> {change.new.verdict}{p}{better}"]
    lines.append(f"    {one_line(kept(change.question), SHOWN_QUESTION) or '(question not stored)'}")
    why = change.new if change.new.reasons else change.old
    if why.reasons:
        quotes = [f"“{one_line(kept(quote), SHOWN_QUESTION)}”" for quote in why.quotes[:2] if kept(quote)]
        before = "" if why is change.new else "was: "
        lines.append(f"    {before}{', '.join(why.reasons)}{': ' if quotes else ''}{' '.join(quotes)}")
    return "\n".join(lines)


def summary(done: Replay, new: Gate, old: Gate | None) -> list[str]:
    """The summary of a replay, as lines."""
    lines = [
        f"rules {new.version} against {'the recorded decisions' if old is None else f'rules {old.version}'}: "
        f"{done.seen:,} answers, {done.replayed:,} replayed, {done.changed:,} verdicts changed"
    ]
    for (before, after), count in done.changes.most_common():
        lines.append(f"  {before} -> {after}: {count:,}")
    if done.labelled:
        lines.append(
            f"  of {done.labelled:,} labelled answers the new rules agree with {done.new_agrees:,}, "
            f"the old ones with {done.old_agrees:,}"
        )
    if done.asks_judge:
        lines.append(f"  {done.asks_judge:,} would call a judge but have no recorded judgment: decided without a judge")
    lines += [f"  not replayed, {OBSTACLE_TEXTS[obstacle]}: {count:,}" for obstacle, count in done.obstacles.most_common()]
    return lines


OBSTACLE_TEXTS = {
    "erased": "texts erased",
    "no_response": "imported without a response",
    "no_documents": "imported without documents",
    "nothing_generated": "no response was generated, but the new rules would generate one",
    "not_kept": "texts not stored (storage.text)",
    "altered": "the same version gives another verdict: the stored texts differ from the original ones",
}
