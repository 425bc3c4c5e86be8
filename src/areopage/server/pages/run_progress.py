"""The page of a run that workers carry out: how far it is, while it goes on."""

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from areopage.bench import progress_of, spec_of
from areopage.server.access import Reader
from areopage.server.context import context_of
from areopage.server.pages.rendering import render, run_url
from areopage.server.pages.runs import visible_run

router = APIRouter(include_in_schema=False)


@router.get("/runs/{id:path}/progress")
def show_progress(request: Request, id: str, reader: Reader) -> Response:
    """Calls done of those planned by judge, workers, rate, time left and cost; a run without workers has its own page alone."""
    context = context_of(request)
    run = visible_run(context, reader, id) if id else None
    if run is None:
        return RedirectResponse("/runs", 303) if not id else render(request, "missing.html.j2", 404)
    progress = progress_of(context.ledger, run.id, spec_of(run), context.now())
    if progress is None:
        return RedirectResponse(run_url(run.id), 303)
    return render(request, "run_progress.html.j2", run=run, progress=progress, address=run_url(run.id))
