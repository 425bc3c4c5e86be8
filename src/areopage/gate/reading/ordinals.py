"""Ordinals and Roman numerals: 19e siècle, XIXe, nineteenth century, 3e étage, Louis XIV, chapitre XII; linear.

A lone ordinal in words ("premier", "second") is one only where `loose`: it seldom names anything exactly.
"""

import re
from collections.abc import Iterator, Mapping
from types import MappingProxyType

from msgspec import Struct

from areopage.text import beginning, lower_case, matches_at, stem

_FRENCH = (
    "premier/première/1er/1re deuxième/second/seconde troisième quatrième cinquième sixième septième"
    " huitième neuvième dixième onzième douzième"
    " treizième quatorzième quinzième seizième dix-septième dix-huitième dix-neuvième vingtième vingt-et-unième/vingt-unième"
    " vingt-deuxième vingt-troisième vingt-quatrième vingt-cinquième vingt-sixième vingt-septième vingt-huitième vingt-neuvième"
    " trentième trente-et-unième"
)
_ENGLISH = (
    "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth fifteenth sixteenth"
    " seventeenth eighteenth nineteenth twentieth twenty-first twenty-second twenty-third twenty-fourth twenty-fifth twenty-sixth"
    " twenty-seventh twenty-eighth twenty-ninth thirtieth thirty-first"
)
_TENS = (
    "quarantième fortieth/cinquantième fiftieth/soixantième sixtieth/soixante-dixième septantième seventieth"
    "/quatre-vingtième eightieth/quatre-vingt-dixième nonantième ninetieth/centième hundredth"
)
_WORDS: Mapping[str, int] = MappingProxyType(
    {form: 10 * ten for ten, forms in enumerate(_TENS.split("/"), 4) for form in forms.split()}
    | {
        form: number
        for language in (_FRENCH, _ENGLISH)
        for number, forms in enumerate(language.split(), 1)
        for form in forms.split("/")
    }
)
_NOUNS: Mapping[str, str] = MappingProxyType(
    dict.fromkeys(("siècle", "siècles", "s", "century", "centuries"), "century")
    | dict.fromkeys(("étage", "étages", "floor", "floors", "storey", "story"), "floor")
    | dict.fromkeys(("arrondissement", "arrondissements", "district"), "district")
    | dict.fromkeys(("chapitre", "chapter"), "chapter")
    | dict.fromkeys(("édition", "edition"), "edition")
    | dict.fromkeys(("anniversaire", "anniversary"), "anniversary")
    | dict.fromkeys(("trimestre", "trimestres", "trim", "quarter", "quarters"), "quarter")
    | dict.fromkeys(("quinzaine", "quinzaines"), "fortnight")
    | dict.fromkeys(("semestre", "semestres", "semester", "semesters"), "half-year")
)
"""What an ordinal in words stands before, in one word for both languages."""
_ROMAN = r"(?:[IVX]{1,7}|(?=[IVXLCDM]{2,8}(?![A-Z]))[IVXLCDM]{2,8})"
_SUFFIX = r"(?:(?P<first>ers?|[èe]res?)|ᵉ|ᵗʰ|e|i?[èeé]mes?|nde?s?|st|rd|th)"
# Where a number or a numeral begins, and a numeral behind a word: these are found faster than the expressions that follow.
_BEGINS = re.compile(r"[0-9IVXLCDM](?<![\w.,/'’-].)")
_CARDINAL_BEGINS = re.compile(r"[IVXL](?<=[\w-][ \u00a0].)")
_NUMBERED = re.compile(
    rf"(?<![\w.,/'’-])(?:(?P<digits>[0-9]{{1,3}})[ \u00a0]?(?P<raised>°)?(?<=[0-9])|(?P<roman>{_ROMAN})){_SUFFIX}(?!\w)"
)
_SPELLED = re.compile(
    rf"(?<![\w-])(?P<word>{'|'.join(sorted((word.replace('-', '[- ]') for word in _WORDS), key=len, reverse=True))})s?(?![\w-])",
    re.IGNORECASE,
)
_SPELLED_BEGINS = beginning(re.split("[ -]", word)[0] for word in _WORDS)
_BEFORE_NOUN = re.compile(rf"[ \u00a0-](?:{'|'.join(_NOUNS)})(?![^\W\d_])")
_NEXT = re.compile(r"[ \u00a0-](?P<noun>[^\W\d_]{1,24})")
# After a name or a part of a text: Louis XIV, chapitre XII, World War II.
_CARDINAL = re.compile(r"(?P<roman>(?:XL|L)?[IVX]{1,6})(?![\w'’-]|\.[A-Z])")
_BEFORE = re.compile(r"(?P<word>[^\W\d_][\w-]{1,24})[ \u00a0]\Z")
_PART_WORDS = (
    "tome volume chapitre chapter acte act annexe appendix titre title livre book partie part section "
    "article phase type niveau level classe class grade scène scene étape stage"
)
_PARTS = frozenset(_PART_WORDS.split())
_VALUES = {"I": 1, "V": 5, "X": 10, "L": 50, "C": 100, "D": 500, "M": 1000}


class Ordinal(Struct, frozen=True):
    """`noun` is what is numbered, made comparable; "" where it is not said. `cardinal`: it stands behind its noun."""

    value: int
    noun: str
    start: int
    end: int
    cardinal: bool = False


def roman_value(written: str) -> int:
    """The value of a Roman numeral; 0 for letters that are none."""
    total = 0
    for sign, following in zip(written, [*written[1:], ""], strict=True):
        value = _VALUES.get(sign, 0)
        total += -value if value < _VALUES.get(following, 0) else value
    return total if roman(total) == written else 0


def roman(value: int) -> str:
    """The Roman numeral of a value; "" for 0."""
    sizes = (1000, 900, 500, 400, 100, 90, 50, 40, 10, 9, 5, 4, 1)
    signs = ("M", "CM", "D", "CD", "C", "XC", "L", "XL", "X", "IX", "V", "IV", "I")
    numeral = ""
    for size, sign in zip(sizes, signs, strict=True):
        numeral += sign * (value // size)
        value %= size
    return numeral


def ordinals(text: str, *, loose: bool = False) -> Iterator[Ordinal]:
    """The ordinals of a text; `loose` ones are in words and stand before any noun."""
    for match in matches_at(_NUMBERED, text, [begin.start() for begin in _BEGINS.finditer(text)]):
        value = int(match["digits"]) if match["digits"] else roman_value(match["roman"])
        if value and (value == 1 or not match["first"]):  # "vers" is no fifth
            yield Ordinal(value, _noun_after(text, match.end()), *match.span())
    low = lower_case(text)
    words = _SPELLED_BEGINS.finditer(low) if loose or _BEFORE_NOUN.search(low) else ()
    for match in matches_at(_SPELLED, text, [begin.start() for begin in words]):
        following = _NEXT.match(text, match.end())
        if loose or (following and following["noun"].lower() in _NOUNS):
            value = _WORDS[match["word"].lower().replace(" ", "-")]
            yield Ordinal(value, _noun_after(text, match.end()), *match.span())
    yield from cardinals(text)


def cardinals(text: str) -> Iterator[Ordinal]:
    """The Roman numerals of a text that stand behind what they number."""
    for match in matches_at(_CARDINAL, text, [begin.start() for begin in _CARDINAL_BEGINS.finditer(text)]):
        before = _BEFORE.search(text, max(0, match.start() - 26), match.start())
        value = roman_value(match["roman"])
        if before is None or not value:
            continue
        named = before["word"][0].isupper() and match["roman"] != "I" and not before["word"].isupper()
        if named or before["word"].lower() in _PARTS:
            yield Ordinal(value, _comparable(before["word"]), *match.span(), cardinal=True)


def _noun_after(text: str, end: int) -> str:
    following = _NEXT.match(text, end)
    return _comparable(following["noun"]) if following else ""


def _comparable(noun: str) -> str:
    return _NOUNS.get(noun.lower()) or stem(noun)
