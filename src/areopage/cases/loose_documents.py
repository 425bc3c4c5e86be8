"""Documents as retrieval frameworks return them."""

from collections.abc import Iterable, Mapping
from functools import cache
from numbers import Integral
from typing import Any

import msgspec

from areopage.cases.columns import fold_name
from areopage.cases.documents import KEYS, read_documents
from areopage.cases.records import Document
from areopage.errors import DatasetError

LooseDocuments = Iterable[Any] | str | None
"""Records, objects, texts, anything with `page_content`, `text` or `content` and `metadata` or `meta`, or pairs of one of these
and its score."""


def documents_of(documents: LooseDocuments) -> tuple[Document, ...]:
    """Documents as records. One whose text is blank is left out; who has no id is called `doc1`, `doc2`... by its position.

    Raises:
        DatasetError: one is no document, or an object without a key of a text.
    """
    items = [documents] if isinstance(documents, str | Mapping | Document) else _items(documents)
    read: list[Document] = []
    for position, item in enumerate(items, 1):
        fields = _fields_of(item, position)
        readable = any(_goes_by(name, "text") for name in fields)
        if readable and not str(_value_of(fields, "text") or "").strip():
            continue
        if readable and _value_of(fields, "id") in (None, ""):
            fields = {name: value for name, value in fields.items() if not _goes_by(name, "id")} | {"id": f"doc{position}"}
        try:
            read.extend(read_documents([fields]))
        except ValueError as fault:
            raise DatasetError(f"document {position}: {fault}") from None
    return tuple(read)


def _items(documents: Any) -> list[Any]:
    try:
        return list(documents or ())
    except TypeError:
        raise DatasetError(f"documents: give a list of documents, not {type(documents).__name__}") from None


def _fields_of(item: Any, position: int) -> dict[str, Any]:
    """A document's fields, by names that `read_documents` knows."""
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
    metadata = getattr(node, "metadata", None) or getattr(node, "meta", None) or {}
    fields = _fields_with_metadata(text, getattr(node, "id", None), metadata)
    return fields if score is None else fields | {"score": score}


def _fields_with_metadata(text: str, id: str | None, metadata: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a framework's document, which keeps title, source and often its id in the metadata."""
    fields: dict[str, Any] = {"text": text, "metadata": dict(metadata)}
    for key in ("id", "title", "source", "score"):
        value = _value_of(metadata, key)
        if isinstance(value, str | Integral) or (key == "score" and value is not None):
            fields[key] = value
    return fields | ({"id": id} if id else {})


def _value_of(fields: Mapping[str, Any], key: str) -> Any:
    return next((value for name, value in fields.items() if _goes_by(name, key)), None)


def _goes_by(name: str, key: str) -> bool:
    return fold_name(str(name)) in _aliases(key)


@cache
def _aliases(key: str) -> frozenset[str]:
    return frozenset(map(fold_name, KEYS[key]))
