"""Find the question, the answer and its documents in a call of a bot: what usual functions take and frameworks return."""

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any

from msgspec import Struct, structs

from areopage.cases import Document, Turn, documents_of
from areopage.errors import SubmissionError
from areopage.monitor.hook.bot_results import documents_in, opened, response_text, whole_body
from areopage.monitor.hook.fields import DOCUMENT_NAMES, PROMPT_NAMES, field, labels_of, value_of
from areopage.monitor.hook.stream_text import is_framed, read_stream

_INNER_NAMES = (*PROMPT_NAMES, "text", "content")
_OF_RESULTS = ("prompt", "question", "query", "input", "user_input")
_NO_QUESTION = re.compile(
    r"(.*_)?(id|ids|uid|uuid|key|token|user|username|login|tenant|session|trace\w*|lang\w*|locale|model|name|source|variant|kind|mode)"
    r"|system.*|instructions?|persona|.*_id"
)
"""The names of arguments that hold no question, such as `user_id`."""
_TITLES = ("title", "titre", "doc_title", "doc_titre", "file_name", "filename", "document_name", "name", "source", "file_path")


class Unrecognised(SubmissionError):
    """The question or the answer is not found in a call."""


class Exchange(Struct, frozen=True, kw_only=True):
    """A question with its answer from a call. An id "" is replaced by a new id.

    `source`, `variant` and `language` count before those of the hook; "" means the hook's. `trace_id` is the id of the trace
    of the call in the bot's own tracing.
    """

    prompt: str | Sequence[Turn | Mapping[str, Any]]
    response: str
    documents: Iterable[Document | Mapping[str, Any] | str] = ()
    id: str = ""
    source: str = ""
    variant: str = ""
    language: str = ""
    trace_id: str = ""
    metadata: Mapping[str, Any] = {}


def find_exchange(arguments: Mapping[str, Any], result: Any) -> Exchange | None:
    """The exchange of a function that is called and answers in a usual way; None if it returned nothing."""
    if result is None:
        return None
    answer, beside = _parts_of(result)
    answer = opened(answer)
    if isinstance(answer, str) and is_framed(answer):
        return find_streamed(arguments, [answer], (result, *beside))
    response = response_text(answer)
    if not response:
        empty = "is empty" if response == "" else "is not found"
        raise Unrecognised(f"the answer {empty} in a result of type {type(result).__name__}: give `extract`")
    documents = _documents_of((answer, *beside))
    prompt = _prompt_in(arguments)
    return _exchange(arguments, answer if prompt is None else prompt, response, documents, dict(labels_of(answer, *beside)))


def find_streamed(arguments: Mapping[str, Any], pieces: Sequence[Any], beside: Sequence[Any] = ()) -> Exchange | None:
    """The exchange of a function whose answer is a stream of pieces."""
    if beside and (body := whole_body(beside[0], pieces)) is not None:
        return find_exchange(arguments, body)
    stream = read_stream(pieces)
    if stream.error:
        raise Unrecognised(f"the stream reports an error: {stream.error}")
    if not stream.response.strip():
        kinds = ", ".join(dict.fromkeys(type(piece).__name__ for piece in pieces)) or "none"
        raise Unrecognised(f"the answer is not found in a stream (types of its pieces: {kinds}): give `extract`")
    prompt = _prompt_in(arguments)
    question_piece = next((piece for piece in pieces if isinstance(piece, Mapping) and value_of(piece, _OF_RESULTS)), None)
    documents = stream.documents if stream.documents is not None else _documents_of(beside)
    labels = dict(labels_of(*beside[1:])) | stream.labels
    return _exchange(arguments, question_piece if prompt is None else prompt, stream.response, documents, labels)


def titled(documents: Iterable[Document]) -> tuple[Document, ...]:
    """Documents with the titles that frameworks keep in their metadata, or else the names of their files.

    Judges read titles and texts only.
    """

    def title(document: Document) -> str:
        for name in _TITLES:
            value = document.source if name == "source" and document.source else document.metadata.get(name)
            if isinstance(value, str) and value.strip():
                is_path = name in ("source", "file_path")
                return PurePosixPath(value.replace("\\", "/")).name or value if is_path else value
        return ""

    return tuple(document if document.title else structs.replace(document, title=title(document)) for document in documents)


def _documents_of(places: Sequence[Any]) -> Any:
    """The documents of an answer or of what stands beside it, which may be a list of them; None without any."""
    documents = next((documents for place in places if (documents := documents_in(place)) is not None), None)
    return documents if documents is not None else next((part for part in places[1:] if isinstance(part, list | tuple)), None)


def _exchange(arguments: Mapping[str, Any], prompt: Any, response: str, documents: Any, labels: Mapping[str, str]) -> Exchange:
    if not isinstance(prompt, str | list | tuple):
        prompt = value_of(prompt, _OF_RESULTS) if isinstance(prompt, Mapping) else None
    if not isinstance(prompt, str | list | tuple):
        raise Unrecognised(f"the question is not found in the arguments {', '.join(arguments)}: give `extract`")
    if documents is None:
        documents = value_of(arguments, DOCUMENT_NAMES)
    # a `context` of a web framework is no list of documents
    records = documents_of(documents) if isinstance(documents, str | Mapping | Iterable) else ()
    all_labels: dict[str, Any] = dict(labels_of(arguments)) | dict(labels)
    return Exchange(prompt=prompt, response=response, documents=titled(records), **all_labels)


def _parts_of(result: Any) -> tuple[Any, Sequence[Any]]:
    """The answer of a result, and what a function returned beside it, such as its documents."""
    if isinstance(result, tuple) and result and not hasattr(result, "_fields"):
        first = result[0]
        if isinstance(first, str) or not all(isinstance(field(part, "type"), str) for part in result):
            return first, result[1:]
    if isinstance(result, Mapping) and result and all(isinstance(part, Mapping) for part in result.values()):
        parts = [part for part in result.values() if response_text(part)]  # Haystack: what each component of a pipeline put out
        return (parts[-1], tuple(result.values())) if parts else (result, ())
    return result, ()


def _prompt_in(arguments: Mapping[str, Any]) -> Any:
    """The question: an argument of a usual name, or what an argument holds by such a name, or a text; None without any."""
    values = {name: value for name, value in arguments.items() if name not in ("self", "cls")}
    usual = value_of(values, PROMPT_NAMES)
    for question in (usual, value_of(usual, _INNER_NAMES)):
        if isinstance(question, str | list | tuple):
            return question
    texts = {name: value for name, value in values.items() if isinstance(value, str) and name not in DOCUMENT_NAMES}
    asking = [value for name, value in texts.items() if not _NO_QUESTION.fullmatch(name.lower())]
    inner = [text for value in values.values() if isinstance(text := value_of(value, PROMPT_NAMES), str | list | tuple)]
    first = next(iter(values.values()), None)
    if inner and first not in asking:
        return inner[0]
    candidates = asking or list(texts.values())
    if candidates:
        return next((text for text in candidates if len(text.split()) > 1), candidates[0])
    return next((value for name, value in values.items() if isinstance(value, list | tuple) and name not in DOCUMENT_NAMES), None)
