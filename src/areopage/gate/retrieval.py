"""What the retriever's scores say of an answer's documents."""

from collections.abc import Sequence

from msgspec import Struct

from areopage.cases.records import Document

LARGEST = 1e100  # beyond it a score is nothing that a retriever gives, and its sums are infinite


class Retrieval(Struct, frozen=True, kw_only=True):
    """`scored` is whether any document has a score; without one the figures are 0 and mean nothing."""

    scored: bool
    best: float
    avg_score: float
    confidence: float


def retrieval_of(documents: Sequence[Document], factor: float) -> Retrieval:
    """The figures over the documents that have a score; one that is no number, or beyond all bounds, counts as none.

    Args:
        factor: confidence is so many times the mean.
    """
    scores = [document.score for document in documents if document.score is not None and _is_score(document.score)]
    if not scores:
        return Retrieval(scored=False, best=0.0, avg_score=0.0, confidence=0.0)
    mean = sum(scores) / len(scores)
    return Retrieval(scored=True, best=max(scores), avg_score=mean, confidence=mean * factor)


def _is_score(score: float) -> bool:
    """Whether it can be reckoned with; what is no number compares as false."""
    return abs(score) <= LARGEST
