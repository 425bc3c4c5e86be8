"""How far people agree among themselves: what no judge can be expected to surpass by much."""

from collections.abc import Mapping
from itertools import combinations
from math import sqrt

import msgspec
import numpy as np
from msgspec import Struct

from areopage.scoring.alpha import MIN_UNITS, Alpha, krippendorff_alpha
from areopage.scoring.correlation import MIN_PAIRS, PERFECT, Column, pearson, z_range

MOST_RATERS = 200
"""Of more raters no pairs are compared: the pairs grow with their square."""


class RaterPair(Struct, frozen=True, kw_only=True):
    """Two raters on the items that both labelled, with Fisher's 95 % interval.

    `pearson` is None under four items or where one was constant, the interval also where they agree without exception.
    """

    first: str
    second: str
    items: int
    pearson: float | None
    low: float | None
    high: float | None


class RaterAgreement(Struct, frozen=True, kw_only=True):
    """People among themselves on one criterion.

    Args:
        items: those that at least two raters labelled.
        pearson: mean of the pairs' coefficients, weighed by their items; None where no pair has one.
        alpha: Krippendorff's, ordinal; None under five items.
        pairs: those with an item in common, most items first.
    """

    items: int
    pearson: float | None
    alpha: Alpha
    pairs: tuple[RaterPair, ...]


def rater_agreement(labels: Mapping[str, Mapping[str, float]], seed: int = 0) -> RaterAgreement:
    """Compare raters with each other.

    Args:
        labels: item -> rater -> score.
        seed: of α's bootstrap.
    """
    shared = [given for given in labels.values() if len(given) > 1]
    raters = sorted({rater for given in shared for rater in given})
    units = [[given.get(rater) for rater in raters] for given in shared]
    table = np.array([[np.nan if score is None else score for score in unit] for unit in units], dtype=np.float64)
    pairs: list[RaterPair] = []
    if len(raters) <= MOST_RATERS:
        for left, right in combinations(range(len(raters)), 2):
            both = ~np.isnan(table[:, left]) & ~np.isnan(table[:, right])
            if both.any():
                pairs.append(compared(raters[left], raters[right], table[both, left], table[both, right]))
    alpha = krippendorff_alpha(units, seed=seed)
    known = [(pair.pearson, pair.items) for pair in pairs if pair.pearson is not None]
    items = sum(count for _, count in known)
    return RaterAgreement(
        items=len(shared),
        pearson=sum(value * count for value, count in known) / items if items else None,
        alpha=alpha if alpha.units >= MIN_UNITS else msgspec.structs.replace(alpha, alpha=None),
        pairs=tuple(sorted(pairs, key=lambda pair: (-pair.items, pair.first, pair.second))),
    )


def compared(first: str, second: str, left: Column, right: Column) -> RaterPair:
    """Two raters' scores of the same items."""
    value = pearson(left, right) if left.size >= MIN_PAIRS else None
    inner = None if value is None or abs(value) > PERFECT else z_range(value, 1 / sqrt(left.size - 3))
    return RaterPair(
        first=first,
        second=second,
        items=left.size,
        pearson=value,
        low=inner.low if inner else None,
        high=inner.high if inner else None,
    )
