"""Every score of a run, folded from its planned passes: a pure function of what the ledger holds.

The tree is applied per record; the run averages each criterion over its cases, then applies the tree (V1.1).
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cached_property

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from areopage.criteria.records import Criterion, Scale
from areopage.locales import Note
from areopage.scoring.agreement import mean, sample_sd
from areopage.scoring.failures import FailureRules
from areopage.scoring.outcome import PlannedPass
from areopage.scoring.reduce import CriterionScore, Profile, reduce_passes
from areopage.scoring.tree import Leaf, Node, NodePath, Weights, leaves_of, paths, score_tree

Column = NDArray[np.float64]

MIN_CASES = 5
_DRAWN_AT_ONCE = 4_000_000  # cases, over all resamples that are held in memory together


class Interval(Struct, frozen=True, kw_only=True):
    """A 95 % interval, in units of the suite's scale; `cases` is how many cases it rests on."""

    low: float
    high: float
    cases: int


def score_intervals(
    scores: Sequence[CriterionScore], tree: Node, *, resamples: int = 1000, seed: int = 0
) -> dict[NodePath, Interval]:
    """The intervals of a run's scores by their paths in the tree, () that of the final score: a bootstrap over cases and judges.

    Each resample draws cases, and draws judges among those that judge the same criteria; it is averaged per criterion and weighed
    as the tree does. Both are drawn, for other cases and other judges would have given another score.

    Args:
        scores: every criterion's score of every case.
        tree: the run's tree, whose weights are used.
        resamples: bootstrap resamples.
        seed: seed of the bootstrap.

    Returns:
        Nothing for a score of under five cases: an interval from so few would promise too much.
    """
    scored = [score for score in scores if score.score is not None]
    cases = {case_id: row for row, case_id in enumerate(dict.fromkeys(score.case_id for score in scored))}
    if len(cases) < MIN_CASES:
        return {}
    columns = {criterion: column for column, criterion in enumerate(dict.fromkeys(score.criterion for score in scores))}
    tables = _JudgeDraws(scored, cases, columns)
    random = np.random.default_rng(seed)
    means = np.full((resamples, len(columns)), np.nan)
    for some in np.array_split(means, -(-resamples * len(cases) // _DRAWN_AT_ONCE)):
        times = random.multinomial(len(cases), np.full(len(cases), 1 / len(cases)), len(some)).astype(float)
        for judges, drawn in tables.draws(random, len(some)):  # few judges are drawn in few ways: a product of matrices for each
            values, known = tables.table(judges)
            counts = times[drawn] @ known
            some[drawn] = np.divide(times[drawn] @ values, counts, out=np.full_like(counts, np.nan), where=counts > 0)
    by_criterion = {criterion: means[:, column] for criterion, column in columns.items()}
    cases_of: dict[str, set[str]] = {}
    for score in scored:
        cases_of.setdefault(score.criterion, set()).add(score.case_id)
    found: dict[NodePath, Interval] = {}
    for path, node in paths(tree):
        below = set().union(*(cases_of.get(leaf.name, ()) for leaf in leaves_of(node)))
        draws = _weighed(node, by_criterion)
        draws = draws[~np.isnan(draws)]  # resamples that drew nothing that weighs
        if node.score is not None and len(below) >= MIN_CASES and draws.size:
            low, high = np.quantile(draws, [0.025, 0.975])
            found[path] = Interval(low=float(low), high=float(high), cases=len(below))
    return found


class _JudgeDraws:
    """The scores of cases by criteria, as other draws of judges would have given them."""

    def __init__(self, scored: Sequence[CriterionScore], cases: Mapping[str, int], columns: Mapping[str, int]) -> None:
        scopes: dict[str, set[str]] = {}
        for score in scored:
            for one in score.judges:
                scopes.setdefault(one.judge, set()).add(score.criterion)
        self._judges = sorted(scopes)
        alike: dict[frozenset[str], list[int]] = {}
        for number, judge in enumerate(self._judges):
            alike.setdefault(frozenset(scopes[judge]), []).append(number)
        self._groups = [np.array(group) for group in alike.values()]
        self._table = np.full((len(cases), len(columns)), np.nan)
        self._by_judge = np.full((len(self._judges), len(cases), len(columns)), np.nan)
        numbers = {judge: number for number, judge in enumerate(self._judges)}
        for score in scored:
            place = cases[score.case_id], columns[score.criterion]
            self._table[place] = score.score
            for one in score.judges:
                if one.score is not None:
                    self._by_judge[(numbers[one.judge], *place)] = one.score
        self._known = ~np.isnan(self._by_judge)
        self._values = np.where(self._known, self._by_judge, 0.0)

    def draws(self, random: np.random.Generator, resamples: int) -> Iterator[tuple[Column, NDArray[np.bool_]]]:
        """Each way in which judges were drawn, as how often each judge was, with the resamples that drew them so."""
        times = np.zeros((resamples, len(self._judges)))
        for group in self._groups:
            times[:, group] = random.multinomial(len(group), np.full(len(group), 1 / len(group)), resamples)
        ways, numbers = np.unique(times, axis=0, return_inverse=True)
        for number, way in enumerate(ways):
            yield way, numbers.reshape(-1) == number

    def table(self, times: Column) -> tuple[Column, Column]:
        """The scores for one way of drawing judges, 0 where there is none, and 1 where there is one.

        They are the scores as they stand where no judge can be exchanged for another.
        """
        if all(len(group) < 2 for group in self._groups):
            known = ~np.isnan(self._table)
            return np.where(known, self._table, 0.0), known.astype(float)
        counts = np.tensordot(times, self._known, axes=1)
        sums = np.tensordot(times, self._values, axes=1)
        return np.divide(sums, counts, out=np.zeros_like(sums), where=counts > 0), (counts > 0).astype(float)


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
        by_first: the scores of every case and criterion by its first passes alone, where passes were added because of the scores;
            else None. Averages over cases rest on them: a number of passes that depends on the scores would bias them.
    """

    tree: Node
    scale: Scale
    consistency: Consistency
    records: tuple[RecordScores, ...]
    warnings: tuple[Note, ...]
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
    def intervals(self) -> dict[NodePath, Interval]:
        """Those of all scores by their paths; computed when they are first read: a bootstrap takes a while.

        None where all resamples are equal: an interval without width would promise certainty.
        """
        found = score_intervals(self.averaged, self.tree)
        return {path: interval for path, interval in found.items() if interval.low < interval.high}

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
    means = {criterion: np.array([mean(values) if values else np.nan]) for criterion, values in found.items()}
    return float(_weighed(node, means)[0])


def fold(
    passes: Sequence[PlannedPass],
    criteria: Sequence[Criterion],
    suite: Scale,
    weights: Weights,
    profile: Profile,
    failures: FailureRules,
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
        first: further passes than so many were added because of the scores before them; None: none was.
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
