"""What an answer states and a document can be asked for: figures, dates, counted things, references to laws.

The exact extractors of `areopage.evidence` are slow: they read the answer around its digits and number words alone.
"""

import itertools
import re
from collections.abc import Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from areopage.evidence.figures import Figure, FigureKind, figures, supports
from areopage.evidence.reading import lower_case, matches_at
from areopage.evidence.references import Reference, legal_references
from areopage.gate.grounding.digits import around
from areopage.gate.grounding.tokens import is_light, stem


def _any_of(*cues: str) -> re.Pattern[str]:
    """One of some pieces of a text."""
    return re.compile("|".join(map(re.escape, cues)))


BEFORE, AFTER = 24, 36  # characters: what belongs to a figure stands so near its digits
BEFORE_LEGAL = 48  # the same for a reference: "arrêté interministériel modifié n° 12"
# A reference is sought where one of these stands, in lower case.
LEGAL = _any_of(
    "art.", "art ", "arts", "article", "§", "sec.", "section", "s. ", "loi", "law", "decree", "décret", "decret",
    "ordonnance", "ordinance", "arrêt", "arret", "avenant", "amendment", "accord", "circulaire", "règlement", "reglement",
    "regulation", "directive", " act ", "order", "rules", "pourvoi",
)  # fmt: skip
# What makes a number a figure, where it stands near; four digits may be a year without it.
NEAR = _any_of(
    "%", "cent", "€", "$", "£", "eur", "dollar", "usd", "pound", "livre", "gbp", "franc", "chf", "million", "milliard",
    "jour", "day", "semaine", "week", "mois", "month", "trimestre", "quarter", " an", "-an", "year", "-year", "min",
    "heure", "hour", " h", "h ", "h0", "h1", "h2", "h3", "h4", "h5",
)  # fmt: skip
# What must stand near the digits of a figure of its kind, and near those of a duration in its unit.
CUES = {
    "percentage": re.compile("%|cent"),
    "amount": re.compile("[€$£]|eur|dollar|usd|pound|livre|gbp|franc|chf"),
    "date": re.compile(""),
    "reference": re.compile(""),
    "day": re.compile("jour|day|semaine|week"),
    "month": re.compile("mois|month|trimestre|quarter|an|year"),
    "minute": re.compile(r"min|heure|hour|[0-9][ \u00a0\u202f]?h"),
}
NUMBER_WORDS = {
    2: "deux two", 3: "trois three", 4: "quatre four", 5: "cinq five", 6: "six", 7: "sept seven", 8: "huit eight", 9: "neuf nine",
    10: "dix ten", 12: "douze twelve", 15: "quinze fifteen", 18: "eighteen", 20: "vingt twenty", 30: "trente thirty",
    40: "quarante forty", 60: "soixante sixty", 90: "quatre-vingt-dix ninety",
}  # fmt: skip
UNIT_WORDS: dict[str, dict[int, tuple[str, ...]]] = {
    "day": {1: ("jour", "day"), 7: ("semaine", "week")},
    "month": {1: ("mois", "month"), 3: ("trimestre", "quarter"), 12: ("année", "annee", " ans", "year")},
    "minute": {1: ("min",), 60: ("heure", "hour")},
}
DIGITS = re.compile("[0-9]+")
COUNTING = frozenset(" ".join(NUMBER_WORDS.values()).split())
VALUES = {word: value for value, words in NUMBER_WORDS.items() for word in words.split()}
# A year that the extractor of figures leaves out, as most numbers of that size are none: 1789 is one after "en" or "(".
EARLY = re.compile("1[0-8][0-9]{2}")
EARLY_YEAR = re.compile(
    r"(?:(?:\b(?:en|in|an|depuis|since|ann[ée]es?|years?|vers|around|d[èe]s|avant|apr[èe]s|before|after|until|from|entre|between|circa|fin|d[ée]but"
    r"|janvier|f[ée]vrier|mars|avril|mai|juin|juillet|ao[ûu]t|septembre|octobre|novembre|d[ée]cembre"
    r"|january|february|march|april|may|june|july|august|september|october|november|december)"
    r")[ \u00a0]|\(|(?<![\w.°-])1[0-9]{3}[ ]?[-–][ ]?)"
    r"(?P<year>1[0-8][0-9]{2})(?![\w%€$£]|[.,][0-9]|[ \u00a0][0-9%€$£])"
)
MONTHS = {
    name: number
    for names in (
        "janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
        "janvier fevrier mars avril mai juin juillet aout septembre octobre novembre decembre",
        "January February March April May June July August September October November December",
        "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec",
    )
    for number, name in enumerate(names.split(), 1)
}
MONTH_WORDS = frozenset(name.lower() for name in MONTHS)
_LONGEST_FIRST = sorted(MONTHS, key=len, reverse=True)
_FRENCH = "|".join(name for name in _LONGEST_FIRST if name[0].islower())
_ENGLISH = "|".join(name for name in _LONGEST_FIRST if name[0].isupper())
# A day of a month whose year is not told. English months have their capital: "may 15" may be something else.
DAY = re.compile(
    rf"(?<![\w.,/-])(?:(?P<d1>[0-3]?[0-9])(?:er)?[ \u00a0](?P<m1>{_FRENCH})\b"
    rf"|(?P<d2>[0-3]?[0-9])(?:st|nd|rd|th)?(?: of)? (?P<m2>{_ENGLISH})\b"
    rf"|(?P<m3>{_ENGLISH})\.? (?P<d3>[0-3]?[0-9])(?:st|nd|rd|th)?(?![\w:/]|[.,-][0-9]))"
    rf"(?!,?[ \u00a0][12][0-9]{{3}}\b)"
)
COUNTED = "|".join(sorted(COUNTING, key=len, reverse=True))
# No word and no other group of the same number (1 200) stands before.
_BEFORE_THINGS = r"(?<![\w.,°/'’-])(?<![0-9][ \u00a0\u202f])"
_NOUN = r"[ \u00a0\u202f](?P<noun>[^\W\d_]{3,30})"
THINGS = re.compile(rf"{_BEFORE_THINGS}(?P<number>[0-9]{{1,6}}){_NOUN}")
THING_IN_WORDS = re.compile(rf"{_BEFORE_THINGS}(?P<number>{COUNTED}){_NOUN}", re.IGNORECASE)


class Counted(Struct, frozen=True, kw_only=True):
    """A number of things, "3 témoins": `noun` is the stem of what is counted."""

    value: int
    noun: str
    text: str
    start: int
    end: int


Stated = Figure | Reference | Counted


def stated_in(response: str) -> list[Stated]:
    """The figures, counted things and references of an answer in order, as it writes them."""
    low = response.lower()
    runs = [match.span() for match in DIGITS.finditer(response)]
    places = _counted(response, low, runs)
    found: list[Stated] = []
    days = len(low) != len(response) or any(_dated(low, *place) for place in places)
    for start, end in _windows(response, places, BEFORE):
        for figure in figures_of(response[start:end], days=days):
            found.append(replace(figure, start=figure.start + start, end=figure.end + start))
    legal = [place for place in places if len(low) != len(response) or _legal(low, *place)]
    for start, end in _windows(response, legal, BEFORE_LEGAL):
        for reference in legal_references(response[start:end]):
            found.append(replace(reference, start=reference.start + start, end=reference.end + start))
    taken = [(one.start, one.end) for one in found]
    things = _things(response, low, [start for start, _ in runs])
    found += [one for one in things if not any(start < one.end and one.start < end for start, end in taken)]
    return sorted(found, key=lambda one: (one.start, one.end))


def figures_of(window: str, *, days: bool, kind: FigureKind | None = None) -> list[Figure]:
    """The figures of a piece of a text: those of `areopage.evidence`, years before 1900, and `days` without a year (--01-15)."""
    found = list(figures(window, kind))
    if kind is not None and kind != "date":
        return found
    if EARLY.search(window):
        for match in EARLY_YEAR.finditer(lower_case(window)):
            start, end = match.span("year")
            found.append(Figure(kind="date", value=match["year"], text=match["year"], start=start, end=end))
    for match in DAY.finditer(window) if days else ():
        start, end = match.span()
        day, name = int(match["d1"] or match["d2"] or match["d3"]), match["m1"] or match["m2"] or match["m3"]
        if 1 <= day <= 31 and not any(one.start < end and start < one.end for one in found):
            found.append(Figure(kind="date", value=f"--{MONTHS[name]:02}-{day:02}", text=match.group(), start=start, end=end))
    return found


class FigureReader:
    """The figures of the pieces of one answer's documents. No piece is read twice: several claims are sought in the same ones."""

    def __init__(self) -> None:
        self._read: dict[tuple[str, FigureKind, bool], list[Figure]] = {}

    def figures_of(self, window: str, kind: FigureKind, *, days: bool = False) -> list[Figure]:
        """As the function of that name."""
        found = self._read.get((window, kind, days))
        if found is None:
            found = self._read[window, kind, days] = figures_of(window, days=days, kind=kind)
        return found


def says(held: Figure, claimed: Figure) -> bool:
    """Whether a figure that is held says what is claimed; a day without a year is said by that day of any year."""
    if isinstance(claimed.value, str) and isinstance(held.value, str) and claimed.value.startswith("--"):
        return held.value.endswith(claimed.value[1:])
    return supports(held, claimed)


def _things(response: str, low: str, numbers: Sequence[int]) -> Iterator[Counted]:
    """The numbers of things; what is counted must be a word that says something. `numbers`: where digits begin."""
    matches: list[Iterator[re.Match[str]]] = [matches_at(THINGS, response, numbers)]
    for word in sorted(COUNTING.intersection(low.split())) if len(low) == len(response) else ():
        spots = (start for start, _ in _places_of(word, low))
        matches.append(found for spot in spots if (found := THING_IN_WORDS.match(response, spot)))
    for match in itertools.chain.from_iterable(matches):
        noun = stem(match["noun"])
        if noun and not is_light(match["noun"]) and match["noun"][0].islower():
            number = match["number"].lower()
            value = VALUES.get(number) or int(number)
            yield Counted(value=value, noun=noun, text=match.group(), start=match.start(), end=match.end())


def _counted(response: str, low: str, runs: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Where digits and number words stand that may belong to a figure or a reference."""
    same = len(low) == len(response)  # a letter that becomes two in lower case moves what follows: then all are looked at
    found = []
    for start, end in runs:
        if same and end - start != 4 and not (_cued(low, start, end) or _legal(low, start, end) or _dated(low, start, end)):
            continue
        listed = response[end : end + 1] in (".", ")") and response[end + 1 : end + 2].isspace()
        if not (listed and response[max(0, start - 1) : start] in ("", "\n")):
            found.append((start, end))
    if same:
        for word in COUNTING.intersection(low.replace("-", " ").split()):
            found += [(start, end) for start, end in _places_of(word, low) if _cued(low, end, end)]
        found.sort()
    return found


def _places_of(word: str, low: str) -> Iterator[tuple[int, int]]:
    """Where some letters stand."""
    start = low.find(word)
    while start >= 0:
        end = start + len(word)
        yield start, end
        start = low.find(word, end)


def _cued(low: str, start: int, end: int) -> bool:
    """Whether something that makes a number a figure stands near it."""
    return NEAR.search(low, max(0, start - 6), end + AFTER) is not None


def _dated(low: str, start: int, end: int) -> bool:
    """Whether digits may be a day beside its month."""
    near = low[max(0, start - 11) : end + 16].replace(",", " ")
    return end - start < 3 and not MONTH_WORDS.isdisjoint(near.split())


def _legal(low: str, start: int, end: int) -> bool:
    """Whether digits may be those of a reference."""
    # L. 123-4, C-131/12, but not 1914-1918
    joined = end - start != 4 and "-" in (low[end : end + 1], low[max(0, start - 1) : start])
    return joined or LEGAL.search(low, max(0, start - BEFORE_LEGAL), start) is not None


def _windows(response: str, places: Sequence[tuple[int, int]], before: int) -> Iterator[tuple[int, int]]:
    """Ranges around places; those that touch are one."""
    start = end = -1
    for first, last in places:
        if end < 0 or first - before > end:
            if end >= 0:
                yield start, end
            start = around(response, first - before)
        end = last + AFTER
    if end >= 0:
        yield start, min(end, len(response))
