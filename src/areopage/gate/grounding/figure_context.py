"""Does a figure stand in the documents among the words that it stands among in the answer? A date of another matter does not.

A place where the documents have a figure is compared by the words nearest to it and by those of its sentence. A figure is
misplaced where another one of its kind and unit stands clearly nearer to the answer's words and has half of the nearest ones (in
free writing two or three words meet by chance), or where it stands among none.
"""

import re
from collections.abc import Callable, Iterator, Sequence, Set
from itertools import islice

from msgspec import Struct

from areopage.gate.reading.stated import AFTER, BEFORE, CUES
from areopage.text import DIGITS, FigureKind, TextFigure, around, parted, stems_of, supports

Spot = tuple[int, int, int]  # number of the text, start, end
FigureReader = Callable[..., Sequence[TextFigure]]  # `all_figures`, kept: several claims are sought in the same windows

_END = re.compile(r"[.!?;]\s|\n")
_NEAR = 80  # characters on each side in which the nearest words are sought
_NEAREST_IN_ANSWER, _NEAREST = 5, 6  # words on each side
_SENTENCE = 220  # characters on each side: a sentence is not looked at beyond
_BEYOND = 160  # characters on each side of the sentence that count as its neighbourhood
_NEARER, _NEARER_IN_ALL = 2, 4  # words by which another figure must be nearer, without and with those of its sentence
_FEWEST = 3  # words of the answer's sentence without which "among none of them" says nothing
_MOST_RIVALS = 400  # numbers of the documents that one answer's figures of a kind are compared with
_MOST_READ = 3  # of them, the nearest ones, whose figures are read exactly for one figure of the answer
# What stands within a few characters of the digits of a figure of its kind.
_RIVAL_CUES = {
    "percentage": CUES["percentage"],
    "amount": CUES["amount"],
    "duration": re.compile("|".join(CUES[unit].pattern for unit in ("day", "month", "minute"))),
}
_YEARS = range(1000, 2100)


class Placement(Struct, frozen=True):
    """`best` is the spot nearest to the answer's words; `rival` the other figure that is nearer."""

    misplaced: bool
    best: Spot
    rival: Spot | None = None


class _FigureWords(Struct, frozen=True):
    """The words around a figure of the answer: the nearest, these and the question's, those of the sentence and the question's;
    and how many the sentence has of its own."""

    local: frozenset[str]
    near: frozenset[str]
    words: frozenset[str]
    own: int


class Surroundings:
    """The documents' texts and the answer's. The work is bounded."""

    def __init__(self, texts: Sequence[str], response: str, question: Set[str], read: FigureReader) -> None:
        self._texts = texts
        self._clean = list(map(parted, texts))
        self._response = response
        self._answer = parted(response)
        self._question = question
        self._read = read
        self._near: dict[Spot, frozenset[str]] = {}
        self._kinds: dict[str, Sequence[tuple[Spot, frozenset[str]]]] = {}

    def judge(self, stated: TextFigure, spots: Sequence[Spot]) -> Placement:
        """Whether the documents have a figure in the wrong place only; `spots` are all that hold it, at least one."""
        asked = self._asked(stated)
        near = [len(asked.near & self._around(spot)) for spot in spots]
        nearest = max(near)
        best = spots[near.index(nearest)]
        for rival in self._rivals(stated, asked.near, nearest + _NEARER):
            nearness = len(asked.near & self._around(rival))
            if nearness < nearest + _NEARER or 2 * len(asked.local & self._around(rival)) < len(asked.local):
                continue
            in_all = max(one + len(asked.words & self._sentence(spot)) for one, spot in zip(near, spots, strict=True))
            if nearness + len(asked.words & self._sentence(rival)) >= in_all + _NEARER_IN_ALL:
                return Placement(True, best, rival)
        alone = asked.own >= _FEWEST and not any(asked.words & self._sentence(spot, _BEYOND) for spot in spots)
        return Placement(alone, best)

    def _asked(self, stated: TextFigure) -> _FigureWords:
        start, end = stated.start, stated.end
        clean = self._answer
        unit = set(_stems(clean[start:end]))
        first, last = _sentence_at(self._response, start, end)
        own = frozenset(_stems(clean[first:start] + " " + clean[end:last])) - unit
        local = frozenset(_nearest(clean, max(first, start - _NEAR), start, end, min(last, end + _NEAR))) - unit
        question = self._question - unit
        return _FigureWords(local, local | question, own | question, len(own))

    def _rivals(self, stated: TextFigure, wanted: Set[str], least: int) -> Iterator[Spot]:
        """The documents' other figures of the same kind and unit, near which that many of the words stand."""
        kind = stated.kind
        if kind not in self._kinds:
            spots = (
                (number, *match.span())
                for number, text in enumerate(self._texts)
                for match in DIGITS.finditer(text)
                if _alike(kind, text, *match.span())
            )
            self._kinds[kind] = [(spot, self._around(spot)) for spot in islice(spots, _MOST_RIVALS)]
        near = [(len(wanted & words), spot) for spot, words in self._kinds[kind]]
        # The figure may be longer than its digits, so that one word nearer comes in on either side.
        worth = sorted((pair for pair in near if pair[0] + 2 >= least), key=lambda pair: -pair[0])
        for _, spot in worth[:_MOST_READ]:
            for figure, found in self._figures_at(kind, spot):
                if (figure.kind, figure.unit) == (kind, stated.unit) and not supports(figure, stated):
                    yield found

    def _figures_at(self, kind: FigureKind, spot: Spot) -> Sequence[tuple[TextFigure, Spot]]:
        number, start, end = spot
        opens = around(self._texts[number], start - BEFORE)
        window = self._texts[number][opens : end + AFTER].replace("\n", " ")
        return [
            (figure, (number, figure.start + opens, figure.end + opens))
            for figure in self._read(window, kind, days=False)
            if figure.start + opens <= start < figure.end + opens
        ]

    def _around(self, spot: Spot) -> frozenset[str]:
        found = self._near.get(spot)
        if found is None:
            number, start, end = spot
            found = self._near[spot] = frozenset(
                _nearest(self._clean[number], max(0, start - _NEAR), start, end, end + _NEAR, _NEAREST)
            )
        return found

    def _sentence(self, spot: Spot, beyond: int = 0) -> frozenset[str]:
        """The words of a spot's sentence, and of so many characters around it."""
        number, start, end = spot
        first, last = _sentence_at(self._texts[number], start, end)
        return frozenset(_stems(self._clean[number][max(0, first - beyond) : last + beyond]))


def _stems(clean: str) -> list[str]:
    return list(filter(None, stems_of(clean.split())))


def _nearest(clean: str, first: int, start: int, end: int, last: int, words: int = _NEAREST_IN_ANSWER) -> list[str]:
    """The stems of the nearest words on both sides, of a text that is parted already."""
    return _stems(clean[first:start])[-words:] + _stems(clean[end:last])[:words]


def _sentence_at(text: str, start: int, end: int) -> tuple[int, int]:
    first, last = max(0, start - _SENTENCE), min(len(text), end + _SENTENCE)
    for match in _END.finditer(text, first, start):
        first = match.end()
    closing = _END.search(text, end, last)
    return first, closing.start() if closing else last


def _alike(kind: str, text: str, start: int, end: int) -> bool:
    """Whether digits may be those of a figure of a kind."""
    if kind == "date":
        return end - start == 4 and int(text[start:end]) in _YEARS
    near = text[max(0, start - 3) : end + 14].lower()
    return _RIVAL_CUES[kind].search(near) is not None
