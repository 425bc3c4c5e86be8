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

BEFORE, AFTER = 24, 36  # characters: what belongs to a figure stands so near its digits
BEFORE_LEGAL = 48  # the same for a reference: "arrêté interministériel modifié n° 12"
MOST_WINDOWS = 2_000  # of documents for one answer: claims that would need more count as unsupported
MOST_READ = 50_000_000  # characters that are searched word by word: later claims are sought by their digits alone
MOST_TRIES = 8  # for the same characters in a document, where the first ones belong to a longer number
# A reference is sought where one of these stands, in lower case.
LEGAL = (
    "art.", "art ", "arts", "article", "§", "sec.", "section", "s. ", "loi", "law", "decree", "décret", "decret",
    "ordonnance", "ordinance", "arrêt", "arret", "avenant", "amendment", "accord", "circulaire", "règlement", "reglement",
    "regulation", "directive", " act ", "order", "rules", "pourvoi",
)  # fmt: skip
# What makes a number a figure, where it stands near; four digits may be a year without it.
NEAR = (
    "%", "cent", "€", "$", "£", "eur", "dollar", "usd", "pound", "livre", "gbp", "franc", "chf", "million", "milliard",
    "jour", "day", "semaine", "week", "mois", "month", "trimestre", "quarter", " an", "-an", "year", "-year", "min",
    "heure", "hour", " h", "h ",
)  # fmt: skip
# What must stand near the digits of a figure of its kind.
CUES = {
    "percentage": ("%", "cent"),
    "amount": ("€", "$", "£", "eur", "dollar", "usd", "pound", "livre", "gbp", "franc", "chf"),
    "duration": ("jour", "day", "semaine", "week", "mois", "month", "trimestre", "quarter", "an", "year", "min", "h"),
    "date": ("",),
}
NUMBER_WORDS = {
    2: "deux two", 3: "trois three", 4: "quatre four", 5: "cinq five", 6: "six", 7: "sept seven", 8: "huit eight", 9: "neuf nine",
    10: "dix ten", 12: "douze twelve", 15: "quinze fifteen", 18: "eighteen", 20: "vingt twenty", 30: "trente thirty",
    40: "quarante forty", 60: "soixante sixty", 90: "quatre-vingt-dix ninety",
}  # fmt: skip
DIGITS = re.compile("[0-9]+")
COUNTING = frozenset(" ".join(NUMBER_WORDS.values()).split())
# A year that the extractor of figures leaves out, as most numbers of that size are none: 1789 is one after "en" or "(".
EARLY = re.compile("1[0-8][0-9]{2}")
EARLY_YEAR = re.compile(
    r"(?:(?:\b(?:en|in|an|depuis|since|ann[ée]es?|years?|vers|around|d[èe]s|avant|apr[èe]s|before|after|until|from|entre|between|circa|fin|d[ée]but"
    r"|janvier|f[ée]vrier|mars|avril|mai|juin|juillet|ao[ûu]t|septembre|octobre|novembre|d[ée]cembre"
    r"|january|february|march|april|may|june|july|august|september|october|november|december)"
    r")[ \u00a0]|\(|(?<![\w.°-])1[0-9]{3}[ ]?[-–][ ]?)"
    r"(?P<year>1[0-8][0-9]{2})(?![\w%€$£]|[.,][0-9]|[ \u00a0][0-9%€$£])",
    re.IGNORECASE,
)
# A duration may be told in another unit: weeks or years for days or months.
FACTORS = {"day": (1, 7), "month": (1, 3, 12), "minute": (1, 60)}


class _Held(Struct, frozen=True):
    """A text that may hold a claim; `document` is None for titles and the question: they are no evidence to show."""

    text: str
    document: Document | None


def check_claims(prompt: str, response: str, documents: Sequence[Document]) -> list[Claim]:
    """The figures and references of an answer in order, each with whether a document or the question holds it.

    Args:
        response: the answer; its citations may have been blanked.
    """
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
    low = response.lower()
    places = _counted(response, low)
    for start, end in _windows(response, places, BEFORE):
        for figure in (*figures(response[start:end]), *_early_years(response[start:end])):
            yield replace(figure, start=figure.start + start, end=figure.end + start)
    legal = [place for place in places if len(low) != len(response) or _legal(low, *place)]
    for start, end in _windows(response, legal, BEFORE_LEGAL):
        for reference in legal_references(response[start:end]):
            yield replace(reference, start=reference.start + start, end=reference.end + start)


def _early_years(window: str) -> Iterator[Figure]:
    """The years before 1900."""
    if not EARLY.search(window):
        return
    for match in EARLY_YEAR.finditer(window):
        start, end = match.span("year")
        yield Figure(kind="date", value=match["year"], text=match["year"], start=start, end=end)


def _counted(response: str, low: str) -> list[tuple[int, int]]:
    """Where digits and number words stand that may belong to a figure or a reference."""
    same = len(low) == len(response)  # a letter that becomes two in lower case moves what follows: then all are looked at
    found = []
    for match in DIGITS.finditer(response):
        start, end = match.span()
        if same and end - start != 4 and not (_cued(low, start, end) or _legal(low, start, end)):
            continue
        listed = response[end : end + 1] in (".", ")") and response[end + 1 : end + 2].isspace()
        if not (listed and response[max(0, start - 1) : start] in ("", "\n")):
            found.append((start, end))
    if same:
        for word in COUNTING.intersection(low.replace("-", " ").split()):
            start = low.find(word)
            while start >= 0:
                end = start + len(word)
                if _cued(low, end, end):
                    found.append((start, end))
                start = low.find(word, end)
        found.sort()
    return found


def _cued(low: str, start: int, end: int) -> bool:
    """Whether something that makes a number a figure stands near it."""
    near = low[max(0, start - 6) : end + AFTER]
    return any(cue in near for cue in NEAR)


def _legal(low: str, start: int, end: int) -> bool:
    """Whether digits may be those of a reference."""
    near = low[max(0, start - BEFORE_LEGAL) : start]
    joined = end - start != 4 and "-" in (low[end : end + 1], near[-1:])  # L. 123-4, C-131/12, but not 1914-1918
    return joined or any(cue in near for cue in LEGAL)


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


class _Search:
    """Looks for claims in texts. What was found once is kept, and the work is bounded."""

    def __init__(self, texts: Sequence[_Held]) -> None:
        self._texts = texts
        self._index: DigitIndex | None = None
        self._known: dict[tuple[str, ...], tuple[bool, Place | None]] = {}
        self._left = MOST_WINDOWS
        self._unread = MOST_READ
        self._low: list[str] = []

    def claim(self, stated: Figure | Reference) -> Claim:
        """What is stated, with whether a text holds it."""
        if isinstance(stated, Figure):
            identity: tuple[str, ...] = (stated.kind, str(stated.value), stated.unit, stated.days, stated.per)
        else:
            identity = ("reference", stated.normalised)
        if identity not in self._known:
            self._known[identity] = self._word_by_word(stated) or self._by_value(stated) or (False, None)
        supported, evidence = self._known[identity]
        return Claim(
            kind=stated.kind if isinstance(stated, Figure) else "reference",
            place=Place(start=stated.start, end=stated.end, text=stated.text),
            supported=supported,
            evidence=evidence,
        )

    def _word_by_word(self, stated: Figure | Reference) -> tuple[bool, Place | None] | None:
        """Where the same characters stand, and no number goes on before or after them."""
        written, dated = stated.text, isinstance(stated, Figure) and stated.kind == "date"
        for held in self._texts:
            self._unread -= len(held.text)
            if self._unread < 0:
                return None
            start = held.text.find(written)
            for _ in range(MOST_TRIES):
                if start < 0:
                    break
                if _whole(held.text, start, start + len(written), dated=dated):
                    return True, _place(held, start, start + len(written))
                start = held.text.find(written, start + 1)
        return None

    def _by_value(self, stated: Figure | Reference) -> tuple[bool, Place | None] | None:
        """Where the same value stands in another writing."""
        if self._index is None:
            self._index = DigitIndex(held.text for held in self._texts)
        before = BEFORE if isinstance(stated, Figure) else BEFORE_LEGAL
        cues = CUES[stated.kind] if isinstance(stated, Figure) else ("",)
        for key in _keys(stated):
            for number, begin, stop in self._index.places(key):
                if self._left <= 0:
                    return None
                held = self._texts[number]
                start = around(held.text, begin - before)
                window = held.text[start : stop + AFTER].replace("\n", " ")
                low = window.lower()
                if not any(cue in low for cue in cues):
                    continue
                self._left -= 1
                place = _found(stated, window)
                if place:
                    return True, _place(held, start + place[0], start + place[1])
        return self._in_words(stated) if isinstance(stated, Figure) and stated.kind == "duration" else None

    def _in_words(self, stated: Figure) -> tuple[bool, Place | None] | None:
        """Where a duration is written in words."""
        if not isinstance(stated.value, Decimal):
            return None
        self._low = self._low or [held.text.lower() for held in self._texts]
        for factor in FACTORS.get(stated.unit, (1,)):
            for word in NUMBER_WORDS.get(int(stated.value / factor), "").split() if stated.value % factor == 0 else ():
                for held, low in zip(self._texts, self._low, strict=True):
                    if word not in low:
                        continue
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
    return (start, start + len(number)) if start >= 0 and _whole(window, start, start + len(number), dated=False) else None


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


def _whole(text: str, start: int, end: int, *, dated: bool) -> bool:
    """Whether neither a word nor a number goes on over the ends of a piece. A hyphen joins numbers (12-3), not dates."""
    before, after = text[max(0, start - 2) : start], text[end : end + 2]
    joining = " .,\u00a0\u202f" if dated else ".,-'’/ \u00a0\u202f"
    if before and (before[-1].isalnum() or (before[:1].isdigit() and before[-1] in joining)):
        return False
    return not (after and (after[0].isalnum() or (after[0] in joining and after[1:].isdigit())))


def _place(held: _Held, start: int, end: int) -> Place | None:
    """The place in a document; None for a text that is none."""
    if held.document is None:
        return None
    return Place(document=held.document.id, start=start, end=end, text=held.text[start:end])
