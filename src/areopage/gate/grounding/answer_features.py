"""What the judgments on its sentences say of a whole answer."""

from collections.abc import Sequence
from math import log, log1p

from areopage.gate.grounding.linear import probability

NOTHING = 0.02  # added to the expected number of unsupported sentences, so that its logarithm stays finite
OWN_WORDS = 3  # a sentence may bring so many words of its own: to link and to sum up takes some


def answer_features(logits: Sequence[float], words: Sequence[tuple[float, float, float]]) -> dict[str, float]:
    """Features of an answer.

    Args:
        logits: of its claims; there is at least one.
        words: of each claim: how many words it brings that neither the documents nor the question nor an earlier sentence has;
            how many neither the documents nor the question have; how many there are.
    """
    new, unknown, total = (
        sum(column) for column in zip(*((max(0.0, one[0] - OWN_WORDS), one[1], one[2]) for one in words), strict=True)
    )
    return {
        "expected": log(sum(map(probability, logits)) + NOTHING),
        "invented": log1p(new),
        "foreign": max(0.0, unknown / max(1.0, total) - 0.5),
    }
