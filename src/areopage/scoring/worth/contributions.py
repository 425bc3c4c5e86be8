"""What each judge contributes to a jury: its leniency and noise against people, the jury without it, and the best judge alone.

The error of a unit is |score − mean of people's labels|; the jury's score is the mean of its judges'.
"""

from typing import Literal

import numpy as np
from msgspec import Struct

from areopage.scoring.arrays import Column, Places
from areopage.scoring.correlation import Estimate
from areopage.scoring.intervals.means import LEVEL
from areopage.scoring.paired import paired_difference
from areopage.scoring.worth.effective import FEWEST_ITEMS
from areopage.scoring.worth.tables import JuryTable, mean_estimate, spread_estimate

JudgeContribution = Literal["helps", "adds_nothing", "unknown"]
"""Whether the jury errs more without the judge, less or no more, or neither is certain."""

FOLDS = 10
REPEATS = 5


class JudgeErrors(Struct, frozen=True, kw_only=True):
    """One judge against people, in points.

    Args:
        units: pairs of item and criterion with a score of the judge and a label.
        leniency: mean of judge − people, with its 95 % interval over items.
        noise: the standard deviation of judge − people within criteria, with its 95 % interval; people's own noise is part of it.
        error: mean absolute difference.
        without: the jury's mean absolute error without the judge, minus that with it: under 0 the jury errs less without it.
            Over the units that the judge and another one scored; the interval is as wide as it must be for all judges to be
            looked at together. None where there are no such units.
        contribution: what `without` says.
    """

    judge: str
    units: int
    leniency: Estimate
    noise: Estimate
    error: float | None
    without: Estimate | None
    contribution: JudgeContribution


class BestJudge(Struct, frozen=True, kw_only=True):
    """The best judge alone beside the jury, over the units that all such judges scored.

    The judge is chosen in the other folds of a cross-validation, so that its error is not too low by the choice.

    Args:
        judge: which has the least error over all units.
        chosen: the share of folds in which it is chosen, in [0, 1].
        units, items: how many units, and items, count.
        error: the cross-validated mean absolute error of the chosen judge, in points.
        jury_error: that of the jury.
        difference: `error` − `jury_error`, with its 95 % interval: under 0 the best judge alone is better.
    """

    judge: str
    chosen: float
    units: int
    items: int
    error: float
    jury_error: float
    difference: Estimate

    @property
    def better(self) -> Literal["judge", "jury", ""]:
        """Which of the two errs less; "" where neither is certain."""
        if self.difference.high is not None and self.difference.high < 0:
            return "judge"
        return "jury" if self.difference.low is not None and self.difference.low > 0 else ""


def judge_errors(table: JuryTable, span: float) -> tuple[JudgeErrors, ...]:
    """Each judge of a table with labels against people; `span` is the width of the scale, in points.

    A judge adds nothing where the interval of `without` lies under 0 or ends there: the jury errs less, or no more, without it.
    That the interval includes 0 is no evidence that a judge is useless.
    """
    errors, people = list[JudgeErrors](), table.people
    for at, judge in enumerate(table.judges):
        scores = table.scores[:, at]
        is_scored = ~np.isnan(scores)
        apart = scores[is_scored] - people[is_scored]
        others = np.delete(table.scores, at, axis=1)
        beside = is_scored & ~np.isnan(others).all(axis=1)
        without: Estimate | None = None
        contribution: JudgeContribution = "unknown"
        if np.unique(table.items[beside]).size >= FEWEST_ITEMS:
            rest = np.abs(np.nanmean(others[beside], axis=1) - people[beside])
            level = 1 - (1 - LEVEL) / len(table.judges)
            fewest = float((~np.isnan(table.scores[beside])).sum(axis=1).min())
            farthest = span / fewest  # one of n judges moves a mean by span / n
            both = np.abs(table.jury[beside] - people[beside])
            without = _paired(rest, both, table.items[beside], farthest, level=level)
            if without.low is not None and without.high is not None:
                contribution = "helps" if without.low > 0 else "adds_nothing" if without.high <= 0 else "unknown"
        errors.append(
            JudgeErrors(
                judge=judge,
                units=int(is_scored.sum()),
                leniency=mean_estimate(apart, table.items[is_scored], span),
                noise=spread_estimate(apart, table.items[is_scored], table.criteria[is_scored]),
                error=float(np.abs(apart).mean()) if apart.size else None,
                without=without,
                contribution=contribution,
            )
        )
    return tuple(errors)


def best_judge(table: JuryTable, span: float) -> BestJudge | None:
    """The best judge beside the jury; None under two judges, or under `FEWEST_ITEMS` items that all of them scored.

    Judges that scored under half of the units are not among them. `span` is the width of the scale, in points.
    """
    regular = table.regular
    complete = (~np.isnan(regular.scores)).sum(axis=1) == len(regular.judges)
    jury, table = np.abs(table.jury - table.people)[complete], regular.only(complete)
    if len(table.judges) < 2 or table.size < FEWEST_ITEMS:
        return None
    errors = np.abs(table.errors)
    alone, first = np.zeros(len(errors)), int(errors.mean(axis=0).argmin())
    random, chosen = np.random.default_rng(0), 0
    for _ in range(REPEATS):
        folds = random.permutation(table.size) % FOLDS
        for fold in range(FOLDS):
            left_out = folds[table.items] == fold
            best = int(errors[~left_out].mean(axis=0).argmin())
            chosen += best == first
            alone[left_out] += errors[left_out, best] / REPEATS
    return BestJudge(
        judge=table.judges[first],
        chosen=chosen / (REPEATS * FOLDS),
        units=len(errors),
        items=table.size,
        error=float(alone.mean()),
        jury_error=float(jury.mean()),
        difference=_paired(alone, jury, table.items, span),
    )


def _paired(first: Column, second: Column, items: Places, span: float, *, level: float = LEVEL) -> Estimate:
    """The mean of first − second over units, those of one item drawn together; `span` is the greatest difference of a unit."""
    difference = paired_difference(
        {str(unit): value for unit, value in enumerate(first.tolist())},
        {str(unit): value for unit, value in enumerate(second.tolist())},
        span=span,
        clusters={str(unit): str(item) for unit, item in enumerate(items.tolist())},
        level=level,
    )
    return Estimate(value=difference.difference, low=difference.low, high=difference.high)
