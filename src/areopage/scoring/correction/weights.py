"""Weights of a jury's judges, learned from few labels: ridge regression around the jury's mean, chosen by leaving labels out.

A score by people is predicted from the jury's mean, each judge's distance from that mean, and, where items belong to groups such
as their criterion, a level of each group. Each part is shrunk: with the strongest shrinkage what remains is the line through the
jury's mean. The error on labels left out chooses the strength, so that with few labels the jury stays near its plain mean.

Sources:
- A. E. Hoerl, R. W. Kennard, "Ridge regression" (Technometrics 12, 1970).
- L. Breiman, "Stacked regressions" (Machine Learning 24, 1996): weights of predictors by errors on items left out.
- D. M. Allen, "The relationship between variable selection and data augmentation" (Technometrics 16, 1974): the error of a label
  left out is e / (1 - h), without fitting anew.
- T. Zrnic, E. J. Candès, "Cross-prediction-powered inference" (PNAS 121, 2024): predictions learned from the same labels keep
  intervals valid where each label is predicted by a fit that has not seen it.
"""

from collections.abc import Sequence
from itertools import product
from math import sqrt

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from areopage.scoring.arrays import Column, Matrix
from areopage.scoring.correction.maps import fold_numbers
from areopage.scoring.correlation import TINY

Groups = NDArray[np.int64]

_JUDGE_PENALTIES = (0.1, 0.3, 1.0, 3.0, 1e6)
_MEAN_PENALTIES = (1e-3, 0.05)
_GROUP_PENALTIES = (1.0, 4.0, 16.0, 1e6)
"""In labels' worth: a group of this size keeps half of its distance from the others. 1e6 leaves groups, or judges, alike."""
_FEWEST = 8


class JuryWeights(Struct, frozen=True, kw_only=True):
    """A prediction of people's scores: `start` + Σ weight × score + the group's level, in points of the scale.

    Args:
        weights: of each judge, in the order of the columns.
        levels: of each group, by its number; () without groups. A group without labels has 0.
        error: root of the mean squared error on labels left out.
        mean_error: the same of the line through the jury's plain mean.
        labels: how many labels the weights rest on.
    """

    start: float
    weights: tuple[float, ...]
    levels: tuple[float, ...] = ()
    error: float
    mean_error: float
    labels: int

    def predict(self, scores: Matrix, groups: Groups | None = None) -> Column:
        """Predict people's scores.

        Args:
            scores: by the judges, shape (N, m); NaN where one is missing, which then counts as the mean of the others.
            groups: each item's number from 0, shape (N,); numbers that had no labels have no level.
        """
        found: Column = self.start + filled(scores) @ np.array(self.weights)
        if groups is not None and self.levels:
            levels = np.array([*self.levels, 0.0])
            found += levels[np.where(groups < len(self.levels), groups, -1)]
        return found


def filled(scores: Matrix) -> Matrix:
    """Scores with missing ones replaced by the mean of the item's others, shape (N, m); each item has at least one score."""
    missing = np.isnan(scores)
    if not missing.any():
        return scores
    found: Matrix = np.where(missing, np.nanmean(scores, axis=1, keepdims=True), scores)
    return found


def fit_weights(people: Column, scores: Matrix, groups: Groups | None = None, *, base: Column | None = None) -> JuryWeights:
    """Learn a jury's weights.

    Args:
        people: labelled items' scores by people, shape (n,), n >= 1, in points of the scale.
        scores: by the judges, shape (n, m); NaN where one is missing.
        groups: the number of each item's group, from 0, shape (n,), such as its criterion's.
        base: the weights of the jury's mean, shape (m,) with the sum 1, such as `agreement_weights`; None for equal ones.
    """
    table = filled(scores)
    judges, size = table.shape[1], people.size
    equal = np.full(judges, 1.0 / judges) if base is None else base
    middle = table @ equal
    unit = sqrt(float(table.var())) or 1.0
    features = np.column_stack([middle, table - middle[:, None]]) / unit
    count = 0 if groups is None else int(groups.max()) + 1
    if groups is not None:
        features = np.column_stack([features, np.eye(count)[groups]])
    centre, level = features.mean(axis=0), float(people.mean())
    penalties, only_mean = _penalties(judges, count, size)
    tried, errors = _ridge(features - centre, people - level, penalties)
    best = int(errors.argmin())
    found = tried[best]
    by_judge = found[1 : judges + 1] / unit
    return JuryWeights(
        start=level - float(centre @ found),
        weights=tuple(((found[0] / unit - by_judge.sum()) * equal + by_judge).tolist()),
        levels=tuple(found[judges + 1 :].tolist()),
        error=sqrt(float(errors[best])),
        mean_error=sqrt(float(errors[only_mean].min())),
        labels=size,
    )


def _penalties(judges: int, groups: int, size: int) -> tuple[Matrix, NDArray[np.bool_]]:
    """The penalties that are tried, a row each with one per feature, and which leave the line through the jury's mean alone."""
    by_judge = _JUDGE_PENALTIES if judges > 1 and size >= _FEWEST else _JUDGE_PENALTIES[-1:]
    by_group = _GROUP_PENALTIES if groups > 1 and size >= _FEWEST else _GROUP_PENALTIES[-1:]
    tried = np.array(list(product(_MEAN_PENALTIES, by_judge, by_group)))
    found = np.column_stack(
        [tried[:, :1] * size, np.repeat(tried[:, 1:2] * size, judges, axis=1), np.repeat(tried[:, 2:], groups, axis=1)]
    )
    return found, (tried[:, 1] == _JUDGE_PENALTIES[-1]) & (tried[:, 2] == _GROUP_PENALTIES[-1])


def _ridge(features: Matrix, people: Column, penalties: Matrix) -> tuple[Matrix, Column]:
    """Coefficients of centred features for each row of penalties, and the mean squared errors of labels left out (Allen 1974)."""
    inverses = np.linalg.inv(features.T @ features + penalties[:, :, None] * np.eye(features.shape[1]))
    found: Matrix = inverses @ (features.T @ people)
    held = ((features @ inverses) * features).sum(axis=2) + 1 / people.size
    strays = (people - found @ features.T) / np.maximum(1.0 - held, TINY)
    errors: Column = (strays**2).mean(axis=1)
    return found, errors


def cross_fitted(
    people: Column,
    scores: Matrix,
    judged: Matrix,
    groups: tuple[Groups, Groups] | None = None,
    *,
    base: Column | None = None,
    seed: int = 0,
    folds: int = 10,
) -> tuple[Column, Column]:
    """Predictions for `corrected_mean`: of each labelled item by weights that have not seen its label, and of all judged items.

    An item without a label gets the mean prediction of all folds, and so does, among all judged items, one with a label.

    Args:
        people: labelled items' scores by people, shape (n,).
        scores: of the labelled items by the judges, shape (n, m).
        judged: of all judged items, those with labels too, shape (N, m).
        groups: of the labelled and of all judged items, shapes (n,) and (N,).
        base: as in `fit_weights`.
        seed: of the folds.

    Returns:
        Shapes (n,) and (N,), in points of the scale.
    """
    numbers = fold_numbers(people.size, seed, folds)
    own, fits = np.zeros(people.size), []
    for part in np.unique(numbers):
        out = numbers == part
        found = fit_weights(people[~out], scores[~out], None if groups is None else groups[0][~out], base=base)
        own[out] = found.predict(scores[out], None if groups is None else groups[0][out])
        fits.append(found)
    return own, mean_weights(fits).predict(judged, None if groups is None else groups[1])


def mean_weights(fits: Sequence[JuryWeights]) -> JuryWeights:
    """Weights whose prediction is the mean of those of several fits, at least one."""
    levels = np.zeros((len(fits), max(len(one.levels) for one in fits)))
    for row, one in zip(levels, fits, strict=True):
        row[: len(one.levels)] = one.levels
    return JuryWeights(
        start=float(np.mean([one.start for one in fits])),
        weights=tuple(np.mean([one.weights for one in fits], axis=0).tolist()),
        levels=tuple(levels.mean(axis=0).tolist()),
        error=float(np.mean([one.error for one in fits])),
        mean_error=float(np.mean([one.mean_error for one in fits])),
        labels=sum(one.labels for one in fits) // len(fits),
    )
