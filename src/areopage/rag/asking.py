"""Questions to the pipeline from the API and the page, and their errors."""

import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, cast

from starlette.requests import Request

from areopage.errors import CallError, CallTimedOut, ModelError, StorageError, TooManyAnswers, UnknownCollection
from areopage.ledger import Trace
from areopage.locales import locale_for
from areopage.monitor import writable
from areopage.rag.records import ChatPrompt
from areopage.report import explain
from areopage.server import GATE_WORDS, Actor, Pipeline, Refusal, context_of, metrics_of, tell_decision

NO_PIPELINE = "chat is not configured: add a section rag to areopage.yml, ingest documents, and restart the server"

if TYPE_CHECKING:
    from areopage.rag.service import RagService

log = logging.getLogger(__name__)


def pipeline_of(request: Request) -> Pipeline:
    """Return the pipeline of a request's server."""
    pipeline = context_of(request).rag
    if pipeline is None:
        raise Refusal(503, "no_pipeline", NO_PIPELINE)
    return pipeline


def prompt_of(
    pipeline: Pipeline,
    actor: Actor,
    question: str,
    *,
    collection: str = "",
    sources: tuple[str, ...] = (),
    no_cache: bool = False,
    session: str = "",
) -> ChatPrompt:
    """Convert a question for the pipeline."""
    if not question.strip():
        raise Refusal(422, "invalid", "question: must not be empty")
    wanted = writable(collection.strip()) or pipeline.collection
    if not actor.may_see(wanted):
        raise Refusal(403, "forbidden", f"the key {actor.name} has no access to the collection {wanted!r}")
    return ChatPrompt(
        prompt=writable(question),
        collection=wanted,
        sources_filter=tuple(writable(source) for source in sources),
        no_cache=no_cache,
        session=writable(session),
        api_key=actor.key,
    )


def service_of(pipeline: Pipeline) -> "RagService":
    """The service that this extension has opened for the server."""
    return cast("RagService", pipeline.service)


async def ask(request: Request, pipeline: Pipeline, prompt: ChatPrompt) -> Trace:
    """Send a question to the pipeline, and count the decision."""
    with plain_faults(prompt.collection):
        trace = await service_of(pipeline).answer(prompt)
    count_answer(request, trace)
    return trace


@contextmanager
def plain_faults(collection: str) -> Iterator[None]:
    """Convert errors of models and stores for clients; details are logged."""
    try:
        yield
    except UnknownCollection:
        raise Refusal(404, "unknown_collection", f"no such collection: {collection!r}") from None
    except TooManyAnswers as fault:
        raise Refusal(429, "too_many", str(fault), {"Retry-After": "5"}) from None
    except CallTimedOut as fault:
        log.warning("%s", fault)
        raise Refusal(504, "model_timeout", "the model did not respond in time: retry later") from None
    except StorageError as fault:
        log.error("%s", fault)
        message = "the document store or the ledger is unavailable: retry later"
        raise Refusal(503, "storage", message, {"Retry-After": "5"}) from None
    except (CallError, ModelError) as fault:
        log.warning("%s", fault)
        raise Refusal(502, "model_down", "the model or the document store is unreachable: retry later") from None


def count_answer(request: Request, trace: Trace) -> None:
    """Record a decision in metrics and span; cached answers are skipped."""
    if trace.decision is None or trace.mode == "cached":
        return
    spent = [signal.seconds for signal in trace.decision.signals if signal.seconds is not None]
    metrics_of(request).decided(trace.decision, sum(spent) if spent else None)
    tell_decision(request, trace.id, trace.decision)


def reasons_of(trace: Trace, language: str) -> list[str]:
    """The reasons for a decision, without quotes of undelivered text."""
    if trace.decision is None:
        return []
    spoken = trace.decision.prompt_lang or trace.language or language
    if trace.mode in ("generated", "cached", "shadow"):
        return explain(trace.decision, spoken)
    general: Mapping[str, str] = locale_for(spoken, GATE_WORDS).messages["gate_reasons"]  # none quotes anything
    return list(dict.fromkeys(general[reason.code] for reason in trace.decision.reasons if reason.decisive))
