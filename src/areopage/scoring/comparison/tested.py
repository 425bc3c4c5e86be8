"""The tests of a comparison, as families: what is worse or better beyond chance.

Each node of the tree has two tests: of the mean score and of the failures. All of them are one family, of which the corrected
p-values decide: see `family_of`. It makes no difference whether both sides have the same cases.
"""

from collections.abc import Iterator, Sequence
from math import floor, log2, sqrt
from statistics import NormalDist
from typing import Literal, Protocol, Self, TypeVar

import msgspec
from msgspec import Struct

from areopage.criteria.records import Scale
from areopage.scoring.comparison.families import ALPHA, benjamini_hochberg, group_weights, holm
from areopage.scoring.tree import NodePath

Level = Literal["final", "category", "subcategory", "criterion"]
LEVELS: tuple[Level, ...] = ("final", "category", "subcategory", "criterion")
SHARES: dict[str, float] = {"final": 1 / 2, "category": 1 / 6, "subcategory": 1 / 6, "criterion": 1 / 6}
"""How the level of the family is divided: half of it to the two tests of the whole run, which most comparisons are about."""

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


class TestedDifference(Protocol):
    """A difference of scores and of failures with its two tests; differences are first − second."""

    @property
    def by_score(self) -> Tested:
        """The test of the scores."""
        ...

    @property
    def by_failures(self) -> Tested:
        """The test of the failures."""
        ...

    @property
    def amounts(self) -> tuple[float | None, float | None]:
        """The differences of the shares of failures, and of the scores."""
        ...

    @property
    def changes(self) -> tuple[int, int]:
        """How many cases differ, by failures and by scores."""
        ...

    @property
    def directions(self) -> tuple[Direction, Direction]:
        """What failures say, and what scores say."""
        ...

    @property
    def is_telling(self) -> bool:
        """Whether anything is worse or better beyond chance."""
        ...

    def with_tests(self, *, by_score: Tested, by_failures: Tested) -> Self:
        """The difference with other tests."""
        ...


class TwoTests(Struct, frozen=True, kw_only=True):
    """The test of a difference of scores, and that of a difference of failures."""

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

    def with_tests(self, *, by_score: Tested, by_failures: Tested) -> Self:
        """The difference with other tests."""
        return msgspec.structs.replace(self, by_score=by_score, by_failures=by_failures)


class TestedLevel(Struct, frozen=True, kw_only=True):
    """A node of the tree on two sides.

    Args:
        path: the names of the nodes down to it; () is the whole run, whose failures are those of the categories that count first.
        criteria: the ids of the criteria below it; `counted`: of those whose failures are counted.
    """

    __test__ = False

    level: Level
    path: NodePath
    criteria: tuple[str, ...]
    counted: tuple[str, ...]
    difference: TestedDifference


AnyDifference = TypeVar("AnyDifference", bound=TestedDifference)
AnyLevel = TypeVar("AnyLevel", bound=TestedLevel)


def fewest_changes(level: float = ALPHA) -> int:
    """How many cases must differ, at least, for a two-sided p-value under a level: 2 · ½ⁿ is under it."""
    return floor(1.0 + log2(1.0 / level)) + 1


def kept_run_level(risk: float) -> float:
    """The two-sided level for comparisons of many runs with one that is kept.

    A test of two runs has its level on average over both. A kept run that was lucky makes each later run look worse. The test
    therefore asks for two standard errors at the quantile of the risk, one for each run, in place of that of their difference
    (√2 of them): then the chance that an equal run is found worse is at most the risk for all kept runs but a share of them
    that is as large as the risk.

    Args:
        risk: in (0, 0.5].
    """
    normal = NormalDist()
    return 2.0 * normal.cdf(sqrt(2.0) * normal.inv_cdf(risk))


def family_of(sides: Sequence[Sequence[AnyLevel]], scale: Scale, level: float = ALPHA) -> tuple[tuple[AnyLevel, ...], ...]:
    """Correct all tests of one comparison by Holm's method with weights: the chance of one wrong find is at most the level.

    Half of the level goes to the two tests of the whole run, the rest in equal parts to categories, sub-categories and criteria.
    Nodes with the same criteria are one test, with the weights of all of them. A test of which fewer cases differ than a find
    needs takes no part, so that it costs the others nothing: whether it does, depends on how many cases differ, not on how.

    Args:
        sides: the levels of each run that is compared with the first one.
        level: of the family, in (0, 1].
    """
    weights: dict[tuple[int, str, frozenset[str]], float] = {}
    p_values: dict[tuple[int, str, frozenset[str]], float] = {}
    tests = [
        (key, one.level, p_value)
        for side, levels in enumerate(sides)
        for one in levels
        for key, p_value in _tests(side, one, level)
        if p_value is not None
    ]
    for (key, _, p_value), weight in zip(tests, group_weights([level for _, level, _ in tests], SHARES), strict=True):
        weights[key] = weights.get(key, 0.0) + weight
        p_values[key] = p_value
    corrected = dict(zip(p_values, holm(list(p_values.values()), list(weights.values())), strict=True))
    return tuple(
        tuple(
            msgspec.structs.replace(
                one,
                difference=settled(
                    one.difference, tuple(corrected.get(key) for key, _ in _tests(side, one, level)), scale, level
                ),
            )
            for one in levels
        )
        for side, levels in enumerate(sides)
    )


def _tests(side: int, one: TestedLevel, level: float) -> Iterator[tuple[tuple[int, str, frozenset[str]], float | None]]:
    """The two tests of a node: what identifies each, and its p-value if it takes part."""
    by_failures, by_score = able_tests(one.difference, level)
    yield (side, "failures", frozenset(one.counted)), by_failures
    yield (side, "score", frozenset(one.criteria)), by_score


def able_tests(found: TestedDifference, level: float = ALPHA) -> tuple[float | None, float | None]:
    """The p-values of failures and of scores; None where too few cases differ for a find."""
    failures, scores = (changed >= fewest_changes(level) for changed in found.changes)
    return found.by_failures.p_value if failures else None, found.by_score.p_value if scores else None


def discoveries(differences: Sequence[AnyDifference], scale: Scale) -> tuple[AnyDifference, ...]:
    """Correct the tests of slices by Benjamini's and Hochberg's method: of what is found, at most 5 % is expected to be wrong.

    Slices say where to look, and decide nothing: a method that finds more is better than one that excuses every single wrong
    find. Slices share cases, so that their tests depend on each other positively.
    """
    tests = [able_tests(one) for one in differences]
    able = [p_value for pair in tests for p_value in pair if p_value is not None]
    left = iter(benjamini_hochberg(able))
    corrected = [tuple(None if p_value is None else next(left) for p_value in pair) for pair in tests]
    return tuple(settled(one, pair, scale) for one, pair in zip(differences, corrected, strict=True))


def settled(found: AnyDifference, corrected: Sequence[float | None], scale: Scale, level: float = ALPHA) -> AnyDifference:
    """A difference with its corrected p-values, of failures and of scores, and what they say."""
    failures_p, score_p = corrected
    failures, score = found.amounts
    score_worse = score is not None and (score < 0) == scale.higher_is_better
    return found.with_tests(
        by_failures=_settled(found.by_failures, failures_p, level, is_worse=(failures or 0.0) > 0),
        by_score=_settled(found.by_score, score_p, level, is_worse=score_worse),
    )


def _settled(test: Tested, corrected: float | None, level: float, *, is_worse: bool) -> Tested:
    direction: Direction = "unclear"
    if corrected is not None and corrected < level:
        direction = "worse" if is_worse else "better"
    return Tested(p_value=test.p_value, corrected=corrected, direction=direction)
