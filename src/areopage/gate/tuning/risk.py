"""Thresholds from labelled answers that keep a stated risk with a stated certainty.

Two risks are distinguished, since either is called "ungrounded answers delivered":

- `delivered`: of the answers that are delivered, the share that is ungrounded. What a reader meets. It need not grow with the
  threshold, so that it is a matter for hypothesis tests: learn then test (A. N. Angelopoulos, S. Bates, E. J. Candès,
  M. I. Jordan, L. Lei, "Learn then Test: Calibrating Predictive Algorithms to Achieve Risk Control", 2021), as selective
  classification did before (Y. Geifman, R. El-Yaniv, "Selective Classification for Deep Neural Networks", 2017).
- `all`: of all answers, the share that is ungrounded and delivered. It grows with the threshold. It is never more than the first,
  and small where little is delivered or the model seldom errs.

Both hold with the confidence asked for. `average` bounds the second risk on average over draws of labelled answers, without a
confidence: conformal risk control (A. N. Angelopoulos, S. Bates, A. Fisch, L. Lei, T. Schuster, "Conformal Risk Control", 2022).

Where every answer is an independent witness the tests are exact: of the answers under a threshold fixed beforehand, the wrong
ones are binomial. Where several share a group, each group counts by the mean of its answers, and the test bets against the risk
(I. Waudby-Smith, A. Ramdas, "Estimating means of bounded random variables by betting", 2024): a capital that is multiplied for
each group grows beyond 1 / level with a probability of at most that level if the risk is missed. It is the mean of the capitals
of some fixed bets, so that the order of the groups does not matter. Thresholds of a fixed grid are tested from the strictest to
the loosest, each only after the one before was certified, so that one level serves for all (fixed sequence testing). Of the
certified ones, those that deliver most are equally good on the labels: the strictest of them is chosen. The strictest ones
deliver too few answers to be certified by any result: testing starts where there are enough. A single unlucky answer there would
end it, so the level is shared by up to three starts, at twice the answers each, and a sequence that reaches a later start lends
it its level (fallback procedure, B. L. Wiens, 2003). Where to start is told by counts of answers, never by their labels; the
guarantee is exact where the share of ungrounded answers does not fall as more is delivered, which a score that is of any use
keeps to.
"""

import math
from collections.abc import Sequence
from typing import Literal

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from areopage.scoring import at_most, upper_bound

Control = Literal["delivered", "all", "average"]
CONTROLS: tuple[Control, ...] = ("delivered", "all", "average")

GRID: tuple[float, ...] = tuple(round(1.0 / (1.0 + math.exp(-step / 10)), 5) for step in range(-70, 71))
"""The thresholds that are tested: even steps of log odds, from 0.00091 to 0.99909."""

STARTS = 3
APART = 2
BETS = (1.0, 0.8, 0.6, 0.4, 0.2)
"""Shares of the highest bet that no group can lose more than all by."""
_ROUNDING = 1e-12
_HALVINGS = 40
_MOST_NEEDED = 10_000_000


class Groups(Struct, frozen=True, eq=False):
    """Of each group, the share of its answers that is taken, and the share that is taken wrongly."""

    taken: NDArray[np.float64]
    wrong: NDArray[np.float64]


class ThresholdStep(Struct, frozen=True, kw_only=True):
    """What a threshold does to the labelled answers: how many are taken (score up to the threshold), how many of them wrongly.

    With `groups`, where several answers share one, both are sums of the groups' shares.
    """

    threshold: float
    taken: float
    wrong: float
    groups: Groups | None = None


class Needed(Struct, frozen=True, kw_only=True):
    """How many labelled answers it takes: if no delivered one is wrong, and if the share of wrong ones stays at `share`."""

    least: int
    likely: int | None
    share: float | None


def steps_of(
    scores: Sequence[float], wrong: Sequence[bool], grid: Sequence[float] = GRID, units: Sequence[str] = ()
) -> tuple[ThresholdStep, ...]:
    """Count over a grid that rises. An answer that is never taken has the score infinity."""
    grouped = len(set(units)) < len(units)
    units_of = np.unique(units, return_inverse=True)[1] if grouped else np.arange(len(scores))
    sizes = np.bincount(units_of)
    steps = []
    for threshold in grid:
        taken = np.array(scores) <= threshold
        groups = Groups(
            np.bincount(units_of, weights=taken) / sizes, np.bincount(units_of, weights=taken & np.array(wrong)) / sizes
        )
        both = float(groups.taken.sum()), float(groups.wrong.sum())
        steps.append(ThresholdStep(threshold=threshold, taken=both[0], wrong=both[1], groups=groups if grouped else None))
    return tuple(steps)


def certify(
    steps: Sequence[ThresholdStep],
    rows: int,
    risk: float,
    confidence: float,
    control: Control = "delivered",
    present: float | None = None,
) -> ThresholdStep | None:
    """A threshold that delivers as many as the loosest that keeps the risk (see `on_plateau`); None where none is certain to."""
    if control == "average":
        return on_plateau([step for step in steps if (step.wrong + 1) / (rows + 1) <= risk], present)
    starts = starting_counts(rows, risk, 1.0 - confidence) if control == "delivered" else [1]
    share = (1.0 - confidence) / len(starts)
    waiting = list(starts)
    certified: list[ThresholdStep] = []
    carried = 0.0
    for step in steps:
        total = 0.0
        base = step.taken if control == "delivered" else rows
        while waiting and base >= waiting[0]:
            waiting.pop(0)
            total += share
        level = carried + total
        if level and p_value(step, rows, risk, control) <= level * (1.0 + _ROUNDING):
            certified.append(step)
            carried = level
        else:
            carried = 0.0
    return on_plateau(certified, present)


def on_plateau(steps: Sequence[ThresholdStep], present: float | None) -> ThresholdStep | None:
    """Of the thresholds that take as many answers as the last: the present one, else the middle one; None of none.

    Labels tell nothing of the thresholds between two of their probabilities. One at the edge, just over the label with the
    highest probability that is delivered, would hold the next answer that is a little less certain.
    """
    plateau = [step for step in steps if step.taken == steps[-1].taken]
    if not plateau:
        return None
    middle = (plateau[0].threshold + plateau[-1].threshold) / 2
    return min(plateau, key=lambda step: (step.threshold != present, abs(step.threshold - middle)))


def p_value(step: ThresholdStep, rows: int, risk: float, control: Control) -> float:
    """How likely so few wrong ones would be if the risk were just missed; of groups, the most that it may be."""
    if step.groups is not None:
        return _bet(step.groups, risk, control)
    return at_most(int(step.wrong), int(step.taken) if control == "delivered" else rows, risk)


def bound(step: ThresholdStep, rows: int, confidence: float, control: Control) -> float:
    """The most that the risk at this one threshold may be, had it been chosen beforehand: by Clopper and Pearson, or by bets."""
    if step.groups is None:
        return upper_bound(int(step.wrong), int(step.taken) if control == "delivered" else rows, confidence)
    low, high = 0.0, 1.0
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        if _bet(step.groups, middle, control) > 1.0 - confidence:
            low = middle
        else:
            high = middle
    return high


def _bet(groups: Groups, risk: float, control: Control) -> float:
    """The p-value of betting that groups are wrong less often than the risk says."""
    allowed = risk * groups.taken if control == "delivered" else risk
    stakes = np.array(BETS)[:, None] / (1.0 - risk)
    with np.errstate(divide="ignore"):
        capitals = np.log(np.maximum(0.0, 1.0 + stakes * (allowed - groups.wrong))).sum(axis=1)
    most = capitals.max()
    if most == -np.inf:
        return 1.0
    return float(min(1.0, np.exp(-most) / np.exp(capitals - most).mean()))


def starting_counts(rows: int, risk: float, level: float) -> list[int]:
    """From how many delivered answers on testing starts: as many starts as the rows leave room for."""
    for starts in range(STARTS, 1, -1):
        first = least_answers(risk, level / starts)
        if first * APART ** (starts - 1) <= rows:
            return [first * APART**place for place in range(starts)]
    return [least_answers(risk, level)]


def least_answers(risk: float, level: float) -> int:
    """How many answers without a wrong one show at this level that the risk is kept."""
    return math.ceil(math.log(level) / math.log1p(-risk) - _ROUNDING)


def needed(steps: Sequence[ThresholdStep], rows: int, risk: float, confidence: float, control: Control = "delivered") -> Needed:
    """How many labelled answers it would take to certify the risk, judged by those at hand: a forecast, no guarantee.

    The share of wrong ones at a threshold is taken as (wrong + ½) / (taken + 1): none of three is not none of a thousand.
    """
    if control == "average":
        least = math.ceil(1.0 / risk - 1.0 - _ROUNDING)
        return Needed(least=least, likely=least, share=None)
    level = 1.0 - confidence
    some = [step for step in steps if step.taken]
    if not some:
        return Needed(least=least_answers(risk, level), likely=None, share=None)
    if control == "all":
        share = (some[0].wrong + 0.5) / (rows + 1)
        return Needed(least=least_answers(risk, level), likely=_answers_for(share, risk, level), share=share)
    forecasts = []
    for step in some:
        share = (step.wrong + 0.5) / (step.taken + 1)
        answers = _answers_for(share, risk, level)
        if answers is not None:
            forecasts.append((math.ceil(answers * rows / step.taken), share))
    best = min(some, key=lambda step: (step.wrong + 0.5) / (step.taken + 1))
    rate = (best.wrong + 0.5) / (best.taken + 1) if best.wrong else None
    least = math.ceil(least_answers(risk, level) * rows / some[-1].taken)
    likely, likely_rate = min(forecasts, default=(None, rate))
    return Needed(least=least, likely=likely, share=likely_rate)


def _answers_for(share: float, risk: float, level: float) -> int | None:
    """How many answers with such a share of wrong ones show at this level that the risk is kept; None: no number would."""
    if share >= risk:
        return None
    low = high = least_answers(risk, level)
    while at_most(math.ceil(share * high), high, risk) > level:
        if high > _MOST_NEEDED:
            return None
        low, high = high, high * 2
    while high - low > max(1, low // 100):
        middle = (low + high) // 2
        if at_most(math.ceil(share * middle), middle, risk) > level:
            low = middle
        else:
            high = middle
    return high
