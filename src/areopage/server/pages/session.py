"""Sign-in with an API key, and sign-out; a session is a cookie.

A form that is sent without a session is kept in the login page, and in the page after it, where the reader sends it again.
"""

from functools import partial
from urllib.parse import quote, urlsplit

from fastapi import APIRouter
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from areopage.ledger import SESSION_LIFE
from areopage.server.access import TOKEN_FIELD, Actor, Form, access_of, authenticate, is_form, session_cookie
from areopage.server.context import context_of
from areopage.server.errors import Refusal
from areopage.server.guards import address_of
from areopage.server.pages.places import HOME, home_of
from areopage.server.pages.rendering import render

KEPT, FORM_WAITS = "kept.", "form_waits"
"""The login's fields that hold those of a form, and the field that says that there is one."""

router = APIRouter(include_in_schema=False)


@router.get("/")
async def home(request: Request) -> Response:
    """The first page."""
    return RedirectResponse(await run_in_threadpool(home_of, context_of(request), await _signed_in(request)), 303)


@router.get("/login")
async def login_page(request: Request, next: str = HOME) -> Response:
    """The form for a key; a signed-in user sees the name of the key."""
    return _login_page(request, next, actor=await _signed_in(request))


@router.post("/login")
async def login(request: Request, form: Form) -> Response:
    """Open a session with a key."""
    access = access_of(request)
    key, wanted = (str(form.get(name) or "").strip() for name in ("key", "next"))
    record = await access.keys.find(key, address_of(request))
    kept = _fields_of(form, KEPT)
    if record is None:
        return _login_page(request, wanted, 401, kept=kept if FORM_WAITS in form else None, wrong=True)
    # a browser takes the text after two slashes or more for a host, where urlsplit sees a path behind three
    is_own = wanted.startswith("/") and not wanted.startswith("//") and "\\" not in wanted and wanted.isprintable()
    place = wanted if is_own else HOME

    def open_session() -> str:
        context = context_of(request)
        token = access.sessions.open(record.id, context.now())
        context.ledger.audit.note(record.name, "login", "", key_id=record.id)
        return token

    cookie = await run_in_threadpool(open_session)
    response: Response
    if FORM_WAITS in form:
        token = partial(access.form_token, cookie)
        response = render(request, "resume.html.j2", actor=None, name=record.name, action=place, kept=kept, csrf=token)
    else:
        home = await run_in_threadpool(home_of, context_of(request), record)
        response = RedirectResponse(home if place == HOME else place, 303)
    response.set_cookie(
        session_cookie(request),
        cookie,
        max_age=int(SESSION_LIFE.total_seconds()),
        httponly=True,
        samesite="lax",  # a link in an alert finds its reader signed in; requests that change data also need a token
        secure=request.url.scheme == "https",
    )
    return response


@router.post("/logout")
async def logout(request: Request, _: Form) -> Response:
    """End the session."""
    sessions, context, token = access_of(request).sessions, context_of(request), request.cookies.get(session_cookie(request), "")

    def close_session() -> None:
        key = sessions.find(token, context.now())
        sessions.close(token)
        if key is not None:
            context.ledger.audit.note(key.name, "logout", "", key_id=key.id)

    await run_in_threadpool(close_session)
    response = RedirectResponse("/login", 303)
    secure = request.url.scheme == "https"  # else the browser would keep the cookie
    response.delete_cookie(session_cookie(request), httponly=True, samesite="lax", secure=secure)
    return response


async def lead_to_login(request: Request) -> Response:
    """The way to the login page and back.

    A part of a page that htmx fetched sends the whole page there. A form that was sent is kept.
    """
    if request.headers.get("hx-request"):
        shown = urlsplit(request.headers.get("hx-current-url", ""))
        wanted = shown.path + (f"?{shown.query}" if shown.query else "")
        return Response(status_code=401, headers={"HX-Redirect": _login_address(wanted)})
    # as it was asked for: an escaped sign in an id, such as %2F, would else be another address on the way back
    path, query = request.scope["raw_path"].decode("ascii", "replace"), request.scope["query_string"].decode("ascii", "replace")
    wanted = path + (f"?{query}" if query else "")
    if request.method == "GET":
        return RedirectResponse(_login_address(wanted), 303)
    if not is_form(request):
        return RedirectResponse(_login_address(""), 303)
    return _login_page(request, wanted, 401, kept=_fields_of(await request.form()))


def _login_address(wanted: str) -> str:
    return f"/login?next={quote(wanted, safe='')}" if wanted else "/login"


def _login_page(
    request: Request,
    wanted: str,
    status: int = 200,
    *,
    actor: Actor | None = None,
    kept: list[tuple[str, str]] | None = None,
    wrong: bool = False,
) -> Response:
    """The login page; `kept` are the fields of the form that waits, None where none does."""
    form = {"form_waits": kept is not None, "kept": kept or []}
    return render(request, "login.html.j2", status, actor=actor, next=wanted, wrong=wrong, **form)


def _fields_of(form: FormData, prefix: str = "") -> list[tuple[str, str]]:
    """The fields of a form whose names have a prefix, without it and without the token."""
    texts = ((name, value) for name, value in form.multi_items() if isinstance(value, str))
    return [(name.removeprefix(prefix), value) for name, value in texts if name.startswith(prefix) and name != TOKEN_FIELD]


async def _signed_in(request: Request) -> Actor | None:
    try:
        return await authenticate(request)
    except Refusal:
        return None
