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
from msgspec import Struct

from areopage.scoring.arrays import Column
from areopage.scoring.correction.means import fit_line
from areopage.scoring.correlation import TINY

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
            found: Column = np.interp(scores, self.at, self.to)
            return found
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
    found: Column = np.repeat(np.array(sums) / np.array(sizes), counts) if sums else np.zeros(0)
    return found


def fit_map(kind: Kind, people: Column, judged: Column) -> ScaleMap:
    """Fit a map of one kind to people's and the judge's scores of the same items, at least one, in points of the scale."""
    if kind == "same":
        return ScaleMap(kind=kind, at=(0.0, 1.0), to=(0.0, 1.0))
    shift = float((people - judged).mean())
    if kind == "moved":
        return ScaleMap(kind=kind, at=(0.0, 1.0), to=(shift, 1.0 + shift))
    line = fit_line(people, judged)
    slope = _shrunk_slope(line.slope, line.squares, line.residual)
    start = line.people - slope * line.predicted
    if kind == "linear":
        return ScaleMap(kind=kind, at=(0.0, 1.0), to=(start, start + slope))
    at, places, counts = np.unique(judged, return_inverse=True, return_counts=True)
    means = np.bincount(places, weights=people) / counts
    size = people.size
    mixed = (size * means + LIKE_LINE * (start + slope * at)) / (size + LIKE_LINE)
    return ScaleMap(kind=kind, at=tuple(at.tolist()), to=tuple(isotonic(mixed, counts.astype(np.float64)).tolist()))


def _shrunk_slope(slope: float, squares: float, residual: float) -> float:
    """A slope that is at least 0, nearer to 0 the less it differs from its noise."""
    if slope <= 0.0:
        return 0.0
    if residual <= TINY:
        return slope
    return slope * max(0.0, 1.0 - residual / (slope * slope * squares))


def choose_map(people: Column, judged: Column, *, seed: int = 0) -> ScaleMap:
    """Fit the simplest map whose cross-validated error is within one standard error of the best one's.

    Args:
        people, judged: as in `fit_map`; under four labels scores are moved, not more.
        seed: of the folds.
    """
    size = people.size
    if size < 4:
        return fit_map("moved", people, judged)
    folds = fold_numbers(size, seed)
    errors = {kind: _left_out_errors(kind, people, judged, folds) for kind in KINDS}
    best = min(KINDS, key=lambda kind: float(errors[kind].mean()))
    for kind in KINDS:
        worse = errors[kind] - errors[best]
        noise = float(worse.std(ddof=1)) / sqrt(size)
        if float(worse.mean()) <= noise:
            found = fit_map(kind, people, judged)
            return ScaleMap(kind=kind, at=found.at, to=found.to, error=sqrt(float(errors[kind].mean())))
    raise AssertionError("the best map is no worse than itself")


def fold_numbers(size: int, seed: int, folds: int = FOLDS) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Which fold each of `size` labels is left out in, shape (size,): equal parts, drawn at random."""
    numbers: np.ndarray[tuple[int], np.dtype[np.int64]] = np.random.default_rng(seed).permutation(size) % min(folds, size)
    return numbers


def _left_out_errors(kind: Kind, people: Column, judged: Column, folds: np.ndarray[tuple[int], np.dtype[np.int64]]) -> Column:
    """Squared errors of each label by a map that has not seen it."""
    errors = np.full(people.size, inf)
    for fold in np.unique(folds):
        left_out = folds == fold
        found = fit_map(kind, people[~left_out], judged[~left_out])
        errors[left_out] = (found.apply(judged[left_out]) - people[left_out]) ** 2
    return errors
