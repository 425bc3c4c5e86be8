"""Dates of a text as ISO 8601: YYYY-MM-DD, YYYY-MM or YYYY; English and French; linear.

01/02/2025 is the first of February; the day and the month are swapped only where that alone gives a date. Two writings are
read on request: years before 1900 where a word says that they are years, and days without a year (--MM-DD).
"""

import re
from collections.abc import Iterable, Iterator

from areopage.text.folding import matches_at
from areopage.text.lexicon import ENGLISH_MONTHS, ENGLISH_MONTHS_CUT, FRENCH_MONTHS, MONTHS, any_of

DatedSpan = tuple[str, int, int]
"""A date, where it starts, where it ends."""

# Every quantifier is bounded or possessive: a hostile text costs no more than its length.
_S = r"[ \t\u00a0\u202f\u2009]"
_MONTH = rf"(?:{any_of(MONTHS)})\b\.?"
_YEAR = r"(?:19|20)[0-9]{2}(?![0-9])"
_DATE = re.compile(
    rf"(?<![\w/.,-])(?:(?P<y>{_YEAR})-(?P<m>[0-9]{{2}})-(?P<d>[0-9]{{2}})(?![\w-])"
    rf"|(?P<d2>[0-9]{{1,2}})(?:er)?(?P<mark>[/.-])(?P<m2>[0-9]{{1,2}})(?P=mark)(?P<y2>{_YEAR})(?![\w/-])"
    rf"|(?:(?P<d3>[0-9]{{1,2}})(?:{_S}?er|st|nd|rd|th)?{_S}{{1,9}}(?:of{_S})?)?(?P<m3>{_MONTH}),?{_S}{{1,2}}(?P<y3>{_YEAR})"
    rf"|(?P<m4>{_MONTH}){_S}{{1,2}}(?P<d4>[0-9]{{1,2}})(?:st|nd|rd|th)?,?{_S}{{1,2}}(?P<y4>{_YEAR})"
    rf"|(?P<y5>{_YEAR})(?![\w/%€$£-]|[.,][0-9]))"
)
# Most numbers of this size are no years: 1789 is one after "en" or "(".
_EARLY = re.compile("1[0-8][0-9]{2}")
_EARLY_YEAR = re.compile(
    r"(?:(?:\b(?:en|in|an|depuis|since|ann[ée]es?|years?|vers|around|d[èe]s|avant|apr[èe]s|before|after|until|from|entre|between|circa|fin|d[ée]but"
    rf"|{any_of([*FRENCH_MONTHS, *ENGLISH_MONTHS])}))[ \u00a0]|\(|(?<![\w.°-])1[0-9]{{3}}[ ]?[-–][ ]?)"
    r"(?P<year>1[0-8][0-9]{2})(?![\w%€$£]|[.,][0-9]|[ \u00a0][0-9%€$£])"
)
# English months have their capital: "may 15" may be something else.
_ENGLISH = any_of(month.capitalize() for month in (*ENGLISH_MONTHS, *ENGLISH_MONTHS_CUT))
_FRENCH = any_of(FRENCH_MONTHS)
_DAY = re.compile(
    rf"(?<![\w.,/-])(?:(?P<d1>[0-3]?[0-9])(?:er)?[ \u00a0](?P<m1>{_FRENCH})\b"
    rf"|(?P<d2>[0-3]?[0-9])(?:st|nd|rd|th)?(?: of)? (?P<m2>{_ENGLISH})\b"
    rf"|(?P<m3>{_ENGLISH})\.? (?P<d3>[0-3]?[0-9])(?:st|nd|rd|th)?(?![\w:/]|[.,-][0-9]))"
    rf"(?!,?[ \u00a0][12][0-9]{{3}}\b)"
)


def dates(low: str, starts: Iterable[int]) -> Iterator[DatedSpan]:
    """The dates from 1900 to 2099.

    Args:
        low: the text in lower case.
        starts: where its numbers and the names of months begin.
    """
    for match in matches_at(_DATE, low, starts):
        year = next(filter(None, match.group("y", "y2", "y3", "y4", "y5")))
        month = match["m"] or match["m2"] or match["m3"] or match["m4"]
        value = _iso(int(year), month, match["d"] or match["d2"] or match["d3"] or match["d4"])
        if value:
            yield value, match.start(), match.end()


def early_years(low: str) -> Iterator[DatedSpan]:
    """The years from 1000 to 1899 of a text in lower case."""
    if _EARLY.search(low):
        for match in _EARLY_YEAR.finditer(low):
            yield match["year"], match.start("year"), match.end("year")


def days_without_year(text: str) -> Iterator[DatedSpan]:
    """The days of a month that have no year: --01-15."""
    for match in _DAY.finditer(text):
        day, month = int(match["d1"] or match["d2"] or match["d3"]), match["m1"] or match["m2"] or match["m3"]
        if 1 <= day <= 31:
            yield f"--{MONTHS[month.lower()]:02}-{day:02}", match.start(), match.end()


def _iso(year: int, month: str | None, day: str | None) -> str:
    """The date in ISO 8601; "" where there is no such date."""
    if month is None:
        return str(year)
    first = int(month) if month.isdigit() else MONTHS[month.rstrip(".")]
    if day is None:
        return f"{year}-{first:02}"
    second = int(day)
    if first > 12 and month.isdigit():
        first, second = second, first
    if not 1 <= first <= 12 or not 1 <= second <= _length(year, first):
        return ""
    return f"{year}-{first:02}-{second:02}"


def _length(year: int, month: int) -> int:
    """How many days a month has."""
    if month == 2:
        return 29 if year % 4 == 0 and (year % 100 or year % 400 == 0) else 28
    return 30 if month in (4, 6, 9, 11) else 31
