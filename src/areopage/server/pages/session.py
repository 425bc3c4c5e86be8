"""Sign-in with an API key, and sign-out; a session is a cookie."""

from fastapi import APIRouter
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from areopage.ledger.access import SESSION_LIFE, Audit
from areopage.ledger.operations import ApiKey
from areopage.server.access import SESSION_COOKIE, Access, Actor, Form, access_of, authenticate
from areopage.server.context import ServerContext, context_of
from areopage.server.errors import Refusal
from areopage.server.pages.rendering import render

HOME = "/monitor"
HOME_OF_ASKERS = "/chat"
"""The first page of keys that may not read the monitor's pages."""

router = APIRouter(include_in_schema=False)


@router.get("/")
async def home(request: Request) -> Response:
    """The first page."""
    return RedirectResponse(home_of(await _known(request)), 303)


@router.get("/login")
async def login_page(request: Request, next: str = HOME) -> Response:
    """The form for a key; a signed-in user sees the name of the key."""
    return render(request, "login.html.j2", actor=await _known(request), next=next, wrong=False)


@router.post("/login")
async def login(request: Request, form: Form) -> Response:
    """Open a session with a key."""
    access = access_of(request)
    key, wanted = (str(form.get(name) or "").strip() for name in ("key", "next"))
    client = request.client.host if request.client else "?"
    record = await access.keys.find(key, client)
    if record is None:
        return render(request, "login.html.j2", 401, actor=None, next=wanted, wrong=True)
    place = _own_path(wanted)
    response = RedirectResponse(home_of(record) if place == HOME else place, 303)
    response.set_cookie(
        SESSION_COOKIE,
        await run_in_threadpool(_open, access, context_of(request), record),
        max_age=int(SESSION_LIFE.total_seconds()),
        httponly=True,
        samesite="lax",  # a link in an alert finds its reader signed in; requests that change data also need a token
        secure=request.url.scheme == "https",
    )
    return response


@router.post("/logout")
async def logout(request: Request, _: Form) -> Response:
    """End the session."""
    await run_in_threadpool(_close, access_of(request), context_of(request), request.cookies.get(SESSION_COOKIE, ""))
    response = RedirectResponse("/login", 303)
    response.delete_cookie(SESSION_COOKIE, httponly=True, samesite="lax")
    return response


def _open(access: Access, context: ServerContext, key: ApiKey) -> str:
    token = access.sessions.open(key.id, context.now())
    Audit(context.ledger).note(key.name, "login", "", key_id=key.id)
    return token


def _close(access: Access, context: ServerContext, token: str) -> None:
    key = access.sessions.find(token, context.now())
    access.sessions.close(token)
    if key is not None:
        Audit(context.ledger).note(key.name, "logout", "", key_id=key.id)


def home_of(actor: Actor | ApiKey | None) -> str:
    """The page shown after sign-in."""
    return HOME_OF_ASKERS if actor and actor.role == "ask" else HOME


async def _known(request: Request) -> Actor | None:
    try:
        return await authenticate(request)
    except Refusal:
        return None


def _own_path(wanted: str) -> str:
    # a browser takes the text after two slashes or more for a host, where urlsplit sees a path behind three
    own = wanted.startswith("/") and not wanted.startswith("//") and "\\" not in wanted and wanted.isprintable()
    return wanted if own else HOME
