"""The pages of the list of answers and of one answer."""

from typing import Annotated

from fastapi import APIRouter, Depends
from starlette.requests import Request
from starlette.responses import Response

from areopage.ledger.access import Audit
from areopage.ledger.lists import EvaluationLists
from areopage.monitor.figures import criterion_labels
from areopage.server.access import Actor, require
from areopage.server.context import context_of
from areopage.server.pages.answer import answer_view
from areopage.server.pages.filters import ALL, GRADES, chosen, in_order, label_of
from areopage.server.pages.rendering import language, render

PER_PAGE = 50
Reader = Annotated[Actor, Depends(require("read"))]

router = APIRouter(include_in_schema=False)


@router.get("/monitor/answers")
def show_answers(request: Request, reader: Reader) -> Response:
    """One page of the list, newest first."""
    context = context_of(request)
    asked = chosen(request, context.now().date(), ALL)
    lists = EvaluationLists(context.ledger)
    found = lists.page(asked.filters, before=asked.before, limit=PER_PAGE + 1)
    rows = found[:PER_PAGE]
    Audit(context.ledger).note(reader.name, "read", "", f"a list of {len(rows)} answers")
    labels = criterion_labels(context.suite, language(request).code)
    criteria = in_order(labels, [one.criterion for row in rows for one in row.criteria] or list(labels))
    return render(
        request,
        "answers.html.j2",
        asked=asked,
        rows=rows,
        older=asked.query(before=str(rows[-1].number)) if len(found) > PER_PAGE else None,
        criteria={criterion: label_of(labels, criterion) for criterion in criteria},
        choices=labels,
        grades=GRADES,
        sources=lists.sources(),
        variants=lists.variants(),
        scale=context.suite.scale,
    )


@router.get("/monitor/answers/{id:path}")
def show_answer(request: Request, id: str, reader: Reader) -> Response:
    """Show an answer and record that it was read."""
    context, spoken = context_of(request), language(request)
    id = id or request.query_params.get("id", "")
    view = answer_view(context.ledger, context.suite, id, spoken.code)
    if view is None:
        return render(request, "missing.html.j2", status=404)
    Audit(context.ledger).note(reader.name, "read", id)
    return render(request, "answer.html.j2", view=view, scale=context.suite.scale)
