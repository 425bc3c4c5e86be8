"""The documents included in a judge's prompt."""

from collections.abc import Sequence

import msgspec
from msgspec import Struct

from areopage.cases.records import Document
from areopage.models.tokens import CHARACTERS_PER_TOKEN


class ContextBudget(Struct, frozen=True, kw_only=True):
    """A limit that keeps whole documents in order, as long as they fit.

    Args:
        max_tokens: for titles and texts of all documents together, estimated.
        max_chunks: at most so many documents; None: any number.
        max_chars: of each document's text, the rest is cut; None: whole texts. 3 and 200 are the specification's figures.
    """

    max_tokens: int = 12_000
    max_chunks: int | None = None
    max_chars: int | None = None


def fit_documents(documents: Sequence[Document], budget: ContextBudget) -> tuple[tuple[Document, ...], int]:
    """Select the documents included in a judge's prompt.

    They are taken up to the first that does not fit: a retriever gives the best ones first. If that is the very first one, it is
    cut to the budget, since a judge without any document could not judge at all.

    Returns:
        The documents, and how many were not shown or not whole; what `max_chars` cuts off does not count.
    """
    left = budget.max_tokens * CHARACTERS_PER_TOKEN
    shown: list[Document] = []
    for document in documents[: budget.max_chunks]:
        fitted = cut(document, budget.max_chars)
        size = len(fitted.title) + len(fitted.text)
        if size > left:
            if not shown:
                return (cut(fitted, max(int(left) - len(fitted.title), 0)),), len(documents)
            break
        shown.append(fitted)
        left -= size
    return tuple(shown), len(documents) - len(shown)


def cut(document: Document, characters: int | None) -> Document:
    """Cut a document's text to a number of characters; None: no limit."""
    if characters is None or len(document.text) <= characters:
        return document
    return msgspec.structs.replace(document, text=document.text[:characters])
