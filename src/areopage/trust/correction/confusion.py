"""Categories by a jury whose judges err each in their own way: Dawid and Skene's model, started at and anchored to labels.

Each judge has a confusion matrix: how often it says v where people say k. It is estimated from the labels and, with less weight,
from the items without labels. Judges make the same errors, so that six of them are worth two: their votes do not count in full.

Sources:
- A. P. Dawid, A. M. Skene, "Maximum likelihood estimation of observer error-rates using the EM algorithm" (Applied Statistics 28,
  1979): the model and its estimation.
- K. Nigam, A. McCallum, S. Thrun, T. Mitchell, "Text classification from labeled and unlabeled documents using EM" (Machine
  Learning 39, 2000), 5.3.1: labels stay as they are, and items without labels count less than one.
- L. Kish, "Survey Sampling" (1965), 5.4: m equally correlated judges are worth m / (1 + (m - 1) ρ).
- G. E. Hinton, "Products of experts" (ICANN 1999): judges' weights as exponents; here fitted to the labels by penalised
  likelihood, each label judged by matrices that have not seen it.
"""

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from areopage.scoring import Column

Codes = NDArray[np.int64]
Table = NDArray[np.float64]

UNKNOWN = -1
"""The code of a missing label or vote."""

# What is assumed before any label is seen, in labels; the values suit the recorded juries of docs/accuracy.md.
_POOLED = 5.0  # labels of each true category that a judge has in common with all judges
_RIGHT = 2.0  # labels of each true category on which the judges are together assumed to be right
_PRIOR = 0.5  # labels that each category is assumed to have
_FIRM = 10.0  # how firmly judges' weights are held at their common value, in squared units of log-likelihood

_ROUNDS = 12
_NEWTON_STEPS = 20
_LONGEST_STEP = 0.3
_SMALL = 1e-3


class Confusion(Struct, frozen=True, kw_only=True):
    """What the model found of N items, m judges and K categories.

    Args:
        posterior: the probability of each category, shape (N, K); rows sum to 1. Labelled items have the probabilities that the
            judges give them; the label itself is not used there.
        matrices: of each judge how it votes by true category, shape (m, K, K); rows sum to 1.
        weights: of each judge's votes, shape (m,), at least 0; 1 would be an independent judge's.
        shares: of the categories among all items, shape (K,).
        effective: how many independent judges the jury is worth, from 1 to m.
    """

    posterior: Table
    matrices: Table
    weights: Column
    shares: Column
    effective: float

    @property
    def categories(self) -> Codes:
        """The most probable category of each item, shape (N,)."""
        categories: Codes = self.posterior.argmax(axis=1)
        return categories


def anchored_confusion(labels: Codes, votes: Codes, categories: int) -> Confusion:
    """Estimate judges' confusion matrices and each item's category.

    Args:
        labels: people's category of each item from 0 to K - 1, shape (N,); `UNKNOWN` without a label. At least one is known.
        votes: the judges' categories, shape (N, m); `UNKNOWN` without a vote.
        categories: K. Categories that only judges use count too.
    """
    is_labelled, size = labels != UNKNOWN, votes.shape[0]
    kinds, place = np.unique(votes, axis=0, return_inverse=True)  # equal votes: one row each
    place = place.ravel()
    ballots = _ballots(kinds, categories)
    labelled = np.zeros((len(kinds), categories))
    np.add.at(labelled, (place[is_labelled], labels[is_labelled]), 1.0)
    weight = min(1.0, is_labelled.sum() / max(1, size - is_labelled.sum()))
    unlabelled = np.bincount(place[~is_labelled], minlength=len(kinds)) * weight
    counted, shares = _matrix_counts(labelled, ballots), _normal(labelled.sum(axis=0) + _PRIOR)
    effective = effective_judges(votes[is_labelled] != labels[is_labelled, None], votes[is_labelled] != UNKNOWN)
    start = np.full(votes.shape[1], effective / votes.shape[1])
    evidence = _left_out(counted, _pooled(counted), labels[is_labelled], votes[is_labelled])
    weights = _fitted_weights(evidence, labels[is_labelled], np.log(shares), start)
    for _ in range(_ROUNDS):
        matrices = _normal(counted + _POOLED * _pooled(counted))
        posterior = _posterior(ballots, matrices, weights, np.log(shares)[None, :])
        truth = labelled + unlabelled[:, None] * posterior
        counted, shares = _matrix_counts(truth, ballots), _normal(truth.sum(axis=0) + _PRIOR)
    matrices = _normal(counted + _POOLED * _pooled(counted))
    posterior = _posterior(ballots, matrices, weights, np.log(shares)[None, :])
    return Confusion(posterior=posterior[place], matrices=matrices, weights=weights, shares=shares, effective=effective)


def category_chances(votes: Codes, matrices: Table, weights: Column, shares: Column) -> Table:
    """The probability of each category by votes of judges whose confusion matrices are known, shape (N, K); rows sum to 1.

    Args:
        votes: the judges' categories, shape (N, m); `UNKNOWN` without a vote.
        matrices, weights, shares: as in `Confusion`.
    """
    return _posterior(_ballots(votes, shares.size), matrices, weights, np.log(shares)[None, :])


def effective_judges(wrong: NDArray[np.bool_], voted: NDArray[np.bool_]) -> float:
    """How many independent judges a jury is worth, by Kish's formula with the mean correlation of its errors; from 1 to m.

    A missing vote is taken as the judge's mean; both tables have the shape (n, m).
    """
    size, judges = wrong.shape
    if judges == 1 or size == 0:
        return float(judges)
    rates = (wrong & voted).sum(axis=0) / np.maximum(voted.sum(axis=0), 1)
    strays = np.where(voted, wrong - rates, 0.0)
    together = strays.T @ strays / size
    scale = np.sqrt(np.diag(together) + 0.25 / size)  # a quarter is a vote's largest variance: few labels shrink the correlation
    correlations = together / np.outer(scale, scale)
    mean = float(correlations.sum() - np.trace(correlations)) / (judges * (judges - 1))
    return float(judges / (1 + (judges - 1) * max(0.0, mean)))


def _ballots(votes: Codes, categories: int) -> Table:
    """Votes as ones and zeros, shape (N, m K); a missing vote is all zeros."""
    size, judges = votes.shape
    ballots: Table = (votes[:, :, None] == np.arange(categories)).astype(np.float64).reshape(size, judges * categories)
    return ballots


def _matrix_counts(truth: Table, ballots: Table) -> Table:
    """How often each judge voted for each category, by true category, shape (m, K, K)."""
    categories = truth.shape[1]
    counts: Table = (truth.T @ ballots).reshape(categories, -1, categories).transpose(1, 0, 2)
    return counts


def _pooled(counted: Table) -> Table:
    """The confusion matrix of all judges together, shape (K, K)."""
    return _normal(counted.sum(axis=0) + _RIGHT * np.eye(counted.shape[1]) + 0.5)


def _normal(table: Table) -> Table:
    normal: Table = table / table.sum(axis=-1, keepdims=True)
    return normal


def _posterior(ballots: Table, matrices: Table, weights: Column, log_shares: Table) -> Table:
    """The probabilities of the categories by each item's weighed votes, shape (N, K)."""
    judges, categories, _ = matrices.shape
    log_matrices = np.log(np.maximum(matrices, 1e-300)) * weights[:, None, None]
    logs = ballots @ log_matrices.transpose(0, 2, 1).reshape(judges * categories, categories) + log_shares
    return _normal(np.exp(logs - logs.max(axis=1, keepdims=True)))


def _fitted_weights(evidence: Table, labels: Codes, log_shares: Column, start: Column) -> Column:
    """Judges' weights by penalised likelihood of the labels, each left out of the matrices that judge it; Newton's method."""
    truth, weights = np.eye(evidence.shape[2])[labels], start.copy()
    for _ in range(_NEWTON_STEPS):
        logs = np.einsum("ijk,j->ik", evidence, weights) + log_shares
        chances = _normal(np.exp(logs - logs.max(axis=1, keepdims=True)))
        slope = np.einsum("ijk,ik->j", evidence, truth - chances) - _FIRM * (weights - start)
        means = np.einsum("ijk,ik->ij", evidence, chances)
        seconds = np.einsum("ijk,ilk->jl", evidence * chances[:, None, :], evidence)
        bend = seconds - means.T @ means + _FIRM * np.eye(start.size)
        step = np.linalg.solve(bend, slope).clip(-_LONGEST_STEP, _LONGEST_STEP)
        weights = np.maximum(0.0, weights + step)
        if np.abs(step).max() < _SMALL:
            break
    return weights


def _left_out(counted: Table, pooled: Table, labels: Codes, votes: Codes) -> Table:
    """Log-probabilities of each labelled item's votes by matrices without its own label, shape (n, m, K)."""
    size, judges = votes.shape
    logs, rows = np.zeros((size, judges, pooled.shape[0])), np.arange(size)
    for judge in range(judges):
        cast = votes[:, judge]
        voted = cast != UNKNOWN
        is_own = voted.astype(np.float64)
        hits = (counted[judge] + _POOLED * pooled).T[np.where(voted, cast, 0)]
        all_votes = np.tile(counted[judge].sum(axis=1) + _POOLED, (size, 1))
        hits[rows, labels] -= is_own
        all_votes[rows, labels] -= is_own
        logs[:, judge] = np.where(voted[:, None], np.log(np.maximum(hits, 1e-300) / all_votes), 0.0)
    return logs
