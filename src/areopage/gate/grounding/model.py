"""The grounding model: from features of a sentence to the probability that the documents do not support it.

Two logistic models, of sentences and of answers; each weight names its feature.
"""

from collections.abc import Mapping, Sequence
from math import exp, log
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from areopage.cases import Document
from areopage.gate.grounding.examine import SentenceGrounding, examine

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
    sentences = examine(prompt, response, documents, language)
    claims = [sentence for sentence in sentences if sentence.claim]
    logits = [model.sentence.logit(sentence.features) for sentence in claims]
    features = answer_features(logits, [(len(sentence.unsupported), sentence.words) for sentence in claims]) if claims else {}
    doubts = map(probability, logits)
    return Grounding(
        p_unsupported=probability(model.answer.logit(features)) if claims else None,
        sentences=tuple(
            [replace(sentence, p_unsupported=next(doubts)) if sentence.claim else sentence for sentence in sentences]
        ),
        features=features,
    )


def model_of(data: Mapping[str, Any]) -> GroundingModel:
    """The model that a file's contents hold.

    Raises:
        ValueError: a field is missing or wrong; the message names it.
    """
    return msgspec.convert(data, GroundingModel)
