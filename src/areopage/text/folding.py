"""Texts made comparable: lower case, no accents, no punctuation, one space between words."""

import re
import unicodedata
from collections.abc import Iterable, Iterator

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


def beginning(words: Iterable[str]) -> re.Pattern[str]:
    """An expression for where some words in lower case begin: first letters are found faster than what no letter precedes."""
    words = list(words)
    endings = "|".join(sorted({word[1:] for word in words}, key=len, reverse=True))
    return re.compile(rf"[{''.join({word[0] for word in words})}](?<![^\W\d_].)(?:{endings})s?(?![^\W\d_])")


def starts_of(part: str, text: str, most: int | None = None) -> Iterator[int]:
    """Where a part of a text begins, up to a number of times."""
    start = text.find(part)
    while start >= 0 and most != 0:
        yield start
        start = text.find(part, start + 1)
        most = None if most is None else most - 1
