"""The page of a held answer, which reloads until a person has decided."""

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from areopage.server.access import Follower, note_shown
from areopage.server.api.held import held_of
from areopage.server.context import context_of
from areopage.server.errors import Refusal
from areopage.server.pages.rendering import render

router = APIRouter(include_in_schema=False)


@router.get("/chat/held/{id}")
def show_held(request: Request, id: str, visitor: Follower) -> Response:
    """The review state of the answer; htmx fetches the page again while it waits."""
    try:
        held = held_of(request, visitor, id)
    except Refusal:
        return render(request, "missing.html.j2", 404)
    ledger = context_of(request).ledger
    trace = ledger.traces.get(id)
    if not held.text and trace is not None and trace.prompt:
        note_shown(request, ledger, visitor, "the question of a held answer", [id], live=True)
    return render(request, "held.html.j2", held=held, question=trace.prompt if trace else "")
