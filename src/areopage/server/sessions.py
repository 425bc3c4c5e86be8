"""Stateless sessions and form tokens, signed with the ledger's secret."""

import base64
import binascii
import hashlib
import hmac
import secrets
from datetime import datetime, timedelta

import msgspec

SESSION_COOKIE = "areopage_session"
SESSION_HOURS = 12
LONGEST_COOKIE = 1024


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
