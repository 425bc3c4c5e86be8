"""The answer in a stream: pieces of a bot's generator, events of a model's client, server-sent events or JSON lines."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

import msgspec
from msgspec import Struct

from areopage.monitor.hook.bot_results import PIECE_NAMES, documents_in, response_text
from areopage.monitor.hook.fields import DOCUMENT_NAMES, field, labels_of

TextAt = Callable[[Any], str | None]
"""Finds the text of an event."""

_FRAME = re.compile(r"(data|event|id|retry)\s*:|:")
_TEXT_EVENTS = ("", "message", "token", "delta", "data", "chunk", "answer", "text", "content")
_SILENT = re.compile(r"reason|think|tool|function|usage|ping|status|metadata|title", re.IGNORECASE)
_FEWEST = 3
"""Pieces from which on a stream of words, or of whole texts, is told from one of parts."""


class StreamAnswer(Struct, frozen=True, kw_only=True):
    """What a stream said. `error`: the stream reports that the answer failed; "" if not."""

    response: str
    documents: Any = None
    labels: dict[str, str] = {}
    error: str = ""


def read_stream(pieces: Sequence[Any], text_at: TextAt | None = None) -> StreamAnswer:
    """Put an answer together from the pieces of a stream."""
    events = [event for piece in _events(pieces) if (event := _without_envelope(piece)) is not None]
    texts = [text for event in events if (text := _text(event, events, text_at))]
    return StreamAnswer(
        response=_joined(texts) if texts else _final_text(events),
        documents=next((documents for event in events if (documents := _documents(event))), None),
        labels={name: value for event in reversed(events) for name, value in labels_of(event)},
        error=next((fault for event in events if (fault := _error(event))), ""),
    )


def events_of(body: str) -> list[Any]:
    """The events of server-sent events or JSON lines: what JSON says, else texts."""
    if not _has_frames(body):
        return [event for line in body.splitlines() if (event := decoded(line.strip("\x1e \t"))) is not None]
    frames = list(_frames(body))
    # writers that put no space after the colon mean the ones that follow it
    exact = any(line and not line.startswith(" ") for _, lines in frames for line in lines)
    payloads = [(name, "\n".join(line if exact else line.removeprefix(" ") for line in lines)) for name, lines in frames if lines]
    return _spaced([event for name, text in payloads if (event := _event(name, text)) is not None])


def is_framed(text: str) -> bool:
    """Whether a text is a stream's wire format: server-sent events, or two and more lines of JSON."""
    lines = [line for line in text.splitlines() if line.strip()]
    return _has_frames(text) or (len(lines) > 1 and all(isinstance(decoded(line), dict) for line in lines))


def _has_frames(text: str) -> bool:
    lines = [line for line in text.splitlines() if line.strip()]
    return any(line.startswith("data:") for line in lines) and bool(_FRAME.match(lines[0]))


def _frames(body: str) -> Iterator[tuple[str, list[str]]]:
    """The name and the data lines of each server-sent event."""
    name, lines = "", list[str]()
    for line in [*body.replace("\r\n", "\n").replace("\r", "\n").split("\n"), ""]:
        if not line:
            if lines:
                yield name, lines
            name, lines = "", []
        elif line.startswith("data:"):
            lines.append(line.removeprefix("data:"))
        elif line.startswith("event:"):
            name = line.removeprefix("event:").strip()


def _event(name: str, text: str) -> Any:
    """The event of a frame; None if it says nothing."""
    event = decoded(text.strip())
    if event is None or (isinstance(event, list) and not any(isinstance(item, dict | str) for item in event)):
        return text if name in _TEXT_EVENTS and text.strip() != "[DONE]" else None
    if name in DOCUMENT_NAMES:
        return {"documents": event.get(name, event) if isinstance(event, dict) else event}
    if name == "error":
        return {"error": event}
    return {"type": name, **event} if name and isinstance(event, dict) else event


def decoded(text: str) -> Any:
    """What a line of JSON says; None if it is no JSON object, list or text."""
    if not text.startswith(("{", "[", '"')):
        return None
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return None


def _spaced(events: list[Any]) -> list[Any]:
    """Words that a bot sends one by one, with the spaces between them."""
    texts = [event for event in events if isinstance(event, str)]
    apart = len(texts) == len(events) >= _FEWEST and all(text == text.strip() for text in texts)
    return [" ".join(texts)] if apart else events


def _events(pieces: Sequence[Any]) -> Sequence[Any]:
    """The pieces, of which those that are parts of a wire format are read as such."""
    if not pieces or not all(isinstance(piece, str | bytes | bytearray) for piece in pieces):
        return pieces
    whole = b"".join(piece.encode("utf-8", "surrogatepass") if isinstance(piece, str) else bytes(piece) for piece in pieces)
    text = whole.decode("utf-8", "replace")
    if is_framed(text):
        return events_of(text)
    return [text] if any(not isinstance(piece, str) for piece in pieces) else pieces


def _without_envelope(piece: Any) -> Any:
    """The event in a framework's envelope; None if it is about something else."""
    if isinstance(piece, tuple) and len(piece) == 2 and isinstance(piece[1], Mapping):
        return piece[0]  # LangGraph: a chunk of a message and where it comes from
    kind = field(piece, "event")
    if isinstance(kind, str) and kind.startswith("on_"):
        return field(field(piece, "data"), "chunk") if kind == "on_chat_model_stream" else None
    return piece


def _text(event: Any, events: Sequence[Any], text_at: TextAt | None) -> str:
    if text_at is not None:
        return text_at(event) or ""
    if isinstance(event, str):
        return event
    kind, choices = field(event, "type"), field(event, "choices")
    if isinstance(kind, str) and kind.startswith("response."):  # OpenAI's Responses API
        delta = field(event, "delta")
        return delta if kind in ("response.output_text.delta", "response.refusal.delta") and isinstance(delta, str) else ""
    if kind == "content_block_delta":  # Anthropic's Messages API
        return str(field(field(event, "delta"), "text") or "")
    if kind == "text" and any(field(event, "type") == "content_block_delta" for event in events):
        return ""
    if kind == "chunk" and field(event, "snapshot") is not None:
        return ""  # the helper of OpenAI's client gives each chunk, and its text again
    if kind is None and isinstance(delta := field(event, "delta"), str):
        return delta  # LlamaIndex gives each piece together with all of the answer so far
    if isinstance(kind, str) and (_SILENT.search(kind) or kind in DOCUMENT_NAMES):
        return ""
    if isinstance(choices, list | tuple) and (not choices or field(choices[0], "index") not in (None, 0)):
        return ""
    if isinstance(field(event, "messages"), list | tuple):
        return ""  # a whole state: the last one counts
    return response_text(event, PIECE_NAMES) or ""


def _joined(texts: list[str]) -> str:
    """The answer of the texts of a stream, which are its parts, or each all of it so far; some repeat the whole at the end."""
    grows = all(later != earlier and later.startswith(earlier) for earlier, later in pairwise(texts))
    if len(texts) >= _FEWEST and grows:
        return texts[-1]
    parts = "".join(texts[:-1])
    return texts[-1] if len(texts) > 1 and parts.strip() and parts.strip() == texts[-1].strip() else parts + texts[-1]


def _final_text(events: Sequence[Any]) -> str:
    """The text of the last event that holds a whole answer."""
    for event in reversed(events):
        whole = field(event, "response") if str(field(event, "type") or "").startswith("response.") else event
        if text := response_text(whole) if isinstance(field(whole, "messages"), list | tuple) or whole is not event else "":
            return text
    return ""


def _documents(event: Any) -> Any:
    if isinstance(event, str | list | tuple):
        return None
    kind = field(event, "type")
    if isinstance(kind, str) and kind in DOCUMENT_NAMES:
        return next((value for name in (kind, "documents", "data", "content", "items") if (value := field(event, name))), None)
    return documents_in(event) or documents_in(field(event, "response"))


def _error(event: Any) -> str:
    """Why a stream reports that the answer failed; "" if it does not."""
    fault, kind = field(event, "error"), field(event, "type")
    if not fault and kind not in ("error", "response.failed"):
        return ""
    message = fault if isinstance(fault, str) else field(fault, "message") or field(event, "message") or kind
    return str(message or "error")
