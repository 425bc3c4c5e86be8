"""`/v1/gate/check`: decide on an answer of another pipeline."""

import secrets
import time
from collections.abc import Sequence
from typing import cast

from fastapi import APIRouter
from msgspec import structs
from starlette.requests import Request
from starlette.responses import Response

from areopage.cases import MAX_DEPTH, Case, is_deep
from areopage.checking import Checker, ForeignDocuments, foreign
from areopage.errors import DatasetError
from areopage.gate import Decision, GateConfig
from areopage.ledger import Answer, Batch, Mode, Trace, decided_trace, stored_trace
from areopage.monitor import case_of
from areopage.records import record_from
from areopage.report import explain
from areopage.server.access import Submitter
from areopage.server.api.evaluations import contents_of, decoded, json_body
from areopage.server.api.records import CheckReply, CheckRequest, Noted, ReasonView, SentenceView, SignalView
from areopage.server.api.schema import ApiRoute, answers_with, json_response, rounded, takes
from areopage.server.context import ServerContext, context_of
from areopage.server.errors import Refusal
from areopage.server.metrics import metrics_of
from areopage.server.telemetry import tell_decision

MOST_WAITING = 10_000
MOST_BYTES = 64_000_000
GROUP_SECONDS = 0.1
RETRY_SECONDS = 1.0
MODES: dict[str, Mode] = {"deliver": "generated", "fallback": "fallback", "human_review": "human_review"}


router = APIRouter(prefix="/v1/gate", tags=["gate"], route_class=ApiRoute)


@router.post(
    "/check",
    responses=answers_with(CheckReply, 200, 400, 413, 415),
    openapi_extra=takes(CheckRequest),
    summary="Check an answer before delivery",
)
async def check(request: Request, actor: Submitter) -> Response:
    """Decide on an answer and store the decision. A held answer is stored durably when this returns.

    Labels of equal answers in the collection come first. In the grey band the judge is asked, where one is configured.
    """
    body = await json_body(request)
    asked = decoded(body, CheckRequest)
    context = context_of(request)
    prompt, response, read = _material_of(asked, context.gate.config)
    documents = read.documents
    collection = actor.in_scope(asked.collection or None, "collection") or ""
    began = time.perf_counter()
    checker = Checker(context.gate, ledger=context.ledger, judge=context.judge)
    checked = await checker.check(
        prompt, response, documents, collection=collection, judge=asked.judge, keep=asked.store, language=context.language
    )
    decision = read.remark(checked.decision)
    seconds = time.perf_counter() - began
    id = secrets.token_hex(16)
    metrics_of(request).decided(decision, seconds)
    tell_decision(request, id, decision)
    stored: Noted = "no"
    if asked.store:
        now = context.now()
        answer = Answer(
            id=id,
            origin="gate",
            case=Case(id=id, prompt=prompt, response=response, documents=documents),
            source=collection,
            language=decision.response_lang,
            session=asked.session,
            api_key=actor.key,
            received_at=now,
            answered_at=now,
        )
        trace = decided_trace(
            decision,
            answer,
            channel="check",
            mode=MODES[decision.verdict],
            language=decision.response_lang,
            gate_seconds=seconds,
            panel=checked.judged.panel,
            judgments=checked.judged.keys,
        )
        stored = await _store(request, trace, len(body))
    return json_response(_reply_of(context, id, decision, stored))


def trace_batch(context: ServerContext) -> Batch[Trace, None]:
    """The group commit of traces, with texts reduced by the storage policy."""
    storage, traces = context.config.shared.storage, context.ledger.traces

    def keep(batch: Sequence[Trace]) -> None:
        traces.append([stored_trace(trace, storage.text, storage.max_chars) for trace in batch])

    return Batch(keep, what="traces", most=MOST_WAITING, most_bytes=MOST_BYTES, delay=GROUP_SECONDS, retry=RETRY_SECONDS)


async def _store(request: Request, trace: Trace, size: int) -> Noted:
    """Store a trace: a held answer before this returns, others a moment later."""
    batch = cast("Batch[Trace, None]", request.app.state.traces)
    if trace.waits:
        await batch.write_async([trace], size)
        return "yes"
    return "soon" if batch.write_soon([trace], size) else "no"


def _material_of(asked: CheckRequest, rules: GateConfig) -> tuple[str, str, ForeignDocuments]:
    prompt, response, documents = contents_of(asked)
    if is_deep(documents):
        raise Refusal(400, "bad_json", f"lists and objects are nested deeper than {MAX_DEPTH} levels")
    try:
        case = case_of(prompt, response, documents, id="-")
        return case.prompt_text, case.response or "", foreign(case.documents, rules)
    except DatasetError as fault:
        raise Refusal(422, "invalid", str(fault)) from None


def _reply_of(context: ServerContext, id: str, decision: Decision, stored: Noted) -> CheckReply:
    language = decision.prompt_lang or decision.response_lang or context.language
    is_held = decision.verdict == "human_review" and stored == "yes"
    explained = zip(decision.reasons, explain(decision, language), strict=True)
    shown = {
        "reasons": tuple(ReasonView(**structs.asdict(reason), text=text) for reason, text in explained),
        "sentences": tuple(record_from(SentenceView, sentence) for sentence in decision.sentences),
        "signals": tuple(record_from(SignalView, signal) for signal in decision.signals),
        "metrics": structs.replace(decision.metrics, confidence=rounded(decision.metrics.confidence)),
    }
    return CheckReply(**structs.asdict(decision) | shown, id=id, stored=stored, held=f"/v1/chat/held/{id}" if is_held else None)
