"""Texts made comparable: lower case, no accents, no punctuation, one space between words."""

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterable, Iterator

# A letter may be written with its accents apart (NFD).
_WORD = re.compile(r"(?:[^\W_][\u0300-\u036f]*+)++")
_NO_WORD = re.compile(r"[\W_]++")
_LATIN_MARKS = re.compile("[\u0300-\u036f]")


def unaccented(text: str, *, compatible: bool = True) -> str:
    """The text without accents, its letters apart from them (NFKD).

    Args:
        compatible: whether look-alikes become what they look like, as ² becomes 2 and ﬁ becomes fi.
    """
    if text.isascii():
        return text
    letters = _LATIN_MARKS.sub("", unicodedata.normalize("NFKD" if compatible else "NFD", text))
    if any(map(unicodedata.combining, set(letters))):
        return "".join([letter for letter in letters if not unicodedata.combining(letter)])
    return letters


def plain(text: str) -> str:
    """The words of a text in lower case without accents, one space between them: "L’Été (2025)" gives "l ete 2025"."""
    letters = text.lower() if text.isascii() else unaccented(unicodedata.normalize("NFKD", text).casefold())
    return _NO_WORD.sub(" ", letters).strip()


def lower_case(text: str) -> str:
    """The text in lower case, as long as it was; what `re.IGNORECASE` takes for an i or an s is one (İ, ı, ſ)."""
    return text.replace("İ", "i").lower().replace("ſ", "s").replace("ı", "i")


def matches_at(pattern: re.Pattern[str], text: str, starts: Iterable[int]) -> Iterator[re.Match[str]]:
    """As `pattern.finditer(text)`, for one whose matches all begin at one of `starts`, which ascend."""
    end = 0
    for start in starts:
        match = pattern.match(text, start) if start >= end else None
        if match:
            end = match.end()
            yield match


def starts_of(part: str, text: str, most: int | None = None) -> Iterator[int]:
    """Where a part of a text begins, up to a number of times."""
    start = text.find(part)
    while start >= 0 and most != 0:
        yield start
        start = text.find(part, start + 1)
        most = None if most is None else most - 1


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
        """The span (start, end) of a phrase as whole words; None where the text has no such phrase.

        Args:
            phrase: any writing of it; a phrase without words is never found.
            start: the position in the text from which on it may begin.
        """
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
