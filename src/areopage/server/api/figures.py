"""Figures of a period, alerts, and people's labels."""

from datetime import timedelta
from typing import Annotated, Literal

from fastapi import APIRouter, Depends, Query
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from areopage.errors import StorageError, UserError
from areopage.ledger.access import Audit
from areopage.ledger.alerts import Alerts
from areopage.ledger.answers import Answers
from areopage.ledger.queries import Period, Scope
from areopage.monitor.figures import PeriodFigures
from areopage.monitor.measure import criterion_labels, measure
from areopage.review.label import label_answer
from areopage.review.rubric import rubric_of
from areopage.server.access import Actor, require
from areopage.server.api.evaluations import decoded, json_body, unknown
from areopage.server.api.records import AlertPage, GivenLabels, StoredLabels
from areopage.server.api.schema import answers_with, json_response, takes
from areopage.server.context import ServerContext, context_of
from areopage.server.errors import Refusal

router = APIRouter(prefix="/v1")

Reader = Annotated[Actor, Depends(require("read"))]
Writer = Annotated[Actor, Depends(require("write"))]
Name = Annotated[str | None, Query(max_length=128)]


@router.get("/figures", responses=answers_with(PeriodFigures), tags=["figures"], summary="The figures of the last days")
def figures(
    request: Request,
    _: Reader,
    days: Annotated[int, Query(ge=1, le=366, description="How many days, today included, in UTC.")] = 7,
    source: Name = None,
    variant: Name = None,
) -> Response:
    """Coverage, means with their intervals, bands, trend, the worst answers, judges and cost: what the report shows."""
    context = context_of(request)
    tomorrow = context.now().date() + timedelta(days=1)
    period = Period(start=tomorrow - timedelta(days=days), end=tomorrow)
    suite = context.suite
    labels = criterion_labels(suite, context.config.section.language or suite.own_language)
    return json_response(measure(context.ledger, period, Scope(source=source, variant=variant), suite.scale, labels))


@router.get("/alerts", responses=answers_with(AlertPage), tags=["figures"], summary="The newest alerts")
def alerts(
    request: Request,
    _: Reader,
    state: Literal["open", "closed"] | None = None,
    limit: Annotated[int, Query(ge=1, le=1000)] = 100,
) -> Response:
    """Alerts with how often each was seen and whether somebody was told."""
    return json_response(AlertPage(items=list(Alerts(context_of(request).ledger).list(state=state, limit=limit))))


@router.post(
    "/labels",
    status_code=201,
    responses=answers_with(StoredLabels, 201, 400, 404, 413, 415),
    openapi_extra=takes(GivenLabels),
    tags=["labels"],
    summary="Label an answer",
)
async def label(request: Request, actor: Writer) -> Response:
    """Store one person's scores of one answer; a later label of the same person and criterion replaces an earlier one."""
    given = decoded(await json_body(request), GivenLabels)
    if given.rater is not None and actor.role != "admin":
        raise Refusal(403, "forbidden", "only an admin's key may label in somebody else's name: leave `rater` out")
    return json_response(await run_in_threadpool(store_labels, context_of(request), given, actor.name), 201)


def store_labels(context: ServerContext, given: GivenLabels, actor: str) -> StoredLabels:
    """Store labels; it blocks. The audit log names who sent them, also where they are another rater's.

    Args:
        actor: the name of the key that sent them; theirs where they name no rater.

    Raises:
        Refusal: 404, there is no such answer; 422, a criterion or a score is wrong.
        StorageError: the ledger cannot be written.
    """
    answer = Answers(context.ledger).get(given.answer_id)
    if answer is None or answer.erased:
        raise unknown(given.answer_id)
    rater = given.rater or actor
    written = {criterion: f"{score:f}" for criterion, score in given.scores.items()}
    try:
        stored = label_answer(
            context.ledger, rubric_of(context.suite), given.answer_id, rater, written, given.note, "api", context.now()
        )
    except StorageError:
        raise
    except UserError as fault:
        raise Refusal(422, "invalid", str(fault)) from None
    if rater != actor:
        Audit(context.ledger).note(actor, "label", given.answer_id, f"in the name of {rater}")
    return StoredLabels(stored=len(stored), rater=rater)
