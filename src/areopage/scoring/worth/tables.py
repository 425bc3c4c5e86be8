"""Scores of judges and labels of people as arrays: a row per unit (an item on a criterion), a column per judge or rater."""

from collections.abc import Mapping, Sequence
from math import exp, log, sqrt

import msgspec
import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from areopage.scoring.agreement_with_people import Rating
from areopage.scoring.arrays import Column, Matrix, Places
from areopage.scoring.correlation import TINY, Estimate
from areopage.scoring.intervals.means import cluster_values, mean_interval
from areopage.scoring.intervals.student_t import critical_t

JudgesScores = Mapping[str, Mapping[str, Mapping[str, float]]]
"""Judge -> criterion -> item -> score."""

OVERALL = ""


class JuryTable(Struct, frozen=True):
    """Judges and people on the same units, all on one scale; NaN where there is no score or label.

    Args:
        judges, raters: the names of the columns.
        items: the item of each unit, numbered from 0; units of one item belong together.
        criteria: the criterion of each unit, numbered from 0.
        names: the name of each item.
        scores: units × judges.
        labels: units × raters; empty (no column) where there are no labels.
    """

    judges: tuple[str, ...]
    raters: tuple[str, ...]
    names: tuple[str, ...]
    items: Places
    criteria: Places
    scores: Matrix
    labels: Matrix

    @property
    def people(self) -> Column:
        """The mean of each unit's labels."""
        return _row_means(self.labels)

    @property
    def jury(self) -> Column:
        """The mean of each unit's scores over the judges that scored it."""
        return _row_means(self.scores)

    @property
    def errors(self) -> Matrix:
        """Judge − people: units × judges."""
        errors: Matrix = self.scores - self.people[:, None]
        return errors

    @property
    def size(self) -> int:
        """How many items there are."""
        return len(self.names)

    @property
    def regular(self) -> "JuryTable":
        """The table of the judges that scored at least half of the units."""
        kept = 2 * (~np.isnan(self.scores)).sum(axis=0) >= len(self.items)
        judges = tuple(judge for judge, keep in zip(self.judges, kept.tolist(), strict=True) if keep)
        return msgspec.structs.replace(self, judges=judges, scores=self.scores[:, kept])

    def only(self, kept: NDArray[np.bool_]) -> "JuryTable":
        """The table of some units; items are numbered anew."""
        numbers, items = np.unique(self.items[kept], return_inverse=True)
        return JuryTable(
            judges=self.judges,
            raters=self.raters,
            names=tuple(self.names[number] for number in numbers),
            items=items,
            criteria=self.criteria[kept],
            scores=self.scores[kept],
            labels=self.labels[kept],
        )

    @classmethod
    def of(cls, judges: JudgesScores, ratings: Sequence[Rating] = ()) -> "JuryTable":
        """Arrange scores and labels; units without a score are left out, and, with any label, those without one.

        Of several labels of one rater the last counts. The overall score counts only where it is all there is.
        """
        labels_by_unit: dict[tuple[str, str], dict[str, float]] = {}
        for rating in ratings:
            labels_by_unit.setdefault((rating.item, rating.criterion), {})[rating.rater] = rating.score
        scored = {(item, name) for by_criterion in judges.values() for name, scores in by_criterion.items() for item in scores}
        units = sorted(scored.intersection(labels_by_unit) if ratings else scored)
        criteria = {name for _, name in units} - {OVERALL} or {OVERALL}
        units = [unit for unit in units if unit[1] in criteria]
        judges = {judge: scores for judge, scores in judges.items() if any(item in scores.get(name, {}) for item, name in units)}
        raters = sorted({rater for unit in units for rater in labels_by_unit.get(unit, ())})
        names, criterion_names = sorted({item for item, _ in units}), sorted({name for _, name in units})
        item_numbers, numbers = ({name: number for number, name in enumerate(some)} for some in (names, criterion_names))
        scores = [[judges[judge].get(name, {}).get(item, np.nan) for judge in judges] for item, name in units]
        labels = [[labels_by_unit.get(unit, {}).get(rater, np.nan) for rater in raters] for unit in units]
        return cls(
            judges=tuple(judges),
            raters=tuple(raters),
            names=tuple(names),
            items=np.array([item_numbers[item] for item, _ in units], dtype=np.intp),
            criteria=np.array([numbers[name] for _, name in units], dtype=np.intp),
            scores=np.array(scores, dtype=np.float64).reshape(len(units), len(judges)),
            labels=np.array(labels, dtype=np.float64).reshape(len(units), len(raters)),
        )


def _row_means(table: Matrix) -> Column:
    """The mean of each row's values; NaN where it has none."""
    is_known = ~np.isnan(table)
    means: Column = np.where(is_known, table, 0.0).sum(axis=1) / np.maximum(is_known.sum(axis=1), 1)
    return np.where(is_known.any(axis=1), means, np.nan)


def summed(values: Matrix, items: Places, size: int) -> Matrix:
    """The sums of rows that belong to the same item: items × columns."""
    sums: Matrix = np.zeros((size, *values.shape[1:]))
    np.add.at(sums, items, values)
    return sums


def mean_estimate(values: Column, items: Places, span: float) -> Estimate:
    """A mean of differences in [−span, span] with its 95 % interval over items, as values of one item depend on each other."""
    if not values.size:
        return Estimate(reason="few")
    numbers, places = np.unique(items, return_inverse=True)
    if numbers.size < 2:
        return Estimate(value=float(values.mean()), reason="few")
    low, high = mean_interval(cluster_values(values, places), -span, span)
    return Estimate(value=float(values.mean()), low=max(low, -span), high=min(high, span))


def spread_estimate(values: Column, items: Places, criteria: Places) -> Estimate:
    """The standard deviation within criteria, with its 95 % interval from the logarithm's standard error over items.

    The standard error is the larger one of the values' own (infinitesimal jackknife, clusters as in `mean_estimate`) and of
    normal values: 1/√(2 · degrees of freedom).
    """
    centred = values.copy()
    for number in np.unique(criteria):
        rows = criteria == number
        centred[rows] -= values[rows][:, None].sum(axis=0) / rows.sum()
    freedom = values.size - np.unique(criteria).size
    if freedom < 2:
        return Estimate(reason="few")
    variance = float(centred @ centred) / freedom
    if variance < TINY:
        return Estimate(value=0.0, reason="constant")
    numbers, places = np.unique(items, return_inverse=True)
    pull = summed((centred**2 / variance - 1.0)[:, None] / 2, places, numbers.size)[:, 0]
    error = max(sqrt(float(pull @ pull)) / freedom, 1 / sqrt(2 * freedom))
    half, value = critical_t(max(1, numbers.size - 1)) * error, sqrt(variance)
    return Estimate(value=value, low=exp(log(value) - half), high=exp(log(value) + half))
