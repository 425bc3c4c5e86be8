"""Two sets of different cases, level by level of the tree; the tests are those of `tested`, the intervals those of `unpaired`."""

from collections.abc import Mapping
from types import MappingProxyType

import msgspec
from msgspec import Struct

from areopage.compare.statistics.levels import Basis, CaseOutcomes, Records, case_outcomes, node_outcomes
from areopage.compare.statistics.tested import IntervalLevels, Tested, TestedLevel, TwoTests
from areopage.compare.statistics.unpaired import Sample, UnpairedDifference, unpaired_difference
from areopage.criteria import Scale
from areopage.scoring import LEVEL, NodePath


class Drawn(Struct, frozen=True, kw_only=True):
    """How the cases of one side were drawn.

    Args:
        weights: of cases, where they were drawn with unequal chances; see `Sample`.
        clusters: what a case has in common with others; see `Sample`.
    """

    weights: Mapping[str, float] = {}
    clusters: Mapping[str, str] = {}


class Strata(Struct, frozen=True, kw_only=True):
    """What both sides are standardised to.

    Args:
        of: the stratum of each case, by side.
        shares: how much each stratum weighs.
    """

    of: tuple[Mapping[str, str], Mapping[str, str]]
    shares: Mapping[str, float]


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
    def amounts(self) -> tuple[float | None, float | None]:
        """The differences of the shares of failures, and of the scores."""
        return self.failures.difference if self.failures else None, self.score.difference

    @property
    def changes(self) -> tuple[int, int]:
        """How many cases differ from the commonest value, by failures and by scores."""
        return self.failures.changed if self.failures else 0, self.score.changed


class UnpairedLevel(TestedLevel, frozen=True, kw_only=True):
    """A node of the tree in two sets of cases."""

    difference: UnpairedOutcomes


def unpaired_levels(
    first: Records,
    second: Records,
    basis: Basis,
    drawn: tuple[Drawn, Drawn],
    intervals: Mapping[NodePath, IntervalLevels] = MappingProxyType({}),
) -> tuple[UnpairedLevel, ...]:
    """Compare two sets of cases at each node of the tree, the whole first; p-values are not corrected yet.

    Args:
        first, second: the scores of cases by the case's id.
        drawn: how the cases of each side were drawn.
        intervals: the levels of the intervals of nodes; 95 % for one without an entry.
    """
    return tuple(
        UnpairedLevel(
            level=node.level,
            path=node.path,
            criteria=node.criteria,
            counted=node.counted,
            difference=unpaired_outcomes(*node.sides, basis.scale, drawn, None, intervals.get(node.path, (LEVEL, LEVEL))),
        )
        for node in node_outcomes(first, second, basis)
    )


def unpaired_cases(
    first: Records,
    second: Records,
    basis: Basis,
    drawn: tuple[Drawn, Drawn],
    strata: Strata | None = None,
    intervals: IntervalLevels = (LEVEL, LEVEL),
) -> UnpairedOutcomes:
    """Compare two sets of cases by final scores and by failures.

    Args:
        strata: what both are standardised to; None: each is taken as it is.
        intervals: their levels.
    """
    return unpaired_outcomes(case_outcomes(first, basis), case_outcomes(second, basis), basis.scale, drawn, strata, intervals)


def unpaired_outcomes(
    first: CaseOutcomes,
    second: CaseOutcomes,
    scale: Scale,
    drawn: tuple[Drawn, Drawn],
    strata: Strata | None = None,
    intervals: IntervalLevels = (LEVEL, LEVEL),
) -> UnpairedOutcomes:
    """Compare the outcomes of two sets of cases; see `unpaired_cases`."""
    sides = (first, second)
    scores = [_sample(one.scores, drawn, strata, side) for side, one in enumerate(sides)]
    known = [{id: float(fails) for id, fails in one.fails.items() if fails is not None} for one in sides]
    shares = [_sample(one, drawn, strata, side) for side, one in enumerate(known)]
    score = unpaired_difference(*scores, ends=(scale.min, scale.max), level=intervals[1])
    failures = unpaired_difference(*shares, ends=(0.0, 1.0), level=intervals[0])
    return UnpairedOutcomes(
        score=score,
        failures=failures if failures.difference is not None else None,
        failed=(int(sum(known[0].values())), int(sum(known[1].values()))),
        by_score=Tested(p_value=score.p_value),
        by_failures=Tested(p_value=failures.p_value),
    )


def _sample(scores: Mapping[str, float | None], drawn: tuple[Drawn, Drawn], strata: Strata | None, side: int) -> Sample:
    own = Sample(scores=scores, weights=drawn[side].weights, clusters=drawn[side].clusters)
    return own if strata is None else msgspec.structs.replace(own, strata=strata.of[side], shares=strata.shares)
