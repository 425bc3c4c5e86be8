"""The intervals of a run's scores: of each criterion, and of everything that the tree of weights makes of them.

The run averages each criterion over its cases, then weighs the means. To first order such a score is a mean over cases, for all
the weights and however many criteria each case has: a case's value is the score, plus what the case adds to the deviation of
each mean from its criterion (the delta method; L. A. Jaeckel, "The infinitesimal jackknife", 1972). The interval is that of the
mean of these values.

It speaks of other cases of the same kind, judged by the same judges in as many passes: what passes add to the spread of the
cases' scores is in it, and what other judges would say is not.
"""

from collections.abc import Iterable, Mapping
from typing import ClassVar

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from areopage.criteria import Scale
from areopage.scoring.arrays import Column, Matrix
from areopage.scoring.intervals.means import mean_intervals
from areopage.scoring.score_columns import Cells, ScoreColumns
from areopage.scoring.tree import Node, NodePath

_TWO = 2  # passes, under which nothing is known of their spread


class Interval(Struct, frozen=True, kw_only=True):
    """A 95 % interval, in units of the suite's scale.

    Args:
        cases: how many cases it rests on.
        clusters: how many groups of cases that belong together; as many as cases where none do.
    """

    MIN_CASES: ClassVar[int] = 5

    low: float
    high: float
    cases: int
    clusters: int


class CaseValues(Struct, frozen=True, kw_only=True):
    """The scores of the nodes of a tree as means of one value for each cluster of cases.

    Args:
        nodes: the paths of the nodes that have a score.
        values: shape (nodes, clusters); on the scale of the scores.
        counted: 1 where a cluster has a case that counts for the node, else 0. Same shape.
        low, high: the ends of the ranges of the values; shape (nodes,).
        cases: how many cases count for each node.
        noise: the part of the variance of each node's values that comes from passes, on average; NaN where no score has two
            passes. Shape (nodes,).
        ends: of the scale, and of scores beyond it.
    """

    nodes: tuple[NodePath, ...]
    values: Matrix
    counted: Matrix
    low: Column
    high: Column
    cases: tuple[int, ...]
    noise: Column
    ends: tuple[float, float]

    @classmethod
    def of(cls, scores: ScoreColumns, tree: Node, scale: Scale, clusters: Mapping[str, str]) -> "CaseValues":
        """What each cluster of cases adds to each score of a tree, whose weights are used; a case without a cluster stands alone.

        The range of a node's values ends where a case with the criteria that move the score most would have the worst score on
        all of them, and the best one: where all cases have all criteria, these are the ends of the scale.
        """
        rows = np.flatnonzero(~np.isnan(scores.cells.score))
        values = scores.cells.score[rows]
        cases, case = np.unique(scores.case[rows], return_inverse=True)  # they are in order
        numbers, firsts, number = np.unique(scores.criterion[rows], return_index=True, return_inverse=True)
        order = np.argsort(firsts)
        columns, place = [scores.criteria[number] for number in numbers[order]], np.argsort(order)
        table = np.full((len(cases), len(columns)), np.nan)
        noise = np.full_like(table, np.nan)
        table[case, place[number]] = values
        noise[case, place[number]] = _pass_noise(scores.cells)[rows]
        shares = {path: _leaf_shares(node) for path, node in tree.paths if node.score is not None}
        weights = np.array([[shares_of_node.get(criterion, 0.0) for criterion in columns] for shares_of_node in shares.values()])
        weights = weights.reshape(len(shares), len(columns))
        ends = (float(values.min(initial=scale.min)), float(values.max(initial=scale.max)))
        alike = cluster_numbers((scores.cases[at] for at in cases.tolist()), clusters)
        is_scored = ~np.isnan(table)
        counts = np.maximum(is_scored.sum(axis=0), 1)
        means = np.where(is_scored, table, 0.0).sum(axis=0) / counts
        moved = np.where(is_scored, table - means, 0.0) / counts @ weights.T
        worst = is_scored * (means - ends[0]) / counts @ weights.T
        best = is_scored * (ends[1] - means) / counts @ weights.T
        counting = (is_scored @ (weights.T > 0)).astype(bool)
        counts_for = (_summed(counting.astype(np.float64), alike) > 0).astype(np.float64).T
        centre, of_node = weights @ means, counting.sum(axis=0)
        noise_of_mean = np.where(is_scored, _filled(noise), 0.0).sum(axis=0) / counts**2
        weighed = np.where(weights > 0, noise_of_mean * weights**2, 0.0)  # criteria that do not weigh need not be known
        return cls(
            nodes=tuple(shares),
            values=centre[:, None] + counts_for.sum(axis=1, keepdims=True) * _summed(moved, alike).T,
            counted=counts_for,
            low=centre - of_node * worst.max(axis=0, initial=0.0),
            high=centre + of_node * best.max(axis=0, initial=0.0),
            cases=tuple(map(int, of_node)),
            noise=counts_for.sum(axis=1) * weighed.sum(axis=1),
            ends=ends,
        )

    @property
    def intervals(self) -> dict[NodePath, Interval]:
        """The intervals of the scores; none of a score of under five cases: it would say next to nothing."""
        if not self.nodes:
            return {}
        lows, highs = (ends.clip(*self.ends) for ends in mean_intervals(self.values, self.counted, self.low, self.high))
        return {
            path: Interval(low=float(low), high=float(high), cases=cases, clusters=int(counted.sum()))
            for path, low, high, cases, counted in zip(self.nodes, lows, highs, self.cases, self.counted, strict=True)
            if cases >= Interval.MIN_CASES
        }


def _summed(values: Matrix, numbers: NDArray[np.intp]) -> Matrix:
    """The sums of the rows of each cluster."""
    size = int(numbers.max(initial=-1)) + 1
    sums: Matrix = (
        np.stack([np.bincount(numbers, column, size) for column in values.T], axis=1)
        if values.size
        else np.zeros((size, values.shape[1]))
    )
    return sums


def _filled(noise: Matrix) -> Matrix:
    """The variances of passes by criteria, where they are not known that of the criterion's other cases; NaN where none is."""
    is_known = ~np.isnan(noise)
    counts = is_known.sum(axis=0)
    sums = np.where(is_known, noise, 0.0).sum(axis=0)
    filled: Matrix = np.where(is_known, noise, np.divide(sums, counts, out=np.full_like(sums, np.nan), where=counts > 0))
    return filled


def _pass_noise(cells: Cells) -> Column:
    """The variances of cases' scores that come from passes; NaN where a judge has under two."""
    is_scored = ~np.isnan(cells.judge_score)
    judges = is_scored.sum(axis=1)
    usable = (judges > 0) & ~(is_scored & (cells.scored < _TWO)).any(axis=1)
    parts = np.where(is_scored, cells.variance / np.maximum(cells.scored, 1), 0.0)
    total = np.zeros(len(parts))
    for judge in range(parts.shape[1]):
        total = total + parts[:, judge]
    return np.where(usable, total / np.maximum(judges, 1) ** 2, np.nan)


def cluster_numbers(cases: Iterable[str], clusters: Mapping[str, str]) -> NDArray[np.intp]:
    """The number of each case's cluster, from 0; a case without an entry stands alone."""
    numbers: dict[tuple[bool, str], int] = {}
    return np.array([numbers.setdefault((id in clusters, clusters.get(id, id)), len(numbers)) for id in cases], dtype=np.intp)


def _leaf_shares(node: Node) -> dict[str, float]:
    """The share of each criterion in a node's score; those without a score leave theirs to the others."""
    if not node.parts:
        return {node.name: 1.0}
    scored = [part for part in node.parts if part.score is not None and part.weight > 0]
    total = sum(part.weight for part in scored)
    shares: dict[str, float] = {}
    for part in scored:
        for criterion, share in _leaf_shares(part).items():
            shares[criterion] = shares.get(criterion, 0.0) + share * part.weight / total
    return shares
