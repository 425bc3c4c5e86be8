"""The tests of a comparison: what is worse or better beyond chance.

Each node of the tree has two tests: of the mean score and of the failures. The failures of the whole run are the primary test,
with the full level; all others are one family, see `family_of`. It makes no difference whether both sides have the same cases.
Each interval has the level of its test (`decided_levels`), so that it leaves out 0 exactly where the test finds something.
"""

from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from math import floor, log2, sqrt
from statistics import NormalDist
from typing import Generic, Literal, Self, TypeVar

import msgspec
from msgspec import Struct

from areopage.compare.statistics.families import benjamini_hochberg, discovery_levels, group_weights, holm_levels
from areopage.compare.statistics.unpaired import UnpairedDifference
from areopage.criteria import Scale
from areopage.scoring import ALPHA, LEVEL, NodePath, PairedDifference, holm

Level = Literal["final", "category", "subcategory", "criterion"]
LEVELS: tuple[Level, ...] = ("final", "category", "subcategory", "criterion")
SHARES: dict[str, float] = dict.fromkeys(LEVELS, 1 / 4)
"""How the level of the family of secondary tests is divided."""

IntervalLevels = tuple[float, float]
"""The levels of the intervals of a difference: of its failures and of its scores, in (0, 1)."""

Direction = Literal["worse", "better", "unclear"]

Measured = PairedDifference | UnpairedDifference
"""A difference with its interval; cases are the same on both sides, or others."""


class Tested(Struct, frozen=True, kw_only=True):
    """What came of a test.

    Args:
        p_value: the test's own; None where there is nothing to compare.
        corrected: corrected in its family, in [0, 1]; None where the test is in none: too few cases differ.
        direction: which way the difference goes, beyond chance by the corrected p-value.
        level: the level of the test in its family: `p_value` is under it exactly where there is a direction; None as above.
    """

    p_value: float | None
    corrected: float | None = None
    direction: Direction = "unclear"
    level: float | None = None


class TwoTests(Struct, frozen=True, kw_only=True):
    """A difference of scores and of failures with its two tests; differences are first − second."""

    by_score: Tested
    by_failures: Tested

    @property
    @abstractmethod
    def measured(self) -> tuple[Measured | None, Measured]:
        """The differences of the shares of failures, None where none are known, and of the scores."""

    @property
    def directions(self) -> tuple[Direction, Direction]:
        """What failures say, and what scores say."""
        return self.by_failures.direction, self.by_score.direction

    @property
    def is_telling(self) -> bool:
        """Whether anything is worse or better beyond chance."""
        return self.directions != ("unclear", "unclear")

    def with_tests_of(self, tested: "TwoTests") -> Self:
        """The difference with the tests of another."""
        return msgspec.structs.replace(self, by_score=tested.by_score, by_failures=tested.by_failures)


D = TypeVar("D", bound=TwoTests)


class TestedLevel(Struct, Generic[D], frozen=True, kw_only=True):
    """A node of the tree on two sides.

    Args:
        path: the names of the nodes down to it; () is the whole run.
        criteria: the ids of the criteria below it; `counted`: of those whose failures are counted.
    """

    __test__ = False

    level: Level
    path: NodePath
    criteria: tuple[str, ...]
    counted: tuple[str, ...]
    difference: D


def fewest_changes(level: float = ALPHA) -> int:
    """How many cases must differ, at least, for a two-sided p-value under a level: 2 · ½ⁿ is under it."""
    return floor(1.0 + log2(1.0 / level)) + 1


def kept_run_level(risk: float) -> float:
    """The two-sided level for comparisons of many runs with one that is kept, by a risk in (0, 0.5].

    A test of two runs has its level on average over both. A kept run that was lucky makes each later run look worse. The test
    therefore asks for two standard errors at the quantile of the risk, one for each run, in place of that of their difference
    (√2 of them): then the chance that an equal run is found worse is at most the risk for all kept runs but a share of them
    that is as large as the risk.
    """
    normal = NormalDist()
    return 2.0 * normal.cdf(sqrt(2.0) * normal.inv_cdf(risk))


def family_of(
    sides: Sequence[Sequence[TestedLevel[D]]], scale: Scale, level: float = ALPHA
) -> tuple[tuple[TestedLevel[D], ...], ...]:
    """Correct all tests of one comparison.

    The primary test, of the failures of the whole run, has the full level; where several runs are compared, theirs share it.
    All other tests are a second family with a level of the same size, divided equally among the levels of the tree. Both are
    corrected by Holm's method with weights: the chance of a wrong find is at most the level in each. Nodes with the same criteria
    are one test, with the weights of all of them. A test of which fewer cases differ than a find needs takes no part, so that it
    costs the others nothing: whether it does, depends on how many cases differ, not on how.

    Args:
        sides: the levels of each run that is compared with the first one, the whole run first.
        level: of each family, in (0, 1].
    """
    members = [
        (key, node.level, p_value)
        for side, levels in enumerate(sides)
        for node in levels
        for key, p_value in _tests(side, node, level)
        if p_value is not None
    ]
    primary = {(side, "failures", frozenset(levels[0].counted)) for side, levels in enumerate(sides)}
    first = {key: p_value for key, _, p_value in members if key in primary}
    others = [member for member in members if member[0] not in primary]
    weights: dict[TestKey, float] = {}
    for (key, _, _), weight in zip(others, group_weights([name for _, name, _ in others], SHARES), strict=True):
        weights[key] = weights.get(key, 0.0) + weight
    corrected = _corrected(first, dict.fromkeys(first, 1.0), level)
    corrected |= _corrected({key: p_value for key, _, p_value in others}, weights, level)
    return tuple(
        tuple(
            msgspec.structs.replace(
                node,
                difference=settled(node.difference, tuple(corrected.get(key) for key, _ in _tests(side, node, level)), scale),
            )
            for node in levels
        )
        for side, levels in enumerate(sides)
    )


TestKey = tuple[int, str, frozenset[str]]
"""What identifies a test: the number of the run, failures or score, and the criteria."""

CorrectedTest = tuple[float, float]
"""The corrected p-value of a test, and the level of its own that it has in its family."""


def _corrected(p_values: Mapping[TestKey, float], weights: Mapping[TestKey, float], level: float) -> dict[TestKey, CorrectedTest]:
    values, shares = list(p_values.values()), [weights[key] for key in p_values]
    pairs = zip(holm(values, shares), holm_levels(values, shares, level), strict=True)
    return dict(zip(p_values, pairs, strict=True))


def decided_levels(
    builds: Sequence[Callable[[Mapping[NodePath, IntervalLevels]], tuple[TestedLevel[D], ...]]],
    scale: Scale,
    level: float = ALPHA,
) -> tuple[tuple[TestedLevel[D], ...], ...]:
    """The levels of each run that is compared with the first one: tests corrected, each interval at the level of its test.

    Each of `builds` computes the levels of a run, with the intervals of its nodes at the levels that are given. See `family_of`.
    """
    families = family_of([build({}) for build in builds], scale, level)
    return tuple(
        tuple(
            msgspec.structs.replace(node, difference=node.difference.with_tests_of(tested.difference))
            for node, tested in zip(
                build({tested.path: interval_levels(tested.difference) for tested in levels}), levels, strict=True
            )
        )
        for build, levels in zip(builds, families, strict=True)
    )


def interval_levels(difference: TwoTests) -> IntervalLevels:
    """The levels of the intervals of a difference: those of its tests; 95 % where a test takes part in no family."""
    failures, score = (
        LEVEL if test.level is None else 1.0 - test.level for test in (difference.by_failures, difference.by_score)
    )
    return failures, score


def _tests(side: int, node: TestedLevel[D], level: float) -> Iterator[tuple[TestKey, float | None]]:
    """The two tests of a node: what identifies each, and its p-value if it takes part."""
    by_failures, by_score = able_tests(node.difference, level)
    yield (side, "failures", frozenset(node.counted)), by_failures
    yield (side, "score", frozenset(node.criteria)), by_score


def able_tests(difference: TwoTests, level: float = ALPHA) -> tuple[float | None, float | None]:
    """The p-values of failures and of scores; None where too few cases differ for a find."""
    failures, scores = (measured is not None and measured.changed >= fewest_changes(level) for measured in difference.measured)
    return difference.by_failures.p_value if failures else None, difference.by_score.p_value if scores else None


def discoveries(differences: Sequence[D], scale: Scale) -> tuple[D, ...]:
    """Correct the tests of slices by Benjamini's and Hochberg's method: of what is found, at most 5 % is expected to be wrong.

    Slices say where to look, and decide nothing: a method that finds more is better than one that excuses every single wrong
    find. Slices share cases, so that their tests depend on each other positively.
    """
    tests = [able_tests(difference) for difference in differences]
    able = [p_value for pair in tests for p_value in pair if p_value is not None]
    left = iter(zip(benjamini_hochberg(able), discovery_levels(able, ALPHA), strict=True)) if able else iter(())
    corrected = [tuple(None if p_value is None else next(left) for p_value in pair) for pair in tests]
    return tuple(settled(difference, pair, scale) for difference, pair in zip(differences, corrected, strict=True))


def decided_slices(builds: Sequence[Callable[[IntervalLevels], D]], scale: Scale) -> tuple[D, ...]:
    """The differences of slices with their corrected tests, each interval at the level of its test; see `discoveries`.

    Each of `builds` computes the difference of a slice, with its intervals at the levels that are given.
    """
    tested = discoveries([build((LEVEL, LEVEL)) for build in builds], scale)
    return tuple(
        build(interval_levels(difference)).with_tests_of(difference) for build, difference in zip(builds, tested, strict=True)
    )


def settled(difference: D, corrected: Sequence[CorrectedTest | None], scale: Scale) -> D:
    """A difference with the corrected p-values of its tests, of failures and of scores, and what they say."""
    failures, score = (measured.difference if measured is not None else None for measured in difference.measured)
    score_worse = score is not None and (score < 0) == scale.higher_is_better
    return msgspec.structs.replace(
        difference,
        by_failures=_settled(difference.by_failures, corrected[0], is_worse=(failures or 0.0) > 0),
        by_score=_settled(difference.by_score, corrected[1], is_worse=score_worse),
    )


def _settled(test: Tested, corrected: CorrectedTest | None, *, is_worse: bool) -> Tested:
    if corrected is None or test.p_value is None:
        return Tested(p_value=test.p_value)
    p_value, level = corrected
    direction: Direction = "unclear"
    if test.p_value < level:
        direction = "worse" if is_worse else "better"
    return Tested(p_value=test.p_value, corrected=p_value, direction=direction, level=level)
