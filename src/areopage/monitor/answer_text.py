"""The text of an answer in what a bot or a model's client returns."""

from collections.abc import Sequence
from typing import Any

from areopage.monitor.answer_case import message_text
from areopage.monitor.fields import DOCUMENT_NAMES, RESPONSE_NAMES, field, value_of

PIECE_NAMES = (*RESPONSE_NAMES, "token", "delta", "chunk", "piece")
_DEEPEST = 5
_OF_THE_ASSISTANT = ("assistant", "ai", "AIMessageChunk", "model")


def response_text(result: Any, names: Sequence[str] = RESPONSE_NAMES, depth: int = 0) -> str | None:
    """The text of an answer: a text, a mapping or an object with one of the usual names, or a completion of a model's client.

    Returns:
        None if it is not recognised.
    """
    if isinstance(result, str):
        return str(result)
    if depth > _DEEPEST or result is None or isinstance(result, int | float | bytes | bytearray):
        return None
    if isinstance(result, list | tuple):
        return _text_of_items(result, names, depth)
    choices, replies = field(result, "choices"), field(result, "replies")
    if isinstance(choices, list | tuple) and choices:
        return response_text(value_of(choices[0], ("message", "delta", "text")), names, depth + 1)
    if isinstance(replies, list | tuple) and replies:
        return response_text(replies[0], names, depth + 1)
    for name in names:
        found = response_text(field(result, name), names, depth + 1)
        if found is not None:
            return found
    messages = field(result, "messages")
    if isinstance(messages, list | tuple) and messages and _is_from_the_assistant(messages[-1]):
        return response_text(messages[-1], names, depth + 1)
    return None


def _text_of_items(items: Sequence[Any], names: Sequence[str], depth: int) -> str | None:
    """The text of a message's parts, or of the messages among the items that a model put out."""
    messages = [item for item in items if field(item, "type") == "message"]
    if messages:
        texts = [response_text(field(item, "content"), names, depth + 1) for item in messages]
        return "\n".join(text for text in texts if text) or None
    return message_text(items) or None


def _is_from_the_assistant(message: Any) -> bool:
    role = field(message, "role") or field(message, "type")
    return str(getattr(role, "value", role)) in _OF_THE_ASSISTANT


def documents_in(result: Any) -> Any:
    """What a result holds as documents; None without any."""
    found = value_of(result, DOCUMENT_NAMES)
    return found if found is not None else _searched_files(result)


def _searched_files(result: Any) -> list[dict[str, Any]] | None:
    """The passages that a file search of OpenAI's Responses API found."""
    output = field(result, "output")
    found = [
        {"text": text, "title": field(hit, "filename") or "", "score": field(hit, "score")}
        for item in (output if isinstance(output, list | tuple) else ())
        if field(item, "type") == "file_search_call"
        for hit in field(item, "results") or ()
        if isinstance(text := field(hit, "text"), str)
    ]
    return found or None
