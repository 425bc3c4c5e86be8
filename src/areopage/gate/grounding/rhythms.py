"""How often something happens and how long it lasts, in words, where the documents say otherwise of the same thing.

"Le relevé est trimestriel" and "la pause dure une heure" have no number, and most such words are nothing that a document can be
asked for. They are where documents have the same noun with another one, "le relevé est semestriel", and nowhere the answer's.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from decimal import Decimal
from itertools import islice

from msgspec import Struct

from areopage.text import DIGITS, FigureText, lower_case, stem

_S = r"[ \u00a0\u202f]"
_THING = r"(?<![\w'’-])(?:[ld]['’])?(?P<thing>[^\W\d_]{4,30})"
# By rhythm: its adjectives, and what a text may say instead of them.
_RHYTHMS = (
    ("quotidien|journali[eè]r|daily", r"jour|quotid|\bdai|day|24"),
    ("hebdomadaire|weekly", "semaine|hebdo|week|7|sept|huit|seven"),
    ("mensuel|monthly", "mois|mensu|month|30"),
    ("bimestriel", "bimestr|mois|month"),
    ("trimestriel|quarterly", r"trimestr|quarter|mois|month|\b[tq][1-4]\b|saison|season|4|quatre|four"),
    ("semestriel|half-yearly", r"semestr|half|mois|month|demi|twice|fois|times|\b[sh][12]\b|biannual"),
    ("annuel|yearly|annual", r"\bans?\b|année|annu|year|mois|month"),
    ("biennal|bisannuel|biennial", "bienn|bisann|2|deux|two"),
    ("triennal|triennial", "trienn|3|trois|three"),
)
_ADJECTIVES = "|".join(f"(?P<r{at}>{forms})" for at, (forms, _) in enumerate(_RHYTHMS))
_TRACES = tuple(re.compile(traces) for _, traces in _RHYTHMS)
# "Le relevé est trimestriel", "le relevé trimestriel", "a quarterly report".
_RHYTHM = re.compile(
    rf"(?:{_THING}{_S}(?P<said>(?:est|sont|is|are){_S})?)?(?<![\w'’-])(?P<word>{_ADJECTIVES})(?:n?es?|les?|s)?(?![\w-])"
    rf"(?:{_S}(?P<after>[^\W\d_]{{4,30}}))?"
)
_ENGLISH = ("ly", "annual", "ennial")
_UNIT = r"(?:heures?|journées?|jours?|semaines?|mois|ans?|années?|minutes?|hours?|days?|weeks?|months?|years?)(?!\w)"
_LASTS = re.compile(
    rf"{_THING}{_S}(?:dure(?:nt|ra|ront)?|lasts?){_S}(?:(?:environ|about|exactement|exactly){_S})?"
    rf"(?:(?P<one>(?:une?|an?|one){_S}(?P<unit>{_UNIT}))(?!{_S}(?:et|and|ou|or|à|to|[0-9]))"
    r"|(?!(?:de|from|until|entre|between)[ \u00a0]|d['’]|jusqu)(?P<rest>[^.;:\n]{1,40}))"
)
_ONE = re.compile(rf"(?<!\w)(?:une?|an?|one){_S}(?P<unit>{_UNIT})(?!{_S}(?:et{_S}demie?(?!\w)|and{_S}a{_S}half(?!\w)|[0-9]))")
_CUES = (
    "estriel", "ennal", "ennial", "annuel", "annual", "mensuel", "quotidien", "journali", "hebdomadaire", "daily", "weekly",
    "monthly", "quarterly", "yearly", " dure", "lasts", " last a", " last one",
)  # fmt: skip
_MINUTES = {"minute": 1, "day": 1_440, "month": 43_800}
_MOST = 20  # of one answer that are looked at
_NEARLY = 0.87  # of a longer duration, which a shorter one may be called: a month of 28 days, an hour of 55 minutes
_LENGTH_OF_A_DAY = 300  # minutes from which on something may be called a day


class Said(Struct, frozen=True):
    """Something of a text in words: of what, and which rhythm or how many minutes; `bare`: without a verb, or a number."""

    thing: str
    value: int
    start: int
    end: int
    bare: bool = False


def speaks(text: str) -> bool:
    """Whether a text may say such a thing at all."""
    low = lower_case(text)
    return any(cue in low for cue in _CUES)


def said_otherwise(response: str, texts: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Where an answer says such a thing of which the documents say otherwise only; all texts are `Readable`."""
    low, lows = lower_case(response), list(map(lower_case, texts))
    counted = DIGITS.search(low) is not None
    rhythms = list(islice((said for said in _rhythms(low) if not (said.bare and counted)), _MOST))
    others = _by_thing(_rhythms, lows) if rhythms else {}
    for said in rhythms:
        values = others.get(said.thing, set())
        traced = any(_TRACES[said.value].search(text) for text in lows) if values else True
        if not traced and values.isdisjoint(other.value for other in rhythms):
            yield said.start, said.end
    lengths = list(islice((said for said in _lengths(low) if said.bare), _MOST))
    others = _by_thing(_lengths, lows) if lengths else {}
    lengths = [said for said in lengths if said.thing in others]
    documented = frozenset(value for text in lows for value in _values(text)) if lengths else frozenset()
    for said in lengths:
        if not any(_alike(said.value, value) for value in documented):
            yield said.start, said.end


def _by_thing(find: Callable[[str], Iterator[Said]], lows: Sequence[str]) -> dict[str, set[int]]:
    """What texts say of each thing."""
    values: dict[str, set[int]] = {}
    for text in lows:
        for said in find(text):
            values.setdefault(said.thing, set()).add(said.value)
    return values


def _rhythms(low: str) -> Iterator[Said]:
    for match in _RHYTHM.finditer(low):
        english = match["word"].endswith(_ENGLISH)
        thing = stem((match["after"] if english and not match["said"] else match["thing"]) or "x")
        value = next(at for at in range(len(_RHYTHMS)) if match[f"r{at}"])
        if thing:
            yield Said(thing, value, match.start("word"), match.end("word"), bare=not match["said"])


def _lengths(low: str) -> Iterator[Said]:
    for match in _LASTS.finditer(low) if "dure" in low or "last" in low else ():
        thing = stem(match["thing"])
        if match["one"] and thing:
            yield Said(thing, _minutes(match["unit"]), *match.span("one"), bare=True)
        elif thing:
            yield from (Said(thing, value, *match.span("rest")) for value in _durations(match["rest"]))


def _values(low: str) -> Iterator[int]:
    """All durations of a text, in minutes."""
    yield from _durations(low)
    yield from (_minutes(match["unit"]) for match in _ONE.finditer(low))


def _durations(low: str) -> Iterator[int]:
    """The durations of a text that have a number, in minutes."""
    for figure in FigureText(low).of("duration"):
        if isinstance(figure.value, Decimal):
            yield int(figure.value * _MINUTES[figure.unit])


def _minutes(unit: str) -> int:
    return next(_durations(f"1 {unit.replace('journée', 'jour')}"))


def _alike(minutes: int, other: int) -> bool:
    """Whether two durations may be called the same; a day may be one of work."""
    shorter, longer = sorted((minutes, other))
    return shorter >= _NEARLY * longer or (longer == _MINUTES["day"] and shorter >= _LENGTH_OF_A_DAY)
