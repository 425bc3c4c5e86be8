"""Normalise what a dataset says about its audience to one of the four maturities.

Everything in a cell has to be understood, or nothing is: a wrong guess would judge a child's answer as an adult's.
"""

import math
import re
from collections.abc import Mapping
from functools import lru_cache
from importlib import resources
from typing import Any, get_args

import yaml
from msgspec import Struct, convert

from areopage.cases.records import Maturity
from areopage.cases.rows import clip
from areopage.text import unaccented

MAX_AGE = 120
_MAX_TEXT = 200

# Compatibility forms are levelled one by one: Unicode's own folding would read "1²" as 12.
_LOOKALIKES = str.maketrans({"…": "...", "ᵉ": "e", "’": "'", **dict.fromkeys("‐‑‒–—―−", "-")})
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}([t ].*)?")
# A dash between letters joins a word ("pre-teen"); one between spaces, or punctuation, only separates.
_JOINING = re.compile(r"(?<=[a-z])-(?=[a-z])|_")
_SEPARATOR = re.compile(r"[\s,;:/()\[\]\"'&]+|\.(?![0-9.])|(?<=\s)-(?=\s)")
_END = r"(?![a-z0-9])"

_NUMBER = r"([0-9]{1,3}(?:\.[0-9]+)?)(?![0-9])"
_UNIT = r"(?:[\s-]*(?:years?[\s-]olds?|years? of age|years?|yrs?|y\.?\s?/?\s?o\.?|ans?))?(?![a-z])"
_AGE = _NUMBER + _UNIT
_TO = r"(?:\s*(?:-|\.{2,3})\s*|[\s-]*\b(?:to|through|until|a|jusqu'a)\b[\s-]*)"
_BETWEEN = re.compile(rf"(?:between|entre)\s+{_AGE}\s*\b(?:and|et)\b\s*{_AGE}{_END}")
_RANGE = re.compile(rf"{_AGE}{_TO}{_AGE}{_END}")
_AND_OVER = re.compile(
    rf"{_AGE}\s*(?:(?:et\s*)?\+{_UNIT}|(?:et|ou) plus|(?:and|or) (?:over|older|above|up|more)){_END}",
)
_SINGLE = re.compile(_AGE + _END)


class _AliasTable(Struct, frozen=True, forbid_unknown_fields=True):
    words: dict[Maturity, list[str]]
    school_levels: dict[str, float]
    fillers: list[str]


class _MaturityVocabulary(Struct, frozen=True):
    """The aliases, each with the pattern that finds the longest of them first."""

    school_levels: Mapping[str, Maturity]
    words: Mapping[str, Maturity]
    school_pattern: re.Pattern[str]
    word_pattern: re.Pattern[str]
    filler_pattern: re.Pattern[str]


def normalise_maturity(value: object) -> Maturity | None:
    """Return the maturity that a cell means, None for an empty one.

    An age beats a school level, and a school level beats a word. A range takes the band of its lower end.

    Raises:
        ValueError: the cell is not understood, or names several audiences; the message says so in one line.
    """
    match value:
        case None:
            return None
        case str():
            return _read_text(value)
        case bool():
            raise ValueError(_unclear(str(value)))
        case int():
            return _band(value, repr(value))
        case float():
            return None if math.isnan(value) else _band(value, repr(value))
        case _:
            raise ValueError(_unclear(type(value).__name__))


def _read_text(text: str) -> Maturity | None:
    if len(text) > _MAX_TEXT:
        raise ValueError(_unclear(text))
    bare = unaccented(text.casefold().translate(_LOOKALIKES), compatible=False)
    folded = " ".join(_JOINING.sub(" ", bare).split())
    if not folded:
        return None
    if _DATE.fullmatch(folded):
        raise ValueError(f"maturity {clip(text, 40)!r} is a date: did a spreadsheet change an age range such as 6-8 into it?")
    for named in _scan(folded, text):
        if len(named) > 1:
            raise ValueError(f"maturity {clip(text, 40)!r} names several audiences: {', '.join(sorted(named))}")
        if named:
            return next(iter(named))
    raise ValueError(_unclear(text))


def _scan(folded: str, text: str) -> tuple[set[Maturity], set[Maturity], set[Maturity]]:
    """Consume a cell from left to right; return what its ages, its school levels and its words name."""
    vocabulary = _vocabulary()
    ages: set[Maturity] = set()
    levels: set[Maturity] = set()
    words: set[Maturity] = set()
    place = 0
    while place < len(folded):
        if match := _SEPARATOR.match(folded, place):
            pass
        elif match := vocabulary.school_pattern.match(folded, place):
            levels.add(vocabulary.school_levels[_plain(match[0])])
        elif match := _BETWEEN.match(folded, place) or _RANGE.match(folded, place):
            ages.add(_band_of_range(float(match[1]), float(match[2]), text))
        elif match := _AND_OVER.match(folded, place) or _SINGLE.match(folded, place):
            ages.add(_band(float(match[1]), text))
        elif match := vocabulary.word_pattern.match(folded, place):
            words.add(vocabulary.words[_plain(match[0])])
        elif not (match := vocabulary.filler_pattern.match(folded, place)):
            raise ValueError(_unclear(text))
        place = match.end()
    return ages, levels, words


def _band(age: float, text: str) -> Maturity:
    if not 0 < age <= MAX_AGE:
        raise ValueError(f"maturity {clip(text, 40)!r} is not an age: write a number from 1 to {MAX_AGE}")
    if age < 9:
        return "Child"
    if age < 13:
        return "Teen"
    return "YoungAdult" if age < 18 else "Emerging"


def _band_of_range(low: float, high: float, text: str) -> Maturity:
    """Take the lower end: the stricter audience. A range may begin at 0, where a lone 0 means nothing."""
    if low > high:
        raise ValueError(f"maturity {clip(text, 40)!r} is not an age range: write the lower age first")
    _band(high, text)
    return "Child" if low == 0 else _band(low, text)


@lru_cache(maxsize=1)
def _vocabulary() -> _MaturityVocabulary:
    text = resources.files("areopage.cases").joinpath("maturity_aliases.yml").read_text(encoding="utf-8")
    raw: Any = yaml.safe_load(text)
    table = convert(raw, _AliasTable)
    words = {_plain(alias): maturity for maturity, aliases in table.words.items() for alias in aliases}
    levels = {_plain(alias): _band(age, alias) for alias, age in table.school_levels.items()}
    return _MaturityVocabulary(
        school_levels=levels,
        words=words,
        school_pattern=_any_of(levels),
        word_pattern=_any_of(words),
        filler_pattern=_any_of({_plain(word): None for word in table.fillers}),
    )


def _any_of(phrases: Mapping[str, object]) -> re.Pattern[str]:
    """Match any of the phrases, the longest first, each of its words maybe in the plural."""
    longest = sorted(phrases, key=len, reverse=True)
    return re.compile("(?:" + "|".join(phrase.replace(" ", "s? ") for phrase in longest) + ")s?" + _END)


def _plain(phrase: str) -> str:
    return " ".join(word.removesuffix("s") for word in phrase.split())


def _unclear(text: str) -> str:
    return f"maturity {clip(text, 40)!r} is not understood: write {', '.join(get_args(Maturity))}, or an age"
