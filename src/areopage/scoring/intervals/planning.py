"""What a number of cases can tell, and how many cases a wished precision takes."""

from bisect import bisect_left
from collections.abc import Callable
from math import sqrt
from statistics import NormalDist

import numpy as np
from msgspec import Struct

from areopage.scoring.arrays import Column
from areopage.scoring.intervals.means import GUARANTEED, mean_intervals
from areopage.scoring.intervals.scores import CaseValues, Interval
from areopage.scoring.shares import TAIL, upper_bound

POWER = 0.8
_STEPS = 60  # of differences that are tried at once; and once more between two of them


class Detectable(Struct, frozen=True, kw_only=True):
    """What a run can tell.

    Args:
        difference: the smallest difference between the final scores of two runs on its cases, in points of the scale, that four
            of five such comparisons find certain; None under five cases. Scores of one case by two targets count as differing as
            much as those of two cases by one target: where they differ less, smaller differences are found.
        cases: the cases with a final score.
        failures: the smallest share of failing cases of which the run has seen at least one, with a certainty of 97.5 %; None
            without a case.
        failure_cases: the cases that failures are counted among.
    """

    difference: float | None
    cases: int
    failures: float | None
    failure_cases: int

    @classmethod
    def of(cls, values: CaseValues, failure_cases: int) -> "Detectable":
        """What a run can tell; of `failure_cases` it is known whether they fail."""
        row = values.nodes.index(()) if () in values.nodes else None
        cases = 0 if row is None else values.cases[row]
        sample = None if row is None or cases < Interval.MIN_CASES else values.values[row][values.counted[row] > 0]
        sample = None if sample is not None and len(sample) < 2 else sample  # all cases belong together
        return cls(
            difference=None if sample is None else Detectable.difference_of(sample, values.ends[1] - values.ends[0]),
            cases=cases,
            failures=upper_bound(0, failure_cases) if failure_cases else None,
            failure_cases=failure_cases,
        )

    @staticmethod
    def difference_of(values: Column, span: float, cases: int | None = None) -> float:
        """The smallest mean difference of paired scores that four of five samples find certain, in the values' unit.

        A difference is found where the lower end of its interval, as for every comparison, is above 0; the differences are taken
        to have the standard deviation of two independent values.

        Args:
            values: one for each case or cluster; at least two.
            span: the width of the scale: no difference is greater.
            cases: how many such values are compared; None: as many as there are.
        """
        number = cases or len(values)
        spread = min(span, sqrt(2.0) * float(values.std(ddof=1)))
        margin = NormalDist().inv_cdf(POWER) * spread / sqrt(number)
        low, high = 0.0, span
        for _ in range(2):
            tried = np.linspace(low, high, _STEPS)
            pairs = np.stack([tried - spread, tried + spread], axis=1)
            ends = np.full(_STEPS, span)
            is_shown = mean_intervals(pairs, np.full_like(pairs, number / 2), -ends, ends, unseen=GUARANTEED)[0] > margin
            if not is_shown.any():
                return span
            first = int(is_shown.argmax())
            low, high = float(tried[max(0, first - 1)]), float(tried[first])
        return high

    @staticmethod
    def change_of(first: float, second: float) -> float:
        """The smallest difference of two means that four of five samples find certain, by half of each 95 % interval."""
        normal = NormalDist()
        return sqrt(first * first + second * second) * (1.0 + normal.inv_cdf(POWER) / normal.inv_cdf(TAIL))


def least_enough(is_enough: Callable[[int], bool], start: int, most: int) -> int | None:
    """The least number from `start` (≥ 1) on that is enough; None where doubling `start` passes `most` first."""
    few, many = start - 1, start
    while not is_enough(many):
        few, many = many, 2 * many
        if many > most:
            return None
    return few + 1 + bisect_left(range(few + 1, many), True, key=is_enough)
