"""`areopage rag`: documents in, answers out."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from areopage.cli.rag_ask import ask
from areopage.cli.rag_options import RagOption, rag_config

if TYPE_CHECKING:
    from areopage.rag.config import RagConfig
    from areopage.rag.ingestion.ingest import IngestReport
    from areopage.rag.ingestion.source_text import Unread

SHOWN = 5  # unread files that are named on the console
LONGEST_REASON = 300  # characters
SHOWN_TEXT = 200  # characters of a document that was found
REJECTED_FILE = "ingest.rejected.jsonl"

app = typer.Typer(help="Documents in, answers out: ingest, search, ask.", no_args_is_help=True, rich_markup_mode=None)
app.command("ask")(ask)

CollectionOption = Annotated[str, typer.Option("--collection", metavar="NAME", help="Another collection than rag.yml's.")]


@app.command()
def ingest(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A folder of documents, or one file.")],
    collection: CollectionOption = "",
    source: Annotated[str, typer.Option(metavar="NAME", help="Say of all documents that they come from here.")] = "",
    prune: Annotated[bool, typer.Option("--prune", help="Remove chunks of files that are gone from the folder.")] = False,
    field: Annotated[
        list[str] | None,
        typer.Option(metavar="OURS=THEIRS", help="JSON Lines: a field's name there, for text, id, title, source, metadata."),
    ] = None,
    rejected: Annotated[
        Path | None, typer.Option(metavar="FILE", help=f"What could not be read; default {REJECTED_FILE} beside the store.")
    ] = None,
    rag: RagOption = None,
) -> None:
    """Bring a collection up to date with a folder: text, Markdown, HTML, PDF and JSON Lines.

    Run it again whenever documents change: only what is new or changed is embedded. Exit code 1: something could not be read.
    """
    config = rag_config(rag)
    place = rejected or _beside_store(config)
    try:
        report = asyncio.run(_ingest(config, folder, collection, source, _row_fields(field or []), prune))
    except KeyboardInterrupt:
        typer.echo("areopage: interrupted: run the same command again, it goes on with what is missing", err=True)
        raise typer.Exit(130) from None
    _show_report(report, place, prune)
    if report.unread:
        raise typer.Exit(1)


@app.command()
def search(
    question: Annotated[str, typer.Argument(metavar="QUESTION")],
    collection: CollectionOption = "",
    source: Annotated[list[str] | None, typer.Option(metavar="NAME", help="Only documents from here; repeatable.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print the documents as JSON.")] = False,
    rag: RagOption = None,
) -> None:
    """Show what is found for a question, best first, with scores in [0, 1]."""
    import msgspec

    from areopage.locales import one_line
    from areopage.rag.retrieval.retriever import open_retriever

    config = _existing(rag_config(rag))

    async def find() -> None:
        retriever = open_retriever(config, _say)
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


@app.command()
def collections(rag: RagOption = None) -> None:
    """List the collections, with their chunks and who embedded them."""
    from areopage.rag.retrieval.collection import open_store

    config = _existing(rag_config(rag))

    async def show() -> None:
        import os

        store = open_store(config, os.environ)
        try:
            names = await store.names()
            for name in names:
                state = await store.state(name)
                by = str(state.record.embedder) if state.record else f"an unknown embedder ({state.dimension} dimensions)"
                typer.echo(f"{name}: {state.chunks:,} chunks, embedded by {by}")
            if not names:
                typer.echo(f"{store.place} has no collection: fill one with `areopage rag ingest DIR`")
        finally:
            await store.aclose()

    asyncio.run(show())


async def _ingest(
    config: "RagConfig", folder: Path, collection: str, source: str, fields: dict[str, str], prune: bool
) -> "IngestReport":
    """Open everything, ingest, and close it again."""
    import os

    from rich.console import Console

    from areopage.cli.rag_progress import IngestDisplay
    from areopage.rag.ingestion.ingest import Ingestion
    from areopage.rag.ingestion.reading import RowFields
    from areopage.rag.retrieval.collection import open_store
    from areopage.rag.retrieval.open_embedder import open_embedder

    embedder = open_embedder(config, os.environ)
    store = open_store(config, os.environ)
    try:
        with IngestDisplay(Console(stderr=True)) as display:
            run = Ingestion(
                config,
                store,
                embedder,
                collection=collection,
                source=source,
                fields=RowFields(**fields),
                prune=prune,
                progress=display.show,
            )
            return await run.run(folder)
    finally:
        await _all(embedder.aclose, store.aclose)


async def _all(*closings: Callable[[], Awaitable[None]]) -> None:
    """Close one after the other."""
    for closing in closings:
        await closing()


def _show_report(report: "IngestReport", place: Path, prune: bool) -> None:
    """What was done, in a few lines; the file of what could not be read is written, or removed where all could."""
    from areopage.locales import one_line

    typer.echo(
        f"{report.collection}: {report.files} files ({report.unchanged} unchanged), {report.embedded} chunks embedded, "
        f"{report.kept} kept, {report.removed} removed; {report.chunks:,} chunks in all"
    )
    for remark in report.remarks:
        _say(remark)
    if report.gone and not prune:
        _say(f"{len(report.gone)} files are gone from the folder, and their chunks stay: --prune removes them")
    _write_rejected(report.unread, place)
    for unread in report.unread[:SHOWN]:
        row = f", row {unread.row}" if unread.row is not None else ""
        _say(f"not read: {one_line(unread.file)}{row}: {one_line(unread.reason, LONGEST_REASON)}")
    if report.unread:
        more = len(report.unread) - SHOWN
        _say(f"{len(report.unread)} could not be read{f' ({more} more than shown)' if more > 0 else ''}: all are in {place}")


def _write_rejected(unread: "tuple[Unread, ...]", place: Path) -> None:
    """Name everything that could not be read, a line of JSON each."""
    import msgspec

    if not unread:
        place.unlink(missing_ok=True)
        return
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_bytes(b"".join(msgspec.json.encode(one) + b"\n" for one in unread))


def _row_fields(given: list[str]) -> dict[str, str]:
    """`text=body` as a mapping.

    Raises:
        BadParameter: a name of ours that does not exist.
    """
    ours: tuple[Literal["text", "id", "title", "source", "metadata"], ...] = ("text", "id", "title", "source", "metadata")
    fields: dict[str, str] = {}
    for pair in given:
        name, equals, theirs = pair.partition("=")
        if name not in ours or not equals or not theirs:
            raise typer.BadParameter(
                f"{pair!r}: write one of {', '.join(ours)}, then = and the name in the file", param_hint="--field"
            )
        fields[name] = theirs
    return fields


def _beside_store(config: "RagConfig") -> Path:
    """Where the rejected file goes: into the folder that the store lies in."""
    return config.path(config.section.store.path).parent / REJECTED_FILE


def _existing(config: "RagConfig") -> "RagConfig":
    """The configuration, where there is a store to look into.

    Raises:
        UnknownCollection: its folder holds none.
    """
    from areopage.errors import UnknownCollection
    from areopage.rag.retrieval.collection import folder_exists

    if not folder_exists(config):
        folder = config.path(config.section.store.path)
        raise UnknownCollection(
            f"there is no vector store {folder}: fill one with `areopage rag ingest DIR`, or name it in rag.yml"
        )
    return config


def _say(line: str) -> None:
    """A line for people, apart from the results."""
    typer.echo(line, err=True)
