"""Weights of a jury's judges without any label: those that agree with the others count more.

Each judge's score is taken as one common quality of the item times the judge's loading, plus an error of its own. Loadings and
errors are estimated from the judges' scores of all judged items; the best linear guess at the common quality weighs each judge
by its loading over the variance of its error. As no label is used, a mean corrected with these weights keeps its interval, and
no label is spent on them. Judges that share an error agree too: labels alone show that.

Sources:
- C. Spearman, "General intelligence, objectively determined and measured" (American Journal of Psychology 15, 1904): one factor.
- D. B. Rubin, D. T. Thayer, "EM algorithms for ML factor analysis" (Psychometrika 47, 1982): the estimation.
- G. H. Thomson, "The Factorial Analysis of Human Ability" (1939): scores by regression, whose weights are loading over error.
"""

import numpy as np

from areopage.scoring.arrays import Column, Matrix
from areopage.scoring.correction.weights import filled
from areopage.scoring.correlation import TINY

FEWEST_JUDGES = 3
"""Two judges agree with each other alike: one factor is not determined."""

FEWEST_ITEMS = 30
_ROUNDS = 500
_CLOSE = 1e-7
_LEAST_ERROR = 0.1
"""No judge's own error is under this share of its variance, so that two equal judges do not outweigh all others."""


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
    found = np.maximum(0.0, loadings / errors) / spreads
    total = float(found.sum())
    return found / total if total > TINY else equal


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
