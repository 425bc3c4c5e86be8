"""Two sides, level by level of the tree: the final score, categories, sub-categories and criteria.

Each node has two tests: of the mean difference of the cases' scores, and of the failures. `tested.decided_levels` corrects them.
The sides have the same cases (`compare_paired`) or others (`compare_unpaired`).
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from types import MappingProxyType

from msgspec import Struct, structs

from areopage.compare.statistics.tested import LEVELS, D, IntervalLevels, Measured, Tested, TestedLevel, TwoTests
from areopage.compare.statistics.unpaired import Sample, UnpairedDifference, unpaired_difference
from areopage.criteria import Criterion, Scale
from areopage.scoring import (
    LEVEL,
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
    def measured(self) -> tuple[Measured | None, Measured]:
        """The differences of the shares of failures, and of the scores."""
        return self.failures.difference if self.failures else None, self.score


class UnpairedOutcomes(TwoTests, frozen=True, kw_only=True):
    """The scores and the failures of two sets of cases; differences are first − second.

    Args:
        failures: of the shares of failing cases; None where a side has none that is known.
        failed: how many cases fail on each side.
    """

    score: UnpairedDifference
    failures: UnpairedDifference | None
    failed: tuple[int, int]

    @property
    def measured(self) -> tuple[Measured | None, Measured]:
        """The differences of the shares of failures, and of the scores."""
        return self.failures, self.score


LevelDifference = TestedLevel[Difference]
UnpairedLevel = TestedLevel[UnpairedOutcomes]


class CaseOutcomes(Struct, frozen=True, kw_only=True):
    """What came of the cases of one side, by the case's id.

    Args:
        scores: None where there is none.
        fails: None where it is not known; no entry where no criterion applies.
    """

    scores: Mapping[str, float | None]
    fails: Mapping[str, bool | None]


Design = Callable[[CaseOutcomes, CaseOutcomes, Scale, IntervalLevels], D]
"""Compares two sides, with the intervals of failures and scores at the levels that are given."""


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


def compare_levels(
    first: Records,
    second: Records,
    basis: Basis,
    design: Design[D],
    intervals: Mapping[NodePath, IntervalLevels] = MappingProxyType({}),
) -> tuple[TestedLevel[D], ...]:
    """Compare two sides at each node of their trees, the whole run first; p-values are not corrected yet.

    `intervals` are the levels of the intervals of nodes; 95 % for one without an entry.
    """
    nodes: dict[NodePath, dict[str, None]] = {(): {}}
    for criterion in basis.criteria:
        whole = (criterion.category, criterion.subcategory, criterion.id)
        for depth in range(len(whole) + 1):
            nodes.setdefault(whole[:depth], {})[criterion.id] = None
    scores: list[dict[NodePath, dict[str, float | None]]] = [{}, {}]
    for side, by_path in zip((first, second), scores, strict=True):
        for id, record in side.items():
            for path, node in record.tree.paths:
                by_path.setdefault(path, {})[id] = node.score
    levels: list[TestedLevel[D]] = []
    for path, below in nodes.items():
        counted = basis.primary if not path else tuple(below)
        left, right = (
            CaseOutcomes(scores=node_scores.get(path, {}), fails=failure_states(side, counted, basis))
            for node_scores, side in zip(scores, (first, second), strict=True)
        )
        difference = design(left, right, basis.scale, intervals.get(path, (LEVEL, LEVEL)))
        levels.append(
            TestedLevel(level=LEVELS[len(path)], path=path, criteria=tuple(below), counted=counted, difference=difference)
        )
    return tuple(levels)


def compare_cases(
    first: Records,
    second: Records,
    basis: Basis,
    design: Design[D],
    intervals: IntervalLevels = (LEVEL, LEVEL),
) -> D:
    """Compare two sides, or the same slice of both, by final scores and by failures of the primary test."""
    left, right = (
        CaseOutcomes(
            scores={id: record.tree.score for id, record in records.items()},
            fails=failure_states(records, basis.primary, basis),
        )
        for records in (first, second)
    )
    return design(left, right, basis.scale, intervals)


def compare_paired(
    first: CaseOutcomes,
    second: CaseOutcomes,
    scale: Scale,
    intervals: IntervalLevels = (LEVEL, LEVEL),
    *,
    clusters: Mapping[str, str] | None = None,
) -> Difference:
    """Compare scores and failures of the same cases; see `paired_difference`."""
    score = paired_difference(first.scores, second.scores, span=scale.max - scale.min, clusters=clusters, level=intervals[1])
    failures = paired_failures(first.fails, second.fails, clusters=clusters, level=intervals[0])
    pairs = [
        (score_of_first, other)
        for id, score_of_first in first.scores.items()
        if score_of_first is not None and (other := second.scores.get(id)) is not None
    ]
    means = (sum(left for left, _ in pairs) / len(pairs), sum(other for _, other in pairs) / len(pairs)) if pairs else None
    return Difference(
        score=score,
        means=means,
        failures=failures if failures.difference.pairs else None,
        by_score=Tested(p_value=score.p_value),
        by_failures=Tested(p_value=failures.p_value),
    )


def compare_unpaired(
    first: CaseOutcomes,
    second: CaseOutcomes,
    scale: Scale,
    intervals: IntervalLevels = (LEVEL, LEVEL),
    *,
    drawn: tuple[Sample, Sample] = (Sample(), Sample()),
) -> UnpairedOutcomes:
    """Compare scores and failures of different cases; `drawn` says how those of each side were drawn and are standardised."""
    sides = list(zip(drawn, (first, second), strict=True))
    scores = [structs.replace(sample, scores=outcomes.scores) for sample, outcomes in sides]
    failing = [{id: float(fails) for id, fails in outcomes.fails.items() if fails is not None} for _, outcomes in sides]
    shares = [structs.replace(sample, scores=fails) for sample, fails in zip(drawn, failing, strict=True)]
    score = unpaired_difference(*scores, ends=(scale.min, scale.max), level=intervals[1])
    failures = unpaired_difference(*shares, ends=(0.0, 1.0), level=intervals[0])
    return UnpairedOutcomes(
        score=score,
        failures=failures if failures.difference is not None else None,
        failed=(int(sum(failing[0].values())), int(sum(failing[1].values()))),
        by_score=Tested(p_value=score.p_value),
        by_failures=Tested(p_value=failures.p_value),
    )


def failure_states(records: Records, criteria: Collection[str], basis: Basis) -> dict[str, bool | None]:
    """Whether each case fails one of some criteria; None where it is not known, no entry where none applies."""
    limits, states = basis.failures.limits(basis.criteria, basis.scale), dict[str, bool | None]()
    for id, record in records.items():
        scores = [score for score in record.criteria if score.criterion in criteria and score.applies]
        if any(score.fails(limits, basis.scale) for score in scores):
            states[id] = True
        elif scores:
            states[id] = None if any(score.is_missing for score in scores) else False
    return states
