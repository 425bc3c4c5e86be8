"""The grounding model: from features of a sentence to the probability that the documents do not support it."""

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct

from areopage.cases.records import Document
from areopage.gate.claims import Claim
from areopage.gate.records import Place


class GroundingModel(Struct, frozen=True, kw_only=True):
    """The fitted weights, as they stand in a readable JSON file; `provenance` says on what and how they were fitted."""

    name: str
    provenance: dict[str, Any]


class SentenceGrounding(Struct, frozen=True, kw_only=True):
    """What was found about one sentence of the answer.

    Args:
        claim: false for a greeting, a question, a refusal, a closing.
        features: by name, as the model reads them.
        unsupported: the words, names, figures and references of the sentence that no document holds.
        claims: its figures and references, each with whether a document holds it.
        document: id of the document that supports it best, "" where none does at all.
        supporting: the place in that document which comes nearest; None where there is none.
    """

    start: int
    end: int
    text: str
    claim: bool
    p_unsupported: float
    features: dict[str, float]
    unsupported: tuple[Place, ...] = ()
    claims: tuple[Claim, ...] = ()
    document: str = ""
    supporting: Place | None = None


class Grounding(Struct, frozen=True, kw_only=True):
    """What the model says of a whole answer."""

    p_unsupported: float
    sentences: tuple[SentenceGrounding, ...]
    features: dict[str, float]


def ground(model: GroundingModel, prompt: str, response: str, documents: Sequence[Document], language: str) -> Grounding:
    """Check an answer sentence by sentence against its documents.

    Args:
        language: the answer's, "fr" or "en".

    Returns:
        The probabilities, with what they rest on. An answer without any claim has p_unsupported 0.
    """
    raise NotImplementedError


def model_of(data: Mapping[str, Any]) -> GroundingModel:
    """The model that a file's contents hold.

    Raises:
        ValueError: a field is missing or wrong; the message names it.
    """
    raise NotImplementedError
