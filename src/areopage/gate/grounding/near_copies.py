"""Sentences that nearly copy a document: the same words, but for one that can change the meaning.

A comparison by words cannot tell whether the meaning is the same. A sentence is aligned with the document's sentence that has
most of its words; what differs is a negator, a quantifier, a condition, an exception, a bound, the order of the parties, or a
word and its opposite. Dropped words count as well as added ones.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence, Set
from functools import cached_property
from operator import itemgetter

from areopage.gate.reading.markers import OPPOSITES, Marker, MarkerKind, denying, folded, markers_of, spans_of, words_of
from areopage.gate.records import Change
from areopage.text import parted, sentences, stems_of

LEAST_NEAR = 0.5
"""Share of a sentence's words that a part of a document must have, for it to be looked at at all."""
_FEWEST = 2  # words that mean something, for a sentence to copy another one
_LEAST = 0.8  # share of a sentence's words that the document's sentence must have
_LEAST_EXCHANGED = 0.9  # the same where only their order differs
_NEARLY = 0.1  # by which another sentence of the document may have less and still be as near
_MOST_SENTENCES = 12  # of a document that one sentence is compared with
_REACH = 4  # words from a marker within which what it belongs to stands
_NEIGHBOURS = 2  # words behind a marker, beside the one before it, most of which the other sentence must have
_BESIDE_CLAUSE = 6  # words beside a condition or an exception, most of which the other sentence must have
_UNSPACED = re.compile(r"[.!?](?<=[a-zà-ÿ)\]].)(?=[A-Z])")  # where a space is lost between sentences
_CLAUSE_ENDS = frozenset(",;:()")
_MOST_BETWEEN = 3  # words between two parties and the word that joins them
_DIRECTED = frozenset(
    (
        *("to", "than", "by", "over", "against", "from", "of", "before", "after"),
        *("à", "au", "aux", "par", "contre", "vers", "de", "du", "des", "d", "avant", "après", "que"),
    )
)
_BE = frozenset(
    (
        *("is", "are", "was", "were", "be", "been", "being"),
        *("est", "sont", "était", "étaient", "été", "fut", "furent", "sera", "seront", "être"),
    )
)
_BY = frozenset(("by", "par"))
_CONDITIONS: tuple[MarkerKind, ...] = ("condition", "exception")
_TEMPORAL = "when"  # a condition that often is none, and that may stand for one


class MarkedSentence:
    """A sentence, with its words, their stems ("" for one that means nothing alone), its markers and what they belong to."""

    def __init__(self, text: str) -> None:
        self.text = folded(text)
        self.words = words_of(self.text)
        self.stem = list(stems_of(self.words))
        self.markers = markers_of(self.words)
        bare = self.stem[:]
        for marker in self.markers:
            bare[marker.first : marker.last] = [""] * (marker.last - marker.first)
        self.content = [at for at, stem in enumerate(bare) if stem]
        self.stems = frozenset(filter(None, bare))

    @cached_property
    def written(self) -> frozenset[str]:
        """Its words."""
        return frozenset(self.words)

    @cached_property
    def roots(self) -> frozenset[str]:
        """The stems of its words, the word itself where it means nothing alone."""
        return frozenset([stem or word for stem, word in zip(self.stem, self.words, strict=True)])

    @cached_property
    def spans(self) -> list[tuple[int, int]]:
        """Where its words stand."""
        return spans_of(self.text)

    def of(self, kind: MarkerKind) -> list[Marker]:
        """Its markers of a kind."""
        return [marker for marker in self.markers if marker.kind == kind]

    def beside(self, marker: Marker) -> str:
        """The stem of the word that a marker belongs to: the next one, else the one before it; "" for none."""
        following = next((at for at in self.content if at >= marker.last), None)
        if following is not None and following - marker.last < _REACH:
            return self.stem[following]
        before = next((at for at in reversed(self.content) if at < marker.first), None)
        return "" if before is None else self.stem[before]

    def belongs(self, marker: Marker, stems: Set[str]) -> bool:
        """Whether the word that a marker belongs to is one of some, and most of the words around it are."""
        near = [at for at in self.content if at < marker.first][-1:] + [at for at in self.content if at >= marker.last][
            :_NEIGHBOURS
        ]
        shared = sum(self.stem[at] in stems for at in near)
        return self.beside(marker) in stems and 3 * shared >= 2 * len(near)

    def parted(self, first: int, second: int) -> bool:
        """Whether a sign that ends clauses stands between two words."""
        return not _CLAUSE_ENDS.isdisjoint(self.text[self.spans[first][1] : self.spans[second][0]])

    def clause(self, marker: Marker) -> range:
        """The words of the clause that a marker opens, up to a sign that ends clauses."""
        end = next((at for at in range(marker.last, len(self.words)) if self.parted(at - 1, at)), len(self.words))
        return range(marker.first, end)

    def stems_in(self, words: range) -> frozenset[str]:
        """The stems of some of its words."""
        return frozenset([self.stem[at] for at in self.content if at in words])

    def without_clauses(self) -> frozenset[str]:
        """The stems outside of its conditions and exceptions."""
        clauses = [marker for marker in self.markers if marker.kind in _CONDITIONS and marker.value != _TEMPORAL]
        inside = {at for marker in clauses for at in self.clause(marker)}
        return frozenset([self.stem[at] for at in self.content if at not in inside])


def changes_of(sentence: str, stems: Set[str], near: str, language: str) -> tuple[Change, ...]:
    """What a sentence changes of the one in `near` that it nearly copies; () for one that copies none, or changes nothing."""
    if sentence.strip() in near and sentence.strip() in _texts(near, language):
        return ()
    marked = MarkedSentence(sentence)
    core = marked.without_clauses()
    core = core if len(core) >= _FEWEST else marked.stems
    if len(core) < _FEWEST or not _may_be_copied(core, frozenset(stems_of(parted(near).split()))):
        return ()
    cuts = [(text, frozenset(stems_of(parted(text).split()))) for text in _texts(near, language)]
    pieces = [
        MarkedSentence(text)
        for text, roots in cuts
        if len(stems & roots) >= LEAST_NEAR * len(stems) and _may_be_copied(core, roots)
    ]
    # The share of the words that a piece has, or the opposite of which it has.
    kept = [
        [stem for stem in core if stem in piece.stems or not OPPOSITES.get(stem, frozenset()).isdisjoint(piece.roots)]
        for piece in pieces
    ]
    shares = [len(stems) / len(core) for stems in kept]
    best = max(shares, default=0.0)
    changes: tuple[Change, ...] = ()
    for piece, share in zip(pieces, shares, strict=True):
        if share >= max(_LEAST, best - _NEARLY):
            changed = tuple(dict.fromkeys(_changes(marked, piece)))
            if not changed:
                return ()
            changes = changes if share < best else changed
    return changes


def _texts(near: str, language: str) -> list[str]:
    return [span.text for span in sentences(_UNSPACED.sub(r"\g<0> ", near), language)[:_MOST_SENTENCES]]


def _may_be_copied(core: Set[str], roots: Set[str]) -> bool:
    """Whether a text with some roots may have enough of a sentence's words, or of their opposites."""
    return len(core) - len([stem for stem in core - roots if stem not in OPPOSITES]) >= _LEAST * len(core)


def _changes(sentence: MarkedSentence, other: MarkedSentence) -> Iterator[Change]:
    only, only_other = sentence.roots - other.roots, other.roots - sentence.roots
    opposed = any(not OPPOSITES[root].isdisjoint(only_other) for root in only if root in OPPOSITES)
    # A word and the opposite denied say the same.
    if opposed and bool(sentence.of("negation")) == bool(other.of("negation")):
        yield "opposite"
    elif not opposed:
        yield from _negations(sentence, other)
    if sentence.markers or other.markers:
        yield from _attached(sentence, other, "quantifier", "quantifier")
        yield from _attached(sentence, other, "bound", "bound")
        yield from _clauses(sentence, other, "condition", "condition")
        yield from _clauses(sentence, other, "exception", "exception")
    if _exchanged(sentence, other):
        yield "parties"


def _negations(sentence: MarkedSentence, other: MarkedSentence) -> Iterator[Change]:
    for first, second in ((sentence, other), (other, sentence)):
        if denying(second.stems) - denying(first.stems):
            continue
        negated = {second.beside(marker) for marker in second.of("negation")}
        for marker in first.of("negation"):
            fewer = len(second.of("negation")) < len(first.of("negation"))
            if fewer and first.beside(marker) not in negated and first.belongs(marker, second.stems):
                yield "negation"


def _attached(sentence: MarkedSentence, other: MarkedSentence, kind: MarkerKind, change: Change) -> Iterator[Change]:
    """A quantifier or a bound that belongs to words of both, where the other has fewer of its value and none there."""
    for first, second in ((sentence, other), (other, sentence)):
        attached = [(marker.value, second.beside(marker)) for marker in second.of(kind)]
        values = [value for value, _ in attached]
        for marker in first.of(kind):
            beside = first.beside(marker)
            if (marker.value, beside) in attached or not first.belongs(marker, second.stems):
                continue
            # "Several" may be left out or added; it may not stand for "all".
            if marker.value == "some" and not any(word == beside for _, word in attached):
                continue
            if values.count(marker.value) < sum(other_marker.value == marker.value for other_marker in first.of(kind)):
                yield change


def _clauses(sentence: MarkedSentence, other: MarkedSentence, kind: MarkerKind, change: Change) -> Iterator[Change]:
    """A condition or an exception of one that the other has in no form: added, dropped, or turned into another one."""
    values, other_values = (Counter(marker.value for marker in piece.of(kind)) for piece in (sentence, other))
    for marker in sentence.of(kind):
        inside = sentence.stems_in(sentence.clause(marker))
        # What the other says of the same thing in another form may be put as a condition.
        said = inside and 2 * len(inside & other.stems) > len(inside)
        if marker.value != _TEMPORAL and values[marker.value] > other_values[marker.value] and not said:
            yield change
    temporal = max(0, values[_TEMPORAL] - other_values[_TEMPORAL])  # those that may stand for a condition of the other
    for marker in other.of(kind):
        clause = other.clause(marker)
        before = [at for at in other.content if at < clause.start][-_BESIDE_CLAUSE:]
        after = [at for at in other.content if at >= clause.stop][:_BESIDE_CLAUSE]
        beside = {other.stem[at] for at in (*before, *after)}
        inside = other.stems_in(clause) - beside
        kept = any(_mostly(other, side, sentence.stems) for side in (before, after))
        dropped = 2 * len(inside & sentence.stems) <= len(inside)
        fewer = marker.value != _TEMPORAL and values[marker.value] + temporal < other_values[marker.value]
        if kept and fewer and (dropped or not values):
            yield change


def _mostly(piece: MarkedSentence, words: Sequence[int], stems: Set[str]) -> bool:
    shared = sum(piece.stem[at] in stems for at in words)
    return shared >= min(_FEWEST, len(words)) and bool(words) and 3 * shared >= 2 * len(words)


def _exchanged(sentence: MarkedSentence, other: MarkedSentence) -> bool:
    """Whether two parties have changed places: around what both do, or on the two sides of a word that has a direction."""
    places, counterparts = _places(sentence, other), _places(other, sentence)
    aligned = sorted((at, counterparts[key]) for key, at in places.items() if key in counterparts)
    if len(aligned) <= _FEWEST or len(aligned) < _LEAST_EXCHANGED * len(sentence.content):
        return False
    once = sorted((at, counterparts[key]) for key, at in places.items() if key in counterparts and key[-1] == 1)
    return _moved(sentence, other, aligned) or (_FEWEST < len(once) < len(aligned) and _moved(sentence, other, once))


def _moved(sentence: MarkedSentence, other: MarkedSentence, aligned: Sequence[tuple[int, int]]) -> bool:
    """Whether the order of some words says that parties have changed places."""
    agent, counterpart = _agent(sentence, [at for at, _ in aligned]), _agent(other, sorted(at for _, at in aligned))
    if (agent is None) == (counterpart is None):
        return _turned(sentence, other, aligned)
    # One of them is passive: its agent must stand on the other side of its subject in the active one.
    order = [at for _, at in aligned] if counterpart is None else [at for at, _ in sorted(aligned, key=itemgetter(1))]
    passive, number = (sentence, agent) if counterpart is None else (other, counterpart)
    if number is None or number < 2 or not order[0] < order[1] < order[number]:
        return False
    words = passive.words
    return any(not _BE.isdisjoint(words[max(0, at - _REACH) : at]) for at, word in enumerate(words) if word in _BY)


def _places(piece: MarkedSentence, other: MarkedSentence) -> dict[tuple[str, bool, int, int], int]:
    """Where words stand, by themselves where the other piece has them so, else by their stem: which, and of how many."""
    places: dict[tuple[str, bool], list[int]] = {}
    for at in piece.content:
        word = piece.words[at]
        written = word in other.written
        places.setdefault((word if written else piece.stem[at], written), []).append(at)
    return {(*key, number, len(ats)): at for key, ats in places.items() for number, at in enumerate(ats)}


def _turned(sentence: MarkedSentence, other: MarkedSentence, aligned: Sequence[tuple[int, int]]) -> bool:
    """Whether two runs of words have changed places, around words that stayed or around one that has a direction."""
    order = [at for _, at in aligned]
    falls = [at for at in range(1, len(order)) if order[at] < order[at - 1]]
    if not falls or len(falls) > _FEWEST:
        return False
    first, last = falls[0], falls[-1]
    opens = next((at for at in range(first) if order[at] > order[last]), first)
    closes = next((at for at in range(last, len(order)) if order[at] > order[first - 1]), len(order))
    moved, left, middle = order[opens:first], order[last:closes], order[first:last]
    if not moved or (opens and order[opens - 1] > left[0]):
        return False
    if middle:
        return left[-1] < middle[0] <= middle[-1] < moved[0] and not sentence.parted(aligned[first - 1][0], aligned[last][0])
    here = _between(sentence, aligned[first - 1][0], aligned[first][0])
    return here != () and here == _between(other, left[-1], moved[0])


def _between(piece: MarkedSentence, first: int, second: int) -> tuple[str, ...]:
    words = tuple(piece.words[first + 1 : second])
    return words if len(words) <= _MOST_BETWEEN and not _DIRECTED.isdisjoint(words) else ()


def _agent(piece: MarkedSentence, places: Sequence[int]) -> int | None:
    """Which of some tokens is said to do it: the first one behind "by" or "par"; None for none."""
    for number, at in enumerate(places):
        before = piece.words[max(0, at - _REACH) : at]
        if number and not _BY.isdisjoint(before) and not piece.words[at][0].isdigit():
            return number
    return None
