"""A comparison of two streams of scores that may be looked at every day.

A fixed test that is repeated each day finds a difference sooner or later where there is none. Here a bettor who starts with 1
bets each day on the differences of that day: where the mean difference is as supposed, the expected capital never grows,
so that it ever reaches 1/α with a chance of at most α, at any moment of inspection (Ville's inequality). The capital is a mean
over fixed bets, small and large. The interval holds every mean difference against which no bettor has won yet: it is valid on all
days at once. Scores need only be bounded. Source: I. Waudby-Smith, A. Ramdas, "Estimating means of bounded random variables by
betting" (Journal of the Royal Statistical Society B 86, 2024).

Answers of one day are compared with each other alone, so that a change of all traffic from day to day does not matter.
"""

from collections.abc import Sequence

import numpy as np
from msgspec import Struct

from areopage.scoring import ALPHA, Column

_BETS = np.geomspace(0.01, 0.95, 12)
"""Shares of what can be lost at most."""
_SHUFFLES = 4
_MOST_BLOCKS = 500
_CLOSE, _TOLERANCE = 1e-4, 1e-9


class SequentialDifference(Struct, frozen=True, kw_only=True):
    """The mean difference first − second over all days so far.

    Args:
        blocks: the differences that were bet on.
        difference: their mean over the days, in units of the scale; None without any.
        low, high: the interval at 1 − α that holds on all days at once.
        p_value: valid at any moment of inspection, in [0, 1]; it never rises from one day to the next.
        found_on: the number of the day, from 0, on which the p-value fell under α; None where it has not.
    """

    blocks: int
    difference: float | None
    low: float
    high: float
    p_value: float
    found_on: int | None = None


def day_blocks(first: Column, second: Column, random: np.random.Generator) -> Column:
    """Pair the scores of one day by chance, those of the more frequent side in groups: differences of shape (shuffles, blocks).

    How they are paired depends on how many there are, not on the scores, which come in any order. Several pairings are made,
    whose capitals are averaged, so that chance has less of a part.
    """
    blocks = min(len(first), len(second), _MOST_BLOCKS)
    made = np.empty((_SHUFFLES, blocks))
    if blocks:
        for shuffle in made:
            means: list[Column] = []
            for side in (first, second):
                scores, places = random.permutation(side), np.arange(len(side)) % blocks
                sums = np.bincount(places, weights=scores, minlength=blocks)
                means.append(sums / np.bincount(places, minlength=blocks))
            shuffle[:] = means[0] - means[1]
    return made


def sequential_difference(days: Sequence[Column], *, span: float, alpha: float = ALPHA) -> SequentialDifference:
    """Compare two streams of scores.

    Args:
        days: the differences of each day, first − second, in the order of the days; each of shape (pairings, blocks), as
            `day_blocks` makes them, or (1, pairs) where the sides answered the same questions.
        span: the width of the scale: no difference is greater.
        alpha: the chance of a false alarm over all days together.
    """
    shares = [day / span for day in days if day.size]
    blocks = sum(day.shape[1] for day in shares)
    if not blocks:
        return SequentialDifference(blocks=0, difference=None, low=-span, high=span, p_value=1.0)
    numbers = [number for number, day in enumerate(days) if day.size]
    best = best_capitals(shares)
    won = np.flatnonzero(best > np.log(2.0 / alpha))
    total = sum(float(day.mean()) * day.shape[1] for day in shares)
    return SequentialDifference(
        blocks=blocks,
        difference=total / blocks * span,
        low=_lowest(shares, alpha) * span,
        high=-_lowest([-day for day in shares], alpha) * span,
        p_value=float(min(1.0, 2.0 * np.exp(-best[-1]))),
        found_on=numbers[int(won[0])] if won.size else None,
    )


def best_capitals(days: Sequence[Column]) -> Column:
    """The logarithm of the greatest capital by each day of two bettors, that the first side is better and that it is worse.

    Differences are in shares of the scale.
    """
    up, down = (_capitals([sign * day for day in days], 0.0) for sign in (1.0, -1.0))
    best: Column = np.maximum.accumulate(np.maximum(up, down))
    return best


def _capitals(days: Sequence[Column], mean: float) -> Column:
    """The logarithm of the capital after each day of a bettor that the mean difference is greater than a supposed one.

    A difference lies from −1 to 1, so that at most 1 + mean is lost: a bet c turns 1 into 1 − c + c·(1 + D)/(1 + mean).
    """
    total, capitals = np.zeros(len(_BETS)), np.empty(len(days))
    for number, day in enumerate(days):
        gains = (1.0 + day) / max(1.0 + mean, _TOLERANCE) - 1.0
        by_pairing = np.log1p(np.multiply.outer(_BETS, gains)).sum(axis=2)
        total += _log_mean(by_pairing, axis=1)
        capitals[number] = _log_mean(total, axis=0)
    return capitals


def _log_mean(logs: Column, axis: int) -> Column:
    """The logarithm of the mean of the exponentials along an axis."""
    most = logs.max(axis=axis, keepdims=True)
    means: Column = np.squeeze(most, axis) + np.log(np.exp(logs - most).mean(axis=axis))
    return means


def _lowest(days: Sequence[Column], alpha: float) -> float:
    """The least mean difference against which no bettor has won on any day; a capital falls as the mean rises."""
    low, high = -1.0, 1.0
    while high - low > _CLOSE:
        middle = (low + high) / 2.0
        if _capitals(days, middle).max() < np.log(2.0 / alpha):
            high = middle
        else:
            low = middle
    return low
