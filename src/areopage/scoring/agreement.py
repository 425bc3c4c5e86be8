"""Means and deviations of single values, and how many judges it takes for one to stand apart."""

from collections.abc import Sequence
from math import fsum, sqrt

MIN_JUDGES = 3


def mean(values: Sequence[float]) -> float:
    """Arithmetic mean of at least one value."""
    return fsum(values) / len(values)


def sample_variance(values: Sequence[float]) -> float:
    """Sample variance (n − 1); 0 under two values."""
    if len(values) < 2:
        return 0.0
    centre = mean(values)
    return fsum((value - centre) ** 2 for value in values) / (len(values) - 1)


def sample_sd(values: Sequence[float]) -> float:
    """Sample standard deviation; 0 under two values."""
    return sqrt(sample_variance(values))
