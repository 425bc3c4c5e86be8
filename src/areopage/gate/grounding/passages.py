"""The passages of documents that concern some sentences, within a number of characters."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from areopage.cases import Document
from areopage.text import stems

_PIECE = 500  # characters of a passage
_END = re.compile(r"(?<=[.!?;:])\s+|\n+")
_GAP = " […] "


def passages_for(sentences: Sequence[str], documents: Sequence[Document], most: int) -> tuple[Document, ...]:
    """The documents reduced to the passages that share the rarest words with each sentence; all of them where they are short.

    Where no passage shares a word with a sentence, the first ones are left.

    Args:
        most: characters of all texts together; at least one passage is left.
    """
    if sum(len(document.text) for document in documents) <= most:
        return tuple(documents)
    pieces = [(at, text) for at, document in enumerate(documents) for text in _pieces(document.text)]
    words = [frozenset(stems(text)) for _, text in pieces]
    spread = Counter(word for own in words for word in own)
    chosen: set[int] = set()
    left = most
    rankings = [_ranked(frozenset(stems(sentence)), words, spread) for sentence in sentences]
    if not any(rankings):
        rankings = [list(range(len(pieces)))]
    for place in range(max(map(len, rankings), default=0)):
        for ranking in rankings:
            number = ranking[place] if place < len(ranking) else -1
            if number < 0 or number in chosen or (chosen and len(pieces[number][1]) > left):
                continue
            chosen.add(number)
            left -= len(pieces[number][1]) + len(_GAP)
    return tuple(
        replace(document, text=_joined([number for number in sorted(chosen) if pieces[number][0] == at], pieces))
        for at, document in enumerate(documents)
        if any(pieces[number][0] == at for number in chosen)
    )


def _pieces(text: str) -> Iterator[str]:
    piece = ""
    for part in _END.split(text):
        for start in range(0, len(part), _PIECE):
            cut = part[start : start + _PIECE]
            if piece and len(piece) + len(cut) >= _PIECE:
                yield piece
                piece = ""
            piece = f"{piece} {cut}".strip()
    if piece:
        yield piece


def _ranked(sentence: frozenset[str], words: Sequence[frozenset[str]], spread: Counter[str]) -> list[int]:
    scores = [(sum(1 / spread[word] for word in sentence & own), -number) for number, own in enumerate(words)]
    return [-number for score, number in sorted(scores, reverse=True) if score > 0]


def _joined(numbers: Sequence[int], pieces: Sequence[tuple[int, str]]) -> str:
    """Pieces in order; where others stand between two of them, a mark says so."""
    text = ""
    for place, number in enumerate(numbers):
        mark = "" if not place else " " if numbers[place - 1] == number - 1 else _GAP
        text += mark + pieces[number][1]
    return text
