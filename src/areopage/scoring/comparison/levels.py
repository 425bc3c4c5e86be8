"""Two runs on the same cases, level by level of the tree: the final score, categories, sub-categories and criteria.

Each node has two tests: of the mean difference of the cases' scores, and of the failures. All of them are one family, of which
the corrected p-values decide: see `family_of`.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Literal

import msgspec
from msgspec import Struct

from areopage.criteria.records import Criterion, Scale
from areopage.scoring.comparison.families import ALPHA, benjamini_hochberg, group_weights, holm
from areopage.scoring.comparison.paired import PairedDifference, PairedFailures, paired_difference, paired_failures
from areopage.scoring.failures import FailureRules, case_states
from areopage.scoring.fold import RecordScores
from areopage.scoring.reduce import CriterionScore
from areopage.scoring.tree import NodePath, paths

Level = Literal["final", "category", "subcategory", "criterion"]
LEVELS: tuple[Level, ...] = ("final", "category", "subcategory", "criterion")
SHARES: dict[str, float] = {"final": 1 / 2, "category": 1 / 6, "subcategory": 1 / 6, "criterion": 1 / 6}
"""How the level of the family is divided: half of it to the two tests of the whole run, which most comparisons are about."""

FEWEST_CHANGES = 6
"""With fewer cases that differ, no p-value is under 0.05, in either direction: 2 · ½⁵ is over it."""

Records = Mapping[str, RecordScores]
Direction = Literal["worse", "better", "unclear"]


class Tested(Struct, frozen=True, kw_only=True):
    """What came of a test.

    Args:
        p_value: the test's own; None where there is nothing to compare.
        corrected: corrected in its family, in [0, 1]; None where the test is in none: too few cases differ.
        direction: which way the difference goes, beyond chance by the corrected p-value.
    """

    p_value: float | None
    corrected: float | None = None
    direction: Direction = "unclear"


class Difference(Struct, frozen=True, kw_only=True):
    """The scores and the failures of two runs on some cases; differences are first − second.

    Args:
        means: of the cases' scores that both have, of the first and the second.
        failures: None where no criterion's failures are counted.
    """

    score: PairedDifference
    means: tuple[float, float] | None
    failures: PairedFailures | None
    by_score: Tested
    by_failures: Tested

    @property
    def directions(self) -> tuple[Direction, Direction]:
        """What failures say, and what scores say."""
        return self.by_failures.direction, self.by_score.direction

    @property
    def is_telling(self) -> bool:
        """Whether anything is worse or better beyond chance."""
        return self.directions != ("unclear", "unclear")


class CaseOutcomes(Struct, frozen=True, kw_only=True):
    """What came of the cases of one side, by the case's id.

    Args:
        scores: None where there is none.
        fails: None where it is not known; no entry where no criterion applies.
    """

    scores: Mapping[str, float | None]
    fails: Mapping[str, bool | None]


class LevelDifference(Struct, frozen=True, kw_only=True):
    """A node of the tree on two sides.

    Args:
        path: the names of the nodes down to it; () is the whole run, whose failures are those of the categories that count first.
        criteria: the ids of the criteria below it; `counted`: of those whose failures are counted.
    """

    level: Level
    path: NodePath
    criteria: tuple[str, ...]
    counted: tuple[str, ...]
    difference: Difference


class Basis(Struct, frozen=True, kw_only=True):
    """What both runs share: criteria, scale, and which scores are failures."""

    criteria: tuple[Criterion, ...]
    scale: Scale
    failures: FailureRules

    @property
    def first(self) -> tuple[str, ...]:
        """The ids of the criteria whose failures count first."""
        categories = self.failures.categories(self.criteria)
        return tuple(criterion.id for criterion in self.criteria if criterion.category in categories)


def compare_levels(first: Records, second: Records, basis: Basis, clusters: Mapping[str, str]) -> tuple[LevelDifference, ...]:
    """Compare two runs at each node of their trees, the whole run first; p-values are not corrected yet.

    Args:
        first, second: the scores of cases by the case's id.
        clusters: see `paired_difference`.
    """
    nodes: dict[NodePath, dict[str, None]] = {(): {}}
    for criterion in basis.criteria:
        whole = (criterion.category, criterion.subcategory, criterion.id)
        for depth in range(len(whole) + 1):
            nodes.setdefault(whole[:depth], {})[criterion.id] = None
    scores = [_scores_by_path(side) for side in (first, second)]
    found = []
    for path, below in nodes.items():
        counted = basis.first if not path else tuple(below)
        here, there = (
            CaseOutcomes(scores=own.get(path, {}), fails=failure_states(side, counted, basis))
            for own, side in zip(scores, (first, second), strict=True)
        )
        found.append(
            LevelDifference(
                level=LEVELS[len(path)],
                path=path,
                criteria=tuple(below),
                counted=counted,
                difference=difference_of(here, there, basis.scale, clusters),
            )
        )
    return tuple(found)


def compare_cases(first: Records, second: Records, basis: Basis, clusters: Mapping[str, str]) -> Difference:
    """Compare two runs, or the same slice of both, by final scores and by the failures that count first."""
    here, there = (
        CaseOutcomes(
            scores={id: record.tree.score for id, record in side.items()}, fails=failure_states(side, basis.first, basis)
        )
        for side in (first, second)
    )
    return difference_of(here, there, basis.scale, clusters)


def difference_of(first: CaseOutcomes, second: CaseOutcomes, scale: Scale, clusters: Mapping[str, str]) -> Difference:
    """Compare scores and failures by the ids of the cases; see `paired_difference`."""
    score = paired_difference(first.scores, second.scores, span=scale.max - scale.min, clusters=clusters)
    failures = paired_failures(first.fails, second.fails, clusters=clusters)
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
    states = case_states(_criteria_scores(records), ids, limits, basis.scale)
    known: dict[str, bool | None] = {"failed": True, "passed": False, "missing": None}
    return {id: known[state] for id, state in states.items() if state in known}


def _criteria_scores(records: Records) -> Iterator[CriterionScore]:
    return (score for record in records.values() for score in record.criteria)


def _scores_by_path(records: Records) -> dict[NodePath, dict[str, float | None]]:
    found: dict[NodePath, dict[str, float | None]] = {}
    for id, record in records.items():
        for path, node in paths(record.tree):
            found.setdefault(path, {})[id] = node.score
    return found


def family_of(sides: Sequence[Sequence[LevelDifference]], scale: Scale) -> tuple[tuple[LevelDifference, ...], ...]:
    """Correct all tests of one comparison by Holm's method with weights: the chance of one wrong find is at most 5 %.

    Half of the level goes to the two tests of the whole run, the rest in equal parts to categories, sub-categories and criteria.
    Nodes with the same criteria are one test, with the weights of all of them. A test of which fewer cases differ than a find
    needs takes no part, so that it costs the others nothing: whether it does, depends on how many cases differ, not on how.

    Args:
        sides: the levels of each run that is compared with the first one.
    """
    weights: dict[tuple[int, str, frozenset[str]], float] = {}
    p_values: dict[tuple[int, str, frozenset[str]], float] = {}
    tests = [
        (key, one.level, p_value)
        for side, levels in enumerate(sides)
        for one in levels
        for key, p_value in _tests(side, one)
        if p_value is not None
    ]
    for (key, _, p_value), weight in zip(tests, group_weights([level for _, level, _ in tests], SHARES), strict=True):
        weights[key] = weights.get(key, 0.0) + weight
        p_values[key] = p_value
    corrected = dict(zip(p_values, holm(list(p_values.values()), list(weights.values())), strict=True))
    return tuple(
        tuple(
            msgspec.structs.replace(
                one, difference=settled(one.difference, tuple(corrected.get(key) for key, _ in _tests(side, one)), scale)
            )
            for one in levels
        )
        for side, levels in enumerate(sides)
    )


def _tests(side: int, one: LevelDifference) -> Iterator[tuple[tuple[int, str, frozenset[str]], float | None]]:
    """The two tests of a node: what identifies each, and its p-value if it takes part."""
    by_failures, by_score = able_tests(one.difference)
    yield (side, "failures", frozenset(one.counted)), by_failures
    yield (side, "score", frozenset(one.criteria)), by_score


def able_tests(found: Difference) -> tuple[float | None, float | None]:
    """The p-values of failures and of scores; None where too few cases differ for a find."""
    changed = 0 if found.failures is None else found.failures.difference.changed
    return (
        found.by_failures.p_value if changed >= FEWEST_CHANGES else None,
        found.by_score.p_value if found.score.changed >= FEWEST_CHANGES else None,
    )


def discoveries(differences: Sequence[Difference], scale: Scale) -> tuple[Difference, ...]:
    """Correct the tests of slices by Benjamini's and Hochberg's method: of what is found, at most 5 % is expected to be wrong.

    Slices say where to look, and decide nothing: a method that finds more is better than one that excuses every single wrong
    find. Slices share cases, so that their tests depend on each other positively.
    """
    tests = [able_tests(one) for one in differences]
    able = [p_value for pair in tests for p_value in pair if p_value is not None]
    left = iter(benjamini_hochberg(able))
    corrected = [tuple(None if p_value is None else next(left) for p_value in pair) for pair in tests]
    return tuple(settled(one, pair, scale) for one, pair in zip(differences, corrected, strict=True))


def settled(found: Difference, corrected: Sequence[float | None], scale: Scale) -> Difference:
    """A difference with its corrected p-values, of failures and of scores, and what they say."""
    failures_p, score_p = corrected
    shares = found.failures.difference.difference if found.failures else None
    score = found.score.difference
    score_worse = score is not None and (score < 0) == scale.higher_is_better
    return msgspec.structs.replace(
        found,
        by_failures=_settled(found.by_failures, failures_p, is_worse=(shares or 0.0) > 0),
        by_score=_settled(found.by_score, score_p, is_worse=score_worse),
    )


def _settled(test: Tested, corrected: float | None, *, is_worse: bool) -> Tested:
    direction: Direction = "unclear"
    if corrected is not None and corrected < ALPHA:
        direction = "worse" if is_worse else "better"
    return Tested(p_value=test.p_value, corrected=corrected, direction=direction)
