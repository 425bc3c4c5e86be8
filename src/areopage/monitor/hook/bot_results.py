"""What a bot's function returns: the text of its answer, its documents, and the status and body of a web framework's response."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from areopage.monitor.hook.fields import DOCUMENT_NAMES, RESPONSE_NAMES, field, value_of
from areopage.monitor.hook.messages import message_text

_JSON_LINES = ("ndjson", "jsonl", "json-seq", "stream+json")
_PAGE = re.compile(r"\s*<(!doctype|html|\?xml)\b", re.IGNORECASE)

PIECE_NAMES = (*RESPONSE_NAMES, "token", "delta", "chunk", "piece")
_DEEPEST = 5
_OF_THE_ASSISTANT = ("assistant", "ai", "AIMessageChunk", "model")


def response_text(result: Any, names: Sequence[str] = RESPONSE_NAMES, depth: int = 0) -> str | None:
    """The text of an answer: a text, a mapping or an object with one of the usual names, or a completion of a model's client."""
    if isinstance(result, str):
        return str(result)
    if depth > _DEEPEST or result is None or isinstance(result, int | float | bytes | bytearray):
        return None
    if isinstance(result, list | tuple):
        messages = [item for item in result if field(item, "type") == "message"]
        if not messages:
            return message_text(result) or None  # the parts of a message
        texts = [response_text(field(item, "content"), names, depth + 1) for item in messages]
        return "\n".join(text for text in texts if text) or None
    choices, replies = field(result, "choices"), field(result, "replies")
    if isinstance(choices, list | tuple) and choices:
        return response_text(value_of(choices[0], ("message", "delta", "text")), names, depth + 1)
    if isinstance(replies, list | tuple) and replies:
        return response_text(replies[0], names, depth + 1)
    for name in names:
        text = response_text(field(result, name), names, depth + 1)
        if text is not None:
            return text
    messages = field(result, "messages")
    if isinstance(messages, list | tuple) and messages:
        role = field(messages[-1], "role") or field(messages[-1], "type")
        if str(getattr(role, "value", role)) in _OF_THE_ASSISTANT:
            return response_text(messages[-1], names, depth + 1)
    return None


def documents_in(result: Any) -> Any:
    """What a result holds as documents; None without any."""
    documents = value_of(result, DOCUMENT_NAMES)
    return documents if documents is not None else _searched_files(result)


def _searched_files(result: Any) -> list[dict[str, Any]] | None:
    """The passages that a file search of OpenAI's Responses API found."""
    output = field(result, "output")
    documents = [
        {"text": text, "title": field(hit, "filename") or "", "score": field(hit, "score")}
        for item in (output if isinstance(output, list | tuple) else ())
        if field(item, "type") == "file_search_call"
        for hit in field(item, "results") or ()
        if isinstance(text := field(hit, "text"), str)
    ]
    return documents or None


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
    kinds = (field(response, "media_type"), field(response, "mimetype"), field(response, "headers").get("Content-Type"))
    return next((kind.partition(";")[0].strip().lower() for kind in kinds if isinstance(kind, str)), "")


def _body_of(result: Any) -> bytes | None:
    if _kind_of(result) is None or field(result, "direct_passthrough"):
        return None
    parts = field(result, "response")  # Werkzeug's: a list of bytes, if it is no stream
    if isinstance(parts, list | tuple):
        return b"".join(part.encode() if isinstance(part, str) else part for part in parts)
    return next((body for name in ("body", "content") if isinstance(body := field(result, name), bytes)), None)
