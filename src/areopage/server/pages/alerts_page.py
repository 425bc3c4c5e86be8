"""The page of open and closed alerts, with their delivery."""

from typing import Annotated

from fastapi import APIRouter, Depends
from starlette.requests import Request
from starlette.responses import Response

from areopage.ledger.alerts import Alerts
from areopage.server.access import Actor, require
from areopage.server.context import context_of
from areopage.server.pages.overview import not_told
from areopage.server.pages.rendering import render

SHOWN = 100
Reader = Annotated[Actor, Depends(require("read"))]

router = APIRouter(include_in_schema=False)


@router.get("/monitor/alerts")
def show_alerts(request: Request, reader: Reader) -> Response:
    """The newest alerts, open ones first."""
    context = context_of(request)
    alerts = Alerts(context.ledger)
    qualification, past = alerts.list(state="open", limit=SHOWN), alerts.list(state="closed", limit=SHOWN)
    return render(
        request,
        "alerts.html.j2",
        qualification_alerts=qualification,
        past=past,
        lost=[alert for alert in (*qualification, *past) if not_told(alert)],
        told=bool(context.config.monitor.section.alerts.urls),
    )
