"""Authorisation: API keys, page sessions and form tokens."""

import asyncio
import base64
import binascii
import hashlib
import hmac
import logging
import secrets
import time
from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta
from typing import Annotated, cast

import msgspec
from fastapi import Depends
from msgspec import Struct
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import FormData
from starlette.requests import Request

from areopage.ledger.access import ApiKeys
from areopage.ledger.operations import ApiKey, Role
from areopage.server.context import ServerContext, context_of
from areopage.server.errors import Refusal
from areopage.server.guards import Addresses, is_local

REMEMBERED_SECONDS = 3.0
MOST_REMEMBERED = 1024
LONGEST_KEY = 256
LOG_SECONDS = 10.0

log = logging.getLogger(__name__)

SESSION_COOKIE = "areopage_session"
SESSION_HOURS = 12
LONGEST_COOKIE = 1024
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


class KeyDirectory:
    """Keys by their text and by their id. A revoked or new key is noticed within `REMEMBERED_SECONDS`."""

    def __init__(self, keys: ApiKeys) -> None:
        self._keys = keys
        self._found: dict[bytes, tuple[float, ApiKey]] = {}
        self._all: tuple[float, dict[str, ApiKey]] | None = None
        self._turn = asyncio.Lock()
        self._failures = FailureLog()

    async def find(self, key: str, client: str) -> ApiKey | None:
        """Find a key's record; a wrong key costs one look-up and is logged."""
        digest = hashlib.sha256(key.encode("utf-8", "replace")).digest()
        remembered = self._found.get(digest)
        if remembered is None:
            return await self._look_up(digest, key, client)
        if _fresh(remembered[0]):
            return remembered[1]
        async with self._turn:  # of many requests with one key, one asks the ledger again
            remembered = self._found.get(digest)
            if remembered is not None and _fresh(remembered[0]):
                return remembered[1]
            return await self._look_up(digest, key, client)

    async def _look_up(self, digest: bytes, key: str, client: str) -> ApiKey | None:
        record = await run_in_threadpool(self._keys.find, key) if len(key) <= LONGEST_KEY else None
        if record is None:
            self._found.pop(digest, None)
            self._failures.note(client)
            return None
        if len(self._found) >= MOST_REMEMBERED:
            self._found.clear()
        self._found[digest] = (time.monotonic(), record)
        return record

    async def by_id(self, key_id: str) -> ApiKey | None:
        """Find the record of a key that is not revoked."""
        return (await self._valid()).get(key_id)

    async def any(self) -> bool:
        """Whether a key exists, so that every client must send one."""
        return bool(await self._valid())

    async def _valid(self) -> dict[str, ApiKey]:
        if self._all is None or not _fresh(self._all[0]):
            records = await run_in_threadpool(self._keys.list)
            self._all = (time.monotonic(), {record.id: record for record in records if record.revoked_at is None})
        return self._all[1]


class FailureLog:
    """Logs wrong keys: one line per `LOG_SECONDS`, with their number."""

    def __init__(self) -> None:
        self._count = 0
        self._logged_at = float("-inf")

    def note(self, client: str) -> None:
        """Count a wrong key."""
        self._count += 1
        if time.monotonic() - self._logged_at >= LOG_SECONDS:
            log.warning("invalid API key from %s (%d since the last message)", client, self._count)
            self._count, self._logged_at = 0, time.monotonic()


def _fresh(at: float) -> bool:
    return time.monotonic() - at < REMEMBERED_SECONDS


class Session(msgspec.Struct, frozen=True, kw_only=True):
    """What a cookie says: which key opened the session, and until when it holds (seconds since 1970). `nonce` tells two apart."""

    key_id: str
    expires: int
    nonce: str


class Seal:
    """Signs and verifies with the ledger's secret, shared by its servers."""

    def __init__(self, secret: bytes) -> None:
        self._secret = secret

    def open_session(self, key_id: str, now: datetime) -> str:
        """Create the cookie of a session."""
        expires = int((now + timedelta(hours=SESSION_HOURS)).timestamp())
        payload = _text_of(msgspec.json.encode(Session(key_id=key_id, expires=expires, nonce=secrets.token_hex(8))))
        return f"{payload}.{self.sign('session', payload)}"

    def session(self, cookie: str, now: datetime) -> Session | None:
        """Return the session of a valid, unexpired cookie."""
        payload, dot, signature = cookie.partition(".")
        if not dot or len(cookie) > LONGEST_COOKIE or not _same(signature, self.sign("session", payload)):
            return None
        try:
            session = msgspec.json.decode(_bytes_of(payload), type=Session)
        except (msgspec.MsgspecError, binascii.Error):
            return None
        return session if session.expires > now.timestamp() else None

    def form_token(self, cookie: str) -> str:
        """The anti-forgery token of a session's forms. Without a session (cookie "") all readers share a token."""
        return self.sign("form", cookie)

    def sign(self, purpose: str, text: str) -> str:
        """Sign a text for one purpose."""
        return _text_of(hmac.digest(self._secret, f"{purpose}\n{text}".encode("utf-8", "replace"), hashlib.sha256))


def _same(given: str, wanted: str) -> bool:
    return hmac.compare_digest(given.encode("utf-8", "replace"), wanted.encode())


def _text_of(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def _bytes_of(text: str) -> bytes:
    return base64.urlsafe_b64decode(text.encode() + b"=" * (-len(text) % 4))


class Actor(Struct, frozen=True, kw_only=True):
    """The sender of a request. `name` is the key's name; "local" without a key.

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

    def collection_in_scope(self, collection: str | None) -> str | None:
        """The requested collection, or the only one of the scope; None for all.

        Raises:
            Refusal: 403, the key has no access; 422, the key has several collections and none is given.
        """
        if collection is None and len(self.collections) > 1:
            raise Refusal(422, "invalid", f"collection: the key {self.name} has several collections: give one")
        if collection is not None and not self.may_see(collection):
            raise Refusal(403, "forbidden", f"the key {self.name} has no access to the collection {collection!r}")
        return self.collections[0] if collection is None and self.collections else collection


class Access(Struct, frozen=True, kw_only=True):
    """The server's access rules: keys, cookie seal and addresses."""

    keys: KeyDirectory
    seal: Seal
    addresses: Addresses


def access_to(context: ServerContext) -> Access:
    """Build a server's access rules."""
    return Access(
        keys=KeyDirectory(ApiKeys(context.ledger)), seal=Seal(context.ledger.secret()), addresses=Addresses.of(context.config)
    )


def access_of(request: Request) -> Access:
    """Return the access rules of a request's server."""
    return cast(Access, request.app.state.access)


def actor_of(request: Request) -> Actor | None:
    """Return the actor that `require` authenticated; None before."""
    return cast(Actor | None, getattr(request.state, "actor", None))


def require(*roles: Role) -> Callable[[Request], Awaitable[Actor]]:
    """A FastAPI dependency (`actor: Annotated[Actor, Depends(require("read"))]`): the actor, whose role includes one of these.

    An API call shows `Authorization: Bearer KEY`; a page has a session cookie, and a page without one is sent to `/login`.
    """

    async def actor_with_role(request: Request) -> Actor:
        actor = request.state.actor = await authenticate(request)
        if not GRANTS[actor.role].intersection(roles):
            needed = " or ".join(roles)
            raise Refusal(403, "forbidden", f"the key {actor.name} has the role {actor.role}; this needs {needed}")
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
        return await _bearer(request, header)
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


async def _bearer(request: Request, header: str) -> Actor:
    scheme, _, key = header.partition(" ")
    client = request.client.host if request.client else "?"
    record = await access_of(request).keys.find(key.strip(), client) if scheme.lower() == "bearer" else None
    if record is None:
        raise _no_key("the API key is invalid or revoked")
    return Actor(name=record.name, role=record.role, collections=record.collections)


def _no_key(message: str) -> Refusal:
    return Refusal(401, "unauthorized", message, {"WWW-Authenticate": 'Bearer realm="areopage"'})


def _check_token_header(request: Request) -> None:
    """A script of our pages shows its token in a header; `_checked_form` checks that of a posted form."""
    if request.method in SAFE_METHODS or (request.method == "POST" and _is_form(request)):
        return
    _check_token(request, request.headers.get(TOKEN_HEADER, ""))


def _is_form(request: Request) -> bool:
    return request.headers.get("content-type", "").partition(";")[0].strip().lower() == FORM_TYPE


def _check_token(request: Request, token: str) -> None:
    if not _same(token, csrf_token(request)):
        raise Refusal(403, "csrf", "this form has expired: reload the page and submit it again")


def csrf_token(request: Request) -> str:
    """The token that a page of this session puts into its forms, as the hidden field `csrf`."""
    return access_of(request).seal.form_token(request.cookies.get(SESSION_COOKIE, ""))


async def _checked_form(request: Request) -> FormData:
    """A FastAPI dependency: the form, which one of our own pages sent (token and origin are checked)."""
    if not access_of(request).addresses.trusts(request):
        raise Refusal(403, "foreign_origin", "a page of another site sent this request")
    if not _is_form(request):
        raise Refusal(415, "not_a_form", f"send a form as {FORM_TYPE}")
    form = await request.form()
    token = form.get(TOKEN_FIELD, "")
    _check_token(request, token if isinstance(token, str) else "")
    return form


Reader = Annotated[Actor, Depends(require("read"))]
Writer = Annotated[Actor, Depends(require("write"))]
Admin = Annotated[Actor, Depends(require("admin"))]
Asker = Annotated[Actor, Depends(require("ask"))]
Follower = Annotated[Actor, Depends(require("ask", "read"))]
Form = Annotated[FormData, Depends(_checked_form)]
