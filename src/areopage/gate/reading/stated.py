"""What an answer states and a document can be asked for: figures, dates, counted things, references to laws.

The answer is one that is `Readable`. The exact extractors of `areopage.text` are slow: they read it around its digits alone.
"""

import re
from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from areopage.gate.reading.identifiers import Identifier, identifiers
from areopage.text import (
    DIGITS,
    ENGLISH_MONTHS,
    ENGLISH_MONTHS_CUT,
    FRENCH_MONTHS,
    MONEY,
    UNIT_WORDS,
    FigureText,
    Reference,
    TextFigure,
    is_light,
    legal_references,
    lower_case,
    matches_at,
    stem,
    unaccented,
)

BEFORE, AFTER = 24, 36
"""Characters around digits within which the rest of a figure lies."""
BEFORE_ACTS = 48
"""The same for a reference: "arrêté interministériel modifié n° 12"."""
_FARTHEST = 24  # characters that a number may have gone on before a window
_JOINED = "0123456789.,'’ \u00a0\u202f\u2009"
# A reference is sought where a text has one of these, in lower case.
_ACTS = (
    "art.", "art ", "arts", "article", "§", "sec.", "section", "s. ", "loi", "law", "decree", "décret", "decret",
    "ordonnance", "ordinance", "arrêt", "arret", "avenant", "amendment", "accord", "circulaire", "règlement", "reglement",
    "regulation", "directive", " act ", "order", "rules", "pourvoi",
)  # fmt: skip
_TIME = tuple(word for words in UNIT_WORDS.values() for word in words if len(word) > 2)
# What makes a nearby number a figure; four digits may be a year without it.
_MONEY_CUE = (
    r"[$€£¥₹₽₺₩₪₴₫₦¢]|eur|dollar|pound|livre|franc|cent|penn|pence|cfa|dirham|dinar|rupee|roupie|yen|yuan|renminbi|peso|couronne|kron"
    r"|zlot|rouble|ruble|shekel|riyal|rand|forint|lira|quid|[0-9]p(?![a-z])"
    rf"|(?<![a-z])(?:{'|'.join(map(str.lower, MONEY))}|rs|kr|dh|dhs|kč|reais|lei|won|wons|naira|dong|rmb|xaf)(?![a-z])"
)
_SIGNS = ("%", "‰", "point", "million", "milliard", " an", "-an", " h", "h ", "h0", "h1", "h2", "h3", "h4", "h5")
_NEAR = re.compile(
    "|".join(map(re.escape, (*_SIGNS, *_TIME)))
    + rf"|{_MONEY_CUE}|bps?(?![a-z])|[0-9][ \u00a0\u202f]?(?:h|j|sem)(?![a-z])|[0-9]/[0-9]|[0-9]\.[0-9][0-9]\.|(?<![a-z])pt?[0-9]"
)
PERCENTAGE_CUE = re.compile("%|cent|‰|point|bp|pp")
AMOUNT_CUE = re.compile(_MONEY_CUE)
"""What the digits of a figure have near them, in lower case."""
# The names of months that a day may have beside it.
_NAMED_MONTHS = (*FRENCH_MONTHS, *ENGLISH_MONTHS, *ENGLISH_MONTHS_CUT)
_LETTERS = re.compile(r"[^\W\d_]+")
_MONTH_WORDS = frozenset([*_NAMED_MONTHS, *map(unaccented, _NAMED_MONTHS)])
# No word and no other group of the same number (1 200) comes before.
_BEFORE_THINGS = r"(?<![\w.,°/'’-])(?<![0-9][ \u00a0\u202f])"
_NOUN = r"[ \u00a0\u202f](?P<noun>[^\W\d_]{3,30})"
THINGS = re.compile(rf"{_BEFORE_THINGS}(?P<number>[0-9]{{1,6}}){_NOUN}")
SINGLE = re.compile(rf"(?<![\w'’-])(?:une?|an?|one|(?:une? )?seule?|(?:a )?single){_NOUN}", re.IGNORECASE)
"""One thing, with its noun."""
TIMES, RATED = "times", "times per"
"""The nouns of a number of times."""
_RATE = re.compile(r"[ \u00a0](?:par|per|an?|each|every|chaque|tous|toutes|dans)[ \u00a0]")


class CountedThings(Struct, frozen=True, kw_only=True):
    """A number of things, "3 témoins": `noun` is the stem of what is counted, or `TIMES` or `RATED`."""

    value: int
    noun: str
    text: str
    start: int
    end: int


Stated = TextFigure | Reference | CountedThings | Identifier


def stated_in(response: str) -> list[Stated]:
    """The figures, counted things, references and identifiers of an answer in order, as it writes them; none crosses another."""
    low = lower_case(response)
    runs = [match.span() for match in DIGITS.finditer(response)]
    named = identifiers(response, low)
    if not runs and not named:
        return []
    acts = [cue for cue in _ACTS if cue in low]
    candidates = _candidates(response, low, runs, acts)
    taken = bytearray(len(response))
    statements = _free([identifier for identifier in named if identifier.kind in ("contact", "weekday")], taken)
    exact: list[Stated] = []
    days = any(_dated(low, *span) for span in candidates)
    for start, end in _windows(response, candidates, BEFORE):
        for figure in FigureText(response[start:end]).all(days=days):
            exact.append(replace(figure, start=figure.start + start, end=figure.end + start))
    for start, end in _windows(response, [span for span in candidates if _legal(low, *span, acts)], BEFORE_ACTS):
        for reference in legal_references(response[start:end]):
            exact.append(replace(reference, start=reference.start + start, end=reference.end + start))
    exact = [statement for statement in exact if not any(taken[statement.start : statement.end])]
    for statement in exact:
        taken[statement.start : statement.end] = b"\1" * (statement.end - statement.start)
    statements += exact
    statements += _free([identifier for identifier in named if identifier.kind == "code" or identifier.unit], taken)
    statements += _free(_things(response, [start for start, _ in runs]), taken)
    statements += _free([identifier for identifier in named if identifier.kind == "number" and not identifier.unit], taken)
    return sorted(statements, key=lambda statement: (statement.start, statement.end))


def _free(stated: Iterable[Stated], taken: bytearray) -> list[Stated]:
    """Those that stand where nothing else does; what they take is marked."""
    free = []
    for statement in stated:
        if not any(taken[statement.start : statement.end]):
            taken[statement.start : statement.end] = b"\1" * (statement.end - statement.start)
            free.append(statement)
    return free


def times_of(match: re.Match[str]) -> str:
    """What a number of times is called that `THINGS` finds: a rate, "3 fois par an", is another thing; "" for other things."""
    if match["noun"] not in ("fois", "times"):
        return ""
    return RATED if _RATE.match(match.string, match.end()) else TIMES


def _things(response: str, starts: Sequence[int]) -> Iterator[CountedThings]:
    for match in matches_at(THINGS, response, starts):
        noun = times_of(match) or ("" if is_light(match["noun"]) else stem(match["noun"]))
        if noun and match["noun"][0].islower() and match["noun"] not in ("av", "apr"):
            yield CountedThings(value=int(match["number"]), noun=noun, text=match.group(), start=match.start(), end=match.end())


def _candidates(response: str, low: str, runs: Sequence[tuple[int, int]], acts: Sequence[str]) -> list[tuple[int, int]]:
    candidates = []
    for start, end in runs:
        cued = end - start == 4 or _NEAR.search(low, max(0, start - 6), end + AFTER)
        if not (cued or _legal(low, start, end, acts) or _dated(low, start, end)):
            continue
        listed = response[end : end + 1] in (".", ")") and response[end + 1 : end + 2].isspace()
        if not (listed and response[max(0, start - 1) : start] in ("", "\n")):
            candidates.append((start, end))
    return candidates


def _dated(low: str, start: int, end: int) -> bool:
    if end - start > 2:
        return False
    return low[end : end + 1] == "/" or not _MONTH_WORDS.isdisjoint(_LETTERS.findall(low, max(0, start - 11), end + 16))


def _legal(low: str, start: int, end: int, acts: Sequence[str]) -> bool:
    # L. 123-4, C-131/12, but not 1914-1918
    joined = end - start != 4 and "-" in (low[end : end + 1], low[max(0, start - 1) : start])
    first = max(0, start - BEFORE_ACTS)
    return joined or any(low.find(cue, first, start) >= 0 for cue in acts)


def _windows(response: str, spans: Sequence[tuple[int, int]], before: int) -> Iterator[tuple[int, int]]:
    start = end = -1
    for first, last in spans:
        if end < 0 or first - before > end:
            if end >= 0:
                yield start, end
            start = around(response, first - before)
        end = last + AFTER
    if end >= 0:
        yield start, min(end, len(response))


def around(text: str, start: int) -> int:
    """The nearest position at or before `start` at which no number and no word is cut."""
    start = max(0, start)
    lowest = max(0, start - _FARTHEST)
    while start > lowest and (text[start - 1] in _JOINED or text[start - 1].isalnum()):
        start -= 1
    return start
