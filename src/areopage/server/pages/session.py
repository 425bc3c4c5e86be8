"""Signing in and out: the key that is shown once becomes a cookie."""

from typing import Annotated

from fastapi import APIRouter, Depends
from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from areopage.server.access import Actor, access_of, authenticate, checked_form
from areopage.server.context import context_of
from areopage.server.errors import Refusal
from areopage.server.pages.rendering import render
from areopage.server.sessions import SESSION_COOKIE, SESSION_HOURS

HOME = "/monitor"

router = APIRouter(include_in_schema=False)


@router.get("/")
async def home() -> Response:
    """The first page."""
    return RedirectResponse(HOME, 303)


@router.get("/login")
async def login_page(request: Request, next: str = HOME) -> Response:
    """The form for a key; who is signed in already sees as whom."""
    return render(request, "login.html.j2", actor=await known(request), next=next, wrong=False)


@router.post("/login")
async def login(request: Request, form: Annotated[FormData, Depends(checked_form)]) -> Response:
    """Open a session with a key."""
    access = access_of(request)
    key, wanted = (str(form.get(name) or "").strip() for name in ("key", "next"))
    client = request.client.host if request.client else "?"
    record = await access.keys.find(key, client)
    if record is None:
        return render(request, "login.html.j2", 401, actor=None, next=wanted, wrong=True)
    response = RedirectResponse(own_path(wanted), 303)
    response.set_cookie(
        SESSION_COOKIE,
        access.seal.open_session(record.id, context_of(request).now()),
        max_age=SESSION_HOURS * 3600,
        httponly=True,
        samesite="lax",  # a link in an alert finds its reader signed in; whatever changes something needs a token besides
        secure=request.url.scheme == "https",
    )
    return response


@router.post("/logout")
async def logout(_: Annotated[FormData, Depends(checked_form)]) -> Response:
    """Forget the session."""
    response = RedirectResponse("/login", 303)
    response.delete_cookie(SESSION_COOKIE, httponly=True, samesite="lax")
    return response


async def known(request: Request) -> Actor | None:
    """Who asks; None for somebody unknown."""
    try:
        return await authenticate(request)
    except Refusal:
        return None


def own_path(wanted: str) -> str:
    """A path of this server, for whoever has signed in; another address becomes the first page."""
    # a browser takes whatever follows two slashes or more for a host, where urlsplit sees a path behind three
    own = wanted.startswith("/") and not wanted.startswith("//") and "\\" not in wanted and wanted.isprintable()
    return wanted if own else HOME
