"""Numbers in digits and in words: their value, their writings, and where texts have them. English and French."""

import re
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from types import MappingProxyType

from areopage.text import english, french

MOST = 999_999_999
"""The largest number that is written in words."""
MOST_SPANS = 50
"""Of the same digits in some texts: later ones are not kept."""
_FARTHEST = 24  # characters that a number may have gone on before a window

_FRENCH, _FRENCH_TENS = french.ONES.split(), ["", *french.TENS.split()]
_ENGLISH, _ENGLISH_TENS = english.ONES.split(), ["", *english.TENS.split()]
_NUMBER_PARTS = " ".join([*_FRENCH, *_FRENCH_TENS, *_ENGLISH, *_ENGLISH_TENS]).replace("-", " ")
COUNT_WORDS = frozenset(f"{_NUMBER_PARTS} une vingts cent cents mille million millions hundred thousand".split())
"""The words that numbers are made of, but for "et" and "and"."""

DIGITS = re.compile("[0-9]+")
# Up to seven groups: bounded, so that a text of digits alone costs no more than its length.
_CLUSTER = re.compile(r"[0-9]{1,15}(?:[ .,'’\u00a0\u202f\u2009][0-9]{1,15}){0,6}")
_JOINED = "0123456789.,'’ \u00a0\u202f\u2009"


def decimal_of(written: str) -> Decimal:
    """The value of a number in English or French writing.

    The last `.` or `,` is its decimal mark unless exactly three digits follow it: 1.000 and 1,000 are a thousand, 0.125 is not.
    """
    if written.isdigit():
        return Decimal(written)
    digits = re.sub(r"[^0-9.,]", "", written)
    last = max(digits.rfind("."), digits.rfind(","))
    if last < 0:
        return Decimal(digits)
    whole, mark, rest = digits[:last], digits[last], digits[last + 1 :]
    grouped = len(rest) == 3 and whole not in ("", "0") and (mark in whole or not re.search("[.,]", whole)) and " " not in written
    whole = re.sub("[.,]", "", whole)
    return Decimal(whole + rest) if grouped else Decimal(f"{whole or '0'}.{rest}")


def in_words(number: int) -> tuple[str, ...]:
    """The number in French and in English, in lower case, with a space for every hyphen; nothing beyond `MOST`."""
    return tuple(words.replace("-", " ") for words in _spelled(number)) if 0 <= number <= MOST else ()


def _spelled(number: int) -> tuple[str, str]:
    return _french(number), _english(number)


def _french(number: int) -> str:
    for size, name in ((1_000_000, "million"), (1_000, "mille"), (100, "cent")):
        if number >= size:
            return _french_groups(*divmod(number, size), name)
    if number < 20:
        return _FRENCH[number]
    ten, rest = divmod(number, 10)
    if ten in (7, 9):
        rest += 10
    if not rest:
        return "quatre-vingts" if number == 80 else _FRENCH_TENS[ten]
    joined = " et " if rest in (1, 11) and ten < 8 else "-"
    return f"{_FRENCH_TENS[ten]}{joined}{_FRENCH[rest]}"


def _french_groups(many: int, rest: int, name: str) -> str:
    # One says "mille" and "cent" but "un million", and counts "deux cents" but "deux cent un" and "deux cent mille".
    counted = _french(many)
    if name == "mille" and counted.endswith(("cents", "vingts")):
        counted = counted.removesuffix("s")
    words = name if many == 1 and name != "million" else f"{counted} {name}"
    if many > 1 and (name == "million" or (name == "cent" and not rest)):
        words += "s"
    return f"{words} {_french(rest)}" if rest else words


def _english(number: int) -> str:
    for size, name in ((1_000_000, "million"), (1_000, "thousand"), (100, "hundred")):
        if number >= size:
            many, rest = divmod(number, size)
            words = f"{_english(many)} {name}"
            return f"{words} {'and ' if size == 100 else ''}{_english(rest)}" if rest else words
    if number < 20:
        return _ENGLISH[number]
    ten, rest = divmod(number, 10)
    return f"{_ENGLISH_TENS[ten]}-{_ENGLISH[rest]}" if rest else _ENGLISH_TENS[ten]


_READ = (*range(1, 13), 15, 18, 20, 24, 30, 40, 60, 90)
COUNTS: Mapping[str, int] = MappingProxyType(
    {word: number for number in _READ for word in _spelled(number) if word != "dix-huit"} | {"une": 1}
)
"""The numbers that are read in words where they count something, in lower case with their hyphens."""


def key_of(digits: str) -> str:
    """What a number is found by: its digits without the zeros at both ends; "0" for zero."""
    return "".join(DIGITS.findall(digits)).strip("0") or "0"


def around(text: str, start: int) -> int:
    """The nearest position at or before `start` at which no number and no word is cut."""
    start = max(0, start)
    lowest = max(0, start - _FARTHEST)
    while start > lowest and (text[start - 1] in _JOINED or text[start - 1].isalnum()):
        start -= 1
    return start


class DigitIndex:
    """The numbers of some texts by their digits, with any separators: "1 000,50" is found by 10005, "3 000 000" by 3.

    Each run of digits is found alone, and joined to those that follow closely.
    """

    def __init__(self, texts: Iterable[str]) -> None:
        self._spans: dict[str, list[tuple[int, int, int]]] = {}
        for number, text in enumerate(texts):
            for cluster in _CLUSTER.finditer(text):
                written = cluster.group()
                if written.isdigit():
                    self._note(written, (number, cluster.start(), cluster.end()))
                else:
                    self._add(number, written, cluster.start())

    def _add(self, number: int, cluster: str, offset: int) -> None:
        groups = [(match.group(), match.start(), match.end()) for match in DIGITS.finditer(cluster)]
        for first, (_, start, _) in enumerate(groups):
            joined = ""
            for digits, _, end in groups[first:]:
                joined += digits
                self._note(joined, (number, offset + start, offset + end))

    def _note(self, digits: str, span: tuple[int, int, int]) -> None:
        spans = self._spans.setdefault(digits.strip("0") or "0", [])
        if len(spans) < MOST_SPANS:
            spans.append(span)

    def spans(self, key: str) -> Sequence[tuple[int, int, int]]:
        """The spans of these digits: number of the text, start, end."""
        return self._spans.get(key, ())
