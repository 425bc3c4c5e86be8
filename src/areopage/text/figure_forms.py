"""Figures of a text with their unit, comparable across writings: "1 000,50 €" is "€1,000.50"; English and French; linear.

| kind | found | value | unit |
|---|---|---|---|
| percentage | 12 %, 12,5 pour cent, 5 ‰, 25 basis points | Decimal | `%` |
| amount | 1 000,50 €, $1,000.00, EUR 250, 3 millions d'euros, 12 k€, 99 cents | Decimal | `EUR`, `USD`, `JPY`…; `cent` |
| duration | 30 jours ouvrables, 2,5 jours par mois, three months, P30D | Decimal | `day`, `month`, `minute` |
| date | 15 janvier 2025, 15/01/25, 2-6 June 2025, mars 2024, 2024-2025 | ISO 8601: YYYY-MM-DD, YYYY-MM or YYYY | "" |

Weeks, years and hours are converted to days, months and minutes; numbers may be in words (`number_words`). A bare number has no
unit and is no figure, except a year from 1900 to 2099.

01/02/2025 is the first of February; the day and the month are swapped only where that alone gives a date. Two writings of dates
are read on request: years before 1900 where a word says that they are years, and days without a year (--MM-DD).
A year of two digits is one from 1950 to 2049. Both ends of a range are dates.
"""

import re
from calendar import monthrange
from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from functools import cached_property
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from areopage.text.folding import lower_case, matches_at, starts_of, unaccented
from areopage.text.lexicon import (
    ENGLISH_MONTHS,
    ENGLISH_MONTHS_CUT,
    FRENCH_MONTHS,
    MONEY,
    MONEY_GROUPS,
    MONTHS,
    TIME_UNITS,
    UNIT_PATTERN,
    any_of,
    unit_of,
)
from areopage.text.numbers import DIGITS, decimal_of
from areopage.text.readable import Readable

DatedSpan = tuple[str, int, int]
"""A date, where it starts, where it ends."""

# Every quantifier is bounded or possessive: a hostile text costs no more than its length.
_S = r"[ \t\u00a0\u202f\u2009]"
_MONTH = rf"(?:{any_of(MONTHS)})\b\.?"
_YEAR = r"(?:19|20)[0-9]{2}(?![0-9])"
_DATE = re.compile(
    rf"(?<![\w/.,-])(?:(?P<y>{_YEAR})-(?P<m>[0-9]{{2}})-(?P<d>[0-9]{{2}})(?![\w-])"
    rf"|(?P<d2>[0-9]{{1,2}})(?:er)?(?P<mark>[/.-])(?P<m2>[0-9]{{1,2}})(?P=mark)(?P<y2>{_YEAR})(?![\w/-])"
    r"|(?P<d6>[0-9]{2})(?P<mark6>[/.])(?P<m6>[0-9]{2})(?P=mark6)(?P<y6>[0-9]{2})(?![\w/-]|[.,][0-9])"
    rf"|(?:(?P<d7>[0-9]{{1,2}})(?:{_S}?er)?{_S})?(?P<m7>{_MONTH}){_S}(?:['’](?P<y7>[0-9]{{2}})(?![\w])|(?P<y8>[5-9][0-9])(?=[.,;:)]|\s*\Z|\n))"
    rf"|(?:(?P<d3>[0-9]{{1,2}})(?:{_S}?er|st|nd|rd|th)?{_S}{{1,9}}(?:of{_S})?)?(?P<m3>{_MONTH}),?{_S}{{1,2}}(?P<y3>{_YEAR})"
    rf"|(?P<m4>{_MONTH}){_S}{{1,2}}(?P<d4>[0-9]{{1,2}})(?:st|nd|rd|th)?,?{_S}{{1,2}}(?P<y4>{_YEAR})"
    rf"|(?P<y5>{_YEAR})(?![\w/%€$£-]|[.,][0-9]))"
)
# Most numbers of this size are no years: 1789 is one after "en" or "(".
# 2-6 June 2025, du 2 au 6 juin 2025, June 2-6, 2025; 2024-2025, 2024-25, 1802-1885.
_JOINT = rf"{_S}?(?:[-–/]|{_S}(?:au|à|et|to|and|through|until|jusqu['’]au){_S}){_S}?"
_DAYS = re.compile(
    rf"(?<![\w/.,-])(?P<d1>[0-3]?[0-9])(?:er|st|nd|rd|th)?{_JOINT}(?P<d2>[0-3]?[0-9])(?:er|st|nd|rd|th)?{_S}(?:of{_S})?(?P<m>{_MONTH})"
    rf"(?:,?{_S}(?P<y>{_YEAR}))?"
    rf"|(?P<m2>{_MONTH}){_S}(?P<d3>[0-3]?[0-9])(?:st|nd|rd|th)?{_JOINT}(?P<d4>[0-3]?[0-9])(?:st|nd|rd|th)?(?![\w:/]|[.,][0-9])"
    rf"(?:,?{_S}(?P<y2>{_YEAR}))?"
)
_SPAN_YEAR = "(?:1[0-9]|20)[0-9]{2}(?![0-9])"
_YEARS = re.compile(
    rf"(?<![\w/.,-])(?P<y1>{_SPAN_YEAR})(?P<dash>{_S}?[-–—/]{{1,2}}{_S}?)(?P<y2>{_SPAN_YEAR}|[0-9]{{2}})(?![\w%€$£/-]|[.,][0-9])"
)
_LONGEST_SPAN = 200  # years from the first to the last of a range
_EARLY_YEAR = re.compile(r"1[0-8][0-9]{2}(?![\w%€$£]|[.,][0-9]|[ \u00a0][0-9%€$£])")
_BEFORE_YEAR = re.compile(
    r"(?:(?:\b(?:en|in|an|depuis|since|ann[ée]es?|years?|vers|around|d[èe]s|avant|apr[èe]s|before|after|until|from|entre|between|circa|fin|d[ée]but"
    rf"|{any_of([*FRENCH_MONTHS, *ENGLISH_MONTHS])}))[ \u00a0]|\(|(?<![\w.°-])1[0-9]{{3}}[ ]?[-–][ ]?)\Z"
)
_BESIDE_YEAR = 16  # characters before a year in which what makes it one stands
# English months have their capital: "may 15" may be something else.
_ENGLISH = any_of(month.capitalize() for month in (*ENGLISH_MONTHS, *ENGLISH_MONTHS_CUT))
_FRENCH = any_of(FRENCH_MONTHS)
_DAY = re.compile(
    rf"(?<![\w.,/-])(?:(?P<d1>[0-3]?[0-9])(?:er)?[ \u00a0](?P<m1>{_FRENCH})\b"
    rf"|(?P<d2>[0-3]?[0-9])(?:st|nd|rd|th)?(?: of)? (?P<m2>{_ENGLISH})\b"
    rf"|(?P<m3>{_ENGLISH})\.? (?P<d3>[0-3]?[0-9])(?:st|nd|rd|th)?(?![\w:/]|[.,-][0-9]))"
    rf"(?!,?[ \u00a0][12][0-9]{{3}}\b)"
)


# 30/06 is a day where a word before it says so: it may be a fraction.
_SLASHED = re.compile(
    r"(?<!\w)(?:le|du|au|on|by|until|till|before|from|since|avant|depuis|dès le)[ \u00a0]"
    r"(?P<day>[0-3]?[0-9])/(?P<month>[0-3]?[0-9])"
    r"(?![\w/%]|[.,][0-9])",
    re.IGNORECASE,
)


def dates(low: str, starts: Iterable[int]) -> Iterator[DatedSpan]:
    """The dates from 1900 to 2099 of a text in lower case, tried at `starts` alone."""
    starts = list(starts)
    ranges = list(date_ranges(low, starts))
    yield from ranges
    taken = {start for _, first, last in ranges for start in range(first, last)} if ranges else frozenset[int]()
    for match in matches_at(_DATE, low, [start for start in starts if start not in taken]):
        year = next(filter(None, match.group("y", "y2", "y3", "y4", "y5", "y6", "y7", "y8")))
        month = next(filter(None, match.group("m", "m2", "m3", "m4", "m6", "m7")), None)
        whole = int(year) if len(year) == 4 else int(year) + (1900 if int(year) >= 50 else 2000)
        value = _iso(whole, month, next(filter(None, match.group("d", "d2", "d3", "d4", "d6", "d7")), None))
        if value:
            yield value, match.start(), match.end()


def date_ranges(low: str, starts: Iterable[int]) -> Iterator[DatedSpan]:
    """Both ends of each range of days or years, with the span of the whole range; days without a year are --MM-DD."""
    starts = list(starts)
    for match in matches_at(_DAYS, low, starts):
        month, year = match["m"] or match["m2"], match["y"] or match["y2"]
        first, last = match["d1"] or match["d3"], match["d2"] or match["d4"]
        values = [_iso(int(year or 2000), month, day) for day in (first, last)]
        if all(values):
            yield from ((value if year else f"-{value[4:]}", *match.span()) for value in values)
    for match in matches_at(_YEARS, low, starts):
        first_year = int(match["y1"])
        last_year = int(match["y2"]) if len(match["y2"]) == 4 else first_year - first_year % 100 + int(match["y2"])
        month = match["dash"] in "-/" and len(match["y2"]) == 2 and int(match["y2"]) <= 12  # 2025-06
        if first_year < last_year <= first_year + _LONGEST_SPAN and not month:
            yield from ((str(year), *match.span()) for year in (first_year, last_year))


def early_years(low: str) -> Iterator[DatedSpan]:
    """The years from 1000 to 1899 of a text in lower case."""
    end = 0
    for match in _EARLY_YEAR.finditer(low):
        if _BEFORE_YEAR.search(low, max(end, match.start() - _BESIDE_YEAR), match.start()):
            end = match.end()
            yield match.group(), match.start(), end


def days_without_year(text: str, starts: Iterable[int]) -> Iterator[DatedSpan]:
    """The days of a month that have no year, tried at `starts`: --01-15."""
    for match in matches_at(_DAY, text, starts):
        day, month = int(match["d1"] or match["d2"] or match["d3"]), match["m1"] or match["m2"] or match["m3"]
        if 1 <= day <= 31:
            yield f"--{MONTHS[month.lower()]:02}-{day:02}", match.start(), match.end()
    for match in _SLASHED.finditer(text) if "/" in text else ():
        iso = _iso(2000, match["month"], match["day"])
        if iso:
            yield f"-{iso[4:]}", match.start("day"), match.end()


def _iso(year: int, month: str | None, day: str | None) -> str:
    if month is None:
        return str(year)
    first = int(month) if month.isdigit() else MONTHS[month.rstrip(".")]
    if day is None:
        return f"{year}-{first:02}"
    second = int(day)
    if first > 12 and month.isdigit():
        first, second = second, first
    if not 1 <= first <= 12 or not 1 <= second <= monthrange(year, first)[1]:
        return ""
    return f"{year}-{first:02}-{second:02}"


FigureKind = Literal["percentage", "amount", "duration", "date"]


class TextFigure(Struct, frozen=True, kw_only=True):
    """A figure: `text` is exactly `source[start:end]`; the module's docstring describes `value` and `unit`.

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


# All of these are in lower case, as `_Read` is.
_NUMBER = (
    r"(?>(?<![\w.,])(?:[0-9]{1,3}(?:[ \u00a0\u202f\u2009'’][0-9]{3}(?![0-9])){1,5}|[0-9]{1,15}(?![0-9]))"
    r"(?:[.,][0-9]{1,12}(?![0-9])){0,6})"
)
_TO = rf"{_S}{{0,2}}(?:à|et|ou|to|and|or|-|–){_S}{{0,2}}"
MONEY_SIGNS = "€$£¥₹₽₺₩₪₴₫₦"
_CODES = "|".join(map(str.lower, (code for code in MONEY if not code.startswith("X") or code in ("XOF", "XPF"))))
_PREFIX = (
    rf"(?:us|ca?|can|au?|nz|hk|s|r|mx)?[{MONEY_SIGNS}]|(?:{_CODES}|xaf|fcfa|frs?\.|sfr\.?|rs\.?|kr\.?|rmb)(?={_S}{{0,2}}[0-9])"
)
BEFORE_AMOUNT = re.compile(
    rf"(?:[{MONEY_SIGNS}]|(?<![^\W_])(?:{_CODES}|xaf|fcfa|frs?\.|rs\.?|kr\.?|rmb))[ \u00a0\u202f\u2009]{{0,2}}\Z"
)
"""A currency at the end of a text in lower case."""
_CURRENCY = rf"(?:[{MONEY_SIGNS}](?:{_S}?(?:us|ca|can|cad)\b)?|(?:{'|'.join(MONEY.values())})(?![\w]))"
_CENTS = r"(?:(?P<cent>cents?|centimes?|¢|ct)|(?P<penny>pence|penny|p))(?![\w$€£]|\.[ \u00a0]?m\b)"
_FRACTIONS = (
    r"(?P<mille>‰)|(?P<points>bps?\b|basis points?|points? de base)"
    r"|(?P<percent>percentage points?|points? de pourcentage|pp\b|points?\b)"
)
_MULTIPLES = {"k": 10**3, "thousand": 10**3, "mille": 10**3, "m": 10**6, "million": 10**6, "md": 10**9, "milliard": 10**9}
_MULTIPLES["billion"] = 10**9
_DAY_KINDS = {"ouvrable": "working", "working": "working", "ouvre": "business", "business": "business"}
_DAY_KINDS |= {"calendaire": "calendar", "calendar": "calendar", "franc": "calendar", "clear": "calendar"}
# between a number and its unit: five additional days, les 2 premiers mois
_QUALIFIED = (
    r"additional|extra|more|further|full|whole|complete|consecutive|other|supplementary|remaining"
    r"|autres?|premi[eè]re?s?|derni[eè]re?s?|proch(?:ain|aine)s?|bons?|longs?|longues?|nouveaux|nouvelles|pleins?|pleines?"
)
_COUNTED_ALONE = frozenset(["an", "mois", "semaine", "annee", "year", "month"])
_PERCENTAGE = re.compile(
    rf"(?P<number>{_NUMBER})(?:(?:{_S}{{0,2}}%)?{_TO}(?P<high>{_NUMBER}))?"
    rf"{_S}{{0,2}}(?:%|(?:pour{_S}cent|pourcents?|per{_S}?cent(?:age)?(?!{_S}points?))\b|{_FRACTIONS})"
)
_AMOUNT = re.compile(
    rf"(?<!\w)(?P<before>{_PREFIX}){_S}{{0,2}}(?P<first>{_NUMBER}|[0-9]{{1,3}}(?:[.,][0-9]{{1,3}}){{0,5}})(?:{_S}?(?P<more>k|million|billion|m)s?\b)?"
    rf"|(?P<number>{_NUMBER}){_S}{{0,2}}(?:(?P<times>k|md|m|thousand|mille|millions?|milliards?|billions?){_S}?(?:d['’]|of{_S})?)?"
    rf"(?:(?P<after>{_CURRENCY})(?!(?<=[ \u00a0][$€£])[0-9])|{_CENTS})"
)
_DURATION = re.compile(
    rf"(?:(?P<number>{_NUMBER})(?:{_TO}(?P<high>{_NUMBER}))?(?:{_S}{{0,2}}|-)|(?<![\w-])(?P<word>une?|one|an?)(?:{_S}{{1,2}}|-))"
    rf"(?:\([0-9]{{1,3}}\){_S})?(?:(?:{_QUALIFIED}){_S}{{1,2}})?(?:(?P<kind>working|business|calendar|clear){_S}{{1,2}})?(?P<unit>{UNIT_PATTERN})"
    rf"(?:(?:(?<=[0-9 \u00a0\u202f]h)|(?<=heure)|(?<=heures)){_S}?(?P<past>[0-5][0-9])(?![0-9]"
    rf"|{_S}{{0,2}}(?:{UNIT_PATTERN}|[%€$£])))?"
    rf"(?P<half>{_S}(?:et{_S}demie?|and{_S}a{_S}half)\b)?"
    rf"(?:{_S}{{1,2}}(?P<after>ouvrables?|ouvr[ée]s?|calendaires?|francs?)\b)?"
    rf"(?:(?:{_S}(?:de|of){_S}\w{{1,20}}(?:{_S}\w{{1,20}})?)?(?:{_S}{{0,2}}/{_S}{{0,2}}|{_S}{{1,2}}(?:par|per|a|an|each|chaque){_S}{{1,2}})"
    rf"(?P<per>{UNIT_PATTERN}))?"
)
_CENTS_AFTER = re.compile(
    rf"(?:(?:{_S}et|{_S}and|,)?{_S})(?P<cents>[0-9]{{1,2}}){_S}{{0,2}}(?:centimes?|cents?|ct|¢|pence|penny)(?!\w)"
    rf"|(?:(?<=[€$£])|(?<=euro)|(?<=euros)){_S}(?P<apart>[0-9]{{2}})(?=[.;:!?)]|,?\s?\Z|,?\n|,?{_S}(?:et|par|pour|la|le|l['’]|ttc|ht|per|an?|each)(?!\w))"
    r"|(?<=[€$£])(?P<beside>[0-9]{2})(?![\w.,]*[0-9])"
)
_SIGN = re.compile(rf"[{MONEY_SIGNS}]")
_MONEY = [(re.compile(rf"(?:{written})"), code) for code, written in MONEY.items()]
_GAP = re.compile(rf"[.,]?{_S}{{0,2}}(?:(?:et|and){_S})?")
_LONGEST_GAP = 6  # characters between the parts of one duration
# "2 ans et 3 mois de préavis"; but the months of a sentence or of a time of service are those of its years.
_OF_ANOTHER = re.compile(
    rf"{_S}(?:d(?:e{_S}|['’])|of{_S})(?!prison|emprisonnement|réclusion|détention|ancienneté|service|expérience|travail|imprisonment"
    r"|experience|work)"
)
_ONE_AND = ("a year and ", "an hour and ", "a week and ")
_ISO_DURATION = re.compile(
    r"(?<!\w)p(?=[0-9t])(?:(?P<year>[0-9]{1,4})y)?(?:(?P<month>[0-9]{1,4})m)?(?:(?P<week>[0-9]{1,4})w)?(?:(?P<day>[0-9]{1,5})d)?"
    r"(?:t(?:(?P<hour>[0-9]{1,4})h)?(?:(?P<minute>[0-9]{1,5})m)?)?(?!\w)"
)
_LETTER = "[a-zà-öø-ÿ]"
_SPACES = " \t\u00a0\u202f\u2009."
_LONGEST_COUNTRY, _LONGEST_CODE = 3, 7  # letters of a country before a sign; characters of a currency's code before a number
_ISO_CUE = re.compile(r"p(?<!\w.)t?[0-9]")
_PARTED = re.compile("[.,]")
_PERCENT_CUE = re.compile("%|cent|‰|bp|point|pp")
_YEAR_ALONE = re.compile(_YEAR)
_CENT = "cent"
# Where "un" or "one" begins, or "on".
_ONE = re.compile(f"[uo](?<!{_LETTER}.)ne?(?!{_LETTER})")
_MONTH_BEFORE = re.compile(rf"{_MONTH},?{_S}{{1,2}}\Z")
_LONGEST_MONTH = max(map(len, MONTHS)) + len(".,  ")
_ONES = frozenset(["un", "une", "one"])


class FigureText:
    """A text that is `Readable`, each kind of whose figures is read once; `low` is in lower case and as long as the text.

    The expressions for figures are only tried where numbers and some words begin (`starts`): that is faster than everywhere.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.low = lower_case(text)
        self.numbers = [match.start() for match in DIGITS.finditer(self.low)]
        self._read: dict[FigureKind, Sequence[TextFigure]] = {}

    def starts(self, words: re.Pattern[str]) -> list[int]:
        """Where a number or one of some words, or signs, begins."""
        beginnings = [match.start() for match in words.finditer(self.low)]
        return sorted([*self.numbers, *beginnings]) if beginnings else self.numbers

    @cached_property
    def date_starts(self) -> list[int]:
        """Where a number begins, or the month before one."""
        before = [_MONTH_BEFORE.search(self.low, max(0, number - _LONGEST_MONTH), number) for number in self.numbers]
        return sorted([*self.numbers, *(month.start() for month in before if month)])

    def money_starts(self) -> list[int]:
        """Where a number begins, or the currency before one: €5, US$ 5, EUR 5."""
        low, starts = self.low, set(self.numbers)
        for match in _SIGN.finditer(low):
            start = match.start()
            while start > match.start() - _LONGEST_COUNTRY and low[start - 1 : start].isalpha():
                start -= 1
            starts.add(start)
        for number in self.numbers:
            if low[max(0, number - 3) : number].strip(_SPACES)[-1:].isalpha() or low[number - 2 : number - 1] == ".":
                code = BEFORE_AMOUNT.search(low, max(0, number - _LONGEST_CODE), number)
                if code:
                    starts.add(code.start())
        return sorted(starts)

    def figure(
        self, kind: FigureKind, match: re.Match[str], value: Decimal | str, unit: str = "", days: str = "", per: str = ""
    ) -> TextFigure:
        """A figure over a whole match."""
        start, end = match.span()
        return TextFigure(kind=kind, value=value, unit=unit, days=days, per=per, text=self.text[start:end], start=start, end=end)

    def date(self, dated: DatedSpan) -> TextFigure:
        """A date."""
        value, start, end = dated
        return TextFigure(kind="date", value=value, text=self.text[start:end], start=start, end=end)

    def of(self, kind: FigureKind) -> Sequence[TextFigure]:
        """The figures of a kind."""
        if kind not in self._read:
            finders = {"percentage": _percentages, "amount": _amounts, "duration": _durations}
            dated = kind == "date"
            self._read[kind] = [figure for figure in self.all() if figure.kind == kind] if dated else list(finders[kind](self))
        return self._read[kind]

    def exact(self) -> list[TextFigure]:
        """All figures in order; no date begins before 1900 or has no year."""
        apart: list[TextFigure] = []
        taken = bytearray(len(self.text))
        # A date is tried last: the 2000 of "2000 €" is no year.
        others = (self.of("percentage"), self.of("amount"), self.of("duration"))
        for figures in (*others, map(self.date, dates(self.low, self.date_starts))):
            fresh = [figure for figure in figures if not any(taken[figure.start : figure.end])]
            for figure in fresh:
                taken[figure.start : figure.end] = b"\1" * (figure.end - figure.start)
            apart += fresh
        return sorted(apart, key=lambda figure: (figure.start, figure.end))

    def all(self, *, days: bool = True) -> list[TextFigure]:
        """All figures with years before 1900 and, where `days`, days without a year."""
        figures = [*self.exact(), *map(self.date, early_years(self.low))]
        taken = bytearray(len(self.text))
        for figure in figures if days else ():
            taken[figure.start : figure.end] = b"\1" * (figure.end - figure.start)
        for day in days_without_year(self.text, self.date_starts) if days else ():
            if not any(taken[day[1] : day[2]]):
                figures.append(self.date(day))
        return figures


def figures(text: str) -> tuple[TextFigure, ...]:
    """All figures of a text in order; only the two ends of a range (3 à 6 mois) share a span."""
    readable = Readable(text)
    read = tuple(FigureText(readable.text).exact())
    if not readable.changed:
        return read
    spans = [readable.span(figure.start, figure.end) for figure in read]
    return tuple(
        replace(figure, text=text[start:end], start=start, end=end) for figure, (start, end) in zip(read, spans, strict=True)
    )


def supports(documented: TextFigure, claimed: TextFigure) -> bool:
    """Whether a figure that is documented says what is claimed.

    Value and unit must be the same. What one of the two leaves open (which days, per what) does not part them, a documented date
    may be more exact than the claimed one, and that day of any year supports a day without a year.
    """
    if documented.kind != claimed.kind or not _same_unit(documented.unit, claimed.unit):
        return False
    if isinstance(documented.value, str) and isinstance(claimed.value, str):
        ends = claimed.value.startswith("--")
        return documented.value.endswith(claimed.value[1:]) if ends else documented.value.startswith(claimed.value)
    same = documented.value == claimed.value
    return same and _open_or_equal(documented.days, claimed.days) and _open_or_equal(documented.per, claimed.per)


def digits_of_date(value: str) -> str:
    """The digits that every writing of a date has: the last two of its year, or those of its day."""
    return str(int(value[-2:])) if value.startswith("--") else value[2:4]


def _same_unit(unit: str, other: str) -> bool:
    """Whether two units are the same; cents are those of any currency, and crowns those of any country."""
    return (
        unit == other
        or (_CENT in (unit, other) and "" not in (unit, other))
        or other == MONEY_GROUPS.get(unit)
        or unit == MONEY_GROUPS.get(other)
    )


def _open_or_equal(word: str, other: str) -> bool:
    return not word or not other or word == other


def _percentages(read: FigureText) -> Iterator[TextFigure]:
    for match in matches_at(_PERCENTAGE, read.low, read.numbers) if _PERCENT_CUE.search(read.low) else ():
        factor = Decimal("0.1") if match["mille"] else Decimal("0.01") if match["points"] else 1
        if match["percent"] in ("point", "points") and not _PARTED.search(match["number"]):
            continue  # points of a game
        # In "1,2 % in 2022 and 2,6 %" the year is no end of a range.
        numbers = match.group("high") if match["high"] and _YEAR_ALONE.fullmatch(match["number"]) else None
        for number in [numbers] if numbers else filter(None, match.group("number", "high")):
            yield read.figure("percentage", match, decimal_of(number) * factor, "%")


def _amounts(read: FigureText) -> Iterator[TextFigure]:
    end = 0
    for match in matches_at(_AMOUNT, read.low, read.money_starts()):
        if match.start() < end:
            continue  # the cents of the amount before
        value = decimal_of(match["first"] or match["number"])
        if match["cent"] or match["penny"]:
            yield read.figure("amount", match, value / 100, "GBP" if match["penny"] else _CENT)
            continue
        times = match["more"] or match["times"] or ""
        value *= _MULTIPLES.get(times, _MULTIPLES.get(times.removesuffix("s"), 1))
        written = (match["before"] or match["after"]).strip(" \t\u00a0\u202f\u2009")
        figure = read.figure("amount", match, value, next((code for sign, code in _MONEY if sign.fullmatch(written)), "USD"))
        cents = _CENTS_AFTER.match(read.low, match.end()) if value == int(value) and not times and match["after"] else None
        if cents:
            end, value = cents.end(), value + Decimal(cents["cents"] or cents["apart"] or cents["beside"]) / 100
            figure = replace(figure, value=value, end=end, text=read.text[match.start() : end])
        yield figure


def _durations(read: FigureText) -> Iterator[TextFigure]:
    for match in _ISO_DURATION.finditer(read.low) if _ISO_CUE.search(read.low) else ():
        totals: dict[str, Decimal] = {}
        for name, number in match.groupdict().items():
            if number:
                unit, factor = TIME_UNITS[name]
                totals[unit] = totals.get(unit, Decimal(0)) + Decimal(number) * factor
        yield from (read.figure("duration", match, value, unit) for unit, value in totals.items())
    starts = read.starts(_ONE)
    articles = [start for cue in _ONE_AND if cue in read.low for start in starts_of(cue, read.low)]
    matches = list(matches_at(_DURATION, read.low, sorted([*starts, *articles]) if articles else starts))
    at = 0
    while at < len(matches):
        match, joined = matches[at], 1
        if at + 1 < len(matches) and _goes_on(read.low, match, matches[at + 1]):
            joined = 2
            yield _sum(read, match, matches[at + 1])
        elif _is_count(match):
            yield from _duration(read, match)
        at += joined


def _goes_on(low: str, first: re.Match[str], second: re.Match[str]) -> bool:
    """Whether two durations are one: 2 ans et 3 mois; of "2 ans et 3 mois de préavis" the second may count something else."""
    gap = low[first.end() : second.start()]
    if len(gap) > _LONGEST_GAP or not _GAP.fullmatch(gap) or not second["number"]:
        return False
    if second["high"] or any(first.group("high", "half", "past", "after", "kind", "per")):
        return False
    (unit, factor), (other, smaller) = TIME_UNITS[unit_of(first["unit"])], TIME_UNITS[unit_of(second["unit"])]
    if unit != other or factor <= smaller or decimal_of(second["number"]) * smaller >= factor:
        return False
    return not gap.strip(",. \u00a0\u202f") or not _OF_ANOTHER.match(low, second.end())


def _sum(read: FigureText, first: re.Match[str], second: re.Match[str]) -> TextFigure:
    (whole,), (rest,) = _duration(read, first), _duration(read, second)
    text = read.text[whole.start : rest.end]
    return replace(rest, value=Decimal(whole.value) + Decimal(rest.value), text=text, start=whole.start)


def _duration(read: FigureText, match: re.Match[str]) -> Iterator[TextFigure]:
    """The duration of a match, or both ends of its range."""
    unit, factor = TIME_UNITS[unit_of(match["unit"])]
    days = unaccented(match["kind"] or match["after"] or "")
    days = _DAY_KINDS.get(days, _DAY_KINDS.get(days.removesuffix("s"), ""))
    word = match["word"]
    for number in filter(None, (match["number"] or word, match["high"])):
        value = Decimal(1) if number == word else decimal_of(number)
        value = value * factor + int(match["past"] or 0) + (Decimal(factor) / 2 if match["half"] else 0)
        yield read.figure("duration", match, value, unit, days, unit_of(match["per"] or ""))


def _is_count(match: re.Match[str]) -> bool:
    """Whether a duration is one alone: "un jour", "an hour" are seldom a count."""
    word = match["word"]
    return not word or (word in _ONES and (bool(match["half"] or match["past"]) or unaccented(match["unit"]) in _COUNTED_ALONE))
