"""The pieces of documents that share words with the sentences of an answer: what a reader looks at first."""

import re
from collections.abc import Iterator, Sequence, Set

from msgspec import Struct

from areopage.cases import Document
from areopage.gate.grounding.examine import SentenceGrounding, without_citations
from areopage.gate.records import Place
from areopage.text import parted, stem, stems

_WORD = re.compile(r"\S+")
_ENDS = re.compile(r"(?<!\b\w)(?<!\b\w\w)[.!?…]\s|\n\s*\n")  # "M. Durand" goes on
_MOST_SKIPPED = 3  # words of a document between two words of a sentence, of which one may mean something
_LEAST_SHARED = 2  # words that mean something: one alone stands everywhere
_MOST_PIECES = 4  # for one sentence


class _Piece(Struct, frozen=True):
    """A piece of a document with the stems that it shares with a sentence; `least`: how many of them no other piece must have."""

    place: Place
    shared: frozenset[str]
    least: int = 1


class _Word(Struct, frozen=True):
    stem: str
    start: int
    end: int
    number: bool


def shared_places(
    sentences: Sequence[SentenceGrounding], response: str, documents: Sequence[Document]
) -> tuple[tuple[Place, ...], ...]:
    """For each sentence of an answer the few pieces of documents that share most of its words, and where its figures stand.

    A figure that a sentence does not have ends a piece, so that no other value is taken for its evidence.
    """
    clean = without_citations(response, documents)
    wanted = [frozenset(stems(clean[sentence.start : sentence.end])) if sentence.claim else frozenset() for sentence in sentences]
    read = [(document, _words(parted(document.text))) for document in documents] if any(wanted) else []
    return tuple(
        tuple(_chosen([*_evidence(sentence, roots), *_pieces(read, roots)], sentence.supporting, roots))
        for sentence, roots in zip(sentences, wanted, strict=True)
    )


def _words(clean: str) -> list[_Word]:
    words = []
    for match in _WORD.finditer(clean):
        word = match.group()
        words.append(_Word(stem(word), match.start(), match.end(), any(map(str.isdigit, word))))
    return words


def _evidence(sentence: SentenceGrounding, roots: Set[str]) -> Iterator[_Piece]:
    """Where documents have the sentence's figures."""
    for claim in sentence.claims:
        if claim.supported and claim.evidence is not None and claim.evidence.document:
            yield _Piece(claim.evidence, frozenset(stems(claim.place.text)) & roots)


def _pieces(read: Sequence[tuple[Document, Sequence[_Word]]], roots: Set[str]) -> Iterator[_Piece]:
    """The runs of a sentence's words in the documents."""
    least = min(_LEAST_SHARED, len(roots))
    for document, words in read if roots else ():
        for run in _runs(document.text, words, roots):
            shared = frozenset(word.stem for word in run)
            if len(shared) >= least:
                start, end = run[0].start, run[-1].end
                yield _Piece(Place(document=document.id, start=start, end=end, text=document.text[start:end]), shared, least)


def _runs(text: str, words: Sequence[_Word], roots: Set[str]) -> Iterator[list[_Word]]:
    run: list[_Word] = []
    skipped = meaning = 0
    for word in words:
        if word.stem and word.stem in roots:
            if run and _ENDS.search(text, run[-1].end, word.start):
                yield run
                run = []
            run.append(word)
            skipped = meaning = 0
        elif run:
            skipped += 1
            meaning += bool(word.stem)
            if word.number or skipped > _MOST_SKIPPED or meaning > 1:
                yield run
                run, skipped, meaning = [], 0, 0
    if run:
        yield run


def _chosen(pieces: Sequence[_Piece], nearest: Place | None, roots: Set[str]) -> Iterator[Place]:
    """The pieces that share the most words that those before them do not; of equal ones that in the nearest passage."""

    def near(place: Place) -> bool:
        return (
            nearest is not None and place.document == nearest.document and place.start < nearest.end and nearest.start < place.end
        )

    left = set(roots)
    for _ in range(_MOST_PIECES):
        pieces = [piece for piece in pieces if len(piece.shared & left) >= piece.least]
        if not pieces:
            return
        best = max(pieces, key=lambda piece: (len(piece.shared & left), near(piece.place)))
        yield best.place
        left -= best.shared
