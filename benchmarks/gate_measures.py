"""Measures of a detector, a threshold chosen for one of them, and intervals by drawing groups anew."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from areopage.gate.grounding.fitting import FeatureTable, answers_of, fit_table, folds
from areopage.gate.grounding.model import probability

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
Whole = NDArray[np.int64]
GRID = np.arange(0.02, 0.7, 0.01)
SMOOTH = 9  # steps of the grid: the best stretch of it and no lucky point
DRAWS = 2000


def auroc(wrong: Flags, scores: Floats) -> float:
    """The chance that a wrong answer gets the higher score; ties count half."""
    order = np.sort(scores[~wrong])
    below = np.searchsorted(order, scores[wrong], side="left")
    upto = np.searchsorted(order, scores[wrong], side="right")
    return float((below + upto).mean() / 2 / len(order))


def f1(wrong: Flags, caught: Flags) -> float:
    """F1 of the wrong answers."""
    hits = float((wrong & caught).sum())
    return 2 * hits / max(1.0, float(wrong.sum() + caught.sum()))


def balanced_accuracy(wrong: Flags, caught: Flags) -> float:
    """The mean of the shares of wrong answers that are caught and of right ones that are not."""
    return float((caught[wrong].mean() + (~caught[~wrong]).mean()) / 2)


def choose(wrong: Flags, scores: Floats, measure: Callable[[Flags, Flags], float], also: Flags | None = None) -> float:
    """The threshold with the best measure, smoothed over its neighbours. `also` are caught at any threshold."""
    grid = np.quantile(scores, np.linspace(0.3, 0.98, 69)) if float(scores.max()) > 1.0 else GRID
    other = np.zeros_like(wrong) if also is None else also
    values = np.array([measure(wrong, (scores >= threshold) | other) for threshold in grid])
    smooth = np.convolve(np.pad(values, SMOOTH // 2, mode="edge"), np.full(SMOOTH, 1 / SMOOTH), mode="valid")
    return float(grid[int(np.argmax(smooth))])


def unseen(table: FeatureTable, used: Whole, seed: int, number: int) -> Floats:
    """p_unsupported of each of these answers by a model that was fitted without its group; 0 for one that claims nothing."""
    fold = folds(table.groups, number, seed)
    found = np.zeros(len(table.answers))
    for one in range(number):
        rest = used[fold[used] != one]
        model = fit_table(table, rest, seed=seed)
        for row, features in answers_of(table, model.sentence, used[fold[used] == one]).items():
            found[row] = probability(model.answer.logit(features))
    return found


def intervals(groups: Whole, measures: dict[str, Callable[[Whole], float]], seed: int = 0) -> dict[str, list[float]]:
    """95 % intervals of measures of a choice of rows: groups are drawn with replacement."""
    draw = np.random.default_rng(seed)
    members = [np.flatnonzero(groups == group) for group in np.unique(groups)]
    values: dict[str, list[float]] = {name: [] for name in measures}
    for _ in range(DRAWS):
        rows = np.concatenate([members[one] for one in draw.integers(0, len(members), len(members))])
        for name, measure in measures.items():
            values[name].append(measure(rows))
    return {name: [round(float(bound), 3) for bound in np.quantile(found, [0.025, 0.975])] for name, found in values.items()}
