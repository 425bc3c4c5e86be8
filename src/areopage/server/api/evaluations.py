"""`/v1/evaluations`: submit answers, ask how they stand, list them, erase one."""

from datetime import UTC, date, timedelta
from typing import Annotated, Any, TypeVar

import msgspec
from fastapi import APIRouter, Depends, Query
from starlette.requests import Request
from starlette.responses import Response

from areopage.cases.rows import MAX_DEPTH, is_deep
from areopage.errors import SubmissionError
from areopage.ledger import erasure
from areopage.ledger.access import Audit
from areopage.ledger.answers import Answers
from areopage.ledger.evaluations import Evaluations
from areopage.ledger.lists import EvaluationLists
from areopage.ledger.queries import Filters, Period
from areopage.ledger.records import GOLDEN_SOURCE, Answer, Band, Evaluation, is_golden
from areopage.monitor.submit import submission_of
from areopage.server.access import Actor, require
from areopage.server.api.records import (
    Accepted,
    AcceptedAnswers,
    EvaluationEntry,
    EvaluationPage,
    EvaluationView,
    GivenAnswer,
    GivenAnswers,
    QualityDictionary,
    Result,
)
from areopage.server.api.schema import answers_with, faults, json_response, takes
from areopage.server.context import context_of
from areopage.server.errors import Refusal
from areopage.server.metrics import metrics_of

Record = TypeVar("Record")
FIRST_YEAR, LAST_YEAR = 1970, 9998
FIRST_DAY, LAST_DAY = date(FIRST_YEAR, 1, 1), date(LAST_YEAR, 12, 31)

router = APIRouter(prefix="/v1/evaluations", tags=["evaluations"])

Reader = Annotated[Actor, Depends(require("read"))]
Writer = Annotated[Actor, Depends(require("write"))]
Admin = Annotated[Actor, Depends(require("admin"))]
Label = Annotated[str | None, Query(max_length=128)]


@router.post(
    "",
    status_code=202,
    responses=answers_with(AcceptedAnswers, 202, 400, 413, 415),
    openapi_extra=takes(GivenAnswer, GivenAnswers),
    summary="Submit answers for evaluation",
)
async def submit(request: Request, _: Writer) -> Response:
    """Store one answer, or several as `items`. They are on the disk when this returns; a worker judges them later."""
    submissions = read_submissions(await json_body(request))
    new = await context_of(request).submit(submissions)
    metrics_of(request).submitted(new)
    accepted = [Accepted(id=one.id, new=fresh) for one, fresh in zip(submissions, new, strict=True)]
    return json_response(AcceptedAnswers(items=accepted), 202)


@router.get("", responses=answers_with(EvaluationPage), summary="List evaluated answers, the newest first")
def list_evaluations(
    request: Request,
    actor: Reader,
    start: Annotated[date | None, Query(alias="from", description="The first day, in UTC.")] = None,
    end: Annotated[date | None, Query(alias="to", description="The last day, in UTC.")] = None,
    band: Band | None = None,
    criterion: Annotated[str, Query(max_length=256, description="`band` is this criterion's; without it the overall one.")] = "",
    source: Label = None,
    variant: Label = None,
    text: Annotated[str, Query(max_length=256, description="Free text.")] = "",
    before: Annotated[int | None, Query(ge=1, le=2**31 - 1, description="The `next` of the page before.")] = None,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
) -> Response:
    """Each page ends with a cursor: what is evaluated in the meantime moves nothing."""
    ledger = context_of(request).ledger
    filters = Filters(
        period=period_of(start, end), band=band, criterion=criterion, source=source, variant=variant, text=text.strip()
    )
    found = EvaluationLists(ledger).page(filters, before=before, limit=limit)
    Audit(ledger).note(actor.name, "read", "", f"a list of {len(found)} answers")
    page = EvaluationPage(items=[entry_of(score) for score in found], next=found[-1].number if len(found) == limit else None)
    return json_response(page)


@router.get("/{id:path}", responses=answers_with(EvaluationView, 200, 404), summary="How an answer stands")
def show(request: Request, id: str, actor: Reader) -> Response:
    """The answer's state, and its scores once it is evaluated. Of an erased answer the texts are empty."""
    ledger = context_of(request).ledger
    evaluation, answer = Evaluations(ledger).get(id), Answers(ledger).get(id)
    if evaluation is None or answer is None:
        raise unknown(id)
    Audit(ledger).note(actor.name, "read", id)
    return json_response(view_of(answer, evaluation))


@router.delete("/{id:path}", status_code=204, responses=faults(401, 403, 404, 421, 503), summary="Erase an answer's texts")
def erase(request: Request, id: str, actor: Admin) -> Response:
    """All texts go: the answer's, those of judgments, notes of labels, texts of alerts. Its figures and all counts stay.

    An answer that is erased already stays as it is.
    """
    ledger = context_of(request).ledger
    if erasure.erase(ledger, [id]):
        Audit(ledger).note(actor.name, "erase", id)
    elif not Answers(ledger).numbers([id]):
        raise unknown(id)
    return Response(status_code=204)


def unknown(id: str) -> Refusal:
    """The refusal for an id that no answer has."""
    return Refusal(404, "unknown_answer", f"there is no answer with the id {id[:128]!r}")


async def json_body(request: Request) -> bytes:
    """The body of a request that says that it is JSON.

    Raises:
        Refusal: 415, it is something else; a form of another site cannot say so without asking us first.
    """
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise Refusal(415, "not_json", "send JSON with Content-Type: application/json")
    return await request.body()


def decoded(body: bytes, kind: type[Record]) -> Record:
    """A body as a record.

    Raises:
        Refusal: 400 where it is no JSON, 422 where a field is wrong; the message says which.
    """
    try:
        return msgspec.json.decode(body, type=kind)
    except msgspec.ValidationError as fault:
        raise Refusal(422, "invalid", str(fault)) from None
    except (msgspec.DecodeError, UnicodeError, RecursionError) as fault:
        raise Refusal(400, "bad_json", f"the JSON cannot be read: {fault}") from None


def read_submissions(body: bytes) -> list[Answer]:
    """The answers of a body: one, or several as `items`.

    Raises:
        Refusal: 400 or 422; nothing of the body is stored then.
    """
    if "items" not in decoded(body, dict[str, msgspec.Raw]):
        return [submission(decoded(body, GivenAnswer), "$")]
    return [submission(answer, f"$.items[{at}]") for at, answer in enumerate(decoded(body, GivenAnswers).items)]


def submission(answer: GivenAnswer, place: str) -> Answer:
    """An answer as it is stored.

    Raises:
        Refusal: 422, something is missing, given twice, or too large.
    """
    prompt = one_of(answer, ("prompt", "question"), place)
    response = one_of(answer, ("response", "answer"), place)
    if prompt is None or response is None:
        missing = "prompt (or question)" if prompt is None else "response (or answer)"
        raise Refusal(422, "invalid", f"Object missing required field `{missing}` - at `{place}`")
    if answer.answered_at is not None and not FIRST_YEAR < answer.answered_at.year < LAST_YEAR:
        raise Refusal(422, "invalid", f"answered_at: give a year after {FIRST_YEAR} - at `{place}.answered_at`")
    if is_golden(answer.source or ""):
        raise Refusal(
            422,
            "invalid",
            f"source: `{GOLDEN_SOURCE}` is kept for golden questions, which no figure counts - at `{place}.source`",
        )
    documents = one_of(answer, ("documents", "context_chunks"), place) or ()
    if is_deep([answer.metadata, documents]):
        raise Refusal(400, "bad_json", f"lists and objects lie in each other deeper than {MAX_DEPTH} - at `{place}`")
    if isinstance(prompt, list):
        prompt = [{"role": turn.role, "content": turn.content} for turn in prompt]
    try:
        return submission_of(
            prompt,
            response,
            documents,
            id=answer.id or "",
            source=answer.source or "",
            variant=answer.variant or "",
            language=answer.language or "",
            answered_at=answer.answered_at,
            metadata=answer.metadata,
        )
    except SubmissionError as fault:
        raise Refusal(422, "invalid", f"{fault} - at `{place}`") from None


def one_of(answer: GivenAnswer, names: tuple[str, str], place: str) -> Any:
    """The value that is given under either of two names; None where there is none.

    Raises:
        Refusal: 422, both are given.
    """
    given = [value for name in names if (value := getattr(answer, name)) is not None]
    if len(given) > 1:
        raise Refusal(422, "invalid", f"{names[0]} and {names[1]} are two names of one thing: give one - at `{place}`")
    return given[0] if given else None


def period_of(start: date | None, end: date | None) -> Period | None:
    """The days from one to another, both included; None without either.

    Raises:
        Refusal: 422, they are the wrong way round or beyond what a calendar holds.
    """
    if start is None and end is None:
        return None
    first, last = start or FIRST_DAY, end or LAST_DAY
    if not FIRST_DAY <= first <= last <= LAST_DAY:
        raise Refusal(422, "invalid", "from and to: give days in their order, from 1970 on")
    return Period(start=first, end=last + timedelta(days=1))


def view_of(answer: Answer, evaluation: Evaluation) -> EvaluationView:
    """An answer as the API shows it."""
    is_evaluated = evaluation.state == "evaluated"
    return EvaluationView(
        id=answer.id,
        state=evaluation.state,
        attempts=evaluation.attempts,
        reason="" if is_evaluated else evaluation.reason,
        received_at=answer.received_at.astimezone(UTC),
        answered_at=answer.answered_at.astimezone(UTC),
        source=answer.source,
        variant=answer.variant,
        language=answer.language,
        prompt=answer.case.prompt_text,
        response=answer.case.response or "",
        erased=answer.erased,
        quality_score=quality_dictionary(evaluation) if is_evaluated else None,
        result=result_of(evaluation) if is_evaluated else None,
    )


def entry_of(evaluation: Evaluation) -> EvaluationEntry:
    """An evaluated answer as a list shows it."""
    return EvaluationEntry(
        id=evaluation.id,
        answered_at=evaluation.timestamp,
        source=evaluation.source,
        variant=evaluation.variant,
        language=evaluation.language,
        prompt=evaluation.prompt,
        response=evaluation.response,
        erased=evaluation.erased,
        quality_score=quality_dictionary(evaluation),
        result=result_of(evaluation),
    )


def quality_dictionary(evaluation: Evaluation) -> QualityDictionary:
    """The score as an answer's payload carries it: criteria by the last part of their path."""
    scores = {one.criterion.rpartition(".")[2]: one.score for one in evaluation.criteria}
    shape = {**scores, "score_global": evaluation.score_global, "feedback": evaluation.feedback}
    return shape if evaluation.score_global is not None else shape | {"reason": evaluation.reason}


def result_of(evaluation: Evaluation) -> Result:
    """What the jury made of an answer, as the API shows it."""
    return Result(**{name: getattr(evaluation, name) for name in Result.__struct_fields__})
