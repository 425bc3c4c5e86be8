"""Authorisation: API keys, sessions of the pages and form tokens."""

import base64
import hashlib
import hmac
import logging
import threading
import time
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Annotated, Literal, cast
from urllib.parse import unquote

from fastapi import Depends
from msgspec import Struct
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import FormData
from starlette.requests import Request

from areopage.ledger import ApiKey, ApiKeys, Audit, Ledger, Role, Sessions, id_within
from areopage.review import MAX_RATER
from areopage.server.context import ServerContext, context_of
from areopage.server.errors import Refusal
from areopage.server.guards import Addresses, address_of, is_local

REMEMBERED_SECONDS = 3.0
MOST_REMEMBERED = 1024
LONGEST_KEY = 256
LOG_SECONDS = 10.0
STRANGER = "unknown"
"""The actor of the audit log's entries about wrong keys: no key says who it is."""

log = logging.getLogger(__name__)

SESSION_COOKIE = "areopage_session"
RATER_COOKIE = "areopage_rater"
LONGEST_COOKIE = 1024
GRANTS: dict[Role, frozenset[Role]] = {
    "ingest": frozenset({"ingest"}),
    "ask": frozenset({"ask"}),
    "read": frozenset({"read"}),
    "write": frozenset({"ingest", "ask", "read", "write"}),
    "admin": frozenset({"ingest", "ask", "read", "write", "admin"}),
}
"""The roles that each role includes."""
SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
FORM_TYPE = "application/x-www-form-urlencoded"
TOKEN_FIELD = "csrf"  # noqa: S105 - a field's name
TOKEN_HEADER = "x-csrf-token"  # noqa: S105


class KeyDirectory:
    """Keys by their text. A revoked or new key is noticed within `REMEMBERED_SECONDS`."""

    def __init__(self, keys: ApiKeys, audit: Audit) -> None:
        self._keys, self._audit = keys, audit
        self._records: dict[bytes, tuple[float, ApiKey]] = {}
        self._any: tuple[float, bool] | None = None
        self._failures, self._logged_at = 0, float("-inf")

    async def find(self, key: str, address: str) -> ApiKey | None:
        """Find a key's record; a wrong key costs one look-up and is logged with the client's IP address."""
        digest = hashlib.sha256(key.encode("utf-8", "replace")).digest()
        remembered = self._records.get(digest)
        if remembered is not None and _fresh(remembered[0]):
            return remembered[1]
        record = await run_in_threadpool(self._keys.find, key) if len(key) <= LONGEST_KEY else None
        if record is None:
            self._records.pop(digest, None)
            self._failures += 1
            if time.monotonic() - self._logged_at >= LOG_SECONDS:  # a flood of wrong keys fills neither log nor ledger
                detail = f"from {address}; {self._failures} since the last message"
                log.warning("invalid API key %s", detail)
                self._failures, self._logged_at = 0, time.monotonic()
                await run_in_threadpool(self._audit.note, STRANGER, "wrong_key", "", detail)
            return None
        if len(self._records) >= MOST_REMEMBERED:
            self._records.clear()
        self._records[digest] = (time.monotonic(), record)
        return record

    async def any(self) -> bool:
        """Whether a key was ever created, so that every client must send one."""
        if self._any is None or not _fresh(self._any[0]):
            self._any = (time.monotonic(), await run_in_threadpool(self._keys.any))
        return self._any[1]


def _fresh(at: float) -> bool:
    return time.monotonic() - at < REMEMBERED_SECONDS


class Actor(Struct, frozen=True, kw_only=True):
    """The sender of a request. `name` and `key_id` are the key's; "local" and "" without a key.

    `keyless`: whether the request has no key. Local requests need none on a server without keys.
    `collections`: the only collections and sources whose answers the actor may submit, query and see; () means all.
    """

    name: str
    key_id: str = ""
    role: Role
    keyless: bool = False
    collections: tuple[str, ...] = ()

    @property
    def key(self) -> str:
        """What an answer names as the key that it came with: the key's id; "local" without a key."""
        return self.key_id or self.name

    def may_see(self, collection: str) -> bool:
        """Whether a collection or a source is in the actor's scope."""
        return not self.collections or collection in self.collections

    def in_scope(self, name: str | None, field: Literal["collection", "source"]) -> str | None:
        """The requested collection or source, or the only one of the scope; None for all."""
        if name is None and len(self.collections) > 1:
            raise Refusal(422, "invalid", f"{field}: the key {self.name} has several {field}s: give one")
        if name is not None and not self.may_see(name):
            raise Refusal(403, "forbidden", f"the key {self.name} has no access to the {field} {name!r}")
        return self.collections[0] if name is None and self.collections else name

    def may_see_answers(self, ledger: Ledger, ids: Sequence[str]) -> bool:
        """Whether the stored answers with these ids are in the actor's scope."""
        return not self.collections or all(map(self.may_see, ledger.answers.sources(ids).values()))

    def id_in_scope(self, ledger: Ledger, id: str) -> str:
        """The id in the ledger of an answer of the actor's sources; see `id_within`. It is as given where there is none."""
        if not self.collections:
            return id
        ids = [id, *(id_within(id, source) for source in self.collections)]
        sources = ledger.answers.sources(ids)
        return next((name for name in ids if name in sources and self.may_see(sources[name])), id)

    def check_unscoped(self) -> None:
        """Refuse an actor that has a scope, since what is asked for is about all sources."""
        if self.collections:
            raise Refusal(403, "forbidden", f"the key {self.name} is limited to {', '.join(self.collections)}")


class Access(Struct, frozen=True, kw_only=True):
    """The server's access rules. The anti-forgery tokens of forms are signed with the ledger's secret, shared by its servers."""

    keys: KeyDirectory
    sessions: Sessions
    secret: bytes
    addresses: Addresses

    @classmethod
    def of(cls, context: ServerContext) -> "Access":
        """Build a server's access rules."""
        ledger = context.ledger
        keys = KeyDirectory(ledger.api_keys, ledger.audit)
        return cls(keys=keys, sessions=ledger.sessions, secret=ledger.secret(), addresses=Addresses.of(context.config))

    def form_token(self, cookie: str) -> str:
        """The token of a session's forms. Without a session (cookie "") all readers share a token."""
        digest = hmac.digest(self.secret, f"form\n{cookie}".encode("utf-8", "replace"), hashlib.sha256)
        return base64.urlsafe_b64encode(digest).rstrip(b"=").decode()


def access_of(request: Request) -> Access:
    """Return the access rules of a request's server."""
    return cast(Access, request.app.state.access)


def actor_of(request: Request) -> Actor | None:
    """Return the actor that `require` authenticated; None before."""
    return cast(Actor | None, getattr(request.state, "actor", None))


def note(ledger: Ledger, actor: Actor, action: str, subject: str, detail: str = "") -> None:
    """Append an entry to the audit log, with the name and the id of the actor's key."""
    ledger.audit.note(actor.name, action, subject, detail, key_id=actor.key_id)


class ShownContents:
    """What pages that update themselves have shown to whom: the audit log has an entry for each content, not for each update."""

    def __init__(self, most: int = 10_000) -> None:
        self._most, self._seen, self._lock = most, dict[tuple[str, str], None](), threading.Lock()

    def add(self, actor: Actor, content: str) -> bool:
        """Remember a content; returns whether it is new to the actor."""
        place = (actor.key_id or actor.name, content)
        with self._lock:
            new = self._seen.pop(place, True) is True
            self._seen[place] = None
            if len(self._seen) > self._most:
                del self._seen[next(iter(self._seen))]
        return new


def note_shown(
    request: Request,
    ledger: Ledger,
    actor: Actor,
    detail: str,
    ids: Iterable[str],
    *,
    scored: Iterable[str] = (),
    live: bool = False,
) -> None:
    """Note that texts of answers were shown, and which answers were shown with their scores; nothing where there are none.

    Args:
        scored: see `note_scores_listed`.
        live: the browser asks again and again: the same answers are noted once.
    """
    content = "\n".join(ids)
    if content and (cast(ShownContents, request.app.state.shown).add(actor, content) or not live):
        note(ledger, actor, "read", "", detail)
    note_scores_listed(request, ledger, actor, scored, live=live)


def note_scores_listed(request: Request, ledger: Ledger, actor: Actor, ids: Iterable[str], *, live: bool = False) -> None:
    """Note that answers were shown with the judges' scores, or with the gate's decision, to who may label them later."""
    ids = list(ids)
    content = "\n".join(("scores", *ids))
    if ids and "write" in GRANTS[actor.role] and (cast(ShownContents, request.app.state.shown).add(actor, content) or not live):
        ledger.audit.note_scores_listed(rater_of(request, actor) or actor.name, ids, key_id=actor.key_id)


def rater_of(request: Request, actor: Actor) -> str:
    """The name under which an actor labels: the key's, or on a server without keys the one given last; "" for none."""
    return actor.name if not actor.keyless else unquote(request.cookies.get(RATER_COOKIE, ""))[:MAX_RATER]


def note_scores_seen(ledger: Ledger, actor: Actor, id: str, rater: str = "") -> None:
    """Note that an actor (under a rater's name) reads an answer with the judges' scores, or the gate's decision, on it."""
    ledger.audit.note_scores_seen(rater or actor.name, id, key_id=actor.key_id)


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
    """Return the actor of a request."""
    access = access_of(request)
    if request.method not in SAFE_METHODS and not access.addresses.trusts(request):
        raise Refusal(
            403, "foreign_origin", "a page of another site sent this request: add its address to server.origins to allow it"
        )
    header = request.headers.get("authorization")
    if header is not None:
        scheme, _, key = header.partition(" ")
        sent = await access.keys.find(key.strip(), address_of(request)) if scheme.lower() == "bearer" else None
        if sent is None:
            raise _no_key("the API key is invalid or revoked")
        return _actor_with(sent)
    cookie = request.cookies.get(session_cookie(request), "")
    if 0 < len(cookie) <= LONGEST_COOKIE:
        record = await run_in_threadpool(access.sessions.find, cookie, context_of(request).now())
    else:
        record = None
    if record is not None:
        # a script of our pages shows its token in a header; `_checked_form` checks that of a posted form
        if request.method not in SAFE_METHODS and not (request.method == "POST" and is_form(request)):
            _check_token(request, request.headers.get(TOKEN_HEADER, ""))
        return _actor_with(record)
    if not await access.keys.any():
        if not is_local(request):
            raise Refusal(
                403, "no_keys", "without API keys the server accepts only local requests: run `areopage keys create NAME`"
            )
        return Actor(name="local", role="admin", keyless=True)
    raise _no_key("API key required: send Authorization: Bearer areo_...")


def session_cookie(request: Request) -> str:
    """The name of a session's cookie. Behind https its prefix has browsers refuse one that another host of the domain has set."""
    return f"__Host-{SESSION_COOKIE}" if request.url.scheme == "https" else SESSION_COOKIE


def _actor_with(key: ApiKey) -> Actor:
    return Actor(name=key.name, key_id=key.id, role=key.role, collections=key.collections)


def _no_key(message: str) -> Refusal:
    return Refusal(401, "unauthorized", message, {"WWW-Authenticate": 'Bearer realm="areopage"'})


def is_form(request: Request) -> bool:
    """Whether a request's body is the form of a page."""
    return request.headers.get("content-type", "").partition(";")[0].strip().lower() == FORM_TYPE


def _check_token(request: Request, token: str) -> None:
    if not hmac.compare_digest(token.encode("utf-8", "replace"), csrf_token(request).encode()):
        raise Refusal(403, "csrf", "this form has expired: reload the page and submit it again")


def csrf_token(request: Request) -> str:
    """The token that a page of this session puts into its forms, as the hidden field `csrf`."""
    return access_of(request).form_token(request.cookies.get(session_cookie(request), ""))


async def _checked_form(request: Request) -> FormData:
    """A FastAPI dependency: the form, which one of our own pages sent (token and origin are checked)."""
    if not access_of(request).addresses.trusts(request):
        raise Refusal(403, "foreign_origin", "a page of another site sent this request")
    if not is_form(request):
        raise Refusal(415, "not_a_form", f"send a form as {FORM_TYPE}")
    form = await request.form()
    token = form.get(TOKEN_FIELD, "")
    _check_token(request, token if isinstance(token, str) else "")
    return form


Submitter = Annotated[Actor, Depends(require("ingest"))]
Reader = Annotated[Actor, Depends(require("read"))]
Writer = Annotated[Actor, Depends(require("write"))]
Admin = Annotated[Actor, Depends(require("admin"))]
Asker = Annotated[Actor, Depends(require("ask"))]
Follower = Annotated[Actor, Depends(require("ask", "read"))]
Form = Annotated[FormData, Depends(_checked_form)]
