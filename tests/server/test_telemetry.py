"""OpenTelemetry: silent unless configured; then spans of requests and evaluations, without any text."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from starlette.testclient import TestClient

from areopage.cases.records import Case
from areopage.server.app import create_app
from areopage.server.telemetry import open_telemetry, traced

from .seeded import context_for


@pytest.fixture
def exporter() -> InMemorySpanExporter:
    return InMemorySpanExporter()


@pytest.fixture
def provider(exporter: InMemorySpanExporter) -> Iterator[TracerProvider]:
    made = TracerProvider(shutdown_on_exit=False)
    made.add_span_processor(SimpleSpanProcessor(exporter))
    yield made
    made.shutdown()


def attributes(span: ReadableSpan) -> dict[str, object]:
    return dict(span.attributes or {})


def test_without_an_endpoint_there_is_nothing() -> None:
    assert open_telemetry({}) is None
    assert open_telemetry({"OTEL_EXPORTER_OTLP_ENDPOINT": ""}) is None


def test_with_an_endpoint_spans_are_sent_there() -> None:
    opened = open_telemetry({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:9", "OTEL_SERVICE_NAME": "helpdesk"})
    assert opened is not None
    assert opened.resource.attributes["service.name"] == "helpdesk"
    opened.shutdown()


def test_a_request_is_a_span_below_its_caller_s(tmp_path: Path, provider: TracerProvider, exporter: InMemorySpanExporter) -> None:
    context = context_for(tmp_path)
    client = TestClient(create_app(context, tracing=provider), base_url="http://localhost", client=("127.0.0.1", 5))
    client.get("/v1/evaluations/none", headers={"traceparent": f"00-{'a' * 32}-{'b' * 16}-01"})
    (span,) = exporter.get_finished_spans()
    assert span.name == "GET /v1/evaluations/{id}"
    assert span.context is not None and f"{span.context.trace_id:x}" == "a" * 32
    assert attributes(span) == {
        "http.request.method": "GET",
        "http.route": "/v1/evaluations/{id}",
        "http.response.status_code": 404,
    }
    context.ledger.close()


def test_an_evaluation_is_a_span_with_its_scores_and_no_text(provider: TracerProvider, exporter: InMemorySpanExporter) -> None:
    async def evaluate() -> None:
        async with traced(provider).from_suite("answer_quality", ["rules:answer_quality"], environment={}) as judge:
            await judge.evaluate_case(Case(id="a1", prompt="geheim?", response="**Analyse** : geheim"))

    asyncio.run(evaluate())
    (span,) = exporter.get_finished_spans()
    found = attributes(span)
    assert found["areopage.answer.id"] == "a1"
    assert found["gen_ai.evaluation.score.label"] == "weak"
    assert isinstance(found["gen_ai.evaluation.score.value"], float)
    assert {dict(event.attributes or {})["gen_ai.evaluation.name"] for event in span.events} == {
        "quality.answer.format",
        "quality.answer.sources",
    }
    assert "geheim" not in span.to_json()
