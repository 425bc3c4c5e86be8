"""The figures and references of an answer: do the documents hold them, and where the answer's own words stand?"""

from collections.abc import Sequence, Set
from functools import cache, cached_property
from typing import Literal

from msgspec import Struct

from areopage.cases.records import Document
from areopage.gate.grounding.figure_context import Spot, Surroundings
from areopage.gate.grounding.figure_places import Places
from areopage.gate.grounding.unread_places import derived, labels_said
from areopage.gate.records import Place
from areopage.text.figures import Figure, all_figures
from areopage.text.references import Reference
from areopage.text.stated import Counted, Stated, stated_in
from areopage.text.stems import parted, stems

_MOST_UNREAD = 20  # claims of one answer that are sought in writings that are not read as figures
_MOST_JUDGED = 6  # claims of one answer whose surroundings are compared with those of other figures
ClaimKind = Literal["amount", "percentage", "date", "duration", "quantity", "reference"]
ClaimState = Literal["supported", "elsewhere", "missing"]


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


def check_claims(prompt: str, response: str, documents: Sequence[Document], clean: Sequence[str] | None = None) -> list[Claim]:
    """The figures and references of an answer in order, each with whether a document or the question holds it, and where.

    Args:
        response: the answer; its citations may have been blanked.
        clean: the documents' texts parted, where that has been done.
    """
    stated = stated_in(response)
    if not stated:
        return []
    ready = [parted(document.text) for document in documents] if clean is None else clean
    return _Check(prompt, response, documents, ready, stated).claims()


def _kind_of(stated: Stated) -> ClaimKind:
    """What is stated."""
    if isinstance(stated, Counted):
        return "quantity"
    return stated.kind if isinstance(stated, Figure) else "reference"


class _Check:
    """The documents' texts come first, then titles and the question: these hold figures, but show no place and no context."""

    def __init__(
        self, prompt: str, response: str, documents: Sequence[Document], clean: Sequence[str], stated: Sequence[Stated]
    ) -> None:
        texts = [document.text for document in documents]
        self._documents = documents
        read = cache(all_figures)
        self._places = Places([*texts, *(document.title for document in documents if document.title), prompt], read)
        self._surroundings = Surroundings(texts, clean, response, frozenset(stems(prompt)), read)
        self._unjudged = _MOST_JUDGED
        self._prompt, self._response, self._stated = prompt, response, stated
        self._unread_left = _MOST_UNREAD

    def claims(self) -> list[Claim]:
        """All claims in order."""
        return [self._counted(one) if isinstance(one, Counted) else self._claim(one) for one in self._stated]

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
        spot, spoken_of = self._places.unread(stated, self._said)
        if spot is None and derived(stated, self._response):
            return self._told(stated, "supported", None)
        return self._told(stated, "missing" if spot is None else "supported" if spoken_of else "elsewhere", spot)

    def _beyond(self, spots: Sequence[Spot]) -> bool:
        """Whether a title or the question holds it, so that the answer need not have it from a place in a document."""
        return any(number >= len(self._documents) for number, _, _ in spots)

    def _counted(self, stated: Counted) -> Claim:
        spots, beside = self._places.counted(stated)
        state: ClaimState = "supported" if beside else "elsewhere" if spots else "missing"
        return self._told(stated, state, spots[0] if spots else None)

    def _told(self, stated: Stated, state: ClaimState, spot: Spot | None, rival: Spot | None = None) -> Claim:
        return Claim(
            kind=_kind_of(stated),
            place=Place(start=stated.start, end=stated.end, text=stated.text),
            state=state,
            evidence=self._place(spot),
            instead=self._place(rival),
        )

    def _place(self, spot: Spot | None) -> Place | None:
        """The place in a document; None for a text that is none."""
        if spot is None or spot[0] >= len(self._documents):
            return None
        document = self._documents[spot[0]]
        return Place(document=document.id, start=spot[1], end=spot[2], text=document.text[spot[1] : spot[2]])
