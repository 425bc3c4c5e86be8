"""Embeddings over the OpenAI protocol (`/embeddings`)."""

from collections.abc import Mapping, Sequence

import msgspec
import numpy as np

from areopage.errors import CallError, CallRejected, ModelError, ServerDown
from areopage.models.http import JsonServer
from areopage.models.openai import connect
from areopage.models.retry import Calls
from areopage.rag.config import RagConfig
from areopage.rag.retrieval.embedding import LONGEST_QUESTION, EmbedderIdentity, Vectors, embeddable, normalised

PROBE = "ok"
OUTAGE = 2.0  # seconds that a user waits for a server where nothing listens
# What e5 models want before a text; other models are asked with the text alone.
E5_PREFIXES = ("query: ", "passage: ")


class _Embedding(msgspec.Struct):
    embedding: list[float]
    index: int | None = None


class _Reply(msgspec.Struct):
    data: list[_Embedding]


class OpenAIEmbedder:
    """One model of one server."""

    def __init__(self, model: str, server: JsonServer, calls: Calls, batch: int) -> None:
        self._model, self._server, self._calls, self._batch = model, server, calls, batch
        self._query, self._passage = E5_PREFIXES if "e5-" in model.lower() else ("", "")
        self._dimension = 0

    async def identity(self) -> EmbedderIdentity:
        """Embed a word, the first time; see `Embedder.identity`."""
        if not self._dimension:
            await self._embed([PROBE])
        return EmbedderIdentity(provider="openai", model=self._model, dimension=self._dimension)

    async def passages(self, texts: Sequence[str]) -> Vectors:
        """Embed texts, one call per batch."""
        return await self._embed([self._passage + embeddable(text) for text in texts])

    async def questions(self, texts: Sequence[str]) -> Vectors:
        """Embed questions, one call per batch."""
        return await self._embed([self._query + embeddable(text[:LONGEST_QUESTION]) for text in texts])

    async def aclose(self) -> None:
        """Close the connections."""
        await self._server.aclose()

    async def _embed(self, texts: list[str]) -> Vectors:
        batches = [await self._call(texts[start : start + self._batch]) for start in range(0, len(texts), self._batch)]
        return np.concatenate(batches) if batches else np.zeros((0, self._dimension), dtype=np.float32)

    async def _call(self, texts: list[str]) -> Vectors:
        body = {"model": self._model, "input": texts, "encoding_format": "float"}
        try:
            reply = await self._calls.make(lambda: self._server.post("/embeddings", body, _Reply))
        except CallRejected as fault:
            raise ModelError(f"{fault}: correct embedding.model, embedding.api_key or ingestion.chunk_size") from None
        except CallError as fault:
            raise ServerDown(f"the embedding server gave no vectors: start it, or correct embedding.endpoint [{fault}]") from None
        return self._read(reply, len(texts))

    def _read(self, reply: _Reply, expected: int) -> Vectors:
        """The vectors in the order of the texts.

        Raises:
                ModelError: there are not as many as texts, not all of one dimension, or one that points nowhere.
        """
        where = f"{self._server.address}/embeddings"
        order = [item.index if item.index is not None else place for place, item in enumerate(reply.data)]
        if sorted(order) != list(range(expected)):
            raise ModelError(f"{where}: {expected} texts were sent, and {len(reply.data)} vectors came back: use another server")
        rows: list[list[float]] = [[]] * expected
        for place, item in zip(order, reply.data, strict=True):
            rows[place] = item.embedding
        dimension = self._dimension or len(rows[0])
        if not dimension or any(len(row) != dimension for row in rows):
            raise ModelError(f"{where}: the vectors of {self._model} are not all of {dimension} dimensions: use another model")
        self._dimension = dimension
        vectors = np.asarray(rows, dtype=np.float32)
        if not vectors.any(axis=1).all():
            raise ModelError(f"{where}: a vector of {self._model} is all zeros: use another model")
        return normalised(vectors)


def open_openai(config: RagConfig, environment: Mapping[str, str]) -> OpenAIEmbedder:
    """Open the embedder without calling it.

    Raises:
        ConfigError: the model or the endpoint is missing, or there is no such endpoint.
    """
    section = config.section.embedding
    if not section.model:
        raise config.fault("provider openai needs it: name the server's embedding model", "embedding", "model")
    if not section.endpoint:
        raise config.fault("provider openai needs it: name one of the endpoints", "embedding", "endpoint")
    settings = config.model_settings(environment, section.timeout, section.endpoint, "embedding", "endpoint")
    try:
        server = connect(section.endpoint, settings).server
    except ModelError as fault:
        raise config.fault(str(fault), "embedding", "endpoint") from None
    return OpenAIEmbedder(
        section.model, server, Calls(patience=section.timeout, outage=min(OUTAGE, section.timeout)), section.batch
    )
