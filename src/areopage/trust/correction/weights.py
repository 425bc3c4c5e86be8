"""Weights of a jury's judges, learned from few labels: ridge regression around the jury's mean, chosen by leaving labels out.

A score by people is predicted from the jury's mean and each judge's distance from that mean. Each part is shrunk: with the
strongest shrinkage what remains is the line through the jury's mean. The error on labels left out chooses the strength, so that
with few labels the jury stays near its plain mean.

Sources:
- A. E. Hoerl, R. W. Kennard, "Ridge regression" (Technometrics 12, 1970).
- L. Breiman, "Stacked regressions" (Machine Learning 24, 1996): weights of predictors by errors on items left out.
- D. M. Allen, "The relationship between variable selection and data augmentation" (Technometrics 16, 1974): the error of a label
  left out is e / (1 - h), without fitting anew.

Without labels, judges that agree with the others count more (`agreement_weights`): a score is one common quality of an item times
the judge's loading, plus an error of its own. The best linear guess at the quality weighs each judge by its loading over the
variance of its error. As no label is used, a mean corrected with these weights keeps its interval, and no label is spent on them.
Judges that share an error agree too: labels alone show that.

Sources:
- C. Spearman, "General intelligence, objectively determined and measured" (American Journal of Psychology 15, 1904): one factor.
- D. B. Rubin, D. T. Thayer, "EM algorithms for ML factor analysis" (Psychometrika 47, 1982): the estimation.
- G. H. Thomson, "The Factorial Analysis of Human Ability" (1939): scores by regression, whose weights are loading over error.
"""

from itertools import product
from math import sqrt

import numpy as np
from msgspec import Struct

from areopage.scoring import TINY, Column, Matrix

_JUDGE_PENALTIES = (0.1, 0.3, 1.0, 3.0, 1e6)
_MEAN_PENALTIES = (1e-3, 0.05)
"""In labels' worth: the largest one leaves the judges alike."""
_FEWEST = 8

FEWEST_JUDGES = 3
"""Two judges agree with each other alike: one factor is not determined."""

FEWEST_ITEMS = 30
_ROUNDS = 500
_CLOSE = 1e-7
_LEAST_ERROR = 0.1
"""No judge's own error is under this share of its variance, so that two equal judges do not outweigh all others."""


class JuryWeights(Struct, frozen=True, kw_only=True):
    """A prediction of people's scores: `start` + Σ weight × score, in points of the scale.

    Args:
        weights: of each judge, in the order of the columns.
        levels: (); part of the digest of stored calibrations.
        error: root of the mean squared error on labels left out.
        mean_error: the same of the line through the jury's plain mean.
        labels: how many labels the weights rest on.
    """

    start: float
    weights: tuple[float, ...]
    levels: tuple[float, ...] = ()
    error: float
    mean_error: float
    labels: int

    def predict(self, scores: Matrix) -> Column:
        """Predict people's scores by those of the judges, shape (N, m); NaN, where one is missing, counts as the others' mean."""
        predicted: Column = self.start + filled(scores) @ np.array(self.weights)
        return predicted


def filled(scores: Matrix) -> Matrix:
    """Scores with missing ones replaced by the mean of the item's others, shape (N, m); each item has at least one score."""
    missing = np.isnan(scores)
    if not missing.any():
        return scores
    table: Matrix = np.where(missing, np.nanmean(scores, axis=1, keepdims=True), scores)
    return table


def fit_weights(people: Column, scores: Matrix, *, base: Column | None = None) -> JuryWeights:
    """Learn a jury's weights.

    Args:
        people: labelled items' scores by people, shape (n,), n >= 1, in points of the scale.
        scores: by the judges, shape (n, m); NaN where one is missing.
        base: the weights of the jury's mean, shape (m,) with the sum 1, such as `agreement_weights`; None for equal ones.
    """
    table = filled(scores)
    judges, size = table.shape[1], people.size
    equal = np.full(judges, 1.0 / judges) if base is None else base
    middle = table @ equal
    unit = sqrt(float(table.var())) or 1.0
    features = np.column_stack([middle, table - middle[:, None]]) / unit
    centre, level = features.mean(axis=0), float(people.mean())
    by_judge = _JUDGE_PENALTIES if judges > 1 and size >= _FEWEST else _JUDGE_PENALTIES[-1:]
    penalties = np.array(list(product(_MEAN_PENALTIES, by_judge)))
    only_mean = penalties[:, 1] == _JUDGE_PENALTIES[-1]  # the line through the jury's mean alone
    tried, errors = _ridge(features - centre, people - level, np.repeat(penalties * size, [1, judges], axis=1))
    best = int(errors.argmin())
    coefficients = tried[best]
    apart = coefficients[1:] / unit
    return JuryWeights(
        start=level - float(centre @ coefficients),
        weights=tuple(((coefficients[0] / unit - apart.sum()) * equal + apart).tolist()),
        error=sqrt(float(errors[best])),
        mean_error=sqrt(float(errors[only_mean].min())),
        labels=size,
    )


def _ridge(features: Matrix, people: Column, penalties: Matrix) -> tuple[Matrix, Column]:
    """Coefficients of centred features for each row of penalties, and the mean squared errors of labels left out (Allen 1974)."""
    inverses = np.linalg.inv(features.T @ features + penalties[:, :, None] * np.eye(features.shape[1]))
    coefficients: Matrix = inverses @ (features.T @ people)
    leverage = ((features @ inverses) * features).sum(axis=2) + 1 / people.size
    strays = (people - coefficients @ features.T) / np.maximum(1.0 - leverage, TINY)
    errors: Column = (strays**2).mean(axis=1)
    return coefficients, errors


def agreement_weights(scores: Matrix) -> Column:
    """The judges' weights by their agreement with each other, shape (m,): at least 0, with the sum 1.

    Equal ones under three judges or thirty items, where a judge gives all items one score, and where no judges agree.

    Args:
        scores: of all judged items, shape (N, m), in points of the scale; NaN where one is missing, though not all of an item's.
    """
    size, judges = scores.shape
    equal = np.full(judges, 1.0 / judges)
    if judges < FEWEST_JUDGES or size < FEWEST_ITEMS:
        return equal
    table = filled(scores)
    spreads = table.std(axis=0)
    if spreads.min() <= TINY:
        return equal
    correlations: Matrix = np.atleast_2d(np.corrcoef(table.T))
    loadings, errors = _one_factor(correlations)
    weights = np.maximum(0.0, loadings / errors) / spreads
    total = float(weights.sum())
    return weights / total if total > TINY else equal


def _one_factor(correlations: Matrix) -> tuple[Column, Column]:
    """Loadings, and variances of the judges' own errors, of a factor model of their correlations."""
    start = np.linalg.eigh(correlations)
    loadings = start.eigenvectors[:, -1] * np.sqrt(start.eigenvalues[-1])
    loadings = loadings * (1.0 if loadings.sum() >= 0 else -1.0) * 0.9
    errors = np.maximum(1.0 - loadings**2, _LEAST_ERROR)
    for _ in range(_ROUNDS):
        regression = loadings / errors
        left = 1.0 / (1.0 + float(loadings @ regression))
        regression = left * regression
        together = correlations @ regression
        following = together / (left + float(regression @ together))
        errors = np.maximum(1.0 - following * together, _LEAST_ERROR)
        step, loadings = float(np.abs(following - loadings).max()), following
        if step < _CLOSE:
            break
    return loadings, errors
