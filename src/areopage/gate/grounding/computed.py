"""Figures of an answer that no document states and that follow from figures that documents do state.

| computed | from |
|---|---|
| an amount | the sum or the difference of two numbers beside it, both of which the documents have |
| an amount | so many times one that the documents give per person, child, night… |
| an amount | a number of a document whose figures are "in million euros" |
| a percentage | two numbers beside it, or "1,284 of 1,605" in a document |
| any figure | a sum, difference, product, quotient or share of a figure of the user and one that the documents have |
| a date | a date of the user and a duration that the documents have |
| a duration | the same in another unit: two days for 48 hours; 90 days for three months, by months of 30 days |
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from decimal import Decimal
from itertools import combinations, islice, permutations

from areopage.gate.grounding.figure_context import FigureReader
from areopage.gate.reading.stated import AMOUNT_CUE
from areopage.text import ABOUT, TextFigure, decimal_of, lower_case

_SMALLEST = 1_000  # of a number that may be an amount without a currency
_BESIDE = 150  # characters on each side of a figure in which the numbers that it was computed from may stand
_MOST = 12  # numbers on each side
_PIECE = re.compile(r"[0-9]{1,3}(?:[ .,'’\u00a0\u202f\u2009][0-9]{3})+(?:[.,][0-9]{1,2})?|[0-9]+(?:[.,][0-9]+)?")
_YEAR = re.compile("(?:19|20)[0-9]{2}")
_OF = re.compile(
    r"(?<![\w.,])(?P<part>[0-9][0-9 ,.'\u00a0\u202f]{0,14})(?:[ \u00a0][^\W\d_]{1,20}){0,2}[ \u00a0](?:of"
    r"|out of|sur|parmi|among|des)"
    r"(?:[ \u00a0](?:the|les|a total of|un total de))?[ \u00a0](?P<whole>[0-9][0-9 ,.'\u00a0\u202f]{0,14})"
    r"|(?<![\w.,])(?:of|sur|parmi|among)[ \u00a0](?:the "
    r"|les )?(?P<whole2>[0-9][0-9 ,.'\u00a0\u202f]{0,14})[^0-9.;:\n]{0,40}?[ \u00a0](?P<part2>[0-9][0-9 ,.'\u00a0\u202f]{0,14})",
    re.IGNORECASE,
)
_MOST_SHARES = 50  # of a document
_CURRENCIES = ("€", "$", "£")
_TIMES = re.compile(
    r"(?<![\w.,])(?P<times>[2-9]|1[0-9]|20)[ \u00a0](?:personnes?|people|persons|enfants?|children|nuits?"
    r"|nights?|adultes?|adults?|salariés?"
    r"|employees|mois|months|jours?|days|ans|years|semaines?|weeks|unités?|units|pièces?|pieces|items|séances?|sessions)(?!\w)",
    re.IGNORECASE,
)
_EACH = re.compile(
    r"[^0-9.;\n]{0,20}(?<!\w)(?:par|per|chaque|each|pour chaque|for each|a|an|/)[ \u00a0]?(?:personne"
    r"|person|head|tête|enfant|child|nuit"
    r"|night|adulte|adult|salarié|employee|mois|month|jour|day|an|année|year|semaine|week|unité|unit|pièce|piece|item|séance|session)(?!\w)",
    re.IGNORECASE,
)
_SIZES = {"thousand": 10**3, "millier": 10**3, "million": 10**6, "milliard": 10**9, "billion": 10**9}
_IN_SIZES = re.compile(rf"(?<!\w)(?:in|en)[ \u00a0](?:[€$£][ \u00a0]?)?(?P<size>{'|'.join(_SIZES)})s?(?!\w)", re.IGNORECASE)
_MOST_COUNTS = 6  # small numbers of the user that may be multiplied with each other
_MONTHS = 12
_ANY_YEAR = 2023
_DAYS_OF_YEAR = 365
_DAYS = {"day": Decimal(1), "month": Decimal(30), "minute": Decimal(1) / (24 * 60)}
# Rounding is no error where the answer says that it rounds: "environ", "plus de", "nearly".
_BEFORE_ROUNDED = 28  # characters before a figure in which the answer says that it is rounded
_ABOUT = re.compile(
    r"(?:environ|autour de|pr[èe]s d['’e]|à peu près|quelque|presque|approximativement|de l['’]ordre d['’e]"
    r"|about|around|approximately|nearly|almost|roughly|some|circa|close to|~|≈)[^.;:\n0-9]{0,8}\Z"
)
_OVER = re.compile(r"(?:plus d['’e]|au-delà d['’e]|more than|over|above)[^.;:\n0-9]{0,6}\Z")
_UNDER = re.compile(r"(?:moins d['’e]|less than|under|below|fewer than)[^.;:\n0-9]{0,6}\Z")
_GROUP = Decimal("0.2")  # of a group's number, by which those may differ that are about so many: une vingtaine
_WIDEST = Decimal("0.05")  # by which a rounded number may differ from the one that it rounds


def computed(
    stated: TextFigure, response: str, texts: Sequence[str], numbers: Callable[[], Set[Decimal]], read: FigureReader
) -> bool:
    """Whether a figure follows from figures of the documents, whose `numbers` are asked for last; all texts are `Readable`."""
    value = stated.value
    if not isinstance(value, Decimal):
        return False
    beside = response[max(0, stated.start - _BESIDE) : stated.start], response[stated.end : stated.end + _BESIDE]
    if stated.kind == "percentage":
        return _shared(value, beside, texts, numbers)
    if stated.kind == "duration":
        return any(_as_long(stated, value, duration) for text in texts for duration in read(text).of("duration"))
    terms = {amount for text in beside for amount in islice(_amounts(text), _MOST)} - {value}
    pairs = [(first, other) for first, other in combinations(terms, 2) if value in (first + other, abs(first - other))]
    if any(first in numbers() and other in numbers() for first, other in pairs):
        return True
    times = {Decimal(match["times"]) for text in beside for match in _TIMES.finditer(text)}
    for text in texts if times else ():
        for amount in read(text).of("amount"):
            each = (
                isinstance(amount.value, Decimal)
                and amount.unit == stated.unit
                and any(amount.value * by == value for by in times)
            )
            if each and _EACH.match(lower_case(text), amount.end):
                return True
    sizes = {match["size"].lower() for text in texts for match in islice(_IN_SIZES.finditer(text), _MOST)}
    return any(value / _SIZES[size] in numbers() for size in sizes)


def rounded(response: str, start: int, value: Decimal, numbers: Callable[[], Iterable[Decimal]], *, always: bool = False) -> bool:
    """Whether a number is one of those that are held, rounded as the words before it say, or as its writing says (`always`)."""
    before = lower_case(response[max(0, start - _BEFORE_ROUNDED) : start])
    about, over, under = always or _ABOUT.search(before), _OVER.search(before), _UNDER.search(before)
    if not (about or over or under or ABOUT in before) or not value:
        return False
    if before.rstrip().endswith(ABOUT):
        return any(abs(number - value) <= value * _GROUP for number in numbers())
    step = Decimal(1).scaleb(value.normalize().as_tuple().exponent)  # type: ignore[arg-type]
    return any(
        (about and abs(number - value) <= min(step / 2, abs(value) * _WIDEST))
        or (over and 0 < number - value < step)
        or (under and 0 < value - number < step)
        for number in numbers()
    )


class Sums:
    """The user's figures and those of the documents, from which others may follow."""

    def __init__(
        self,
        asked: Set[Decimal],
        counts: Set[Decimal],
        supported: Set[Decimal],
        priced: Set[Decimal],
        shares: Set[Decimal],
        spans: Set[Decimal],
    ) -> None:
        self.held, self._own, self._computed = set(supported), set(asked), set[Decimal]()
        self._small = sorted(counts)[:_MOST_COUNTS]
        products = {first * other for first, other in combinations(self._small, 2)}
        self._counts, self._priced = {*counts, *products}, priced
        self._spans = spans
        self._factors = {*self._counts, *shares, *(1 - share for share in shares)}

    def __len__(self) -> int:
        """How many follow."""
        return len(self._computed)

    def add(self, value: Decimal) -> None:
        """Note one that follows: others may follow from it."""
        self._computed.add(value)

    def follows(self, value: Decimal, *, yearly: bool) -> bool:
        """Whether a number follows from one of the user's and one that the documents have; `yearly`: so do twelfths."""
        if yearly and any(value in (number * _MONTHS, number / _MONTHS) for number in self._own):
            return True
        if any(value == count * price for count in self._counts for price in self._priced | self.held | self._computed):
            return True
        if any(value == abs(first - other) for first, other in combinations(sorted(self._own)[:_MOST_COUNTS], 2)):
            return True
        if any(value == number * price for number in self._computed for price in self._priced):
            return True
        others = self.held | self._computed
        if any(_follows(value, first, second) for first in self._own for second in others):
            return True
        return any(
            value in (first + second, abs(first - second)) for first in self._computed for second in others if first != second
        )

    def reached(self, value: Decimal) -> bool:
        """Whether a number follows by two steps, or from the user's figures alone: 2,000 and 3 times 150."""
        if not self._own and not self._small:
            return False
        amounts = self._priced | self.held | self._own | self._computed
        others = amounts | self._spans | set(self._small)
        if any(_rounds(factor * amount, value) for factor in self._factors for amount in amounts):
            return True
        if any(value - count * price in amounts for count in self._small for price in self._priced):
            return True
        if any(value in (first + second, abs(first - second)) for first in self._own | self._computed for second in others):
            return True
        if any(_rounds(number / _MONTHS, value) for number in self._own | self._computed):
            return True
        return any(
            part < whole and _rounds(amount * part / whole, value)
            for part, whole in combinations(self._small, 2)
            for amount in self._spans
            if part > 0
        )


def _follows(value: Decimal, first: Decimal, second: Decimal) -> bool:
    return bool(
        value in (first * second, first + second, abs(first - second))
        or (first and _rounds(second / first, value))
        or (second and _rounds(first / second, value))
    )


def dated(value: str, asked: Sequence[str], spans: Sequence[TextFigure], numbers: Set[Decimal]) -> bool:
    """Whether a date is one of the user's and a duration of the documents later or earlier, or a year and an age."""
    if _YEAR.fullmatch(value):
        years = {span.value / _MONTHS for span in spans if isinstance(span.value, Decimal) and span.unit == "month"} | numbers
        return any(abs(int(value) - int(day[:4])) in years for day in asked if day[:4].isdigit() and day != value)
    aim = _day(value)
    days = {int(span.value) for span in spans if isinstance(span.value, Decimal) and span.unit == "day"}
    months = {int(span.value) for span in spans if isinstance(span.value, Decimal) and span.unit == "month"}
    for written in asked if aim else ():
        start = _day(written)
        if not aim or not start:
            continue
        apart = abs(_number(aim) - _number(start))
        if apart in days or _DAYS_OF_YEAR - apart in days:
            return True
        whole = not (value.startswith("--") or written.startswith("--"))
        between = abs((aim[0] - start[0]) * _MONTHS + aim[1] - start[1])
        if abs(aim[2] - start[2]) <= 1 and any(
            between == by if whole else by % _MONTHS and (between - by) % _MONTHS in (0, -2 * by % _MONTHS) for by in months
        ):
            return True
    return False


def _day(value: str) -> tuple[int, int, int] | None:
    """Year, month and day of a date with its day; one without a year lies in a year of no importance."""
    parts = value.replace("--", f"{_ANY_YEAR}-", 1).split("-")
    return (int(parts[0]), int(parts[1]), int(parts[2])) if len(parts) > 2 and all(map(str.isdigit, parts)) else None


def _number(day: tuple[int, int, int]) -> int:
    """The days up to a day, counted from years that begin in March: leap days are their last ones."""
    year, month, date = day[0] - (day[1] < 3), (day[1] + 9) % _MONTHS, day[2]
    return 365 * year + year // 4 - year // 100 + year // 400 + (153 * month + 2) // 5 + date


def _amounts(text: str) -> Iterator[Decimal]:
    """The numbers of a text that may be sums of money: with a currency, or large and no year."""
    for match in _PIECE.finditer(text):
        value = decimal_of(match.group())
        large = value >= _SMALLEST and not _YEAR.fullmatch(match.group())
        behind = AMOUNT_CUE.search(text[match.end() : match.end() + len(" euros")].lower())
        if large or behind or text[: match.start()].rstrip().endswith(_CURRENCIES):
            yield value


def _shared(value: Decimal, beside: Sequence[str], texts: Sequence[str], numbers: Callable[[], Set[Decimal]]) -> bool:
    near = [decimal_of(match.group()) for text in beside for match in islice(_PIECE.finditer(text), _MOST)]
    pairs = [(first, other) for first, other in permutations([first for first in dict.fromkeys(near) if first >= 1], 2)]
    if any(_rounds(part / whole * 100, value) and {part, whole} <= numbers() for part, whole in pairs):
        return True
    for match in (match for text in texts for match in islice(_OF.finditer(text), _MOST_SHARES)):
        written = [match[name] or match[f"{name}2"] for name in ("part", "whole")]
        part, whole = (decimal_of(number.rstrip(" ,.'\u00a0\u202f")) for number in written)
        if whole and _rounds(part / whole * 100, value):
            return True
    return False


def _rounds(exact: Decimal, value: Decimal) -> bool:
    exponent = value.as_tuple().exponent
    return abs(exact - value) <= Decimal(1).scaleb(min(0, exponent if isinstance(exponent, int) else 0)) / 2


def _as_long(stated: TextFigure, value: Decimal, duration: TextFigure) -> bool:
    if duration.unit == stated.unit or not isinstance(duration.value, Decimal):
        return False
    apart = duration.value * _DAYS[duration.unit] - value * _DAYS[stated.unit]
    return abs(apart) < Decimal("0.001") and duration.per == stated.per and "working" not in (duration.days, stated.days)
