"""The documents of an answer, indexed once for the words that the answer uses. Linear in the documents."""

from collections.abc import Iterator, Sequence, Set

from areopage.cases.records import Document
from areopage.gate.records import Place
from areopage.text.stems import denies, parted, stems, stems_of

_STRETCH = 160  # characters; a sentence is sought in a stretch together with the next one
_LONGEST_CUT = 80  # characters: a stretch ends at a space, unless none comes
MOST_PLACES = 200  # a word's places beyond these are not looked at, so that an answer's cost is bounded


class Source:
    """What the documents hold.

    Attributes:
        stems: the stems of the answer that a document has; `held`: the same of each document.
        clean: their texts, parted.
        pairs: the stems of the answer that follow each other in a document, words that mean nothing alone left out.
    """

    def __init__(self, documents: Sequence[Document], answer: Sequence[Sequence[str]]) -> None:
        """Args:
        answer: the stems of its sentences; only their places are kept.
        """
        self.documents = documents
        wanted = frozenset(root for roots in answer for root in roots)
        self.pairs: set[tuple[str, str]] = set()
        self._places: dict[str, list[int]] = {}
        self._denying: dict[int, bool] = {}
        self._stretches: list[tuple[int, int, int]] = []
        self.clean = [parted(document.text) for document in documents]
        self.held: list[Set[str]] = []
        for index, (document, clean) in enumerate(zip(documents, self.clean, strict=True)):
            own = self._read(index, clean, wanted)
            self.held.append(own | wanted.intersection(stems(document.title)) if document.title else own)
            self._stretches.append((index, -1, -1))  # no stretch goes over into the next document
        self.stems: Set[str] = frozenset[str]().union(*self.held)

    def _read(self, index: int, clean: str, wanted: frozenset[str]) -> Set[str]:
        """The wanted stems that a document has; notes in which stretches they stand, and which of them are neighbours."""
        found: list[str] = []
        ends: list[int] = []
        first = len(self._stretches)
        for start, end in _cuts(clean):
            found += filter(None, stems_of(clean[start:end].split()))
            ends.append(len(found))
            self._stretches.append((index, start, end))
        known, pairs = self._places, self.pairs
        number, before, last = 0, -2, ""
        for at, root in [(at, root) for at, root in enumerate(found) if root in wanted]:
            while at >= ends[number]:
                number += 1
            if before == at - 1:
                pairs.add((last, root))
            before, last = at, root
            places = known.get(root)
            if places is None:
                known[root] = [first + number]
            elif places[-1] != first + number and len(places) < MOST_PLACES:
                places.append(first + number)
        return wanted.intersection(found)

    def best_stretch(self, words: Set[str]) -> tuple[int, int]:
        """The stretch that holds most of these words together with the next one, and how many; (-1, 0) where none is held."""
        votes: dict[int, int] = {}
        for word in words:
            before = -2
            for stretch in self._places.get(word, ()):
                # A word in two neighbouring stretches counts once in the pair that they make.
                if stretch - 1 != before:
                    votes[stretch - 1] = votes.get(stretch - 1, 0) + 1
                votes[stretch] = votes.get(stretch, 0) + 1
                before = stretch
        if not votes:
            return -1, 0
        most = max(votes.values())
        best = max([stretch for stretch, count in votes.items() if count == most])
        return max(best, 0), most

    def denies(self, stretch: int) -> bool:
        """Whether a stretch or the next one denies anything."""
        known = self._denying.get(stretch)
        if known is None:
            known = self._denying[stretch] = denies(self.place(stretch).text.lower().replace("’", "'"))
        return known

    def place(self, stretch: int) -> Place:
        """The piece of a document that a stretch and the next one cover."""
        index, start, end = self._stretches[stretch]
        if start < 0:  # before the first stretch of the next document
            index, start, end = self._stretches[stretch + 1]
        elif self._stretches[stretch + 1][1] >= 0:
            end = self._stretches[stretch + 1][2]
        document = self.documents[index]
        return Place(document=document.id, start=start, end=end, text=document.text[start:end])


def _cuts(text: str) -> Iterator[tuple[int, int]]:
    """The stretches of a text: together they are the whole of it."""
    start, length = 0, len(text)
    while length - start > _STRETCH:
        space = text.find(" ", start + _STRETCH, start + _STRETCH + _LONGEST_CUT)
        end = space if space >= 0 else min(start + _STRETCH + _LONGEST_CUT, length)
        yield start, end
        start = end
    if start < length:
        yield start, length
