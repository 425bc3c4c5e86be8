"""Incremental ingestion of a folder's documents into a collection."""

from collections.abc import Callable, Iterator, Sequence
from hashlib import sha256
from pathlib import Path
from uuid import uuid4

from msgspec import Struct, structs

from areopage.checking import RagConfig
from areopage.errors import DatasetError, StorageError, UnknownCollection
from areopage.rag.ingestion.chunking import VERSION, Chunk, Cutting, SourceFile, Unread, cut
from areopage.rag.ingestion.points import PointMark, PointWriter
from areopage.rag.ingestion.reading import RowFields, find_files, read_documents
from areopage.rag.retrieval.collection import LOCAL_LIMIT, CollectionRecord, CollectionState, VectorStore
from areopage.rag.retrieval.embedding import Embedder, EmbedderIdentity, Vectors
from areopage.rag.retrieval.retriever import agreed_identity, measure_backgrounds, refuse_another_model
from areopage.rag.retrieval.similarity import Background, shipped_backgrounds

BLOCK = 1024 * 1024
GROWN = 1.25  # it is measured anew when a collection has grown or shrunk by so much since


class IngestProgress(Struct, frozen=True, kw_only=True):
    """Progress: `done` of `total` bytes of files, and embedded chunks."""

    done: int
    total: int
    embedded: int


class IngestReport(Struct, frozen=True, kw_only=True):
    """The result of a run.

    Args:
        files: read or found unchanged; `unchanged` of them.
        embedded: chunks; `kept` those that were there already; `removed` those that are no longer in their file, or whose file is
            gone (with prune).
        gone: files of the collection that are no longer in the folder; their chunks stay without prune.
        chunks: in the collection now; `backgrounds`: how similar unrelated texts are in it.
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


class Ingestion:
    """One run over one folder. Each complete file is sealed; the next run continues an interrupted one."""

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
        cutting = config.section.ingestion
        if cutting.overlap >= cutting.chunk_size:
            raise config.fault("must be less than chunk_size", "ingestion", "overlap")
        self._cutting = Cutting(size=cutting.chunk_size, overlap=cutting.overlap, language=config.section.language)
        self._most = cutting.max_chunks
        self._store, self._embedder, self._progress = store, embedder, progress
        self._name = collection or config.section.store.collection
        places, batch = config.section.store.fields, config.section.embedding.batch
        self._identity: EmbedderIdentity | None = None
        self._points = PointWriter(store, self._passages, self._name, places, batch, self._begin)
        self._source, self._rows, self._prune = source, fields or RowFields(), prune
        self._calibrate = config.section.embedding.calibrate
        self._source_field = config.section.store.fields.source
        self._done = self._total = self._unchanged = self._kept = 0
        self._unread: list[Unread] = []
        self._remarks: list[str] = []

    async def run(self, folder: Path) -> IngestReport:
        """Update the collection from a folder or a file."""
        root, whole, files, unread = _files(folder)
        self._unread += unread
        if not files:
            reason = f": {unread[0].file}: {unread[0].reason}" if unread else ""
            raise DatasetError(f"{folder} holds no file that can be read{reason}")
        self._total = sum(file.size for file in files)
        await self._open()
        stored = await self._points.marks()
        for file in files:
            await self._file(file, root + file.name, stored.pop(root + file.name, {}))
            self._done += file.size
            self._tell(0)
        await self._points.flush()
        unread_keys = {root + file.file for file in unread}
        gone = sorted(key for key in stored if key.startswith(root) and key not in unread_keys) if whole else []
        for key in gone if self._prune else ():
            self._points.remove(stored[key])
        await self._points.flush()
        return self._report(await self._finished(), len(files), gone)

    async def _open(self) -> None:
        """Create the collection if missing; refuse one that this embedder cannot fill."""
        try:
            state = await self._store.state(self._name)
        except UnknownCollection:
            identity = self._identity = await self._embedder.identity()
            record = CollectionRecord(embedder=identity, backgrounds={}, revision="")
            await self._store.create(self._name, identity.dimension, record)
            await self._store.index(self._name, [self._source_field])
            return
        refuse_another_model(state, self._embedder)
        if state.vector:
            raise StorageError(
                f"the vectors of the collection {self._name!r} have a name: it can be searched, not filled; name another"
            )
        if state.record is None:
            self._remarks.append(f"the collection {self._name!r} was made by another system, and what that put there stays")

    async def _agreed(self) -> EmbedderIdentity:
        """The embedder's identity, which fits the collection; the first call loads or calls it: none where nothing is new."""
        if self._identity is None:
            self._identity = await agreed_identity(await self._store.state(self._name), self._embedder)
        return self._identity

    async def _passages(self, texts: Sequence[str]) -> Vectors:
        await self._agreed()
        return await self._embedder.passages(texts)

    async def _file(self, file: SourceFile, key: str, stored: dict[str, PointMark]) -> None:
        try:
            recipe = self._recipe(file)
            if any(mark.recipe == recipe and mark.chunks == len(stored) for mark in stored.values()):
                self._unchanged += 1
                self._kept += len(stored)
                return
            await self._changed(file, key, recipe, stored)
        except DatasetError as error:
            self._unread.append(Unread(file=file.name, reason=str(error).removeprefix(f"{file.path}: ")))
        except OSError as error:
            self._unread.append(Unread(file=file.name, reason=f"cannot be read: {error.strerror}"))

    async def _changed(self, file: SourceFile, key: str, recipe: str, stored: dict[str, PointMark]) -> None:
        """Write what is new in a file, seal its last chunk, and then remove what is no longer in it."""
        stale = dict(stored)
        seen: set[str] = set()
        last: Chunk | None = None
        read, unread = 0, len(self._unread)
        for chunk in self._chunks(file, key):
            read += len(chunk.text)
            self._tell(min(read, file.size))
            if chunk.key in seen:
                continue
            seen.add(chunk.key)
            if last is not None:
                await self._add(last, key, stale)
            last = chunk
        if last is None:
            self._unread.append(Unread(file=file.name, reason="holds no text"))
        else:
            # Not sealed where a part of it could not be read: every run is to tell so.
            whole = len(self._unread) == unread
            await self._add(last, key, stale, recipe=recipe if whole else "", chunks=len(seen) if whole else 0)
        self._points.remove(stale)

    async def _add(self, chunk: Chunk, key: str, stale: dict[str, PointMark], *, recipe: str = "", chunks: int = 0) -> None:
        """One chunk; `stale` loses the point that it has already."""
        before = stale.pop(chunk.point, None)
        self._kept += before is not None
        await self._points.add(chunk, key, before, recipe=recipe, chunks=chunks)

    def _chunks(self, file: SourceFile, key: str) -> Iterator[Chunk]:
        """The chunks of all documents of a file; what cannot be read is noted."""
        stem = Path(file.name).stem
        for document in read_documents(file, self._rows):
            if isinstance(document, Unread):
                self._unread.append(document)
                continue
            sourced = structs.replace(document, source=self._source or document.source or file.name)
            chunks = list(cut(sourced, key, stem, self._cutting))
            if len(chunks) <= self._most:
                yield from chunks
                continue
            reason = f"{len(chunks):,} chunks, more than {self._most:,}: split it, or raise rag.ingestion.max_chunks"
            if document.row is None:
                raise DatasetError(f"{file.path}: {reason}")
            self._unread.append(Unread(file=file.name, row=document.row, reason=reason))

    def _recipe(self, file: SourceFile) -> str:
        """What tells whether a file has to be read again: its content, and all that its chunks depend on."""
        settings = (VERSION, self._cutting, self._source, self._rows)
        made = sha256(repr(settings).encode())
        with file.path.open("rb") as stream:
            while block := stream.read(BLOCK):
                made.update(block)
        return made.hexdigest()[:32]

    async def _begin(self) -> None:
        """Have the collection say that it is being changed, until `_finished`."""
        record = (await self._store.state(self._name)).record
        record = record or CollectionRecord(embedder=await self._agreed(), backgrounds={})
        await self._store.remember(self._name, structs.replace(record, revision=""))

    async def _finished(self) -> CollectionState:
        """The collection as it is now, with another revision where anything changed, in this run or in a broken-off one."""
        state = await self._store.state(self._name)
        record = await self._measured(state)
        if record == state.record and record.revision:
            return state
        await self._store.remember(self._name, structs.replace(record, revision=uuid4().hex))
        return await self._store.state(self._name)

    async def _measured(self, state: CollectionState) -> CollectionRecord:
        """The collection's record, its similarity background measured anew where it has changed much."""
        record = state.record or CollectionRecord(embedder=await self._agreed(), backgrounds={})
        before = record.measured_chunks
        if record.backgrounds and (not self._calibrate or before / GROWN <= state.chunks <= before * GROWN):
            return record
        shipped = shipped_backgrounds(await self._agreed())
        if state.chunks and (self._calibrate or not shipped):
            backgrounds = await measure_backgrounds(self._embedder, self._store, state)
            return structs.replace(record, backgrounds=backgrounds, measured_chunks=state.chunks)
        return structs.replace(record, backgrounds=shipped, measured_chunks=0)

    def _tell(self, part: int) -> None:
        self._progress(IngestProgress(done=self._done + part, total=self._total, embedded=self._points.embedded))

    def _report(self, state: CollectionState, files: int, gone: list[str]) -> IngestReport:
        if self._store.local and state.chunks > LOCAL_LIMIT:
            self._remarks.append(
                f"a folder serves {LOCAL_LIMIT:,} chunks well; there are {state.chunks:,}: run a Qdrant server and set store.url"
            )
        return IngestReport(
            collection=self._name,
            files=files,
            unchanged=self._unchanged,
            embedded=self._points.embedded,
            kept=self._kept,
            removed=self._points.removed,
            gone=tuple(gone),
            unread=tuple(self._unread),
            chunks=state.chunks,
            backgrounds=state.record.backgrounds if state.record else {},
            remarks=tuple(self._remarks),
        )


def _files(folder: Path) -> tuple[str, bool, list[SourceFile], list[Unread]]:
    """What begins the keys of a folder's files, whether it is a folder, its files, and those that cannot be read."""
    whole = folder.is_dir()
    place = folder.resolve()
    return f"{(place if whole else place.parent).name}/", whole, *find_files(folder)
