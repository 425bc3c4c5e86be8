"""`/v1/exchanges`: answers on their way out, what became of them, and what people say of those that were held back."""

import logging
from datetime import UTC
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Query
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from areopage.errors import NotHeldBack, StorageError, UserError
from areopage.gate.records import GateVerdict
from areopage.ledger.access import Audit
from areopage.ledger.exchanges import Exchanges
from areopage.ledger.gate_records import Exchange, ExchangeFilter
from areopage.rag.records import MOST_QUESTION
from areopage.report.decisions import explain
from areopage.review.grounding import Settlement, Storage, label_exchange, review_exchange
from areopage.server.access import Actor, require
from areopage.server.api.evaluations import decoded, json_body
from areopage.server.api.exchange_records import (
    ExchangeEntry,
    ExchangePage,
    ExchangeView,
    GivenVerdict,
    HeldReply,
    Latest,
    Snapshot,
    StoredVerdict,
)
from areopage.server.api.gate import sentence_views
from areopage.server.api.schema import answers_with, faults, json_response, takes
from areopage.server.context import ServerContext, context_of
from areopage.server.errors import Refusal

Writer = Annotated[Actor, Depends(require("write"))]
Admin = Annotated[Actor, Depends(require("admin"))]
Asked = Annotated[str | None, Query(max_length=MOST_QUESTION, description="The question as it was asked.")]
Place = Annotated[str | None, Query(max_length=128)]

log = logging.getLogger(__name__)

router = APIRouter(prefix="/v1", tags=["exchanges"])


@router.get("/exchanges", responses=answers_with(ExchangePage), summary="List answers on their way out, the newest first")
def list_exchanges(
    request: Request,
    actor: Admin,
    question: Asked = None,
    verdict: GateVerdict | None = None,
    collection: Place = None,
    before: Annotated[int | None, Query(ge=1, le=2**31 - 1, description="The `next` of the page before.")] = None,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
) -> Response:
    """Without the documents; a key with a scope names one of its collections."""
    ledger = context_of(request).ledger
    filter = ExchangeFilter(question=question, verdict=verdict, collection=seen_by(actor, collection))
    found = Exchanges(ledger).list(filter, limit=limit, before=before)
    Audit(ledger).note(actor.name, "read", "", f"a list of {len(found)} exchanges")
    page = ExchangePage(items=[entry_of(one) for one in found], next=found[-1].number if len(found) == limit else None)
    return json_response(page)


@router.get("/exchanges/{id}", responses=answers_with(ExchangeView, 200, 404), summary="All about one answer")
def show(request: Request, id: str, actor: Admin) -> Response:
    """Question, documents, what was generated, what the user got, the decision, and what people said."""
    context = context_of(request)
    exchange = found_by(context, actor, id)
    Audit(context.ledger).note(actor.name, "read", id)
    return json_response(view_of(context, exchange))


@router.get("/debug/latest", responses=answers_with(Latest, 200, 404), summary="The latest metrics and snapshot of a question")
def latest(
    request: Request,
    actor: Admin,
    question: Annotated[str, Query(min_length=1, max_length=MOST_QUESTION)],
    collection: Place = None,
) -> Response:
    """What the gate last said of this question, and on what it rested."""
    ledger = context_of(request).ledger
    filter = ExchangeFilter(question=question, collection=seen_by(actor, collection))
    found = next((one for one in Exchanges(ledger).list(filter, limit=1) if not one.erased), None)
    if found is None:
        raise Refusal(404, "unknown_answer", "nobody has asked this question, or its answers were erased")
    Audit(ledger).note(actor.name, "read", found.id)
    return json_response(latest_of(found))


@router.delete(
    "/exchanges/{id}", status_code=204, responses=faults(401, 403, 404, 421, 422, 503), summary="Erase an answer's texts"
)
async def erase(request: Request, id: str, actor: Admin) -> Response:
    """Its texts, its labels' notes, its release and the judge's words on it go, down to the bytes; what is counted of it stays.

    So do the cached answer to its question and its texts in this server's trace files. While one of these cannot be rewritten,
    nothing is erased (503): it can be asked for again then.
    """
    context = context_of(request)
    exchange = await run_in_threadpool(found_by, context, actor, id)
    if context.rag is not None:
        try:
            await context.rag.service.forget(exchange)
        except StorageError as fault:
            log.error("%s", fault)
            message = "a trace file cannot be rewritten now, so nothing is erased: the server's log names it; try again later"
            raise Refusal(503, "storage", message, {"Retry-After": "5"}) from None
    await run_in_threadpool(erase_by, context, actor, id)
    return Response(status_code=204)


@router.post(
    "/exchanges/{id}/verdict",
    status_code=201,
    responses=answers_with(StoredVerdict, 201, 400, 404, 409, 413, 415),
    openapi_extra=takes(GivenVerdict),
    summary="Say what an answer is worth, and release or refuse it",
)
async def verdict(request: Request, id: str, actor: Writer) -> Response:
    """Store one person's label; with an `action` settle an answer that was held back, once and for all."""
    given = decoded(await json_body(request), GivenVerdict)
    if given.rater is not None and actor.role != "admin":
        raise Refusal(403, "forbidden", "only an admin's key may label in somebody else's name: leave `rater` out")
    return json_response(await run_in_threadpool(store_verdict, context_of(request), actor, id, given), 201)


def erase_by(context: ServerContext, actor: Actor, id: str) -> None:
    """Erase an exchange, and note who did. It blocks."""
    Exchanges(context.ledger).erase(id)
    Audit(context.ledger).note(actor.name, "erase", id)


def seen_by(actor: Actor, collection: str | None) -> str | None:
    """The collection whose exchanges are listed; None for all of them.

    Raises:
        Refusal: 403, the key's scope lacks it; 422, the key has several and none is named.
    """
    if collection is None and actor.collections:
        if len(actor.collections) > 1:
            raise Refusal(422, "invalid", f"collection: the key {actor.name} has several: name one")
        return actor.collections[0]
    if collection is not None and not actor.may_see(collection):
        raise Refusal(403, "forbidden", f"the key {actor.name} may not see the collection {collection!r}")
    return collection


def found_by(context: ServerContext, actor: Actor, id: str) -> Exchange:
    """An exchange by its id.

    Raises:
        Refusal: 404, there is none, it was erased, or it is out of the key's scope.
    """
    exchange = Exchanges(context.ledger).get(id)
    if exchange is None or exchange.erased or not actor.may_see(exchange.collection):
        raise Refusal(404, "unknown_answer", f"there is no exchange with the id {id[:128]!r}")
    return exchange


def entry_of(one: Exchange) -> ExchangeEntry:
    """An exchange as a list shows it."""
    return ExchangeEntry(**entry_fields(one))


def entry_fields(one: Exchange) -> dict[str, Any]:
    """The fields that lists and single exchanges share."""
    return {
        "id": one.id,
        "at": one.at.astimezone(UTC),
        "origin": one.origin,
        "collection": one.collection,
        "question": one.question,
        "answer": one.answer,
        "verdict": one.verdict,
        "mode": one.mode,
        "p_unsupported": one.p_unsupported,
        "metrics": one.metrics,
        "reasons": [reason.code for reason in one.decision.reasons] if one.decision else [],
        "response_lang": one.response_lang,
        "profile": one.profile,
        "version": one.version,
    }


def view_of(context: ServerContext, one: Exchange) -> ExchangeView:
    """An exchange with all that is known of it."""
    exchanges = Exchanges(context.ledger)
    release = exchanges.release(one.id)
    language = one.response_lang or context.config.section.language or context.suite.own_language
    return ExchangeView(
        **entry_fields(one),
        generation=one.generation,
        sources_filter=one.sources_filter,
        documents=one.documents,
        model=one.model,
        session=one.session,
        key=one.key,
        seconds=one.seconds,
        gate_seconds=one.gate_seconds,
        explanations=explain(one.decision, one.decision.prompt_lang or language) if one.decision else [],
        sentences=sentence_views(one.decision.sentences) if one.decision else [],
        labels=list(exchanges.labels([one.id]).get(one.id, ())),
        release=HeldReply(id=one.id, state=release.state, text=release.text) if release else None,
        waiting=exchanges.waiting([one.id]).get(one.id, 0),
    )


def latest_of(one: Exchange) -> Latest:
    """The specification's metrics row and snapshot of an exchange."""
    moment = one.at.astimezone(UTC)
    snapshot = Snapshot(
        id=one.id,
        timestamp=moment,
        question=one.question,
        documents=one.documents,
        sources=[document.source for document in one.documents],
        generation=one.generation,
        metrics=one.metrics,
    )
    return Latest(metrics={"timestamp": moment, "question": one.question, **one.metrics}, snapshot=snapshot)


def store_verdict(
    context: ServerContext, actor: Actor, id: str, given: GivenVerdict, *, origin: Literal["api", "web"] = "api"
) -> StoredVerdict:
    """Store a label, and settle the answer where that is asked for; it blocks. The audit log names who sent them, too.

    Raises:
        Refusal: 404, no such exchange; 409, somebody settled it before, or it was never held back; 422, a field is wrong.
        StorageError: the ledger cannot be written.
    """
    exchange = found_by(context, actor, id)
    rater, ledger, settled = given.rater or actor.name, context.ledger, 0
    said: dict[str, Any] = {"sentences": given.sentences, "note": given.note, "origin": origin, "now": context.now()}
    if given.text is not None and given.action != "release":
        raise Refusal(422, "invalid", "text: goes with the action release alone")
    try:
        if given.action is None:
            label_exchange(ledger, exchange.id, rater, given.grounded, **said)
        else:
            policy = context.config.section.storage
            settlement = Settlement(state="released" if given.action == "release" else "refused", text=given.text)
            kept = Storage(policy=policy.text, max_chars=policy.max_chars)
            _, done = review_exchange(ledger, exchange.id, rater, given.grounded, settlement, storage=kept, **said)
            settled = done.answers
    except StorageError:
        raise
    except NotHeldBack as fault:
        raise Refusal(409, "settled", str(fault)) from None
    except UserError as fault:
        raise Refusal(422, "invalid", str(fault)) from None
    if rater != actor.name and not actor.keyless:
        Audit(ledger).note(actor.name, "label", exchange.id, f"in the name of {rater}")
    release = Exchanges(ledger).release(exchange.id)
    return StoredVerdict(id=exchange.id, rater=rater, state=release.state if release else None, settled=settled)
