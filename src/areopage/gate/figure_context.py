"""Does a figure stand in the documents among the words that it stands among in the answer? A date of another matter does not.

A place where the documents have a figure is compared by the words nearest to it and by those of its sentence. A figure is
misplaced where another one of its kind and unit stands clearly nearer to the answer's words, or where it stands among none.
"""

import re
from collections.abc import Iterator, Sequence, Set

from msgspec import Struct

from areopage.evidence.figures import Figure
from areopage.gate.digits import around
from areopage.gate.stated import AFTER, BEFORE, COUNTED, DIGITS, figures_of, says
from areopage.gate.tokens import stems

Spot = tuple[int, int, int]  # number of the text, start, end

_END = re.compile(r"[.!?;]\s|\n")
NEAR = 80  # characters on each side in which the nearest words are sought
NEAREST_IN_ANSWER, NEAREST = 5, 6  # words on each side
SENTENCE = 220  # characters on each side: a sentence is not looked at beyond
BEYOND = 160  # characters on each side of the sentence that count as its neighbourhood
NEARER, NEARER_IN_ALL = 2, 4  # words by which another figure must be nearer, without and with those of its sentence
FEWEST_LOCAL = 4  # words nearest to the answer's figure; where a spot has all but one of them it is the right one
FEWEST = 3  # words of the answer's sentence without which "among none of them" says nothing
DIGITS_OR_WORDS = re.compile(rf"[0-9]+|\b(?:{COUNTED})\b", re.IGNORECASE)
MOST_RIVALS = 400  # numbers of the documents that one answer's figures are compared with
# What stands within a few characters of the digits of a figure of its kind.
RIVAL_CUES = {
    "percentage": ("%", "cent"),
    "amount": ("€", "$", "£", "eur", "dollar", "usd", "pound", "livre", "gbp", "franc", "chf"),
    "duration": ("jour", "day", "semaine", "week", "mois", "month", "trimestre", "quarter", "an", "year", "min", "h"),
}
YEARS = range(1000, 2100)


class Judged(Struct, frozen=True):
    """`best` is the spot nearest to the answer's words; `rival` the other figure that is nearer."""

    misplaced: bool
    best: Spot
    rival: Spot | None = None


class _Asked(Struct, frozen=True):
    """The words around a figure of the answer: the nearest, these and the question's, those of the sentence and the question's;
    and how many the sentence has of its own."""

    local: frozenset[str]
    near: frozenset[str]
    words: frozenset[str]
    own: int


class Surroundings:
    """The documents' texts and the answer's. The work is bounded."""

    def __init__(self, texts: Sequence[str], response: str, question: frozenset[str]) -> None:
        """Args:
        texts: of the documents, without titles and question.
        question: its stems: an answer need not repeat them.
        """
        self._texts = texts
        self._response = response
        self._question = question
        self._near: dict[Spot, frozenset[str]] = {}
        self._sentence: dict[Spot, tuple[frozenset[str], frozenset[str]]] = {}
        self._left = MOST_RIVALS

    def at_home(self, stated: Figure, spots: Sequence[Spot]) -> Spot | None:
        """The spot that stands among so many of the answer's words that no other could stand nearer; None where none does."""
        asked = self._asked(stated)
        near = [len(asked.near & self._around(spot)) for spot in spots]
        best = spots[near.index(max(near))]
        if max(near) > min(len(asked.near), 2 * NEAREST) - NEARER:
            return best
        enough = len(asked.local) >= FEWEST_LOCAL and len(asked.local & self._around(best)) >= len(asked.local) - 1
        return best if enough else None

    def judge(self, stated: Figure, spots: Sequence[Spot]) -> Judged:
        """Whether the documents have a figure in the wrong place only; `spots` are all that hold it, at least one."""
        asked = self._asked(stated)
        near = [len(asked.near & self._around(spot)) for spot in spots]
        nearest = max(near)
        best = spots[near.index(nearest)]
        in_all = max(one + len(asked.words & self._scopes(spot)[0]) for one, spot in zip(near, spots, strict=True))
        for rival in self._rivals(stated, asked.near, nearest + NEARER):
            nearness = len(asked.near & self._around(rival))
            if nearness < nearest + NEARER:
                continue
            if nearness + len(asked.words & self._scopes(rival)[0]) >= in_all + NEARER_IN_ALL:
                return Judged(True, best, rival)
        alone = asked.own >= FEWEST and not any(asked.words & self._scopes(spot)[1] for spot in spots)
        return Judged(alone, best)

    def _asked(self, stated: Figure) -> _Asked:
        """The words that the answer has around a figure."""
        start, end = stated.start, stated.end
        unit = set(stems(stated.text))
        first, last = _sentence(self._response, start, end)
        own = frozenset(stems(self._response[first:start] + " " + self._response[end:last])) - unit
        local = frozenset(_nearest(self._response, max(first, start - NEAR), start, end, min(last, end + NEAR))) - unit
        question = self._question - unit
        return _Asked(local, local | question, own | question, len(own))

    def _rivals(self, stated: Figure, wanted: Set[str], least: int) -> Iterator[Spot]:
        """The documents' other figures of the same kind and unit, near which so many of the words stand."""
        written = DIGITS_OR_WORDS if stated.kind == "duration" else DIGITS
        for number, text in enumerate(self._texts):
            for match in written.finditer(text):
                start, end = match.span()
                if not _alike(stated.kind, text, start, end):
                    continue
                self._left -= 1
                if self._left < 0:
                    return
                # The figure may be longer than its digits, so that one word nearer comes in on either side.
                if len(wanted & self._around((number, start, end))) + 2 < least:
                    continue
                opens = around(text, start - BEFORE)
                for figure in figures_of(text[opens : end + AFTER].replace("\n", " "), days=False):
                    covers = figure.start + opens <= start < figure.end + opens
                    if covers and (figure.kind, figure.unit) == (stated.kind, stated.unit) and not says(figure, stated):
                        yield number, figure.start + opens, figure.end + opens

    def _around(self, spot: Spot) -> frozenset[str]:
        """The words nearest to a spot."""
        found = self._near.get(spot)
        if found is None:
            number, start, end = spot
            text = self._texts[number]
            found = self._near[spot] = frozenset(_nearest(text, max(0, start - NEAR), start, end, end + NEAR, NEAREST))
        return found

    def _scopes(self, spot: Spot) -> tuple[frozenset[str], frozenset[str]]:
        """The words of a spot's sentence, and those of its neighbourhood."""
        found = self._sentence.get(spot)
        if found is None:
            number, start, end = spot
            text = self._texts[number]
            first, last = _sentence(text, start, end)
            wide = text[max(0, first - BEYOND) : last + BEYOND]
            found = self._sentence[spot] = (frozenset(stems(text[first:last])), frozenset(stems(wide)))
        return found


def _nearest(text: str, first: int, start: int, end: int, last: int, words: int = NEAREST_IN_ANSWER) -> list[str]:
    """The stems of the nearest words on both sides."""
    return stems(text[first:start])[-words:] + stems(text[end:last])[:words]


def _sentence(text: str, start: int, end: int) -> tuple[int, int]:
    """Where the sentence around a spot begins and ends."""
    first, last = max(0, start - SENTENCE), min(len(text), end + SENTENCE)
    for match in _END.finditer(text, first, start):
        first = match.end()
    closing = _END.search(text, end, last)
    return first, closing.start() if closing else last


def _alike(kind: str, text: str, start: int, end: int) -> bool:
    """Whether digits may be those of a figure of a kind."""
    if kind == "date":
        return end - start == 4 and int(text[start:end]) in YEARS
    near = text[max(0, start - 3) : end + 14].lower()
    return any(cue in near for cue in RIVAL_CUES[kind])
