"""`/v1/chat`: answer questions through the gate, as JSON or as server-sent events."""

import asyncio
import logging
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import aclosing
from typing import Annotated, Any

import msgspec
from fastapi import APIRouter
from msgspec import Meta, Struct
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from areopage.checking import MOST_PROMPT
from areopage.errors import UserError
from areopage.gate import GateVerdict, JudgeTrust
from areopage.ledger import Mode, Trace
from areopage.rag.asking import ask, count_answer, pipeline_of, plain_faults, prompt_of, reasons_of, service_of
from areopage.rag.records import ChatPrompt, Citation, citations_of
from areopage.records import record_from
from areopage.server import (
    ApiRoute,
    Asker,
    Collection,
    Pipeline,
    Refusal,
    ServerPart,
    SessionId,
    answers_with,
    decoded,
    json_body,
    json_response,
    rounded,
    takes,
)

EVENTS = "text/event-stream"
EVENT_HEADERS = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
HEARTBEAT_SECONDS = 15.0


class ChatRequest(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A question for the pipeline. `no_cache` bypasses the cache of answers."""

    question: Annotated[str, Meta(min_length=1, max_length=MOST_PROMPT, examples=["Combien de jours de congés payés ai-je ?"])]
    collection: Collection = ""
    sources_filter: Annotated[list[Annotated[str, Meta(max_length=256)]], Meta(max_length=100)] = []
    no_cache: bool = False
    session: SessionId = ""


class ChatReply(Struct, frozen=True, kw_only=True):
    """The reply to the user. If `verdict` is `human_review`, `held` is the path of the later review decision.

    `reasons` are sentences in the question's language; they never quote a text that was not delivered. `p_unsupported` compares
    words; it is null where it would not say what the verdict says. `meaning_not_checked`: the number of sentences that nearly
    copy a document with a word changed that can change the meaning. `judge_standing`: what the word of the judge that was asked
    was worth; null where none was asked.
    """

    id: str
    answer: str
    verdict: GateVerdict
    mode: Mode
    confidence: float | None
    p_unsupported: float | None
    meaning_not_checked: int | None
    citations: tuple[Citation, ...]
    judge_standing: JudgeTrust | None
    response_lang: str
    reasons: list[str]
    seconds: float
    held: str | None


log = logging.getLogger(__name__)

router = APIRouter(prefix="/v1/chat", tags=["chat"], route_class=ApiRoute)
PART = ServerPart(router, records=(ChatReply, ChatRequest))


@router.post(
    "",
    responses=answers_with(ChatReply, 200, 400, 404, 413, 415, 429, 502, 504),
    openapi_extra=takes(ChatRequest),
    summary="Ask a question",
)
async def chat(request: Request, actor: Asker) -> Response:
    """Retrieve documents, generate an answer and apply the gate.

    With `Accept: text/event-stream`, each step is an event and the answer is the last event.
    """
    asked = decoded(await json_body(request), ChatRequest)
    pipeline = pipeline_of(request)
    prompt = prompt_of(
        pipeline,
        actor,
        asked.question,
        collection=asked.collection,
        sources=tuple(asked.sources_filter),
        no_cache=asked.no_cache,
        session=asked.session,
    )
    if EVENTS in request.headers.get("accept", ""):
        return await _streamed(request, pipeline, prompt)
    return json_response(_reply_of(await ask(request, pipeline, prompt), pipeline.language))


def _reply_of(trace: Trace, language: str) -> ChatReply:
    return record_from(
        ChatReply,
        trace,
        answer=trace.answer.delivered,
        confidence=rounded(trace.confidence),
        citations=citations_of(trace),
        response_lang=trace.language,
        reasons=reasons_of(trace, language),
        seconds=trace.answer.seconds or 0.0,
        held=f"/v1/chat/held/{trace.id}" if trace.mode == "human_review" else None,
    )


async def _streamed(request: Request, pipeline: Pipeline, prompt: ChatPrompt) -> Response:
    """Stream the answer as events; a failure after the first step becomes the last event."""
    steps = service_of(pipeline).stream(prompt)
    began = time.perf_counter()
    with plain_faults(prompt.collection):
        first = await anext(steps)

    def shown(step: dict[str, Any]) -> bytes:
        nonlocal began
        if "trace" in step:
            count_answer(request, step["trace"])
            return _event("answer", _reply_of(step["trace"], pipeline.language))
        # the step's state contains the unchecked response: it is never sent
        spent, began = time.perf_counter() - began, time.perf_counter()
        return _event("node", {"node": step["node"], "seconds": round(spent, 6)})

    return StreamingResponse(_events(first, steps, shown, prompt.collection), media_type=EVENTS, headers=EVENT_HEADERS)


async def _events(
    first: dict[str, Any], steps: AsyncIterator[dict[str, Any]], shown: Callable[[dict[str, Any]], bytes], collection: str
) -> AsyncIterator[bytes]:
    yield shown(first)
    try:
        with plain_faults(collection):
            async with aclosing(_with_heartbeats(steps)) as beating:
                async for step in beating:
                    yield b": still working\n\n" if step is None else shown(step)
    except Refusal as fault:
        yield _event("error", {"error": {"code": fault.code, "message": fault.detail}})
    except UserError as fault:
        log.error("%s", fault)
        message = "the server is not configured for this: see the server's log"
        yield _event("error", {"error": {"code": "misconfigured", "message": message}})


async def _with_heartbeats(steps: AsyncIterator[dict[str, Any]]) -> AsyncGenerator[dict[str, Any] | None, None]:
    """The steps, with None as a heartbeat during long steps: proxies close idle connections."""
    while True:
        coming = asyncio.ensure_future(anext(steps, None))
        try:
            while not (await asyncio.wait([coming], timeout=HEARTBEAT_SECONDS))[0]:
                yield None
        finally:
            if not coming.done():
                coming.cancel()
                await asyncio.wait([coming])
        step = coming.result()
        if step is None:
            return
        yield step


def _event(name: str, content: Any) -> bytes:
    return b"event: " + name.encode() + b"\ndata: " + msgspec.json.encode(content) + b"\n\n"
