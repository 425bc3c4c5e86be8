"""The live page: how good the answers are now."""

from typing import Annotated, Any

from fastapi import APIRouter, Depends
from starlette.requests import Request
from starlette.responses import FileResponse, Response

from areopage.locales import Locale
from areopage.monitor.config import on_scale
from areopage.monitor.figures import criterion_labels
from areopage.report.charts import STYLES
from areopage.scoring.counts import grade_limits
from areopage.server.access import Actor, require
from areopage.server.context import ServerContext, context_of
from areopage.server.pages import alerts_page, answers, golden_page, queue_page
from areopage.server.pages.filters import TODAY, Chosen, chosen
from areopage.server.pages.overview import Overview, overview_of
from areopage.server.pages.rendering import CHART_STYLES, language, render
from areopage.server.pages.trends import distribution_of, trends_of

Reader = Annotated[Actor, Depends(require("read"))]
KEPT = {"Cache-Control": "no-cache"}

router = APIRouter(include_in_schema=False)
for page in (answers, alerts_page, queue_page, golden_page):
    router.include_router(page.router)


@router.get("/monitor")
def show_overview(request: Request, reader: Reader) -> Response:
    """The whole page."""
    asked, view, spoken = _gathered(request)
    return render(
        request, "overview.html.j2", **shown(context_of(request), asked, view, spoken), first_answer=_first_answer(request)
    )


@router.get("/monitor/figures")
def show_figures(request: Request, reader: Reader) -> Response:
    """Return the live part of the page; 204 where the reader's copy is current."""
    asked, view, spoken = _gathered(request)
    if request.query_params.get("seen") == view.digest:
        return Response(status_code=204)
    return render(request, "live.html.j2", **shown(context_of(request), asked, view, spoken))


@router.get(CHART_STYLES)
def chart_styles() -> Response:
    """The styles of charts, which reports have in common with the pages."""
    return FileResponse(STYLES, headers=KEPT)


def _gathered(request: Request) -> tuple[Chosen, Overview, Locale]:
    """What is asked for, what there is to show, and the reader's language."""
    context, spoken = context_of(request), language(request)
    asked = chosen(request, context.now().date(), TODAY)
    return asked, overview_of(context, asked, criterion_labels(context.suite, spoken.code)), spoken


def shown(context: ServerContext, asked: Chosen, view: Overview, spoken: Locale) -> dict[str, Any]:
    """What the templates of the figures take."""
    scale = context.suite.scale
    threshold = on_scale(context.config.monitor.section, scale).answer
    return {
        "asked": asked,
        "view": view,
        "scale": scale,
        "threshold": threshold,
        "edges": grade_limits(scale),
        "trends": trends_of(view.trend, view.figures, scale, threshold, spoken),
        "distribution": distribution_of(view.figures, scale, spoken),
    }


def _first_answer(request: Request) -> str:
    """A three-line shell command that submits a first answer to this server."""
    address = f"{request.url.scheme}://{request.url.netloc}/v1/evaluations"
    body = '{"id": "first", "prompt": "Question?", "response": "Answer.", "documents": [{"title": "Source", "text": "Text."}]}'
    return f"curl {address} \\\n  -H 'Content-Type: application/json' -H 'Authorization: Bearer KEY' \\\n  -d '{body}'"
