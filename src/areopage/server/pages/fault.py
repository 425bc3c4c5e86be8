"""The error page for browsers, in the reader's language."""

from collections.abc import Mapping

from starlette.requests import Request
from starlette.responses import Response

from areopage.server.pages.rendering import language, render

NOT_ALLOWED = 403


def fault_page(request: Request, status: int, code: str, headers: Mapping[str, str] | None = None) -> Response:
    """Show an error and what the reader can do.

    Args:
        code: names the fault; what it has no words for is told by its status alone.
        headers: of the answer, over those that every page has.
    """
    words = language(request).messages
    named = f"fault_{code}" if f"fault_{code}" in words else f"fault_{status // 100}"
    page = render(request, "fault.html.j2", status, fault=named, number=status, may_sign_in=status == NOT_ALLOWED)
    page.headers.update(headers or {})
    return page
