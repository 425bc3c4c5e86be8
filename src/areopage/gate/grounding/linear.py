"""A logistic model whose weights can be read: each names its feature, and says what it means."""

from collections.abc import Mapping
from math import exp

from msgspec import Struct

STEEPEST = 30.0  # a logit beyond this is as good as certain, and exp() stays finite


class Weight(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One feature's part.

    Args:
        weight: what one standard deviation adds to the logit.
        mean, scale: the feature's mean and standard deviation where the model was fitted.
        says: the feature in one sentence.
    """

    feature: str
    weight: float
    mean: float
    scale: float
    says: str = ""

    def __post_init__(self) -> None:
        """Raise ValueError for a scale that nothing can be divided by."""
        if not self.scale > 0:
            raise ValueError(f"scale of {self.feature} is {self.scale}: it must be over 0")


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
        return max(-STEEPEST, min(STEEPEST, total))


def probability(logit: float) -> float:
    """The logistic function."""
    return 1.0 / (1.0 + exp(-logit))
