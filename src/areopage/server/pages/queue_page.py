"""The queue: what waits, who works, and what was given up."""

from typing import Annotated

from fastapi import APIRouter, Depends
from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from areopage.ledger.access import Audit
from areopage.ledger.evaluations import Evaluations
from areopage.ledger.operations import Workers, state_of
from areopage.server.access import Actor, checked_form, require
from areopage.server.context import context_of
from areopage.server.pages.rendering import render

SHOWN = 100
Reader = Annotated[Actor, Depends(require("read"))]
Writer = Annotated[Actor, Depends(require("write"))]
Form = Annotated[FormData, Depends(checked_form)]

router = APIRouter(include_in_schema=False)


@router.get("/monitor/queue")
def show_queue(request: Request, reader: Reader) -> Response:
    """What is not evaluated yet, and by whom it could be."""
    context = context_of(request)
    now, evaluations = context.now(), Evaluations(context.ledger)
    backlog = evaluations.backlog()
    dead_after = context.config.monitor.section.worker.dead_after
    return render(
        request,
        "queue.html.j2",
        backlog=backlog,
        waits=(now - backlog.oldest_at).total_seconds() if backlog.oldest_at else None,
        workers=[
            (worker, state_of(worker, now, dead_after), (now - worker.seen_at).total_seconds())
            for worker in Workers(context.ledger).list()
        ],
        failed=evaluations.failed(SHOWN),
        may_write=reader.role != "read",
    )


@router.post("/monitor/queue/retry")
def retry(request: Request, writer: Writer, form: Form) -> Response:
    """Let answers that were given up wait again: the one that is named, else all."""
    ledger, id = context_of(request).ledger, form.get("id")
    reopened = Evaluations(ledger).reopen([id] if isinstance(id, str) else None)
    Audit(ledger).note(writer.name, "settings", id if isinstance(id, str) else "", f"tried again: {reopened}")
    return RedirectResponse("/monitor/queue", 303)
