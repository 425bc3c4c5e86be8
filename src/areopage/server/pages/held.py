"""What became of an answer that waits for a person: `/v1/chat/held`, and its page, which reloads until a person has decided."""

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from areopage.gate import numbered
from areopage.server.access import Actor, Follower, note, note_shown
from areopage.server.api.records import HeldReply
from areopage.server.api.schema import ApiRoute, answers_with, json_response
from areopage.server.context import context_of
from areopage.server.errors import Refusal
from areopage.server.pages.rendering import render

api_router = APIRouter(prefix="/v1/chat", tags=["chat"], route_class=ApiRoute)
router = APIRouter(include_in_schema=False)


@api_router.get("/held/{id}", responses=answers_with(HeldReply, 200, 404), summary="Get the review state of a held answer")
def held(request: Request, id: str, actor: Follower) -> Response:
    """The text is present once a reviewer has released the answer."""
    return json_response(held_of(request, actor, id))


def held_of(request: Request, actor: Actor, id: str) -> HeldReply:
    """The review state of a held answer; reading its text is audited."""
    traces = context_of(request).ledger.traces
    release = traces.release(id)
    trace = traces.get(id) if release else None
    if release is None or trace is None or not actor.may_see(trace.collection):
        raise Refusal(404, "unknown_answer", f"no held answer has the id {id[:128]!r}")
    if trace.erased:
        return HeldReply(id=id, state="refused", text="")
    if release.text:
        note(context_of(request).ledger, actor, "read", id)
    return HeldReply(id=id, state=release.state, text=release.text if release.state == "released" else "")


@router.get("/chat/held/{id}")
def show_held(request: Request, id: str, visitor: Follower) -> Response:
    """The review state of the answer; htmx fetches the page again while it waits."""
    try:
        reply = held_of(request, visitor, id)
    except Refusal:
        return render(request, "missing.html.j2", 404)
    ledger = context_of(request).ledger
    trace = ledger.traces.get(id)
    if not reply.text and trace is not None and trace.prompt:
        note_shown(request, ledger, visitor, "the question of a held answer", [id], live=True)
    text, sources = numbered(reply.text, trace.documents if trace else ())
    question = trace.prompt if trace else ""
    return render(request, "held.html.j2", held=reply, question=question, shown=text, sources=sources)
