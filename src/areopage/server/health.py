"""Whether the process lives, whether it can serve, and its metrics."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, cast

from fastapi import APIRouter, Depends
from msgspec import Struct
from starlette.requests import Request
from starlette.responses import Response

from areopage.errors import StorageError
from areopage.ledger.connection import revision_of, storage_errors
from areopage.ledger.schema import REVISION
from areopage.ledger.store import Ledger
from areopage.server.access import Actor, require
from areopage.server.api.schema import content_of, faults, json_response
from areopage.server.context import context_of
from areopage.server.metrics import metrics_of
from areopage.server.origins import is_local

METRICS_TYPE = "text/plain; version=0.0.4; charset=utf-8"
READ = require("read")

Responses = dict[int | str, dict[str, Any]]

Check = Callable[[], str]
"""Says what is wrong with a part of the process; "" where it is well."""

router = APIRouter(tags=["health"])


class Health(Struct, frozen=True, kw_only=True):
    """How the server is; `reason` is "" where it is well."""

    status: Literal["ok", "unavailable"]
    reason: str = ""


WELL: Responses = {200: {"description": "It is well.", "content": content_of(Health)}}
UNWELL: Responses = {503: {"description": "It is not; `reason` says why.", "content": content_of(Health)}}


@router.get("/healthz", responses=WELL, summary="Whether the process lives")
async def healthz() -> Response:
    """Says yes as long as the process answers at all."""
    return json_response(Health(status="ok"))


@router.get("/readyz", responses=WELL | UNWELL, summary="Whether the server can do its work")
def readyz(request: Request) -> Response:
    """Looks at the ledger, and at the worker where it runs in this process. The reason names no place and no person."""
    reason = _ledger_fault(context_of(request).ledger) or next(filter(None, (check() for check in _checks_of(request))), "")
    if reason:
        return json_response(Health(status="unavailable", reason=reason), 503)
    return json_response(Health(status="ok"))


async def _reader_or_local(request: Request) -> Actor:
    """Accept a key that may read, or a request from this computer, where metrics collectors often run."""
    return Actor(name="local", role="read", keyless=True) if is_local(request) else await READ(request)


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
    """What is wrong with the ledger; "" where it is well."""
    url = ledger.engine.url
    if url.drivername == "sqlite" and not Path(url.database or "").exists():
        return "the ledger's file is gone: what open connections still write to it is lost when they close"
    try:
        with storage_errors(ledger.place):
            revision = revision_of(ledger.engine)
    except StorageError:
        return "the ledger cannot be reached"
    return "" if revision == REVISION else "the ledger was migrated by another version: start this server again"


def _checks_of(request: Request) -> Sequence[Check]:
    """The checks of the server that got a request."""
    return cast(Sequence[Check], request.app.state.checks)
