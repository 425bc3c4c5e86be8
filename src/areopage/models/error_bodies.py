"""What the body of a failed answer says, in the shapes of the providers: its message, its code, and what a content filter found.

Shapes: `{"error": "..."}` (Ollama), `{"error": {"message", "code", "type"}}` (OpenAI and most others; Anthropic with `type`
alone), `{"error": {"code", "innererror": {"code", "content_filter_result"}}}` (Azure), `{"error": {"metadata": {"reasons"}}}`
(OpenRouter's moderation), `{"message": "...", "code": "..."}` (Mistral) and `{"detail": ...}` (FastAPI servers).
"""

import re
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from areopage.models.rate_headers import seconds_of
from areopage.text import decode_any

CONTENT_FILTER = "content_filter"
"""The code of an error, and the reason for which an answer ended, where a filter stopped the prompt or the answer."""
TOO_LONG_CODES = frozenset({"context_length_exceeded", "string_above_max_length", "exceed_context_size_error"})
TOO_LONG = "context_length_exceeded"
"""The code of a prompt that does not fit, also where the provider says so only in the message."""
_TOO_LONG = re.compile(
    r"maximum context length|exceeds? the available context size|context length of only|"
    r"exceed(?:s|ed)? (?:the )?(?:model['’]?s )?(?:maximum )?context (?:length|window|size)|context (?:length|window) exceeded|"
    r"request too large for\b.*\blimit\b.*\brequested\b",
    re.IGNORECASE | re.DOTALL,
)
_PAUSE = re.compile(
    r"\b(?:try again|retry) (?:in|after) (\d[\d.]{0,9}) ?((?:ms|s|m|h)(?![a-z])[\dhms.]{0,20}|seconds?\b)", re.IGNORECASE
)
"""What providers without a header say: OpenAI and Groq ("try again in 1.2s"), Gemini ("retry in 34.07s")."""
NO_MONEY_CODES = frozenset({"insufficient_quota", "billing_error", "billing_hard_limit_reached"})
OVERLOADED = (HTTPStatus.TOO_MANY_REQUESTS, 529)
"""Statuses of a server that has too many calls, which asks for a pause; 529 is Anthropic's."""
PASSING = (HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.CONFLICT, HTTPStatus.TOO_EARLY)
"""Statuses under 500 that another try may turn: a slow request, a lock, a request that came too early."""
NO_SERVER_BEHIND = (HTTPStatus.BAD_GATEWAY, HTTPStatus.SERVICE_UNAVAILABLE)
"""What gateways answer while the server behind them is gone, and servers while they start."""
MESSAGE_LENGTH = 200
_FILTER_CODES = frozenset({CONTENT_FILTER, "ResponsibleAIPolicyViolation", "content_policy_violation", "moderation_blocked"})
_MOST_NAMES = 8
_LONGEST_NAME = 40


class ErrorBody(Struct, frozen=True, kw_only=True):
    """What a failed answer says.

    Args:
        message: for people; "" for none.
        code: the provider's word for the kind of error; "" for none.
        filtered: the categories for which a content filter refused the call.
        pause: seconds until another try, where the body says so.
    """

    message: str = ""
    code: str = ""
    filtered: tuple[str, ...] = ()
    pause: float | None = None


def one_line(text: str) -> str:
    """The beginning of a text that is not the product's, as a message shows it."""
    printable = "".join(char if char.isprintable() else " " for char in text[: 10 * MESSAGE_LENGTH])
    return " ".join(printable.split())[:MESSAGE_LENGTH]


def read_error(content: bytes) -> ErrorBody:
    """Read the body of a failed answer; an empty record where it is not JSON."""
    try:
        body = decode_any(content)
    except (msgspec.DecodeError, RecursionError):
        return ErrorBody()
    return error_of(body)


def error_of(body: object) -> ErrorBody:
    """Read a decoded body; Gemini puts it into a list."""
    if isinstance(body, list) and len(body) == 1:
        (body,) = body
    if not isinstance(body, dict):
        return ErrorBody()
    stated = _stated(body)
    code = TOO_LONG if stated.code != CONTENT_FILTER and _TOO_LONG.search(stated.message) else stated.code
    return replace(stated, code=code, pause=_pause(body.get("error"), stated.message))


def _pause(error: object, message: str) -> float | None:
    """The pause that a body asks for: in a detail of Google's (`retryDelay`), or in its message."""
    details = error.get("details") if isinstance(error, dict) else None
    for detail in details if isinstance(details, list) else ():
        delay = detail.get("retryDelay") if isinstance(detail, dict) else None
        if isinstance(delay, str) and (seconds := seconds_of(delay.strip())) is not None:
            return seconds
    match = _PAUSE.search(message)
    return seconds_of(f"{match[1]}{'s' if match[2].lower().startswith('sec') else match[2].rstrip('.')}") if match else None


def _stated(body: dict[str, Any]) -> ErrorBody:
    error = body.get("error")
    if not isinstance(error, dict):
        message = error if isinstance(error, str) else body.get("message") or body.get("detail")
        return ErrorBody(message=_text(message), code=_text(body.get("code") or body.get("type")))
    inner = error.get("innererror") or error.get("inner_error")
    inner = inner if isinstance(inner, dict) else {}
    metadata = error.get("metadata") if isinstance(error.get("metadata"), dict) else {}
    codes = [_text(word) for word in (error.get("code"), inner.get("code"), error.get("type")) if isinstance(word, str)]
    moderated = filter_names(metadata.get("reasons")) if isinstance(metadata, dict) else ()
    if moderated or _FILTER_CODES.intersection(codes):
        results = inner.get("content_filter_result") or inner.get("content_filter_results")
        return ErrorBody(message=_text(error.get("message")), code=CONTENT_FILTER, filtered=moderated or filtered_names(results))
    return ErrorBody(message=_text(error.get("message")), code=next((code for code in codes if code), ""))


def error_status(error: object) -> int:
    """The HTTP status that a gateway puts into an error object inside a 200; 200 where there is none."""
    code = error.get("code") if isinstance(error, dict) else None
    code = int(code) if isinstance(code, str) and len(code) == 3 and code.isdecimal() else code
    return code if isinstance(code, int) and 400 <= code < 600 else 200


def filtered_names(results: object) -> tuple[str, ...]:
    """The categories that Azure's content filter stopped, such as `violence`; `results` is its object by category."""
    if not isinstance(results, Mapping):
        return ()
    return filter_names(
        [name for name, result in results.items() if isinstance(result, Mapping) and result.get("filtered") is True]
    )


def filter_names(listed: Any) -> tuple[str, ...]:
    """Names as notes take them; a server's text is bounded."""
    if not isinstance(listed, list):
        return ()
    names = (category[:_LONGEST_NAME] for category in listed[:_MOST_NAMES] if isinstance(category, str))
    return tuple(clean for name in names if (clean := "".join(char for char in name if char.isalnum() or char in "_-/ ").strip()))


def _text(value: object) -> str:
    """A text as it is; of a list of faults, as FastAPI gives them, each with its place."""
    if isinstance(value, str):
        return value
    if isinstance(value, dict) and "detail" in value:
        return _text(value["detail"])
    if isinstance(value, list):
        faults = [entry for entry in value if isinstance(entry, dict) and isinstance(entry.get("msg"), str)]
        places = [fault["loc"] if isinstance(fault.get("loc"), list) else [] for fault in faults[:3]]
        return "; ".join(f"{'.'.join(map(str, at))}: {fault['msg']}" for at, fault in zip(places, faults, strict=False))
    return ""
