"""How many labels a stated precision takes, and which items teach a correction most.

Sources:
- W. G. Cochran, "Sampling Techniques" (3rd edition, 1977), 4.6 and 7.29: sample sizes, with the residual variance (1 - r²) s².
- V. V. Fedorov, "Theory of Optimal Experiments" (1972): the design whose information matrix has the largest determinant, built
  item by item; each next item is the one whose prediction is the least certain.
"""

from bisect import bisect_left
from math import inf, sqrt

import numpy as np
from msgspec import Struct

from areopage.scoring import TINY, Matrix, critical_t
from areopage.trust.correction.weights import filled

_FEWEST = 10
"""A plan never asks for fewer labels: with fewer the estimated weight is arbitrary."""


class LabelPlan(Struct, frozen=True, kw_only=True):
    """How many random labels an interval of half the width `precision` takes.

    Args:
        precision: half the width of the 95 % interval, in points of the scale.
        labels: how many, with the judges' help; all items where fewer do not do.
        labels_alone: how many without any judge.
        reached: half the width that `labels` give, as expected; all items labelled give 0.
        judged: how many items there are.
    """

    precision: float
    labels: int
    labels_alone: int
    reached: float
    judged: int


def plan_labels(precision: float, spread: float, correlation: float, judged: int) -> LabelPlan:
    """How many of the judged items to label at random.

    Args:
        precision: half the width of the interval of the corrected mean, in points of the scale, over 0.
        spread: standard deviation of people's scores over items, in points; from earlier labels, or as assumed.
        correlation: of people's scores with the jury's, in [-1, 1].
        judged: how many items are judged, N >= 1.
    """
    helped = spread * sqrt(max(0.0, 1.0 - correlation * correlation))
    labels = _fewest(precision, helped, judged, used=2)
    return LabelPlan(
        precision=precision,
        labels=labels,
        labels_alone=_fewest(precision, spread, judged, used=1),
        reached=half_width(labels, helped, judged, used=2),
        judged=judged,
    )


def half_width(labels: int, spread: float, judged: int, *, used: int) -> float:
    """Half the width of a mean's interval, in points, by the standard deviation of what is left to explain.

    `used` are the degrees of freedom that the estimate takes: 2 with a weight, 1 without.
    """
    if labels >= judged:
        return 0.0
    if labels <= used:
        return inf
    return critical_t(labels - used) * spread * sqrt(1 / labels - 1 / judged)


def _fewest(precision: float, spread: float, judged: int, *, used: int) -> int:
    """The smallest number of labels whose half width is at most `precision`; it falls as the number grows."""
    least = min(_FEWEST, judged)
    return least + bisect_left(
        range(least, judged), True, key=lambda labels: half_width(labels, spread, judged, used=used) <= precision
    )


def teaching_items(scores: Matrix, count: int, labelled: tuple[int, ...] = ()) -> tuple[int, ...]:
    """The items whose labels tell most about judges' weights and scale, in the order of what they add.

    Items are chosen by the judges' scores alone, never by what people said; a fit of people's scores on judges' stays valid, a
    mean of these labels does not: they are no random sample.

    Args:
        scores: of all judged items, shape (N, m); NaN where a score is missing, though not all of an item's.
        count: how many, at most.
        labelled: indexes of items that are labelled already, or will be; they are not chosen again.
    """
    table = filled(scores)
    middle = table.mean(axis=1, keepdims=True)
    apart = (table - middle)[:, : table.shape[1] - 1]  # the distances add up to 0: the last one tells nothing new
    features = np.column_stack([np.ones(len(table)), middle - middle.mean(), apart])
    spans = features.std(axis=0)
    features = features / np.where(spans > TINY, spans, 1.0)
    information = np.eye(features.shape[1]) + features[list(labelled)].T @ features[list(labelled)]
    inverse, open_items = np.linalg.inv(information), np.ones(len(table), dtype=bool)
    open_items[list(labelled)] = False
    chosen: list[int] = []
    for _ in range(min(count, int(open_items.sum()))):
        unsure = np.where(open_items, ((features @ inverse) * features).sum(axis=1), -1.0)
        best = int(unsure.argmax())
        step = inverse @ features[best]
        inverse -= np.outer(step, step) / (1.0 + float(features[best] @ step))
        open_items[best] = False
        chosen.append(best)
    return tuple(chosen)
