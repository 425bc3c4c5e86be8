"""Where texts have what an answer states: as it is written, by its value, and in writings that are not read as figures."""

import re
from collections.abc import Callable, Collection, Iterator, Sequence, Set
from decimal import Decimal
from itertools import chain, islice

from areopage.gate.grounding.figure_context import FigureReader, PlacedFigure, Spot
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
from areopage.gate.reading.stated import AMOUNT_CUE, SINGLE, THINGS, CountedThings
from areopage.text import (
    DIGITS,
    UNIT_CUES,
    FigureKind,
    Reference,
    TextFigure,
    legal_references,
    lower_case,
    starts_of,
    stem,
    stems,
    supports,
)

_MOST_NUMBERS = 2_000  # of documents that are looked at for one answer: claims that would need more count as unsupported
_MOST_READ = 50_000_000  # characters that are searched word by word: later claims are sought by their value alone
_MOST_TRIES = 8  # for the same characters in a document, where the first ones belong to a longer number
_GROUPED = 1_000  # from which on a number may be written in groups
_BETWEEN_GROUPS = r"[ .,'’\u00a0\u202f\u2009]?"
_MOST_SPOTS = 12  # of one claim
_MOST_SPANS = 50  # of the same digits in a document
_BESIDE_UNIT = 60  # characters on each side of a number in which the unit of a duration may stand apart
_BESIDE = 40  # characters on each side of a number in which what it counts may stand


class ClaimPlaces:
    """Texts in which claims are looked for; each is read once for a kind of figure."""

    def __init__(self, texts: Sequence[str], read: FigureReader) -> None:
        self.texts, self._read = texts, read
        self._flat = [text.replace("\n", " ").replace(" ,", ", ") for text in texts]
        self._left = _MOST_NUMBERS
        self._readable = _MOST_READ
        self._written: dict[tuple[str, bool], list[Spot]] = {}
        self._figures: dict[FigureKind, Sequence[PlacedFigure]] = {}
        self._values: dict[FigureKind, dict[Decimal | str, list[PlacedFigure]]] = {}
        self._references: dict[str, list[Spot]] | None = None
        self._plain: list[str] = []
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
        if isinstance(stated, Reference):
            return self._named(stated)[:_MOST_SPOTS]
        alike = self._valued(stated.kind).get(stated.value, ())
        spots = [spot for figure, spot in alike if supports(figure, stated)]
        return list(islice(chain(spots, self._unit_apart(stated)), _MOST_SPOTS))

    def figures(self, kind: FigureKind) -> Sequence[PlacedFigure]:
        """All figures of a kind; a duration without digits, "un an", is none: it is sought as a period."""
        if kind not in self._figures:
            self._figures[kind] = [
                (figure, (number, figure.start, figure.end))
                for number, text in enumerate(self._flat)
                for figure in self._read(text, kind, days=True)
                if kind != "duration" or DIGITS.search(figure.text)
            ]
        return self._figures[kind]

    def _valued(self, kind: FigureKind) -> dict[Decimal | str, list[PlacedFigure]]:
        """The figures of a kind by their value; a date also by its month, its year, and as a day of any year."""
        if kind not in self._values:
            by_value = self._values[kind] = {}
            for figure, spot in self.figures(kind):
                value = figure.value
                keys: Collection[Decimal | str] = (value,)
                if isinstance(value, str):
                    keys = dict.fromkeys([value, value[:7], value[:4], f"-{value[-6:]}" if value.count("-") > 1 else value])
                for key in keys:
                    by_value.setdefault(key, []).append((figure, spot))
        return self._values[kind]

    def _named(self, stated: Reference) -> list[Spot]:
        """Where a law, an article or an agreement is named, or its number alone where that is distinctive."""
        if self._references is None:
            self._references = {}
            for at, text in enumerate(self._flat):
                for reference in legal_references(text):
                    self._references.setdefault(reference.normalised, []).append((at, reference.start, reference.end))
        number = stated.normalised.split()[-1]  # 2018-771, l123-4, 2016/679
        distinctive = len(number) >= 5 and number[-1].isdigit() and not number.isdigit()
        spots = list(self._references.get(stated.normalised, ()))
        for at, text in enumerate(self._flat if distinctive else ()):
            start = text.lower().find(number)
            if start >= 0 and _whole(text, start, start + len(number), dated=False):
                spots.append((at, start, start + len(number)))
        return spots

    def unread(self, stated: TextFigure, said: Callable[[], Set[str]]) -> tuple[Spot | None, bool]:
        """Where a figure that was not found stands without its unit or as a word; and whether in a row of what is spoken of."""
        if stated.kind not in ("amount", "duration"):
            return None, True
        self._plain = self._plain or [lower_case(text).replace("-", " ").replace("\n", " ") for text in self.texts]
        if stated.kind == "duration":
            return next(periods(self._plain, stated), None), True
        priced = any(AMOUNT_CUE.search(text) for text in self._plain)
        cells = list(amounts_without_unit(self.texts, stated)) if priced else []
        for number, start, end in cells:
            if number not in self._rows:
                self._rows[number] = rows_of(self.texts[number])
            if row_says(self._rows[number], start, said()):
                return (number, start, end), True
        return (cells[0], False) if cells else (None, True)

    def values(self, stated: TextFigure) -> list[Decimal]:
        """The values of all figures of its kind and unit."""
        held = [figure.value for figure, _ in self.figures(stated.kind) if figure.unit == stated.unit]
        return [value for value in held if isinstance(value, Decimal)]

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
            for match in islice(pattern.finditer(text), _MOST_SPANS)
        )

    def _word_by_word(self, written: str, *, dated: bool) -> Iterator[Spot]:
        for number, text in enumerate(self.texts):
            self._readable -= len(text)
            if self._readable < 0:
                return
            for start in starts_of(written, text, _MOST_TRIES) if written in text else ():
                if _whole(text, start, start + len(written), dated=dated):
                    yield number, start, start + len(written)

    def _unit_apart(self, stated: TextFigure) -> Iterator[Spot]:
        """Where the unit of a duration stands apart: "number of days: 56"."""
        units = UNIT_CUES.get(stated.unit, {}) if stated.kind == "duration" and isinstance(stated.value, Decimal) else {}
        for factor, cues in units.items():
            value = Decimal(stated.value) / factor
            for number, start, end in self._numbers(int(value)) if value == int(value) else ():
                low = self.texts[number][max(0, start - _BESIDE_UNIT) : end + _BESIDE_UNIT].lower()
                if any(cue in low for cue in cues):
                    yield number, start, end

    def _numbers(self, value: int) -> Iterator[Spot]:
        """Where a number stands in digits, alone or in groups."""
        sought = re.compile((_BETWEEN_GROUPS if value >= _GROUPED else "").join(str(value)))
        for number, text in enumerate(self.texts):
            for match in islice(sought.finditer(text), _MOST_SPANS):
                self._left -= 1
                if self._left < 0:
                    return
                if _whole(text, *match.span(), dated=True):
                    yield number, *match.span()


def _whole(text: str, start: int, end: int, *, dated: bool) -> bool:
    """Whether neither a word nor a number goes on over the ends of a piece. A hyphen joins numbers (12-3), not dates."""
    before, after = text[max(0, start - 2) : start], text[end : end + 2]
    joining = " .,\u00a0\u202f" if dated else ".,-'’/ \u00a0\u202f"
    if before and (before[-1].isalnum() or (before[:1].isdigit() and before[-1] in joining)):
        return False
    return not (after and (after[0].isalnum() or (after[0] in joining and after[1:].isdigit())))
