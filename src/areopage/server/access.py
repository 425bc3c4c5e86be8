"""Authorisation: API keys, page sessions and form tokens."""

from collections.abc import Awaitable, Callable
from typing import cast

from msgspec import Struct
from starlette.datastructures import FormData
from starlette.requests import Request

from areopage.ledger.access import ApiKeys
from areopage.ledger.operations import Role
from areopage.server.context import ServerContext, context_of
from areopage.server.credentials import SESSION_COOKIE, KeyDirectory, Seal, same
from areopage.server.errors import Refusal
from areopage.server.guards import Addresses, is_local

GRANTS: dict[Role, frozenset[Role]] = {
    "ask": frozenset({"ask"}),
    "read": frozenset({"read"}),
    "write": frozenset({"ask", "read", "write"}),
    "admin": frozenset({"ask", "read", "write", "admin"}),
}
"""The roles that each role includes."""
SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
FORM_TYPE = "application/x-www-form-urlencoded"
TOKEN_FIELD = "csrf"  # noqa: S105 - a field's name
TOKEN_HEADER = "x-csrf-token"  # noqa: S105


class Actor(Struct, frozen=True, kw_only=True):
    """Who is asking. `name` is the key's name; without a key "local", which a key may be called as well.

    `keyless`: whether the request has no key. Local requests need none on a server without keys.
    `collections`: the only collections that the actor may query and see answers of; () means all.
    """

    name: str
    role: Role
    keyless: bool = False
    collections: tuple[str, ...] = ()

    def may_see(self, collection: str) -> bool:
        """Whether a collection is in the actor's scope."""
        return not self.collections or collection in self.collections


class Access(Struct, frozen=True, kw_only=True):
    """The server's access rules: keys, cookie seal and addresses."""

    keys: KeyDirectory
    seal: Seal
    addresses: Addresses


def access_to(context: ServerContext) -> Access:
    """Build a server's access rules."""
    return Access(
        keys=KeyDirectory(ApiKeys(context.ledger)),
        seal=Seal(context.ledger.secret()),
        addresses=Addresses.of(context.config),
    )


def access_of(request: Request) -> Access:
    """Return the access rules of a request's server."""
    return cast(Access, request.app.state.access)


def actor_of(request: Request) -> Actor | None:
    """Return the actor admitted by `require`."""
    return cast(Actor | None, getattr(request.state, "actor", None))


def require(*roles: Role) -> Callable[[Request], Awaitable[Actor]]:
    """A FastAPI dependency (`actor: Annotated[Actor, Depends(require("read"))]`): the actor, whose role includes one of these.

    An API call shows `Authorization: Bearer KEY`; a page has a session cookie, and a page without one is sent to `/login`.
    """

    async def actor_with_role(request: Request) -> Actor:
        actor = await authenticate(request)
        if not GRANTS[actor.role].intersection(roles):
            needed = " or ".join(roles)
            raise Refusal(403, "forbidden", f"the key {actor.name} has the role {actor.role}; this needs {needed}")
        request.state.actor = actor
        return actor

    return actor_with_role


async def authenticate(request: Request) -> Actor:
    """Return the actor of a request.

    Raises:
        Refusal: 401 without valid credentials, 403 for a browser's cross-site request.
    """
    access = access_of(request)
    if request.method not in SAFE_METHODS and not access.addresses.trusts(request):
        raise Refusal(
            403, "foreign_origin", "a page of another site sent this request: add its address to server.origins to allow it"
        )
    header = request.headers.get("authorization")
    if header is not None:
        return await bearer(request, header)
    cookie = request.cookies.get(SESSION_COOKIE, "")
    session = access.seal.session(cookie, context_of(request).now()) if cookie else None
    record = await access.keys.by_id(session.key_id) if session else None
    if record is not None:
        _check_token_header(request)
        return Actor(name=record.name, role=record.role, collections=record.collections)
    if not await access.keys.any():
        if not is_local(request):
            raise Refusal(
                403, "no_keys", "without API keys the server accepts only local requests: run `areopage keys create NAME`"
            )
        return Actor(name="local", role="admin", keyless=True)
    raise _no_key("API key required: send Authorization: Bearer areo_...")


async def bearer(request: Request, header: str) -> Actor:
    """Return the actor of an API key.

    Raises:
        Refusal: 401, the key is wrong or revoked.
    """
    scheme, _, key = header.partition(" ")
    client = request.client.host if request.client else "?"
    record = await access_of(request).keys.find(key.strip(), client) if scheme.lower() == "bearer" else None
    if record is None:
        raise _no_key("the API key is invalid or revoked")
    return Actor(name=record.name, role=record.role, collections=record.collections)


def _no_key(message: str) -> Refusal:
    """A 401 response that names the authentication scheme."""
    return Refusal(401, "unauthorized", message, {"WWW-Authenticate": 'Bearer realm="areopage"'})


def _check_token_header(request: Request) -> None:
    """A script of our pages that changes something shows its token in a header (a posted form is checked by `checked_form`).

    Raises:
        Refusal: 403, the token is missing or another session's.
    """
    if request.method in SAFE_METHODS or (request.method == "POST" and _is_form(request)):
        return
    _check_token(request, request.headers.get(TOKEN_HEADER, ""))


def _is_form(request: Request) -> bool:
    """Whether a request brings a form; one with files is none of ours."""
    return request.headers.get("content-type", "").partition(";")[0].strip().lower() == FORM_TYPE


def _check_token(request: Request, token: str) -> None:
    """Compare a token with that of the request's session.

    Raises:
        Refusal: 403, it is missing or another session's.
    """
    if not same(token, csrf_token(request)):
        raise Refusal(403, "csrf", "this form has expired: reload the page and submit it again")


def csrf_token(request: Request) -> str:
    """The token that a page of this session puts into its forms, as the hidden field `csrf`."""
    return access_of(request).seal.form_token(request.cookies.get(SESSION_COOKIE, ""))


async def checked_form(request: Request) -> FormData:
    """A FastAPI dependency: the form, which one of our own pages sent (token and origin are checked)."""
    if not access_of(request).addresses.trusts(request):
        raise Refusal(403, "foreign_origin", "a page of another site sent this request")
    if not _is_form(request):
        raise Refusal(415, "not_a_form", f"send a form as {FORM_TYPE}")
    form = await request.form()
    token = form.get(TOKEN_FIELD, "")
    _check_token(request, token if isinstance(token, str) else "")
    return form
