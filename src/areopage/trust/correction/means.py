"""Means corrected by people's labels: prediction-powered inference with a tuned weight, for few labels and finite populations.

Judges scored all items, people labelled a random part of them. The corrected mean is the labels' mean, moved by how far the
labelled items' predictions lie from those of all items: ȳ + λ (F̄ − f̄). The weight λ is estimated from the labels; a judge that
tells nothing gets λ near 0, so that its scores do no harm.

Sources:
- A. N. Angelopoulos, J. C. Duchi, T. Zrnic, "PPI++: Efficient Prediction-Powered Inference" (arXiv 2311.01453, 2023): the weight
  that makes the variance smallest. With all items, labelled ones included, in F̄, this weight is the least-squares slope.
- W. G. Cochran, "Sampling Techniques" (3rd edition, 1977): 7.29 and 7.30, the regression estimator and its variance in a finite
  population; 2.26, labels alone.
- J. G. MacKinnon, H. White, "Some heteroskedasticity-consistent covariance matrix estimators with improved finite sample
  properties" (Journal of Econometrics 29, 1985), HC3: with few labels, errors of labels left out, (e / (1 - h))², in place of e².
- C.-E. Särndal, B. Swensson, J. Wretman, "Model Assisted Survey Sampling" (1992), 6.6: each label's error counts with its weight
  in the estimate, 1 + (F̄ - f̄) (f - f̄) / Σ (f - f̄)² n.
- J. Hájek, "Comment on a paper by D. Basu" (Foundations of Statistical Inference, 1971), and Särndal, Swensson and Wretman 1992,
  6.5 and 7.4: items that are labelled with unequal chances count by the inverse of their chance; the variance adds up each
  label's error times its weight, squared. It takes labels as drawn independently of each other, which is on the safe side for a
  sample that is stratified, such as by day.
- L. Kish, "Survey Sampling" (1965), 11.7: labels of unequal weights are worth (Σ w)² / Σ w² of equal ones.

Every interval is Student's, with n − 2 degrees of freedom, as the weight is estimated. Cochran's variance is too small for few
labels of skewed scores: 95 % intervals cover 90 % with 10 labels, 93 % with 20. Up to 30 labels HC3 is used, which covers 93 % to
95 %; with more labels its part falls as 1 / n², to 36 % at 50 labels and 9 % at 100.
"""

from math import sqrt

import numpy as np
from msgspec import Struct, structs
from numpy.typing import NDArray

from areopage.scoring import TINY, Column, Estimate, critical_t

FEWEST = 4
"""With fewer labels there is no interval."""

FEW = 30
"""Up to this number of labels the variance is HC3's alone."""


class FittedLine(Struct, frozen=True, kw_only=True):
    """The least-squares line of people's scores on predictions, with what its variances need.

    Args:
        labels: how many labelled items it rests on, at least 1.
        people, predicted: the labelled items' mean score by people, and their mean prediction, in points of the scale.
        slope: points by people per point of prediction: the weight λ; 0 where all predictions are the same.
        residual: variance of people's scores about the line, on n − 2 degrees of freedom, in points².
        spread: variance of people's scores, on n − 1 degrees of freedom, in points².
        squares: sum of squares of the predictions about their mean, in points².
        effective: how many labels of equal weights these are worth; `labels` where all weigh the same.
    """

    labels: int
    people: float
    predicted: float
    slope: float
    residual: float
    spread: float
    squares: float
    effective: float

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
    weight: float
    labels: int
    judged: int
    labels_alone: Estimate
    saved: float | None = None


def fit_line(people: Column, predicted: Column, weights: Column | None = None) -> FittedLine:
    """Fit people's scores to predictions by least squares.

    Args:
        people: labelled items' scores by people, shape (n,), n >= 1, finite, in points of the scale.
        predicted: the predictions of the same items, shape (n,), finite.
        weights: of the labels, shape (n,), positive; None for equal ones.
    """
    parts = _parts(people.size, weights)
    worth = 1 / float(parts @ parts)
    mean, middle = float(parts @ people), float(parts @ predicted)
    from_people, from_predicted = people - mean, predicted - middle
    squares, spread = (worth * float(parts @ apart**2) for apart in (from_predicted, from_people))
    together = worth * float(parts @ (from_predicted * from_people))
    slope = together / squares if squares > TINY and people.size > 2 else 0.0
    strays = from_people - slope * from_predicted
    return FittedLine(
        labels=people.size,
        people=mean,
        predicted=middle,
        slope=slope,
        residual=worth * float(parts @ strays**2) / (worth - 2) if people.size > 2 and worth > 2 else 0.0,
        spread=spread / (worth - 1) if people.size > 1 else 0.0,
        squares=squares,
        effective=worth,
    )


def _parts(size: int, weights: Column | None) -> Column:
    """Each label's part of all weights, shape (n,), with the sum 1."""
    parts: Column = np.full(size, 1 / size) if weights is None else weights / weights.sum()
    return parts


def corrected_mean(people: Column, predicted: Column, judged: Column) -> Corrected:
    """Correct the mean prediction of all judged items by the labels of a random part of them.

    Args:
        people: labelled items' scores by people, shape (n,), n >= 1, in points of the scale. Items are labelled at random,
            without replacement; an item with several raters counts once, with their mean.
        predicted: predictions of the same items, shape (n,), in the same order. A prediction that was learned from labels must
            not have seen the item's own.
        judged: predictions of all judged items, those with labels too, shape (N,), N >= n. The more of them are labelled, the
            narrower is the interval.
    """
    return _corrected(people, predicted, float(judged.mean()), judged.size, None)


def weighted_mean(people: Column, predicted: Column, weights: Column, mean: float) -> Corrected:
    """Correct the mean prediction of all judged items by labels that were drawn at random with unequal, known chances.

    With equal weights this is `corrected_mean`. Degrees of freedom are those of the labels' effective number.

    Args:
        people, predicted: as in `corrected_mean`.
        weights: how many judged items each labelled one stands for, the inverse of its chance of being labelled; shape (n,), at
            least 1 each. Their sum is the number of judged items.
        mean: the mean prediction of all judged items, in points of the scale.
    """
    return _corrected(people, predicted, mean, round(float(weights.sum())), weights)


def _corrected(people: Column, predicted: Column, mean: float, total: int, weights: Column | None) -> Corrected:
    line, size = fit_line(people, predicted, weights), people.size
    value = line.at(mean)
    corrected = Corrected(
        uncorrected=mean,
        value=value,
        weight=line.slope,
        labels=size,
        judged=total,
        labels_alone=labels_alone(people, total, weights),
    )
    if line.effective < FEWEST - TINY or (line.residual <= TINY and size < total):
        return corrected
    parts = _parts(size, weights)
    unseen = np.full(size, 1 - size / total) if weights is None else np.maximum(0.0, 1 - 1 / weights)
    variance = _variance(line, people, predicted, mean, parts, unseen)
    alone = float((parts**2 * (people - line.people) ** 2) @ unseen) * line.effective / (line.effective - 1)
    error = sqrt(variance)
    reach = critical_t(line.effective - 2) * error
    return structs.replace(
        corrected,
        low=value - reach,
        high=value + reach,
        error=error,
        saved=1 - variance / alone if alone > TINY else None,
    )


def _variance(line: FittedLine, people: Column, predicted: Column, mean: float, parts: Column, unseen: Column) -> float:
    """The variance of the corrected mean: Cochran's, with HC3's part for few labels.

    `parts` are of all weights, with the sum 1; `unseen` is of each label the share of its items that are not labelled.
    """
    share = min(1.0, (FEW / line.effective) ** 2)
    strays, counted, leverage = _strays(line, people, predicted, mean, parts)
    plain = float((parts**2 * strays**2) @ unseen) * line.effective / (line.effective - 2)
    careful = float((parts * counted * strays / (1 - leverage)) ** 2 @ unseen)
    return (1 - share) * plain + share * careful


def _strays(line: FittedLine, people: Column, predicted: Column, mean: float, parts: Column) -> tuple[Column, Column, Column]:
    """Each label's distance from the line, how far it counts in the estimate, and its leverage."""
    apart = predicted - line.predicted
    squares = line.squares / line.effective if line.squares > TINY else 1.0
    leverage: Column = np.minimum(parts * (1 + apart**2 / squares), 1 - parts)
    return people - line.people - line.slope * apart, 1 + (mean - line.predicted) * apart / squares, leverage


def labels_alone(people: Column, judged: int, weights: Column | None = None) -> Estimate:
    """The mean of a random part of `judged` items by its labels alone, with Student's interval; no judge is used."""
    parts = _parts(people.size, weights)
    value, worth = float(parts @ people), 1 / float(parts @ parts)
    if worth < FEWEST - TINY:
        return Estimate(value=value, reason="few")
    squares = (people - value) ** 2
    if float(squares.max()) <= TINY and people.size < judged:
        return Estimate(value=value, reason="constant")
    unseen = np.full(people.size, 1 - people.size / judged) if weights is None else np.maximum(0.0, 1 - 1 / weights)
    reach = critical_t(worth - 1) * sqrt(float((parts**2 * squares) @ unseen) * worth / (worth - 1))
    return Estimate(value=value, low=value - reach, high=value + reach)


def stratified_mean(people: Column, predicted: Column, days: NDArray[np.int64], sizes: Column, mean: float) -> Corrected:
    """Correct the mean prediction of the judged items of several days by a random sample of each day.

    The estimate is that of `weighted_mean`: each label stands for the answers of its day over its labels. As each day has labels
    of its own, differences between days add nothing to the variance: it is that of the errors within days (Cochran 1977, 7.10;
    degrees of freedom: 5.4, after F. E. Satterthwaite, "An approximate distribution of estimates of variance components", 1946).
    With few labels in a day that variance is itself too uncertain: under thirty labels beyond one for each day, the interval is
    that of `weighted_mean`, which takes labels as drawn from all days together and is on the safe side.

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
    corrected = weighted_mean(people, predicted, weights, mean)
    line = fit_line(people, predicted, weights)
    if corrected.error is None or people.size - sizes.size < FEW:
        return corrected
    parts, unseen = weights / weights.sum(), np.maximum(0.0, 1 - 1 / weights)
    alone, alone_freedom = _within(parts * (people - line.people), unseen, days, counts)
    share = min(1.0, FEW / line.effective)
    strays, counted, leverage = _strays(line, people, predicted, mean, parts)
    errors = (1 - share) * (parts * strays) + share * counted * (parts * strays) / (1 - leverage)
    spread, freedom = _within(errors, unseen, days, counts)
    freedom = max(1.0, freedom - 1)  # the slope takes one
    reach, alone_reach = critical_t(freedom) * sqrt(spread), critical_t(alone_freedom) * sqrt(alone)
    return structs.replace(
        corrected,
        low=corrected.value - reach,
        high=corrected.value + reach,
        error=sqrt(spread),
        labels_alone=Estimate(value=line.people, low=line.people - alone_reach, high=line.people + alone_reach),
        saved=1 - spread / alone if alone > TINY else None,
    )


def _within(errors: Column, unseen: Column, days: NDArray[np.int64], counts: NDArray[np.int64]) -> tuple[float, float]:
    """The variance of a sum of errors that were drawn within days, and its degrees of freedom, at least 1."""
    means = np.bincount(days, errors) / counts
    several = counts[days] > 1
    squares = np.where(several, (errors - means[days]) ** 2, errors**2) * unseen
    by_day = np.bincount(days, squares) * np.where(counts > 1, counts / np.maximum(counts - 1, 1), 1.0)
    total, parts = float(by_day.sum()), float((by_day**2 / np.maximum(counts - 1, 1)).sum())
    return total, max(1.0, total**2 / parts) if parts > 0 else float(max(1, days.size - FEWEST))


def transported_mean(line: FittedLine, mean: float, items: int) -> Corrected:
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
    corrected = Corrected(
        uncorrected=mean, value=value, weight=line.slope, labels=line.labels, judged=items, labels_alone=Estimate(reason="few")
    )
    if line.effective < FEWEST - TINY or line.residual <= TINY:
        return corrected
    apart = (mean - line.predicted) ** 2 / line.squares if line.squares > TINY else 0.0
    error = sqrt(line.residual * (1 / line.effective + apart + 1 / items))
    reach = critical_t(line.effective - 2) * error
    return structs.replace(corrected, low=value - reach, high=value + reach, error=error)
