"""The figures and references of an answer: do the documents hold them, and where?

A figure is sought as it is written, then by its value, then in writings that are not read as figures.
"""

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence, Set
from decimal import Decimal
from functools import cache, cached_property
from itertools import accumulate, islice
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from areopage.cases.records import Document
from areopage.gate.grounding.figure_context import FigureReader, Spot, Surroundings
from areopage.gate.grounding.identified import Identified
from areopage.gate.grounding.qualified import Rows, clause_words, qualifiers, rounded, unqualified
from areopage.gate.grounding.unread_places import (
    Row,
    acts_by_number,
    amounts_without_unit,
    date_of,
    derived,
    holds_act,
    labels_said,
    periods,
    row_says,
    rows_of,
)
from areopage.gate.records import Place
from areopage.text.figures import Figure, all_figures, supports
from areopage.text.folding import lower_case, starts_of
from areopage.text.identifiers import SMALL, Identifier
from areopage.text.lexicon import UNIT_CUES
from areopage.text.numbers import DIGITS, MOST_SPANS, DigitIndex, around, key_of
from areopage.text.readable import Readable
from areopage.text.references import Reference, legal_references
from areopage.text.stated import AFTER, BEFORE, BEFORE_LEGAL, CUES, Counted, Stated, stated_in
from areopage.text.stems import parted, stems

MOST_WINDOWS = 2_000  # of documents for one answer: claims that would need more count as unsupported
_MOST_READ = 50_000_000  # characters that are searched word by word: later claims are sought by their digits alone
_MOST_TRIES = 8  # for the same characters in a document, where the first ones belong to a longer number
_GROUPED = 1_000  # from which on a number may be written in groups
_MOST_SPOTS = 12  # of one claim
_BESIDE_UNIT = 60  # characters on each side of a number in which the unit of a duration may stand apart
_BESIDE = 40  # characters on each side of a number in which what it counts may stand
_MOST_UNREAD = 20  # claims of one answer that are sought in writings that are not read as figures
_MOST_JUDGED = 6  # claims of one answer whose surroundings are compared with those of other figures
ClaimKind = Literal[
    "amount", "percentage", "date", "duration", "quantity", "reference", "contact", "code", "number", "weekday", "name"
]
NAMING: tuple[ClaimKind, ...] = ("contact", "code", "weekday", "name")
"""Kinds that name something and are no figures."""
ClaimState = Literal["supported", "elsewhere", "missing"]


class Places:
    """Texts in which claims are looked for. What was found once is kept, and the work is bounded."""

    def __init__(self, texts: Sequence[str], read: FigureReader) -> None:
        self.texts = texts
        self._read = read
        self._index: DigitIndex | None = None
        self._left = MOST_WINDOWS
        self._readable = _MOST_READ
        self._written: dict[tuple[str, bool], list[Spot]] = {}
        self._valued: dict[tuple[str, ...], list[Spot]] = {}
        self._plain: list[str] = []
        self._values: dict[tuple[str, str], list[Decimal]] = {}
        self._rows: dict[int, Sequence[Row]] = {}

    def written(self, stated: Figure | Reference) -> list[Spot]:
        """Where the same characters stand, and no number goes on before or after them."""
        dated = isinstance(stated, Figure) and stated.kind == "date"
        key = (stated.text, dated)
        if key not in self._written:
            self._written[key] = list(islice(self._word_by_word(stated.text, dated=dated), _MOST_SPOTS))
        return self._written[key]

    def valued(self, stated: Figure | Reference) -> list[Spot]:
        """Where the same value stands, in any notation."""
        if isinstance(stated, Figure):
            key: tuple[str, ...] = (stated.kind, str(stated.value), stated.unit, stated.days, stated.per)
        else:
            key = ("reference", stated.normalised)
        if key not in self._valued:
            self._valued[key] = list(islice(self._by_value(stated), _MOST_SPOTS))
        return self._valued[key]

    def unread(self, stated: Figure, said: Callable[[], Set[str]]) -> tuple[Spot | None, bool]:
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

    def values(self, stated: Figure) -> list[Decimal]:
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

    def counted(self, stated: Counted) -> tuple[list[Spot], bool]:
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

    def _word_by_word(self, written: str, *, dated: bool) -> Iterator[Spot]:
        for number, text in enumerate(self.texts):
            self._readable -= len(text)
            if self._readable < 0:
                return
            for start in starts_of(written, text, _MOST_TRIES) if written in text else ():
                if _whole(text, start, start + len(written), dated=dated):
                    yield number, start, start + len(written)

    def _by_value(self, stated: Figure | Reference) -> Iterator[Spot]:
        before = BEFORE if isinstance(stated, Figure) else BEFORE_LEGAL
        cues = CUES[_cue_of(stated)]
        years = isinstance(stated, Figure) and stated.kind == "date" and not str(stated.value).startswith("--")
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
        if isinstance(stated, Figure) and stated.kind == "duration" and isinstance(stated.value, Decimal):
            yield from self._unit_apart(stated, stated.value)

    def _unit_apart(self, stated: Figure, value: Decimal) -> Iterator[Spot]:
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

    def _found(self, stated: Figure | Reference, window: str) -> tuple[int, int] | None:
        if isinstance(stated, Figure):
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


def _cue_of(stated: Figure | Reference) -> str:
    """What it is sought by: the kind, for a duration its unit."""
    if not isinstance(stated, Figure):
        return "reference"
    return stated.unit if stated.kind == "duration" else stated.kind


def _numbered(number: str, window: str) -> tuple[int, int] | None:
    """Where a distinctive number stands without its kind: 2018-771, l123-4, 2016/679."""
    if len(number) < 5 or not number[-1].isdigit() or number.isdigit():
        return None
    start = window.lower().find(number)
    return (start, start + len(number)) if start >= 0 and _whole(window, start, start + len(number), dated=False) else None


def _keys(stated: Figure | Reference) -> list[str]:
    """The digits by which a claim may be found."""
    if isinstance(stated, Reference):
        digits = re.search("[0-9]+", stated.normalised)
        return [key_of(digits.group())] if digits else ["1"]
    if isinstance(stated.value, str):
        return [key_of(stated.value[-2:]) if stated.value.startswith("--") else stated.value[:4]]
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


class Claim(Struct, frozen=True, kw_only=True):
    """A figure or a reference of the answer.

    Args:
        place: where it stands in the response.
        state: `supported` where a document (or the question) holds it, in any notation; `elsewhere` where documents hold it,
            but among other words than the answer's, whose place holds another figure of its kind or is far away; `missing`
            where none holds it.
        evidence: where the document that holds it has it; None where none does, or where only a title or the question does.
        instead: for one that stands elsewhere, the figure that the documents have in its place; None where they have none.
    """

    kind: ClaimKind
    place: Place
    state: ClaimState
    evidence: Place | None = None
    instead: Place | None = None

    @property
    def supported(self) -> bool:
        """Whether a document (or the question) holds it where the answer's words stand."""
        return self.state == "supported"


class Covered:
    """Whether a claim stands at a position; claims are in order."""

    def __init__(self, claims: Sequence[Claim]) -> None:
        """Note where claims stand."""
        self._starts = [claim.place.start for claim in claims]
        self._ends = list(accumulate((claim.place.end for claim in claims), max))

    def __contains__(self, position: int) -> bool:
        before = bisect_right(self._starts, position)
        return before > 0 and position < self._ends[before - 1]


def check_claims(
    prompt: str,
    response: str,
    documents: Sequence[Document],
    clean: Sequence[str] | None = None,
    numbers: Sequence[Set[str]] | None = None,
) -> list[Claim]:
    """The figures and references of an answer in order, each with whether a document or the question holds it, and where.

    Args:
        response: the answer; its citations may have been blanked.
        clean: the documents' texts parted, where that has been done.
        numbers: the words of numbers that each of them has, where they are known.
    """
    readable = Readable(response)
    stated = stated_in(readable.text)
    if not stated:
        return []
    ready = [parted(document.text) for document in documents] if clean is None else clean
    return _Check(prompt, readable, documents, ready, numbers or [None] * len(ready), stated).claims()


def _kind_of(stated: Stated) -> ClaimKind:
    if isinstance(stated, Counted):
        return "quantity"
    return "reference" if isinstance(stated, Reference) else stated.kind


class _Check:
    """The documents' texts come first, then titles and the question: these hold figures, but show no place and no context."""

    def __init__(
        self,
        prompt: str,
        response: Readable,
        documents: Sequence[Document],
        clean: Sequence[str],
        numbers: Sequence[Set[str] | None],
        stated: Sequence[Stated],
    ) -> None:
        self._documents, self._readable = documents, response
        self._texts = [
            Readable(document.text, own, words) for document, own, words in zip(documents, clean, numbers, strict=True)
        ]
        texts = [one.text for one in self._texts]
        ready = [one.clean for one in self._texts]
        read = cache(all_figures)
        self._places = Places(
            [*texts, *(document.title for document in documents if document.title), Readable(prompt).text], read
        )
        self._identified = Identified(self._places.texts)
        self._rows = Rows(texts)
        self._surroundings = Surroundings(texts, ready, response.text, frozenset(stems(prompt)), read)
        self._unjudged = _MOST_JUDGED
        self._prompt, self._response, self._stated = prompt, response.text, stated
        self._unread_left = _MOST_UNREAD

    def claims(self) -> list[Claim]:
        """All claims in order."""
        return [self._checked(one) for one in self._stated]

    def _checked(self, stated: Stated) -> Claim:
        if isinstance(stated, Counted):
            return self._counted(stated)
        if isinstance(stated, Identifier):
            return self._identifier(stated)
        claim = self._claim(stated)
        if claim.state != "supported" or isinstance(stated, Reference) or stated.kind in ("date", "duration"):
            return claim
        return self._in_its_row(stated, claim)

    def _identifier(self, stated: Identifier) -> Claim:
        spot = self._identified.spot(stated)
        if spot is None and stated.kind == "number" and ":" not in stated.value:
            shortened = any(map(str.isalpha, self._readable.original(stated.start, stated.end)))
            if rounded(self._response, stated.start, Decimal(stated.value), self._identified.values, always=shortened):
                return self._told(stated, "supported", None)
        return self._told(stated, "supported" if spot else "missing", spot)

    def _in_its_row(self, stated: Figure, claim: Claim) -> Claim:
        """The claim again; misplaced where a table has it in another row, or no spot has its bound or its rate."""
        spots = self._places.written(stated) or self._places.valued(stated)
        qualified = qualifiers(self._response, stated.start, stated.end)
        if not spots or self._beyond(spots) or not (qualified or self._rows.any_in(spots)):
            return claim
        spots = list(dict.fromkeys([*spots, *self._places.valued(stated)]))
        if self._beyond(spots):
            return claim
        rival = self._rows.other_row(spots, clause_words(self._response, stated.start, stated.end))
        loose = qualified is not None and unqualified(qualified, self._prompt, self._places.texts, spots)
        return self._told(stated, "elsewhere", spots[0], rival) if rival or loose else claim

    @cached_property
    def _said(self) -> Set[str]:
        return labels_said(self._prompt, self._response, self._stated)

    def _claim(self, stated: Figure | Reference) -> Claim:
        spots = self._places.written(stated)
        if not spots:
            spots = self._places.valued(stated)
        if not spots:
            return self._unread(stated)
        if isinstance(stated, Reference) or self._beyond(spots) or self._unjudged <= 0:
            return self._told(stated, "supported", spots[0])
        home = self._surroundings.at_home(stated, spots)
        if home is not None:
            return self._told(stated, "supported", home)
        self._unjudged -= 1
        judged = self._surroundings.judge(stated, spots)
        others = [spot for spot in self._places.valued(stated) if spot not in spots] if judged.misplaced else []
        if self._beyond(others):
            return self._told(stated, "supported", spots[0])
        if others:
            judged = self._surroundings.judge(stated, [*spots, *others])
        return self._told(stated, "elsewhere" if judged.misplaced else "supported", judged.best, judged.rival)

    def _unread(self, stated: Figure | Reference) -> Claim:
        """A claim that no text holds as a figure or a reference: one may have it in a writing that is not read as such."""
        self._unread_left -= 1
        if self._unread_left < 0:
            return self._told(stated, "missing", None)
        if isinstance(stated, Reference):
            act = self._places.act(stated)
            return self._told(stated, "supported" if act else "missing", act)
        spot, spoken_of = self._places.unread(stated, lambda: self._said)
        if spot is None and derived(stated, self._response):
            return self._told(stated, "supported", None)
        if (
            spot is None
            and isinstance(stated.value, Decimal)
            and rounded(self._response, stated.start, stated.value, lambda: self._places.values(stated))
        ):
            return self._told(stated, "supported", None)
        return self._told(stated, "missing" if spot is None else "supported" if spoken_of else "elsewhere", spot)

    def _beyond(self, spots: Sequence[Spot]) -> bool:
        """Whether a title or the question holds it, so that the answer need not have it from a place in a document."""
        return any(number >= len(self._documents) for number, _, _ in spots)

    def _counted(self, stated: Counted) -> Claim:
        spots, beside = self._places.counted(stated)
        state: ClaimState = "supported" if beside else "elsewhere" if spots else "missing"
        if state == "missing" and rounded(self._response, stated.start, Decimal(stated.value), self._identified.values):
            state = "supported"
        claim = self._told(stated, state, spots[0] if spots else None)
        # A number that stands nowhere is one whatever it counts; a small one may count what the answer lists.
        return replace(claim, kind="number") if state == "missing" and stated.value > SMALL else claim

    def _told(self, stated: Stated, state: ClaimState, spot: Spot | None, rival: Spot | None = None) -> Claim:
        start, end = self._readable.span(stated.start, stated.end)
        return Claim(
            kind=_kind_of(stated),
            place=Place(start=start, end=end, text=self._readable.original(stated.start, stated.end)),
            state=state,
            evidence=self._place(spot),
            instead=self._place(rival),
        )

    def _place(self, spot: Spot | None) -> Place | None:
        if spot is None or spot[0] >= len(self._documents):
            return None
        document = self._documents[spot[0]]
        start, end = self._texts[spot[0]].span(spot[1], spot[2])
        return Place(document=document.id, start=start, end=end, text=document.text[start:end])
