"""What the judgments on its sentences say of a whole answer."""

from collections.abc import Sequence
from math import log, log1p

from areopage.gate.linear import probability

NOTHING = 0.02  # added to the expected number of unsupported sentences, so that its logarithm stays finite


def answer_features(logits: Sequence[float]) -> dict[str, float]:
    """Features of an answer from the logits of its claims; there is at least one."""
    return {
        "worst": max(logits),
        "expected": log(sum(map(probability, logits)) + NOTHING),
        "claims": log1p(len(logits)),
    }
