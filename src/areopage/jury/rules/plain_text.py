"""A text in its plain form, in which phrases of sources are looked for."""

import re
from bisect import bisect_right

from areopage.text import plain

# A letter may be written with its accents apart (NFD).
_WORD = re.compile(r"(?:[^\W_][\u0300-\u036f]*+)++")


class PlainText:
    """A text in its plain form that keeps the positions of its words."""

    def __init__(self, text: str) -> None:
        """Make the plain form; linear in the text."""
        words: list[str] = []
        self._spans: list[tuple[int, int]] = []
        self._offsets: list[int] = []
        offset = 1
        for match in _WORD.finditer(text):
            for word in plain(match.group()).split():
                words.append(word)
                self._spans.append(match.span())
                self._offsets.append(offset)
                offset += len(word) + 1
        self._text = f" {' '.join(words)} "

    def find(self, phrase: str, start: int = 0) -> tuple[int, int] | None:
        """The span (start, end) of a phrase as whole words; None where the text has no such phrase."""
        wanted = plain(phrase)
        first = bisect_right(self._spans, (start, -1))
        if not wanted or first == len(self._spans):
            return None
        found = self._text.find(f" {wanted} ", self._offsets[first] - 1)
        if found < 0:
            return None
        begin = bisect_right(self._offsets, found + 1) - 1
        return self._spans[begin][0], self._spans[begin + wanted.count(" ")][1]

    def __contains__(self, phrase: str) -> bool:
        return self.find(phrase) is not None
