"""Figures of a text with their unit, comparable across writings: "1 000,50 €" is "€1,000.50"; English and French; linear.

| kind | found | value | unit |
|---|---|---|---|
| percentage | 12 %, 12,5 pour cent, 12 per cent | Decimal | `%` |
| amount | 1 000,50 €, $1,000.00, 3 millions d'euros, 12 k€ | Decimal | `EUR`, `USD`, `GBP`, `CHF` |
| duration | 30 jours ouvrables, 2,5 jours par mois, three months | Decimal | `day`, `month`, `minute` |
| date | 15 janvier 2025, 15/01/2025, January 15, 2025, mars 2024, 2025 | ISO 8601: YYYY-MM-DD, YYYY-MM or YYYY | "" |

Weeks, years and hours are converted to days, months and minutes. The last `.` or `,` of a number is its decimal mark unless
exactly three digits follow it (1.000 and 1,000 are a thousand, 0.125 is not). 01/02/2025 is the first of February; the day and
the month change places only where that alone gives a date.
A bare number has no unit and is no figure, except a year from 1900 to 2099.
"""

import re
from collections.abc import Iterator, Set
from decimal import Decimal
from functools import cached_property
from typing import Literal

from msgspec import Struct

from areopage.evidence.reading import lower_case, matches_at

FigureKind = Literal["percentage", "amount", "duration", "date"]


class Figure(Struct, frozen=True, kw_only=True):
    """A figure: `text` is exactly `source[start:end]`; `value` and `unit` are told in the module's docstring.

    `days` says which days a duration counts: `working` (ouvrables), `business` (ouvrés), `calendar`, or "" where it is not said.
    `per` is the unit of time of a rate (2,5 jours par mois: `month`), "" for a total.
    """

    kind: FigureKind
    value: Decimal | str
    unit: str = ""
    days: str = ""
    per: str = ""
    text: str
    start: int
    end: int


# Every quantifier is bounded or possessive: a hostile text costs no more than its length. All are in lower case, as `_Read` is.
_S = r"[ \t\u00a0\u202f\u2009]"
_NUMBER = (
    r"(?>(?<![\w.,])(?:[0-9]{1,3}(?:[ \u00a0\u202f\u2009'’][0-9]{3}(?![0-9])){1,5}|[0-9]{1,15}(?![0-9]))"
    r"(?:[.,][0-9]{1,12}(?![0-9])){0,6})"
)
_TO = rf"{_S}{{0,2}}(?:à|et|ou|to|and|or|-|–){_S}{{0,2}}"
_SYMBOLS = {"€": "EUR", "$": "USD", "£": "GBP"}
_CURRENCY = r"(?:[€$£]|(?:euros?|eur|us dollars?|dollars?|usd|pounds?(?: sterling)?|livres? sterling|gbp|francs? suisses?|chf)\b)"
_MULTIPLES = {"k": 10**3, "thousand": 10**3, "mille": 10**3, "m": 10**6, "million": 10**6, "md": 10**9, "milliard": 10**9}
_MULTIPLES["billion"] = 10**9
_COUNTS = {"un": 1, "une": 1, "one": 1, "deux": 2, "two": 2, "trois": 3, "three": 3, "quatre": 4, "four": 4, "cinq": 5, "five": 5}
_COUNTS |= {"six": 6, "sept": 7, "seven": 7, "huit": 8, "eight": 8, "neuf": 9, "nine": 9, "dix": 10, "ten": 10, "onze": 11}
_COUNTS |= {"eleven": 11, "douze": 12, "twelve": 12, "quinze": 15, "fifteen": 15, "eighteen": 18, "vingt": 20, "twenty": 20}
_COUNTS |= {"vingt-quatre": 24, "twenty-four": 24, "trente": 30, "thirty": 30, "quarante": 40, "forty": 40, "soixante": 60}
_COUNTS |= {"sixty": 60, "quatre-vingt-dix": 90, "ninety": 90}
_UNITS = {
    **dict.fromkeys(["jour", "day"], ("day", 1)),
    **dict.fromkeys(["semaine", "week"], ("day", 7)),
    **dict.fromkeys(["mois", "month"], ("month", 1)),
    **dict.fromkeys(["trimestre", "quarter"], ("month", 3)),
    **dict.fromkeys(["an", "annee", "year"], ("month", 12)),
    **dict.fromkeys(["minute", "min"], ("minute", 1)),
    **dict.fromkeys(["heure", "hour", "h"], ("minute", 60)),
}
_UNIT = (
    r"(?:(?:jours?|days?|semaines?|weeks?|mois|months?|trimestres?|quarters?|ann[ée]es?|ans?|years?|minutes?|min|heures?|hours?)\b"
    r"|h(?:\b|(?=[0-5][0-9](?![0-9]))))"
)
_DAY_KINDS = {"ouvrable": "working", "working": "working", "ouvre": "business", "business": "business"}
_DAY_KINDS |= {"calendaire": "calendar", "calendar": "calendar", "franc": "calendar", "clear": "calendar"}
_PER = dict.fromkeys(["jour", "day"], "day") | dict.fromkeys(["semaine", "week"], "week")
_PER |= dict.fromkeys(["mois", "month"], "month") | dict.fromkeys(["an", "annee", "year"], "year")
_PER |= dict.fromkeys(["heure", "hour", "h"], "hour") | dict.fromkeys(["trimestre", "quarter"], "quarter")
_MONTHS = {
    name: number
    for names in (
        "janvier fevrier mars avril mai juin juillet aout septembre octobre novembre decembre",
        "january february march april may june july august september october november december",
        "jan feb mar apr may jun jul aug sep oct nov dec",
        "janv fevr mars avr mai juin juil aout sept oct nov dec",
    )
    for number, name in enumerate(names.split(), 1)
}
_MONTH = (
    r"(?:janvier|january|janv|jan|f[ée]vrier|february|f[ée]vr|feb|mars|march|mar|avril|april|avr|apr|mai|may|juin|june|jun"
    r"|juillet|july|juil|jul|ao[ûu]t|august|aug|septembre|september|sept|sep|octobre|october|oct|novembre|november|nov"
    r"|d[ée]cembre|december|dec)\b\.?"
)
_YEAR = r"(?:19|20)[0-9]{2}(?![0-9])"

_PERCENTAGE = re.compile(
    rf"(?P<number>{_NUMBER})(?:(?:{_S}{{0,2}}%)?{_TO}(?P<high>{_NUMBER}))?"
    rf"{_S}{{0,2}}(?:%|(?:pour{_S}cent|pourcents?|per{_S}?cent(?:age)?)\b)"
)
_AMOUNT = re.compile(
    rf"(?P<before>[€$£]){_S}?(?P<first>{_NUMBER}|[0-9]{{1,3}}(?:[.,][0-9]{{1,3}}){{0,5}})(?:{_S}?(?P<more>k|million|billion|m)s?\b)?"
    rf"|(?P<number>{_NUMBER}){_S}{{0,2}}(?:(?P<times>k|md|m|thousand|mille|millions?|milliards?|billions?){_S}?(?:d['’]|of{_S})?)?"
    rf"(?P<after>{_CURRENCY})"
)
_WORDS = "|".join(sorted(_COUNTS, key=len, reverse=True))
_DURATION = re.compile(
    rf"(?:(?P<number>{_NUMBER})(?:{_TO}(?P<high>{_NUMBER}))?(?:{_S}{{0,2}}|-)|(?<![\w-])(?P<word>{_WORDS})(?:{_S}{{1,2}}|-))"
    rf"(?:\([0-9]{{1,3}}\){_S})?(?:(?P<kind>working|business|calendar|clear){_S}{{1,2}})?(?P<unit>{_UNIT})"
    rf"(?:(?<=[0-9 \u00a0\u202f]h){_S}?(?P<past>[0-5][0-9])(?![0-9]))?"
    rf"(?:{_S}{{1,2}}(?P<after>ouvrables?|ouvr[ée]s?|calendaires?|francs?)\b)?"
    rf"(?:(?:{_S}(?:de|of){_S}\w{{1,20}}(?:{_S}\w{{1,20}})?)?(?:{_S}{{0,2}}/{_S}{{0,2}}|{_S}{{1,2}}(?:par|per|a|an|each|chaque){_S}{{1,2}})"
    rf"(?P<per>{_UNIT}))?"
)
_DATE = re.compile(
    rf"(?<![\w/.,-])(?:(?P<y>{_YEAR})-(?P<m>[0-9]{{2}})-(?P<d>[0-9]{{2}})(?![\w-])"
    rf"|(?P<d2>[0-9]{{1,2}})(?:er)?(?P<mark>[/.-])(?P<m2>[0-9]{{1,2}})(?P=mark)(?P<y2>{_YEAR})(?![\w/-])"
    rf"|(?:(?P<d3>[0-9]{{1,2}})(?:{_S}?er|st|nd|rd|th)?{_S}{{1,9}}(?:of{_S})?)?(?P<m3>{_MONTH}),?{_S}{{1,2}}(?P<y3>{_YEAR})"
    rf"|(?P<m4>{_MONTH}){_S}{{1,2}}(?P<d4>[0-9]{{1,2}})(?:st|nd|rd|th)?,?{_S}{{1,2}}(?P<y4>{_YEAR})"
    rf"|(?P<y5>{_YEAR})(?![\w/%€$£-]|[.,][0-9]))"
)


_NUMBERS = re.compile("[0-9]+")
_WORDS_AND_SIGNS = re.compile("[a-zà-öø-ÿ]+|[€$£]")
_SIGNS = frozenset(_SYMBOLS)
_MONTH_WORDS = frozenset([*_MONTHS, "février", "févr", "août", "décembre"])


class _Read:
    """A text as it is read: `low` is in lower case and as long as the text.

    The expressions for figures are only tried where numbers and some words begin (`starts`): that is faster than everywhere.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.low = lower_case(text)
        self.numbers = [match.start() for match in _NUMBERS.finditer(self.low)]

    @cached_property
    def _words(self) -> list[tuple[str, int]]:
        return [(match.group(), match.start()) for match in _WORDS_AND_SIGNS.finditer(self.low)]

    def starts(self, words: Set[str]) -> list[int]:
        """Where a number or one of some words, or signs, begins."""
        found = [start for word, start in self._words if word in words]
        return sorted([*self.numbers, *found]) if found else self.numbers

    def figure(
        self, kind: FigureKind, match: re.Match[str], value: Decimal | str, unit: str = "", days: str = "", per: str = ""
    ) -> Figure:
        """A figure over a whole match."""
        start, end = match.span()
        return Figure(kind=kind, value=value, unit=unit, days=days, per=per, text=self.text[start:end], start=start, end=end)


def figures(text: str, kind: FigureKind | None = None) -> tuple[Figure, ...]:
    """All figures of a text in order; only the two ends of a range (3 à 6 mois) share a span.

    Args:
        kind: only those of a kind, which is faster; nothing else is looked for then, but for dates.
    """
    read = _Read(text)
    if kind is not None and kind != "date":
        return tuple({"percentage": _percentages, "amount": _amounts, "duration": _durations}[kind](read))
    found: list[Figure] = []
    taken: set[int] = set()
    # A date is tried last: the 2000 of "2000 €" is no year.
    for finder in (_percentages, _amounts, _durations, _dates):
        fresh = [figure for figure in finder(read) if taken.isdisjoint(range(figure.start, figure.end))]
        for figure in fresh:
            taken.update(range(figure.start, figure.end))
        found += fresh
    return tuple(sorted(found, key=lambda figure: (figure.start, figure.end)))


def supports(held: Figure, claimed: Figure) -> bool:
    """Whether a figure that is held says what is claimed.

    Value and unit must be the same. What one of the two leaves open (which days, per what) does not part them, and a held date
    may be more exact than the claimed one.
    """
    if (held.kind, held.unit) != (claimed.kind, claimed.unit):
        return False
    if isinstance(held.value, str) and isinstance(claimed.value, str):
        return held.value.startswith(claimed.value)
    same = held.value == claimed.value
    return same and _open_or_equal(held.days, claimed.days) and _open_or_equal(held.per, claimed.per)


def _open_or_equal(one: str, other: str) -> bool:
    """Whether two details go together."""
    return not one or not other or one == other


def _percentages(read: _Read) -> Iterator[Figure]:
    for match in matches_at(_PERCENTAGE, read.low, read.numbers) if "%" in read.low or "cent" in read.low else ():
        for number in filter(None, match.group("number", "high")):
            yield read.figure("percentage", match, _decimal(number), "%")


def _amounts(read: _Read) -> Iterator[Figure]:
    for match in matches_at(_AMOUNT, read.low, read.starts(_SIGNS)):
        value = _decimal(match["first"] or match["number"])
        times = match["more"] or match["times"] or ""
        value *= _MULTIPLES.get(times, _MULTIPLES.get(times.removesuffix("s"), 1))
        yield read.figure("amount", match, value, _currency(match["before"] or match["after"]))


def _currency(written: str) -> str:
    """The ISO code of a currency as it is written."""
    for sign, code in (("eur", "EUR"), ("dollar", "USD"), ("usd", "USD"), ("franc", "CHF"), ("chf", "CHF")):
        if sign in written:
            return code
    return _SYMBOLS.get(written, "GBP")


def _durations(read: _Read) -> Iterator[Figure]:
    for match in matches_at(_DURATION, read.low, read.starts(_COUNTS.keys())):
        word, unit = match["word"], _bare(match["unit"])
        # "un jour", "an hour" are seldom a count.
        if word in ("un", "une", "one") and unit not in ("an", "mois", "semaine", "annee", "year", "month"):
            continue
        name, factor = _UNITS.get(unit) or _UNITS[unit.removesuffix("s")]
        days, per = _bare(match["kind"] or match["after"]), _bare(match["per"])
        for number in filter(None, (match["number"] or word, match["high"])):
            yield read.figure(
                "duration",
                match,
                (Decimal(_COUNTS[number]) if number in _COUNTS else _decimal(number)) * factor + int(match["past"] or 0),
                name,
                _DAY_KINDS.get(days, _DAY_KINDS.get(days.removesuffix("s"), "")),
                _PER.get(per, _PER.get(per.removesuffix("s"), "")),
            )


def _bare(written: str | None) -> str:
    """A word of these expressions without its accents; "" for none."""
    return written.rstrip(".").replace("é", "e").replace("û", "u") if written else ""


def _dates(read: _Read) -> Iterator[Figure]:
    for match in matches_at(_DATE, read.low, read.starts(_MONTH_WORDS)):
        year = next(filter(None, match.group("y", "y2", "y3", "y4", "y5")))
        month = match["m"] or match["m2"] or match["m3"] or match["m4"]
        day = match["d"] or match["d2"] or match["d3"] or match["d4"]
        value = _iso(year, month, day)
        if value:
            yield read.figure("date", match, value)


def _iso(year: str, month: str | None, day: str | None) -> str:
    """The date in ISO 8601; "" where there is no such date."""
    if month is None:
        return year
    first = int(month) if month.isdigit() else _MONTHS[_bare(month)]
    if day is None:
        return f"{year}-{first:02}"
    second = int(day)
    if first > 12 and month.isdigit():
        first, second = second, first
    if not 1 <= first <= 12 or not 1 <= second <= _days(int(year), first):
        return ""
    return f"{year}-{first:02}-{second:02}"


def _days(year: int, month: int) -> int:
    """How many days a month has."""
    if month == 2:
        return 29 if year % 4 == 0 and (year % 100 or year % 400 == 0) else 28
    return 30 if month in (4, 6, 9, 11) else 31


def _decimal(written: str) -> Decimal:
    """The value of a number in English or French writing; the module's docstring says which mark is the decimal one."""
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
