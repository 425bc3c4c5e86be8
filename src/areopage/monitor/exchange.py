"""Find the question, the answer and its documents in a call of a bot: what usual functions take and frameworks return."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from msgspec import Struct

from areopage.cases.loose_documents import documents_of
from areopage.cases.records import Document, Turn
from areopage.errors import SubmissionError
from areopage.monitor.answer_case import message_text

PROMPT_NAMES = ("prompt", "question", "query", "message", "messages", "input", "user_input")
RESPONSE_NAMES = ("response", "answer", "text", "output", "output_text", "result", "content", "message", "completion")
DOCUMENT_NAMES = ("documents", "context_chunks", "context", "source_documents", "source_nodes", "chunks", "sources")
_DEEPEST = 4


class Unrecognised(SubmissionError):
    """The question or the answer is not found in a call."""


class Exchange(Struct, frozen=True, kw_only=True):
    """A question with its answer from a call. An id "" is replaced by a new id.

    `source`, `variant` and `language` count before those of the hook; "" means the hook's.
    """

    prompt: str | Sequence[Turn | Mapping[str, Any]]
    response: str
    documents: Iterable[Document | Mapping[str, Any] | str] = ()
    id: str = ""
    source: str = ""
    variant: str = ""
    language: str = ""
    metadata: Mapping[str, Any] = {}


def find_exchange(arguments: Mapping[str, Any], result: Any) -> Exchange | None:
    """The exchange of a function that is called and answers in a usual way; None if it returned nothing.

    Raises:
        Unrecognised: the answer or the question is not found.
        DatasetError: one of the documents is none.
    """
    if result is None:
        return None
    response, prompt = response_text(result), _prompt_in(arguments, result)
    if response is None:
        raise Unrecognised(f"the answer is not found in a result of type {type(result).__name__}: give `extract`")
    if prompt is None:
        raise Unrecognised(f"the question is not found in the arguments {', '.join(arguments)}: give `extract`")
    documents = _value(result, DOCUMENT_NAMES)
    if documents is None:
        documents = _value(arguments, DOCUMENT_NAMES)
    # a `context` of a web framework is no list of documents
    found = documents_of(documents) if isinstance(documents, str | Mapping | Iterable) else ()
    return Exchange(prompt=prompt, response=response, documents=found, variant=_label(arguments, result, "variant"))


def response_text(result: Any, depth: int = 0) -> str | None:
    """The text of an answer: a text, a mapping or an object with one of the usual names, or a completion of a model's client.

    Returns:
        None if it is not recognised.
    """
    if isinstance(result, str):
        return result
    if depth > _DEEPEST or result is None or isinstance(result, int | float | bytes):
        return None
    if isinstance(result, list | tuple):
        return message_text(result)
    choices = _field(result, "choices")
    if isinstance(choices, list | tuple) and choices:
        return response_text(_value(choices[0], ("message", "delta", "text")), depth + 1)
    for name in RESPONSE_NAMES:
        found = response_text(_field(result, name), depth + 1)
        if found is not None:
            return found
    return None


def piece_text(piece: Any) -> str:
    """The text of a piece of a stream; "" if it has none, as the last piece of many clients."""
    return response_text(piece) or ""


def _prompt_in(arguments: Mapping[str, Any], result: Any) -> Any:
    """The question: an argument of a usual name, else the first, or what either of them or the result holds by such a name."""
    positional = [value for name, value in arguments.items() if name not in ("self", "cls")]
    first = positional[0] if positional else None
    for value in (_value(arguments, PROMPT_NAMES), first):
        if isinstance(value, str | list | tuple):
            return value
        if isinstance(inner := _value(value, PROMPT_NAMES), str | list | tuple):
            return inner
    found = _value(result, PROMPT_NAMES[:3] + PROMPT_NAMES[5:]) if isinstance(result, Mapping) else None
    return found if isinstance(found, str | list | tuple) else None


def _label(arguments: Mapping[str, Any], result: Any, name: str) -> str:
    return next((value for one in (result, arguments) if isinstance(value := _field(one, name), str)), "")


def _value(fields: Any, names: Sequence[str]) -> Any:
    """The value of the first of these names that a mapping or an object has; None without any."""
    return next((value for name in names if (value := _field(fields, name)) is not None), None)


def _field(fields: Any, name: str) -> Any:
    if isinstance(fields, Mapping):
        return fields.get(name)
    value = None if isinstance(fields, str | int | float | bytes | list | tuple) else getattr(fields, name, None)
    return None if callable(value) else value
