"""Paired comparison of two systems on the same cases: how far their scores and their failures lie apart.

Differences of scores lie between two known ends, most of them are 0 and few are large. Student's interval has no width where all
differences are equal, and misses rare large ones. The interval here needs no shape and keeps its level for few cases: each of its
ends is a quantile of the mean under random weights (exponential, divided by their sum) of the differences and of one more
difference at the end of its range, which stands for what was not seen. No weights are drawn: see `weighted_means`. Sources:
N. Gaffke, "Three test statistics for a nonparametric one-sided hypothesis on the mean of a nonnegative variable" (Mathematical
Methods of Statistics 14, 2005); E. Learned-Miller, P. S. Thomas, "A new confidence interval for the mean of a bounded random
variable" (arXiv:1905.06208, 2019).

Where differences have two values it is Clopper's and Pearson's, as for single failures. For failures, whose differences are −1, 0
or 1, its p-value is that of McNemar's exact test. For many cases it becomes the bootstrap's (Bayesian).
"""

from collections.abc import Mapping

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from areopage.scoring.comparison.weighted_means import chance_at_most_zero, quantile_of_mean
from areopage.scoring.shares import at_most

Column = NDArray[np.float64]

_LEVEL = 0.95
_DIGITS = 9
"""Means of the same scores may differ by the last bit: differences are counted after rounding to so many decimals."""

_MOST_KINDS, _STEPS = 400, 500
"""Where there are more kinds of differences, the interval rounds them to this many steps of the scale."""


class PairedDifference(Struct, frozen=True, kw_only=True):
    """The mean of first − second over the cases that both have, with its interval.

    Args:
        pairs: the cases with a score on both sides.
        clusters: the groups of cases that are drawn together; as many as pairs where no cases belong together.
        low, high: None without a pair.
        p_value: two-sided, of no difference: under 1 − the level exactly where 0 lies outside of the interval.
        only_first, only_second: the ids of the cases with a score on one side alone.
        changed: the clusters whose differences do not add up to 0.
    """

    pairs: int
    clusters: int
    difference: float | None
    low: float | None
    high: float | None
    p_value: float | None
    only_first: tuple[str, ...]
    only_second: tuple[str, ...]
    changed: int = 0

    @property
    def is_separate(self) -> bool:
        """Whether the interval leaves out 0."""
        return self.low is not None and self.high is not None and not self.low <= 0.0 <= self.high


class PairedFailures(Struct, frozen=True, kw_only=True):
    """The failures of two systems on the same cases.

    Args:
        both, neither: how many cases fail on both sides, and on none.
        first, second: the ids of the cases that fail on this side alone.
        difference: the share of failures of the first minus that of the second.
        p_value: McNemar's exact one, two-sided; where cases belong together, that of `difference`. None without a pair.
    """

    both: int
    neither: int
    first: tuple[str, ...]
    second: tuple[str, ...]
    difference: PairedDifference
    p_value: float | None

    @property
    def is_separate(self) -> bool:
        """Whether one of them fails more often, beyond chance."""
        return self.p_value is not None and self.p_value < 1.0 - _LEVEL


def paired_difference(
    first: Mapping[str, float | None],
    second: Mapping[str, float | None],
    *,
    span: float,
    clusters: Mapping[str, str] | None = None,
    level: float = _LEVEL,
) -> PairedDifference:
    """Compare two sets of scores by the ids of their cases.

    Args:
        first, second: id -> score; None, or no entry: there is none.
        span: the width of the scale: no difference is greater.
        clusters: id -> what a case has in common with others, such as its source; a case without an entry stands alone.
        level: of the interval, in (0, 1).
    """
    left, right = ({id: score for id, score in given.items() if score is not None} for given in (first, second))
    ids = [id for id in left if id in right]
    values = np.array([left[id] - right[id] for id in ids], dtype=np.float64)
    together = clusters or {}
    numbers: dict[tuple[bool, str], int] = {}
    groups = np.array([numbers.setdefault((id in together, together.get(id, id)), len(numbers)) for id in ids], dtype=np.intp)
    sums: Column = np.bincount(groups, weights=values).round(_DIGITS).astype(np.float64) if ids else values
    low, high, p_value = _interval(sums, np.bincount(groups).astype(np.float64), span, level) if ids else (None, None, None)
    return PairedDifference(
        pairs=len(ids),
        clusters=len(numbers),
        difference=float(values.mean().round(_DIGITS)) + 0.0 if ids else None,
        low=low,
        high=high,
        p_value=p_value,
        only_first=tuple(id for id in left if id not in right),
        only_second=tuple(id for id in right if id not in left),
        changed=int(np.count_nonzero(sums)),
    )


def paired_failures(
    first: Mapping[str, bool | None],
    second: Mapping[str, bool | None],
    *,
    clusters: Mapping[str, str] | None = None,
) -> PairedFailures:
    """Compare failures by the ids of the cases.

    Args:
        first, second: id -> whether the case fails; None, or no entry: it is not known, or nothing applies to it.
        clusters: see `paired_difference`.
    """
    shares = [{id: None if fails is None else float(fails) for id, fails in given.items()} for given in (first, second)]
    difference = paired_difference(*shares, span=1.0, clusters=clusters)
    pairs = {id: (fails, second[id]) for id, fails in first.items() if fails is not None and second.get(id) is not None}
    only_first, only_second = (tuple(id for id, pair in pairs.items() if pair == one) for one in ((True, False), (False, True)))
    both = sum(pair == (True, True) for pair in pairs.values())
    exact = mcnemar(len(only_first), len(only_second)) if pairs else None
    return PairedFailures(
        both=both,
        neither=len(pairs) - both - len(only_first) - len(only_second),
        first=only_first,
        second=only_second,
        difference=difference,
        p_value=exact if difference.clusters == difference.pairs else difference.p_value,
    )


def mcnemar(first: int, second: int) -> float:
    """The exact two-sided p-value of McNemar's test.

    Args:
        first, second: how many cases only the one side fails, and only the other.
    """
    return min(1.0, 2.0 * at_most(min(first, second), first + second, 0.5))


def _interval(sums: Column, sizes: Column, span: float, level: float) -> tuple[float, float, float]:
    """The ends of the interval of the mean, and the p-value of 0.

    Args:
        sums, sizes: of the differences of each cluster, and how many there are.
    """
    kinds, counts = np.unique(np.stack([sizes, sums], axis=1), axis=0, return_counts=True)
    if len(kinds) > _MOST_KINDS:
        step = span / _STEPS
        kinds, counts = np.unique(np.stack([sizes, (sums / step).round() * step], axis=1), axis=0, return_counts=True)
    numbers: Column = np.append(counts, 1).astype(np.float64)
    sizes, sums, unseen = kinds[:, 0], kinds[:, 1], sizes.mean()
    sizes, down, up = np.append(sizes, unseen), np.append(sums, -span * unseen), np.append(sums, span * unseen)
    tail = (1.0 - level) / 2.0
    middle = float(kinds[:, 1] @ counts / (kinds[:, 0] @ counts))
    low = quantile_of_mean(down, sizes, numbers, tail, -span, middle)
    high = -quantile_of_mean(-up, sizes, numbers, tail, -span, -middle)
    p_value = 2.0 * min(chance_at_most_zero(down, numbers), chance_at_most_zero(-up, numbers))
    return low, high, min(1.0, p_value)
