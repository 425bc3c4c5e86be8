"""`/v1/figures` and `/v1/alerts`: figures of a period and alerts."""

from datetime import timedelta
from typing import Annotated, Literal

from fastapi import APIRouter, Depends, Query
from starlette.requests import Request
from starlette.responses import Response

from areopage.ledger.alerts import Alerts
from areopage.ledger.queries import Period, Scope
from areopage.monitor.figures import PeriodFigures, criterion_labels, measure
from areopage.server.access import Actor, require
from areopage.server.api.records import AlertPage
from areopage.server.api.schema import answers_with, json_response
from areopage.server.context import context_of

router = APIRouter(prefix="/v1")

Reader = Annotated[Actor, Depends(require("read"))]
Name = Annotated[str | None, Query(max_length=128)]


@router.get("/figures", responses=answers_with(PeriodFigures), tags=["figures"], summary="Get the figures of the last days")
def figures(
    request: Request,
    _: Reader,
    days: Annotated[int, Query(ge=1, le=366, description="Number of days up to today (UTC).")] = 7,
    source: Name = None,
    variant: Name = None,
) -> Response:
    """Coverage, means with intervals, grades, trend, weakest answers, judges and cost, as in the report."""
    context = context_of(request)
    tomorrow = context.now().date() + timedelta(days=1)
    period = Period(start=tomorrow - timedelta(days=days), end=tomorrow)
    suite = context.suite
    labels = criterion_labels(suite, context.config.monitor.section.language or suite.own_language)
    return json_response(measure(context.ledger, period, Scope(source=source, variant=variant), suite.scale, labels))


@router.get("/alerts", responses=answers_with(AlertPage), tags=["figures"], summary="List the newest alerts")
def alerts(
    request: Request,
    _: Reader,
    state: Literal["open", "closed"] | None = None,
    limit: Annotated[int, Query(ge=1, le=1000)] = 100,
) -> Response:
    """Alerts with the number of occurrences and the delivery state."""
    return json_response(AlertPage(items=list(Alerts(context_of(request).ledger).list(state=state, limit=limit))))
