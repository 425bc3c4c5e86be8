"""The interval of a coefficient of agreement, which is 1 at most: α, AC2, weighted κ.

The standard error is that of the jackknife over units; the interval is Student's for −log(1 − coefficient), on which scale it
hardly depends on the coefficient's size. Sources: J. W. Tukey, "Bias and confidence in not quite large samples" (Annals of
Mathematical Statistics 29, 1958); R. G. Miller, "The jackknife: a review" (Biometrika 61, 1974).

Where nearly all units are alike, a sample of few may lack the rare ones, on which judges agree: then the coefficient is too low,
and its standard error does not show it. The upper end therefore also allows for one unseen unit on which all judges agree, at the
end of the scale that is farthest from the others. Without it the interval of κ holds the truth in as few as 71 of 100 samples of
20 units (docs/accuracy.md).
"""

import math

import numpy as np

from areopage.scoring.arrays import Column
from areopage.scoring.intervals.student_t import critical_t

_TINY = 1e-9


def coefficient_interval(value: float, left_out: Column, counts: Column, agreed: float) -> tuple[float, float] | None:
    """The 95 % interval of a coefficient; None where agreement is perfect, or no unit changes anything.

    Args:
        left_out: the coefficient without one unit, for each kind of unit; NaN where it is not defined.
        counts: how many units of each kind there are.
        agreed: the coefficient with the unseen unit.
    """
    units = float(counts.sum())
    values = np.where(np.isnan(left_out), value, left_out)
    middle = float((counts * values).sum()) / units
    error = math.sqrt((units - 1.0) / units * float((counts * (values - middle) ** 2).sum()))
    if 1.0 - value < _TINY or error < _TINY:
        return None
    half = critical_t(units - 1.0) * error / (1.0 - value)
    return 1.0 - (1.0 - value) * math.exp(half), 1.0 - (1.0 - max(value, agreed)) * math.exp(-half)
