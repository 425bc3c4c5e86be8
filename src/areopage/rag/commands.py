"""`areopage rag`: documents in, answers out. Each command imports what it needs: a search opens no ledger and no gate."""

import asyncio
import os
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import msgspec
import typer

from areopage.app import find_config
from areopage.cli import INCONCLUSIVE, INTERRUPTED, PLAIN_EVERY, ConfigOption, tell
from areopage.errors import CallError, ModelError, UnknownCollection, UserError, counted
from areopage.locales import one_line

if TYPE_CHECKING:
    from rich.console import Console

    from areopage.checking import RagConfig
    from areopage.ledger import Trace
    from areopage.rag.ingestion.ingest import IngestProgress, IngestReport
    from areopage.rag.records import ChatPrompt
    from areopage.rag.service import RagService

SHOWN = 5  # unread files that are named on the console
LONGEST_REASON = 300  # characters
SHOWN_TEXT = 200  # characters of a document that was found
SHOWN_EXCERPT = 160  # characters of a document that an answer cites
REJECTED_FILE = "ingest.rejected.jsonl"

CollectionOption = Annotated[str, typer.Option("--collection", metavar="NAME", help="Collection. Default: the configuration's.")]


def ingest(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A folder of documents, or one file.")],
    collection: CollectionOption = "",
    source: Annotated[str, typer.Option(metavar="NAME", help="Source of all documents.")] = "",
    prune: Annotated[bool, typer.Option("--prune", help="Remove the chunks of files that are no longer in the folder.")] = False,
    field: Annotated[
        list[str] | None,
        typer.Option(
            metavar="OURS=THEIRS",
            help="JSON Lines: the field THEIRS holds OURS (text, id, title, source or metadata); repeatable.",
        ),
    ] = None,
    rejected: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help=f"File for unreadable documents. Default: {REJECTED_FILE} beside the store."),
    ] = None,
    config: ConfigOption = None,
) -> None:
    """Update a collection from a folder of documents: text, Markdown, HTML, PDF and JSON Lines.

    Run the command again when documents change: it embeds only new or changed documents. Exit code 3: a document could not
    be read; all others are ingested.
    """
    from areopage.rag.ingestion.reading import RowFields

    settings = find_config(config).rag
    place = rejected or settings.path(settings.section.store.path).parent / REJECTED_FILE
    try:
        fields = RowFields(**_row_fields(field or []))
        report = asyncio.run(ingest_folder(settings, folder, collection=collection, source=source, fields=fields, prune=prune))
    except KeyboardInterrupt:
        typer.echo("areopage: interrupted: run the same command again, it goes on with what is missing", err=True)
        raise typer.Exit(INTERRUPTED) from None
    _show_report(report, place, prune)
    if report.unread:
        raise typer.Exit(INCONCLUSIVE)


def search(
    question: Annotated[str, typer.Argument(metavar="QUESTION")],
    collection: CollectionOption = "",
    source: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="Search only documents of this source (repeatable).")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print the documents as JSON.")] = False,
    config: ConfigOption = None,
) -> None:
    """Show the passages found for a question, best first, with scores in [0, 1]."""
    from areopage.rag.retrieval.retriever import open_retriever

    settings = _existing(find_config(config).rag)

    async def find() -> None:
        retriever = open_retriever(settings, tell)
        try:
            documents = await retriever.retrieve(question, collection, tuple(source or ()))
        finally:
            await retriever.aclose()
        if json:
            typer.echo(msgspec.json.format(msgspec.json.encode(documents), indent=2).decode())
            return
        if not documents:
            typer.echo("nothing found")
        for document in documents:
            page = f", p. {document.metadata['page']}" if "page" in document.metadata else ""
            named = f"[{one_line(document.id)}] {one_line(document.title)} ({one_line(document.source)}{page})"
            typer.echo(f"{document.score or 0:.3f}  {named}")
            typer.echo(f"       {one_line(document.text, SHOWN_TEXT)}")

    asyncio.run(find())


def collections(config: ConfigOption = None) -> None:
    """List the collections with their number of chunks and their embedding model."""
    from areopage.rag.retrieval.collection import open_store

    settings = _existing(find_config(config).rag)

    async def show() -> None:
        store = open_store(settings, os.environ)
        try:
            names = await store.names()
            for name in names:
                state = await store.state(name)
                by = str(state.record.embedder) if state.record else f"an unknown embedder ({state.dimension} dimensions)"
                typer.echo(f"{name}: {counted(state.chunks, 'chunk')}, embedded by {by}")
            if not names:
                typer.echo(f"{store.place} has no collection: fill one with `areopage rag ingest DIR`")
        finally:
            await store.aclose()

    asyncio.run(show())


class IngestDisplay:
    """Shows the progress of an ingestion; use as `with`."""

    def __init__(self, console: "Console") -> None:
        from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn

        self._bar = (
            Progress(
                TextColumn("ingesting"),
                BarColumn(bar_width=24),
                TaskProgressColumn(),
                TextColumn("{task.fields[rate]}", markup=False),
                TimeElapsedColumn(),
                TextColumn("left"),
                TimeRemainingColumn(),
                console=console,
                refresh_per_second=4,
                transient=True,
            )
            if console.is_terminal
            else None
        )
        self._task = self._bar.add_task("", rate="") if self._bar else None
        self._began = self._last = time.monotonic()

    def __enter__(self) -> "IngestDisplay":
        if self._bar is not None:
            self._bar.start()
        return self

    def __exit__(self, *error: object) -> None:
        """Remove the bar."""
        if self._bar is not None:
            self._bar.stop()

    def show(self, progress: "IngestProgress") -> None:
        """Show the latest progress."""
        now = time.monotonic()
        elapsed = max(1e-6, now - self._began)
        rate = f"{progress.embedded} chunks, {progress.embedded / elapsed:.1f}/s"
        if self._bar is not None and self._task is not None:
            self._bar.update(self._task, total=progress.total, completed=progress.done, rate=rate)
        elif now - self._last >= PLAIN_EVERY and progress.done:
            self._last = now
            left = elapsed * (progress.total - progress.done) / progress.done
            share = progress.done / progress.total
            print(f"ingesting: {share:.0%} of the files, {rate}, {left:.0f} s left", file=sys.stderr, flush=True)


async def ingest_folder(config: "RagConfig", folder: Path, **options: Any) -> "IngestReport":
    """Update a collection from a folder and show the progress; `options` are those of `Ingestion`."""
    from rich.console import Console

    from areopage.rag.ingestion.ingest import Ingestion
    from areopage.rag.retrieval.collection import open_store
    from areopage.rag.retrieval.embedders import open_embedder

    embedder = open_embedder(config, os.environ)
    store = open_store(config, os.environ)
    try:
        with IngestDisplay(Console(stderr=True)) as display:
            return await Ingestion(config, store, embedder, progress=display.show, **options).run(folder)
    finally:
        await embedder.aclose()
        await store.aclose()


def _show_report(report: "IngestReport", place: Path, prune: bool) -> None:
    typer.echo(
        f"{report.collection}: {counted(report.files, 'file')} ({report.unchanged} unchanged), "
        f"{counted(report.embedded, 'chunk')} embedded, "
        f"{report.kept} kept, {report.removed} removed; {counted(report.chunks, 'chunk')} in all"
    )
    for remark in report.remarks:
        tell(remark)
    if report.gone and not prune:
        verb = "is" if len(report.gone) == 1 else "are"
        tell(f"{counted(len(report.gone), 'file')} {verb} gone from the folder, and the chunks stay: --prune removes them")
    if report.unread:
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(b"".join(msgspec.json.encode(unread) + b"\n" for unread in report.unread))
    else:
        place.unlink(missing_ok=True)
    for unread in report.unread[:SHOWN]:
        row = f", row {unread.row}" if unread.row is not None else ""
        tell(f"not read: {one_line(unread.file)}{row}: {one_line(unread.reason, LONGEST_REASON)}")
    if report.unread:
        more = len(report.unread) - SHOWN
        tell(f"{len(report.unread)} could not be read{f' ({more} more than shown)' if more > 0 else ''}: all are in {place}")


def _row_fields(pairs: list[str]) -> dict[str, str]:
    ours: tuple[Literal["text", "id", "title", "source", "metadata"], ...] = ("text", "id", "title", "source", "metadata")
    fields: dict[str, str] = {}
    for pair in pairs:
        name, equals, theirs = pair.partition("=")
        if name not in ours or not equals or not theirs:
            raise typer.BadParameter(
                f"{pair!r}: write one of {', '.join(ours)}, then = and the name in the file", param_hint="--field"
            )
        fields[name] = theirs
    return fields


def _existing(config: "RagConfig") -> "RagConfig":
    from areopage.rag.retrieval.collection import folder_exists

    if not folder_exists(config):
        folder = config.path(config.section.store.path)
        raise UnknownCollection(
            f"there is no vector store {folder}: fill one with `areopage rag ingest DIR`, or name it in areopage.yml"
        )
    return config


def ask(
    question: Annotated[str, typer.Argument(help="The question.")],
    collection: CollectionOption = "",
    source: Annotated[
        list[str] | None, typer.Option("--source", metavar="NAME", help="Use only documents of this source (repeatable).")
    ] = None,
    no_cache: Annotated[bool, typer.Option("--no-cache", help="Do not use the answer cache.")] = False,
    stream: Annotated[bool, typer.Option("--stream", help="Print each step as it completes.")] = False,
    config: ConfigOption = None,
) -> None:
    """Ask a question: retrieve documents, generate an answer, apply the gate."""
    from areopage.app import open_ledger
    from areopage.rag.answering.answer_cache import MEMORY
    from areopage.rag.records import ChatPrompt
    from areopage.rag.service import open_pipeline

    settings = find_config(config)
    no_cache = no_cache or settings.rag.section.cache.store == MEMORY  # this process ends with its answer
    asked = ChatPrompt(
        prompt=question, collection=collection, sources_filter=tuple(source or ()), no_cache=no_cache, session="cli"
    )

    async def answer() -> "Trace":
        with open_ledger(settings, create=True) as ledger:
            service = open_pipeline(settings, ledger, tell)
            try:
                return await _streamed(service, asked) if stream else await service.answer(asked)
            finally:
                await service.aclose()

    try:
        trace = asyncio.run(answer())
    except CallError as fault:
        raise ModelError(f"the model did not answer: {fault}") from None
    _print_reply(trace)


def export_traces(config: ConfigOption = None) -> None:
    """Update the trace files of `rag.traces` from the ledger once. The worker does so every minute."""
    from areopage.app import open_ledger
    from areopage.checking import trace_export

    settings = find_config(config)
    with open_ledger(settings) as ledger:
        export = trace_export(settings.rag, ledger)
        if not export.wanted:
            raise UserError("no trace files are wanted: set rag.traces.enabled in areopage.yml")
        done = export.run()
    typer.echo(
        f"{export.folder}: {done.lines:,} lines and {done.snapshots:,} snapshots written, "
        f"{done.rewritten:,} lines rewritten, {done.removed:,} snapshots removed"
    )


async def _streamed(service: "RagService", prompt: "ChatPrompt") -> "Trace":
    """Tell each step, and give the answer at the end."""
    trace: Trace | None = None
    async for event in service.stream(prompt):
        if "node" in event:
            tell(f"· {event['node']}")
        trace = event.get("trace")
    assert trace is not None  # noqa: S101 - a stream ends with its answer, or raises
    return trace


def _print_reply(trace: "Trace") -> None:
    from areopage.rag.records import readable_decision, shown_reply
    from areopage.report import decision_locale, explain
    from areopage.text import visible

    reply = shown_reply(trace)
    typer.echo(visible(reply.text))
    for source, citation in reply.sources:
        page = f"page {source.page}" if source.page is not None else ""
        named = " · ".join(one_line(part) for part in (citation.title, citation.source, page) if part)
        score = f" ({citation.score:.2f})" if citation.score is not None else ""
        typer.echo(f"  [{source.number}] {named}{score}: {one_line(citation.excerpt, SHOWN_EXCERPT)}")
    read = trace.decision is not None and trace.decision.sentences
    locale = decision_locale("en")
    doubt = f", p_unsupported {locale.probability(trace.p_unsupported)}" if read and trace.p_unsupported is not None else ""
    word = locale.messages["gate_verdict_words"][trace.verdict]
    if trace.mode == "shadow":
        word = f"delivered all the same; by the gate: {word}"
    typer.echo(f"\n{word} ({trace.mode}), confidence {locale.number(trace.confidence)}{doubt}, id {trace.id}")
    decision = readable_decision(trace)
    if decision is not None:
        for reason in dict.fromkeys(explain(decision, trace.language or "en")):
            typer.echo(f"- {reason}")
