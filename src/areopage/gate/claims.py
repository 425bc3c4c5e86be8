"""What an answer states and a document can be asked for word by word: figures, dates, references."""

from typing import Literal

from msgspec import Struct

from areopage.gate.records import Place

ClaimKind = Literal["amount", "percentage", "date", "duration", "reference"]


class Claim(Struct, frozen=True, kw_only=True):
    """A figure or a reference of the answer.

    Args:
        place: where it stands in the response.
        supported: whether a document (or the question) holds it, in whatever writing.
        evidence: where the document that holds it has it; None where none does, or where only the question does.
    """

    kind: ClaimKind
    place: Place
    supported: bool
    evidence: Place | None = None
