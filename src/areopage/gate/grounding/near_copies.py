"""Sentences that nearly copy a document: the same words, but for one that can change the meaning.

A comparison by words cannot tell whether the meaning is the same. A sentence is aligned with the document's sentence that has
most of its words; what differs is a negator, a quantifier, a condition, an exception, a bound, the order of the parties, or a
word and its opposite. Dropped words count as well as added ones.
"""

from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import pairwise
from typing import Literal

from areopage.text.markers import OPPOSITES, Marker, MarkerKind, denying, markers_of, tokens_of
from areopage.text.sentences import sentences

Change = Literal["negation", "quantifier", "condition", "exception", "bound", "parties", "opposite"]

FEWEST = 2  # words that mean something, for a sentence to copy another one
LEAST = 0.7  # share of a sentence's words that the document's sentence must have
_NEARLY = 0.1  # by which another sentence of the document may have less and still be as near
_MOST_SENTENCES = 12  # of a document that one sentence is compared with
_REACH = 4  # tokens from a marker within which what it belongs to stands
_DIRECTED = frozenset("to à au aux than by par over against contre vers from of de du des d before after avant après que".split())
_CLAUSE_ENDS = frozenset(",;:()")
_MOST_BETWEEN = 3  # tokens between two parties and the word that joins them
_BY = frozenset(("by", "par"))
_RATES = frozenset("an ans année jour mois heure semaine personne enfant year day month hour week person phone mail email".split())
_LICENSED = {"when": "if", "if": "when"}  # conditions that a rewording may exchange
_QUIET: tuple[MarkerKind, ...] = ("condition", "exception")


class Piece:
    """A sentence, with its words, its markers and what they belong to."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens = tokens_of(text)
        self.markers = markers_of(self.tokens)
        taken = {at for marker in self.markers for at in range(marker.first, marker.last)}
        self.content = [at for at, token in enumerate(self.tokens) if token.stem and at not in taken]
        self.stems = frozenset(self.tokens[at].stem for at in self.content)
        self.words = frozenset(token.word for token in self.tokens)
        self.roots = frozenset(token.root for token in self.tokens)

    @cached_property
    def denying(self) -> frozenset[str]:
        """The stems that deny without a negator."""
        return denying(self.tokens)

    def beside(self, marker: Marker) -> frozenset[str]:
        """The stem of the word that a marker belongs to: the next one, else the one before it."""
        following = next((at for at in self.content if at >= marker.last), None)
        if following is not None and following - marker.last < _REACH:
            return frozenset([self.tokens[following].stem])
        before = next((at for at in reversed(self.content) if at < marker.first), None)
        return frozenset() if before is None else frozenset([self.tokens[before].stem])

    def clause(self, marker: Marker) -> range:
        """The tokens of the clause that a marker opens, up to a sign that ends clauses."""
        for at in range(marker.last, len(self.tokens)):
            between = self.text[self.tokens[at - 1].end : self.tokens[at].start]
            if not _CLAUSE_ENDS.isdisjoint(between):
                return range(marker.first, at)
        return range(marker.first, len(self.tokens))

    def without_clauses(self) -> frozenset[str]:
        """The stems outside of its conditions and exceptions."""
        inside = {at for marker in self.markers if marker.kind in _QUIET and marker.value != "when" for at in self.clause(marker)}
        return frozenset(self.tokens[at].stem for at in self.content if at not in inside)


def changes(sentence: str, near: str, language: str) -> tuple[Change, ...]:
    """What a sentence changes of the one that it nearly copies; () for one that copies none, or changes nothing.

    Args:
        near: the part of the document that has most of the sentence's words, cut at sentences.
    """
    own = Piece(sentence)
    core = own.without_clauses()
    core = core if len(core) >= FEWEST else own.stems
    if len(core) < FEWEST:
        return ()
    pieces = [Piece(span.text) for span in sentences(near, language)[:_MOST_SENTENCES]]
    shares = [len(core & piece.stems) / len(core) for piece in pieces]
    best = max(shares, default=0.0)
    if best < LEAST:
        return ()
    found: tuple[Change, ...] = ()
    for piece, share in zip(pieces, shares, strict=True):
        if share >= max(LEAST, best - _NEARLY):
            changed = tuple(dict.fromkeys(_changes(own, piece, pieces)))
            if not changed:
                return ()
            found = found if share < best else changed
    return found


def _changes(own: Piece, other: Piece, around: Sequence[Piece]) -> Iterator[Change]:
    opposed = _opposed(own, other)
    # A word and the opposite denied say the same.
    turned = bool(_of(own, "negation")) != bool(_of(other, "negation"))
    if opposed and not turned:
        yield "opposite"
    elif not opposed:
        yield from _negations(own, other, around)
    yield from _attached(own, other, around, "quantifier")
    yield from _attached(own, other, around, "bound")
    yield from _clauses(own, other, around, "condition")
    yield from _clauses(own, other, around, "exception")
    if _exchanged(own, other):
        yield "parties"


def _of(piece: Piece, kind: MarkerKind) -> list[Marker]:
    return [marker for marker in piece.markers if marker.kind == kind]


def _negations(own: Piece, other: Piece, around: Sequence[Piece]) -> Iterator[Change]:
    """A negator of one that belongs to a word of the other, where that one has none and nothing that denies."""
    for first, second in ((own, other), (other, own)):
        if _of(second, "negation") or second.denying - first.denying:
            continue
        for marker in _of(first, "negation"):
            beside = first.beside(marker)
            copied = first is own and any(
                beside & piece.beside(one) for piece in around if piece is not other for one in _of(piece, "negation")
            )
            if beside & second.stems and not copied:
                yield "negation"


def _attached(own: Piece, other: Piece, around: Sequence[Piece], kind: MarkerKind) -> Iterator[Change]:
    """A quantifier or a bound that belongs to a word of the other, where that one has none of its value."""
    for first, second in ((own, other), (other, own)):
        values = {marker.value for marker in _of(second, kind)}
        for marker in _of(first, kind):
            beside = first.beside(marker)
            if marker.value in values or not beside & second.stems:
                continue
            copied = first is own and any(
                one.value == marker.value and beside & piece.beside(one) for piece in around for one in _of(piece, kind)
            )
            if not copied:
                yield "quantifier" if kind == "quantifier" else "bound"


def _clauses(own: Piece, other: Piece, around: Sequence[Piece], kind: MarkerKind) -> Iterator[Change]:
    """A condition or an exception that one of them has, and the other has not in any form."""
    values = {marker.value for marker in _of(own, kind)}
    there = {marker.value for marker in _of(other, kind)}
    change: Change = "condition" if kind == "condition" else "exception"
    nearby = {marker.value for piece in around for marker in _of(piece, kind)}
    for value in values - {"when"}:
        if value not in nearby and _LICENSED.get(value, value) not in nearby:
            yield change
    for marker in _of(other, kind):
        if marker.value == "when" or marker.value in values or _LICENSED.get(marker.value, "") in values:
            continue
        clause = other.clause(marker)
        rest = frozenset(other.tokens[at].stem for at in other.content if at not in clause)
        inside = frozenset(other.tokens[at].stem for at in other.content if at in clause) - rest
        # Half of what it holds for is said, and the clause is not.
        if rest and len(rest & own.stems) >= max(2, len(rest) / 2) and len(inside & own.stems) <= len(inside) / 2:
            yield change
        elif there - values and inside and len(inside & own.stems) > len(inside) / 2 and len(rest & own.stems) > len(rest) / 2:
            yield change


def _opposed(own: Piece, other: Piece) -> bool:
    """Whether one has a word and the other its opposite, and neither has both."""
    only, there = own.roots - other.roots, other.roots - own.roots
    return any(not OPPOSITES[root].isdisjoint(there) for root in only if root in OPPOSITES)


def _exchanged(own: Piece, other: Piece) -> bool:
    """Whether two parties have changed places: around what both do, or on the two sides of a word that has a direction."""
    aligned = _aligned(own, other)
    if len(aligned) < FEWEST:
        return False
    for (first, there), (second, after) in pairwise(aligned):
        if after < there and _between(own, first, second) == _between(other, after, there) != ():
            return True
    agent, counterpart = _agent(own, [at for at, _ in aligned]), _agent(other, [at for _, at in aligned])
    if (agent is None) == (counterpart is None):
        return _turned(own, aligned)
    # One of them is passive: its agent must stand on the other side of its subject in the active one.
    order = [there for _, there in aligned] if counterpart is None else [at for at, _ in sorted(aligned, key=lambda pair: pair[1])]
    return order[0] < order[agent if agent is not None else counterpart or 0]


def _aligned(own: Piece, other: Piece) -> list[tuple[int, int]]:
    """The tokens of both that are the same word, where each has it once; in the order of the first."""
    places, there = _places(own, other), _places(other, own)
    return sorted((at, there[key]) for key, at in places.items() if key in there)


def _places(piece: Piece, other: Piece) -> dict[str, int]:
    """Where words stand that stand once, by themselves where the other piece has them so, else by their stem."""
    found: dict[str, list[int]] = {}
    for at in piece.content:
        token = piece.tokens[at]
        found.setdefault(token.word if token.word in other.words else token.stem, []).append(at)
    return {key: ats[0] for key, ats in found.items() if len(ats) == 1}


def _between(piece: Piece, first: int, second: int) -> tuple[str, ...]:
    """The words between two tokens, where one has a direction and there are no others than light ones."""
    words = tuple(token.word for token in piece.tokens[first + 1 : second])
    return words if len(words) <= _MOST_BETWEEN and not _DIRECTED.isdisjoint(words) else ()


def _turned(own: Piece, aligned: Sequence[tuple[int, int]]) -> bool:
    """Whether two words have changed places around a third one that stayed between them."""
    for at in range(1, len(aligned) - 1):
        there = aligned[at][1]
        before = [place for place, other in aligned[:at] if other > there]
        after = [place for place, other in aligned[at + 1 :] if other < there]
        if before and after:
            between = own.text[own.tokens[before[-1]].end : own.tokens[after[0]].start]
            if _CLAUSE_ENDS.isdisjoint(between):
                return True
    return False


def _agent(piece: Piece, places: Sequence[int]) -> int | None:
    """Which of some tokens, in the order of the piece, is said to do it: the one behind "by" or "par"."""
    for number, at in enumerate(sorted(places)):
        before = piece.tokens[max(0, at - _REACH) : at]
        if number and not _BY.isdisjoint(token.word for token in before) and piece.tokens[at].word not in _RATES:
            return None if piece.tokens[at].word[0].isdigit() else number
    return None
