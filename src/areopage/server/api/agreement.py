"""`/v1/agreement`: how far the judge agrees with people."""

from datetime import datetime, timedelta
from typing import Annotated

from fastapi import APIRouter, Depends, Query
from starlette.requests import Request
from starlette.responses import Response

from areopage.errors import StorageError, UserError
from areopage.review.agreement import AgreementReport, ledger_agreement
from areopage.review.rubric import rubric_of
from areopage.server.access import Actor, require
from areopage.server.api.schema import answers_with, json_response
from areopage.server.context import ServerContext, context_of
from areopage.server.errors import Refusal

MOST_DAYS = 36_500

router = APIRouter(prefix="/v1", tags=["figures"])


@router.get("/agreement", responses=answers_with(AgreementReport), summary="Judge against people")
def agreement(
    request: Request,
    _: Annotated[Actor, Depends(require("read"))],
    days: Annotated[int | None, Query(ge=1, le=MOST_DAYS, description="Only labels of the last days.")] = None,
    judge: Annotated[str, Query(max_length=256, description="One judge; without it the whole jury.")] = "",
    sample_only: Annotated[bool, Query(description="Only answers that were queued at random.")] = False,
) -> Response:
    """Correlations with 95 % intervals, weighted κ, bias, whether the correlation is over 0.8, the worst disagreements."""
    context = context_of(request)
    language = context.config.monitor.section.language or context.suite.own_language
    since = context.now() - timedelta(days=days) if days is not None else None
    return json_response(measured(context, language, since, judge, sample_only=sample_only))


def measured(
    context: ServerContext, language: str, since: datetime | None, judge: str, *, sample_only: bool, lenient: bool = False
) -> AgreementReport:
    """The agreement over the ledger's labels.

    Args:
        lenient: take the whole jury where the judge that is asked for is none.

    Raises:
        Refusal: 422, no judge of that name judged a labelled answer.
        StorageError: the ledger cannot be read.
    """
    rubric = rubric_of(context.suite)
    try:
        return ledger_agreement(context.ledger, rubric, language, since=since, judge=judge, sample_only=sample_only)
    except StorageError:
        raise
    except UserError as fault:
        if not lenient or not judge:
            raise Refusal(422, "invalid", str(fault)) from None
    return ledger_agreement(context.ledger, rubric, language, since=since, sample_only=sample_only)
