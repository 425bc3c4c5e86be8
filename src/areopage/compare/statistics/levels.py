"""Two runs on the same cases, level by level of the tree: the final score, categories, sub-categories and criteria.

Each node has two tests: of the mean difference of the cases' scores, and of the failures. `tested.decided_levels` corrects them.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from types import MappingProxyType

from msgspec import Struct

from areopage.compare.statistics.tested import LEVELS, IntervalLevels, Level, Tested, TestedLevel, TwoTests
from areopage.criteria import Criterion, Scale
from areopage.scoring import (
    LEVEL,
    CriterionScore,
    FailingCases,
    FailureRules,
    NodePath,
    PairedDifference,
    PairedFailures,
    RecordScores,
    paired_difference,
    paired_failures,
)

Records = Mapping[str, RecordScores]


class Difference(TwoTests, frozen=True, kw_only=True):
    """The scores and the failures of two runs on some cases; differences are first − second.

    Args:
        means: of the cases' scores that both have, of the first and the second.
        failures: None where no criterion's failures are counted.
    """

    score: PairedDifference
    means: tuple[float, float] | None
    failures: PairedFailures | None

    @property
    def amounts(self) -> tuple[float | None, float | None]:
        """The differences of the shares of failures, and of the scores."""
        return self.failures.difference.difference if self.failures else None, self.score.difference

    @property
    def changes(self) -> tuple[int, int]:
        """How many cases differ, by failures and by scores."""
        return self.failures.difference.changed if self.failures else 0, self.score.changed


class CaseOutcomes(Struct, frozen=True, kw_only=True):
    """What came of the cases of one side, by the case's id.

    Args:
        scores: None where there is none.
        fails: None where it is not known; no entry where no criterion applies.
    """

    scores: Mapping[str, float | None]
    fails: Mapping[str, bool | None]


class LevelDifference(TestedLevel, frozen=True, kw_only=True):
    """A node of the tree in two runs."""

    difference: Difference


class Basis(Struct, frozen=True, kw_only=True):
    """What both runs share: criteria, scale, and which scores are failures."""

    criteria: tuple[Criterion, ...]
    scale: Scale
    failures: FailureRules

    @property
    def primary(self) -> tuple[str, ...]:
        """The ids of the criteria whose failures the primary test compares."""
        return primary_criteria(self.criteria)


def primary_criteria(criteria: Sequence[Criterion]) -> tuple[str, ...]:
    """The ids of the criteria whose failures the primary test compares: all but the minor ones; all where each is minor."""
    graver = tuple(criterion.id for criterion in criteria if criterion.severity != "minor")
    return graver or tuple(criterion.id for criterion in criteria)


class NodeOutcomes(Struct, frozen=True, kw_only=True):
    """What came of the cases of both sides at a node of the tree; fields as of `TestedLevel`."""

    level: Level
    path: NodePath
    criteria: tuple[str, ...]
    counted: tuple[str, ...]
    sides: tuple[CaseOutcomes, CaseOutcomes]


def node_outcomes(first: Records, second: Records, basis: Basis) -> Iterator[NodeOutcomes]:
    """The outcomes at each node of the tree, the whole run first.

    Args:
        first, second: the scores of cases by the case's id.
    """
    nodes: dict[NodePath, dict[str, None]] = {(): {}}
    for criterion in basis.criteria:
        whole = (criterion.category, criterion.subcategory, criterion.id)
        for depth in range(len(whole) + 1):
            nodes.setdefault(whole[:depth], {})[criterion.id] = None
    scores = [_scores_by_path(side) for side in (first, second)]
    for path, below in nodes.items():
        counted = basis.primary if not path else tuple(below)
        here, there = (
            CaseOutcomes(scores=own.get(path, {}), fails=failure_states(side, counted, basis))
            for own, side in zip(scores, (first, second), strict=True)
        )
        yield NodeOutcomes(level=LEVELS[len(path)], path=path, criteria=tuple(below), counted=counted, sides=(here, there))


def compare_levels(
    first: Records,
    second: Records,
    basis: Basis,
    clusters: Mapping[str, str],
    intervals: Mapping[NodePath, IntervalLevels] = MappingProxyType({}),
) -> tuple[LevelDifference, ...]:
    """Compare two runs at each node of their trees, the whole run first; p-values are not corrected yet.

    Args:
        first, second: the scores of cases by the case's id.
        clusters: see `paired_difference`.
        intervals: the levels of the intervals of nodes; 95 % for one without an entry.
    """
    return tuple(
        LevelDifference(
            level=node.level,
            path=node.path,
            criteria=node.criteria,
            counted=node.counted,
            difference=difference_of(*node.sides, basis.scale, clusters, intervals.get(node.path, (LEVEL, LEVEL))),
        )
        for node in node_outcomes(first, second, basis)
    )


def compare_cases(
    first: Records, second: Records, basis: Basis, clusters: Mapping[str, str], intervals: IntervalLevels = (LEVEL, LEVEL)
) -> Difference:
    """Compare two runs, or the same slice of both, by final scores and by failures."""
    return difference_of(case_outcomes(first, basis), case_outcomes(second, basis), basis.scale, clusters, intervals)


def case_outcomes(records: Records, basis: Basis) -> CaseOutcomes:
    """The final scores of cases, and whether they fail a criterion of the primary test."""
    scores = {id: record.tree.score for id, record in records.items()}
    return CaseOutcomes(scores=scores, fails=failure_states(records, basis.primary, basis))


def difference_of(
    first: CaseOutcomes,
    second: CaseOutcomes,
    scale: Scale,
    clusters: Mapping[str, str],
    intervals: IntervalLevels = (LEVEL, LEVEL),
) -> Difference:
    """Compare scores and failures by the ids of the cases; see `paired_difference`."""
    score = paired_difference(first.scores, second.scores, span=scale.max - scale.min, clusters=clusters, level=intervals[1])
    failures = paired_failures(first.fails, second.fails, clusters=clusters, level=intervals[0])
    pairs = [(one, other) for id, one in first.scores.items() if one is not None and (other := second.scores.get(id)) is not None]
    means = (sum(one for one, _ in pairs) / len(pairs), sum(other for _, other in pairs) / len(pairs)) if pairs else None
    return Difference(
        score=score,
        means=means,
        failures=failures if failures.difference.pairs else None,
        by_score=Tested(p_value=score.p_value),
        by_failures=Tested(p_value=failures.p_value),
    )


def failure_states(records: Records, criteria: Collection[str], basis: Basis) -> dict[str, bool | None]:
    """Whether each case fails one of some criteria; None where it is not known, no entry where none applies."""
    ids, limits = frozenset(criteria), basis.failures.limits(basis.criteria, basis.scale)
    states = FailingCases.states(_criteria_scores(records), ids, limits, basis.scale)
    known: dict[str, bool | None] = {"failed": True, "passed": False, "missing": None}
    return {id: known[state] for id, state in states.items() if state in known}


def _criteria_scores(records: Records) -> Iterator[CriterionScore]:
    return (score for record in records.values() for score in record.criteria)


def _scores_by_path(records: Records) -> dict[NodePath, dict[str, float | None]]:
    found: dict[NodePath, dict[str, float | None]] = {}
    for id, record in records.items():
        for path, node in record.tree.paths:
            found.setdefault(path, {})[id] = node.score
    return found
