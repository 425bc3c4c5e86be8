"""Cut a text into sentences, in English and French, in time linear in its length.

A line is cut first: blank lines, list markers, headings and a line that starts anew end a sentence even without a full stop;
a line that goes on in lower case (or after a comma) is the same sentence, wrapped. Then each block is cut at `. ! ? …`:

- `!` and `?` end a sentence unless a closing quote and then a word in lower case follow (« Viens ! » dit-il).
- `...` and `…` end one unless a word in lower case follows.
- `.` ends one unless it belongs to a title or an abbreviation, to initials (J. K. Rowling), to a dotted acronym (U.S.),
  or a word in lower case follows something that looks like an abbreviation (one letter, no vowel).
- Nothing ends one inside a run of characters without white space: 3.14, example.org, e.g.
"""

import re
from collections.abc import Iterator

from msgspec import Struct

from areopage.text.lexicon import LANGUAGES


class Span(Struct, frozen=True):
    """A piece of a text: `text` is exactly `source[start:end]`, without white space at its ends."""

    text: str
    start: int
    end: int


# A match never looks beyond what it consumes: a look-ahead here would make a long run of dots quadratic.
_STOP = re.compile(r"[.!?…]++(?:[\"'”’»)\]*_]|[ \u00a0\u202f]»)*+")
_LINE = re.compile(r"[^\n\r\v\f\x85\u2028\u2029]++")
_MARKER = re.compile(r"\s*+(?:(?:[-*+•·–—‣▪◦●►>#]{1,6}|\d{1,3}[.)])\s++){1,3}")
_CLOSERS = "\"'”’»)]*_"
_OPENERS = "\"'“‘«([*_ \t\u00a0\u202f\n\r"
_LOOK_BACK = 24  # characters: longer than any abbreviation

# By language: what never ends a sentence; titles; what does not end one before a number, or before lower case.
_NEVER, _TITLES, _BEFORE_NUMBERS, _OPEN_ENDED = (
    {name: frozenset(getattr(language, words).split()) for name, language in LANGUAGES.items()}
    for words in ("UNENDING", "TITLES", "BEFORE_NUMBERS", "OPEN_ENDED")
)
_VOWELS = frozenset("aeiouyàâäéèêëîïôöùûüœæ")


def sentences(text: str, language: str) -> tuple[Span, ...]:
    """Cut a text into its sentences, in order and without overlap.

    Args:
        text: any text; Markdown lists, headings and quotes are understood, list markers belong to no sentence.
        language: "en" or "fr" (a region may follow, as in "fr-CA"); others use the English abbreviations.

    Returns:
        Spans that each hold at least one letter or digit. No letter of the text is outside of them.
    """
    tongue = "fr" if language.lower().startswith("fr") else "en"
    return tuple(
        span for start, end in _blocks(text) for span in _cut(text, start, end, tongue) if any(map(str.isalnum, span.text))
    )


def _blocks(text: str) -> Iterator[tuple[int, int]]:
    start = end = -1
    for line in _LINE.finditer(text):
        marker = _MARKER.match(text, line.start(), line.end())
        first = marker.end() if marker else line.start()
        body = text[first : line.end()].strip()
        if not body:
            continue
        # A line goes on with the block before it, as text that was wrapped does.
        wrapped = len(text[end : line.start()].replace("\r\n", "\n")) == 1 and (
            body.lstrip(_OPENERS)[:1].islower() or text[max(start, end - _LOOK_BACK) : end].rstrip().endswith((",", ";"))
        )
        if start >= 0 and (marker or not wrapped):
            yield start, end
            start = -1
        start, end = (first if start < 0 else start), line.end()
    if start >= 0:
        yield start, end


def _cut(text: str, start: int, end: int, language: str) -> Iterator[Span]:
    begin = start
    for stop in _STOP.finditer(text, start, end):
        if stop.end() < end and text[stop.end()].isspace() and _ends(text, begin, stop, end, language):
            yield _span(text, begin, stop.end())
            begin = stop.end()
    yield _span(text, begin, end)


def _span(text: str, start: int, end: int) -> Span:
    piece = text[start:end]
    body = piece.strip()
    first = start + len(piece) - len(piece.lstrip())
    return Span(body, first, first + len(body))


def _ends(text: str, begin: int, stop: re.Match[str], end: int, language: str) -> bool:
    behind = text[stop.end() : min(end, stop.end() + 200)]
    following = next((sign for sign in behind if sign not in _OPENERS and not sign.isspace()), "")
    mark = stop.group().rstrip(_CLOSERS + " \u00a0\u202f")
    closed = len(mark) < len(stop.group())
    if "!" in mark or "?" in mark:
        return not (closed and following.islower())
    if mark != "." or closed:
        return not following.islower()
    return _full_stop_ends(text[max(begin, stop.start() - _LOOK_BACK) : stop.start()], following, language)


def _full_stop_ends(before: str, following: str, language: str) -> bool:
    pieces = before.split()
    token = pieces[-1].lstrip("\"'“‘«([*_") if pieces and not before[-1].isspace() else ""
    # Elisions hide an abbreviation: l'art. 5, d'apr. J.-C.
    token = token.replace("’", "'").rpartition("'")[2]
    low = token.lower()
    if low in _NEVER[language] or (low in _TITLES[language] and token[0].isupper()):
        return False
    if low in _BEFORE_NUMBERS[language] and following.isdigit():
        return False
    if low in _OPEN_ENDED[language]:
        return not following.islower()
    if len(token) == 1 and token.isupper():
        named = len(pieces) < 2 or pieces[-2][:1].isupper()
        return not (named and following.isupper()) and not following.islower()
    if "." in token:
        capitals = all(len(part) == 1 and part.isupper() for part in token.split("."))  # such as U.S
        return not following.islower() and not capitals
    if following.islower():
        return len(token) > 1 and (not _VOWELS.isdisjoint(low) or token.isdigit())
    return True
