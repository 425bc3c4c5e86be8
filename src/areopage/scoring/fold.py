"""Every score of a run, folded from its planned passes: a pure function of what the ledger holds.

The tree is applied per record; the run averages each criterion over its cases, then applies the tree (V1.1).
"""

from collections.abc import Sequence

from msgspec import Struct

from areopage.criteria.records import Criterion, Scale
from areopage.scoring.agreement import mean
from areopage.scoring.alpha import Alpha, krippendorff_alpha
from areopage.scoring.consistency import Consistency, consistency
from areopage.scoring.intervals import Interval, final_interval
from areopage.scoring.outcome import PlannedPass
from areopage.scoring.profile import Profile
from areopage.scoring.reduce import CriterionScore, reduce_passes
from areopage.scoring.tree import Leaf, Node, score_tree
from areopage.scoring.weights import Weights


class RecordScores(Struct, frozen=True, kw_only=True):
    """The scores of one case."""

    case_id: str
    tree: Node
    criteria: tuple[CriterionScore, ...]
    consistency: Consistency


class RunScores(Struct, frozen=True, kw_only=True):
    """The scores of a run. `interval` is that of the final score; `alpha` is over all cases and criteria."""

    tree: Node
    interval: Interval | None
    alpha: Alpha
    consistency: Consistency
    records: tuple[RecordScores, ...]
    warnings: tuple[str, ...]


def fold(
    passes: Sequence[PlannedPass], criteria: Sequence[Criterion], suite: Scale, weights: Weights, profile: Profile
) -> RunScores:
    """Fold planned passes into the scores of each record and of the run.

    Args:
        passes: every planned pass with its outcome, None where it was not run.
        criteria: every criterion that a pass names.
        suite: the scale that all scores are mapped to.
        weights: the weights of the three levels.
        profile: the rules for failures, quorum and outliers.
    """
    by_id = {criterion.id: criterion for criterion in criteria}
    scores = reduce_passes(passes, {key: one.scale for key, one in by_id.items()}, suite, profile)
    by_case: dict[str, list[CriterionScore]] = {}
    by_criterion: dict[str, list[CriterionScore]] = {}
    for score in scores:
        by_case.setdefault(score.case_id, []).append(score)
        by_criterion.setdefault(score.criterion, []).append(score)
    tree, warnings = score_tree([_run_leaf(by_id[key], found) for key, found in by_criterion.items()], weights)
    records = tuple(
        RecordScores(
            case_id=case_id,
            tree=score_tree([leaf(by_id[score.criterion], score) for score in found], weights)[0],
            criteria=tuple(found),
            consistency=consistency(found),
        )
        for case_id, found in by_case.items()
    )
    return RunScores(
        tree=tree,
        interval=final_interval(scores, tree),
        alpha=run_alpha(scores, suite),
        consistency=consistency(scores),
        records=records,
        warnings=warnings,
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
    )


def _run_leaf(criterion: Criterion, scores: Sequence[CriterionScore]) -> Leaf:
    """A run's leaf: the criterion's mean over the cases that have a score."""
    known = [score.score for score in scores if score.score is not None]
    return Leaf(
        criterion=criterion.id,
        category=criterion.category,
        subcategory=criterion.subcategory,
        name=criterion.name,
        score=mean(known) if known else None,
        scored=sum(score.scored for score in scores),
        planned=sum(score.planned for score in scores),
    )


def final_shares(tree: Node) -> tuple[tuple[str, float], ...]:
    """Each criterion's share of the final score: the product of the weights on its path."""
    return tuple(
        (criterion.name, category.weight * subcategory.weight * criterion.weight)
        for category in tree.parts
        for subcategory in category.parts
        for criterion in subcategory.parts
    )


def run_alpha(scores: Sequence[CriterionScore], suite: Scale) -> Alpha:
    """α over the judges' scores, a unit being one case on one criterion.

    Judges' scores are rounded to the nearest half point (on a scale of one point or less, to a tenth of it): a mean of passes
    is finer than the ordinal scale it stands for.
    """
    width = suite.max - suite.min
    step = 0.5 if width > 1 else width / 10
    judges = sorted({judge.judge for score in scores for judge in score.judges})
    rows: list[list[float | None]] = []
    for score in scores:
        by_judge = {judge.judge: judge.score for judge in score.judges}
        found = [by_judge.get(judge) for judge in judges]
        rows.append([None if value is None else round(value / step) * step for value in found])
    return krippendorff_alpha(rows)
