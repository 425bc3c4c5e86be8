"""What the judgments on its sentences say of a whole answer."""

from collections.abc import Sequence
from math import log, log1p

from areopage.gate.linear import probability

NOTHING = 0.02  # added to the expected number of unsupported sentences, so that its logarithm stays finite
OWN_WORDS = 3  # a sentence may bring so many words of its own: to link and to sum up takes some


def answer_features(logits: Sequence[float], new: Sequence[float]) -> dict[str, float]:
    """Features of an answer.

    Args:
        logits: of its claims; there is at least one.
        new: how many words each claim brings that neither the documents nor the question nor an earlier sentence has.
    """
    return {
        "expected": log(sum(map(probability, logits)) + NOTHING),
        "invented": log1p(sum([max(0.0, words - OWN_WORDS) for words in new])),
    }
