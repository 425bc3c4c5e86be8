"""The chat page, which works without scripts."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from areopage.checking import MOST_PROMPT
from areopage.ledger import Trace
from areopage.rag.asking import ask, pipeline_of, prompt_of, reasons_of
from areopage.rag.records import citations_of
from areopage.server import Actor, Asker, Follower, Form, Refusal, ServerPart, context_of, language, render

FIELDS = ("question", "collection", "sources", "fresh")
MOST_SOURCES = 100
MOST_NAME = 256
router = APIRouter(include_in_schema=False)
PART = ServerPart(router, folder=Path(__file__).with_name("pages"))


@router.get("/chat")
def show_form(request: Request, visitor: Follower) -> Response:
    """The form, or how to configure chat."""
    return _chat_page(request, visitor, {})


@router.post("/chat")
async def answer(request: Request, asker: Asker, form: Form) -> Response:
    """The form with the response below it: delivered text, fallback text, or a note that a person reviews it."""
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


def _chat_page(
    request: Request, actor: Actor, fields: Mapping[str, str], *, trace: Trace | None = None, fault: str = "", status: int = 200
) -> Response:
    pipeline = context_of(request).rag
    values: Mapping[str, Any] = {
        "pipeline": pipeline,
        "fields": {name: fields.get(name, "") for name in FIELDS},
        "found": trace,
        "citations": citations_of(trace) if trace else (),
        "fault": fault,
        "reasons": reasons_of(trace, language(request).code) if trace else [],
        "may_ask": actor.role != "read",
        "may_read": actor.role != "ask",
        "collections": actor.collections,
        "longest": MOST_PROMPT,
    }
    # htmx shows what it fetched only where the status says that all went well
    shown = 200 if request.headers.get("hx-request") else status
    return render(request, "chat.html.j2", shown, **values)
