"""Words made comparable: lower case, no accents, light stems for English and French alike; no words that mean nothing alone."""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from functools import lru_cache

from areopage.text.folding import unaccented
from areopage.text.lexicon import EMPTY_WORDS, LIGHT_WORDS, NEGATIONS

# A letter may be written with its accents apart (NFD); what is invisible parts no word.
WORD = re.compile(r"[\w\u0300-\u036f\u00ad\u200b-\u200d\u2060\ufeff]+")
# Characters that part words. Replacing each by a space is seven times as fast as one regular expression over the text; replacing
# all at once is faster in ASCII alone.
_PARTING = "'’.,-()[]:;\"/*«»!?“”‘…–—‑|=+<>{}&%€$£#@\\`~^°•·"
_SPACED = str.maketrans(dict.fromkeys(_PARTING, " "))
_LONGEST_WORD = 60  # characters: the rest of a longer "word" is ignored
_WRITTEN = (
    "issements issement ements ement ments ment ations ation itions ition ateurs ateur atrices atrice"
    " ingly edly ings ing ness ities ity ites ite ies ied ers er est ed ly iques ique ical ically ic"
    " euses euse eurs eur ifs if ives ive ables able ibles ible istes iste ists ist"
    " aient eront erons erait eraient ants ant ents ent ait ees ee es ez e s y aux al als elles elle el ion ions"
)
_SUFFIXES = frozenset(_WRITTEN.split())
_LONGEST_SUFFIX = max(map(len, _SUFFIXES))
_SHORTEST_STEM = 3
_LETTERS = "abcdefghijklmnopqrstuvwxyz"


@lru_cache(maxsize=65_536)
def stem(word: str) -> str:
    """The stem of a word as `WORD` finds it: "Employment" and "employs" give "employ"; "" for one that means nothing alone.

    A number loses its ending (23rd, 10mph); a single letter means nothing.
    """
    low = _plain(word)
    if low in EMPTY_WORDS or (len(low) < 2 and not low.isdigit()):
        return ""
    if low[0].isdigit():
        return low.rstrip(_LETTERS) or low
    sizes = range(min(_LONGEST_SUFFIX, len(low) - _SHORTEST_STEM), 0, -1)
    return next((low[:-size] for size in sizes if low[-size:] in _SUFFIXES), low)


def stems_of(words: Iterable[str]) -> Iterator[str]:
    """The stem of each word, "" for one that means nothing alone."""
    return map(stem, words)


@lru_cache(maxsize=8_192)
def is_light(word: str) -> bool:
    """Whether a word carries little meaning."""
    return _plain(word) in LIGHT_WORDS


def denies(low: str) -> bool:
    """Whether a text, in lower case and with straight apostrophes, denies anything."""
    words = low.replace(".", " ").replace(",", " ").replace(";", " ").split()
    return not NEGATIONS.isdisjoint(words) or "n't" in low


def parted(text: str) -> str:
    """The text with a space for every character that parts words: as long as the text, to be cut by `split`."""
    if text.isascii():
        return text.translate(_SPACED)
    for mark in _PARTING:
        text = text.replace(mark, " ")
    return text


def _plain(word: str) -> str:
    low = word[:_LONGEST_WORD].lower()
    if not low.isalnum():
        low = "".join([mark for mark in low if mark.isalnum() or unicodedata.combining(mark)])
    return low if low.isascii() else unaccented(low).replace("œ", "oe").replace("æ", "ae")


def stems(text: str) -> list[str]:
    """The stems of a text in order, without the words that mean nothing alone."""
    return list(filter(None, stems_of(parted(text).split())))
