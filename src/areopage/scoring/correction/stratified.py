"""Means corrected by labels that were drawn by day: the same number of answers of each day, at any traffic.

The estimate is that of `weighted_mean`: each label stands for the answers of its day over its labels. As each day has labels of
its own, differences between days add nothing to the variance: it is that of the errors within days. With few labels in a day
that variance is itself too uncertain: under thirty labels beyond one for each day, the interval is that of `weighted_mean`, which
takes labels as drawn from all days together and is on the safe side.

Sources:
- W. G. Cochran, "Sampling Techniques" (3rd edition, 1977), 7.10: the combined regression estimator and its variance; 5.4: degrees
  of freedom, after F. E. Satterthwaite ("An approximate distribution of estimates of variance components", 1946).
"""

from math import sqrt

import numpy as np
from msgspec import structs
from numpy.typing import NDArray

from areopage.scoring.arrays import Column
from areopage.scoring.correction.means import FEW, FEWEST, Corrected, Line, fit_line, weighted_mean
from areopage.scoring.correlation import TINY, Estimate
from areopage.scoring.intervals.student_t import critical_t

Days = NDArray[np.int64]


def stratified_mean(people: Column, predicted: Column, days: Days, sizes: Column, mean: float) -> Corrected:
    """Correct the mean prediction of the judged items of several days by a random sample of each day.

    A day with one label has no error within it: its label counts with its distance from the line, which is on the safe side.

    Args:
        people: labelled items' scores by people, shape (n,), in points of the scale.
        predicted: predictions of the same items, shape (n,).
        days: the number of each labelled item's day, from 0 to H - 1, shape (n,); each day has a label.
        sizes: how many items of each day are judged, shape (H,), not fewer than its labels.
        mean: the mean prediction of all judged items of these days, in points of the scale.
    """
    counts = np.bincount(days, minlength=sizes.size)
    weights = (sizes / counts)[days]
    found = weighted_mean(people, predicted, weights, mean)
    line = fit_line(people, predicted, weights)
    if found.error is None or people.size - sizes.size < FEW:
        return found
    parts, unseen = weights / weights.sum(), np.maximum(0.0, 1 - 1 / weights)
    alone, alone_freedom = _within(parts * (people - line.people), unseen, days, counts)
    spread, freedom = _within(_errors(line, people, predicted, mean, parts), unseen, days, counts)
    freedom = max(1.0, freedom - 1)  # the slope takes one
    reach, alone_reach = critical_t(freedom) * sqrt(spread), critical_t(alone_freedom) * sqrt(alone)
    return structs.replace(
        found,
        low=found.value - reach,
        high=found.value + reach,
        error=sqrt(spread),
        labels_alone=Estimate(value=line.people, low=line.people - alone_reach, high=line.people + alone_reach),
        saved=1 - spread / alone if alone > TINY else None,
    )


def _errors(line: Line, people: Column, predicted: Column, mean: float, parts: Column) -> Column:
    """Each label's error in the estimate; with few labels that of a line which has not seen the label (HC3), as for means."""
    share = min(1.0, FEW / line.effective)
    apart = predicted - line.predicted
    squares = line.squares / line.effective if line.squares > TINY else 1.0
    held = np.minimum(parts * (1 + apart**2 / squares), 1 - parts)
    counted = 1 + (mean - line.predicted) * apart / squares
    strays = parts * (people - line.people - line.slope * apart)
    found: Column = (1 - share) * strays + share * counted * strays / (1 - held)
    return found


def _within(errors: Column, unseen: Column, days: Days, counts: NDArray[np.int64]) -> tuple[float, float]:
    """The variance of a sum of errors that were drawn within days, and its degrees of freedom, at least 1."""
    means = np.bincount(days, errors) / counts
    several = counts[days] > 1
    squares = np.where(several, (errors - means[days]) ** 2, errors**2) * unseen
    by_day = np.bincount(days, squares) * np.where(counts > 1, counts / np.maximum(counts - 1, 1), 1.0)
    total, parts = float(by_day.sum()), float((by_day**2 / np.maximum(counts - 1, 1)).sum())
    return total, max(1.0, total**2 / parts) if parts > 0 else float(max(1, days.size - FEWEST))
