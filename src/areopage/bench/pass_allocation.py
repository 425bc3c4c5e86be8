"""Which passes a run adds to its first ones, and why: a pure function of the scores so far and of the settings.

A run goes in rounds. In the first one every judge judges every case on every criterion `start` times. Each further round adds one
pass where it may change a decision, or where the interval of a case's score is wide. A round is planned from the scores of all
rounds before it, once none of their calls is open. A replay of the rounds over the same scores gives the same plan.

The stopping depends on the scores, which would bias their averages: a case that happens to score high may stop early and keep
what it happened to get. So averages over cases rest on the first `start` passes, which every case has; the passes that are added
decide about single cases. See `StoppingShift`.

The noise of a judge's passes over one item is shrunk to what the judge shows on other items (empirical Bayes). An item is a judge
on one criterion of one case. Few items have enough passes for a variance of their own, so each variance is drawn to that of its
group (the judge on the criterion), a group's to that of the judge, and a judge's to that of the jury. An item's own passes only
raise its variance: a few equal passes prove little, since a rare low score may not have come yet.

Source of the shrinkage: G. K. Smyth, "Linear models and empirical Bayes methods for assessing differential expression in
microarray experiments" (2004): a scaled inverse χ² prior with ν degrees of freedom gives (ν·pool + SS)/(ν + df). ν is taken from
the second moment of the items' variances, since scores on a scale of points have many variances of 0, which have no logarithm.
"""

from collections.abc import Sequence
from math import sqrt
from statistics import NormalDist, fmean, variance
from typing import ClassVar

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from areopage.bench.pass_settings import PassSettings
from areopage.scoring import Column, Flags, Matrix, Places

Reasons = NDArray[np.int8]

START, PILOT, FLOOR, DECISION, PRECISION = range(5)
NONE = -1

PILOT_ITEMS = 8
"""Items of a judge and criterion, at least, that get a second pass where one is the start, drawn without regard to scores."""
PILOT_OF_JUDGE = 32
"""Items of a judge over all criteria, at least: from fewer, equal passes by chance would look like a judge without noise."""
NEAR_BEST = 0.5
"""Of a case's judges, those get a pass whose gain is at least this share of the best one's."""
PRIOR_DEVIATION = 0.1
"""Standard deviation of a pass, as a share of the scale, that is assumed before any item has two scores."""
LEAST_STRENGTH = 4.0
"""Degrees of freedom of the prior at least, where the items' variances differ without bound."""
MOST_STRENGTH = 100.0
USUAL_STRENGTH = 8.0
"""The prior's degrees of freedom where fewer than `MIN_REPEATED` items have two passes."""
MIN_REPEATED = 30
POOL_STRENGTH = 4.0
"""Degrees of freedom with which a group's variance is drawn to its judge's, and a judge's to the jury's."""

MIN_CASES = 5
"""With fewer cases the shift of early stopping has no interval."""

_Z_95 = NormalDist().inv_cdf(0.975)


class PassFloor(Struct, frozen=True):
    """A release floor: at most `allowed` cases may fail any of the pairs in `pairs` (a mask over pairs)."""

    allowed: int
    pairs: Flags


class PassItems(Struct, frozen=True, kw_only=True):
    """What is known of a run's items: a judge on a pair, which is a case (or one reply of it) and a criterion.

    Args:
        scores: items × passes, on the suite's scale; NaN where a pass gave no score or was not made.
        closed: items × passes: a call has a result that no other try could change.
        unread: items × passes: the judge answered, and no verdict could be read; another pass may bring one.
        costs: items × passes, 0 where nothing is known.
        most: how many passes an item may have: `PassSettings.most`, or 1 of a judge that is code.
        pair, group, judge: the numbers of each item's pair, of its judge and criterion together, and of its judge, from 0.
        order: a number that orders items at random, the same in every process.
        limits: of each pair, the score from which on it is a failure.
        case, criterion: of each pair, the numbers of its case and of its criterion, from 0.
        floors: the floors that count failing cases.
        span: the width of the scale.
        higher_is_better: scores at or under their limit are failures; else those at or over it.
    """

    scores: Matrix
    closed: Flags
    unread: Flags
    costs: Matrix
    most: Places
    pair: Places
    group: Places
    judge: Places
    order: Column
    limits: Column
    case: Places
    criterion: Places
    floors: tuple[PassFloor, ...] = ()
    span: float
    higher_is_better: bool = True


class PassPlan(Struct, frozen=True, kw_only=True):
    """The passes of a run so far.

    Args:
        passes: of each item.
        reasons: items × passes, indices of `REASONS`; −1 where no pass is planned.
        rounds: how many there are, the first included.
        waiting: a call of the last round is open, so that no further round can be planned.
        unsettled: of each pair: it would get another pass if it could.
        spent: a budget kept passes from being added.
    """

    REASONS: ClassVar[tuple[str, ...]] = ("start", "pilot", "floor", "decision", "precision")
    """Why a pass is made: every item has it; to learn how noisy the judges are; because a release floor depends on the case;
    because it is not settled whether the score is a failure; because the interval of the score is wide."""

    passes: Places
    reasons: Reasons
    rounds: int
    waiting: bool
    unsettled: Flags
    spent: bool

    @staticmethod
    def of(items: PassItems, settings: PassSettings, made: Places | None = None) -> "PassPlan":
        """Replay a run's rounds over the scores that it has.

        Args:
            made: passes that the run has made already, of each item. They differ from the plan only where a reading of a judge's
                answer changed afterwards; then they are kept, for they are paid.

        Returns:
            All passes up to the first round with an open call, or to the end.
        """
        plan = _replay(items, settings, np.minimum(settings.start, items.most))
        if made is not None and (made > plan.passes).any():
            plan = _replay(items, settings, np.maximum(np.minimum(settings.start, items.most), made))
        return plan


def _replay(items: PassItems, settings: PassSettings, first: Places) -> PassPlan:
    passes, numbers = first.copy(), np.arange(items.scores.shape[1])
    reasons = np.where(numbers < np.minimum(first, settings.start)[:, None], START, NONE).astype(np.int8)
    reasons[(numbers >= settings.start) & (numbers < first[:, None])] = PRECISION
    nothing = np.zeros(items.limits.size, dtype=bool)
    for count in range(1, 2 + int(np.maximum(items.most - first, 0).sum())):
        planned = numbers < passes[:, None]
        if (planned & ~items.closed).any():
            return PassPlan(passes=passes, reasons=reasons, rounds=count, waiting=True, unsettled=nothing, spent=False)
        following = _next_round(items, settings, passes, planned, pilot=count == 1 and settings.start == 1)
        if not following.added.size:
            break
        reasons[following.added, passes[following.added]] = following.reasons
        passes[following.added] += 1
    return PassPlan(
        passes=passes, reasons=reasons, rounds=count, waiting=False, unsettled=following.unsettled, spent=following.spent
    )


class _AddedPasses(Struct, frozen=True):
    """The items that get one more pass, with the reasons; pairs that would get one if they could; whether a budget is spent."""

    added: Places
    reasons: Reasons
    unsettled: Flags
    spent: bool


def _next_round(items: PassItems, settings: PassSettings, passes: Places, planned: Flags, *, pilot: bool) -> _AddedPasses:
    scores = np.where(planned, items.scores, np.nan)
    counts = (~np.isnan(scores)).sum(axis=1)
    noise = item_noise(scores, items.group, items.judge, (PRIOR_DEVIATION * items.span) ** 2)
    state = _pair_state(items, settings, scores, counts, noise)
    unread = (passes < items.most) & (counts == 0) & (planned & items.unread).any(axis=1)
    may = (passes < items.most) & ((counts > 0) | unread)
    if pilot and (drawn := _pilot(items, may)).any():
        reasons = np.full(passes.size, PILOT, dtype=np.int8)
        return _affordable(items, settings, planned, drawn, reasons, -items.order, state != NONE)
    gains = np.where(may, noise / (np.maximum(counts, 1) * (counts + 1.0)), 0.0) / _judges_of(items, counts)[items.pair] ** 2
    best = np.zeros(items.limits.size)
    np.maximum.at(best, items.pair, gains)
    wanted = may & (state[items.pair] != NONE) & (gains >= NEAR_BEST * best[items.pair]) | unread
    reasons = np.where(state[items.pair] == NONE, PRECISION, state[items.pair]).astype(np.int8)
    return _affordable(items, settings, planned, wanted, reasons, gains, state != NONE)


def _pair_state(items: PassItems, settings: PassSettings, scores: Matrix, counts: Places, noise: Column) -> Reasons:
    """Why each pair needs another pass; `NONE` where it does not."""
    pairs, is_scored = items.limits.size, counts > 0
    judges = _judges_of(items, counts)
    means = np.nansum(scores, axis=1) / np.maximum(counts, 1)
    level = np.bincount(items.pair, np.where(is_scored, means, 0.0), pairs) / judges
    error = np.sqrt(np.bincount(items.pair, np.where(is_scored, noise / np.maximum(counts, 1), 0.0), pairs)) / judges
    least = np.sqrt(np.bincount(items.pair, np.where(is_scored, noise / items.most, 0.0), pairs)) / judges
    has_score = np.bincount(items.pair, is_scored, pairs) > 0
    apart = level - items.limits if items.higher_is_better else items.limits - level
    open_ = has_score & (np.abs(apart) <= settings.decided_at * error)
    state = np.full(pairs, NONE, dtype=np.int8)
    wide = has_score & (_Z_95 * error > settings.precision)
    if settings.reliability is not None:
        wide &= _reliability(items.criterion, level, error, least, has_score) < settings.reliability
    state[wide] = PRECISION
    state[open_] = DECISION
    fails = has_score & (apart <= 0)
    for floor in items.floors:
        state[_deciding(floor, items.case, open_, fails & ~open_)] = FLOOR
    return state


def _reliability(criterion: Places, level: Column, error: Column, least: Column, has_score: Flags) -> Column:
    """The reliability of each pair's criterion over the one that it would have with all passes, in [0, 1].

    It is 0 where fewer than two pairs of the criterion have a score.

    Args:
        level, error, least: the score of each pair, and its standard error now and with all passes; `has_score`: it has a score.
    """
    counts = np.maximum(np.bincount(criterion, has_score), 1.0)

    def mean_of(values: Column) -> Column:
        means: Column = np.bincount(criterion, np.where(has_score, values, 0.0)) / counts
        return means

    spread = mean_of((level - mean_of(level)[criterion]) ** 2) * counts / np.maximum(counts - 1.0, 1.0)
    noise, rest = mean_of(error**2), mean_of(least**2)
    true = np.maximum(spread - noise, 0.0)
    reliability: Column = np.where(counts > 1, (true + rest) / np.maximum(true + noise, np.finfo(float).tiny), 0.0)
    return reliability[criterion]


def _judges_of(items: PassItems, counts: Places) -> Column:
    """How many judges have scored each pair; at least 1, since it divides."""
    judges: Column = np.maximum(np.bincount(items.pair, counts > 0, items.limits.size), 1).astype(np.float64)
    return judges


def _deciding(floor: PassFloor, case: Places, open_: Flags, fails: Flags) -> Flags:
    """The pairs of a floor whose verdict depends on them; none where it is settled whichever way they go."""
    cases = int(case.max(initial=-1)) + 1
    failed = np.bincount(case, fails & floor.pairs, cases) > 0
    doubtful = (np.bincount(case, open_ & floor.pairs, cases) > 0) & ~failed
    if failed.sum() > floor.allowed or failed.sum() + doubtful.sum() <= floor.allowed:
        return np.zeros(case.size, dtype=bool)
    deciding: Flags = open_ & floor.pairs & doubtful[case]
    return deciding


def _pilot(items: PassItems, may: Flags) -> Flags:
    """The first items of each group in random order."""
    drawn = np.zeros(may.size, dtype=bool)
    groups_of = {judge: np.unique(items.group[items.judge == judge]).size for judge in np.unique(items.judge)}
    quota = np.array([max(PILOT_ITEMS, -(-PILOT_OF_JUDGE // groups_of[judge])) for judge in items.judge], dtype=np.intp)
    ordered = np.lexsort((np.arange(may.size), items.order, items.group))
    ordered = ordered[may[ordered]]
    groups = items.group[ordered]
    begins = np.searchsorted(groups, groups, side="left")
    drawn[ordered[np.arange(groups.size) - begins < quota[ordered]]] = True
    return drawn


def _affordable(
    items: PassItems, settings: PassSettings, planned: Flags, wanted: Flags, reasons: Reasons, gains: Column, unsettled: Flags
) -> _AddedPasses:
    """The wanted items that the budgets pay for: those of the first reason before others, the greatest gain first.

    A call that was not made yet counts as much as the dearest one of its judge.
    """
    items_wanted = np.flatnonzero(wanted)
    dearest = np.zeros(int(items.judge.max(initial=-1)) + 1)
    np.maximum.at(dearest, items.judge, np.where(planned, items.costs, 0.0).max(axis=1, initial=0.0))
    prices = dearest[items.judge]
    worth = gains / prices if settings.cost is not None and (prices > 0).all() else gains
    items_wanted = items_wanted[np.lexsort((items_wanted, -worth[items_wanted], reasons[items_wanted]))]
    kept = np.ones(items_wanted.size, dtype=bool)
    if settings.calls is not None:
        kept &= np.arange(items_wanted.size) < settings.calls - int(planned.sum())
    if settings.cost is not None:
        kept &= np.cumsum(prices[items_wanted]) <= settings.cost - float(items.costs[planned].sum())
    added = items_wanted[kept]
    return _AddedPasses(added, reasons[added], unsettled, bool(items_wanted.size > added.size))


# --- noise


def item_noise(scores: Matrix, groups: Places, judges: Places, prior: float) -> Column:
    """Estimate the variance of one pass for each item.

    Args:
        scores: items × passes, on the suite's scale; NaN where a pass gave no score or was not made.
        groups: of each item, the number of its judge and criterion together, from 0.
        judges: of each item, the number of its judge, from 0.
        prior: a variance that counts as one degree of freedom of the whole jury: what is assumed before any item has two scores.

    Returns:
        A positive variance for each item, in squared units of the scale.
    """
    is_scored = ~np.isnan(scores)
    counts = is_scored.sum(axis=1)
    means = np.where(is_scored, scores, 0.0).sum(axis=1) / np.maximum(counts, 1)
    squares: Column = (np.where(is_scored, scores - means[:, None], 0.0) ** 2).sum(axis=1)
    freedom = np.maximum(counts - 1, 0).astype(np.float64)
    jury = (squares.sum() + prior) / (freedom.sum() + 1.0)
    by_judge = _drawn(squares, freedom, judges, np.full(judges.size, jury))
    pools = _drawn(squares, freedom, groups, by_judge)
    strength = _strength(squares, freedom, pools)
    variances: Column = np.maximum(pools, (strength * pools + squares) / (strength + freedom))
    return variances


def _drawn(squares: Column, freedom: Column, groups: Places, centre: Column) -> Column:
    """The pooled variance of each item's group, drawn to a centre that all items of the group share."""
    sums, weights = np.bincount(groups, squares), np.bincount(groups, freedom)
    drawn: Column = (sums[groups] + POOL_STRENGTH * centre) / (weights[groups] + POOL_STRENGTH)
    return drawn


def _strength(squares: Column, freedom: Column, pools: Column) -> float:
    """The degrees of freedom of the prior, from how much the items' variances differ beyond chance.

    A variance over its pool, from d degrees of freedom, has the mean 1 and the variance 2/d·(1 + c) + c, where c is the squared
    coefficient of variation of the true variances; a scaled inverse χ² has c = 2/(ν − 4).
    """
    repeated = freedom > 0
    if repeated.sum() < MIN_REPEATED:
        return USUAL_STRENGTH
    apart = float(((squares[repeated] / freedom[repeated] / pools[repeated] - 1.0) ** 2).mean())
    chance = float((2.0 / freedom[repeated]).mean())
    differing = (apart - chance) / (1.0 + chance)
    if differing <= 0:
        return MOST_STRENGTH
    return min(MOST_STRENGTH, LEAST_STRENGTH + 2.0 / differing)


# --- early stopping


class StoppingShift(Struct, frozen=True, kw_only=True):
    """How far all passes lie from the first ones, on average over cases: what early stopping does to averages.

    The mean of an item's passes is biased where its own scores decide when it stops: a score far from its limit stops, and keeps
    the noise that took it there. The mean of the first passes, whose number no score decides, is unbiased. So the difference of
    the two, averaged over cases, estimates the bias without bias.

    Args:
        first: the mean of the scores by the first passes alone, on the suite's scale.
        all: the mean of the scores by all passes.
        shift: `all` − `first`, an unbiased estimate of the bias of `all`; low, high: its 95 % interval, None under five cases.
        cases: how many have both scores.
    """

    first: float
    all: float
    shift: float
    low: float | None
    high: float | None
    cases: int

    @classmethod
    def of(cls, first: Sequence[float], every: Sequence[float]) -> "StoppingShift | None":
        """Compare the scores of cases by their first passes with those by all of their passes.

        Args:
            first, every: of the same cases, in the same order.

        Returns:
            None without a case.
        """
        apart = [late - early for early, late in zip(first, every, strict=True)]
        if not apart:
            return None
        shift = fmean(apart)
        half = _Z_95 * sqrt(variance(apart) / len(apart)) if len(apart) >= MIN_CASES else None
        return cls(
            first=fmean(first),
            all=fmean(every),
            shift=shift,
            low=None if half is None else shift - half,
            high=None if half is None else shift + half,
            cases=len(apart),
        )
