"""Where texts have what an answer states: as it is written, by its value, and in writings that are not read as figures."""

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence, Set
from decimal import Decimal
from itertools import chain, islice, product

from areopage.gate.grounding.figure_context import FigureReader, PlacedFigure, Spot
from areopage.gate.grounding.rows import clause_at
from areopage.gate.reading.identifiers import Identifier
from areopage.gate.reading.stated import AMOUNT_CUE, SINGLE, THINGS, CountedThings, Stated, times_of
from areopage.text import (
    BEFORE_AMOUNT,
    DIGITS,
    LATIN,
    MONEY_SIGNS,
    PERIODS,
    UNIT_CUES,
    FigureKind,
    Reference,
    TextFigure,
    decimal_of,
    digits_of_date,
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
_SMALLEST = 1_000  # of a whole amount that may stand without its unit: smaller numbers stand everywhere
_FREE = re.compile(
    r"(?i)(?<!\w)(?<!pas[ \u00a0])(?<!non[ \u00a0])(?<!not[ \u00a0])"
    r"(?:gratuite?s?|gratuitement|gratis|(?:free|without) (?:of )?charge|free|sans frais)(?!\w)"
)
# What stands before the last of several numbers of times: "en 2, 3 ou 4 fois".
_LISTED = re.compile(r"(?<![\w.,])(?:[0-9]{1,2}(?:,|[ \u00a0](?:ou|et|or|and|à|to)|-)[ \u00a0]?){1,5}\Z")
_BEFORE_LAST = 32  # characters in which these stand
_IN_ROW = 3  # numbers that make a line a row of a table
_BEFORE_ACT = 12  # characters between the name of an act and its number: "avenant salarial n° 51"
_PIECE = re.compile(r"[0-9]{1,3}(?:[ .,'’\u00a0\u202f\u2009][0-9]{3})+(?:[.,][0-9]{1,2})?|[0-9]+(?:[.,][0-9]{1,2})?")
_LABEL = re.compile(r"[^\W_]+(?:\.[0-9]+)?")
_PART = re.compile("demi|quart|half")
# What makes a figure greater that ends before it: 2 ans et demi, 20 euros et 50 centimes.
_GOES_ON = re.compile(
    r"(?:[ \u00a0\u202f]?[a-zé]{1,8})?[ \u00a0\u202f\n](?:et demie?|and a half)\b"
    r"|[ \u00a0\u202f](?:et |and )?[0-9]{1,2}[ \u00a0\u202f](?:centimes?|cents?)\b"
)
_OTHER_ARTICLE = re.compile(rf"[ \u00a0\u202f](?:{LATIN})(?!\w)|(?:(?<=ter)|(?<=bis)|(?<=ies))[ \u00a0][A-Z](?![\w'’.])")
_RANGE = re.compile(r"[0-9.,'’ \u00a0\u202f]{1,20}(?:à|et|ou|to|and|or|-|–)[ \u00a0\u202f]{0,2}[0-9]")
_JOINED_BEFORE, _JOINED_AFTER = re.compile(r"[0-9][.,/-]$"), re.compile(r"[.,/-][0-9]")
_GROUP_BEFORE = re.compile(r"(?:^|[^0-9A-Za-z])[0-9]{1,3}[ \u00a0\u202f\u2009]$")
_GROUP_AFTER = re.compile(r"[ \u00a0\u202f\u2009][0-9]{3}(?![0-9])")
_UNITS = frozenset(MONEY_SIGNS) | {"%", "‰", "°"}
Row = tuple[int, int, frozenset[str]]  # start, end, what it is named by
_ISO_DATE = re.compile("[0-9]{4}-[0-9]{2}-[0-9]{2}")
# An amendment is an agreement, and is called either.
_ALIKE = {"accord": "accord|avenant", "avenant": "accord|avenant"}


class ClaimPlaces:
    """Texts in which claims are looked for; each is read once for a kind of figure."""

    def __init__(self, texts: Sequence[str], read: FigureReader) -> None:
        self.texts, self._read = texts, read
        self._flat = [text.replace("\n", " ").replace(" ,", ", ") for text in texts]
        self._left = _MOST_NUMBERS
        self._readable = _MOST_READ
        self._written: dict[tuple[str, bool], list[Spot]] = {}
        self._figures: dict[tuple[FigureKind, int], Sequence[PlacedFigure]] = {}
        self._values: dict[tuple[FigureKind, int], dict[Decimal | str, list[PlacedFigure]]] = {}
        self._references: dict[str, list[Spot]] | None = None
        self._plain: list[str] = []
        self._rows: dict[int, Sequence[Row]] = {}
        self._times: list[tuple[int, str, Spot]] | None = None

    def written(self, stated: TextFigure | Reference) -> list[Spot]:
        """Where the same characters stand, and no number goes on before or after them."""
        dated = isinstance(stated, TextFigure) and stated.kind == "date"
        key = (stated.text, dated)
        if key not in self._written:
            spots = self._word_by_word(stated.text, dated=dated)
            self._written[key] = list(islice(self.alone(stated, spots), _MOST_SPOTS))
        return self._written[key]

    def valued(self, stated: TextFigure | Reference) -> list[Spot]:
        """Where the same value stands, in any notation."""
        if isinstance(stated, Reference):
            return self._named(stated)[:_MOST_SPOTS]
        digits = digits_of_date(stated.value) if isinstance(stated.value, str) else ""
        texts = (number for number, text in enumerate(self._flat) if digits in text)
        alike = chain.from_iterable(self._valued(stated.kind, number).get(stated.value, ()) for number in texts)
        spots = (spot for figure, spot in alike if supports(figure, stated))
        return list(islice(chain(spots, self.alone(stated, self._unit_apart(stated))), _MOST_SPOTS))

    def figures(self, kind: FigureKind, texts: Iterable[int] | None = None) -> Iterator[PlacedFigure]:
        """The figures of a kind, of all texts or of some; a duration without digits, "un an", is none, but "un an et demi" is."""
        numbers = range(len(self._flat)) if texts is None else texts
        return chain.from_iterable(self._figures_of(kind, number) for number in numbers)

    def _figures_of(self, kind: FigureKind, number: int) -> Sequence[PlacedFigure]:
        if (kind, number) not in self._figures:
            self._figures[kind, number] = [
                (figure, (number, figure.start, figure.end))
                for figure in sorted(self._read(self._flat[number]).of(kind), key=lambda figure: figure.start)
                if kind != "duration" or DIGITS.search(figure.text) or _PART.search(figure.text.lower())
            ]
        return self._figures[kind, number]

    def alone(self, stated: TextFigure | Reference, spots: Iterator[Spot]) -> Iterator[Spot]:
        """The spots that are no part of a longer figure of another value, or of another article: 12 h 30, 20 € 50, 5 bis."""
        if isinstance(stated, Reference):
            yield from ((number, start, end) for number, start, end in spots if not _OTHER_ARTICLE.match(self.texts[number], end))
            return
        if stated.kind not in ("amount", "duration"):
            yield from spots
            return
        for spot in spots:
            placed = self._figures_of(stated.kind, spot[0])
            at = bisect_right(placed, spot[1], key=lambda figure: figure[1][1]) - 1
            figure, (_, first, last) = placed[at] if at >= 0 else (stated, (spot[0], 0, 0))
            inside = spot[2] <= last and (first, last) != spot[1:]
            if not inside or figure.value == stated.value or _RANGE.match(figure.text):
                yield spot

    def _valued(self, kind: FigureKind, number: int) -> Mapping[Decimal | str, Sequence[PlacedFigure]]:
        """The figures of a text by their value; a date also by its month, its year, and as a day of any year.

        Of those that say the same, only as many as are asked for: what one of them does not support, none does.
        """
        if (kind, number) not in self._values:
            by_value = self._values[kind, number] = {}
            alike = Counter[tuple[Decimal | str, str, str, str]]()
            for figure, spot in self._figures_of(kind, number):
                value = figure.value
                alike[said := (value, figure.unit, figure.days, figure.per)] += 1
                keys: Collection[Decimal | str] = (value,)
                if isinstance(value, str):
                    keys = dict.fromkeys([value, value[:7], value[:4], f"-{value[-6:]}" if value.count("-") > 1 else value])
                for key in keys if alike[said] <= _MOST_SPOTS else ():
                    by_value.setdefault(key, []).append((figure, spot))
        return self._values[kind, number]

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
            return next(self.alone(stated, periods(self._plain, stated)), None), True
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
        values = [figure.value for figure, _ in self.figures(stated.kind) if figure.unit == stated.unit]
        return [value for value in values if isinstance(value, Decimal)]

    def act(self, stated: Reference) -> Spot | None:
        """Where a law or an agreement stands that is named by its date alone, or by its number in a title."""
        iso = stated.normalised.rpartition(" ")[2]
        if stated.kind != "law" or not _ISO_DATE.fullmatch(iso):
            return next(acts_by_number(self.texts, stated), None)
        date = TextFigure(kind="date", value=iso, text=stated.text, start=stated.start, end=stated.end)
        named = re.compile(_act(stated.normalised.partition(" ")[0]), re.IGNORECASE)
        return next((spot for spot in self.valued(date) if named.search(self.texts[spot[0]])), None)

    def times(self, stated: CountedThings) -> tuple[list[Spot], bool]:
        """Where something is done as many times; and whether there is another number of times, of a rate for a rate."""
        if self._times is None:
            self._times = [
                (int(value), times_of(match), (number, *match.span()))
                for number, text in enumerate(self.texts)
                if "fois" in text or "times" in text
                for match in islice(THINGS.finditer(text), _MOST_NUMBERS)
                if times_of(match)
                for value in (match["number"], *DIGITS.findall(_listed_before(text, match.start())))
            ]
        spots = [spot for value, _, spot in self._times if value == stated.value]
        return spots[:_MOST_SPOTS], any(noun == stated.noun for _, noun, _ in self._times)

    def free(self, said: Set[str]) -> Spot | None:
        """Where something of what is `said`, stems of words, is free of charge."""
        for number, text in enumerate(self.texts):
            for match in islice(_FREE.finditer(text), _MOST_SPANS):
                first, last = clause_at(text, *match.span())
                if not said.isdisjoint(stems(text[first:last])):
                    return number, *match.span()
        return None

    def counted(self, stated: CountedThings) -> tuple[list[Spot], bool]:
        """Where a number stands; and whether the first of these places has what is counted beside it."""
        for number, text in enumerate(self.texts):
            start = text.find(stated.text)
            if start >= 0 and _whole(text, start, start + len(stated.text), dated=True):
                return [(number, start, start + len(stated.text))], True
        spots: list[Spot] = []
        for number, start, end in self._numbers(stated.value):
            text = self.texts[number]
            if stated.noun in stems(text[max(0, start - _BESIDE) : end + _BESIDE]):
                return [(number, start, end)], True
            spots.append((number, start, end))
        return spots, False

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
        units = UNIT_CUES.get(stated.unit, {}) if stated.kind == "duration" and isinstance(stated.value, Decimal) else {}
        for factor, cues in units.items():
            value = Decimal(stated.value) / factor
            for number, start, end in self._numbers(int(value)) if value == int(value) else ():
                low = self.texts[number][max(0, start - _BESIDE_UNIT) : end + _BESIDE_UNIT].lower()
                if any(cue in low for cue in cues):
                    yield number, start, end

    def _numbers(self, value: int) -> Iterator[Spot]:
        digits = str(value)
        grouped = re.compile(_BETWEEN_GROUPS.join(digits)) if value >= _GROUPED else None
        for number, text in enumerate(self.texts):
            spans: Iterator[tuple[int, int]] = ((start, start + len(digits)) for start in starts_of(digits, text))
            if grouped is not None:
                spans = (match.span() for match in grouped.finditer(text))
            for start, end in islice(spans, _MOST_SPANS):
                self._left -= 1
                if self._left < 0:
                    return
                if _whole(text, start, end, dated=True):
                    yield number, start, end


def _listed_before(text: str, start: int) -> str:
    listed = _LISTED.search(text, max(0, start - _BEFORE_LAST), start)
    return listed.group() if listed else ""


def _whole(text: str, start: int, end: int, *, dated: bool) -> bool:
    """Whether neither a word nor a number goes on over the ends of a piece. A hyphen joins numbers (12-3), not dates."""
    before, after = text[max(0, start - 2) : start], text[end : end + 2]
    joining = " .,\u00a0\u202f" if dated else ".,-'’/ \u00a0\u202f"
    if before and (before[-1].isalnum() or (before[:1].isdigit() and before[-1] in joining)):
        return False
    return not (after and (after[0].isalnum() or (after[0] in joining and after[1:].isdigit()) or _GOES_ON.match(text, end)))


def amounts_without_unit(texts: Sequence[str], stated: TextFigure) -> Iterator[Spot]:
    """Where the number of an amount stands alone, as in a table."""
    value = stated.value
    if not isinstance(value, Decimal) or (value == int(value) and value < _SMALLEST):
        return
    for number, text in enumerate(texts):
        for match in _PIECE.finditer(text):
            if decimal_of(match.group()) == value and _stands_alone(text, *match.span()):
                yield number, *match.span()


def row_says(rows: Sequence[Row], start: int, said: Set[str]) -> bool:
    """Whether the row of a table in which a number stands is one that is spoken of; true where it is no row, or none is named."""
    named = next((labels for first, last, labels in rows if first <= start < last), None)
    if named is None or named & said:
        return True
    return not any(labels & said for _, _, labels in rows)


def labels_said(prompt: str, response: str, stated: Sequence[Stated]) -> frozenset[str]:
    """What rows may be named by: the words and codes of an answer and its question; not the figures that it states."""
    left = list(response)
    for statement in stated:
        if not isinstance(statement, Identifier):
            left[statement.start : statement.end] = " " * (statement.end - statement.start)
    return frozenset(_label(match.group()) for text in (prompt, "".join(left)) for match in _LABEL.finditer(text)) - {""}


def periods(low: Sequence[str], stated: TextFigure) -> Iterator[Spot]:
    """Where a duration is an adjective, or one of its unit: "quadriennal", "un an"; `low` are the texts in lower case."""
    if stated.kind != "duration" or not isinstance(stated.value, Decimal):
        return
    sought = list(PERIODS.get(int(stated.value), ())) if stated.unit == "month" else []
    for unit in UNIT_CUES.get(stated.unit, {}).get(int(stated.value), ()):
        word = unit.strip().removesuffix("s") if unit[0] == " " else unit
        sought += [f"{article} {word}" for article in ("un", "une", "one")]
    for written, (number, text) in product(sought, enumerate(low)):
        start = text.find(written)
        while start >= 0 and (
            text[start - 1 : start].isalnum()
            or _GOES_ON.match(text, start + len(written))
            or (written.endswith(" an") and text[start + len(written) : start + len(written) + 1].isalpha())
        ):
            start = text.find(written, start + 1)
        if start >= 0:
            yield number, start, start + len(written)


def acts_by_number(texts: Sequence[str], stated: Reference) -> Iterator[Spot]:
    """Where the name of an act and its number stand together, however they are joined: Avenant_n51, AVENANT 51."""
    act, _, written = stated.normalised.rpartition(" ")
    if stated.kind != "law" or not act or not written.isdigit() or not any(written in text for text in texts):
        return
    sought = re.compile(rf"(?<![^\W_])(?:{_act(act)})[^0-9\n]{{1,{_BEFORE_ACT}}}0?{written}(?![0-9]|[-/.][0-9])", re.IGNORECASE)
    for number, text in enumerate(texts):
        match = sought.search(text)
        if match:
            yield number, match.start(), match.end()


def _act(act: str) -> str:
    return _ALIKE.get(act, re.sub("e", "[eéèê]", re.escape(act)))


def _stands_alone(text: str, start: int, end: int) -> bool:
    """Whether no word, unit, or further group of the same number touches it; another number may stand one space away."""
    before, after = text[max(0, start - 6) : start], text[end : end + 5]
    following = after.lstrip(" \u00a0\u202f\u2009")[:1]
    if (
        before[-1:].isalnum()
        or following.isalpha()
        or after[:1].isdigit()
        or following in _UNITS
        or BEFORE_AMOUNT.search(lower_case(before))
    ):
        return False
    if _JOINED_BEFORE.search(before) or _JOINED_AFTER.match(after):
        return False
    groups = DIGITS.findall(text[start:end])
    return not (_GROUP_AFTER.match(after) or (len(groups[0]) == 3 and _GROUP_BEFORE.search(before)))


def rows_of(text: str) -> list[Row]:
    """The rows of tables in a text."""
    rows, start = [], 0
    for line in text.splitlines(keepends=True):
        if len(_PIECE.findall(line)) >= _IN_ROW:
            rows.append((start, start + len(line), frozenset(_label(match.group()) for match in _LABEL.finditer(line)) - {""}))
        start += len(line)
    return rows


def _label(word: str) -> str:
    """A word or code made comparable, "C.1" as "c1"; "" for one that is too short to name a row."""
    low = word.lower().replace(".", "")
    return low if len(low) > 1 else ""
