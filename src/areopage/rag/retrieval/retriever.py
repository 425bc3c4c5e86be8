"""Retrieval of the nearest chunks, with calibrated scores."""

import asyncio
import os
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from msgspec import structs

from areopage.cases import Document
from areopage.checking import FieldsSection, RagConfig
from areopage.errors import StorageError
from areopage.rag.retrieval.collection import LOCAL_LIMIT, CollectionState, VectorStore, at, open_store, vector_of
from areopage.rag.retrieval.embedders import open_embedder
from areopage.rag.retrieval.embedding import Embedder, EmbedderIdentity
from areopage.rag.retrieval.similarity import (
    Background,
    coverages,
    measured_background,
    other_matters,
    relevance,
    shipped_backgrounds,
)
from areopage.text import language_of

if TYPE_CHECKING:
    from qdrant_client.http.models import ScoredPoint

CANDIDATES = 30  # the nearest ones, among which words decide the order
FRESH = 30.0  # seconds for which what is known of a collection is taken as still true
SAMPLE = 300  # chunks that the background of a collection is measured on


class QdrantRetriever:
    """A `Retriever` over one store and one embedder; safe for concurrent use."""

    def __init__(
        self,
        config: RagConfig,
        store: VectorStore,
        embedder: Embedder,
        say: Callable[[str], None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._config = config
        self._store, self._embedder = store, embedder
        self._say, self._clock = say, clock
        self._known: dict[str, tuple[float, CollectionState, Mapping[str, Background]]] = {}
        self._said: set[str] = set()
        self._looking = asyncio.Lock()

    async def retrieve(self, prompt: str, collection: str, sources_filter: tuple[str, ...]) -> tuple[Document, ...]:
        """The nearest documents; see `Retriever.retrieve`. "" and () take the configuration's collection and sources."""
        section = self._config.section
        state, backgrounds = await self._look(collection or section.store.collection)
        vector = (await self._embedder.questions([prompt]))[0]
        sources = sources_filter or tuple(section.retrieval.sources)
        limit = max(CANDIDATES, section.retrieval.top_k)
        points = await self._store.nearest(state, vector.tolist(), limit, sources, section.store.fields.source)
        documents = _documents(points, section.store.fields, state.name)
        background = backgrounds.get(language_of(prompt)) or backgrounds[section.language]
        return self._ranked(prompt, documents, background)

    async def revision(self, collection: str) -> str:
        """Return a value that changes with each ingestion; see `Retriever.revision`."""
        name = collection or self._config.section.store.collection
        revision = await self._store.revision(name)
        last = self._known.get(name)
        if last is not None and last[1].record is not None and last[1].record.revision != revision:
            self._known.pop(name, None)  # its background may have been measured anew
        return revision

    async def aclose(self) -> None:
        """Close store and embedder."""
        await self._embedder.aclose()
        await self._store.aclose()

    def _ranked(self, prompt: str, documents: Sequence[Document], background: Background) -> tuple[Document, ...]:
        """The best of the candidates, with their scores."""
        settings = self._config.section.retrieval
        texts = [f"{document.title}\n{document.text}" for document in documents]
        cosines = np.array([document.score or 0.0 for document in documents])
        scores = relevance(cosines, coverages(prompt, texts), background)
        order = np.argsort(-scores, kind="stable")[: settings.top_k]
        return tuple(
            structs.replace(
                documents[place],
                score=round(float(scores[place]), 4),
                metadata={**documents[place].metadata, "similarity": round(float(cosines[place]), 4)},
            )
            for place in order
            if scores[place] >= settings.score_threshold
        )

    async def _look(self, name: str) -> tuple[CollectionState, Mapping[str, Background]]:
        """What is known of a collection; looked up again after half a minute, for another process may have filled it."""
        async with self._looking:
            last = self._known.get(name)
            if last is None or self._clock() - last[0] > FRESH:
                state = await self._store.state(name)
                identity = await agreed_identity(state, self._embedder)
                backgrounds = state.record.backgrounds if state.record else {}
                if not backgrounds:
                    backgrounds = dict(last[2]) if last else shipped_backgrounds(identity)
                if not backgrounds:
                    backgrounds = await measure_backgrounds(self._embedder, self._store, state)
                self._warn(state)
                last = self._known[name] = (self._clock(), state, backgrounds)
            return last[1], last[2]

    def _warn(self, state: CollectionState) -> None:
        """Say once what a collection lacks."""
        if state.name in self._said:
            return
        self._said.add(state.name)
        if state.record is None:
            self._say(
                f"the collection {state.name!r} does not say who embedded it: it is taken for the configured embedder, "
                "and scores rest on the similarity background that is shipped for that one"
            )
        if self._store.local and state.chunks > LOCAL_LIMIT:
            self._say(
                f"the collection {state.name!r} holds {state.chunks:,} chunks, and a folder serves {LOCAL_LIMIT:,} well: "
                "run a Qdrant server and set store.url"
            )


def open_retriever(
    config: RagConfig, say: Callable[[str], None], environment: Mapping[str, str] | None = None
) -> QdrantRetriever:
    """Open the configured retriever. A folder is opened, and created if missing; a server is not called yet."""
    variables = os.environ if environment is None else environment
    embedder = open_embedder(config, variables)
    return QdrantRetriever(config, open_store(config, variables), embedder, say)


async def agreed_identity(state: CollectionState, embedder: Embedder) -> EmbedderIdentity:
    """The identity of an embedder whose vectors are comparable with a collection's; another model is not loaded or called.

    Raises:
        StorageError: the collection's vectors are of another embedder.
    """
    refuse_another_model(state, embedder)
    identity = await embedder.identity()
    stored = state.record.embedder if state.record is not None else None
    if stored is not None and stored != identity:
        raise _of_another_embedder(state.name, stored, str(identity))
    if state.dimension != identity.dimension:
        raise StorageError(
            f"the collection {state.name!r} holds vectors of {state.dimension} dimensions, and {identity} is configured: "
            "configure the embedder that made them, or ingest into another collection"
        )
    return identity


def refuse_another_model(state: CollectionState, embedder: Embedder) -> None:
    """Refuse an embedder whose model is not that of a collection, without loading or calling it.

    Raises:
        StorageError: the collection's vectors are of another model.
    """
    stored = state.record.embedder if state.record is not None else None
    if stored is not None and stored.name != embedder.name:
        raise _of_another_embedder(state.name, stored, embedder.name)


def _of_another_embedder(collection: str, stored: EmbedderIdentity, configured: str) -> StorageError:
    return StorageError(
        f"the collection {collection!r} was embedded by {stored}, and {configured} is configured: "
        "configure that one, or ingest into another collection"
    )


async def measure_backgrounds(embedder: Embedder, store: VectorStore, state: CollectionState) -> dict[str, Background]:
    """Measure the background of a sample of a collection's passages by the question's language."""
    # drawn by their ids, which are as good as random and always the same
    points = store.each(state.name, (), vectors=True, limit=SAMPLE)
    passages = np.asarray([vector_of(point, state.vector) async for point in points], dtype=np.float32)
    return {
        language: measured_background(await embedder.questions(questions), passages)
        for language, questions in other_matters().items()
    }


def _documents(points: "Sequence[ScoredPoint]", fields: FieldsSection, name: str) -> list[Document]:
    """Points as documents with their cosine; those without a text are left out."""
    documents: list[Document] = []
    for point in points:
        payload = point.payload or {}
        text = at(payload, fields.content)
        if not isinstance(text, str) or not text.strip():
            continue
        metadata = payload.get("metadata")
        documents.append(
            Document(
                id=_written(at(payload, fields.id)) or str(point.id),
                title=_written(at(payload, fields.title)),
                text=text,
                source=_written(at(payload, fields.source)),
                score=float(point.score),
                metadata=dict(metadata) if isinstance(metadata, Mapping) else {},
            )
        )
    if points and not documents:
        names = ", ".join(sorted(points[0].payload or {})) or "nothing"
        raise StorageError(
            f"no point of the collection {name!r} holds a text under {fields.content!r}: "
            f"set store.fields.content (the first one holds {names})"
        )
    return documents


def _written(value: Any) -> str:
    return "" if value is None else str(value)
