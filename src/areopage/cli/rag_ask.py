"""`areopage rag ask`: a question through the whole pipeline."""

import asyncio
from typing import TYPE_CHECKING, Annotated

import typer

from areopage.cli.rag_options import RagOption, rag_config

if TYPE_CHECKING:
    from areopage.ledger.records import Trace
    from areopage.rag.config import RagConfig
    from areopage.rag.records import ChatPrompt
    from areopage.rag.service import RagService

SHOWN_EXCERPT = 160


def ask(
    question: Annotated[str, typer.Argument(help="The question.")],
    collection: Annotated[str, typer.Option("--collection", metavar="NAME", help="Default: the configuration's.")] = "",
    source: Annotated[list[str] | None, typer.Option("--source", metavar="NAME", help="Only its documents; repeatable.")] = None,
    no_cache: Annotated[bool, typer.Option("--no-cache", help="Neither read nor write the answer cache.")] = False,
    stream: Annotated[bool, typer.Option("--stream", help="Tell each step as it is done.")] = False,
    rag: RagOption = None,
) -> None:
    """Ask a question: retrieve, generate, and let the gate decide what becomes of the answer."""
    from areopage.errors import CallError, ModelError
    from areopage.rag.records import ChatPrompt

    asked = ChatPrompt(
        prompt=question, collection=collection, sources_filter=tuple(source or ()), no_cache=no_cache, session="cli"
    )
    try:
        trace = asyncio.run(answered(rag_config(rag), asked, stream=stream))
    except CallError as fault:
        raise ModelError(f"the model did not answer: {fault}") from None
    show(trace)


async def answered(config: "RagConfig", prompt: "ChatPrompt", *, stream: bool) -> "Trace":
    """Open the pipeline, ask, and close it."""
    from areopage.ledger.store import Ledger
    from areopage.rag.service import open_service

    ledger = Ledger.open(config.ledger)
    try:
        service = open_service(config, ledger, lambda line: typer.echo(line, err=True))
        try:
            if stream:
                return await streamed(service, prompt)
            return await service.answer(prompt)
        finally:
            await service.aclose()
    finally:
        ledger.close()


async def streamed(service: "RagService", prompt: "ChatPrompt") -> "Trace":
    """Tell each step, and give the answer at the end."""
    trace: Trace | None = None
    async for event in service.stream(prompt):
        if "node" in event:
            typer.echo(f"· {event['node']}", err=True)
        trace = event.get("trace")
    assert trace is not None  # noqa: S101 - a stream ends with its answer, or raises
    return trace


def show(trace: "Trace") -> None:
    """Print the answer, what it rests on, and what the gate says of it."""
    from areopage.cli.review_show import visible
    from areopage.rag.records import citations_of
    from areopage.report.gate.wording import explain, gate_language, shown

    typer.echo(visible(trace.answer.delivered))
    for citation in citations_of(trace):
        named = " · ".join(shown(part) for part in (citation.title, citation.source) if part)
        score = f" ({citation.score:.2f})" if citation.score is not None else ""
        typer.echo(f"  [{shown(citation.id)}] {named}{score}: {shown(citation.excerpt, SHOWN_EXCERPT)}")
    read = trace.decision is not None and trace.decision.sentences
    words = gate_language("en")
    doubt = f", p_unsupported {words.probability(trace.p_unsupported)}" if read and trace.p_unsupported is not None else ""
    word = words.words["gate_verdict_words"][trace.verdict]
    if trace.mode == "shadow":
        word = f"delivered all the same; by the gate: {word}"
    typer.echo(f"\n{word} ({trace.mode}), confidence {trace.confidence:.2f}{doubt}, id {trace.id}")
    if trace.decision is not None:
        for reason in explain(trace.decision, trace.language or "en"):
            typer.echo(f"- {reason}")
