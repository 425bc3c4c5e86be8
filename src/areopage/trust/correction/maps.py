"""Maps from a judge's scale to people's: moved, linear or isotonic, the simplest one that cross-validation does not reject.

Sources:
- M. Ayer, H. D. Brunk, G. M. Ewing, W. T. Reid, E. Silverman, "An empirical distribution function for sampling with incomplete
  information" (Annals of Mathematical Statistics 26, 1955): the algorithm of adjacent violators.
- W. James, C. Stein, "Estimation with quadratic loss" (Berkeley Symposium 1961), in the positive-part form: a slope that hardly
  differs from its noise is shrunk, by 1 - 1/F with F its squared t-value.
- L. Breiman, J. Friedman, R. Olshen, C. Stone, "Classification and Regression Trees" (1984), 3.4.3: of models whose errors do not
  differ by more than one standard error, the simplest one.
"""

from math import inf, sqrt
from typing import Literal

import numpy as np
from msgspec import Struct, structs
from numpy.typing import NDArray

from areopage.scoring import TINY, Column
from areopage.trust.correction.means import fit_line

Kind = Literal["same", "moved", "linear", "isotonic"]
KINDS: tuple[Kind, ...] = ("same", "moved", "linear", "isotonic")
"""From the simplest to the most complex."""

FOLDS = 10
LIKE_LINE = 10.0
"""How many labels' worth of the line an isotonic map is mixed with."""


class ScaleMap(Struct, frozen=True, kw_only=True):
    """A non-decreasing map from scores by a judge to scores by people, both in points of the scale.

    Args:
        kind: `same` leaves scores as they are, `moved` adds a constant, `linear` is a line, `isotonic` joins knots by lines.
        at, to: the knots: scores by the judge, increasing, and what they become. Under the first knot and beyond the last one
            the map goes on as at that knot (`isotonic`), or as the line does (the others have two knots).
        error: cross-validated root of the mean squared error on the labels; None where it was not validated.
    """

    kind: Kind
    at: tuple[float, ...]
    to: tuple[float, ...]
    error: float | None = None

    def apply(self, scores: Column) -> Column:
        """Map scores, shape (n,)."""
        if self.kind == "isotonic":
            joined: Column = np.interp(scores, self.at, self.to)
            return joined
        slope = (self.to[1] - self.to[0]) / (self.at[1] - self.at[0])
        line: Column = self.to[0] + slope * (scores - self.at[0])
        return line


def isotonic(values: Column, weights: Column | None = None) -> Column:
    """The non-decreasing sequence nearest to `values` by squares with positive weights, by pooling adjacent violators."""
    sums: list[float] = []
    sizes: list[float] = []
    counts: list[int] = []
    for value, weight in zip(values, np.ones(values.size) if weights is None else weights, strict=True):
        total, size, count = float(value * weight), float(weight), 1
        while sums and sums[-1] * size >= total * sizes[-1]:
            total, size, count = total + sums.pop(), size + sizes.pop(), count + counts.pop()
        sums.append(total)
        sizes.append(size)
        counts.append(count)
    pooled: Column = np.repeat(np.array(sums) / np.array(sizes), counts) if sums else np.zeros(0)
    return pooled


def fit_map(kind: Kind, people: Column, judged: Column) -> ScaleMap:
    """Fit a map of one kind to people's and the judge's scores of the same items, at least one, in points of the scale."""
    if kind == "same":
        return ScaleMap(kind=kind, at=(0.0, 1.0), to=(0.0, 1.0))
    shift = float((people - judged).mean())
    if kind == "moved":
        return ScaleMap(kind=kind, at=(0.0, 1.0), to=(shift, 1.0 + shift))
    line = fit_line(people, judged)
    slope = max(0.0, line.slope)
    if slope > 0.0 and line.residual > TINY:  # nearer to 0 the less it differs from its noise
        slope *= max(0.0, 1.0 - line.residual / (slope * slope * line.squares))
    start = line.people - slope * line.predicted
    if kind == "linear":
        return ScaleMap(kind=kind, at=(0.0, 1.0), to=(start, start + slope))
    at, places, counts = np.unique(judged, return_inverse=True, return_counts=True)
    means = np.bincount(places, weights=people) / counts
    size = people.size
    mixed = (size * means + LIKE_LINE * (start + slope * at)) / (size + LIKE_LINE)
    return ScaleMap(kind=kind, at=tuple(at.tolist()), to=tuple(isotonic(mixed, counts.astype(np.float64)).tolist()))


def choose_map(people: Column, judged: Column) -> ScaleMap:
    """Fit the simplest map whose cross-validated error is within one standard error of the best one's.

    Arguments are those of `fit_map`; under four labels scores are moved, not more.
    """
    size = people.size
    if size < 4:
        return fit_map("moved", people, judged)
    folds = fold_numbers(size)
    errors = {kind: np.full(size, inf) for kind in KINDS}
    for fold in np.unique(folds):
        left_out = folds == fold
        for kind in KINDS:
            of_others = fit_map(kind, people[~left_out], judged[~left_out])
            errors[kind][left_out] = (of_others.apply(judged[left_out]) - people[left_out]) ** 2
    best = min(KINDS, key=lambda kind: float(errors[kind].mean()))
    for kind in KINDS:
        worse = errors[kind] - errors[best]
        noise = float(worse.std(ddof=1)) / sqrt(size)
        if float(worse.mean()) <= noise:
            return structs.replace(fit_map(kind, people, judged), error=sqrt(float(errors[kind].mean())))
    raise AssertionError("the best map is no worse than itself")


def fold_numbers(size: int) -> NDArray[np.int64]:
    """Which fold each of `size` labels is left out in, shape (size,): equal parts, drawn at random."""
    numbers: NDArray[np.int64] = np.random.default_rng(0).permutation(size) % min(FOLDS, size)
    return numbers
