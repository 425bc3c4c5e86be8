"""Do the documents hold the figures and references of an answer? Value for value, in whatever writing.

The exact extractors of `areopage.evidence` are too slow for whole documents in every request: they read the answer around its
digits, and the documents only where the digits of a claim stand that is not there word by word.
"""

import re
from collections.abc import Iterator, Sequence
from decimal import Decimal

from msgspec import Struct
from msgspec.structs import replace

from areopage.cases.records import Document
from areopage.evidence.figures import Figure, figures, supports
from areopage.evidence.references import Reference, legal_references
from areopage.gate.claims import Claim
from areopage.gate.digits import DigitIndex, around, key_of
from areopage.gate.records import Place

BEFORE, AFTER = 48, 40  # characters: what belongs to a figure or a reference stands so near its digits
MOST_WINDOWS = 2_000  # of documents for one answer: claims that would need more count as unsupported
# A reference is sought where one of these stands, in lower case.
LEGAL = re.compile(
    r"art|§|sec\.|section|s\.\s?\d|loi|law|decree|d[ée]cret|ordonn|ordinance|arr[êe]t|avenant|amendment|accord|circulaire"
    r"|r[èe]glement|regulation|directive|\bact\b|order|rules|[lrd]\.?[ \u00a0]?\*?[ \u00a0]?\d+-|\d\d-\d\d\.\d{3}|c-\d"
)
NUMBER_WORDS = {
    2: "deux two", 3: "trois three", 4: "quatre four", 5: "cinq five", 6: "six", 7: "sept seven", 8: "huit eight", 9: "neuf nine",
    10: "dix ten", 12: "douze twelve", 15: "quinze fifteen", 18: "eighteen", 20: "vingt twenty", 30: "trente thirty",
    40: "quarante forty", 60: "soixante sixty", 90: "quatre-vingt-dix ninety",
}  # fmt: skip
DIGITS = re.compile("[0-9]+")
COUNTING = frozenset(" ".join(NUMBER_WORDS.values()).split())
COUNTED = re.compile(rf"[0-9]+|\b(?:{'|'.join(' '.join(NUMBER_WORDS.values()).split())})\b", re.IGNORECASE)
# A duration may be told in another unit: weeks or years for days or months.
FACTORS = {"day": (1, 7), "month": (1, 3, 12), "minute": (1, 60)}


class _Held(Struct, frozen=True):
    """A text that may hold a claim; `document` is None for titles and the question: they are no evidence to show."""

    text: str
    document: Document | None


def check_claims(prompt: str, response: str, documents: Sequence[Document]) -> list[Claim]:
    """The figures and references of an answer in order, each with whether a document or the question holds it."""
    stated = sorted(_stated(response), key=lambda one: (one.start, one.end))
    if not stated:
        return []
    texts = [_Held(document.text, document) for document in documents]
    texts += [_Held(document.title, None) for document in documents if document.title]
    texts.append(_Held(prompt, None))
    search = _Search(texts)
    return [search.claim(one) for one in stated]


def _stated(response: str) -> Iterator[Figure | Reference]:
    """The figures and references of the answer, read around its digits and number words."""
    for start, end in _windows(response):
        window = response[start:end]
        for figure in figures(window):
            yield replace(figure, start=figure.start + start, end=figure.end + start)
        if LEGAL.search(window.lower()):
            for reference in legal_references(window):
                yield replace(reference, start=reference.start + start, end=reference.end + start)


def _windows(response: str) -> Iterator[tuple[int, int]]:
    """Ranges around digits and number words; those that touch are one."""
    start = end = -1
    worded = not COUNTING.isdisjoint(response.lower().replace("-", " ").split())
    for match in (COUNTED if worded else DIGITS).finditer(response):
        if end < 0 or match.start() - BEFORE > end:
            if end >= 0:
                yield start, end
            start = around(response, match.start() - BEFORE)
        end = match.end() + AFTER
    if end >= 0:
        yield start, min(end, len(response))


class _Search:
    """Looks for claims in texts. What was found once is kept, and the work is bounded."""

    def __init__(self, texts: Sequence[_Held]) -> None:
        self._texts = texts
        self._index: DigitIndex | None = None
        self._known: dict[tuple[str, ...], tuple[bool, Place | None]] = {}
        self._left = MOST_WINDOWS

    def claim(self, stated: Figure | Reference) -> Claim:
        """What is stated, with whether a text holds it."""
        if isinstance(stated, Figure):
            identity: tuple[str, ...] = (stated.kind, str(stated.value), stated.unit, stated.days, stated.per)
        else:
            identity = ("reference", stated.normalised)
        if identity not in self._known:
            self._known[identity] = self._word_by_word(stated.text) or self._by_value(stated) or (False, None)
        supported, evidence = self._known[identity]
        return Claim(
            kind=stated.kind if isinstance(stated, Figure) else "reference",
            place=Place(start=stated.start, end=stated.end, text=stated.text),
            supported=supported,
            evidence=evidence,
        )

    def _word_by_word(self, written: str) -> tuple[bool, Place | None] | None:
        """Where the same characters stand, and no number goes on before or after them."""
        for held in self._texts:
            start = held.text.find(written)
            if start >= 0 and _whole(held.text, start, start + len(written)):
                return True, _place(held, start, start + len(written))
        return None

    def _by_value(self, stated: Figure | Reference) -> tuple[bool, Place | None] | None:
        """Where the same value stands in another writing."""
        if self._index is None:
            self._index = DigitIndex(held.text for held in self._texts)
        for key in _keys(stated):
            for number, begin, stop in self._index.places(key):
                if self._left <= 0:
                    return None
                self._left -= 1
                held = self._texts[number]
                start = around(held.text, begin - BEFORE)
                place = _found(stated, held.text[start : stop + AFTER])
                if place:
                    return True, _place(held, start + place[0], start + place[1])
        return self._in_words(stated) if isinstance(stated, Figure) and stated.kind == "duration" else None

    def _in_words(self, stated: Figure) -> tuple[bool, Place | None] | None:
        """Where a duration is written in words."""
        assert isinstance(stated.value, Decimal)
        for factor in FACTORS.get(stated.unit, (1,)):
            for word in NUMBER_WORDS.get(int(stated.value / factor), "").split() if stated.value % factor == 0 else ():
                for held in self._texts:
                    for match in re.finditer(rf"\b{word}\b", held.text, re.IGNORECASE):
                        if self._left <= 0:
                            return None
                        self._left -= 1
                        place = _found(stated, held.text[match.start() : match.end() + AFTER])
                        if place:
                            return True, _place(held, match.start() + place[0], match.start() + place[1])
        return None


def _found(stated: Figure | Reference, window: str) -> tuple[int, int] | None:
    """Where a window holds what is stated."""
    if isinstance(stated, Figure):
        return next(((figure.start, figure.end) for figure in figures(window) if supports(figure, stated)), None)
    named = (reference for reference in legal_references(window) if reference.normalised == stated.normalised)
    place = next(((reference.start, reference.end) for reference in named), None)
    return place or _numbered(stated.normalised.split()[-1], window)


def _numbered(number: str, window: str) -> tuple[int, int] | None:
    """Where a number that says enough by itself stands without its kind: 2018-771, l123-4, 2016/679."""
    if len(number) < 5 or not number[-1].isdigit() or number.isdigit():
        return None
    start = window.lower().find(number)
    return (start, start + len(number)) if start >= 0 and _whole(window, start, start + len(number)) else None


def _keys(stated: Figure | Reference) -> list[str]:
    """The digits by which a claim may be found."""
    if isinstance(stated, Reference):
        digits = re.search("[0-9]+", stated.normalised)
        return [key_of(digits.group())] if digits else ["1"]
    if isinstance(stated.value, str):
        return [key_of(stated.value[:4])]
    factors = FACTORS.get(stated.unit, (1,)) if stated.kind == "duration" else (1,)
    values = [stated.value / factor for factor in factors if stated.value % factor == 0 or factor == 1]
    return list(dict.fromkeys(key_of(f"{value:f}") for value in values))


def _whole(text: str, start: int, end: int) -> bool:
    """Whether neither a word nor a number goes on over the ends of a piece."""
    before, after = text[max(0, start - 2) : start], text[end : end + 2]
    if before and (before[-1].isalnum() or (before[:1].isdigit() and not before[-1].isalpha())):
        return False
    return not (after and (after[0].isalnum() or (after[0] in ".,-'’/ \u00a0\u202f" and after[1:].isdigit())))


def _place(held: _Held, start: int, end: int) -> Place | None:
    """The place in a document; None for a text that is none."""
    if held.document is None:
        return None
    return Place(document=held.document.id, start=start, end=end, text=held.text[start:end])
