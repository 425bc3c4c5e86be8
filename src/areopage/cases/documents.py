"""Read the documents that a response should rest on: from one cell, or as retrieval frameworks return them."""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from numbers import Integral
from types import MappingProxyType
from typing import Any

import msgspec

from areopage.cases.columns import fold_name
from areopage.cases.records import Document
from areopage.cases.rows import is_deep
from areopage.errors import DatasetError

KEYS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "id": ("id", "doc_id", "document_id", "chunk_id"),
        "title": ("title", "titre", "doc_title", "doc_titre"),
        "text": ("text", "texte", "content", "contenu", "page_content"),
        "score": ("score",),
        "source": ("source",),
        "metadata": ("metadata",),
    }
)
"""The spellings of each key of a document; other keys go to its metadata."""

MOST_SHOWN = 100  # characters of a score that is no number

# How JSON begins, and also Python's way of printing a list, which must not pass for the text of one document.
_STRUCTURED = re.compile(r"""\s*(\[\s*["'{\]]|\{\s*["'}])""")


def read_documents(value: Any) -> tuple[Document, ...]:
    """Return the documents of a cell: a list of texts or objects, its JSON, or plain text that is one document.

    A document without an id is called `doc1`, `doc2`… by its position. A score that is not a number goes to the metadata.

    Raises:
        ValueError: a document has no text, or the cell begins like JSON and is not.
    """
    if isinstance(value, str) and _STRUCTURED.match(value):
        try:
            value = msgspec.json.decode(value)
        except (msgspec.DecodeError, UnicodeError, RecursionError) as fault:
            raise ValueError(f"documents: not valid JSON: {fault}") from fault
        if is_deep(value):
            raise ValueError("documents: the JSON is nested too deeply")
    if value is None or (isinstance(value, str) and not value.strip()):
        return ()
    if isinstance(value, str | dict):
        value = [value]
    if not isinstance(value, list):
        raise ValueError("documents: write a JSON list of texts or objects, or one text")
    return tuple(_read_document(item, position) for position, item in enumerate(value, start=1))


def _read_document(item: Any, position: int) -> Document:
    if isinstance(item, str):
        item = {"text": item}
    if not isinstance(item, dict):
        raise ValueError(f"documents: document {position} is neither a text nor an object")
    fields: dict[str, Any] = {}
    metadata: dict[str, Any] = {}
    for name, value in item.items():
        key = _key_named(name)
        if key is None:
            metadata[str(name)] = value
        elif key in fields:
            raise ValueError(f"documents: document {position} gives its {key} twice")
        else:
            fields[key] = value
    text = fields.get("text")
    if not isinstance(text, str) or not text.strip():
        keys = (
            f": its keys are {', '.join(map(str, item))}; write one of {', '.join(KEYS['text'])}" if "text" not in fields else ""
        )
        raise ValueError(f"documents: document {position} has no text{keys}")
    nested = fields.get("metadata") or {}
    if not isinstance(nested, dict):
        raise ValueError(f"documents: the metadata of document {position} is not an object")
    written = fields.get("score")
    score = score_of(written)
    if score is None and written not in (None, ""):
        metadata["score"] = written if isinstance(written, str | bool) else str(written)[:MOST_SHOWN]
    return Document(
        id=_label(fields, "id", position) or f"doc{position}",
        text=text,
        title=_label(fields, "title", position),
        score=score,
        source=_label(fields, "source", position),
        metadata={**nested, **metadata},
    )


@cache
def _keys_by_name() -> Mapping[str, str]:
    return {fold_name(alias): key for key, aliases in KEYS.items() for alias in aliases}


def _key_named(name: object) -> str | None:
    return _keys_by_name().get(fold_name(str(name)))


def _label(fields: Mapping[str, Any], key: str, position: int) -> str:
    value = fields.get(key)
    if value is None:
        return ""
    if isinstance(value, bool) or not isinstance(value, str | Integral):
        raise ValueError(f"documents: the {key} of document {position} is not text")
    return str(value).strip()


def score_of(value: Any) -> float | None:
    """A retriever's score of any type, NumPy's included; None for one that is not a finite number."""
    if value is None or isinstance(value, bool):
        return None
    try:
        score = float(value.replace(",", ".") if isinstance(value, str) else value)
    except (TypeError, ValueError, ArithmeticError):
        return None
    return score if math.isfinite(score) else None


LooseDocuments = Iterable[Any] | str | None
"""Records, objects, texts, anything with `page_content`, `text` or `content` and `metadata` or `meta`, or pairs of one of these
and its score."""


def documents_of(documents: LooseDocuments) -> tuple[Document, ...]:
    """Documents as records. One whose text is blank is left out; who has no id is called `doc1`, `doc2`... by its position.

    Raises:
        DatasetError: one is no document, or an object without a key of a text.
    """
    try:
        items = [documents] if isinstance(documents, str | Mapping | Document) else list(documents or ())
    except TypeError:
        raise DatasetError(f"documents: give a list of documents, not {type(documents).__name__}") from None
    read: list[Document] = []
    for position, item in enumerate(items, 1):
        fields = _fields_of(item, position)
        readable = any(_key_named(name) == "text" for name in fields)
        if readable and not str(_value_of(fields, "text") or "").strip():
            continue
        if readable and _value_of(fields, "id") in (None, ""):
            fields = {name: value for name, value in fields.items() if _key_named(name) != "id"} | {"id": f"doc{position}"}
        try:
            read.extend(read_documents([fields]))
        except ValueError as fault:
            raise DatasetError(f"document {position}: {fault}") from None
    return tuple(read)


def records_of(documents: LooseDocuments) -> Sequence[Document]:
    """Documents unchanged if all are records, else as `documents_of` reads them."""
    if isinstance(documents, Sequence) and not isinstance(documents, str):
        records = [document for document in documents if isinstance(document, Document)]
        if len(records) == len(documents):
            return records
    return documents_of(documents)


def _fields_of(item: Any, position: int) -> dict[str, Any]:
    if isinstance(item, tuple) and len(item) == 2:
        return _fields_of(item[0], position) | {"score": item[1]}
    if isinstance(item, Document):
        return msgspec.structs.asdict(item)
    if isinstance(item, Mapping):
        return {str(name): value for name, value in item.items()}
    if isinstance(item, str):
        return {"text": item}
    node = getattr(item, "node", item)  # LlamaIndex puts a node and its score into one object
    score = getattr(item, "score", None) if node is not item else None
    text = next(
        (text for name in ("page_content", "text", "content") if isinstance(text := getattr(node, name, None), str)), None
    )
    if text is None:
        raise DatasetError(f"document {position}: give a text, an object or a LangChain document, not {type(item).__name__}")
    # Frameworks keep title, source and often the id in the metadata.
    metadata = getattr(node, "metadata", None) or getattr(node, "meta", None) or {}
    fields: dict[str, Any] = {"text": text, "metadata": dict(metadata)}
    for key in ("id", "title", "source", "score"):
        value = _value_of(metadata, key)
        if isinstance(value, str | Integral) or (key == "score" and value is not None):
            fields[key] = value
    attributes = {"id": getattr(node, "id", None) or None, "score": score}
    return fields | {key: value for key, value in attributes.items() if value is not None}


def _value_of(fields: Mapping[str, Any], key: str) -> Any:
    return next((value for name, value in fields.items() if _key_named(name) == key), None)
