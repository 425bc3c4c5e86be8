"""Categories by a jury whose judges err each in their own way: Dawid and Skene's model, started at and anchored to labels.

Each judge has a confusion matrix: how often it says v where people say k. It is estimated from the labels and, with less weight,
from the items without labels. Judges make the same errors, so that six of them are worth two: their votes do not count in full.

Sources:
- A. P. Dawid, A. M. Skene, "Maximum likelihood estimation of observer error-rates using the EM algorithm" (Applied Statistics 28,
  1979): the model and its estimation. `dawid_skene` is their algorithm, without labels, started at the majority.
- K. Nigam, A. McCallum, S. Thrun, T. Mitchell, "Text classification from labeled and unlabeled documents using EM" (Machine
  Learning 39, 2000), 5.3.1: labels stay as they are, and items without labels count less than one.
- L. Kish, "Survey Sampling" (1965), 5.4: m equally correlated judges are worth m / (1 + (m - 1) ρ).
- G. E. Hinton, "Products of experts" (ICANN 1999): judges' weights as exponents; here fitted to the labels by penalised
  likelihood, each label judged by matrices that have not seen it.
"""

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from areopage.scoring.arrays import Column

Codes = NDArray[np.int64]
Table = NDArray[np.float64]

UNKNOWN = -1
"""The code of a missing label or vote."""

_ROUNDS = 12
_NEWTON_STEPS = 20
_LONGEST_STEP = 0.3
_SMALL = 1e-3


class Smoothing(Struct, frozen=True, kw_only=True):
    """How much is assumed before any label is seen, in labels. The defaults suit the recorded juries of docs/accuracy.md.

    Args:
        pooled: labels of each true category that a judge has in common with all judges.
        right: labels of each true category on which the judges are together assumed to be right.
        prior: labels that each category is assumed to have.
        group: labels of each group that are like those of all items.
        weights: how firmly judges' weights are held at their common value, in squared units of log-likelihood.
    """

    pooled: float = 5.0
    right: float = 2.0
    prior: float = 0.5
    group: float = 4.0
    weights: float = 10.0


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
        found: Codes = self.posterior.argmax(axis=1)
        return found


def anchored_confusion(
    labels: Codes, votes: Codes, categories: int, *, groups: Codes | None = None, smoothing: Smoothing | None = None
) -> Confusion:
    """Estimate judges' confusion matrices and each item's category.

    Args:
        labels: people's category of each item from 0 to K - 1, shape (N,); `UNKNOWN` without a label. At least one is known.
        votes: the judges' categories, shape (N, m); `UNKNOWN` without a vote.
        categories: K. Categories that only judges use count too.
        groups: a number from 0 for each item's group, such as its criterion, shape (N,): each group has shares of its own.
        smoothing: None for the default.
    """
    assumed = smoothing or Smoothing()
    known, size = labels != UNKNOWN, votes.shape[0]
    group = np.zeros(size, dtype=np.int64) if groups is None else groups
    first, place = _equal_votes(votes, group, categories)  # equal votes: one row each
    ballots, member = _ballots(votes[first], categories), np.eye(int(group.max()) + 1)[group[first]]
    labelled = np.zeros((first.size, categories))
    np.add.at(labelled, (place[known], labels[known]), 1.0)
    unlabelled = np.bincount(place[~known], minlength=first.size) * min(1.0, known.sum() / max(1, size - known.sum()))
    counted, shares = _matrix_counts(labelled, ballots), _normal(labelled.sum(axis=0) + assumed.prior)
    pooled = _pooled(counted, assumed)
    effective = effective_judges(votes[known] != labels[known, None], votes[known] != UNKNOWN)
    start = np.full(votes.shape[1], effective / votes.shape[1])
    weights = _fitted_weights(counted, pooled, labels[known], votes[known], np.log(shares), start, assumed)
    truth = labelled
    for _ in range(_ROUNDS):
        matrices = _normal(counted + assumed.pooled * pooled)
        posterior = _posterior(ballots, matrices, weights, _log_shares(truth, member, assumed))
        truth = labelled + unlabelled[:, None] * posterior
        counted = _matrix_counts(truth, ballots)
        pooled = _pooled(counted, assumed)
    matrices = _normal(counted + assumed.pooled * pooled)
    posterior = _posterior(ballots, matrices, weights, _log_shares(truth, member, assumed))
    return Confusion(
        posterior=posterior[place],
        matrices=matrices,
        weights=weights,
        shares=_normal(truth.sum(axis=0) + assumed.prior),
        effective=effective,
    )


def category_chances(votes: Codes, matrices: Table, weights: Column, shares: Column) -> Table:
    """The probability of each category by votes of judges whose confusion matrices are known, shape (N, K); rows sum to 1.

    Args:
        votes: the judges' categories, shape (N, m); `UNKNOWN` without a vote.
        matrices, weights, shares: as in `Confusion`.
    """
    return _posterior(_ballots(votes, shares.size), matrices, weights, np.log(shares)[None, :])


def dawid_skene(votes: Codes, categories: int, *, rounds: int = 100, tolerance: float = 1e-5) -> Confusion:
    """Dawid's and Skene's algorithm without any label, started at the shares of the votes.

    Args:
        votes: the judges' categories from 0 to K - 1, shape (N, m); `UNKNOWN` without a vote. Each item has at least one.
        categories: K.
        rounds: of expectation and maximisation, at most.
        tolerance: the increase of the log-likelihood per vote under which they end.
    """
    ballots, size = _ballots(votes, categories), votes.shape[0]
    truth = _normal(ballots.reshape(size, votes.shape[1], categories).sum(axis=1))
    weights, before = np.ones(votes.shape[1]), -np.inf
    for _ in range(rounds):
        counts = _matrix_counts(truth, ballots)
        matrices = counts / np.maximum(counts.sum(axis=2, keepdims=True), 1e-300)
        shares = truth.mean(axis=0)
        logs = _log_votes(ballots, matrices, weights) + np.log(np.maximum(shares, 1e-300))
        most = logs.max(axis=1, keepdims=True)
        likelihood = float((most[:, 0] + np.log(np.exp(logs - most).sum(axis=1))).sum()) / ballots.sum()
        truth = _normal(np.exp(logs - most))
        if likelihood - before < tolerance:
            break
        before = likelihood
    return Confusion(posterior=truth, matrices=matrices, weights=weights, shares=shares, effective=float(votes.shape[1]))


def effective_judges(wrong: NDArray[np.bool_], voted: NDArray[np.bool_]) -> float:
    """How many independent judges a jury is worth, by Kish's formula with the mean correlation of its errors; from 1 to m.

    Args:
        wrong: whether a judge differs from people, shape (n, m).
        voted: whether the judge voted, shape (n, m); a missing vote is taken as the judge's mean.
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


def _equal_votes(votes: Codes, group: Codes, categories: int) -> tuple[Codes, Codes]:
    """The first item of each different row of votes and group, and the number of each item's row, shape (N,)."""
    _, first, place = np.unique(group, return_index=True, return_inverse=True)
    for judge in range(votes.shape[1]):
        _, first, place = np.unique(place * (categories + 1) + votes[:, judge] + 1, return_index=True, return_inverse=True)
    return first, place


def _ballots(votes: Codes, categories: int) -> Table:
    """Votes as ones and zeros, shape (N, m K); a missing vote is all zeros."""
    size, judges = votes.shape
    found: Table = (votes[:, :, None] == np.arange(categories)).astype(np.float64).reshape(size, judges * categories)
    return found


def _matrix_counts(truth: Table, ballots: Table) -> Table:
    """How often each judge voted for each category, by true category, shape (m, K, K)."""
    categories = truth.shape[1]
    counts: Table = (truth.T @ ballots).reshape(categories, -1, categories).transpose(1, 0, 2)
    return counts


def _pooled(counted: Table, assumed: Smoothing) -> Table:
    """The confusion matrix of all judges together, shape (K, K)."""
    categories = counted.shape[1]
    return _normal(counted.sum(axis=0) + assumed.right * np.eye(categories) + 0.5)


def _normal(table: Table) -> Table:
    found: Table = table / table.sum(axis=-1, keepdims=True)
    return found


def _log_votes(ballots: Table, matrices: Table, weights: Column) -> Table:
    """The weighed log-likelihood of each item's votes by true category, shape (N, K)."""
    judges, categories, _ = matrices.shape
    logs = np.log(np.maximum(matrices, 1e-300)) * weights[:, None, None]
    found: Table = ballots @ logs.transpose(0, 2, 1).reshape(judges * categories, categories)
    return found


def _log_shares(truth: Table, member: Table, assumed: Smoothing) -> Table:
    """Logarithms of the categories' shares by group, shape (N, K) or (1, K)."""
    shares = _normal(truth.sum(axis=0) + assumed.prior)
    if member.shape[1] == 1:
        found: Table = np.log(shares)[None, :]
        return found
    by_group: Table = np.log(_normal(member.T @ truth + assumed.group * shares))[member.argmax(axis=1)]
    return by_group


def _posterior(ballots: Table, matrices: Table, weights: Column, log_shares: Table) -> Table:
    logs = _log_votes(ballots, matrices, weights) + log_shares
    return _normal(np.exp(logs - logs.max(axis=1, keepdims=True)))


def _fitted_weights(
    counted: Table, pooled: Table, labels: Codes, votes: Codes, log_shares: Column, start: Column, assumed: Smoothing
) -> Column:
    """Judges' weights by penalised likelihood of the labels, each left out of the matrices that judge it; Newton's method."""
    evidence = _left_out(counted, pooled, labels, votes, assumed)
    categories = pooled.shape[0]
    truth, weights = np.eye(categories)[labels], start.copy()
    for _ in range(_NEWTON_STEPS):
        logs = np.einsum("ijk,j->ik", evidence, weights) + log_shares
        chances = _normal(np.exp(logs - logs.max(axis=1, keepdims=True)))
        slope = np.einsum("ijk,ik->j", evidence, truth - chances) - assumed.weights * (weights - start)
        means = np.einsum("ijk,ik->ij", evidence, chances)
        seconds = np.einsum("ijk,ilk->jl", evidence * chances[:, None, :], evidence)
        bend = seconds - means.T @ means + assumed.weights * np.eye(start.size)
        step = np.linalg.solve(bend, slope).clip(-_LONGEST_STEP, _LONGEST_STEP)
        weights = np.maximum(0.0, weights + step)
        if np.abs(step).max() < _SMALL:
            break
    return weights


def _left_out(counted: Table, pooled: Table, labels: Codes, votes: Codes, assumed: Smoothing) -> Table:
    """Log-probabilities of each labelled item's votes by matrices without its own label, shape (n, m, K)."""
    size, judges = votes.shape
    found, rows = np.zeros((size, judges, pooled.shape[0])), np.arange(size)
    for judge in range(judges):
        cast = votes[:, judge]
        voted = cast != UNKNOWN
        own = voted.astype(np.float64)
        hits = (counted[judge] + assumed.pooled * pooled).T[np.where(voted, cast, 0)]
        all_votes = np.tile(counted[judge].sum(axis=1) + assumed.pooled, (size, 1))
        hits[rows, labels] -= own
        all_votes[rows, labels] -= own
        found[:, judge] = np.where(voted[:, None], np.log(np.maximum(hits, 1e-300) / all_votes), 0.0)
    return found
