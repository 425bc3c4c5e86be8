"""An embedder that knows words alone: texts that share words are near, whatever they mean. Deterministic, and quick."""

import threading
from collections.abc import Sequence
from hashlib import sha256
from typing import Any

import numpy as np
from aiohttp import web

from areopage.rag.retrieval.embedding import EmbedderIdentity, Vectors, normalised
from areopage.text.stemming import stems
from servers import PATIENCE

DIMENSION = 64


class WordEmbedder:
    """Counts what it embeds."""

    def __init__(self, model: str = "words", dimension: int = DIMENSION) -> None:
        self.model, self.dimension = model, dimension
        self.embedded: list[str] = []
        self.fail_after = -1
        self.closed = False

    @property
    def name(self) -> str:
        return f"fake {self.model}"

    async def identity(self) -> EmbedderIdentity:
        return EmbedderIdentity(provider="fake", model=self.model, dimension=self.dimension)

    async def passages(self, texts: Sequence[str]) -> Vectors:
        if self.fail_after >= 0 and len(self.embedded) + len(texts) > self.fail_after:
            raise KeyboardInterrupt
        self.embedded += texts
        return vectors_of(texts, self.dimension)

    async def questions(self, texts: Sequence[str]) -> Vectors:
        return vectors_of(texts, self.dimension)

    async def aclose(self) -> None:
        self.closed = True


def vectors_of(texts: Sequence[str], dimension: int) -> Vectors:
    """A sum of one random direction for each word, and a little of one that all share."""
    rows = np.full((len(texts), dimension), 0.05, dtype=np.float32)
    for row, text in enumerate(texts):
        for word in set(stems(text)):
            seed = int.from_bytes(sha256(word.encode()).digest()[:8])
            rows[row] += np.random.default_rng(seed).normal(size=dimension).astype(np.float32)
    return normalised(rows)


class EmbeddingServer:
    """`POST /v1/embeddings`, as OpenAI speaks it; use as `with`."""

    def __init__(self, *, api_key: str = "", failures: int = 0, short: bool = False, scale: float = 3) -> None:
        self.api_key, self.failures, self.short, self.scale = api_key, failures, short, scale
        self.inputs: list[list[str]] = []
        self.url = ""

    async def _answer(self, request: web.Request) -> web.Response:
        if self.api_key and request.headers.get("Authorization") != f"Bearer {self.api_key}":
            return web.json_response({"error": {"message": "bad key"}}, status=401)
        if self.failures:
            self.failures -= 1
            return web.json_response({"error": {"message": "busy"}}, status=503, headers={"retry-after": "0.01"})
        body: dict[str, Any] = await request.json()
        self.inputs.append(body["input"])
        vectors = vectors_of(body["input"], DIMENSION) * self.scale  # not of length 1
        data = [{"index": place, "embedding": row.tolist()} for place, row in enumerate(vectors)]
        return web.json_response({"data": data[:-1] if self.short else data[::-1], "model": body["model"]})

    def __enter__(self) -> "EmbeddingServer":
        import asyncio

        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        asyncio.run_coroutine_threadsafe(self._start(), self._loop).result(PATIENCE)
        return self

    async def _start(self) -> None:
        app = web.Application()
        app.router.add_post("/v1/embeddings", self._answer)
        self._runner = web.AppRunner(app)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", 0).start()
        host, port = self._runner.addresses[0][:2]
        self.url = f"http://{host}:{port}/v1"

    def __exit__(self, *_: object) -> None:
        import asyncio

        asyncio.run_coroutine_threadsafe(self._runner.cleanup(), self._loop).result(PATIENCE)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(PATIENCE)
        self._loop.close()
