"""Means of answers in production, and how much they differ, from how often each score was given.

Answers with equal texts rest on the same judgments. Each of them counts in a mean; in intervals and tests they are one
observation, a group: the mean is then one of groups, and a group's value is the mean plus what the group adds to it, times the
number of groups (as `intervals.scores` does for cases that belong together).
"""

from collections.abc import Mapping, Sequence
from math import fsum, isclose
from typing import NamedTuple

import numpy as np
from msgspec import Struct

from areopage.criteria import Scale
from areopage.scoring import Column, CountedValues, ScoreTally, difference_interval, mean_intervals

FEWEST_GROUPS = 2
_MOST_KINDS = 100
"""Where there are more kinds of scores, they are merged into this number of steps of the scale, which keep their means."""
_SAME = 1e-12
CERTAIN_UNDER = 0.05
"""A change with a smaller p-value is called certain."""


class Repeat(NamedTuple):
    """Several answers with equal texts: how many, and their mean score."""

    answers: int
    mean: float


class MeanChange(Struct, frozen=True, kw_only=True):
    """A difference of two means (later minus earlier, or variant minus the other), its 95 % interval, and the two-sided p-value.

    `certain`: chance alone would make such a difference in less than one of twenty cases. All None where either side has under
    two answers.
    """

    difference: float | None = None
    low: float | None = None
    high: float | None = None
    p_value: float | None = None
    certain: bool | None = None


class ScoredAnswers(Struct, frozen=True):
    """Answers by their scores.

    Args:
        sums: by score, as it is shown: how many answers have it (> 0), and the sum of their exact scores.
        repeats: which of them have equal texts.
    """

    sums: Mapping[float, tuple[int, float]] = {}
    repeats: tuple[Repeat, ...] = ()

    @property
    def answers(self) -> int:
        """How many answers."""
        return sum(answers for answers, _ in self.sums.values())

    @property
    def mean(self) -> float | None:
        """The mean of the exact scores, None without answers."""
        answers = self.answers
        return fsum(total for _, total in self.sums.values()) / answers if answers else None

    @property
    def groups(self) -> int:
        """How many different answers: equal ones count as one."""
        return self.answers - sum(repeat.answers - 1 for repeat in self.repeats)

    @property
    def tally(self) -> ScoreTally:
        """How often each score was given, as it is shown."""
        return ScoreTally({score: answers for score, (answers, _) in self.sums.items()})


def answer_intervals(some: Sequence[ScoredAnswers], scale: Scale) -> list[tuple[float, float] | None]:
    """The 95 % intervals of many means, on the scale; None under two groups of answers. See `intervals.means`."""
    counted = [_counted(answers, scale) if answers.groups >= FEWEST_GROUPS else None for answers in some]
    kept = [side for side in counted if side is not None]
    if not kept:
        return [None] * len(some)
    kinds = max(len(side.values) for side in kept)
    values = np.stack([np.pad(side.values, (0, kinds - len(side.values))) for side in kept])
    counts = np.stack([np.pad(side.counts, (0, kinds - len(side.counts))) for side in kept])
    lows, highs = mean_intervals(values, counts, np.array([side.low for side in kept]), np.array([side.high for side in kept]))
    ends = iter(zip(lows.clip(*_reach(some, scale)).tolist(), highs.clip(*_reach(some, scale)).tolist(), strict=True))
    return [None if side is None else next(ends) for side in counted]


def compare(later: ScoredAnswers, earlier: ScoredAnswers, scale: Scale) -> MeanChange | None:
    """How much the mean changed, later minus earlier; None where a side has under two groups of answers.

    See `intervals.differences`.
    """
    if min(later.groups, earlier.groups) < FEWEST_GROUPS or later.mean is None or earlier.mean is None:
        return None
    low, high, p_value = difference_interval(_counted(later, scale), _counted(earlier, scale))
    difference = 0.0 if isclose(later.mean, earlier.mean, rel_tol=_SAME) else later.mean - earlier.mean
    low, high = min(low, difference), max(high, difference)
    return MeanChange(difference=difference, low=low, high=high, p_value=p_value, certain=p_value < CERTAIN_UNDER)


def _reach(some: Sequence[ScoredAnswers], scale: Scale) -> tuple[float, float]:
    """The ends of the scale, and of scores beyond it: there may have been another scale once."""
    shown = [score for answers in some for score in answers.sums]
    return min([scale.min, *shown]), max([scale.max, *shown])


def _counted(some: ScoredAnswers, scale: Scale) -> CountedValues:
    """The values of groups of answers, of which the mean is that of the answers, and how many groups have each.

    Their range ends where a group would be that has only worst answers, or only best ones, and as many as the group of any answer
    has on average.
    """
    by_score = np.array(sorted((total / answers, answers) for answers, total in some.sums.values()), dtype=np.float64)
    values, counts = _merged(by_score[:, 0], by_score[:, 1], scale)
    if not some.repeats:
        return CountedValues(values, counts, scale.min, scale.max)
    sizes, means = np.array(some.repeats, dtype=np.float64).T
    kinds = np.searchsorted((values[1:] + values[:-1]) / 2.0, means)
    alone = np.maximum(counts - np.bincount(kinds, weights=sizes, minlength=len(values)), 0.0)
    repeated, times = np.unique(np.stack([sizes, kinds], axis=1), axis=0, return_counts=True)
    size = np.append(np.ones(len(values)), repeated[:, 0])
    groups = np.append(alone, times)
    mean = float(values @ counts / counts.sum())
    added = (np.append(values, values[repeated[:, 1].astype(np.intp)]) - mean) * size * groups.sum() / counts.sum()
    shifted = mean + added - added @ groups / groups.sum()
    size_of_usual = float(size**2 @ groups / (size @ groups)) * groups.sum() / counts.sum()
    low, high = (mean + (end - mean) * size_of_usual for end in (scale.min, scale.max))
    return CountedValues(shifted[groups > 0], groups[groups > 0], low, high)


def _merged(values: Column, counts: Column, scale: Scale) -> tuple[Column, Column]:
    """Values in ascending order, merged into steps of the scale where there are many kinds."""
    if len(values) <= _MOST_KINDS:
        return values, counts
    width = (scale.max - scale.min) / _MOST_KINDS
    _, steps = np.unique(((values - scale.min) / width).round(), return_inverse=True)
    merged: Column = np.bincount(steps, weights=counts).astype(np.float64)
    return np.bincount(steps, weights=counts * values) / merged, merged
