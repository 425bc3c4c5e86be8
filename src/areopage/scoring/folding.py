"""Every score of a run, folded from its planned passes: a pure function of what the ledger holds.

The tree is applied per record; the run averages each criterion over its cases, then applies the tree (V1.1).
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cached_property
from math import fsum, isnan, nan, sqrt
from statistics import fmean
from typing import overload

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from areopage.criteria import Criterion, Scale
from areopage.locales import Note
from areopage.scoring.failure_rules import FailureRules
from areopage.scoring.intervals.scores import CaseValues, Interval
from areopage.scoring.outcome import PlannedPass
from areopage.scoring.pass_columns import PassColumns, pass_columns
from areopage.scoring.records import CriterionScore, Profile
from areopage.scoring.score_columns import ScoreColumns, exact_sums, score_columns
from areopage.scoring.tree import Leaf, Node, NodePath, score_tree, weighted_mean
from areopage.scoring.weights import Weights

HELD = 2_000
"""Of a run with at most so many scores of cases on criteria, the records stay in memory."""


class Consistency(Struct, frozen=True, kw_only=True):
    """Consistency of judges. Means are None where nothing can be averaged.

    Args:
        overall_variance: mean of all variances of a judge's passes.
        variance_min, variance_max, variance_sd: the distribution of those variances.
        judge_agreement_avg: mean over cases and criteria of the judges' agreement.
        outliers_detected: how many times a judge stood apart.
        outliers_by_judge: the same per judge.
    """

    overall_variance: float | None
    variance_min: float | None
    variance_max: float | None
    variance_sd: float | None
    judge_agreement_avg: float | None
    outliers_detected: int
    outliers_by_judge: dict[str, int]

    @staticmethod
    def of(scores: Sequence[CriterionScore], repeating: Collection[str] = ()) -> "Consistency":
        """Measure the scores of a few cases; judges without a counted pass have no variance.

        The variance of `repeating` judges, with several passes on some cases only, is not known where they have one.
        """
        judges = [judge for score in scores if score.applies for judge in score.worst_reply.judges if judge.score is not None]
        return _consistency(
            [judge.variance for judge in judges if judge.planned > 1 or judge.judge not in repeating],
            [score.agreement for score in scores if score.agreement is not None],
            Counter(name for score in scores for name in score.outliers),
        )

    @staticmethod
    def of_columns(columns: ScoreColumns, repeating: Collection[str] = ()) -> "Consistency":
        """Measure the scores of any number of cases: see `of`."""
        shown, planned = columns.worst_replies
        scored = columns.cells.applies[:, None] & ~np.isnan(columns.turns.judge_score[shown])
        scored &= (planned > 1) | np.array([judge not in repeating for judge in columns.judges], dtype=bool)
        apart = columns.cells.outliers
        counts = apart.sum(axis=0)
        order = sorted(np.flatnonzero(counts).tolist(), key=lambda judge: int(apart[:, judge].argmax()))
        return _consistency(
            columns.turns.variance[shown][scored].tolist(),
            columns.cells.agreement[~np.isnan(columns.cells.agreement)].tolist(),
            {columns.judges[judge]: int(counts[judge]) for judge in order},
        )


class RecordScores(Struct, frozen=True, kw_only=True):
    """The scores of one case."""

    case_id: str
    tree: Node
    criteria: tuple[CriterionScore, ...]
    consistency: Consistency


class RunScores(Struct, frozen=True, kw_only=True, dict=True):
    """The scores of a run, on `scale`.

    Args:
        criteria: the scores of every case and criterion: columns, that make a record of a row when it is asked for.
        averaged: those that averages over cases rest on: of the first passes alone where passes were added because of the
            scores. A number of passes that depends on the scores would bias averages.
        records: those of each case, made when they are asked for.
        clusters: what a case has in common with others, by its id.
    """

    tree: Node
    scale: Scale
    consistency: Consistency
    criteria: ScoreColumns
    averaged: ScoreColumns
    records: "CaseRecords"
    warnings: tuple[Note, ...]
    clusters: Mapping[str, str] = {}

    @cached_property
    def values(self) -> CaseValues:
        """What each cluster of cases adds to each score."""
        return CaseValues.of(self.averaged, self.tree, self.scale, self.clusters)

    @cached_property
    def intervals(self) -> dict[NodePath, Interval]:
        """Those of all scores by their paths, computed when they are first read."""
        return self.values.intervals

    @property
    def interval(self) -> Interval | None:
        """That of the final score."""
        return self.intervals.get(())

    @cached_property
    def if_missing(self) -> tuple[float, float] | None:
        """The final scores if every missing score were the worst, and if it were the best; None where none is missing."""
        return self.if_missing_in(self.tree)

    def if_missing_in(self, node: Node) -> tuple[float, float] | None:
        """The scores of a node of the tree if every missing score below it were the worst, and if it were the best.

        None where none is missing.
        """
        columns = self.averaged
        below = {leaf.name for leaf in node.leaves}
        rows = np.array([criterion in below for criterion in columns.criteria], dtype=bool)[columns.criterion]
        if not (columns.is_missing & rows).any():
            return None
        ends = (self.scale.min, self.scale.max) if self.scale.higher_is_better else (self.scale.max, self.scale.min)
        means: tuple[dict[str, float | None], dict[str, float | None]] = ({}, {})
        for number, criterion in enumerate(columns.criteria):
            if criterion in below:
                scores = columns.cells.score[(columns.criterion == number) & columns.cells.applies]
                for side, end in zip(means, ends, strict=True):
                    side[criterion] = fmean(np.where(np.isnan(scores), end, scores).tolist()) if len(scores) else None
        worst, best = (nan if (score := _weighed(node, side)) is None else score for side in means)
        return worst, best


def _weighed(node: Node, means: Mapping[str, float | None]) -> float | None:
    if not node.parts:
        return means[node.name]
    return weighted_mean([(_weighed(part, means), part.weight) for part in node.parts])


class CaseRecords(Sequence[RecordScores]):
    """The scores of each case that has any, in order; each record is made when it is asked for.

    Those of a small run stay in memory: its files and pages ask for each of them several times.
    """

    def __init__(
        self, scores: ScoreColumns, criteria: Mapping[str, Criterion], weights: Weights, repeating: Collection[str] = ()
    ) -> None:
        self._scores, self._criteria, self._weights, self._repeating = scores, criteria, weights, repeating
        self._held: dict[str, RecordScores] = {}

    @overload
    def __getitem__(self, place: int) -> RecordScores: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[RecordScores]: ...
    def __getitem__(self, place: int | slice) -> RecordScores | Sequence[RecordScores]:
        ids = self._scores.case_ids[place]
        return self.of(ids) if isinstance(ids, str) else [self.of(id) for id in ids]

    def __len__(self) -> int:
        return len(self._scores.case_ids)

    def find(self, case_id: str) -> RecordScores | None:
        """The scores of a case; None where it has none."""
        return self.of(case_id) if self._scores.rows_of(case_id) else None

    def of(self, case_id: str) -> RecordScores:
        """The scores of a case that has some."""
        if (record := self._held.get(case_id)) is not None:
            return record
        scores = [self._scores.score_at(row) for row in self._scores.rows_of(case_id)]
        made = RecordScores(
            case_id=case_id,
            tree=score_tree([Leaf.of(self._criteria[score.criterion], score) for score in scores], self._weights)[0],
            criteria=tuple(scores),
            consistency=Consistency.of(scores, self._repeating),
        )
        if len(self._scores) <= HELD:
            self._held[case_id] = made
        return made

    @cached_property
    def finals(self) -> NDArray[np.float64]:
        """The final score of each case, in order; NaN where it has none. Cases with the same criteria share their weights."""
        scores = self._scores
        starts = scores.case_starts
        of_case = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
        table = np.full((len(starts) - 1, len(scores.criteria)), np.nan)
        is_asked = np.zeros(table.shape, dtype=bool)
        table[of_case, scores.criterion] = scores.cells.score
        is_asked[of_case, scores.criterion] = True
        finals = np.full(len(table), np.nan)
        kinds, kind = np.unique(np.packbits(is_asked, axis=1), axis=0, return_inverse=True)
        for number in range(len(kinds)):
            rows = np.flatnonzero(kind.ravel() == number)
            of_kind = [
                self._criteria[scores.criteria[scores.criterion[row]]] for row in range(starts[rows[0]], starts[rows[0] + 1])
            ]
            places = {criterion.id: scores.criteria.index(criterion.id) for criterion in of_kind}
            tree = score_tree([Leaf.with_counts(criterion, 0.0, 0, 0, 0) for criterion in of_kind], self._weights)[0]
            finals[rows] = _weighed_table(tree, table[rows], places)
        return finals

    @property
    def finals_by_case(self) -> dict[str, float | None]:
        """The final score of each case by its id; None where it has none."""
        return {
            id: None if isnan(score) else score for id, score in zip(self._scores.case_ids, self.finals.tolist(), strict=True)
        }


def _consistency(variances: Sequence[float], agreements: Sequence[float], outliers: Mapping[str, int]) -> Consistency:
    centre, deviation = (fmean(variances) if variances else None), (0.0 if variances else None)
    if centre is not None and len(variances) > 1:
        deviation = sqrt(fsum((variance - centre) ** 2 for variance in variances) / (len(variances) - 1))
    return Consistency(
        overall_variance=centre,
        variance_min=min(variances, default=None),
        variance_max=max(variances, default=None),
        variance_sd=deviation,
        judge_agreement_avg=fmean(agreements) if agreements else None,
        outliers_detected=sum(outliers.values()),
        outliers_by_judge=dict(outliers),
    )


def fold(
    passes: PassColumns | Iterable[PlannedPass],
    criteria: Sequence[Criterion],
    suite: Scale,
    weights: Weights,
    profile: Profile,
    failures: FailureRules,
    clusters: Mapping[str, str] | None = None,
    first: int | None = None,
) -> RunScores:
    """Fold planned passes into the scores of each record and of the run.

    Args:
        passes: every planned pass with its outcome, as columns or one by one.
        criteria: every criterion that a pass names.
        suite: the scale that all scores are mapped to.
        weights: the weights of the three levels.
        profile: the rules for failed passes, quorum and outliers.
        failures: which scores are failures.
        clusters: what a case has in common with others, by its id; a case without an entry stands alone.
        first: the number of passes beyond which passes were added because of the scores before them; None: none was.
    """
    columns = passes if isinstance(passes, PassColumns) else pass_columns(passes)
    by_id = {criterion.id: criterion for criterion in criteria}
    scales, limits = {key: criterion.scale for key, criterion in by_id.items()}, failures.limits(criteria, suite)
    scores = averaged = score_columns(columns, scales, suite, profile, limits)
    repeating: frozenset[str] = frozenset()
    if first is not None:
        averaged = score_columns(columns.first(first), scales, suite, profile, limits)
        most = columns.planned.max(axis=0, initial=0).tolist()
        repeating = frozenset(judge for judge, count in zip(columns.judges, most, strict=True) if count > 1)
    leaves: list[Leaf] = []
    for number in scores.criteria_found:
        of_averages = averaged.cells.score[averaged.criterion == number]
        values: list[float] = of_averages[~np.isnan(of_averages)].tolist()
        rows = scores.criterion == number
        counts = (int(some[rows].sum()) for some in (scores.cells.scored, scores.cells.planned, scores.cells.not_applicable))
        leaves.append(Leaf.with_counts(by_id[scores.criteria[number]], fmean(values) if values else None, *counts))
    tree, warnings = score_tree(leaves, weights)
    return RunScores(
        tree=tree,
        scale=suite,
        consistency=Consistency.of_columns(scores, repeating),
        criteria=scores,
        averaged=averaged,
        records=CaseRecords(scores, by_id, weights, repeating),
        warnings=warnings,
        clusters=clusters or {},
    )


def _weighed_table(node: Node, table: NDArray[np.float64], places: Mapping[str, int]) -> NDArray[np.float64]:
    """The score of a node in each case: see `weighted_mean`."""
    if not node.parts:
        return table[:, places[node.name]]
    parts = np.stack([_weighed_table(part, table, places) for part in node.parts], axis=1)
    weights = np.broadcast_to(np.array([part.weight for part in node.parts]), parts.shape)
    is_scored = ~np.isnan(parts)
    total = exact_sums(weights, is_scored)
    return np.where(total > 0, exact_sums(parts * weights, is_scored) / np.where(total > 0, total, 1.0), np.nan)
