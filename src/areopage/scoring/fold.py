"""Every score of a run, folded from its planned passes: a pure function of what the ledger holds.

The tree is applied per record; the run averages each criterion over its cases, then applies the tree (V1.1).
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cached_property
from math import nan

from msgspec import Struct

from areopage.criteria.records import Criterion, Scale
from areopage.locales import Note
from areopage.scoring.agreement import mean, sample_sd
from areopage.scoring.failures import FailureRules
from areopage.scoring.intervals.scores import CaseValues, Interval, case_values, intervals_of
from areopage.scoring.outcome import PlannedPass
from areopage.scoring.reduce import CriterionScore, Profile, reduce_passes
from areopage.scoring.tree import Leaf, Node, NodePath, Weights, leaves_of, score_tree, weighted_mean


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


def consistency(scores: Sequence[CriterionScore], repeating: Collection[str] = ()) -> Consistency:
    """Fold the scores of any number of cases; judges without a counted pass have no variance.

    Args:
        repeating: the judges that have several passes on some cases only: where they have one, their variance is not known.
    """
    variances = [
        judge.variance
        for score in scores
        if score.applies
        for judge in score.worst_reply.judges
        if judge.score is not None and (judge.planned > 1 or judge.judge not in repeating)
    ]
    agreements = [score.agreement for score in scores if score.agreement is not None]
    by_judge: dict[str, int] = {}
    for score in scores:
        for judge in score.outliers:
            by_judge[judge] = by_judge.get(judge, 0) + 1
    return Consistency(
        overall_variance=mean(variances) if variances else None,
        variance_min=min(variances, default=None),
        variance_max=max(variances, default=None),
        variance_sd=sample_sd(variances) if variances else None,
        judge_agreement_avg=mean(agreements) if agreements else None,
        outliers_detected=sum(by_judge.values()),
        outliers_by_judge=by_judge,
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
        clusters: what a case has in common with others, by its id.
        by_first: the scores of every case and criterion by its first passes alone, where passes were added because of the scores;
            else None. Averages over cases rest on them: a number of passes that depends on the scores would bias them.
    """

    tree: Node
    scale: Scale
    consistency: Consistency
    records: tuple[RecordScores, ...]
    warnings: tuple[Note, ...]
    clusters: Mapping[str, str] = {}
    by_first: tuple[CriterionScore, ...] | None = None

    @property
    def criteria(self) -> Iterator[CriterionScore]:
        """The scores of every case and criterion."""
        return (score for record in self.records for score in record.criteria)

    @property
    def averaged(self) -> Sequence[CriterionScore]:
        """The scores that averages over cases rest on."""
        return self.by_first if self.by_first is not None else list(self.criteria)

    @cached_property
    def values(self) -> CaseValues:
        """What each cluster of cases adds to each score."""
        return case_values(list(self.averaged), self.tree, self.scale, clusters=self.clusters)

    @cached_property
    def intervals(self) -> dict[NodePath, Interval]:
        """Those of all scores by their paths, computed when they are first read."""
        return intervals_of(self.values)

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
        below = {leaf.name for leaf in leaves_of(node)}
        scores = [score for score in self.averaged if score.criterion in below]
        if not any(score.is_missing for score in scores):
            return None
        ends = (self.scale.min, self.scale.max) if self.scale.higher_is_better else (self.scale.max, self.scale.min)
        worst, best = (_with_missing_at(end, scores, node) for end in ends)
        return worst, best


def _with_missing_at(end: float, scores: Sequence[CriterionScore], node: Node) -> float:
    found: dict[str, list[float]] = {score.criterion: [] for score in scores}
    for score in scores:
        if score.applies:
            found[score.criterion].append(end if score.score is None else score.score)
    means = {criterion: mean(values) if values else None for criterion, values in found.items()}
    whole = _weighed(node, means)
    return nan if whole is None else whole


def _weighed(node: Node, means: Mapping[str, float | None]) -> float | None:
    if not node.parts:
        return means[node.name]
    return weighted_mean([(_weighed(part, means), part.weight) for part in node.parts])


def fold(
    passes: Sequence[PlannedPass],
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
        passes: every planned pass with its outcome, None where it was not run.
        criteria: every criterion that a pass names.
        suite: the scale that all scores are mapped to.
        weights: the weights of the three levels.
        profile: the rules for failed passes, quorum and outliers.
        failures: which scores are failures.
        clusters: what a case has in common with others, by its id; a case without an entry stands alone.
        first: the number of passes beyond which passes were added because of the scores before them; None: none was.
    """
    by_id = {criterion.id: criterion for criterion in criteria}
    scales, limits = {key: one.scale for key, one in by_id.items()}, failures.limits(criteria, suite)
    scores = reduce_passes(passes, scales, suite, profile, limits)
    by_first: tuple[CriterionScore, ...] | None = None
    repeating: frozenset[str] = frozenset()
    if first is not None:
        by_first = reduce_passes([one for one in passes if one.pass_index <= first], scales, suite, profile, limits)
        repeating = frozenset(one.judge for one in passes if one.pass_index > 1)
    by_case: dict[str, list[CriterionScore]] = {}
    by_criterion: dict[str, list[CriterionScore]] = {}
    averaged: dict[str, list[CriterionScore]] = {}
    for score in scores:
        by_case.setdefault(score.case_id, []).append(score)
        by_criterion.setdefault(score.criterion, []).append(score)
    for score in by_first or scores:
        averaged.setdefault(score.criterion, []).append(score)
    leaves = [_run_leaf(by_id[key], found, averaged[key]) for key, found in by_criterion.items()]
    tree, warnings = score_tree(leaves, weights)
    records = tuple(
        RecordScores(
            case_id=case_id,
            tree=score_tree([leaf(by_id[score.criterion], score) for score in found], weights)[0],
            criteria=tuple(found),
            consistency=consistency(found, repeating),
        )
        for case_id, found in by_case.items()
    )
    return RunScores(
        tree=tree,
        scale=suite,
        consistency=consistency(scores, repeating),
        records=records,
        warnings=warnings,
        clusters=clusters or {},
        by_first=by_first,
    )


def leaf(criterion: Criterion, score: CriterionScore) -> Leaf:
    """A record's leaf."""
    return Leaf(
        criterion=criterion.id,
        category=criterion.category,
        subcategory=criterion.subcategory,
        name=criterion.name,
        score=score.score,
        scored=score.scored,
        planned=score.planned,
        not_applicable=score.not_applicable,
    )


def _run_leaf(criterion: Criterion, scores: Sequence[CriterionScore], averaged: Sequence[CriterionScore]) -> Leaf:
    """A run's leaf: the numbers of passes of all scores, and the mean of those that are averaged."""
    known = [score.score for score in averaged if score.score is not None]
    return Leaf(
        criterion=criterion.id,
        category=criterion.category,
        subcategory=criterion.subcategory,
        name=criterion.name,
        score=mean(known) if known else None,
        scored=sum(score.scored for score in scores),
        planned=sum(score.planned for score in scores),
        not_applicable=sum(score.not_applicable for score in scores),
    )
