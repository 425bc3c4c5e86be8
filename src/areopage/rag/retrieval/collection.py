"""The vector store: Qdrant in a local folder or behind a URL."""

import asyncio
import io
import pickle
import sqlite3
import threading
import warnings
from collections.abc import AsyncIterator, Coroutine, Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import urlsplit

import msgspec
from msgspec import Struct

from areopage.checking import RagConfig, secret
from areopage.errors import MissingExtra, StorageError, UnknownCollection, name_list
from areopage.models import is_loopback
from areopage.rag.retrieval.embedding import EmbedderIdentity
from areopage.rag.retrieval.similarity import Background

if TYPE_CHECKING:
    from qdrant_client import AsyncQdrantClient
    from qdrant_client.http.models import Filter, PointStruct, Record, ScoredPoint

RECORD = "areopage"  # the key of our record in a collection's metadata, and of our fields in a point's payload
META_FILE = "meta.json"  # what Qdrant's local mode keeps beside its collections
# What Qdrant's local mode pickles of a point, beside texts, numbers, lists and dictionaries.
POINT_MODULE, POINT_CLASSES = "qdrant_client.http.models.models", frozenset(("PointStruct", "SparseVector"))
PAGE = 1_000  # points a call when all are gone through
LOCAL_LIMIT = 20_000  # chunks beyond which every question waits long in local mode
PROBE = 10  # times the points wanted, among which local mode looks first for those of the wanted sources
T = TypeVar("T")


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


class VectorStore:
    """An open store. Local mode computes in a thread, one call at a time."""

    def __init__(self, client: "AsyncQdrantClient", place: str, *, local: bool) -> None:
        self._client = client
        self.place, self.local = place, local
        self._turn = threading.Lock()

    async def names(self) -> list[str]:
        """Return the names of the collections, in order."""
        return sorted(item.name for item in (await self._do(self._client.get_collections())).collections)

    async def state(self, name: str) -> CollectionState:
        """Return a collection's state."""
        if name not in await self.names():
            raise await self._unknown(name)
        info = await self._do(self._client.get_collection(name), name)
        chunks = (await self._do(self._client.count(name, exact=True), name)).count
        vector, dimension = self._vector(name, info.config.params.vectors)
        record = read_record((info.config.metadata or {}).get(RECORD), name)
        return CollectionState(name=name, chunks=chunks, dimension=dimension, vector=vector, record=record)

    async def revision(self, name: str) -> str:
        """A value that changes with each ingestion (see `CollectionRecord`), at the cost of one call.

        Of a collection that another system fills only the number of its chunks tells.
        """
        info = await self._do(self._client.get_collection(name), name)
        record = read_record((info.config.metadata or {}).get(RECORD), name)
        return f"{info.points_count} chunks" if record is None else record.revision

    async def create(self, name: str, dimension: int, record: CollectionRecord) -> None:
        """Create a collection for vectors compared by cosine."""
        from qdrant_client.http.models import Distance, VectorParams

        params = VectorParams(size=dimension, distance=Distance.COSINE)
        metadata = {RECORD: msgspec.to_builtins(record)}
        await self._do(self._client.create_collection(name, vectors_config=params, metadata=metadata), name)
        if (await self.state(name)).record is None:
            await self._do(self._client.delete_collection(name), name)
            raise StorageError(f"the Qdrant server at {self.place} keeps no metadata of collections: use version 1.16 or later")

    async def index(self, name: str, fields: Sequence[str]) -> None:
        """Index payload fields on a server; local mode needs no index."""
        from qdrant_client.http.models import PayloadSchemaType

        for field in () if self.local else fields:
            await self._do(self._client.create_payload_index(name, field, field_schema=PayloadSchemaType.KEYWORD), name)

    async def remember(self, name: str, record: CollectionRecord) -> None:
        """Replace a collection's record."""
        metadata = {RECORD: msgspec.to_builtins(record)}
        await self._do(self._client.update_collection(name, metadata=metadata), name)

    async def put(self, name: str, points: "Sequence[PointStruct]") -> None:
        """Insert or replace points; on return they are stored."""
        await self._do(self._client.upsert(name, points=list(points), wait=True), name)

    async def replace_payload(self, name: str, id: str, payload: Mapping[str, Any]) -> None:
        """Replace a point's payload; its vector is kept."""
        await self._do(self._client.overwrite_payload(name, payload=dict(payload), points=[id], wait=True), name)

    async def remove(self, name: str, ids: Sequence[str]) -> None:
        """Remove points."""
        from qdrant_client.http.models import PointIdsList

        if ids:
            await self._do(self._client.delete(name, points_selector=PointIdsList(points=list(ids)), wait=True), name)

    async def each(
        self, name: str, fields: Sequence[str], *, vectors: bool = False, limit: int | None = None
    ) -> AsyncIterator["Record"]:
        """Iterate over a collection's points (the first `limit`) with payload fields."""
        offset: Any = None
        left = limit
        while left is None or left > 0:
            size = PAGE if left is None else min(PAGE, left)
            scroll = self._client.scroll(name, limit=size, offset=offset, with_payload=list(fields), with_vectors=vectors)
            points, offset = await self._do(scroll, name)
            for point in points:
                yield point
            if offset is None:
                return
            left = None if left is None else left - size

    async def nearest(
        self, state: CollectionState, vector: Sequence[float], limit: int, sources: Sequence[str], field: str
    ) -> "list[ScoredPoint]":
        """Return the points nearest to a vector, best first, with payloads."""
        if sources and self.local:
            # Local mode tries a condition on every point before it looks at vectors, which takes many times a search's time.
            nearest = await self._query(state, vector, PROBE * limit, None)
            matching = [point for point in nearest if at(point.payload, field) in sources]
            if len(matching) >= limit or len(nearest) < PROBE * limit:
                return matching[:limit]
        from qdrant_client.http.models import FieldCondition, Filter, MatchAny

        wanted = Filter(must=[FieldCondition(key=field, match=MatchAny(any=list(sources)))]) if sources else None
        return await self._query(state, vector, limit, wanted)

    async def _query(
        self, state: CollectionState, vector: Sequence[float], limit: int, condition: "Filter | None"
    ) -> "list[ScoredPoint]":
        reply = await self._do(
            self._client.query_points(
                state.name,
                query=list(vector),
                using=state.vector or None,
                query_filter=condition,
                limit=limit,
                with_payload=True,
            ),
            state.name,
        )
        return list(reply.points)

    async def aclose(self) -> None:
        """Release the folder or the connections."""
        await self._do(self._client.close())

    async def _do(self, work: Coroutine[Any, Any, T], collection: str = "") -> T:
        """Carry a call of the client out, its faults in our words."""
        from qdrant_client.http.exceptions import ApiException, ResponseHandlingException, UnexpectedResponse

        try:
            return await (asyncio.to_thread(self._alone, work) if self.local else work)
        except UnexpectedResponse as error:
            if error.status_code == 404 and collection:
                raise await self._unknown(collection) from None
            if error.status_code in (401, 403):
                raise StorageError(f"the Qdrant server at {self.place} rejects the API key: correct store.api_key") from None
            said = " ".join(error.content.decode("utf-8", "replace").split())[:200]
            raise StorageError(f"the Qdrant server at {self.place} answered {error.status_code}: {said}") from None
        except ResponseHandlingException as error:
            reason = type(error.source).__name__
            raise StorageError(f"no Qdrant server answers at {self.place}: start it, or correct store.url [{reason}]") from None
        except ApiException as error:
            raise StorageError(f"the Qdrant server at {self.place}: {' '.join(str(error).split())[:200]}") from None
        except (sqlite3.Error, OSError) as error:  # local mode: a full disk, a folder without rights, a damaged file
            raise StorageError(
                f"{self.place} cannot be used ({error}): free some space or mend its rights, and run the same again"
            ) from None
        except ValueError as error:  # local mode says so of a collection that is gone, and of names that it cannot take
            if collection and "not found" in str(error):
                raise await self._unknown(collection) from None
            raise StorageError(f"{self.place}: {error}") from None

    def _alone(self, work: Coroutine[Any, Any, T]) -> T:
        """In a thread: local mode's methods await nothing, and its database takes one thread at a time."""
        with self._turn:
            try:
                work.send(None)
            except StopIteration as done:
                value: T = done.value
                return value
            raise StorageError("this version of qdrant-client waits in local mode: use 1.16 to 1.20")

    async def _unknown(self, name: str) -> UnknownCollection:
        names = await self.names()
        advice = f"it has {name_list(names)}" if names else "it has none: fill one with `areopage rag ingest DIR`"
        return UnknownCollection(f"{self.place} has no collection {name!r} ({advice})")

    def _vector(self, name: str, vectors: Any) -> tuple[str, int]:
        """The name and dimension of the vectors that a collection is searched by."""
        from qdrant_client.http.models import Distance

        named = dict(vectors) if isinstance(vectors, dict) else {"": vectors}
        if len(named) != 1 or next(iter(named.values())) is None:
            raise StorageError(f"the collection {name!r} has {len(named)} dense vectors a point, and one is needed: name another")
        vector, params = next(iter(named.items()))
        if params.distance not in (Distance.COSINE, Distance.DOT):
            raise StorageError(f"the collection {name!r} compares by {params.distance.value}, not by cosine: name another")
        return vector, int(params.size)


def open_store(config: RagConfig, environment: Mapping[str, str]) -> VectorStore:
    """Open the configured store. A missing folder is created; a server is not called yet."""
    try:
        from qdrant_client import AsyncQdrantClient
    except ImportError:
        raise MissingExtra("retrieval", "rag") from None
    section = config.section.store
    if not section.url:
        return _open_folder(config.path(section.path))
    parts = urlsplit(section.url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise config.fault("is not the address of a server: write http://host:6333", "store", "url")
    key = secret(config, environment, section.api_key, "store", "api_key")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # a key over plain HTTP is the user's decision, on their own network
        client = AsyncQdrantClient(
            url=section.url,
            api_key=key or None,
            timeout=max(1, round(section.timeout)),
            check_compatibility=False,  # it would call the server before the first request
            trust_env=not is_loopback(parts.hostname),
        )
    return VectorStore(client, f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}".rstrip("/"), local=False)


def folder_exists(config: RagConfig) -> bool:
    """Whether the folder exists; servers always count as existing."""
    section = config.section.store
    return bool(section.url) or (config.path(section.path) / META_FILE).is_file()


class _PointUnpickler(pickle.Unpickler):
    """Loads points; a pickle may name any function, and is code."""

    def find_class(self, module: str, name: str) -> Any:
        if module != POINT_MODULE or name not in POINT_CLASSES:
            raise pickle.UnpicklingError(f"{module}.{name}")
        return super().find_class(module, name)


def _open_folder(folder: Path) -> VectorStore:
    """Local mode: the folder belongs to one process."""
    from qdrant_client import AsyncQdrantClient
    from qdrant_client.local import persistence

    # the client unpickles each point when it opens a folder: only points, no function that a row names
    guarded = SimpleNamespace(dumps=pickle.dumps, loads=lambda stored: _PointUnpickler(io.BytesIO(stored)).load())
    setattr(persistence, "pickle", guarded)  # noqa: B010 - not in its types
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            client = AsyncQdrantClient(path=str(folder), force_disable_check_same_thread=True)
    except RuntimeError as error:
        if "already accessed" not in str(error):
            raise
        raise StorageError(
            f"another process uses the vector store {folder}: stop it, or run a Qdrant server for both and set store.url"
        ) from None
    except pickle.UnpicklingError as error:
        raise StorageError(f"the vector store {folder} holds what is no point ({error}): remove it, and ingest again") from None
    except OSError as error:
        raise StorageError(f"the vector store {folder} cannot be opened: {error.strerror or error}") from None
    except (sqlite3.Error, ValueError, KeyError, AttributeError, EOFError, IndexError, TypeError) as error:
        raise StorageError(f"the vector store {folder} is damaged ({error}): remove it, and ingest again") from None
    return VectorStore(client, str(folder), local=True)
