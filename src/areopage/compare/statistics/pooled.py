"""A run against a pool of earlier runs of the same cases: whether more of its cases fail than chance allows.

If nothing changed, the run is one of all runs by chance: of a case that m of R runs fail, it fails with the chance m/R. Its
number of failures is then a sum of independent counts whose distribution is known exactly, however much cases differ in
difficulty: a permutation test within cases. With a pool of one run it is McNemar's test, one-sided. Sources: P. Good,
"Permutation, Parametric and Bootstrap Tests of Hypotheses" (2005), section 3.7, for blocked designs; H. O. Lancaster,
"Significance tests in discrete distributions" (Journal of the American Statistical Association 56, 1961), for the mid-p-value,
which counts half of the chance of what was seen: with few failures the exact one is far under its level.

Cases that belong together are one block, whose runs are exchanged as a whole. The answers of each run must be its own.
"""

from collections.abc import Mapping, Sequence
from typing import Literal

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

POOL_LEVEL = 0.02
"""The one-sided level: about this share of runs of an unchanged system is called worse."""

States = Mapping[str, bool | None]
"""Whether each case fails, by its id; None, or no entry: it is not known, or nothing applies to it."""


class PooledFailures(Struct, frozen=True, kw_only=True):
    """The failures of a run, and what the pool lets expect.

    Args:
        runs: how many runs are in the pool.
        cases: how many are known in the run and in a run of the pool; `unknown` are the ids of the run's other cases.
        failed: how many of them fail in the run.
        pool_failed: how many fail in a run of the pool, on average.
        low, high: the fewest and the most failures of an unchanged system: beyond them the run is called better, or worse.
        p_worse, p_better: mid-p-values: the chance of more failures than seen, or of fewer, and half of that of as many.
        level: one-sided.
    """

    runs: int
    cases: int
    failed: int
    pool_failed: float
    low: int
    high: int
    p_worse: float
    p_better: float
    level: float
    unknown: tuple[str, ...]

    @property
    def direction(self) -> Literal["worse", "better", "unclear"]:
        """Which way the run differs, beyond chance."""
        return "worse" if self.failed > self.high else "better" if self.failed < self.low else "unclear"


def pooled_failures(run: States, pool: Sequence[States], *, clusters: Mapping[str, str] | None = None) -> PooledFailures:
    """Compare the failures of a run with those of a pool of runs.

    Args:
        run: the states of its cases.
        pool: those of each earlier run; without one, nothing is called worse or better.
        clusters: what a case has in common with others; a case without an entry stands alone.
    """
    fails_in_run = {id: fails for id, fails in run.items() if fails is not None}
    seen = {id: [fails for states in pool if (fails := states.get(id)) is not None] for id in fails_in_run}
    ids = [id for id in fails_in_run if seen[id]]
    blocks: dict[str, list[str]] = {}
    for id in ids:
        blocks.setdefault(f"cluster {clusters[id]}" if clusters and id in clusters else f"case {id}", []).append(id)
    chances: NDArray[np.float64] = np.ones(1)
    for block in blocks.values():
        chances = np.convolve(chances, _block_chances(block, run, pool))
    fewer = np.cumsum(chances) - chances / 2.0
    failed = sum(fails_in_run[id] for id in ids)
    likely = np.flatnonzero((fewer >= POOL_LEVEL) & (1.0 - fewer >= POOL_LEVEL))
    return PooledFailures(
        runs=len(pool),
        cases=len(ids),
        failed=failed,
        pool_failed=sum(sum(seen[id]) / len(seen[id]) for id in ids),
        low=int(likely[0]),
        high=int(likely[-1]),
        p_worse=float(1.0 - fewer[failed]),
        p_better=float(fewer[failed]),
        level=POOL_LEVEL,
        unknown=tuple(id for id in run if id not in seen or not seen[id]),
    )


def _block_chances(block: Sequence[str], run: States, pool: Sequence[States]) -> NDArray[np.float64]:
    """The chances of each number of failures of a block, if the run is one of all runs by chance.

    A run that does not know a case of the block takes no part; where none of the pool is left, each case is a block of its own.
    """
    counts = [sum(map(bool, fails)) for states in (run, *pool) if None not in (fails := [states.get(id) for id in block])]
    if len(counts) == 1 and len(block) > 1:
        chances: NDArray[np.float64] = np.ones(1)
        for id in block:
            chances = np.convolve(chances, _block_chances([id], run, pool))
        return chances
    return np.bincount(counts, minlength=len(block) + 1) / len(counts)
