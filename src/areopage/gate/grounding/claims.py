"""What an answer states and a document can be asked for word by word: figures, dates, counted things, references."""

from typing import Literal

from msgspec import Struct

from areopage.gate.records import Place

ClaimKind = Literal["amount", "percentage", "date", "duration", "quantity", "reference"]
ClaimState = Literal["supported", "elsewhere", "missing"]


class Claim(Struct, frozen=True, kw_only=True):
    """A figure or a reference of the answer.

    Args:
        place: where it stands in the response.
        state: `supported` where a document (or the question) holds it, in whatever writing; `elsewhere` where documents hold it,
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
