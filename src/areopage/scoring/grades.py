"""Counted scores: their grades and histograms."""

import math
from collections.abc import Mapping
from typing import Literal

from msgspec import Struct

from areopage.criteria import Scale

Grade = Literal["excellent", "acceptable", "weak", "unscored"]
"""Over 80 % of the scale, from 60 % to 80 %, under 60 %: over 8, 6 to 8, under 6 on a scale of 0 to 10."""

DECIMALS = 2
"""Scores are counted, and put into grades, as they are shown: rounded to this number of decimals."""

STEPS = 10

EXCELLENT_ABOVE, WEAK_UNDER = 0.8, 0.6
"""Shares of the scale at which the grades part."""

CRITICAL_SHARE = 0.3
"""Share of the scale, from its bad end, at which a critical criterion makes an answer weak."""

_SHARE_DECIMALS = 9  # 8.0 is 80 % of the scale, in spite of binary fractions


class ScoreTally(Struct, frozen=True):
    """How many answers got each score. Counts are positive; scores are in units of the suite's scale."""

    counts: Mapping[float, int] = {}

    @property
    def answers(self) -> int:
        """How many answers."""
        return sum(self.counts.values())

    @property
    def mean(self) -> float | None:
        """The mean score, None without answers."""
        answers = self.answers
        return math.fsum(score * count for score, count in self.counts.items()) / answers if answers else None

    def grades(self, scale: Scale) -> tuple[int, int, int]:
        """How many answers are excellent, acceptable and weak; see `grade_of`."""
        counts: dict[Grade, int] = {"excellent": 0, "acceptable": 0, "weak": 0}
        for score, count in self.counts.items():
            counts[grade_of(score, scale)] += count
        return counts["excellent"], counts["acceptable"], counts["weak"]

    def histogram(self, scale: Scale) -> tuple[int, ...]:
        """How many answers lie in each of ten equal steps of the scale, from its low end to its high end.

        A step takes its lower end; the last one takes both. Scores beyond the scale (there was another once) go to the end steps.
        """
        steps = [0] * STEPS
        for score, count in self.counts.items():
            share = round((score - scale.min) / (scale.max - scale.min), _SHARE_DECIMALS)
            steps[min(max(int(share * STEPS), 0), STEPS - 1)] += count
        return tuple(steps)


def grade_of(score: float | None, scale: Scale) -> Grade:
    """The grade of a score, rounded as it is shown; where lower is better, shares of the scale are taken from its other end."""
    if score is None:
        return "unscored"
    share = (round(score, DECIMALS) - scale.min) / (scale.max - scale.min)
    better = round(share if scale.higher_is_better else 1.0 - share, _SHARE_DECIMALS)
    if better > EXCELLENT_ABOVE:
        return "excellent"
    return "weak" if better < WEAK_UNDER else "acceptable"


def critical_floor(severity: str | None, critical_limit: float | None, scale: Scale) -> float | None:
    """The score of a criterion from which on an answer is weak, whatever its global score; None for none.

    It is the limit that the suite states, else for a critical criterion 30 % of the scale from its bad end.
    """
    if critical_limit is not None or severity != "critical":
        return critical_limit
    way = CRITICAL_SHARE * (scale.max - scale.min)
    return round(scale.min + way if scale.higher_is_better else scale.max - way, _SHARE_DECIMALS)


def grade_limits(scale: Scale) -> tuple[float, float]:
    """Where the grade "acceptable" begins and ends on a scale; the first is the greater one where lower is better."""
    start, width = (scale.min, scale.max - scale.min) if scale.higher_is_better else (scale.max, scale.min - scale.max)
    return start + WEAK_UNDER * width, start + EXCELLENT_ABOVE * width
