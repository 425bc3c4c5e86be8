"""The status and the body of a web framework's response, as a bot's function returns it."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from areopage.monitor.fields import field

_JSON_LINES = ("ndjson", "jsonl", "json-seq", "stream+json")
_PAGE = re.compile(r"\s*<(!doctype|html|\?xml)\b", re.IGNORECASE)


def status_of(result: Any) -> int:
    """The status of a response, or of a body that a function returns with its status; 0 for anything else."""
    first, beside = (result[0], result[1:]) if type(result) is tuple and result else (result, ())
    status = field(first, "status_code") if _kind_of(first) is not None else None
    if beside and type(beside[0]) is int and (status is not None or isinstance(first, Mapping)):
        status = beside[0]
    return status if isinstance(status, int) and 100 <= status < 600 else 0


def opened(result: Any) -> Any:
    """What bytes, or the complete body of a web framework's response, hold: a JSON object, a text; all else is itself."""
    body = result if isinstance(result, bytes | bytearray) else _body_of(result)
    try:
        text = "" if body is None else bytes(body).decode()
        whole = msgspec.json.decode(text) if text.lstrip().startswith("{") else text
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return result
    return result if body is None or _PAGE.match(text) else whole


def whole_body(response: Any, pieces: Sequence[Any]) -> bytes | None:
    """The body of a response that was sent in pieces; None if they are a text or events, or if it is no response."""
    kind = _kind_of(response) or "text"
    if kind.startswith("text") or any(name in kind for name in _JSON_LINES):
        return None
    return b"".join(piece.encode() if isinstance(piece, str) else bytes(piece) for piece in pieces)


def _kind_of(response: Any) -> str | None:
    """The media type of a response: Starlette's, Werkzeug's, Django's; "" if it says none; None if it is no response."""
    if isinstance(response, Mapping) or field(response, "headers") is None or field(response, "status_code") is None:
        return None
    named = (field(response, "media_type"), field(response, "mimetype"), field(response, "headers").get("Content-Type"))
    return next((kind.partition(";")[0].strip().lower() for kind in named if isinstance(kind, str)), "")


def _body_of(result: Any) -> bytes | None:
    if _kind_of(result) is None or field(result, "direct_passthrough"):
        return None
    parts = field(result, "response")  # Werkzeug's: a list of bytes, if it is no stream
    if isinstance(parts, list | tuple):
        return b"".join(part.encode() if isinstance(part, str) else part for part in parts)
    return next((body for name in ("body", "content") if isinstance(body := field(result, name), bytes)), None)
