"""Comparison of two sets of different cases: how far their means and their shares of failures lie apart.

The interval needs no shape (`intervals.differences`, with the guaranteed weight of the unseen value: scores lie between two known
ends, most are high and a few are very low).

A mean may be weighted, for answers that sampling took with unequal chances, or standardised: a weighted mean of the means of
strata. To first order it is a mean of one value for each group of cases that belong together (the infinitesimal jackknife, as for
`intervals.scores`), and that is what the interval is computed from.
"""

from collections import Counter
from collections.abc import Mapping

import numpy as np
from msgspec import Struct, structs
from numpy.typing import NDArray

from areopage.scoring import GUARANTEED, LEVEL, Column, CountedValues, cluster_numbers, difference_interval

_DIGITS = 9
"""Scores may differ by the last bit: values are counted after rounding to this number of decimals."""

_MOST_KINDS, _PARTS = 400, 500
"""Where there are more kinds of values, the interval rounds them to this many steps of the scale."""


class Sample(Struct, frozen=True, kw_only=True):
    """The scores of one side, by the ids of its cases.

    Args:
        scores: None: there is none.
        weights: of cases, positive; a case without an entry weighs 1.
        clusters: what a case has in common with others; a case without an entry stands alone.
        strata: the stratum of each case; with `shares`. Cases without an entry are left out.
        shares: how much each stratum weighs; () takes all cases as one stratum.
    """

    scores: Mapping[str, float | None] = {}
    weights: Mapping[str, float] = {}
    clusters: Mapping[str, str] = {}
    strata: Mapping[str, str] = {}
    shares: Mapping[str, float] = {}


class UnpairedDifference(Struct, frozen=True, kw_only=True):
    """The mean of a first sample minus that of a second, with its interval.

    Args:
        cases: with a score, of the first and the second.
        clusters: the groups of cases that are drawn together; as many as cases where none belong together.
        means: None on a side without a score.
        difference, low, high, p_value: None where a side has no score. The p-value is two-sided, of no difference.
        changed: the groups, of both sides together, with another value than the commonest.
        level: of the interval, in (0.5, 1).
    """

    cases: tuple[int, int]
    clusters: tuple[int, int]
    means: tuple[float | None, float | None]
    difference: float | None
    low: float | None
    high: float | None
    p_value: float | None
    changed: int = 0
    level: float = LEVEL

    @property
    def is_separate(self) -> bool:
        """Whether the interval leaves out 0."""
        return self.low is not None and self.high is not None and not self.low <= 0.0 <= self.high


class _Mean(Struct, frozen=True, kw_only=True):
    """A mean as that of independent values in a range, each with how often it was seen."""

    mean: float
    cases: int
    counted: CountedValues


def unpaired_difference(first: Sample, second: Sample, *, ends: tuple[float, float], level: float = LEVEL) -> UnpairedDifference:
    """Compare the means of two samples of different cases on a scale with two ends; the interval's level is in (0.5, 1)."""
    left, right = _mean_of(first, ends), _mean_of(second, ends)
    means = [side for side in (left, right) if side is not None]
    compared = UnpairedDifference(
        cases=(left.cases if left else 0, right.cases if right else 0),
        clusters=(int(left.counted.counts.sum()) if left else 0, int(right.counted.counts.sum()) if right else 0),
        means=(left.mean if left else None, right.mean if right else None),
        difference=None,
        low=None,
        high=None,
        p_value=None,
    )
    if len(means) < 2:
        return compared
    low, high, p_value = difference_interval(means[0].counted, means[1].counted, level=level, unseen=GUARANTEED)
    difference = float(np.round(means[0].mean - means[1].mean, _DIGITS)) + 0.0
    counts: Counter[float] = Counter()
    for side in means:
        for value, count in zip(side.counted.values.tolist(), side.counted.counts.tolist(), strict=True):
            counts[value] += int(count)
    return structs.replace(
        compared,
        difference=difference,
        low=min(low, difference),
        high=max(high, difference),
        p_value=p_value,
        changed=counts.total() - max(counts.values()),
        level=level,
    )


def _mean_of(sample: Sample, ends: tuple[float, float]) -> _Mean | None:
    """The mean of a sample; None without a score in each stratum that weighs."""
    scores = {id: score for id, score in sample.scores.items() if score is not None}
    if sample.shares:
        scores = {id: score for id, score in scores.items() if sample.shares.get(sample.strata.get(id, _NOWHERE), 0.0) > 0}
    strata = [sample.strata.get(id, _NOWHERE) if sample.shares else _NOWHERE for id in scores]
    shares = {name: share for name, share in sample.shares.items() if share > 0} or {_NOWHERE: 1.0}
    if not scores or set(strata) != set(shares):
        return None
    values = np.array(list(scores.values()), dtype=np.float64)
    case_weights = np.array([sample.weights.get(id, 1.0) for id in scores], dtype=np.float64)
    names = list(shares)
    places = np.array([names.index(name) for name in strata], dtype=np.intp)
    totals = np.bincount(places, weights=case_weights, minlength=len(names))
    centres = np.bincount(places, weights=case_weights * values, minlength=len(names)) / totals
    parts = np.array([shares[name] for name in names]) / sum(shares.values())
    weights = case_weights * (parts / totals)[places]
    return _linear(values, weights, centres[places], cluster_numbers(scores, sample.clusters), ends)


_NOWHERE = ""


def _linear(values: Column, weights: Column, centres: Column, numbers: NDArray[np.intp], ends: tuple[float, float]) -> _Mean:
    """A weighted mean as the mean of one value for each group of cases.

    Weights sum to 1; `centres` are the means of the cases' strata, and `numbers` those of their groups.
    """
    groups = int(numbers.max()) + 1
    mean = float(weights @ values)
    moved, worst, best = (
        groups * np.bincount(numbers, weights=weights * part, minlength=groups)
        for part in (values - centres, ends[0] - centres, ends[1] - centres)
    )
    kinds, counts = np.unique((mean + moved).round(_DIGITS), return_counts=True)
    if len(kinds) > _MOST_KINDS:
        step = (ends[1] - ends[0]) / _PARTS
        kinds, counts = np.unique(((mean + moved) / step).round() * step, return_counts=True)
    low, high = min(mean + float(worst.min()), float(kinds[0])), max(mean + float(best.max()), float(kinds[-1]))
    return _Mean(mean=mean, cases=len(values), counted=CountedValues(kinds, counts.astype(np.float64), low, high))
