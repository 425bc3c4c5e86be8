"""Where texts have the contacts, codes, numbers and days of the week that an answer names; and the names that no text has."""

import re
from collections.abc import Callable, Iterator, Sequence
from decimal import Decimal
from functools import cached_property
from itertools import pairwise

from areopage.gate.grounding.figure_context import Spot
from areopage.text.folding import lower_case, starts_of, unaccented
from areopage.text.identifiers import Identifier, IdentifierKind, unit_after, units_like, weekdays
from areopage.text.lexicon import FIRST_NAMES
from areopage.text.numbers import decimal_of

_MOST_TRIES = 20  # for the same characters in a text
_MOST_SOUGHT = 200  # identifiers of one answer: later ones count as missing
_NUMBER = re.compile(
    r"[0-9]{1,3}(?:[ \u00a0\u202f\u2009'’,.][0-9]{3}(?![0-9])){1,5}(?:[.,][0-9]{1,9})?|[0-9]{1,15}(?:[.,][0-9]{1,9})?"
)
_ONLINE = re.compile("[@.]")
_TO = re.compile(r"[ \u00a0]?(?:à|au|to|through|thru|until|jusqu'au|-|–)[ \u00a0]?(?:le[ \u00a0])?")
_GROUPING = (" ", "\u00a0", "\u202f", "\u2009", ",", ".", "'", "’")
_JOINED_BEFORE, _JOINED_AFTER = re.compile("[0-9][.,]"), re.compile("[.,]?[0-9]")
_EVERY_DAY = re.compile(
    r"tous les jours|every ?day|daily|7[ \u00a0]?j(?:ours)?[ \u00a0]?/[ \u00a0]?7|seven days a week|7 days a week|24/7"
)
_WEEKEND = re.compile(r"week-?[ ]?ends?\b|fin de semaine")
_SHORT_DAYS = (
    ("lun", "mon"), ("mar", "tue"), ("mer", "wed"), ("jeu", "thu"), ("ven", "fri"), ("sam", "sat"), ("dim", "sun"),
)  # fmt: skip
_TITLES = (
    r"(?:mm?\.|mmes?|mlles?|monsieur|madame|mademoiselle|ma[iî]tre|me|dr|docteur|pr|professeure?|mr|mrs|ms|miss|sir|prof)\.?"
)
_WORD = r"[^\W\d_][^\W_]{0,24}(?:[-'’][^\W_]{1,24}){0,2}"
# What a person's or a place's name has before it.
_NAMED = re.compile(rf"(?<!\w)(?:{_TITLES}[ \u00a0](?:{_WORD}[ \u00a0]){{0,2}}|(?:à|in|near|at|from)[ \u00a0])\Z", re.IGNORECASE)
_LAST_WORD = re.compile(rf"(?P<word>{_WORD})[ \u00a0]\Z")
# What the title or preposition before a name ends with, in lower case: most words have none of these before them.
_CUES = (
    "mm", "mme", "mmes", "mlle", "mlles", "monsieur", "madame", "mademoiselle", "maitre", "maître", "me", "dr", "docteur",
    "pr", "professeur", "professeure", "mr", "mrs", "ms", "miss", "sir", "prof", "à", "in", "near", "at", "from", ".", "m",
)  # fmt: skip
_BEFORE_NAME = 60  # characters before a word in which its title may stand


class Identified:
    """Texts in which identifiers are looked for; they are `Readable`. The work is bounded."""

    def __init__(self, texts: Sequence[str]) -> None:
        """Args:
        texts: the documents', their titles and the question.
        """
        self._texts = texts
        self._left = _MOST_SOUGHT
        self._finders: dict[IdentifierKind, Callable[[Identifier], Iterator[Spot]]] = {
            "contact": self._contact, "code": self._code, "number": self._number, "weekday": self._weekday,
        }  # fmt: skip

    @cached_property
    def _low(self) -> list[str]:
        return [lower_case(text) for text in self._texts]

    def values(self) -> list[Decimal]:
        """The numbers of the texts."""
        return [decimal_of(found.group()) for text in self._texts for found in _NUMBER.finditer(text)]

    def spot(self, one: Identifier) -> Spot | None:
        """Where a text has it, in any writing; None where none does."""
        self._left -= 1
        return next(self._finders[one.kind](one), None) if self._left >= 0 else None

    def _contact(self, one: Identifier) -> Iterator[Spot]:
        if not _ONLINE.search(one.value):
            yield from self._spaced(one.value, inside=one.value.isdigit())
            return
        for number, low in enumerate(self._low):
            for start in starts_of(one.value, low, _MOST_TRIES) if one.value in low else ():
                end = start + len(one.value)
                mail = "@" in one.value
                if not _goes_on(low[start - 1 : start], "%+-_." if mail else "-_") and not _goes_on(low[end : end + 1], "-_"):
                    yield number, start, end

    def _code(self, one: Identifier) -> Iterator[Spot]:
        written = one.text.lstrip("vV")
        if not written[0].isdigit():
            yield from self._spaced(one.value)
            return
        for number, text in enumerate(self._texts):
            for start in starts_of(written, text, _MOST_TRIES) if written in text else ():
                end = start + len(written)
                if not text[start - 1 : start].isdigit() and not re.match(r"[0-9]|\.[0-9]", text[end : end + 2]):
                    yield number, start, end

    def _spaced(self, value: str, *, inside: bool = False) -> Iterator[Spot]:
        """Where letters and digits stand with anything between them that is neither; `inside`: digits may stand before them."""
        pattern = r"[\W_]{0,3}".join(map(re.escape, value))
        before = "" if inside else r"(?<![^\W_])"
        sought = re.compile(rf"{before}{pattern}(?![^\W_])", re.IGNORECASE)
        for number, text in enumerate(self._texts):
            found = sought.search(text)
            if found:
                yield number, found.start(), found.end()

    def _number(self, one: Identifier) -> Iterator[Spot]:
        if ":" in one.value:
            yield from self._ratio(*map(int, one.value.split(":")))
            return
        value = Decimal(one.value)
        for factor in units_like(one.unit) if one.unit else (Decimal(1),):
            for number, start, end in self._digits(value * one.factor / factor):
                unit, size = unit_after(self._texts[number], end) if one.unit else ("", factor)
                # A unit that is not known, or in the head of a table, may be any.
                if not one.unit or (unit, size) == (one.unit, factor) or (not unit and factor == one.factor):
                    yield number, start, end

    def _digits(self, value: Decimal) -> Iterator[Spot]:
        """Where a number stands in digits, in any writing, with no digit beside them."""
        for written in _writings(value):
            for number, text in enumerate(self._texts):
                for start in starts_of(written, text, _MOST_TRIES) if written in text else ():
                    if _parted_number(text, start, start + len(written)):
                        yield number, start, start + len(written)

    def _ratio(self, first: int, second: int) -> Iterator[Spot]:
        """Where both numbers of a ratio stand beside each other; a time may be one of the other half of the day."""
        hours = {first, first + 12, first - 12} if second < 60 and first < 24 else {first}
        firsts = "|".join(str(hour) for hour in sorted(hours) if hour >= 0)
        sought = re.compile(
            rf"(?<![0-9])0?(?:{firsts})(?:[^\w\n]{{1,3}}|[ \u00a0]?(?:h|pour|to|sur|contre|heures)[ \u00a0]?)0?{second}(?![0-9])"
        )
        whole = re.compile(rf"(?<![0-9])0?(?:{firsts})[ \u00a0]?(?:h|am|pm|a\.m|p\.m|heures?|o.clock)(?![0-9])")
        for number, low in enumerate(self._low):
            found = sought.search(low) or (whole.search(low) if not second else None)
            if found:
                yield number, found.start(), found.end()

    def _weekday(self, one: Identifier) -> Iterator[Spot]:
        day = int(one.value)
        for number, low in enumerate(self._low):
            every = _EVERY_DAY.search(low) or (_WEEKEND.search(low) if day >= 5 else None)
            short = re.search(rf"(?<!\w)(?:{'|'.join(_SHORT_DAYS[day])})\.?(?!\w)", low)
            for found in filter(None, (every, short)):
                yield number, found.start(), found.end()
            for start, end in _days(self._texts[number], low, day):
                yield number, start, end


def _days(text: str, low: str, day: int) -> Iterator[tuple[int, int]]:
    """Where a text has a day of the week, or days between which it lies."""
    days = list(weekdays(text, low))
    for one in days:
        if int(one.value) == day:
            yield one.start, one.end
    for first, last in pairwise(days):
        begins, ends = int(first.value), int(last.value)
        if _TO.fullmatch(low, first.end, last.start) and (begins <= day <= ends or (begins > ends and not ends < day < begins)):
            yield first.start, last.end


def _writings(value: Decimal) -> Iterator[str]:
    """A number in digits, with any mark between groups and before decimals."""
    whole, _, rest = f"{value:f}".partition(".")
    rest = rest.rstrip("0")
    grouped = f"{int(whole):,}"
    forms = [whole, *(grouped.replace(",", mark) for mark in _GROUPING)] if len(whole) > 3 else [whole]
    for form in forms:
        for mark in ".,":
            if not rest:
                yield form
                break
            yield f"{form}{mark}{rest}"


def _parted_number(text: str, start: int, end: int) -> bool:
    """Whether no digit goes on before or after a number."""
    before, after = text[max(0, start - 2) : start], text[end : end + 2]
    return not (before[-1:].isdigit() or _JOINED_BEFORE.fullmatch(before) or _JOINED_AFTER.match(after))


def _goes_on(sign: str, joining: str) -> bool:
    return sign != "" and (sign.isalnum() or sign in joining)


def is_name(text: str, start: int, written: str) -> bool:
    """Whether a capitalised word inside a sentence is a person's or a place's name by what stands before it."""
    if not written[:1].isupper() or written.isupper() or len(written) < 3:
        return False
    before = text[max(0, start - _BEFORE_NAME) : start]
    if before[-1:] not in (" ", "\u00a0"):
        return False
    last = _LAST_WORD.search(before, max(before.rfind(" ", 0, -1), before.rfind("\u00a0", 0, -1)) + 1)
    if last is not None and last["word"][0].isupper() and unaccented(last["word"]).lower() in FIRST_NAMES:
        return True
    return any(word.endswith(_CUES) for word in before.lower().split()[-3:]) and _NAMED.search(before) is not None
