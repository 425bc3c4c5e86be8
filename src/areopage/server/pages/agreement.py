"""The page that says how far the judge agrees with people."""

from datetime import timedelta
from functools import partial
from typing import Annotated

from fastapi import APIRouter, Depends
from starlette.requests import Request
from starlette.responses import Response

from areopage.report.agreement import figure_text, name_of, range_text, remarks, verdict_text
from areopage.review.rubric import rubric_of
from areopage.server.access import Actor, require
from areopage.server.api.labels import measured
from areopage.server.context import context_of
from areopage.server.pages.rendering import language, render

SPANS = ("7", "30", "90")

Reader = Annotated[Actor, Depends(require("read"))]

router = APIRouter(include_in_schema=False)


@router.get("/agreement")
def show_agreement(request: Request, reader: Reader, days: str = "", judge: str = "", only: str = "") -> Response:
    """The figures over the labels of the last days, or over all; what makes no sense in the address is left out."""
    context, lang = context_of(request), language(request)
    since = context.now() - timedelta(days=int(days)) if days in SPANS else None
    report = measured(context, lang.code, since, judge, sample_only=only == "sample", lenient=True)
    return render(
        request,
        "agreement.html.j2",
        report=report,
        days=days if days in SPANS else "",
        spans=SPANS,
        criteria=[str(entry.path) for entry in rubric_of(context.suite).entries],
        name_of=partial(name_of, lang, report),
        figure=partial(figure_text, lang),
        inner=partial(range_text, lang),
        difference=lang.signed,
        verdict=partial(verdict_text, lang),
        remarks=remarks(report, lang),
        scale=context.suite.scale,
    )
