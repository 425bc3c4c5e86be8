"""Replies of servers and gateways that stream though the call asks for a whole reply: the pieces become one reply.

Forms: server-sent events (`data: {...}`, comments, `data: [DONE]`), also around a whole reply, and an object a line (Ollama).
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from areopage.text import whole_characters

_OF_EVENTS = (":", "event:", "id:", "retry:")
_DONE = "[DONE]"
_TEXTS = ("content", "reasoning_content", "reasoning", "refusal", "thinking")


def joined_stream(content: bytes) -> dict[str, Any] | None:
    """The reply that was sent in pieces; None where something else came, or the stream is cut."""
    texts: list[str] = []
    is_ended = False
    for raw in content.decode("utf-8-sig", "replace").split("\n"):
        line = raw.strip()
        data = line.removeprefix("data:").strip()
        is_ended = is_ended or data == _DONE
        if data != _DONE and not line.startswith(_OF_EVENTS):
            texts.append(data)
    try:
        pieces = [whole_characters(piece) for piece in _values("\n".join(texts))]
    except (ValueError, RecursionError):
        return None
    if not pieces or not all(isinstance(piece, dict) for piece in pieces):
        return None
    if len(pieces) == 1:
        return dict(pieces[0])
    is_ended = is_ended or any(piece.get("done") or piece.get("error") or _choice(piece).get("finish_reason") for piece in pieces)
    return _joined(pieces) if is_ended else None


def _values(text: str) -> Iterator[Any]:
    decoder, at = json.JSONDecoder(strict=False), 0
    while text[at:].strip():
        at += len(text[at:]) - len(text[at:].lstrip())
        value, at = decoder.raw_decode(text, at)
        yield value


def _joined(pieces: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """The last value of each field, and the texts one behind the other."""
    reply: dict[str, Any] = {}
    message: dict[str, Any] = {}
    choice: dict[str, Any] = {}
    tokens: list[Any] = []
    for piece in pieces:
        reply |= {name: value for name, value in piece.items() if value is not None and name not in ("choices", "message")}
        part = _choice(piece)
        _add_texts(message, part.get("delta") or part.get("message") or piece.get("message"))
        choice |= {name: value for name, value in part.items() if value and name not in ("delta", "message")}
        logprobs = part.get("logprobs")
        tokens += (logprobs.get("content") or []) if isinstance(logprobs, dict) else []
        if "choices" in piece:
            reply["choices"] = []
    if "choices" not in reply:
        return {**reply, "message": message} if message else reply
    return {**reply, "choices": [{**choice, "message": message, "logprobs": {"content": tokens} if tokens else None}]}


def _choice(piece: Mapping[str, Any]) -> Mapping[str, Any]:
    choices = piece.get("choices")
    first = choices[0] if isinstance(choices, list) and choices else None
    return first if isinstance(first, dict) and not first.get("index") else {}


def _add_texts(message: dict[str, Any], part: Any) -> None:
    for name in _TEXTS if isinstance(part, dict) else ():
        if isinstance(part.get(name), str):
            message[name] = message.get(name, "") + part[name]
