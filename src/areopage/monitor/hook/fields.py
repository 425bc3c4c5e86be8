"""Read the fields of mappings and objects by the names that bots and frameworks use."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

PROMPT_NAMES = (
    *("prompt", "question", "query", "message", "messages", "input", "user_input"),
    *("user_message", "user_query", "user_prompt", "user_question", "contents", "texte", "demande", "requete"),
)
RESPONSE_NAMES = (
    *("response", "answer", "text", "output_text", "output", "result", "content", "message", "completion"),
    *("reponse", "réponse", "refusal"),
)
DOCUMENT_NAMES = ("documents", "context_chunks", "context", "source_documents", "source_nodes", "chunks", "sources", "contexts")
LABEL_NAMES: Mapping[str, tuple[str, ...]] = {
    "id": ("id", "answer_id"),
    "source": ("source",),
    "variant": ("variant", "variante", "ab_variant"),
    "language": ("language", "lang", "langue"),
    "trace_id": ("trace_id", "traceparent"),
}
_MESSAGES_OF_CLIENTS = ("ai", "human", "message", "assistant", "AIMessageChunk")
_NO_FIELDS = (str, bytes, bytearray, int, float, list, tuple, type(None))


def field(fields: Any, name: str) -> Any:
    """The value of a field; None if there is none, or it is a method. A property that raises has no value."""
    if isinstance(fields, Mapping):
        return fields.get(name)
    if isinstance(fields, _NO_FIELDS):
        return None
    try:
        value = getattr(fields, name, None)
    except Exception:  # noqa: BLE001 - a property of the bot's object may raise anything
        return None
    return None if callable(value) and not isinstance(value, str) else value


def value_of(fields: Any, names: Sequence[str]) -> Any:
    """The value of the first of these names that a mapping or an object has; None without any."""
    return next((value for name in names if (value := field(fields, name)) is not None), None)


def label_of(fields: Any, name: str) -> str:
    """A label of an answer, such as its source; "" without one.

    The ids of a model's client are not those of the bot: some servers repeat theirs.
    """
    has_fields = any(field(fields, attribute) is not None for attribute in ("choices", "object", "role"))
    if name == "id" and (has_fields or field(fields, "type") in _MESSAGES_OF_CLIENTS):
        return ""
    return label_text(name, value_of(fields, LABEL_NAMES[name]))


def label_text(name: str, value: Any) -> str:
    """The text of a label; "" if it is none. Of a W3C `traceparent` it is the trace's id."""
    if value is None or isinstance(value, bool | float | bytes | list | tuple | Mapping):
        return ""
    text = str(value).strip()
    parts = text.split("-")
    return parts[1] if name == "trace_id" and len(parts) == 4 and len(parts[1]) == 32 else text


def labels_of(*places: Any) -> Iterator[tuple[str, str]]:
    """Each label that one of the places has, with its value from the first of them."""
    for name in LABEL_NAMES:
        if value := next((value for place in places if (value := label_of(place, name))), ""):
            yield name, value
