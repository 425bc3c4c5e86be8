"""Metadata of a collection and its points."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Struct

from areopage.errors import StorageError
from areopage.rag.retrieval.embedding import EmbedderIdentity
from areopage.rag.retrieval.similarity import Background

if TYPE_CHECKING:
    from qdrant_client.http.models import Record

RECORD = "areopage"  # the key of our record in a collection's metadata, and of our fields in a point's payload


class CollectionRecord(Struct, frozen=True, kw_only=True):
    """The stored metadata of a collection.

    Args:
        embedder: who embedded it.
        backgrounds: how similar unrelated texts are in it, by the question's language; `measured_chunks` is how many it had then.
        revision: a new value after each ingestion that changed anything; "" from its first change until it ends, while answers
            cannot be matched to a state of the collection. An interrupted ingestion leaves "" until the next ingestion.
    """

    embedder: EmbedderIdentity
    backgrounds: dict[str, Background]
    measured_chunks: int = 0
    revision: str = "0"


class CollectionState(Struct, frozen=True, kw_only=True):
    """A collection as it stands. `record` is None where another system filled it; `vector` is "" for the unnamed one."""

    name: str
    chunks: int
    dimension: int
    vector: str
    record: CollectionRecord | None


def read_record(stored: Any, name: str) -> CollectionRecord | None:
    """Read the record in a collection's metadata; None without a record."""
    if stored is None:
        return None
    try:
        return msgspec.convert(stored, CollectionRecord)
    except msgspec.ValidationError as error:
        raise StorageError(f"the record of the collection {name!r} cannot be read ({error}): ingest into another one") from None


def at(payload: Mapping[str, Any] | None, path: str) -> Any:
    """What a payload holds under a dotted path; None where there is nothing. A key that itself holds the dot comes first."""
    value: Any = payload or {}
    if path in value:
        return value[path]
    for key in path.split("."):
        if not isinstance(value, Mapping) or key not in value:
            return None
        value = value[key]
    return value


def vector_of(point: "Record", name: str) -> list[float]:
    """A point's dense vector; `name` as in `CollectionState.vector`."""
    vector: Any = point.vector
    return list(vector[name] if name else vector)
