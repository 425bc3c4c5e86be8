"""The page of a held answer. It reloads until a person has decided."""

from typing import Annotated

from fastapi import APIRouter, Depends
from starlette.requests import Request
from starlette.responses import Response

from areopage.ledger.traces import Traces
from areopage.server.access import Actor, require
from areopage.server.api.chat import held_of
from areopage.server.context import context_of
from areopage.server.errors import Refusal
from areopage.server.pages.rendering import render

router = APIRouter(include_in_schema=False)


@router.get("/chat/held/{id}")
def show_held(request: Request, id: str, visitor: Annotated[Actor, Depends(require("ask", "read"))]) -> Response:
    """How it stands; htmx fetches this very page again while it waits."""
    try:
        held = held_of(request, visitor, id)
    except Refusal:
        return render(request, "missing.html.j2", 404)
    trace = Traces(context_of(request).ledger).get(id)
    return render(request, "held.html.j2", held=held, question=trace.prompt if trace else "")
