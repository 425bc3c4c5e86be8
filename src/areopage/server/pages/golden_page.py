"""Rounds of golden questions: their means over time, and what each round came to."""

from typing import Annotated

from fastapi import APIRouter, Depends
from starlette.requests import Request
from starlette.responses import Response

from areopage.ledger.lists import EvaluationLists
from areopage.ledger.operations import GoldenRuns
from areopage.ledger.queries import Filters
from areopage.ledger.records import GOLDEN_SOURCE
from areopage.report.charts import Series
from areopage.report.model import TrendChart
from areopage.report.render import draw
from areopage.server.access import Actor, require
from areopage.server.context import context_of
from areopage.server.pages.rendering import language, render

SHOWN = 60
Reader = Annotated[Actor, Depends(require("read"))]

router = APIRouter(include_in_schema=False)


@router.get("/monitor/golden")
def show_golden(request: Request, reader: Reader) -> Response:
    """The newest rounds of the suite."""
    context, spoken = context_of(request), language(request)
    rounds = GoldenRuns(context.ledger).list(context.suite.name, SHOWN)
    source = f"{GOLDEN_SOURCE}{context.suite.name}"
    newest = EvaluationLists(context.ledger).page(Filters(source=source), limit=1)
    by_time = sorted((one for one in rounds if one.mean is not None), key=lambda one: one.started_at)
    scale = context.suite.scale
    chart = TrendChart(
        title=spoken.say("golden_trend"),
        days=tuple(spoken.short_date(one.started_at.date()) for one in by_time),
        series=(Series(label=spoken.say("mean_score"), values=[one.mean for one in by_time], css="c0"),),
        low=scale.min,
        high=scale.max,
    )
    return render(
        request,
        "golden.html.j2",
        rounds=rounds,
        source=source,
        known=newest[0].qualification if newest else "",
        chart=draw(chart, spoken) if len(by_time) > 1 else None,
        section=context.config.monitor.section.golden,
        scale=scale,
    )
