"""API keys and page sessions: looked up in the ledger, or signed with its secret."""

import asyncio
import base64
import binascii
import hashlib
import hmac
import logging
import secrets
import time
from datetime import datetime, timedelta

import msgspec
from starlette.concurrency import run_in_threadpool

from areopage.ledger.access import ApiKeys
from areopage.ledger.operations import ApiKey

REMEMBERED_SECONDS = 3.0
MOST_REMEMBERED = 1024
LONGEST_KEY = 256
LOG_SECONDS = 10.0
log = logging.getLogger(__name__)
SESSION_COOKIE = "areopage_session"
SESSION_HOURS = 12
LONGEST_COOKIE = 1024


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
        if fresh(remembered[0]):
            return remembered[1]
        async with self._turn:  # of many requests with one key, one asks the ledger again
            remembered = self._found.get(digest)
            if remembered is not None and fresh(remembered[0]):
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
        if self._all is None or not fresh(self._all[0]):
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


def fresh(at: float) -> bool:
    """Whether cached data of a moment is still valid."""
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
        if not dot or len(cookie) > LONGEST_COOKIE or not same(signature, self.sign("session", payload)):
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


def same(given: str, wanted: str) -> bool:
    """Compare two texts in constant time."""
    return hmac.compare_digest(given.encode("utf-8", "replace"), wanted.encode())


def _text_of(data: bytes) -> str:
    """Bytes as URL-safe base64 without padding."""
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def _bytes_of(text: str) -> bytes:
    """The bytes of `_text_of`.

    Raises:
        binascii.Error: the text is none of these.
    """
    return base64.urlsafe_b64decode(text.encode() + b"=" * (-len(text) % 4))
