"""How far a run's scores can be trusted: percentile bootstrap over cases.

Source: B. Efron, R. Tibshirani, "An Introduction to the Bootstrap" (1993), chapter 13. The cases are resampled,
since it is other cases that would have given another score; judges and passes stay as they are.
"""

from collections.abc import Mapping, Sequence

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from areopage.scoring.reduce import CriterionScore
from areopage.scoring.tree import Node

Column = NDArray[np.float64]

MIN_CASES = 5


class Interval(Struct, frozen=True, kw_only=True):
    """A 95 % interval, in units of the suite's scale; `cases` is how many cases it rests on."""

    low: float
    high: float
    cases: int


def final_interval(scores: Sequence[CriterionScore], tree: Node, *, resamples: int = 1000, seed: int = 0) -> Interval | None:
    """The interval of the run's final score: each resample is averaged per criterion and weighed as the tree does.

    Args:
        scores: every criterion's score of every case.
        tree: the run's tree, whose weights are used.
        resamples: bootstrap resamples.
        seed: seed of the bootstrap.

    Returns:
        None under five scored cases: an interval from so few would promise too much. None also without a final score.
    """
    scored = [score for score in scores if score.score is not None]
    cases = {case_id: row for row, case_id in enumerate(dict.fromkeys(score.case_id for score in scored))}
    if len(cases) < MIN_CASES or tree.score is None:
        return None
    columns = {criterion: column for column, criterion in enumerate(dict.fromkeys(score.criterion for score in scores))}
    table = np.full((len(cases), len(columns)), np.nan)
    for score in scored:
        table[cases[score.case_id], columns[score.criterion]] = score.score
    known = ~np.isnan(table)
    values = np.where(known, table, 0.0)
    random = np.random.default_rng(seed)
    means = np.full((resamples, len(columns)), np.nan)
    for draw in range(resamples):
        times = np.bincount(random.integers(0, len(cases), len(cases)), minlength=len(cases))
        counts = times @ known
        np.divide(times @ values, counts, out=means[draw], where=counts > 0)
    finals = _weighed(tree, {criterion: means[:, column] for criterion, column in columns.items()})
    finals = finals[~np.isnan(finals)]  # resamples that drew nothing that weighs
    if not finals.size:
        return None
    low, high = np.quantile(finals, [0.025, 0.975])
    return Interval(low=float(low), high=float(high), cases=len(cases))


def _weighed(node: Node, means: Mapping[str, Column]) -> Column:
    """`weighted_mean` down the tree for all resamples at once; NaN where nothing that weighs has a score."""
    if not node.parts:
        return means[node.name]
    parts = np.stack([_weighed(part, means) for part in node.parts])
    weights = np.where(np.isnan(parts), 0.0, np.array([part.weight for part in node.parts])[:, None])
    totals = weights.sum(axis=0)
    sums = (np.nan_to_num(parts) * weights).sum(axis=0)
    finals: Column = np.divide(sums, totals, out=np.full_like(totals, np.nan), where=totals > 0)
    return finals
