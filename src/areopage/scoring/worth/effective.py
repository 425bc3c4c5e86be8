"""How many independent judges a jury is worth.

N judges whose errors correlate by ρ on average are worth N / (1 + (N − 1) ρ) judges whose errors do not: the mean of their scores
has the variance of their mean. Source: L. Kish, "Survey Sampling" (1965), the design effect; of language models as
judges: G. Kohli, "Nine Judges, Two Effective Votes" (arXiv:2605.29800, 2026).

An error is judge − people, and correlations are taken within criteria: a constant difference is not an error in common. People's
own noise is part of every judge's error on the same unit, so it counts as an error in common. `EffectiveJudges.without_noise`
leaves it out.

Without labels the errors that all judges share cannot be seen: they look like the truth. Residuals around the mean of the other
judges sum to 0 on each unit, so that their mean correlation is about −1/(N − 1) for every jury and says nothing. Their spread
over directions shows which judges err together beyond what all have in common, and gives an upper limit; see `most_judges`.
"""

from collections.abc import Iterator, Sequence
from itertools import combinations
from math import log, sqrt, tanh
from typing import NamedTuple

import numpy as np
from msgspec import Struct

from areopage.scoring.arrays import Column, Matrix
from areopage.scoring.correlation import BATCH_CELLS, TINY, Estimate
from areopage.scoring.intervals.student_t import critical_t
from areopage.scoring.worth.tables import JuryTable, summed

RESAMPLES = 500
FEWEST_ITEMS = 20
"""With fewer items the number of independent judges is not computed."""

FEWEST_DIFFERENT = 4
"""Nor where fewer items than these have other errors than most items have."""

_EDGE = 1e-6  # correlations are kept so far from their ends, where z is infinite
_LEAST_NOISE = 0.05  # of the judges' mean noise: a judge's own noise is not taken as smaller
_MOST_LOST = 0.1  # of the resamples may be without a value
_UNSEEN = 0.3  # the weight of the unseen item
_DRAWN_AT_ONCE = 3_000_000  # items that resamples draw: 24 MB
_HIDDEN = 0.1  # of a judge's error variance must be its own, beside people's noise


class EffectiveJudges(Struct, frozen=True, kw_only=True):
    """How many independent judges a jury is worth, in [1, `judges`].

    Args:
        judges: N, how many judges scored at least half of the units; the others are left out.
        items, units: labelled items, and pairs of item and criterion, with a score of at least two judges.
        value: with its 95 % interval, from the errors against the mean of people's labels.
        correlation: the mean correlation of two judges' errors, in [−1/(N − 1), 1].
        without_noise: the value if people's own noise is left out; None where fewer than `FEWEST_ITEMS` items have two raters, or
            where people's noise hides the judges' errors. It takes raters' errors as independent.
        people_noise: the standard deviation of the mean label that raters' disagreement tells of, in points; None with
            `without_noise`.
    """

    judges: int
    items: int
    units: int
    value: Estimate
    correlation: Estimate
    without_noise: Estimate | None
    people_noise: float | None


def kish(correlation: float, judges: int) -> float:
    """N / (1 + (N − 1) ρ), in [1, N]: a negative ρ counts as 0."""
    return judges / (1 + (judges - 1) * max(0.0, min(1.0, correlation)))


def effective_judges(table: JuryTable, *, resamples: int = RESAMPLES, seed: int = 0) -> EffectiveJudges | None:
    """How many independent judges a labelled jury is worth; None under two judges or under `FEWEST_ITEMS` items.

    The interval is that of Fisher's z of an intraclass correlation. Its standard error is the largest one of the bootstrap's and
    the jackknife's over items and that of normal errors, times Student's quantile (R. A. Fisher, "Statistical Methods for
    Research Workers", 1925, § 39). Where large errors are rare, few items may hold none that all judges make: the upper end of
    the correlation also allows for one unseen item, of the weight 0.3, with the farthest error for all judges.
    """
    table = table.regular
    table = table.only((~np.isnan(table.errors)).sum(axis=1) >= 2)
    if len(table.judges) < 2 or table.size < FEWEST_ITEMS:
        return None
    noise, repeated = _label_noise(table)
    sums = _Sums.of(table.errors, table, noise)
    draws = [portion.copy() for portion in _draws(table.size, sums.parts.shape[1], resamples, seed)]
    _, kinds = np.unique(np.nan_to_num(table.errors.round(9), nan=np.inf), axis=0, return_inverse=True)
    different = table.items[kinds.ravel() != np.bincount(kinds.ravel()).argmax()]  # have other errors than the most frequent ones
    judges, enough = len(table.judges), np.unique(different).size >= FEWEST_DIFFERENT
    freedom = len(table.items) - np.unique(table.criteria).size if enough else 0
    correlation = sums.estimate(draws, freedom, subtract=False)
    without, spread = None, None
    if repeated >= FEWEST_ITEMS:
        estimate = sums.estimate(draws, freedom, subtract=True)
        if estimate.value is not None:
            without, spread = _as_judges(estimate, judges), sqrt(float(noise.mean()))
    return EffectiveJudges(
        judges=judges,
        items=table.size,
        units=len(table.items),
        value=_as_judges(correlation, judges),
        correlation=correlation,
        without_noise=without,
        people_noise=spread,
    )


def _label_noise(table: JuryTable) -> tuple[Column, int]:
    """The variance of each unit's mean label from raters' disagreement, and how many items have two raters.

    Units of one rater get the mean variance of a label.
    """
    labels = (~np.isnan(table.labels)).sum(axis=1)
    apart = np.where(np.isnan(table.labels), 0.0, table.labels - table.people[:, None])
    twice = labels > 1
    if not twice.any():
        return np.zeros(len(labels)), 0
    variances = (apart**2).sum(axis=1) / np.maximum(labels - 1, 1)
    typical = float((variances * (labels - 1))[twice].sum() / (labels - 1)[twice].sum())
    noise: Column = np.where(twice, variances, typical) / np.maximum(labels, 1)
    return noise, np.unique(table.items[twice]).size


def _draws(items: int, sums: int, resamples: int, seed: int) -> Iterator[Matrix]:
    """How often each of `resamples` draws each item: in portions, of which each is written over by the next."""
    generator, chances = np.random.default_rng(seed), np.full(items, 1 / items)
    step = max(1, min(BATCH_CELLS // sums, _DRAWN_AT_ONCE // items))
    drawn = np.empty((min(step, resamples), items))
    for start in range(0, resamples, step):
        portion = drawn[: resamples - start]
        for row in portion:
            row[:] = generator.multinomial(items, chances)
        yield portion


class _Sums(NamedTuple):
    """Sums over each item's units for each pair of judges and each criterion.

    `parts` has six columns for each pair and criterion: count, both sums, both sums of squares, and the sum of products. `shared`
    is the part of an unseen item on which all judges make the farthest error.
    """

    parts: Matrix
    shared: Column
    noise: Matrix
    judges: int
    criteria: int

    @classmethod
    def of(cls, values: Matrix, table: JuryTable, noise: Column) -> "_Sums":
        judges, criteria = values.shape[1], int(table.criteria.max()) + 1
        centred = values - np.nanmean(values, axis=0)  # for the digits of the sums of squares
        pairs = list(combinations(range(judges), 2))
        parts = np.zeros((table.size, len(pairs), criteria, 6))
        for pair, (left, right) in enumerate(pairs):
            first, second = centred[:, left], centred[:, right]
            both = ~np.isnan(first) & ~np.isnan(second)
            terms = np.stack([np.ones(len(both)), first, second, first**2, second**2, first * second], axis=1)
            terms[~both] = 0.0
            np.add.at(parts[:, pair], (table.items, table.criteria), terms)
        noise_sums = summed(np.stack([np.ones(len(noise)), noise], axis=1), table.items, table.size)
        worst = float(np.nanmax(np.abs(centred)))
        units = np.bincount(table.criteria, minlength=criteria) / table.size
        shared = np.multiply.outer(units, [1.0, worst, worst, worst**2, worst**2, worst**2]).ravel()
        return cls(parts.reshape(table.size, -1), np.tile(shared, len(pairs)), noise_sums, judges, criteria)

    def moments(self, drawn: Matrix) -> Matrix:
        """Of each sample (the sums of its parts) and pair: both variances and the covariance, within criteria."""
        pairs = self.judges * (self.judges - 1) // 2
        sums = drawn.reshape(len(drawn), pairs, self.criteria, 6)
        count = np.maximum(sums[..., 0], TINY)
        products = np.stack([sums[..., 1] ** 2, sums[..., 2] ** 2, sums[..., 1] * sums[..., 2]], axis=-1) / count[..., None]
        freedom = np.maximum((sums[..., 0] - (sums[..., 0] > 0)).sum(axis=2), 1.0)
        moments: Matrix = (sums[..., 3:] - products).sum(axis=2) / freedom[..., None]
        return moments

    def correlations(self, drawn: Matrix, noise_sums: Matrix, *, subtract: bool) -> Column:
        """The mean correlation of two judges in each sample, with people's noise or without; NaN where no pair has one."""
        moments = self.moments(drawn)
        if subtract:
            noise = (noise_sums[:, 1] / noise_sums[:, 0])[:, None, None]
            least = (moments[..., :2] * (1 - _HIDDEN)).min(axis=-1, keepdims=True)
            moments = np.where(noise >= least, np.nan, moments - noise)
        spread = np.sqrt(np.maximum(moments[..., 0], 0.0) * np.maximum(moments[..., 1], 0.0))
        is_spread = spread > TINY
        values = np.where(is_spread, moments[..., 2] / np.where(is_spread, spread, 1.0), 0.0).clip(-1.0, 1.0)
        pairs = is_spread.sum(axis=1)
        enough = (pairs == is_spread.shape[1]) if subtract else (pairs > 0)
        correlations: Column = np.where(enough, values.sum(axis=1) / np.maximum(pairs, 1), np.nan)
        return correlations

    def estimate(self, draws: Sequence[Matrix], freedom: int, *, subtract: bool) -> Estimate:
        """The mean correlation of two judges; without a value where people's noise hides it, or hardly an error differs.

        `draws` are portions of resamples × items.
        """
        parts, noise, items, judges = self.parts.sum(axis=0), self.noise.sum(axis=0), len(self.parts), self.judges
        both = np.stack([parts, parts + _UNSEEN * self.shared])
        value, with_unseen = self.correlations(both, np.stack([noise, noise]), subtract=subtract).tolist()
        if np.isnan(value) or freedom < 3:
            return Estimate(reason="constant")
        drawn = np.concatenate([self.correlations(draw @ self.parts, draw @ self.noise, subtract=subtract) for draw in draws])
        kept = drawn[~np.isnan(drawn)]
        if kept.size < (1 - _MOST_LOST) * drawn.size:
            return Estimate(reason="few")
        normal = sqrt(judges / (2 * (judges - 1) * max(1, freedom - 2)))
        left_out = self.correlations(parts - self.parts, noise - self.noise, subtract=subtract)
        jackknife = sqrt(items - 1) * float(_z_of(np.where(np.isnan(left_out), value, left_out), judges).std())
        half = critical_t(items - 1) * max(normal, jackknife, float(_z_of(kept, judges).std()) if kept.size else 0.0)
        centre, shared = _z_of(np.array([value, np.nanmax([value, with_unseen])]), judges).tolist()
        return Estimate(value=value, low=_from_z(centre - half, judges), high=_from_z(shared + half, judges))


def _z_of(correlations: Column, judges: int) -> Column:
    """Fisher's z of intraclass correlations: ½ log((1 + (N − 1) ρ) / (1 − ρ))."""
    kept = correlations.clip(-1 / (judges - 1) + _EDGE, 1 - _EDGE)
    z_values: Column = np.log((1 + (judges - 1) * kept) / (1 - kept)) / 2
    return z_values


def _from_z(z: float, judges: int) -> float:
    half = log(judges - 1) / 2  # (e^2z − 1) / (e^2z + N − 1), without overflow
    share = (1 + tanh(z - half)) / 2
    return share - (1 - share) / (judges - 1)


def _as_judges(correlation: Estimate, judges: int) -> Estimate:
    if correlation.value is None or correlation.low is None or correlation.high is None:
        return Estimate(reason=correlation.reason)
    return Estimate(value=kish(correlation.value, judges), low=kish(correlation.high, judges), high=kish(correlation.low, judges))


def most_judges(table: JuryTable, *, resamples: int = RESAMPLES, seed: int = 0) -> Estimate | None:
    """At most how many independent judges a jury is worth, as far as can be told without labels; in [1, N].

    One more than the participation ratio (Σλ)² / Σλ² of the residuals' covariance, with eigenvalues λ. A residual is a score
    minus the mean of the scores, each judge in units of its own noise, so that a noisy judge does not dominate; the own noise
    follows from the variances of the differences between judges (F. E. Grubbs, "On estimating precision of measuring instruments
    and product variability", JASA 43, 1948). N judges that err independently give N, k groups of identical judges k. An error in
    common to all is not seen, so the true number may be far smaller.

    The interval is of the limit, not of the number of independent judges: the middle 95 % of the bootstrap over items.

    Args:
        table: labels are not used; judges that scored under half of the units are left out, then units without a score of each.

    Returns:
        None under three judges, where nothing can be told, or under `FEWEST_ITEMS` items.
    """
    table = table.regular
    table = table.only((~np.isnan(table.scores)).sum(axis=1) == len(table.judges))
    if len(table.judges) < 3 or table.size < FEWEST_ITEMS:
        return None
    sums = _Sums.of(table.scores, table, np.zeros(len(table.items)))
    value = _limits(_covariances(sums.moments(sums.parts.sum(axis=0, keepdims=True)), len(table.judges)))[0]
    draws = _draws(table.size, sums.parts.shape[1], resamples, seed)
    limits = np.concatenate([_limits(_covariances(sums.moments(some @ sums.parts), len(table.judges))) for some in draws])
    low, high = np.quantile(limits, [0.025, 0.975])
    return Estimate(value=float(value), low=float(low), high=float(high))


def _covariances(moments: Matrix, judges: int) -> Matrix:
    """The judges' covariance matrix of each resample, from the moments of pairs that share their units."""
    covariances: Matrix = np.zeros((len(moments), judges, judges))
    for at, (left, right) in enumerate(combinations(range(judges), 2)):
        covariances[:, left, right] = covariances[:, right, left] = moments[:, at, 2]
        covariances[:, left, left], covariances[:, right, right] = moments[:, at, 0], moments[:, at, 1]
    return covariances


def _limits(covariances: Matrix) -> Column:
    """One more than the participation ratio of residuals around the mean, each judge in units of its own noise."""
    judges = covariances.shape[1]
    variances = np.diagonal(covariances, axis1=1, axis2=2)
    apart = variances[:, :, None] + variances[:, None, :] - 2 * covariances  # variances of differences
    rows = apart.sum(axis=2)
    shares = (rows - rows.sum(axis=1, keepdims=True) / (2 * (judges - 1))) / (judges - 2)
    least = _LEAST_NOISE * apart.sum(axis=(1, 2)) / (2 * judges * (judges - 1))
    shares = np.maximum(shares, np.maximum(least, TINY)[:, None])
    units = 1 / np.sqrt(shares)
    direction = units / np.linalg.norm(units, axis=1, keepdims=True)
    scaled = covariances * units[:, :, None] * units[:, None, :]
    project = np.eye(judges) - direction[:, :, None] * direction[:, None, :]
    residual = project @ scaled @ project
    total, squares = np.trace(residual, axis1=1, axis2=2), (residual**2).sum(axis=(1, 2))
    ratio = np.divide(total**2, squares, out=np.zeros_like(total), where=squares > TINY)
    counts: Column = (1 + ratio).clip(1.0, judges)
    return counts
