"""Texts made comparable: lower case, no accents, no punctuation, one space between words."""

import re
import unicodedata
from bisect import bisect_right

# A letter may be written with its accents apart (NFD).
_WORD = re.compile(r"(?:[^\W_][\u0300-\u036f]*+)++")
_NO_WORD = re.compile(r"[\W_]++")


def plain(text: str) -> str:
    """The words of a text in lower case without accents, one space between them: "L’Été (2025)" gives "l ete 2025"."""
    apart = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", text).casefold())
    letters = "".join(letter for letter in apart if not unicodedata.combining(letter))
    return _NO_WORD.sub(" ", letters).strip()


class PlainText:
    """A text in its plain form that still knows where its words stand."""

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
        """Where a phrase stands as whole words, as the range (start, end) in the text; None where it does not.

        Args:
            phrase: any writing of it; a phrase without words is nowhere.
            start: the position in the text from which on it may begin.
        """
        wanted = plain(phrase)
        first = bisect_right(self._spans, (start, -1))
        if not wanted or first == len(self._spans):
            return None
        place = self._text.find(f" {wanted} ", self._offsets[first] - 1)
        if place < 0:
            return None
        begin = bisect_right(self._offsets, place + 1) - 1
        return self._spans[begin][0], self._spans[begin + wanted.count(" ")][1]

    def __contains__(self, phrase: str) -> bool:
        """Whether the phrase stands there as whole words."""
        return self.find(phrase) is not None
