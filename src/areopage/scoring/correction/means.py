"""Means corrected by people's labels: prediction-powered inference with a tuned weight, for few labels and finite populations.

Judges scored all items, people labelled a random part of them. The corrected mean is the labels' mean, moved by how far the
labelled items' predictions lie from those of all items: ȳ + λ (F̄ − f̄). The weight λ is estimated from the labels; a judge that
tells nothing gets λ near 0, so that its scores do no harm.

Sources:
- A. N. Angelopoulos, J. C. Duchi, T. Zrnic, "PPI++: Efficient Prediction-Powered Inference" (arXiv 2311.01453, 2023): the weight
  that makes the variance smallest. With all items, labelled ones included, in F̄, this weight is the least-squares slope.
- W. G. Cochran, "Sampling Techniques" (3rd edition, 1977): 7.29 and 7.30, the regression estimator and its variance in a finite
  population; 12.51, where the judged items are themselves a sample of a larger population; 2.26, labels alone.
- J. G. MacKinnon, H. White, "Some heteroskedasticity-consistent covariance matrix estimators with improved finite sample
  properties" (Journal of Econometrics 29, 1985), HC3: with few labels, errors of labels left out, (e / (1 - h))², in place of e².
- C.-E. Särndal, B. Swensson, J. Wretman, "Model Assisted Survey Sampling" (1992), 6.6: each label's error counts with its weight
  in the estimate, 1 + (F̄ - f̄) (f - f̄) / Σ (f - f̄)² n.
- B. L. Welch (Biometrika 34, 1947): degrees of freedom of a difference of independent means.

Every interval is Student's, with n − 2 degrees of freedom, as the weight is estimated. Cochran's variance is too small for few
labels of skewed scores: 95 % intervals cover 90 % with 10 labels, 93 % with 20. Up to 30 labels HC3 is used, which covers 93 % to
95 %; with more labels its part falls as 1 / n², to 36 % at 50 labels and 9 % at 100.
"""

from math import sqrt
from typing import Literal

import numpy as np
from msgspec import Struct, structs

from areopage.scoring.correlation import TINY, Column, Estimate
from areopage.scoring.counts import critical_t, two_sided_p

FEWEST = 4
"""Under so many labels there is no interval."""

FEW = 30
"""Up to so many labels the variance is HC3's alone."""

Population = Literal["judged", "future"]
"""What a mean is of: the items that were judged, or the larger population that they were drawn from."""


class Line(Struct, frozen=True, kw_only=True):
    """The least-squares line of people's scores on predictions, with what its variances need.

    Args:
        labels: how many labelled items it rests on, at least 1.
        people, predicted: the labelled items' mean score by people, and their mean prediction, in points of the scale.
        slope: points by people per point of prediction: the weight λ; 0 where all predictions are the same.
        residual: variance of people's scores about the line, on n − 2 degrees of freedom, in points².
        spread: variance of people's scores, on n − 1 degrees of freedom, in points².
        squares: sum of squares of the predictions about their mean, in points².
    """

    labels: int
    people: float
    predicted: float
    slope: float
    residual: float
    spread: float
    squares: float

    def at(self, prediction: float) -> float:
        """The score by people that the line tells for a prediction, or for the mean of several."""
        return self.people + self.slope * (prediction - self.predicted)


class Corrected(Struct, frozen=True, kw_only=True):
    """A mean corrected by labels, in points of the scale, with its 95 % interval.

    Args:
        uncorrected: the mean prediction of all judged items.
        value: the corrected mean.
        low, high: ends of the interval; None under four labels, and where no labelled item strays from its prediction, which
            leaves nothing to compute an interval from (unless all items are labelled).
        error: standard error of `value`; None where there is no interval.
        freedom: degrees of freedom of the interval.
        weight: λ, how far the predictions count: 0 not at all.
        labels, judged: how many items are labelled, and how many were judged.
        labels_alone: the labels' mean and interval without any prediction.
        saved: which share of the variance of the labels' mean is gone. Where far more items are judged than labelled, labels
            alone would need n / (1 − saved) labels for the same interval: this share of the labels is saved. Below 0 where
            the prediction costs more than it tells. None where there is no interval.
    """

    uncorrected: float
    value: float
    low: float | None = None
    high: float | None = None
    error: float | None = None
    freedom: float = 0.0
    weight: float
    labels: int
    judged: int
    labels_alone: Estimate
    saved: float | None = None


class Difference(Struct, frozen=True, kw_only=True):
    """A difference of two corrected means, first minus second, with its 95 % interval and two-sided p-value in [0, 1]."""

    value: float
    low: float | None = None
    high: float | None = None
    p_value: float | None = None


def fit_line(people: Column, predicted: Column) -> Line:
    """Fit people's scores to predictions by least squares.

    Args:
        people: labelled items' scores by people, shape (n,), n >= 1, finite, in points of the scale.
        predicted: the predictions of the same items, shape (n,), finite.
    """
    size = people.size
    from_people, from_predicted = people - people.mean(), predicted - predicted.mean()
    squares, spread = float(from_predicted @ from_predicted), float(from_people @ from_people)
    slope = float(from_predicted @ from_people) / squares if squares > TINY and size > 2 else 0.0
    strays = from_people - slope * from_predicted
    return Line(
        labels=size,
        people=float(people.mean()),
        predicted=float(predicted.mean()),
        slope=slope,
        residual=float(strays @ strays) / (size - 2) if size > 2 else 0.0,
        spread=spread / (size - 1) if size > 1 else 0.0,
        squares=squares,
    )


def corrected_mean(people: Column, predicted: Column, judged: Column, *, of: Population = "judged") -> Corrected:
    """Correct the mean prediction of all judged items by the labels of a random part of them.

    Args:
        people: labelled items' scores by people, shape (n,), n >= 1, in points of the scale. Items are labelled at random,
            without replacement; an item with several raters counts once, with their mean.
        predicted: predictions of the same items, shape (n,), in the same order. A prediction that was learned from labels must
            not have seen the item's own: see `areopage.scoring.correction.weights.cross_fitted`.
        judged: predictions of all judged items, those with labels too, shape (N,), N >= n.
        of: whose mean is estimated. `judged`: these N items; the more of them are labelled, the narrower is the interval.
            `future`: the population that they are a sample of, such as later answers of the same kind.
    """
    line, size, total = fit_line(people, predicted), people.size, judged.size
    value = line.at(float(judged.mean()))
    found = Corrected(
        uncorrected=float(judged.mean()),
        value=value,
        weight=line.slope,
        labels=size,
        judged=total,
        labels_alone=labels_alone(people, total, of=of),
    )
    if size < FEWEST or (line.residual <= TINY and size < total):
        return found
    finite = _variance(line, people, predicted, float(judged.mean())) * (1 - size / total)
    alone = line.spread * (1 / size - 1 / total)
    drawn = line.spread / total if of == "future" else 0.0
    error = sqrt(finite + drawn)
    reach = critical_t(size - 2) * error
    return structs.replace(
        found,
        low=value - reach,
        high=value + reach,
        error=error,
        freedom=float(size - 2),
        saved=1 - (finite + drawn) / (alone + drawn) if alone + drawn > TINY else None,
    )


def _variance(line: Line, people: Column, predicted: Column, mean: float) -> float:
    """The variance of the corrected mean in an endless population: Cochran's, with HC3's part for few labels."""
    plain, size = line.residual / line.labels, line.labels
    part = min(1.0, (FEW / size) ** 2)
    apart = predicted - line.predicted
    squares = line.squares if line.squares > TINY else 1.0
    held = np.minimum(1 / size + apart**2 / squares, 1 - 1 / size)
    counted = 1 + (mean - line.predicted) * apart * size / squares
    strays = people - line.people - line.slope * apart
    careful = float(((counted * strays / (1 - held)) ** 2).sum()) / size**2
    return (1 - part) * plain + part * careful


def labels_alone(people: Column, judged: int, *, of: Population = "judged") -> Estimate:
    """The mean of a random part of `judged` items by its labels alone, with Student's interval; no judge is used.

    Args:
        people: labelled items' scores by people, shape (n,), n >= 1, in points of the scale.
        of: as in `corrected_mean`.
    """
    value = float(people.mean())
    if people.size < FEWEST:
        return Estimate(value=value, reason="few")
    spread = float(people.var(ddof=1))
    if spread <= TINY and people.size < judged:
        return Estimate(value=value, reason="constant")
    reach = critical_t(people.size - 1) * sqrt(spread * (1 / people.size - (0.0 if of == "future" else 1 / judged)))
    return Estimate(value=value, low=value - reach, high=value + reach)


def transported_mean(line: Line, mean: float, items: int) -> Corrected:
    """Correct the mean of other items, none of them labelled, by a line that was fitted to labels of earlier ones.

    The variance is that of a prediction by a least-squares line (Cochran 1977, 7.3, without the finite correction): it grows with
    the distance of these items' mean prediction from that of the labelled ones. It holds as long as people and judges relate to
    each other as they did on the labelled items, which nothing here can test.

    Args:
        line: fitted to a random sample of labelled items.
        mean: mean prediction of the other items, in points of the scale.
        items: how many other items there are, at least 1.
    """
    value = line.at(mean)
    found = Corrected(
        uncorrected=mean, value=value, weight=line.slope, labels=line.labels, judged=items, labels_alone=Estimate(reason="few")
    )
    if line.labels < FEWEST or line.residual <= TINY:
        return found
    apart = (mean - line.predicted) ** 2 / line.squares if line.squares > TINY else 0.0
    error = sqrt(line.residual * (1 / line.labels + apart + 1 / items))
    reach = critical_t(line.labels - 2) * error
    return structs.replace(found, low=value - reach, high=value + reach, error=error, freedom=float(line.labels - 2))


def corrected_difference(first: Corrected, second: Corrected) -> Difference:
    """The difference of two means whose items were labelled independently of each other, with Welch's degrees of freedom.

    Where the same cases were answered twice and both answers labelled, the pairs tell more: give `corrected_mean` the differences
    of the labels and of the predictions instead.
    """
    value = first.value - second.value
    if first.error is None or second.error is None:
        return Difference(value=value)
    parts = first.error**2, second.error**2
    if sum(parts) <= TINY**2:
        return Difference(value=value)
    freedom = sum(parts) ** 2 / (parts[0] ** 2 / first.freedom + parts[1] ** 2 / second.freedom)
    error = sqrt(sum(parts))
    reach = critical_t(freedom) * error
    return Difference(value=value, low=value - reach, high=value + reach, p_value=two_sided_p(value / error, freedom))
