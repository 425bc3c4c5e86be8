"""The chat page, which works without scripts."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from fastapi import APIRouter
from msgspec import Struct, structs
from starlette.requests import Request
from starlette.responses import Response

from areopage.checking import MOST_PROMPT
from areopage.ledger import Trace
from areopage.rag.asking import ask, pipeline_of, prompt_of, reasons_of
from areopage.rag.records import ShownReply, readable_decision, shown_reply
from areopage.server import Actor, Asker, Follower, Form, Refusal, ServerPart, context_of, language, note_shown, render

FIELDS = ("question", "collection", "sources", "fresh")
MOST_SOURCES = 100
MOST_NAME = 256
MOST_EARLIER = 20  # answers that stay on the page below a new one
router = APIRouter(include_in_schema=False)
PART = ServerPart(router, folder=Path(__file__).with_name("pages"))


@router.get("/chat")
def show_form(request: Request, visitor: Follower) -> Response:
    """The form, or how to configure chat."""
    return _chat_page(request, visitor, {})


@router.post("/chat")
async def answer(request: Request, asker: Asker, form: Form) -> Response:
    """The form with the response below it: delivered text, fallback text, or a note that a person reviews it.

    Below it are the questions and answers that the page showed before; the model gets none of them.
    """
    fields = {name: value for name, value in form.multi_items() if isinstance(value, str)}
    say, asked = language(request).say, fields.get("question", "").replace("\r\n", "\n").strip()
    if not asked:
        return _chat_page(request, asker, fields, fault=say("chat_empty"), status=422)
    if len(asked) > MOST_PROMPT:
        return _chat_page(request, asker, fields, fault=say("chat_fault_too_long", n=f"{MOST_PROMPT}"), status=422)
    pipeline = pipeline_of(request)
    sources = [name.strip()[:MOST_NAME] for name in fields.get("sources", "").split(",") if name.strip()]
    try:
        prompt = prompt_of(
            pipeline,
            asker,
            asked,
            collection=fields.get("collection", "")[:MOST_NAME],
            sources=tuple(sources[:MOST_SOURCES]),
            no_cache="fresh" in fields,
        )
        trace = await ask(request, pipeline, prompt)
    except Refusal as refusal:
        key = f"chat_fault_{refusal.code}"
        text = say(key) if key in language(request).messages else refusal.detail
        return _chat_page(request, asker, fields, fault=text, status=refusal.status_code)
    return _chat_page(request, asker, fields, trace=trace)


class Exchange(Struct, frozen=True, kw_only=True):
    """A question with its reply, as the page shows them."""

    trace: Trace
    reply: ShownReply
    reasons: list[str]


def _exchange(request: Request, trace: Trace) -> Exchange:
    readable = structs.replace(trace, decision=readable_decision(trace))
    return Exchange(trace=trace, reply=shown_reply(trace), reasons=reasons_of(readable, language(request).code))


def _earlier(request: Request, actor: Actor, ids: str) -> list[Trace]:
    """The answers that the page showed before, as far as they were the same key's and their texts are stored."""
    ledger = context_of(request).ledger
    traces = [trace for id in ids.split()[:MOST_EARLIER] if (trace := ledger.traces.get(id[:MOST_NAME])) is not None]
    shown = [
        trace
        for trace in traces
        if trace.prompt and trace.channel == "chat" and trace.answer.api_key == actor.key and actor.may_see(trace.collection)
    ]
    note_shown(request, ledger, actor, f"{len(shown)} earlier answers of the chat", [trace.id for trace in shown], live=True)
    return shown


def _chat_page(
    request: Request, actor: Actor, fields: Mapping[str, str], *, trace: Trace | None = None, fault: str = "", status: int = 200
) -> Response:
    pipeline = context_of(request).rag
    earlier = _earlier(request, actor, fields.get("earlier", ""))
    traces = [trace, *earlier] if trace else earlier
    values: Mapping[str, Any] = {
        "pipeline": pipeline,
        "fields": {name: fields.get(name, "") for name in FIELDS},
        "exchanges": [_exchange(request, shown) for shown in traces],
        "shown_ids": " ".join([shown.id for shown in traces][:MOST_EARLIER]),
        "fault": fault,
        "may_ask": actor.role != "read",
        "may_read": actor.role != "ask",
        "collections": actor.collections,
        "longest": MOST_PROMPT,
    }
    # htmx shows what it fetched only where the status says that all went well
    shown = 200 if request.headers.get("hx-request") else status
    return render(request, "chat.html.j2", shown, **values)
