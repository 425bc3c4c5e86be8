"""Numbers in words: "deux cent cinquante", "vingt-et-une", "septante", "two hundred and fifty", "1,5 million d'"; linear.

Hyphens, spaces and no-break spaces part the words alike. A lone "un" or "one" is an article and no number; neither is an ordinal.
"""

import re
from collections.abc import Set
from decimal import Decimal

from msgspec import Struct

from areopage.text import english, french
from areopage.text.numbers import decimal_of

_BELGIAN = {"septante": 70, "huitante": 80, "octante": 80, "nonante": 90}
_ONES = ("un", "une", "one")
_HUNDRED, _THOUSAND, _MILLION = 100, 1_000, 1_000_000
_FRENCH_SCALES = {"cent": 100, "cents": 100, "mille": 1_000, "million": 10**6, "millions": 10**6, "milliard": 10**9}
_FRENCH_SCALES["milliards"] = 10**9
_ENGLISH_SCALES = {"hundred": 100, "thousand": 1_000, "million": 10**6, "billion": 10**9}
_TENS = range(20, 100, 10)


def _values(ones: str, tens: str, scales: dict[str, int]) -> dict[str, int]:
    small = {word: value for value, word in enumerate(ones.split()) if value and "-" not in word}
    large = {word: 10 * value for value, word in enumerate(tens.split(), 1) if "-" not in word}
    return large | small | scales


_FRENCH = _values(french.ONES, french.TENS, _FRENCH_SCALES) | _BELGIAN | {"une": 1, "vingts": 20, "soixante": 60}
_ENGLISH = _values(english.ONES, english.TENS, _ENGLISH_SCALES)
NUMBER_WORDS = frozenset([*_FRENCH, *_ENGLISH]) - set(_ONES)
"""The words that numbers are made of, without those that are articles as well."""
# They begin no number alone; behind digits they multiply them.
_MULTIPLYING = frozenset(["hundred", "thousand", "million", "millions", "milliard", "milliards", "billion"])
_HALVED = ("million", "millions", "milliard", "milliards", "billion")
_NO_BEGINNING = frozenset(["cents", "vingts"])

_JOIN = r"(?:-[ \n]|[ ]-|[ \u00a0\u202f\u2009\n-])"
_NEXT = re.compile(rf"(?P<gap>{_JOIN}(?P<and>(?:et|and){_JOIN})?)(?P<word>[a-z]{{2,9}})(?![^\W_])")
_ORDINAL = re.compile(
    rf"{_JOIN}(?:et{_JOIN})?(?:[a-z]{{2,9}}i[eè]mes?|(?:four|fif|six|seven|eigh|nin|ten|eleven|twelf|[a-z]{{3,5}}teen|[a-z]{{3,5}}tie)th"
    r"|(?<=-)(?:first|second|third))(?![^\W_])"
)
_DIGITS_BEFORE = re.compile(r"(?<![\w.,])(?P<digits>[0-9]{1,3}(?:[ \u00a0\u202f.,][0-9]{1,3}){0,3})[ \u00a0\u202f\u2009]\Z")
_ONE_BEFORE = re.compile(r"(?<![^\W_])(?:une?|one|an?)[ \u00a0-]\Z")
_DIGIT_BEFORE = re.compile(r"[0-9][ \u00a0\u202f]\Z")
_YEAR_AFTER = re.compile(r"\.?[ \u00a0][12][0-9]{3}(?![0-9])")
_OF = re.compile(r"[ \u00a0\u202f](?:d['’]|de |of )")
_ZERO_COMMA = re.compile(rf"(?<![^\W_])z[ée]ro{_JOIN}virgule{_JOIN}(?P<zeros>(?:z[ée]ro{_JOIN})*)\Z")
_HALF = re.compile(rf"{_JOIN}(?:et{_JOIN}demie?|and{_JOIN}a{_JOIN}half)(?![^\W_])")
_COMMA = re.compile(rf"{_JOIN}virgule{_JOIN}(?P<zeros>(?:z[ée]ro{_JOIN})*)(?P<word>[a-z]{{2,9}})(?![^\W_])")
_BEFORE = 24  # characters before a word in which the digits that it multiplies stand


class Spelled(Struct, frozen=True):
    """A number in words: where it starts and ends, its value, and where what it counts begins: after "d'", "de" and "of"."""

    start: int
    end: int
    value: Decimal
    counted: int


class _Sum(Struct):
    """A number as it grows word by word: `group` is below a thousand, `total` the rest; `last` is the word before."""

    total: int = 0
    group: int = 0
    last: int = 0

    @property
    def value(self) -> int:
        return self.total + self.group

    def scale(self, size: int) -> bool:
        """Multiply by a thousand or more, where that goes on with the number."""
        if self.total % (size * _THOUSAND) or not (self.group or size == _THOUSAND):
            return False
        self.total += max(1, self.group) * size
        self.group, self.last = 0, size
        return True

    def french(self, value: int, *, joined: bool) -> bool:
        """Take a French word into the number; false where it begins another one. `joined`: "et" stands before it."""
        rest = self.group % _HUNDRED
        if joined and not (rest in _TENS and (rest < 80 or self.last == rest) and value in (1, 11)):
            return False
        if value >= _THOUSAND:
            return self.scale(value)
        if value == _HUNDRED:
            fits = self.group < 20 and self.group != 1
            added = max(1, self.group) * _HUNDRED - self.group
        elif value == 20 and self.last == 4 and rest == 4:
            fits, added = True, 76
        elif value >= 20:
            fits, added = not rest, value
        elif value >= 10:
            fits, added = not rest or (rest in (60, 80) and self.last in (60, 20)), value
        else:
            fits = value >= 7 if self.last == 10 else not self.group % 10
            fits, added = fits and (value > 1 or self.value > 1), value
        return self._add(added, value) if fits else False

    def english(self, value: int, *, joined: bool) -> bool:
        """The same for an English word."""
        rest = self.group % _HUNDRED
        if joined and self.last < _HUNDRED:
            return False
        if value >= _THOUSAND:
            return self.scale(value)
        if value == _HUNDRED:
            return self._add(self.group * (_HUNDRED - 1), value) if 0 < self.group < _HUNDRED else False
        fits = not rest or (value < 10 and rest in _TENS)
        return self._add(value, value) if fits and (value > 1 or self.value > 1) else False

    def _add(self, added: int, value: int) -> bool:
        self.group += added
        self.last = value
        return True


def spelled_numbers(low: str, words: Set[str]) -> list[Spelled]:
    """The numbers in words of a text in lower case, in order; also those of digits and a word, "1,5 million"."""
    starts: list[tuple[int, str]] = []
    for word in words:
        length, start = len(word), low.find(word)
        while start >= 0:
            end = start + length
            if not (low[end : end + 1].isalnum() or low[start - 1 : start].isalnum()):
                starts.append((start, word))
            start = low.find(word, end)
    numbers: list[Spelled] = []
    for start, word in sorted(starts):
        end = numbers[-1].end if numbers else 0
        number = _read(low, start, word) if start >= end else None
        if number and number.start >= end:
            numbers.append(number)
    return numbers


def _read(low: str, start: int, word: str) -> Spelled | None:
    before = low[max(0, start - _BEFORE) : start]
    end = start + len(word)
    scale = _ENGLISH_SCALES.get(word) or _FRENCH_SCALES.get(word, 0)
    digits = _DIGITS_BEFORE.search(before) if scale >= _HUNDRED and word != "cents" else None
    if digits:
        value, end = _with_half(low, end, decimal_of(digits["digits"]) * scale)
        following = _OF.match(low, end) if scale >= _MILLION else None
        return Spelled(start - len(before) + digits.start(), end, value, following.end() if following else end)
    article = _ONE_BEFORE.search(before) if word in _MULTIPLYING else None
    if (word in _MULTIPLYING and not article) or word in _NO_BEGINNING or not _begins(low, start, end, word):
        return None
    french, english = (
        _chain(low, start, word, article is not None, _FRENCH),
        _chain(low, start, word, article is not None, _ENGLISH),
    )
    longest = max(filter(None, (french, english)), key=lambda pair: pair[1], default=None)
    if longest is None or _ORDINAL.match(low, longest[1]):
        return None
    value, end = _with_half(low, longest[1], Decimal(longest[0]))
    zero = _ZERO_COMMA.search(before)
    if zero:
        value = Decimal(f"0.{'0' * zero['zeros'].count('z')}{longest[0]}")
        return Spelled(start - len(before) + zero.start(), end, value, end)
    value, end = _with_decimals(low, end, value)
    following = _OF.match(low, end) if not value % (_MILLION // 2) else None
    first = start - len(before) + article.start() if article else start
    return Spelled(first, end, value, following.end() if following else end)


def _with_half(low: str, end: int, value: Decimal) -> tuple[Decimal, int]:
    """The value with half of its millions or billions more: "un million et demi"."""
    scale = next((_FRENCH_SCALES.get(word) or _ENGLISH_SCALES[word] for word in _HALVED if low.endswith(word, 0, end)), 0)
    half = _HALF.match(low, end) if scale else None
    return (value + Decimal(scale) / 2, half.end()) if half else (value, end)


def _with_decimals(low: str, end: int, value: Decimal) -> tuple[Decimal, int]:
    """The value with its decimals in words: "trois virgule zéro cinq"."""
    comma = _COMMA.match(low, end)
    if comma is None:
        return value, end
    start = comma.start("word")
    decimals = (1, comma.end()) if comma["word"] in _ONES else _chain(low, start, comma["word"], False, _FRENCH)
    if decimals is None:
        return value, end
    zeros = "0" * comma["zeros"].count("z")
    return value + Decimal(f"0.{zeros}{decimals[0]}"), decimals[1]


def _begins(low: str, start: int, end: int, word: str) -> bool:
    """Whether a word may be a number where it stands: not in "pour cent", "15 sept. 2025"."""
    if word == "cent":
        return not low[max(0, start - 6) : start].replace("\u00a0", " ").endswith(("pour ", "per "))
    if word == "sept" and _YEAR_AFTER.match(low, end):
        return False
    return not _DIGIT_BEFORE.search(low, max(0, start - 2), start)


def _chain(low: str, start: int, word: str, article: bool, values: dict[str, int]) -> tuple[int, int] | None:
    """The value of the number that begins with a word in one language, and its end; `one`: "un" or "a" stands before it."""
    if word not in values:
        return None
    number = _Sum(group=int(article))
    take = number.french if values is _FRENCH else number.english
    if not take(values[word], joined=False):
        return None
    end = start + len(word)
    while following := _NEXT.match(low, end):
        value = values.get(following["word"])
        if value is None or not take(value, joined=following["and"] is not None):
            break
        # "Un" belongs to the number before it in "vingt et un" and "vingt-un", not in "vingt un".
        linked = following["and"] is not None or following["gap"] == "-" or following["word"] == "one"
        if value == 1 and not linked and (number.group - 1) % _HUNDRED in range(20, 70):
            return number.value - 1, end
        end = following.end()
    return number.value, end
