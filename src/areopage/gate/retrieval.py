"""What the retriever's scores say of an answer's documents."""

import math
from collections.abc import Sequence

from msgspec import Struct

from areopage.cases.records import Document


class Retrieval(Struct, frozen=True, kw_only=True):
    """`scored` is whether any document has a score; without one the figures are 0 and mean nothing."""

    scored: bool
    best: float
    avg_score: float
    confidence: float


def retrieval_of(documents: Sequence[Document], factor: float) -> Retrieval:
    """The figures over the documents that have a score; one that is no number counts as none.

    Args:
        factor: confidence is so many times the mean.
    """
    scores = [document.score for document in documents if document.score is not None and math.isfinite(document.score)]
    if not scores:
        return Retrieval(scored=False, best=0.0, avg_score=0.0, confidence=0.0)
    mean = sum(scores) / len(scores)
    return Retrieval(scored=True, best=max(scores), avg_score=mean, confidence=mean * factor)
