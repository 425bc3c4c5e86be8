"""Prometheus metrics of this process and of its ledger, and health checks."""

import shutil
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import date, timedelta
from pathlib import Path
from typing import Annotated, Any, cast

from fastapi import APIRouter, Depends
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from areopage.errors import StorageError, counted
from areopage.gate import Decision
from areopage.ledger import Batch, Ledger, Period, Trace
from areopage.ledger import Scope as AnswerScope
from areopage.monitor import Losses
from areopage.server.access import Actor, require
from areopage.server.api.records import Health
from areopage.server.api.schema import content_of, faults, json_response
from areopage.server.context import ServerContext, context_of
from areopage.server.guards import HttpMiddleware, is_local

ALWAYS = Period(start=date.min, end=date.max)
GATE_BUCKETS = (0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 2.5, 10.0)
RISK_BUCKETS = tuple(step / 10 for step in range(1, 11))
BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
FAILING_WITHIN = timedelta(minutes=15)
MOST_FAILING = 1000
METRICS_TYPE = "text/plain; version=0.0.4; charset=utf-8"
READ = require("read")

Responses = dict[int | str, dict[str, Any]]
HealthCheck = Callable[[], str]
"""Says what is wrong with a part of the process; "" where it is well."""

WELL: Responses = {200: {"description": "It is well.", "content": content_of(Health)}}
UNWELL: Responses = {503: {"description": "It is not; `reason` says why.", "content": content_of(Health)}}

router = APIRouter(tags=["health"])
LEAST_FREE_BYTES = 8_000_000
"""With less, a server is not ready: SQLite needs room beside the ledger to write."""


class ServerMetrics:
    """The metrics of one server, in a separate registry."""

    def __init__(self, context: ServerContext, traces: Batch[Trace, None]) -> None:
        self._registry = _Registry()
        self._registry.register(LedgerCollector(context))
        self._submissions = Counter(
            "areopage_submissions", "Answers submitted to this process.", ["known"], registry=self._registry
        )
        self._seconds = Histogram(
            "areopage_request_seconds",
            "Seconds from a request's head to the end of its answer.",
            ["method", "route", "status"],
            buckets=BUCKETS,
            registry=self._registry,
        )
        self._decisions = Counter(
            "areopage_gate_decisions", "Decisions of the gate in this process.", ["verdict", "profile"], registry=self._registry
        )
        self._reasons = Counter(
            "areopage_gate_reasons",
            "Reasons that made a decision of the gate in this process.",
            ["code"],
            registry=self._registry,
        )
        self._unchecked = Counter(
            "areopage_gate_meaning_not_checked",
            "Decisions of the gate in this process on an answer that nearly copies a document, its meaning not checked.",
            ["verdict"],
            registry=self._registry,
        )
        self._word_values = Histogram(
            "areopage_gate_p_unsupported",
            "p_unsupported, which compares the words of an answer with the documents; decisions without it do not count.",
            buckets=RISK_BUCKETS,
            registry=self._registry,
        )
        self._gate_seconds = Histogram(
            "areopage_gate_seconds", "Seconds that the gate took for a decision.", buckets=GATE_BUCKETS, registry=self._registry
        )
        unwritten = Gauge("areopage_gate_unwritten", "Decisions that are not in the ledger yet.", registry=self._registry)
        unwritten.set_function(lambda: traces.waiting)
        lost = Gauge("areopage_gate_lost", "Decisions of this process that never reached the ledger.", registry=self._registry)
        lost.set_function(lambda: traces.lost)
        self._new, self._known = self._submissions.labels("no"), self._submissions.labels("yes")

    def submitted(self, new: Sequence[bool]) -> None:
        """Count submitted answers by whether they are new."""
        fresh = sum(new)
        self._new.inc(fresh)
        self._known.inc(len(new) - fresh)

    def decided(self, decision: Decision, seconds: float | None) -> None:
        """Record a decision, each reason that made it once, and its duration if known."""
        self._decisions.labels(decision.verdict, decision.profile).inc()
        for code in {reason.code for reason in decision.reasons if reason.decisive}:
            self._reasons.labels(code).inc()
        if decision.meaning_not_checked:
            self._unchecked.labels(decision.verdict).inc()
        if decision.p_unsupported is not None:
            self._word_values.observe(decision.p_unsupported)
        if seconds is not None:
            self._gate_seconds.observe(seconds)

    def served(self, method: str, route: str, status: int, seconds: float) -> None:
        """Record a request by its route's template."""
        self._seconds.labels(method, route, str(status)).observe(seconds)

    def text(self) -> bytes:
        """Format all metrics as Prometheus text; reads the ledger, so it blocks."""
        return generate_latest(self._registry)


class _Registry(CollectorRegistry):
    """Metrics without the moments at which the library made them."""

    def collect(self) -> Iterator[Metric]:
        for metric in super().collect():
            metric.samples = [sample for sample in metric.samples if not sample.name.endswith("_created")]
            yield metric


class LedgerCollector(Collector):
    """Metrics from the ledger; equal in all processes that share it."""

    def __init__(self, context: ServerContext) -> None:
        self._context = context

    def describe(self) -> Iterable[Metric]:
        """Return nothing: the ledger is read only at a scrape."""
        return ()

    def collect(self) -> Iterator[Metric]:
        """Read the ledger."""
        ledger = self._context.ledger
        backlog, hooks = ledger.evaluations.backlog(), Losses.of(self._context.config.monitor.spool)
        states = {"waiting": backlog.waiting, "failed": backlog.failed}
        yield _gauge("areopage_backlog", "Answers that are not evaluated, by state.", "state", states)
        age = backlog.waited(self._context.now()) or 0.0
        yield GaugeMetricFamily("areopage_oldest_waiting_seconds", "Age of the oldest waiting answer.", age)
        days = ledger.days.totals(ALWAYS, AnswerScope())
        counter = CounterMetricFamily(
            "areopage_answers", "Answers that were dealt with, golden ones left out.", labels=["outcome"]
        )
        for outcome in ("scored", "unscored", "failed"):
            counter.add_metric([outcome], sum(getattr(day, outcome) for day in days))
        yield counter
        calls = CounterMetricFamily("areopage_judge_calls", "Calls to judges.", labels=["judge", "model"])
        verdicts = CounterMetricFamily("areopage_judge_verdicts", "Verdicts by outcome.", labels=["judge", "model", "outcome"])
        for judge in ledger.days.judges(ALWAYS):
            calls.add_metric([judge.judge, judge.model], judge.calls)
            for outcome, count in sorted(judge.outcomes.items()):
                verdicts.add_metric([judge.judge, judge.model, outcome], count)
        yield calls
        yield verdicts
        yield _gauge("areopage_open_alerts", "Alerts that hold now.", "rule", ledger.alerts.counts())
        lost, doubts = dict(sorted(hooks.counts.items())), dict(sorted(hooks.doubts.items()))
        yield _gauge("areopage_hook_lost", "Answers that hooks on this computer did not submit.", "why", lost)
        yield _gauge("areopage_hook_doubtful", "Doubts about answers of hooks on this computer.", "kind", doubts)


def _gauge(name: str, text: str, label: str, counts: Mapping[str, float]) -> Metric:
    """Counts by the values of a label."""
    gauge = GaugeMetricFamily(name, text, labels=[label])
    for value, count in counts.items():
        gauge.add_metric([value], count)
    return gauge


def metrics_of(request: Request) -> ServerMetrics:
    """Return the metrics of a request's server."""
    return cast(ServerMetrics, request.app.state.metrics)


class Timing(HttpMiddleware):
    """Records the duration of each request."""

    def __init__(self, app: ASGIApp, metrics: ServerMetrics) -> None:
        super().__init__(app)
        self._metrics = metrics

    async def serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Process one request."""
        began = time.perf_counter()
        status = 500

        async def noted(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self.app(scope, receive, noted)
        finally:
            self._metrics.served(method_of(scope), route_of(scope), status, time.perf_counter() - began)


def route_of(scope: Scope) -> str:
    """The template of a request's route; "other" for unknown paths."""
    return getattr(scope.get("route"), "path_format", "") or "other"


def method_of(scope: Scope) -> str:
    """The method if served; HEAD is counted as GET."""
    return scope["method"] if scope["method"] in ("GET", "POST", "DELETE") else "other"


@router.get("/healthz", responses=WELL, summary="Whether the process lives")
async def healthz() -> Response:
    """Says yes as long as the process answers at all."""
    return json_response(Health(status="ok"))


@router.get("/readyz", responses=WELL | UNWELL, summary="Whether the server can do its work")
def readyz(request: Request) -> Response:
    """Looks at the ledger, and at the worker where it runs in this process. The reason names no place and no person.

    Where judges fail, answers are still accepted: the server is `ok`, and `reason` says so.
    """
    context, checks = context_of(request), cast(Sequence[HealthCheck], request.app.state.checks)
    reason = _ledger_fault(context.ledger) or next(filter(None, (check() for check in checks)), "")
    if reason:
        return json_response(Health(status="unavailable", reason=reason), 503)
    failing = context.ledger.evaluations.failing_since(context.now() - FAILING_WITHIN, MOST_FAILING)
    if failing:
        reason = f"judges fail: {counted(failing, 'answer')} {'has' if failing == 1 else 'have'} no score yet"
    return json_response(Health(status="ok", reason=reason))


async def _reader_or_local(request: Request) -> Actor:
    """Accept a key that may read all sources, or a request from this computer, where metrics collectors often run."""
    if is_local(request):
        return Actor(name="local", role="read", keyless=True)
    actor = await READ(request)
    actor.check_unscoped()
    return actor


@router.get(
    "/metrics",
    responses={200: {"description": "Prometheus' text format.", "content": {"text/plain": {}}}, **faults(401, 403, 503)},
    response_class=Response,
    summary="Metrics for Prometheus",
)
def metrics(request: Request, _: Annotated[Actor, Depends(_reader_or_local)]) -> Response:
    """What this process did since its start, and what the ledger says now."""
    return Response(metrics_of(request).text(), headers={"Content-Type": METRICS_TYPE})


def _ledger_fault(ledger: Ledger) -> str:
    url = ledger.engine.url
    if url.drivername == "sqlite" and not Path(url.database or "").exists():
        return "the ledger's file is gone: what open connections still write to it is lost when they close"
    if url.drivername == "sqlite" and shutil.disk_usage(Path(url.database or "").parent).free < LEAST_FREE_BYTES:
        return "there is no space left for the ledger"
    try:
        is_current = ledger.is_current()
    except StorageError:
        return "the ledger cannot be reached"
    return "" if is_current else "the ledger was migrated by another version: start this server again"
