"""Error responses: JSON for programs, pages for people, never a traceback."""

import logging
from collections.abc import Awaitable, Callable, Mapping
from http import HTTPStatus

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from areopage.errors import StorageError, UserError

POLICY = (
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
SECURITY_HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": "no-store",
}
API_PREFIXES = ("/v1/", "/metrics", "/healthz", "/readyz", "/openapi.json")

ShowFault = Callable[[Request, int, str, Mapping[str, str] | None], Response]
"""Renders the error page of a status and a code."""

LeadToLogin = Callable[[Request], Awaitable[Response]]
"""Answers a request for a page without a session."""

log = logging.getLogger(__name__)


class Refusal(HTTPException):
    """A rejected request. `code` is for programs, the message for people."""

    def __init__(self, status: int, code: str, message: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(status, message, headers)
        self.code = code


def handle_errors(app: FastAPI, show_fault: ShowFault, lead_to_login: LeadToLogin) -> None:
    """Register the handlers."""
    app.state.show_fault = show_fault
    app.state.lead_to_login = lead_to_login
    app.add_exception_handler(HTTPException, _on_http)
    app.add_exception_handler(RequestValidationError, _on_invalid)
    app.add_exception_handler(UserError, _on_user_error)
    app.add_exception_handler(Exception, _on_bug)


async def _on_http(request: Request, fault: Exception) -> Response:
    assert isinstance(fault, HTTPException)  # noqa: S101 - registered for nothing else
    code = fault.code if isinstance(fault, Refusal) else HTTPStatus(fault.status_code).phrase.lower().replace(" ", "_")
    if fault.status_code == HTTPStatus.UNAUTHORIZED and not _is_api(request):
        lead: LeadToLogin = request.app.state.lead_to_login
        return await lead(request)
    return answer(request, fault.status_code, code, fault.detail, fault.headers)


async def _on_invalid(request: Request, fault: Exception) -> Response:
    assert isinstance(fault, RequestValidationError)  # noqa: S101
    first, place = fault.errors()[0], ""
    for part in first["loc"]:
        place += f"[{part}]" if isinstance(part, int) else f".{part}" if place else part
    return answer(request, 422, "invalid", f"{place}: {first['msg']}")


async def _on_user_error(request: Request, fault: Exception) -> Response:
    """Answer an error that the operator can correct. The details stay in the log; the client sees no path."""
    log.error("%s", fault)
    if isinstance(fault, StorageError):
        return answer(request, 503, "storage", "the ledger is unavailable: retry later", {"Retry-After": "5"})
    return answer(request, 500, "misconfigured", "the server is not configured for this: see the server's log")


async def _on_bug(request: Request, fault: Exception) -> Response:
    """An internal error, logged with its traceback. The response passes no middleware, so it sets its own headers."""
    return answer(request, 500, "internal", "internal server error: see the server's log", SECURITY_HEADERS)


def answer(request: Request, status: int, code: str, message: str, headers: Mapping[str, str] | None = None) -> Response:
    """Format the response for the client."""
    if _is_api(request) or "text/html" not in request.headers.get("accept", ""):
        return JSONResponse({"error": {"code": code, "message": message}}, status, headers)
    shown: ShowFault = request.app.state.show_fault
    return shown(request, status, code, headers)


def _is_api(request: Request) -> bool:
    return request.url.path.startswith(API_PREFIXES)
