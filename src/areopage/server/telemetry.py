"""OpenTelemetry spans for requests and evaluations, without texts."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from areopage.cases import Case
from areopage.errors import MissingExtra
from areopage.gate import Decision
from areopage.jury import Evaluated, JudgmentStore
from areopage.ledger import Judgment
from areopage.monitor import QualityJudge
from areopage.server.guards import HttpMiddleware
from areopage.server.metrics import method_of, route_of

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.trace import Span

ENDPOINTS = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
SCOPE = "areopage"
SPAN = "areopage.span"
"""The key of a request's span in its ASGI scope."""


def open_telemetry(environment: Mapping[str, str]) -> "TracerProvider | None":
    """Create the tracer provider; None without an endpoint. `shutdown()` sends the remaining spans."""
    if not any(environment.get(name) for name in ENDPOINTS):
        return None
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
    except ModuleNotFoundError:
        raise MissingExtra(ENDPOINTS[0], "otel") from None
    named = environment.get("OTEL_SERVICE_NAME") or SCOPE
    provider = TracerProvider(resource=Resource.create({"service.name": named}), shutdown_on_exit=False)
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    return provider


class Tracing(HttpMiddleware):
    """A span for each request, below the caller's span if given."""

    def __init__(self, app: ASGIApp, provider: "TracerProvider") -> None:
        from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

        super().__init__(app)
        self._tracer = provider.get_tracer(SCOPE)
        self._propagator = TraceContextTextMapPropagator()

    async def serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Process one request."""
        from opentelemetry.trace import SpanKind

        above = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"] if name == b"traceparent"}
        method = method_of(scope)
        with self._tracer.start_as_current_span(method, self._propagator.extract(above), SpanKind.SERVER) as span:

            async def noted(message: Message) -> None:
                if message["type"] == "http.response.start":
                    span.set_attribute("http.response.status_code", message["status"])
                await send(message)

            scope[SPAN] = span
            await self.app(scope, receive, noted)
            route = route_of(scope)
            span.update_name(f"{method} {route}")
            span.set_attributes({"http.request.method": method, "http.route": route})


def tell_decision(request: Request, id: str, decision: Decision) -> None:
    """Add a gate decision to its request's span, without texts."""
    span: Span | None = request.scope.get(SPAN)
    if span is None:
        return
    attributes = {
        "areopage.trace.id": id,
        "gen_ai.evaluation.name": "gate",
        "gen_ai.evaluation.score.value": decision.p_unsupported,
        "gen_ai.evaluation.score.label": decision.verdict,
        "areopage.gate.meaning_not_checked": len(decision.meaning_not_checked) or None,
        "areopage.gate.judge_standing": decision.judge.standing if decision.judge is not None else None,
    }
    span.add_event("gen_ai.evaluation.result", _without_none(attributes))


def traced(provider: "TracerProvider") -> type[QualityJudge]:
    """The jury with a span for each evaluation, after OpenTelemetry's conventions for generative AI (`gen_ai.evaluation.*`)."""
    tracer = provider.get_tracer(SCOPE)

    class TracedJudge(QualityJudge):
        """A jury with a span for each evaluation."""

        async def evaluate_case(
            self, case: Case, store: JudgmentStore | None = None, on_judgment: Callable[[Judgment], None] | None = None
        ) -> Evaluated:
            """As QualityJudge.evaluate_case, within a span."""
            with tracer.start_as_current_span("evaluate") as span:
                evaluated = await super().evaluate_case(case, store, on_judgment)
                _describe(span, evaluated)
                return evaluated

    return TracedJudge


def _describe(span: "Span", evaluated: Evaluated) -> None:
    """Put an evaluation's figures on a span, with an event for each criterion. The answer's id is there, its text is not."""
    evaluation = {
        "areopage.answer.id": evaluated.id,
        "areopage.suite": evaluated.suite,
        "gen_ai.evaluation.name": "score_global",
        "gen_ai.evaluation.score.value": evaluated.score_global,
        "gen_ai.evaluation.score.label": evaluated.grade,
        "gen_ai.usage.input_tokens": evaluated.prompt_tokens,
        "gen_ai.usage.output_tokens": evaluated.completion_tokens,
    }
    span.set_attributes(_without_none(evaluation))
    for result in evaluated.criteria:
        attributes = {
            "gen_ai.evaluation.name": result.criterion,
            "gen_ai.evaluation.score.value": result.score,
            "gen_ai.evaluation.score.label": result.grade,
        }
        span.add_event("gen_ai.evaluation.result", _without_none(attributes))


def _without_none(attributes: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in attributes.items() if value is not None}
