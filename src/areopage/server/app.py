"""Assembly of the server: API, pages and middleware."""

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
from fastapi import APIRouter, FastAPI
from fastapi.openapi.utils import get_openapi
from starlette.concurrency import run_in_threadpool
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.staticfiles import StaticFiles

from areopage.server import metrics
from areopage.server.access import Access, ShownContents
from areopage.server.api import evaluations, figures, gate, traces
from areopage.server.api import review as review_api
from areopage.server.api.gate import trace_batch
from areopage.server.api.records import RECORDS
from areopage.server.api.schema import components
from areopage.server.context import ServerContext, server_parts
from areopage.server.errors import handle_errors
from areopage.server.guards import BodyLimit, HeadOfGet, KnownHosts, SecurityHeaders
from areopage.server.metrics import HealthCheck, ServerMetrics, Timing
from areopage.server.pages import answers, disagreements, held, monitor, review, runs, session, trust
from areopage.server.pages import gate as gate_page
from areopage.server.pages.rendering import fault_page
from areopage.server.telemetry import Tracing
from areopage.version import __version__

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import TracerProvider

STATIC = Path(__file__).parent / "static"
DESCRIPTION = "Ask, check and submit answers, read the figures. Each request shows `Authorization: Bearer areo_...`."
_ROUTERS = (
    evaluations.router,
    figures.router,
    review_api.router,
    held.api_router,
    gate.router,
    traces.router,
    metrics.router,
    session.router,
    monitor.router,
    answers.router,
    held.router,
    gate_page.router,
    review.router,
    disagreements.router,
    trust.router,  # before `runs`, whose addresses take any path
    runs.router,
)


def routers() -> tuple[APIRouter, ...]:
    """All routes; those of extensions come first, since some addresses of the core take any path."""
    return (*(part.router for part in server_parts()), *_ROUTERS)


Hook = Callable[[], Awaitable[None]]


class Api(FastAPI):
    """The application; its OpenAPI schema describes what msgspec reads and writes."""

    def openapi(self) -> dict[str, Any]:
        """The schema, made once."""
        if self.openapi_schema is None:
            schema = get_openapi(
                title=self.title, version=self.version, summary=self.summary, description=DESCRIPTION, routes=self.routes
            )
            parts = schema.setdefault("components", {})
            parts["schemas"] = components((*RECORDS, *(record for part in server_parts() for record in part.records)))
            parts["securitySchemes"] = {"key": {"type": "http", "scheme": "bearer"}}
            schema["security"] = [{"key": []}]
            self.openapi_schema = schema
        return self.openapi_schema

    async def encoded_schema(self, _: Request) -> Response:
        """The schema as it is sent."""
        return Response(msgspec.json.encode(self.openapi()), media_type="application/json")


def create_app(
    context: ServerContext,
    *,
    on_start: Sequence[Hook] = (),
    on_stop: Sequence[Hook] = (),
    checks: Sequence[HealthCheck] = (),
    tracing: "TracerProvider | None" = None,
) -> FastAPI:
    """Build a server's application."""
    written = trace_batch(context)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        for start in on_start:
            await start()
        yield
        await run_in_threadpool(written.close)
        if context.rag is not None:
            await context.rag.service.aclose()
        if context.judge is not None:
            await context.judge.aclose()
        for stop in on_stop:
            await stop()

    # the bundled pages of FastAPI's documentation load scripts from other sites: the schema alone is served
    app = Api(
        title="Areopage",
        version=__version__,
        summary="Evaluation of the answers of language models",
        openapi_url=None,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        lifespan=lifespan,
    )
    app.state.context = context
    app.state.access = Access.of(context)
    app.state.shown = ShownContents()
    app.state.traces = written
    app.state.metrics = ServerMetrics(context, written)
    app.state.checks = checks
    handle_errors(app, fault_page, session.lead_to_login)
    _add_guards(app, context)
    if tracing is not None:
        app.add_middleware(Tracing, provider=tracing)
    app.add_route("/openapi.json", app.encoded_schema, include_in_schema=False)
    for router in routers():
        app.include_router(router)
    app.mount("/static", StaticFiles(directory=STATIC), name="static")
    return app


def _add_guards(app: FastAPI, context: ServerContext) -> None:
    """What every request passes; the last one added comes first."""
    server = context.config.server
    if server.origins:
        app.add_middleware(
            CORSMiddleware,
            allow_origins=[origin.rstrip("/") for origin in server.origins],
            allow_methods=["GET", "POST"],
            allow_headers=["Authorization", "Content-Type"],
        )
    app.add_middleware(BodyLimit, most=server.max_body, seconds=server.body_seconds)
    app.add_middleware(KnownHosts, addresses=app.state.access.addresses)
    app.add_middleware(Timing, metrics=app.state.metrics)
    app.add_middleware(SecurityHeaders)
    app.add_middleware(HeadOfGet)
