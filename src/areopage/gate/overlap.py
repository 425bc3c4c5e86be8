"""How much of an answer stands word for word in its documents. Linear in the documents, bounded in the answer."""

import re
from collections.abc import Sequence

from msgspec import Struct

from areopage.cases.records import Document
from areopage.gate.records import Place

WINDOW = 5  # words
STEP = 6  # words from one window to the next: a copied run of ten words cannot slip through
MOST_WINDOWS = 64  # of a long answer, windows further apart are taken
MOST_PLACES = 8
LONGEST_WINDOW = 400  # characters: what is longer are no five words
BETWEEN = "\0"  # documents; no run that is looked for holds it
_WORD = re.compile(r"\w++")


class Overlap(Struct, frozen=True, kw_only=True):
    """What was found.

    Args:
        snippets: share of the documents whose first characters stand in the answer as they are: the documented figure.
        windows: share of the answer's runs of five words that a document holds; None for an answer of fewer words.
        places: the first of the runs found, in the answer and in the document by turns.
    """

    snippets: float
    windows: float | None
    places: tuple[Place, ...] = ()


def overlap_of(response: str, documents: Sequence[Document], snippet: int) -> Overlap:
    """Measure both overlaps; white space of any kind is the same.

    Args:
        snippet: so many first characters of a document are looked for.
    """
    shown = snippet_share(response, documents, snippet)
    flat = _flat(response)
    windows = _windows(flat)
    if not windows:
        return Overlap(snippets=shown, windows=None)
    held = _flat(BETWEEN.join([document.text for document in documents]))
    found = 0
    places: list[Place] = []
    for start, end in windows:
        at = held.find(flat[start:end])
        if at >= 0:
            found += 1
            if len(places) < MOST_PLACES:
                places.append(Place(start=start, end=end, text=response[start:end]))
                places.append(_place(documents, at, end - start))
    return Overlap(snippets=shown, windows=found / len(windows), places=tuple(places))


def _place(documents: Sequence[Document], at: int, length: int) -> Place:
    """The place in its own document of what stands at a position of all documents joined."""
    for document in documents:
        if at < len(document.text):
            return Place(document=document.id, start=at, end=at + length, text=document.text[at : at + length])
        at -= len(document.text) + len(BETWEEN)
    raise IndexError(at)


def snippet_share(response: str, documents: Sequence[Document], snippet: int) -> float:
    """The share of documents whose first characters stand in the answer, to the letter; 0 without documents."""
    beginnings = [document.text[:snippet] for document in documents]
    return sum(1 for beginning in beginnings if beginning and beginning in response) / len(documents) if documents else 0.0


def _flat(text: str) -> str:
    """The text with its line breaks and hard spaces as spaces: as long as before."""
    return text.replace("\n", " ").replace("\u00a0", " ").replace("\u202f", " ")


def _windows(text: str) -> list[tuple[int, int]]:
    """The runs of words that are looked for, spread over the whole answer."""
    words = list(_WORD.finditer(text))
    count = len(words) - WINDOW + 1
    if count < 1:
        return []
    step = max(STEP, -(-count // MOST_WINDOWS))
    spans = ((words[first].start(), words[first + WINDOW - 1].end()) for first in range(0, count, step))
    return [(start, end) for start, end in spans if end - start <= LONGEST_WINDOW and BETWEEN not in text[start:end]]
