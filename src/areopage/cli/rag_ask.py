"""`areopage rag ask`: a question through the whole pipeline."""

import asyncio
from typing import TYPE_CHECKING, Annotated

import typer

from areopage.cli.rag_options import RagOption, rag_config

if TYPE_CHECKING:
    from areopage.rag.config import RagConfig
    from areopage.rag.records import ChatAnswer, ChatQuestion
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
    from areopage.rag.records import ChatQuestion

    asked = ChatQuestion(
        question=question, collection=collection, sources_filter=tuple(source or ()), no_cache=no_cache, session="cli"
    )
    try:
        answer = asyncio.run(answered(rag_config(rag), asked, stream=stream))
    except CallError as fault:
        raise ModelError(f"the model did not answer: {fault}") from None
    show(answer)


async def answered(config: "RagConfig", question: "ChatQuestion", *, stream: bool) -> "ChatAnswer":
    """Open the pipeline, ask, and close it."""
    from areopage.ledger.store import Ledger
    from areopage.rag.service import open_service

    ledger = Ledger.open(config.ledger)
    try:
        service = open_service(config, ledger, lambda line: typer.echo(line, err=True))
        try:
            if stream:
                return await streamed(service, question)
            return await service.answer(question)
        finally:
            await service.aclose()
    finally:
        ledger.close()


async def streamed(service: "RagService", question: "ChatQuestion") -> "ChatAnswer":
    """Tell each step, and give the answer at the end."""
    answer: ChatAnswer | None = None
    async for event in service.stream(question):
        if "node" in event:
            typer.echo(f"· {event['node']}", err=True)
        answer = event.get("answer")
    assert answer is not None  # noqa: S101 - a stream ends with its answer, or raises
    return answer


def show(answer: "ChatAnswer") -> None:
    """Print the answer, what it rests on, and what the gate says of it."""
    from areopage.cli.review_show import visible
    from areopage.locales import one_line
    from areopage.report.decisions import decision_locale, explain

    typer.echo(visible(answer.answer))
    for citation in answer.citations:
        named = " · ".join(one_line(part) for part in (citation.title, citation.source) if part)
        score = f" ({citation.score:.2f})" if citation.score is not None else ""
        typer.echo(f"  [{one_line(citation.id)}] {named}{score}: {one_line(citation.excerpt, SHOWN_EXCERPT)}")
    read = answer.decision is not None and answer.decision.sentences
    locale = decision_locale("en")
    doubt = f", p_unsupported {locale.probability(answer.p_unsupported)}" if read and answer.p_unsupported is not None else ""
    word = locale.messages["gate_verdict_words"][answer.verdict]
    if answer.mode == "shadow":
        word = f"delivered all the same; by the gate: {word}"
    typer.echo(f"\n{word} ({answer.mode}), confidence {answer.confidence:.2f}{doubt}, id {answer.id}")
    if answer.decision is not None:
        for reason in explain(answer.decision, answer.response_lang or "en"):
            typer.echo(f"- {reason}")
