"""Paired comparison of two systems on the same cases: how far their scores and their failures lie apart.

Differences of scores lie between two known ends, most of them are 0 and few are large. Student's interval has no width where all
differences are equal, and misses rare large ones. The interval of bounded means (`scoring.intervals.means`) needs no shape and
keeps its level for few cases; comparisons take it with its full guarantee.

Where differences have two values it is Clopper's and Pearson's, as for single failures. For failures, whose differences are −1, 0
or 1, its p-value is that of McNemar's exact test. For many cases it becomes the bootstrap's (Bayesian).
"""

from collections.abc import Mapping
from math import ceil, expm1, isnan, log, log1p

import numpy as np
from msgspec import Struct

from areopage.scoring.arrays import Column
from areopage.scoring.intervals.means import LEVEL, cluster_interval
from areopage.scoring.intervals.scores import cluster_numbers
from areopage.scoring.shares import at_most

_DIGITS = 9
"""Means of the same scores may differ by the last bit: differences are counted after rounding to this number of decimals."""


class PairedDifference(Struct, frozen=True, kw_only=True):
    """The mean of first − second over the cases that both have, with its interval.

    Args:
        pairs: the cases with a score on both sides.
        clusters: the groups of cases that are drawn together; as many as pairs where no cases belong together.
        low, high: None without a pair.
        p_value: two-sided, of no difference: under 1 − the level exactly where 0 lies outside of the interval.
        only_first, only_second: the ids of the cases with a score on one side alone.
        changed: the clusters whose differences do not add up to 0.
        level: of the interval, in (0, 1).
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
    level: float = LEVEL

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
        return self.p_value is not None and self.p_value < 1.0 - LEVEL


def paired_difference(
    first: Mapping[str, float | None],
    second: Mapping[str, float | None],
    *,
    span: float,
    clusters: Mapping[str, str] | None = None,
    level: float = LEVEL,
) -> PairedDifference:
    """Compare two sets of scores by the ids of their cases.

    Args:
        first, second: id -> score; None, NaN, or no entry: there is none.
        span: the width of the scale: no difference is greater.
        clusters: id -> what a case has in common with others, such as its source; a case without an entry stands alone.
        level: of the interval, in (0, 1).
    """
    left, right = (
        {id: score for id, score in scores.items() if score is not None and not isnan(score)} for scores in (first, second)
    )
    ids = [id for id in left if id in right]
    values = np.array([left[id] - right[id] for id in ids], dtype=np.float64)
    groups = cluster_numbers(ids, clusters or {})
    sums: Column = np.bincount(groups, weights=values).round(_DIGITS).astype(np.float64) if ids else values
    low, high, p_value = None, None, None
    if ids:
        low, high, p_value = cluster_interval(sums, np.bincount(groups).astype(np.float64), span, level)
    return PairedDifference(
        pairs=len(ids),
        clusters=len(sums),
        difference=float(values.mean().round(_DIGITS)) + 0.0 if ids else None,
        low=low,
        high=high,
        p_value=p_value,
        only_first=tuple(id for id in left if id not in right),
        only_second=tuple(id for id in right if id not in left),
        changed=int(np.count_nonzero(sums)),
        level=level,
    )


def paired_failures(
    first: Mapping[str, bool | None],
    second: Mapping[str, bool | None],
    *,
    clusters: Mapping[str, str] | None = None,
    level: float = LEVEL,
) -> PairedFailures:
    """Compare failures by the ids of the cases.

    Args:
        first, second: id -> whether the case fails; None, or no entry: it is not known, or nothing applies to it.
        clusters, level: see `paired_difference`.
    """
    shares = [{id: None if fails is None else float(fails) for id, fails in failures.items()} for failures in (first, second)]
    difference = paired_difference(*shares, span=1.0, clusters=clusters, level=level)
    pairs = {id: (fails, second[id]) for id, fails in first.items() if fails is not None and second.get(id) is not None}
    only_first, only_second = (
        tuple(id for id, pair in pairs.items() if pair == outcome) for outcome in ((True, False), (False, True))
    )
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


def least_width(clusters: int, span: float, level: float = LEVEL) -> float:
    """How far the interval of a mean difference reaches to each side, at least: where no case differs.

    One case more could differ by the whole span: with n cases a share of 1 − (½ (1 − level))^(1/n) of such cases is not excluded.

    Args:
        clusters: how many, at least 1.
        span: the width of the scale.
    """
    return -span * expm1(log((1.0 - level) / 2.0) / clusters)


def cases_for(width: float, span: float, level: float = LEVEL) -> int:
    """How many cases `least_width` needs to be at most a width, in (0, span)."""
    return ceil(log((1.0 - level) / 2.0) / log1p(-width / span))


def mcnemar(first: int, second: int) -> float:
    """The exact two-sided p-value of McNemar's test: so many cases only the first side fails, and so many only the second."""
    return min(1.0, 2.0 * at_most(min(first, second), first + second, 0.5))
