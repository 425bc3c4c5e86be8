"""The grounding model: from features of a sentence to the probability that the documents do not support it.

Two logistic models, of sentences and of answers; each weight names its feature.
"""

from collections.abc import Mapping, Sequence
from math import exp, log
from typing import Any

import msgspec
from msgspec import Struct

from areopage.cases import Document
from areopage.gate.grounding.claims import Claim
from areopage.gate.grounding.examine import ExaminedSentence, Source, examine
from areopage.gate.records import Place, SentenceCheck

_STEEPEST = 30.0  # a logit beyond this is as good as certain, and exp() stays finite


class Weight(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One feature's part: what one standard deviation adds to the logit."""

    feature: str
    weight: float
    mean: float
    scale: float
    says: str = ""

    def __post_init__(self) -> None:
        """Raise ValueError for a scale that nothing can be divided by."""
        if not self.scale > 0:
            raise ValueError(f"scale of {self.feature} is {self.scale}: it must be greater than 0")


class Linear(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """bias + Σ weight × (value − mean) / scale."""

    bias: float
    weights: tuple[Weight, ...]

    def logit(self, features: Mapping[str, float]) -> float:
        """The log odds, cut to ±30. A feature that is not told counts as its mean."""
        total = self.bias
        for part in self.weights:
            value = features.get(part.feature)
            if value is not None:
                total += part.weight * (value - part.mean) / part.scale
        return max(-_STEEPEST, min(_STEEPEST, total))


def probability(logit: float) -> float:
    """The logistic function."""
    return 1.0 / (1.0 + exp(-logit))


def answer_features(logits: Sequence[float], words: Sequence[tuple[float, float]]) -> dict[str, float]:
    """Features of an answer, of its claims' logits within ±30 and their words: unknown ones, and all."""
    unknown, total = (sum(column) for column in zip(*words, strict=True))
    return {
        "odds": log(sum(map(exp, logits))),
        "foreign": max(0.0, unknown / max(1.0, total) - 0.5),
    }


class GroundingModel(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The fitted weights, as they stand in a readable JSON file; `provenance` says on what and how they were fitted.

    Args:
        sentence: from a sentence's features to the log odds that it is not supported.
        answer: from those of all claims to the log odds that the answer says something unsupported.
    """

    name: str
    provenance: dict[str, Any]
    sentence: Linear
    answer: Linear


class SentenceGrounding(SentenceCheck, frozen=True, kw_only=True):
    """What was found about one sentence of the answer; `shares` are those of its words that each document has."""

    unsupported: tuple[Place, ...] = ()
    claims: tuple[Claim, ...] = ()
    supporting: Place | None = None
    shares: tuple[float, ...] = ()


class Grounding(Struct, frozen=True, kw_only=True):
    """What the model says of a whole answer; `p_unsupported` is None for one without any claim."""

    p_unsupported: float | None
    sentences: tuple[SentenceGrounding, ...]
    features: dict[str, float]


def ground(model: GroundingModel, prompt: str, response: str, documents: Sequence[Document], language: str) -> Grounding:
    """Check an answer sentence by sentence against its documents.

    Returns:
        The probabilities, with what they rest on.
    """
    examined = examine(prompt, response, documents, language)
    logits = [model.sentence.logit(one.facts.features) for one in examined.sentences if one.claim]
    features = answer_features(logits, examined.words) if logits else {}
    left = iter(logits)
    return Grounding(
        p_unsupported=probability(model.answer.logit(features)) if logits else None,
        sentences=tuple(
            _sentence_grounding(one, examined.source, next(left) if one.claim else None) for one in examined.sentences
        ),
        features=features,
    )


def _sentence_grounding(one: ExaminedSentence, source: Source, logit: float | None) -> SentenceGrounding:
    """What is told of a sentence; `logit` is None for one that claims nothing."""
    facts, span = one.facts, one.span
    supporting = source.place(facts.stretch) if facts.stretch >= 0 else None
    return SentenceGrounding(
        start=span.start,
        end=span.end,
        text=span.text,
        claim=one.claim,
        p_unsupported=None if logit is None else probability(logit),
        features=facts.features,
        unsupported=tuple([Place(start=word.start, end=word.end, text=word.written) for word in facts.unknown]),
        claims=one.claims,
        changes=one.changes,
        document=supporting.document if supporting else "",
        supporting=supporting,
        shares=facts.shares,
    )


def model_of(data: Mapping[str, Any]) -> GroundingModel:
    """The model that a file's contents hold.

    Raises:
        ValueError: a field is missing or wrong; the message names it.
    """
    return msgspec.convert(data, GroundingModel)
