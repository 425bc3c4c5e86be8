"""Does a figure stand in the documents among the words that it stands among in the answer? A date of another matter does not.

A place where the documents have a figure is compared by the words nearest to it and by those of its sentence. A figure is
misplaced where another one of its kind and unit stands clearly nearer to the answer's words and has half of the nearest ones (in
free writing two or three words meet by chance), or where it stands among none.
"""

import re
from collections.abc import Callable, Iterable, Sequence, Set
from functools import cached_property
from itertools import islice

from msgspec import Struct

from areopage.text import FigureKind, FigureText, TextFigure, parted, stems_of, supports

Spot = tuple[int, int, int]  # number of the text, start, end
PlacedFigure = tuple[TextFigure, Spot]
FigureFinder = Callable[[FigureKind, Sequence[int]], Iterable[PlacedFigure]]  # of a kind, in some of the texts
FigureReader = Callable[[str], FigureText]  # kept: several claims are sought in the same texts

_END = re.compile(r"[.!?;]\s|\n")
_NEAR = 80  # characters on each side in which the nearest words are sought
_NEAREST_IN_ANSWER, _NEAREST = 5, 6  # words on each side
_SENTENCE = 220  # characters on each side: a sentence is not looked at beyond
_BEYOND = 160  # characters on each side of the sentence that count as its neighbourhood
_NEARER, _NEARER_IN_ALL = 2, 4  # words by which another figure must be nearer, without and with those of its sentence
_FEWEST = 3  # words of the answer's sentence without which "among none of them" says nothing
_MOST_RIVALS = 400  # figures of the documents that one figure of the answer is compared with
_MOST_READ = 3  # of them, the nearest ones


class Placement(Struct, frozen=True):
    """`best` is the spot nearest to the answer's words; `rival` the other figure that is nearer."""

    misplaced: bool
    best: Spot
    rival: Spot | None = None


class _FigureWords(Struct, frozen=True):
    """The words around a figure of the answer: the nearest, these and the question's, those of the sentence and the question's;
    and how many the sentence has itself."""

    local: frozenset[str]
    near: frozenset[str]
    words: frozenset[str]
    count: int


class Surroundings:
    """The documents' texts and the answer's. The work is bounded."""

    def __init__(self, texts: Sequence[str], response: str, question: Set[str], figures: FigureFinder) -> None:
        self._texts = texts
        self._clean = list(map(parted, texts))
        self._response = response
        self._answer = parted(response)
        self._question = question
        self._figures = figures
        self._near: dict[Spot, frozenset[str]] = {}

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
            in_all = max(nearness + len(asked.words & self._sentence(spot)) for nearness, spot in zip(near, spots, strict=True))
            if nearness + len(asked.words & self._sentence(rival)) >= in_all + _NEARER_IN_ALL:
                return Placement(True, best, rival)
        alone = asked.count >= _FEWEST and not any(asked.words & self._sentence(spot, _BEYOND) for spot in spots)
        return Placement(alone, best)

    def _asked(self, stated: TextFigure) -> _FigureWords:
        start, end = stated.start, stated.end
        clean = self._answer
        unit = set(_stems(clean[start:end]))
        first, last = _sentence_at(self._response, start, end)
        words = frozenset(_stems(clean[first:start] + " " + clean[end:last])) - unit
        local = frozenset(_nearest(clean, max(first, start - _NEAR), start, end, min(last, end + _NEAR))) - unit
        question = self._question - unit
        return _FigureWords(local, local | question, words | question, len(words))

    def _rivals(self, stated: TextFigure, wanted: Set[str], least: int) -> list[Spot]:
        """The documents' other figures of the same kind and unit near which that many of the words stand, the nearest first."""
        texts = [number for number, words in enumerate(self._words) if len(wanted & words) >= least]
        others = (
            spot
            for figure, spot in self._figures(stated.kind, texts)
            if figure.unit == stated.unit and not supports(figure, stated)
        )
        near = [(len(wanted & self._around(spot)), spot) for spot in islice(others, _MOST_RIVALS)]
        return [spot for count, spot in sorted(near, key=lambda pair: -pair[0])[:_MOST_READ] if count >= least]

    @cached_property
    def _words(self) -> list[frozenset[str]]:
        return [frozenset(_stems(clean)) for clean in self._clean]

    def _around(self, spot: Spot) -> frozenset[str]:
        words = self._near.get(spot)
        if words is None:
            number, start, end = spot
            words = self._near[spot] = frozenset(
                _nearest(self._clean[number], max(0, start - _NEAR), start, end, end + _NEAR, _NEAREST)
            )
        return words

    def _sentence(self, spot: Spot, beyond: int = 0) -> frozenset[str]:
        """The words of a spot's sentence, and of so many characters around it."""
        number, start, end = spot
        first, last = _sentence_at(self._texts[number], start, end)
        return frozenset(_stems(self._clean[number][max(0, first - beyond) : last + beyond]))


def _stems(clean: str) -> list[str]:
    return list(filter(None, stems_of(clean.split())))


def _nearest(clean: str, first: int, start: int, end: int, last: int, words: int = _NEAREST_IN_ANSWER) -> list[str]:
    return _stems(clean[first:start])[-words:] + _stems(clean[end:last])[:words]


def _sentence_at(text: str, start: int, end: int) -> tuple[int, int]:
    first, last = max(0, start - _SENTENCE), min(len(text), end + _SENTENCE)
    for match in _END.finditer(text, first, start):
        first = match.end()
    closing = _END.search(text, end, last)
    return first, closing.start() if closing else last
