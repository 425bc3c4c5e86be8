"""Ingestion: a folder's documents, cut and embedded, into a collection; again and again, each time only what changed."""

import random
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import UUID

import msgspec
import numpy as np
from msgspec import Struct

from areopage.errors import DatasetError, UnknownCollection
from areopage.rag.chunking import VERSION, Chunk, Cutting, cut
from areopage.rag.collection import LOCAL_LIMIT, RECORD, CollectionRecord, CollectionState, VectorStore, vector_of
from areopage.rag.config import FieldsSection, RagConfig
from areopage.rag.embedding import Embedder, EmbedderIdentity
from areopage.rag.reading import Found, RowFields, SourceText, Unread, find_files, read_documents
from areopage.rag.retriever import agree, at, measure_backgrounds
from areopage.rag.similarity import Background, shipped_backgrounds

if TYPE_CHECKING:
    from qdrant_client.http.models import PointStruct

SAMPLE = 300  # chunks that the similarity background is measured on
GROWN = 1.25  # it is measured anew when a collection has grown or shrunk by so much since
REMOVED_AT_ONCE = 500


class IngestProgress(Struct, frozen=True, kw_only=True):
    """How far it is: `done` of `total` bytes of files, and the chunks embedded in this run."""

    done: int
    total: int
    embedded: int


class IngestReport(Struct, frozen=True, kw_only=True):
    """What a run did.

    Args:
        files: read or found unchanged; `unchanged` of them.
        embedded: chunks; `kept` those that were there already; `removed` those that are no longer in their file, or whose file is
            gone (with prune).
        gone: files of the collection that are no longer in the folder; their chunks stay without prune.
        unread: what could not be read.
        chunks: in the collection now.
        backgrounds: how similar unrelated texts are in it.
        remarks: what the user should know, a line each.
    """

    collection: str
    files: int
    unchanged: int
    embedded: int
    kept: int
    removed: int
    gone: tuple[str, ...]
    unread: tuple[Unread, ...]
    chunks: int
    backgrounds: dict[str, Background]
    remarks: tuple[str, ...]


class _Marks(Struct, frozen=True, kw_only=True):
    """What a point's payload remembers: its file, how that was read (the hash of content and settings), how many chunks it gave, and
    the hash of the payload."""

    file: str
    recipe: str = ""
    chunks: int = 0
    digest: str = ""


class _Held(Struct, frozen=True):
    """A point that the collection has."""

    point: str
    id: str
    marks: _Marks


class Ingestion:
    """One run over one folder. What is written is complete file by file: a run that was broken off is taken up by the next."""

    def __init__(
        self,
        config: RagConfig,
        store: VectorStore,
        embedder: Embedder,
        *,
        collection: str = "",
        source: str = "",
        fields: RowFields | None = None,
        prune: bool = False,
        progress: Callable[[IngestProgress], None] = lambda _: None,
    ) -> None:
        """Args:
        collection: the configuration's where "".
        source: what all documents are said to come from; "" leaves each its own, else its path.
        fields: of JSON Lines.
        prune: remove the chunks of files that are gone from the folder.
        """
        self._store, self._embedder, self._progress = store, embedder, progress
        self._name = collection or config.section.store.collection
        self._source, self._rows, self._prune = source, fields or RowFields(), prune
        self._fields = config.section.store.fields
        self._batch = config.section.embedding.batch
        self._calibrate = config.section.embedding.calibrate
        cutting = config.section.ingestion
        if cutting.overlap >= cutting.chunk_size:
            raise config.fault("must be less than chunk_size", "ingestion", "overlap")
        self._cutting = Cutting(size=cutting.chunk_size, overlap=cutting.overlap, language=config.section.language)
        self._done = self._total = self._embedded = self._kept = self._removed = self._unchanged = 0
        self._unread: list[Unread] = []
        self._remarks: list[str] = []
        # Ids that are taken, by the point that has them.
        self._ids: dict[str, str] = {}

    async def run(self, folder: Path) -> IngestReport:
        """Bring the collection up to date with the folder (or with one file).

        Raises:
            DatasetError: there is no such folder, or nothing in it can be read.
            StorageError: the store cannot be reached or written, or another embedder filled the collection.
            ModelError: the texts cannot be embedded.
        """
        root = folder.resolve().name if folder.is_dir() else ""
        files, unread = find_files(folder)
        self._unread += unread
        if not files:
            raise DatasetError(f"{folder} holds no file that can be read{_first_of(unread)}")
        self._total = sum(file.size for file in files)
        identity = await self._embedder.identity()
        state = await self._opened(identity)
        held = await self._points()
        for file in files:
            key = f"{root}/{file.name}" if root else file.name
            await self._file(file, key, held.pop(key, {}))
            self._done += file.size
            self._tell()
        missing = {file.file for file in self._unread}
        gone = sorted(key for key in held if key.startswith(f"{root}/") and key.removeprefix(f"{root}/") not in missing) if root else []
        if self._prune:
            for key in gone:
                await self._remove(list(held[key]))
        state = await self._calibrated(identity)
        return self._report(state, len(files), gone)

    async def _opened(self, identity: EmbedderIdentity) -> CollectionState:
        """The collection, made where it is missing."""
        try:
            state = await self._store.state(self._name)
        except UnknownCollection:
            await self._store.create(self._name, identity.dimension, CollectionRecord(embedder=identity, backgrounds={}))
            await self._store.index(self._name, [self._fields.source])
            state = await self._store.state(self._name)
        agree(state, identity)
        if state.record is None:
            self._remarks.append(
                f"the collection {self._name!r} was made by another system: it is taken for {identity}'s from now on; "
                "chunks that other systems put there stay"
            )
        return state

    async def _points(self) -> dict[str, dict[str, _Held]]:
        """What the collection has of our making: file -> point -> what is known of it."""
        held: dict[str, dict[str, _Held]] = defaultdict(dict)
        async for point in self._store.each(self._name, (self._fields.id, RECORD)):
            marks = (point.payload or {}).get(RECORD)
            if not isinstance(marks, Mapping):
                continue
            id = str(at(point.payload, self._fields.id) or "")
            one = _Held(str(point.id), id, msgspec.convert(marks, _Marks))
            held[one.marks.file][one.point] = one
            self._ids[id] = one.point
        return held

    async def _file(self, file: Found, key: str, held: dict[str, _Held]) -> None:
        """Bring one file's chunks up to date."""
        try:
            recipe = self._recipe(file)
            known = {one.marks.recipe: one.marks.chunks for one in held.values()}
            if held and known == {recipe: len(held)}:
                self._unchanged += 1
                self._kept += len(held)
                return
            stale = dict(held)
            async for batch in self._changed(file, key, recipe, stale):
                await self._write(batch)
        except DatasetError as error:
            self._unread.append(Unread(file=file.name, reason=str(error).removeprefix(f"{file.path}: ")))
            return
        except OSError as error:
            self._unread.append(Unread(file=file.name, reason=f"cannot be read: {error.strerror}"))
            return
        await self._remove(list(stale))
        await self._finish(key, recipe, held, stale)
"""
"""
