"""Where texts have what an answer states: as it is written, by its value, and in writings that are not read as figures."""

import re
from collections.abc import Callable, Iterator, Sequence, Set
from decimal import Decimal
from itertools import islice

from areopage.gate.grounding.figure_context import FigureReader, Spot
from areopage.gate.grounding.unread_places import (
    Row,
    acts_by_number,
    amounts_without_unit,
    date_of,
    holds_act,
    periods,
    row_says,
    rows_of,
)
from areopage.gate.reading.stated import AFTER, BEFORE, BEFORE_LEGAL, CUES, SINGLE, THINGS, CountedThings
from areopage.text import (
    DIGITS,
    MOST_SPANS,
    UNIT_CUES,
    DigitIndex,
    Reference,
    TextFigure,
    around,
    key_of,
    legal_references,
    lower_case,
    starts_of,
    stem,
    stems,
    supports,
)

MOST_WINDOWS = 2_000  # of documents for one answer: claims that would need more count as unsupported
_MOST_READ = 50_000_000  # characters that are searched word by word: later claims are sought by their digits alone
_MOST_TRIES = 8  # for the same characters in a document, where the first ones belong to a longer number
_GROUPED = 1_000  # from which on a number may be written in groups
_MOST_SPOTS = 12  # of one claim
_BESIDE_UNIT = 60  # characters on each side of a number in which the unit of a duration may stand apart
_BESIDE = 40  # characters on each side of a number in which what it counts may stand


class ClaimPlaces:
    """Texts in which claims are looked for. What was found once is kept, and the work is bounded."""

    def __init__(self, texts: Sequence[str], read: FigureReader) -> None:
        self.texts = texts
        self.read = self._read = read
        self._index: DigitIndex | None = None
        self._left = MOST_WINDOWS
        self._readable = _MOST_READ
        self._written: dict[tuple[str, bool], list[Spot]] = {}
        self._valued: dict[tuple[str, ...], list[Spot]] = {}
        self._plain: list[str] = []
        self._values: dict[tuple[str, str], list[Decimal]] = {}
        self._rows: dict[int, Sequence[Row]] = {}

    def written(self, stated: TextFigure | Reference) -> list[Spot]:
        """Where the same characters stand, and no number goes on before or after them."""
        dated = isinstance(stated, TextFigure) and stated.kind == "date"
        key = (stated.text, dated)
        if key not in self._written:
            self._written[key] = list(islice(self._word_by_word(stated.text, dated=dated), _MOST_SPOTS))
        return self._written[key]

    def valued(self, stated: TextFigure | Reference) -> list[Spot]:
        """Where the same value stands, in any notation."""
        if isinstance(stated, TextFigure):
            key: tuple[str, ...] = (stated.kind, str(stated.value), stated.unit, stated.days, stated.per)
        else:
            key = ("reference", stated.normalised)
        if key not in self._valued:
            self._valued[key] = list(islice(self._by_value(stated), _MOST_SPOTS))
        return self._valued[key]

    def unread(self, stated: TextFigure, said: Callable[[], Set[str]]) -> tuple[Spot | None, bool]:
        """Where a figure that was not found stands without its unit or as a word; and whether in a row of what is spoken of."""
        if stated.kind not in ("amount", "duration"):
            return None, True
        self._plain = self._plain or [lower_case(text).replace("-", " ").replace("\n", " ") for text in self.texts]
        if stated.kind == "duration":
            return next(periods(self._plain, stated), None), True
        priced = any(CUES["amount"].search(text) for text in self._plain)
        cells = list(amounts_without_unit(self.texts, self._digits(), stated)) if priced else []
        for number, start, end in cells:
            if number not in self._rows:
                self._rows[number] = rows_of(self.texts[number])
            if row_says(self._rows[number], start, said()):
                return (number, start, end), True
        return (cells[0], False) if cells else (None, True)

    def values(self, stated: TextFigure) -> list[Decimal]:
        """The values of all figures of its kind and unit."""
        if (stated.kind, stated.unit) not in self._values:
            held = [one for text in self.texts for one in self._read(text, stated.kind, days=False) if one.unit == stated.unit]
            self._values[stated.kind, stated.unit] = [one.value for one in held if isinstance(one.value, Decimal)]
        return self._values[stated.kind, stated.unit]

    def act(self, stated: Reference) -> Spot | None:
        """Where a law or an agreement stands that is named by its date alone, or by its number in a title."""
        date = date_of(stated)
        if date is not None:
            return next((spot for spot in self.valued(date) if holds_act(self.texts[spot[0]], stated)), None)
        return next(acts_by_number(self.texts, stated), None)

    def counted(self, stated: CountedThings) -> tuple[list[Spot], bool]:
        """Where a number stands; and whether the first of these places has what is counted beside it."""
        for number, text in enumerate(self.texts):
            start = text.find(stated.text)
            if start >= 0 and _whole(text, start, start + len(stated.text), dated=True):
                return [(number, start, start + len(stated.text))], True
        found: list[Spot] = []
        for number, start, end in self._numbers(stated.value):
            text = self.texts[number]
            if stated.noun in stems(text[max(0, start - _BESIDE) : end + _BESIDE]):
                return [(number, start, end)], True
            found.append((number, start, end))
        return found, False

    def counted_otherwise(self, stated: CountedThings) -> bool:
        """Whether a text has another number of the same things: "2 témoins" for 4."""
        return any(
            stem(match["noun"]) == stated.noun and (match.re is SINGLE or int(match["number"]) != stated.value)
            for text in self.texts
            for pattern in ((THINGS, SINGLE) if stated.value > 1 else (THINGS,))
            for match in islice(pattern.finditer(text), MOST_SPANS)
        )

    def _word_by_word(self, written: str, *, dated: bool) -> Iterator[Spot]:
        for number, text in enumerate(self.texts):
            self._readable -= len(text)
            if self._readable < 0:
                return
            for start in starts_of(written, text, _MOST_TRIES) if written in text else ():
                if _whole(text, start, start + len(written), dated=dated):
                    yield number, start, start + len(written)

    def _by_value(self, stated: TextFigure | Reference) -> Iterator[Spot]:
        before = BEFORE if isinstance(stated, TextFigure) else BEFORE_LEGAL
        cues = CUES[_cue_of(stated)]
        years = isinstance(stated, TextFigure) and stated.kind == "date" and not str(stated.value).startswith("--")
        for key in _keys(stated):
            for number, begin, stop in self._runs(key) if years else self._digits().spans(key):
                if self._left <= 0:
                    return
                text = self.texts[number]
                start = around(text, begin - before)
                window = text[start : stop + AFTER].replace("\n", " ").replace(" ,", ", ")
                if not cues.search(window.lower()):
                    continue
                self._left -= 1
                place = self._found(stated, window)
                if place:
                    yield number, start + place[0], start + place[1]
        if isinstance(stated, TextFigure) and stated.kind == "duration" and isinstance(stated.value, Decimal):
            yield from self._unit_apart(stated, stated.value)

    def _unit_apart(self, stated: TextFigure, value: Decimal) -> Iterator[Spot]:
        """Where the unit of a duration stands apart: "number of days: 56"."""
        for factor, cues in UNIT_CUES.get(stated.unit, {}).items():
            for number, start, end in self._numbers(int(value / factor)) if value % factor == 0 else ():
                low = self.texts[number][max(0, start - _BESIDE_UNIT) : end + _BESIDE_UNIT].lower()
                if any(cue in low for cue in cues):
                    yield number, start, end

    def _numbers(self, value: int) -> Iterator[Spot]:
        digits = str(value)
        for number, start, end in self._runs(digits) if value < _GROUPED else self._digits().spans(key_of(digits)):
            if self._left <= 0:
                return
            self._left -= 1
            text = self.texts[number]
            if "".join(DIGITS.findall(text[start:end])) == digits and _whole(text, start, end, dated=True):
                yield number, start, end

    def _runs(self, digits: str) -> Iterator[Spot]:
        """Where digits stand together; quicker than an index of all digits where these are never parted."""
        for number, text in enumerate(self.texts):
            for start in starts_of(digits, text, MOST_SPANS) if digits in text else ():
                yield number, start, start + len(digits)

    def _found(self, stated: TextFigure | Reference, window: str) -> tuple[int, int] | None:
        if isinstance(stated, TextFigure):
            days = isinstance(stated.value, str) and stated.value.startswith("--")
            held = self._read(window, stated.kind, days=days)
            return next(((figure.start, figure.end) for figure in held if supports(figure, stated)), None)
        named = (reference for reference in legal_references(window) if reference.normalised == stated.normalised)
        place = next(((reference.start, reference.end) for reference in named), None)
        return place or _numbered(stated.normalised.split()[-1], window)

    def _digits(self) -> DigitIndex:
        if self._index is None:
            self._index = DigitIndex(self.texts)
        return self._index


def _cue_of(stated: TextFigure | Reference) -> str:
    """What it is sought by: the kind, for a duration its unit."""
    if not isinstance(stated, TextFigure):
        return "reference"
    return stated.unit if stated.kind == "duration" else stated.kind


def _numbered(number: str, window: str) -> tuple[int, int] | None:
    """Where a distinctive number stands without its kind: 2018-771, l123-4, 2016/679."""
    if len(number) < 5 or not number[-1].isdigit() or number.isdigit():
        return None
    start = window.lower().find(number)
    return (start, start + len(number)) if start >= 0 and _whole(window, start, start + len(number), dated=False) else None


def _keys(stated: TextFigure | Reference) -> list[str]:
    """The digits by which a claim may be found."""
    if isinstance(stated, Reference):
        digits = re.search("[0-9]+", stated.normalised)
        return [key_of(digits.group())] if digits else ["1"]
    if isinstance(stated.value, str):
        if stated.value.startswith("--"):
            return [key_of(stated.value[-2:])]
        short = stated.value[2:4]
        marks = "/.’' " if len(stated.value) > len("2025-06") else ("-", "–", "- ", "– ")  # 18/06/89, '89; 1802-85, 2007 -- 08
        return [stated.value[:4], *(f"{mark}{short}" for mark in marks)]
    factors = UNIT_CUES.get(stated.unit, (1,)) if stated.kind == "duration" else (1,)
    # 90 minutes may be 1.5 hours.
    values = [stated.value / factor for factor in factors if stated.value * 4 % factor == 0 or factor == 1]
    keys = [key_of(f"{value:f}") for value in values]
    if stated.unit == "minute" and stated.value % 60:  # 17h30 is found by its hours
        keys.append(key_of(f"{stated.value // 60:f}"))
    return list(dict.fromkeys(keys))


def _whole(text: str, start: int, end: int, *, dated: bool) -> bool:
    """Whether neither a word nor a number goes on over the ends of a piece. A hyphen joins numbers (12-3), not dates."""
    before, after = text[max(0, start - 2) : start], text[end : end + 2]
    joining = " .,\u00a0\u202f" if dated else ".,-'’/ \u00a0\u202f"
    if before and (before[-1].isalnum() or (before[:1].isdigit() and before[-1] in joining)):
        return False
    return not (after and (after[0].isalnum() or (after[0] in joining and after[1:].isdigit())))
