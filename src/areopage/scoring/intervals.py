"""How far a run's scores can be trusted: percentile bootstrap over cases.

Source: B. Efron, R. Tibshirani, "An Introduction to the Bootstrap" (1993), chapter 13. The cases are resampled,
since it is other cases that would have given another score; judges and passes stay as they are.
"""

from collections.abc import Sequence

import numpy as np
from msgspec import Struct

from areopage.scoring.reduce import CriterionScore

MIN_CASES = 5


class Interval(Struct, frozen=True, kw_only=True):
    """A 95 % interval, in units of the suite's scale; `cases` is how many cases it rests on."""

    low: float
    high: float
    cases: int


def final_interval(
    scores: Sequence[CriterionScore], shares: Sequence[tuple[str, float]], *, resamples: int = 1000, seed: int = 0
) -> Interval | None:
    """The interval of the run's final score.

    Args:
        scores: every criterion's score of every case.
        shares: each criterion's share of the final score (the product of the weights on its path); they sum to 1.
        resamples: bootstrap resamples.
        seed: seed of the bootstrap.

    Returns:
        None under five scored cases: an interval from so few would promise too much.
    """
    scored = [score for score in scores if score.score is not None]
    cases = {case_id: row for row, case_id in enumerate(dict.fromkeys(score.case_id for score in scored))}
    if len(cases) < MIN_CASES:
        return None
    columns = {criterion: column for column, (criterion, _) in enumerate(shares)}
    table = np.full((len(cases), len(columns)), np.nan)
    for score in scored:
        table[cases[score.case_id], columns[score.criterion]] = score.score
    weights = np.array([share for _, share in shares])
    known = ~np.isnan(table)
    values = np.where(known, table, 0.0)
    random = np.random.default_rng(seed)
    draws = np.empty(resamples)
    for draw in range(resamples):
        times = np.bincount(random.integers(0, len(cases), len(cases)), minlength=len(cases))
        counts = times @ known
        present = counts > 0
        means = (times @ values)[present] / counts[present]
        # criteria that no drawn case has are left out; the rest share their weight, as the tree does
        draws[draw] = np.average(means, weights=weights[present]) if weights[present].sum() > 0 else means.mean()
    low, high = np.quantile(draws, [0.025, 0.975])
    return Interval(low=float(low), high=float(high), cases=len(cases))
