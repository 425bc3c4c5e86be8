"""`/v1/traces`: decisions of the gate, their review and their labels."""

import logging
from datetime import UTC
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from areopage.checking import MOST_PROMPT
from areopage.errors import StorageError
from areopage.gate import GateVerdict
from areopage.ledger import Trace, TraceFilter
from areopage.records import record_from
from areopage.report import explain
from areopage.review import Given, Settlement
from areopage.server.access import Actor, Admin, Writer, note, note_scores_listed, note_scores_seen
from areopage.server.api.evaluations import decoded, json_body
from areopage.server.api.figures import store_review
from areopage.server.api.records import (
    GivenVerdict,
    GroundingView,
    HeldReply,
    Latest,
    SentenceView,
    Snapshot,
    StoredVerdict,
    TraceEntry,
    TracePage,
    TraceView,
)
from areopage.server.api.schema import ApiRoute, NameQuery, answers_with, faults, json_response, takes
from areopage.server.context import ServerContext, context_of
from areopage.server.errors import Refusal

PromptQuery = Annotated[str | None, Query(max_length=MOST_PROMPT, description="The exact prompt of the user.")]

SETTLED: dict[Literal["release", "refuse"], Literal["released", "refused"]] = {"release": "released", "refuse": "refused"}

log = logging.getLogger(__name__)

router = APIRouter(prefix="/v1", tags=["traces"], route_class=ApiRoute)


@router.get("/traces", responses=answers_with(TracePage), summary="List traces, newest first")
def list_traces(
    request: Request,
    actor: Admin,
    prompt: PromptQuery = None,
    verdict: GateVerdict | None = None,
    collection: NameQuery = None,
    before: Annotated[int | None, Query(ge=1, le=2**31 - 1, description="`next` of the previous page.")] = None,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
) -> Response:
    """List traces without their documents. A key limited to several collections must name one."""
    ledger = context_of(request).ledger
    filter = TraceFilter(prompt=prompt, verdict=verdict, collection=actor.in_scope(collection, "collection"))
    listed = ledger.traces.list(filter, limit=limit, before=before)
    note(ledger, actor, "read", "", f"a list of {len(listed)} traces")
    note_scores_listed(request, ledger, actor, [trace.id for trace in listed])
    page = TracePage(
        items=[record_from(TraceEntry, trace, **_shared_fields(trace)) for trace in listed],
        next=listed[-1].answer.number if len(listed) == limit else None,
    )
    return json_response(page)


@router.get("/traces/{id}", responses=answers_with(TraceView, 200, 404), summary="Show a trace")
def show(request: Request, id: str, actor: Admin) -> Response:
    """Prompt, documents, response, delivered text, decision and labels; an erased trace has only figures."""
    context = context_of(request)
    trace = _trace_of(context, actor, id, is_kept=False)
    note_scores_seen(context.ledger, actor, id)
    return json_response(_view_of(context, trace))


@router.get(
    "/debug/latest", responses=answers_with(Latest, 200, 404), summary="Get the latest metrics and snapshot of a question"
)
def latest(
    request: Request,
    actor: Admin,
    question: Annotated[str, Query(min_length=1, max_length=MOST_PROMPT)],
    collection: NameQuery = None,
) -> Response:
    """The latest decision of the gate on this question, with its documents."""
    ledger = context_of(request).ledger
    filter = TraceFilter(prompt=question, collection=actor.in_scope(collection, "collection"))
    trace = next((trace for trace in ledger.traces.list(filter, limit=1) if not trace.erased), None)
    if trace is None:
        raise Refusal(404, "unknown_answer", "no answer to this question is stored, or its answers were erased")
    note_scores_seen(ledger, actor, trace.id)
    moment = trace.at.astimezone(UTC)
    snapshot = Snapshot(
        id=trace.id,
        timestamp=moment,
        question=trace.prompt,
        documents=trace.documents,
        sources=[document.source for document in trace.documents],
        generation=trace.response,
        metrics=trace.metrics,
    )
    return json_response(Latest(metrics={"timestamp": moment, "question": trace.prompt, **trace.metrics}, snapshot=snapshot))


@router.delete("/traces/{id}", status_code=204, responses=faults(401, 403, 404, 421, 422, 503), summary="Erase an answer's texts")
async def erase(request: Request, id: str, actor: Admin) -> Response:
    """Erase its texts, label notes, released text and judge comments; counts remain.

    This also erases the cached answer and the texts in this server's trace files. If a trace file cannot be rewritten (503), the
    texts are erased from the ledger, and the next export rewrites the file.
    """
    context = context_of(request)
    trace = await run_in_threadpool(_trace_of, context, actor, id)
    service = context.rag.service if context.rag is not None else None
    if service is not None:
        await service.forget(trace)
    await run_in_threadpool(_erase_by, context, actor, id)
    if service is not None:
        try:
            await service.export_traces()
        except StorageError as fault:
            log.error("%s", fault)
            message = "the texts are erased from the ledger; the next export rewrites a trace file: see the server's log"
            raise Refusal(503, "storage", message) from None
    return Response(status_code=204)


@router.post(
    "/traces/{id}/verdict",
    status_code=201,
    responses=answers_with(StoredVerdict, 201, 400, 404, 409, 413, 415),
    openapi_extra=takes(GivenVerdict),
    summary="Label an answer, and release or reject it",
)
async def verdict(request: Request, id: str, actor: Writer) -> Response:
    """Store a label. An `action` releases or rejects a held answer; this is final."""
    body = decoded(await json_body(request), GivenVerdict)
    return json_response(await run_in_threadpool(_store_verdict, context_of(request), actor, id, body), 201)


def _erase_by(context: ServerContext, actor: Actor, id: str) -> None:
    context.ledger.erasure.erase([id])
    note(context.ledger, actor, "erase", id)


def _trace_of(context: ServerContext, actor: Actor, id: str, *, is_kept: bool = True) -> Trace:
    trace = context.ledger.traces.get(id)
    if trace is None or not actor.may_see(trace.collection):
        raise Refusal(404, "unknown_answer", f"no trace has the id {id[:128]!r}")
    if trace.erased and is_kept:
        raise Refusal(404, "unknown_answer", f"the trace with the id {id[:128]!r} is erased")
    return trace


def _shared_fields(trace: Trace) -> dict[str, Any]:
    reasons = [reason.code for reason in trace.decision.reasons] if trace.decision else []
    return {"at": trace.at.astimezone(UTC), "delivered": trace.answer.delivered, "reasons": reasons}


def _view_of(context: ServerContext, trace: Trace) -> TraceView:
    traces = context.ledger.traces
    release = traces.release(trace.id)
    labels = context.ledger.labels.grounding([trace.id]).get(trace.id, ())
    language = trace.language or context.language
    return record_from(
        TraceView,
        trace,
        **_shared_fields(trace),
        model=trace.answer.model,
        session=trace.answer.session,
        api_key=trace.answer.api_key,
        seconds=trace.answer.seconds,
        judge=trace.decision.judge if trace.decision else None,
        explanations=explain(trace.decision, trace.decision.prompt_lang or language) if trace.decision else [],
        sentences=[record_from(SentenceView, sentence) for sentence in trace.decision.sentences] if trace.decision else [],
        labels=[record_from(GroundingView, label, created_at=label.created_at.astimezone(UTC)) for label in labels],
        release=record_from(HeldReply, release, id=trace.id) if release else None,
        waiting=traces.waiting([trace.id]).get(trace.id, 0),
    )


def _store_verdict(context: ServerContext, actor: Actor, id: str, body: GivenVerdict) -> StoredVerdict:
    trace = _trace_of(context, actor, id)
    if body.text is not None and body.action != "release":
        raise Refusal(422, "invalid", "text: allowed only with the action release")
    settlement = Settlement(state=SETTLED[body.action], text=body.text) if body.action else None
    said = Given(
        grounded=body.grounded, sentences=body.sentences, note=body.note, correction=body.correction, settlement=settlement
    )
    done = store_review(context, actor, trace.id, said, body.rater, blind=body.blind)
    release = context.ledger.traces.release(trace.id)
    state = release.state if release else None
    return StoredVerdict(id=trace.id, rater=body.rater or actor.name, state=state, settled=done.settled)
