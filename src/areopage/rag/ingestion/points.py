"""Chunks as points of a collection, in batches; a seal ends each file."""

from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from hashlib import sha256
from typing import Any

import msgspec
from msgspec import Struct

from areopage.checking import FieldsSection
from areopage.rag.ingestion.chunking import SHORTEST_MARK, Chunk
from areopage.rag.retrieval.collection import RECORD, VectorStore, at
from areopage.rag.retrieval.embedding import Vectors

MOST_WAITING = 1_000


class PointMark(Struct, frozen=True, kw_only=True):
    """Our metadata of a point, under `areopage` in its payload.

    Args:
        file: the file that its chunk is from.
        embedded: a hash of what was embedded.
        digest: a hash of the rest of the payload.
        recipe: of the last chunk of a file alone: the hash of the file and of all that its chunks depend on. `chunks` is then how
            many the file has. It is written last: where it is missing or does not fit, the file was left incomplete.
    """

    file: str
    embedded: str
    digest: str
    recipe: str = ""
    chunks: int = 0


class _Write(Struct, frozen=True, kw_only=True):
    """A point to be written; `text` is None where its vector stays."""

    point: str
    payload: dict[str, Any]
    text: str | None
    seal: bool


class PointWriter:
    """The points of one collection; `flush` stores added points."""

    def __init__(
        self,
        store: VectorStore,
        passages: Callable[[Sequence[str]], Awaitable[Vectors]],
        name: str,
        fields: FieldsSection,
        batch: int,
        first: Callable[[], Awaitable[None]],
    ) -> None:
        self._first = first
        self._changed = False
        self._store, self._passages = store, passages
        self._name, self._fields, self._batch = name, fields, batch
        self._waiting: list[_Write] = []
        self._stale: list[str] = []
        self._texts = 0
        # Which point has an id: no two chunks may be cited alike.
        self._ids: dict[str, str] = {}
        self.embedded = self.removed = 0

    async def marks(self) -> dict[str, dict[str, PointMark]]:
        """Return our stored points by file and point."""
        by_file: dict[str, dict[str, PointMark]] = defaultdict(dict)
        async for point in self._store.each(self._name, (self._fields.id, RECORD)):
            id = at(point.payload, self._fields.id)
            self._ids[str(id or "")] = str(point.id)
            marks = (point.payload or {}).get(RECORD)
            if isinstance(marks, Mapping):
                mark = msgspec.convert(marks, PointMark)
                by_file[mark.file][str(point.id)] = mark
        return by_file

    async def add(self, chunk: Chunk, file: str, before: PointMark | None, *, recipe: str, chunks: int) -> None:
        """Write a chunk unless the store has it already."""
        payload = self._payload(chunk)
        marks = PointMark(
            file=file, embedded=_hash(chunk.embedded), digest=_hash(msgspec.json.encode(payload)), recipe=recipe, chunks=chunks
        )
        if marks == before:
            return
        text = None if before is not None and before.embedded == marks.embedded else chunk.embedded
        payload[RECORD] = msgspec.to_builtins(marks)
        self._waiting.append(_Write(point=chunk.point, payload=payload, text=text, seal=bool(recipe)))
        self._texts += text is not None
        if self._texts >= self._batch or len(self._waiting) >= MOST_WAITING:
            await self.flush()

    def remove(self, points: Iterable[str]) -> None:
        """Remove points after all earlier additions are written."""
        self._stale += points

    async def flush(self) -> None:
        """Write queued points, then seals; remove stale points last."""
        waiting, self._waiting, self._texts = self._waiting, [], 0
        stale, self._stale = self._stale, []
        texts = [write.text for write in waiting if write.text is not None]
        vectors = iter(await self._passages(texts)) if texts else iter(())
        embedded = {write.point: next(vectors).tolist() for write in waiting if write.text is not None}
        if (waiting or stale) and not self._changed:
            await self._first()
            self._changed = True
        for seal in (False, True):
            await self._write([write for write in waiting if write.seal is seal], embedded)
        self.embedded += len(texts)
        await self._store.remove(self._name, stale)
        self.removed += len(stale)

    async def _write(self, writes: list[_Write], vectors: Mapping[str, list[float]]) -> None:
        from qdrant_client.http.models import PointStruct

        points = [
            PointStruct(id=write.point, vector=vectors[write.point], payload=write.payload)
            for write in writes
            if write.text is not None
        ]
        if points:
            await self._store.put(self._name, points)
        for write in writes:
            if write.text is None:
                await self._store.replace_payload(self._name, write.point, write.payload)

    def _payload(self, chunk: Chunk) -> dict[str, Any]:
        metadata = {**chunk.metadata, "position": chunk.position}
        if chunk.page is not None:
            metadata["page"] = chunk.page
        if chunk.headings:
            metadata["headings"] = list(chunk.headings)
        payload: dict[str, Any] = {"metadata": metadata}
        fields = self._fields
        values = {
            fields.id: self._free_id(chunk),
            fields.content: chunk.text,
            fields.title: chunk.title,
            fields.source: chunk.source,
        }
        for path, value in values.items():
            _put(payload, path, value)
        return payload

    def _free_id(self, chunk: Chunk) -> str:
        """The chunk's id, longer where another chunk has it already."""
        id, length = chunk.id, SHORTEST_MARK
        while self._ids.setdefault(id, chunk.point) != chunk.point:
            length += 2
            id = f"{chunk.id}-{chunk.key[SHORTEST_MARK:length]}"
        return id


def _put(payload: dict[str, Any], path: str, value: Any) -> None:
    *way, last = path.split(".")
    for key in way:
        inner = payload.get(key)
        payload[key] = dict(inner) if isinstance(inner, dict) else {}
        payload = payload[key]
    payload[last] = value


def _hash(text: str | bytes) -> str:
    return sha256(text if isinstance(text, bytes) else text.encode("utf-8", "replace")).hexdigest()[:16]
