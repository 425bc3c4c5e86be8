"""The passes of a run that adds some to its first ones, planned from its judgments as numbers."""

from collections.abc import Collection, Mapping, Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from areopage.bench.pass_allocation import PassFloor, PassItems, PassPlan
from areopage.bench.pass_settings import PassItem, PassKey, PassSettings
from areopage.bench.spec import RunCase, RunSpec
from areopage.digest import digest_of
from areopage.ledger import Judgment
from areopage.scoring import ReleaseFloors, Scored, Unparsed

T = TypeVar("T")

_DIGEST_BITS = 52  # that a float holds exactly: a number in [0, 1) that is the same in every process


def planned_round(
    spec: RunSpec,
    settings: PassSettings,
    asked: Collection[PassItem],
    cases: Sequence[RunCase],
    judgments: Mapping[PassKey, Judgment],
    erased: Collection[str],
    made: Mapping[PassItem, int],
) -> tuple[list[PassItem], PassPlan]:
    """Plan all rounds so far; the items in the order of the plan.

    Args:
        asked: the items that the run may ask about.
        erased: the cases whose answers are erased.
        made: how many passes the run itself has made of each item.
    """
    ranks: tuple[dict[str, int], ...] = (
        {item.case.id: place for place, item in enumerate(cases)},
        {criterion.id: place for place, criterion in enumerate(spec.criteria)},
        {judge.name: place for place, judge in enumerate(spec.judges)},
    )
    items = sorted(asked, key=lambda item: (*(rank[name] for rank, name in zip(ranks, item[:3], strict=True)), item[3]))
    plan = PassPlan.of(
        _pass_items(spec, settings, items, judgments, erased, made),
        settings,
        np.array([made.get(item, 0) for item in items], dtype=np.intp),
    )
    return items, plan


def _pass_items(
    spec: RunSpec,
    settings: PassSettings,
    items: Sequence[PassItem],
    judgments: Mapping[PassKey, Judgment],
    erased: Collection[str],
    made: Mapping[PassItem, int],
) -> PassItems:
    """What is known of the items, as arrays."""
    criteria, judges = spec.criteria_by_id(), {judge.name: judge for judge in spec.judges}
    shape = (len(items), settings.most)
    scores, costs = np.full(shape, np.nan), np.zeros(shape)
    closed, unread = np.zeros(shape, dtype=bool), np.zeros(shape, dtype=bool)
    for row, (case, criterion, judge, turn) in enumerate(items):
        closed[row] = case in erased
        for column in range(settings.most):
            judgment = judgments.get((case, criterion, judge, column + 1, turn))
            if judgment is None:
                continue
            outcome = judgment.outcomes.get(criterion)
            closed[row, column] |= not judgment.is_open
            unread[row, column] = isinstance(outcome, Unparsed)
            costs[row, column] = judgment.cost or 0.0
            if isinstance(outcome, Scored):
                scores[row, column] = criteria[criterion].scale.map_to(outcome.score, spec.scale)
    pairs, pair = _numbered([(case, criterion, turn) for case, criterion, _, turn in items])
    limits = spec.failures.limits(spec.criteria, spec.scale)
    return PassItems(
        scores=scores,
        closed=closed,
        unread=unread,
        costs=costs,
        most=np.array(
            [max(made.get(item, 0), 1) if item[0] in erased else min(settings.most, judges[item[2]].passes) for item in items],
            dtype=np.intp,
        ),
        pair=pair,
        group=_numbered([(criterion, judge) for _, criterion, judge, _ in items])[1],
        judge=_numbered([judge for _, _, judge, _ in items])[1],
        order=np.array([int(digest_of([settings.seed, *item])[:13], 16) / (1 << _DIGEST_BITS) for item in items]),
        limits=np.array([limits[criterion] for _, criterion, _ in pairs]),
        case=_numbered([case for case, _, _ in pairs])[1],
        criterion=_numbered([criterion for _, criterion, _ in pairs])[1],
        floors=_floors(spec, [criterion for _, criterion, _ in pairs]),
        span=spec.scale.max - spec.scale.min,
        higher_is_better=spec.scale.higher_is_better,
    )


def _numbered(values: Sequence[T]) -> tuple[list[T], NDArray[np.intp]]:
    """The different values in order, and the number of each."""
    numbers: dict[T, int] = {}
    places = [numbers.setdefault(value, len(numbers)) for value in values]
    return list(numbers), np.array(places, dtype=np.intp)


def _floors(spec: RunSpec, criteria: Sequence[str]) -> tuple[PassFloor, ...]:
    """The release floors that count failing cases, with the pairs that they count, by each pair's criterion."""
    if spec.release is None:
        return ()
    by_id = spec.criteria_by_id()
    return tuple(
        PassFloor(limit, np.array([ReleaseFloors.counts(by_id[criterion], name) for criterion in criteria], dtype=bool))
        for name, limit in spec.release.max_failures.items()
    )
