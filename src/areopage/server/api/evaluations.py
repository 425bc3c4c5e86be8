"""`/v1/evaluations`: submit, show, list and erase answers."""

import re
from collections.abc import Sequence
from datetime import UTC, date, timedelta
from typing import Annotated, Any, TypeVar

import msgspec
from fastapi import APIRouter, Query
from pydantic import BeforeValidator
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from areopage.cases import MAX_DEPTH, Case, is_deep
from areopage.errors import CriteriaError, SubmissionError, name_list
from areopage.ledger import (
    GOLDEN_SOURCE,
    Answer,
    Evaluation,
    Filters,
    Grade,
    Ledger,
    PanelResult,
    Period,
    id_within,
    is_reserved,
    own_id,
)
from areopage.monitor import FIRST_YEAR, LAST_YEAR, Intake, submission_of
from areopage.records import record_from
from areopage.review import Rubric
from areopage.server.access import Actor, Admin, Reader, Submitter, note, note_scores_listed, note_scores_seen
from areopage.server.api.records import (
    Accepted,
    AcceptedAnswers,
    CheckRequest,
    EvaluationPage,
    EvaluationView,
    GivenAnswer,
    GivenAnswers,
    QualityDictionary,
)
from areopage.server.api.schema import ApiRoute, NameQuery, answers_with, faults, json_response, takes
from areopage.server.context import ServerContext, context_of
from areopage.server.errors import Refusal
from areopage.server.metrics import metrics_of

Record = TypeVar("Record")
_SURROGATES = (b"\\ud", b"\\uD")
# an escape at a time, so that the second half of a pair is not taken for a lone one
_PAIR, _HALF = rb"u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}", rb"u[dD][89a-fA-F][0-9a-fA-F]{2}"
_ESCAPE = re.compile(rb"\\(?:%s|(%s)|.)" % (_PAIR, _HALF), re.DOTALL)
FIRST_DAY, LAST_DAY = date(FIRST_YEAR, 1, 1), date(LAST_YEAR, 12, 31)

router = APIRouter(prefix="/v1/evaluations", tags=["evaluations"], route_class=ApiRoute)


def _is_day(value: object) -> object:
    if isinstance(value, str) and not re.fullmatch(r"\d{4}-\d{2}-\d{2}", value, re.ASCII):
        raise ValueError("give a day such as 2026-03-01")
    return value


Day = Annotated[date, BeforeValidator(_is_day)]
"""A day of an address: numbers, which could mean seconds, are none."""


@router.post(
    "",
    status_code=202,
    responses=answers_with(AcceptedAnswers, 202, 400, 409, 413, 415),
    openapi_extra=takes(GivenAnswer, GivenAnswers),
    summary="Submit answers for evaluation",
)
async def submit(request: Request, actor: Submitter) -> Response:
    """Store one answer, or several as `items`. The answers are stored durably when this returns; a worker judges them later.

    409: another answer of this source has the id of one. That one is not stored; the others of the request are.
    """
    body = await json_body(request)
    if "items" in decoded(body, dict[str, msgspec.Raw]):
        answers = decoded(body, GivenAnswers).items
        submitted = [_submission(answer, actor, f"$.items[{at}]") for at, answer in enumerate(answers)]
    else:
        submitted = [_submission(decoded(body, GivenAnswer), actor, "$")]
    context = context_of(request)
    _check_dates(submitted, actor, context)
    submissions = await run_in_threadpool(_within_scope, context.ledger, submitted, actor) if actor.collections else submitted
    new = await context.submit(submissions)
    metrics_of(request).submitted(new)
    if not all(new):
        taken = await run_in_threadpool(Intake.clashing, context.ledger, submissions, new)
        if taken:
            others = "its answer is not stored" if len(submissions) == 1 else "the other answers of the request are stored"
            named = {id(stored): answer.id for stored, answer in zip(submissions, submitted, strict=True)}
            ids = name_list(dict.fromkeys(repr(named[id(answer)]) for answer in taken))  # as the client gave them
            raise Refusal(409, "id_taken", f"another answer has the id {ids}: {others}")
    accepted = [Accepted(id=answer.id, new=fresh) for answer, fresh in zip(submitted, new, strict=True)]
    return json_response(AcceptedAnswers(items=accepted), 202)


def _check_dates(submitted: Sequence[Answer], actor: Actor, context: ServerContext) -> None:
    """Refuse answers of days long ago by keys that may only submit: they would change figures of periods that were reported."""
    days = context.config.monitor.section.oldest_days
    if actor.role != "ingest" or days is None:
        return
    first = context.now().date() - timedelta(days=days)
    for answer in submitted:
        if answer.answered_at.astimezone(UTC).date() < first:
            raise Refusal(
                422,
                "invalid",
                f"answered_at: an ingest key submits answers of the last {days} days (monitor.oldest_days), from {first} on: "
                "submit older ones with a key of another role, or with areopage monitor submit",
            )


def _within_scope(ledger: Ledger, submitted: Sequence[Answer], actor: Actor) -> list[Answer]:
    """Submissions under ids of their own where answers that the actor may not see have these ids."""
    sources = ledger.answers.sources([answer.id for answer in submitted])
    hidden = {id for id, source in sources.items() if not actor.may_see(source)}

    def renamed(answer: Answer) -> Answer:
        id = id_within(answer.id, answer.source)
        return msgspec.structs.replace(answer, id=id, case=msgspec.structs.replace(answer.case, id=id))

    return [renamed(answer) if answer.id in hidden else answer for answer in submitted]


@router.get("", responses=answers_with(EvaluationPage), summary="List evaluated answers, newest first")
def list_evaluations(
    request: Request,
    actor: Reader,
    start: Annotated[Day | None, Query(alias="from", description="First day (UTC).")] = None,
    end: Annotated[Day | None, Query(alias="to", description="Last day (UTC).")] = None,
    grade: Grade | None = None,
    criterion: Annotated[
        str, Query(max_length=256, description="Criterion of `grade`, by its name or its path; without it the overall score.")
    ] = "",
    source: NameQuery = None,
    variant: NameQuery = None,
    text: Annotated[str, Query(max_length=256, description="Words to search for.")] = "",
    before: Annotated[int | None, Query(ge=1, le=2**31 - 1, description="`next` of the previous page.")] = None,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
) -> Response:
    """Each page ends with a cursor; new evaluations do not shift pages. A key limited to several sources must name one.

    A list shows scores: later labels of its answers with the same key are not blind.
    """
    context = context_of(request)
    ledger, source = context.ledger, actor.in_scope(source, "source")
    check_labels(ledger, actor, source, variant)
    period, first, last = None, start or FIRST_DAY, end or LAST_DAY
    if start is not None or end is not None:
        if not FIRST_DAY <= first <= last <= LAST_DAY:
            raise Refusal(422, "invalid", "from and to: give two days in order, from 1970 on")
        period = Period(start=first, end=last + timedelta(days=1))
    filters = Filters(
        period=period,
        grade=grade,
        criterion=_criterion_of(criterion, context),
        source=source,
        variant=variant,
        text=text.strip(),
    )
    listed = ledger.lists.page(filters, before=before, limit=limit)
    ids = [score.id for score in listed]
    note(ledger, actor, "read", "", f"a list of {len(listed)} answers")
    note_scores_listed(request, ledger, actor, ids)
    answers = ledger.answers.by_id(ids)
    items = [_view_of(score, actor, answers.get(score.id)) for score in listed]
    page = EvaluationPage(items=items, next=listed[-1].number if len(listed) == limit else None)
    return json_response(page)


@router.get("/{id:path}", responses=answers_with(EvaluationView, 200, 404), summary="Show an answer and its evaluation")
def show(
    request: Request,
    id: str,
    actor: Reader,
    blind: Annotated[bool, Query(description="Without scores and judges' words: labels then count as blind.")] = False,
) -> Response:
    """The answer as it was submitted, its state, and its scores once it is evaluated. The texts of an erased answer are empty."""
    ledger = context_of(request).ledger
    id = actor.id_in_scope(ledger, id)
    evaluation = ledger.evaluations.get(id)
    if evaluation is None or not actor.may_see_answers(ledger, [id]):
        raise unknown(id)
    if evaluation.state == "evaluated" and not blind:
        note_scores_seen(ledger, actor, id)
    else:
        note(ledger, actor, "read", id)
    return json_response(_view_of(evaluation, actor, ledger.answers.get(id), blind=blind))


@router.delete("/{id:path}", status_code=204, responses=faults(401, 403, 404, 421, 503), summary="Erase an answer's texts")
def erase(request: Request, id: str, actor: Admin) -> Response:
    """Erase the texts of the answer, its judgments, label notes and alerts. Scores and counts remain.

    An erased answer does not change.
    """
    ledger = context_of(request).ledger
    id = actor.id_in_scope(ledger, id)
    if not actor.may_see_answers(ledger, [id]):
        raise unknown(id)
    if ledger.erasure.erase([id]):
        note(ledger, actor, "erase", id)
    elif not ledger.answers.numbers([id]):
        raise unknown(id)
    return Response(status_code=204)


def unknown(id: str) -> Refusal:
    """The refusal of an unknown id."""
    return Refusal(404, "unknown_answer", f"no answer has the id {id[:128]!r}")


async def json_body(request: Request) -> bytes:
    """The body of a JSON request; halves of a surrogate pair, which no text may hold, are replaced by U+FFFD.

    Raises:
        Refusal: 415, the content type is not JSON; forms of other sites cannot send this type without a preflight request.
    """
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise Refusal(415, "not_json", "send JSON with Content-Type: application/json")
    body = await request.body()
    if not any(surrogate in body for surrogate in _SURROGATES):
        return body
    return _ESCAPE.sub(lambda escape: rb"\ufffd" if escape[1] else escape[0], body)


def decoded(body: bytes, kind: type[Record]) -> Record:
    """Decode a body.

    Raises:
        Refusal: 400, the body is not JSON; 422, a field is invalid.
    """
    try:
        return msgspec.json.decode(body, type=kind)
    except msgspec.ValidationError as fault:
        raise Refusal(422, "invalid", str(fault)) from None
    except (msgspec.DecodeError, UnicodeError, RecursionError) as fault:
        raise Refusal(400, "bad_json", f"invalid JSON: {fault}") from None


def _submission(answer: GivenAnswer, actor: Actor, place: str) -> Answer:
    prompt, response, documents = contents_of(answer, f" - at `{place}`")
    if answer.answered_at is not None and not FIRST_YEAR < answer.answered_at.year < LAST_YEAR:
        raise Refusal(422, "invalid", f"answered_at: give a year after {FIRST_YEAR} - at `{place}.answered_at`")
    if is_reserved(answer.source or ""):
        raise Refusal(422, "invalid", f"source: `{GOLDEN_SOURCE}` is reserved for golden questions - at `{place}.source`")
    if is_deep([answer.metadata, documents]):
        raise Refusal(400, "bad_json", f"lists and objects are nested deeper than {MAX_DEPTH} levels - at `{place}`")
    try:
        return submission_of(
            prompt,
            response,
            documents,
            id=answer.id or "",
            source=actor.in_scope(answer.source or None, "source") or "",
            variant=answer.variant or "",
            language=answer.language or "",
            age="" if answer.age is None else answer.age,
            answered_at=answer.answered_at,
            trace_id=answer.trace_id or "",
            metadata=answer.metadata,
            api_key=actor.key,
        )
    except SubmissionError as fault:
        raise Refusal(422, "invalid", f"{fault} - at `{place}`") from None


def contents_of(body: GivenAnswer | CheckRequest, at: str = "") -> tuple[Any, str, Any]:
    """Prompt, response and documents of a body, under either of their names."""
    contents: list[Any] = []
    for name, synonym in (("prompt", "question"), ("response", "answer"), ("documents", "context_chunks")):
        values = [value for value in (getattr(body, name), getattr(body, synonym)) if value is not None]
        if len(values) > 1:
            raise Refusal(422, "invalid", f"{name} and {synonym} are synonyms: give only one{at}")
        if not values and name != "documents":
            raise Refusal(422, "invalid", f"Object missing required field `{name} (or {synonym})`{at}")
        contents.append(values[0] if values else ())
    prompt, response, documents = contents
    if isinstance(prompt, list):
        prompt = [{"role": turn.role, "content": turn.content} for turn in prompt]
    return prompt, response, documents


def check_labels(ledger: Ledger, actor: Actor, source: str | None, variant: str | None) -> None:
    """Refuse a source or a variant that no evaluated answer has: a misspelt filter must not look like no answers."""
    lists = ledger.lists
    sources, variants = [name for name in lists.sources() if actor.may_see(name)], lists.variants(actor.collections)
    for name, value, labels in (("source", source, sources), ("variant", variant, variants)):
        if value is not None and labels and value not in labels:
            allowed = name_list([repr(label) for label in labels])
            raise Refusal(422, "invalid", f"{name}: no evaluated answer has the {name} {value!r}: use one of {allowed}")


def _criterion_of(name: str, context: ServerContext) -> str:
    """The path of a criterion by its path or its name."""
    try:
        return Rubric.of_suite(context.suite).find(name) if name else ""
    except CriteriaError as fault:
        raise Refusal(422, "invalid", f"criterion: {fault}") from None


def _view_of(evaluation: Evaluation, actor: Actor, answer: Answer | None, *, blind: bool = False) -> EvaluationView:
    """An evaluation with the documents and metadata of its answer; without scores for who labels it blind.

    A key that is limited to some sources sees the ids that these gave.
    """
    is_evaluated = evaluation.state == "evaluated"
    case = Case(id="", prompt="") if answer is None else answer.case
    quality: QualityDictionary = {result.criterion.rpartition(".")[2]: result.score for result in evaluation.criteria}
    quality |= {"score_global": evaluation.score_global, "feedback": evaluation.feedback}
    if evaluation.score_global is None:
        quality["reason"] = evaluation.reason
    return record_from(
        EvaluationView,
        evaluation,
        id=own_id(evaluation.id, evaluation.source) if actor.collections else evaluation.id,
        reason="" if is_evaluated else evaluation.reason,
        received_at=evaluation.received_at or evaluation.timestamp,
        answered_at=evaluation.timestamp,
        documents=list(case.documents),
        metadata=case.metadata,
        trace_id="" if answer is None else answer.trace_id,
        quality_score=quality if is_evaluated and not blind else None,
        result=record_from(PanelResult, evaluation) if is_evaluated and not blind else None,
    )
