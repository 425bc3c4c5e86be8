"""What early stopping does to averages, measured on the run itself.

The mean of an item's passes is biased where its own scores decide when it stops: a score far from its limit stops, and keeps the
noise that took it there. The mean of the first passes, whose number no score decides, is unbiased. So the difference of the two,
averaged over cases, estimates the bias without bias. Averages of a run use the first passes alone.
"""

from collections.abc import Sequence
from math import sqrt
from statistics import NormalDist, fmean, variance

from msgspec import Struct

MIN_PAIRS = 5
_Z_95 = NormalDist().inv_cdf(0.975)


class StoppingShift(Struct, frozen=True, kw_only=True):
    """How far all passes lie from the first ones, on average over cases.

    Args:
        first: the mean of the scores by the first passes alone, on the suite's scale.
        all: the mean of the scores by all passes.
        shift: `all` − `first`, an unbiased estimate of the bias of `all`; low, high: its 95 % interval, None under five cases.
        cases: how many have both scores.
    """

    first: float
    all: float
    shift: float
    low: float | None
    high: float | None
    cases: int

    @classmethod
    def of(cls, first: Sequence[float], every: Sequence[float]) -> "StoppingShift | None":
        """Compare the scores of cases by their first passes with those by all of their passes.

        Args:
            first, every: of the same cases, in the same order.

        Returns:
            None without a case.
        """
        apart = [late - early for early, late in zip(first, every, strict=True)]
        if not apart:
            return None
        shift = fmean(apart)
        half = _Z_95 * sqrt(variance(apart) / len(apart)) if len(apart) >= MIN_PAIRS else None
        return cls(
            first=fmean(first),
            all=fmean(every),
            shift=shift,
            low=None if half is None else shift - half,
            high=None if half is None else shift + half,
            cases=len(apart),
        )
