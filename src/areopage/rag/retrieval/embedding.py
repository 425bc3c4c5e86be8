"""The embedder interface."""

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

Vectors = NDArray[np.float32]

LONGEST_QUESTION = 2_000  # characters: what follows adds nothing to a question's vector but time


class EmbedderIdentity(Struct, frozen=True, kw_only=True):
    """The embedder of a collection's vectors; other embedders' vectors are not comparable."""

    provider: str
    model: str
    dimension: int

    @property
    def name(self) -> str:
        """The provider and the model."""
        return f"{self.provider} {self.model}"

    def __str__(self) -> str:
        return f"{self.name} ({self.dimension} dimensions)"


class Embedder(Protocol):
    """Turns texts into vectors of length 1. Safe for concurrent use; it never blocks the event loop."""

    @property
    def name(self) -> str:
        """The provider and the model, as `EmbedderIdentity.name`; known before anything is loaded or called."""

    async def identity(self) -> EmbedderIdentity:
        """Return the embedder's identity."""

    async def passages(self, texts: Sequence[str]) -> Vectors:
        """Embed passages, one row per text."""

    async def questions(self, texts: Sequence[str]) -> Vectors:
        """Embed questions, one row each; raises the same errors as `passages`."""

    async def aclose(self) -> None:
        """Close connections."""


def embeddable(text: str) -> str:
    """Make a text embeddable: without NUL and lone surrogates."""
    return text.replace("\0", " ").encode("utf-8", "replace").decode("utf-8") or " "


def normalised(vectors: Vectors) -> Vectors:
    """Scale every row to length 1; rows of zeros are kept."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors / np.where(lengths > 0, lengths, 1), dtype=np.float32)
