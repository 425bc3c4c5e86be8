"""A run against a pool of earlier runs of the same cases: whether more of its cases fail than chance allows.

If nothing changed, the run is one of all runs by chance: of a case that m of R runs fail, it fails with the chance m/R. Its number of
failures is then a sum of independent counts whose distribution is known exactly, however much cases differ in difficulty: a
permutation test within cases. With a pool of one run it is McNemar's test. Source of the principle: P. Good, "Permutation, Parametric
and Bootstrap Tests of Hypotheses" (2005), section 3.7, blocked designs.

Cases that belong together are one block, whose runs are exchanged as a whole. What is exchanged are runs: the answers of each must
be its own. A change that all runs of a pool share, such as a judge that wavers from day to day, is not seen by it.
"""

from collections.abc import Mapping, Sequence

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from areopage.scoring.intervals.means import LEVEL

States = Mapping[str, bool | None]
"""Whether each case fails, by its id; None, or no entry: it is not known, or nothing applies to it."""


class PooledFailures(Struct, frozen=True, kw_only=True):
    """The failures of a run, and what the pool lets expect.

    Args:
        runs: how many runs are in the pool.
        cases: that are known in the run and in a run of the pool; `unknown` are the ids of the run's cases that are not.
        failed: how many of them fail in the run.
        expected: how many would if nothing changed: the mean of the run and of the pool.
        pool_rate: the share of failing cases in the pool, in [0, 1]; None without a case.
        low, high: at most as many failures as these have at most (1 − level)/2 chance below `low`, and above `high`.
        p_worse, p_better: the chance of so many failures or more, and of so few or fewer, if nothing changed.
        p_value: two-sided: twice the smaller, at most 1.
        level: of `low` and `high`, in (0, 1).
        new: the ids of the cases that fail in the run and in no run of the pool.
    """

    runs: int
    cases: int
    failed: int
    expected: float
    pool_rate: float | None
    low: int
    high: int
    p_worse: float
    p_better: float
    p_value: float
    level: float
    new: tuple[str, ...]
    unknown: tuple[str, ...]


def pooled_failures(
    run: States, pool: Sequence[States], *, clusters: Mapping[str, str] | None = None, level: float = LEVEL
) -> PooledFailures:
    """Compare the failures of a run with those of a pool of runs.

    Args:
        run: the states of its cases.
        pool: those of each earlier run.
        clusters: what a case has in common with others; a case without an entry stands alone.
        level: of the two-sided interval of the number of failures, in (0, 1).
    """
    known = {id: fails for id, fails in run.items() if fails is not None}
    seen = {id: [own for own in (states.get(id) for states in pool) if own is not None] for id in known}
    ids = [id for id in known if seen[id]]
    blocks: dict[str, list[str]] = {}
    for id in ids:
        blocks.setdefault((clusters or {}).get(id, f"case {id}"), []).append(id)
    chances = np.ones(1)
    for block in blocks.values():
        chances = np.convolve(chances, _block_counts(block, run, pool))
    failed = sum(known[id] for id in ids)
    at_most, at_least = np.cumsum(chances), np.cumsum(chances[::-1])[::-1]
    worse, better = float(min(at_least[failed], 1.0)), float(min(at_most[failed], 1.0))
    tail = (1.0 - level) / 2.0
    rates = [own for id in ids for own in seen[id]]
    return PooledFailures(
        runs=len(pool),
        cases=len(ids),
        failed=failed,
        expected=float(chances @ np.arange(len(chances))),
        pool_rate=sum(rates) / len(rates) if rates else None,
        low=int(np.argmax(at_most >= tail)),
        high=int(len(chances) - 1 - np.argmax(at_least[::-1] >= tail)),
        p_worse=worse,
        p_better=better,
        p_value=min(1.0, 2.0 * min(worse, better)),
        level=level,
        new=tuple(id for id in ids if known[id] and not any(seen[id])),
        unknown=tuple(id for id in run if id not in ids),
    )


def _block_counts(block: Sequence[str], run: States, pool: Sequence[States]) -> NDArray[np.float64]:
    """The chances of each number of failures of a block, if the run is one of all runs by chance.

    A run of which a case of the block is not known takes no part; where only the run itself is left, each case is a block of its own.
    """
    wanted = [id for id in block if run.get(id) is not None]
    counts = [sum(bool(states[id]) for id in wanted) for states in (run, *pool) if all(states.get(id) is not None for id in wanted)]
    if len(counts) == 1 and len(wanted) > 1:
        chances = np.ones(1)
        for id in wanted:
            chances = np.convolve(chances, _block_counts([id], run, pool))
        return chances
    return np.bincount(counts, minlength=len(wanted) + 1) / len(counts)
