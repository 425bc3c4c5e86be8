"""Commands `areopage gate report` and `areopage gate replay`."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Annotated

import msgspec
import typer
from msgspec.structs import replace

from areopage.app import AppConfig, find_config, load_gate, open_ledger
from areopage.cli.exit_codes import FAILED
from areopage.cli.options import (
    STDOUT,
    CollectionOption,
    ConfigOption,
    LedgerOption,
    RulesOption,
    SinceOption,
    UntilOption,
    actor,
    midnight_of,
    named_place,
    one_of,
    tell,
)
from areopage.cli.progress.pace import PaceLine
from areopage.errors import UserError, counted
from areopage.gate import Gate, Replay, ReplayedChange
from areopage.ledger import TraceFilter, make_folder
from areopage.locales import LANGUAGES, one_line
from areopage.report import (
    FORMS,
    ReportForm,
    decision_locale,
    form_of_file,
    gate_figures,
    gate_report,
    gate_report_name,
    render,
    replacing,
    write_report,
)
from areopage.review import recorded
from areopage.text import stored_text

NO_ANSWERS = "check answers or import logs first, or give --ledger FILE|URL"
"""Advice for a missing ledger."""

RECORDED = "recorded"
SHOWN_QUESTION = 100

Kept = Callable[[str], str]
"""Applies the export policy to a text."""


def report(
    since: SinceOption = None,
    until: UntilOption = None,
    collection: CollectionOption = None,
    lang: Annotated[str, typer.Option("--lang", metavar="fr|en", help="Language; default rag.language.")] = "",
    form: Annotated[
        str | None,
        typer.Option(
            "--format", metavar="FORMS", help="html, md, json, or several: html,md. Default: from the file's extension."
        ),
    ] = None,
    output: Annotated[
        str | None,
        typer.Option("--output", metavar="DIR|FILE", help="Output file, or a folder for gate-report.html. Default: the screen."),
    ] = None,
    config: ConfigOption = None,
    ledger: LedgerOption = None,
) -> None:
    """Write a report on the gate's decisions and their reasons.

    The report shows rates with confidence intervals, reasons, histograms, labels, collections, latency and the answers to review.
    """
    settings = find_config(config, ledger)
    scope = scope_of(since, until, collection)
    places = _places_of(_forms_of(form, output), output)
    spoken = one_of("--lang", lang or None, LANGUAGES) or settings.rag.section.language
    storage = settings.storage
    with open_ledger(settings, advice=NO_ANSWERS) as opened:
        pace = PaceLine("report", opened.traces.count(scope))
        figures = gate_figures(
            opened,
            scope,
            language=spoken,
            policy=storage.export_text,
            max_chars=storage.max_chars,
            now=datetime.now(UTC),
            place=named_place(config, ledger),
            moved=pace.moved,
        )
        pace.finish()
        if figures.worst and storage.export_text != "none":
            named = ", ".join(str(place or STDOUT) for _, place in places)
            opened.audit.note(actor(), "export", named, f"report on the gate, text {storage.export_text}")
    made = gate_report(figures)
    for chosen, place in places:
        if place is None:
            typer.echo(render(made, chosen), nl=False)
            continue
        write_report(made, chosen, place)
        tell(f"written to {place}")


def _forms_of(named: str | None, output: str | None) -> list[ReportForm]:
    if named is None:
        if output in (None, STDOUT):
            return ["md"]
        return ["html"] if _is_folder(output or "") else [form_of_file(output or "")]
    return list(dict.fromkeys(one_of("--format", part.strip(), FORMS) for part in named.split(",")))


def _places_of(forms: list[ReportForm], output: str | None) -> list[tuple[ReportForm, Path | None]]:
    if output is not None and output != STDOUT and _is_folder(output):
        folder = Path(output)
        make_folder(folder)
        return [(form, folder / gate_report_name(form)) for form in forms]
    if len(forms) > 1:
        raise UserError("several formats need a folder: give --output DIR/")
    return [(forms[0], None if output in (None, STDOUT) else Path(output or ""))]


def _is_folder(output: str) -> bool:
    path = Path(output)
    return path.is_dir() or output.endswith(("/", "\\")) or (not path.suffix and not path.exists())


def scope_of(since: str | None, until: str | None, collection: str | None) -> TraceFilter:
    """The filter of the requested period and collection."""
    first, last = midnight_of("--since", since), midnight_of("--until", until)
    if first is not None and last is not None and last < first:
        raise UserError(f"--until {until} is before --since {since}")
    return TraceFilter(since=first, until=None if last is None else last + timedelta(days=1), collection=collection)


def tell_reduced_texts(config: AppConfig) -> None:
    """Warn that the ledger stores reduced texts, if the policy says so."""
    if config.storage.text != "full":
        tell("areopage: the ledger stores reduced texts (storage.text): scores can differ from those in production")


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
        traces = opened.traces
        pace = PaceLine("replay", traces.count(scope))
        for answer in recorded(traces, scope):
            change = done.take(answer)
            if change is not None:
                pace.finish()
                write(change)
            pace.moved(done.seen)
        pace.finish()
    typer.echo("\n".join(_summary(done, new, old)))
    if output is not None:
        tell(f"written to {output}")
    if fail_on_change and done.changed:
        raise typer.Exit(FAILED)


@contextmanager
def written(output: Path | None, kept: Kept) -> Iterator[Callable[[ReplayedChange], None]]:
    """Open the output for changes: a file that is replaced atomically, or the screen."""

    if output is None:
        yield lambda change: typer.echo(_change_text(change, kept))
        return

    def write(change: ReplayedChange) -> None:
        old = replace(change.old, quotes=tuple(map(kept, change.old.quotes)))
        new = replace(change.new, quotes=tuple(map(kept, change.new.quotes)))
        stream.write(msgspec.json.encode(replace(change, question=kept(change.question), old=old, new=new)) + b"\n")

    with replacing(output) as place, place.open("wb") as stream:
        yield write


def _change_text(change: ReplayedChange, kept: Kept) -> str:
    better = {True: ", as labelled", False: ", unlike the label", None: ""}[change.better]
    probability = decision_locale("en").probability(change.new.p_unsupported)
    p = "" if change.new.p_unsupported is None else f", p_unsupported {probability}"
    lines = [f"{change.id}  {change.old.verdict} -> {change.new.verdict}{p}{better}"]
    lines.append(f"    {one_line(kept(change.question), SHOWN_QUESTION) or '(question not stored)'}")
    why = change.new if change.new.reasons else change.old
    if why.reasons:
        quotes = [f"“{one_line(kept(quote), SHOWN_QUESTION)}”" for quote in why.quotes[:2] if kept(quote)]
        before = "" if why is change.new else "was: "
        lines.append(f"    {before}{', '.join(why.reasons)}{': ' if quotes else ''}{' '.join(quotes)}")
    return "\n".join(lines)


def _summary(done: Replay, new: Gate, old: Gate | None) -> list[str]:
    lines = [
        f"rules {new.version} against {'the recorded decisions' if old is None else f'rules {old.version}'}: "
        f"{counted(done.seen, 'answer')}, {done.replayed:,} replayed, {counted(done.changed, 'verdict')} changed"
    ]
    for (before, after), count in done.changes.most_common():
        lines.append(f"  {before} -> {after}: {count:,}")
    if done.labelled:
        lines.append(
            f"  of {counted(done.labelled, 'labelled answer')} the new rules agree with {done.new_agrees:,}, "
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
