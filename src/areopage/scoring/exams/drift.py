"""Whether a judge's scores of unchanged rows moved since its exam: a test that may be looked at after every round.

If the judge is unchanged, every call about a row with the same options is a draw from one distribution of that row: which of
a row's calls belong to the exam, to earlier rounds and to later ones is then chance. A statistic S of the later calls is
compared with its mean over all ways to choose as many calls of each row: exp(λS) / E exp(λS). Its expectation is exactly 1 for
any noise of the judge, so that it is an e-value. Nothing is estimated of the noise, and the exam's own noise is part of the
comparison.

Each round t is one look. The evidence is the sum of w(t)·e(t) over all looks so far, with weights that add up to 1: its
expectation never exceeds 1, so that it ever reaches 1/α with a chance of at most α (Markov's inequality for the sum, which
never falls). Between looks and between windows anything may depend on anything. Calls of different rows must be independent of
each other: a server whose state moves all answers of a day is what the test is to find.

Sources: N. Koning, "Post-hoc and anytime valid permutation and group invariance testing" (2023) for e-values of permutations;
V. Vovk, R. Wang, "E-values: calibration, combination and applications" (Annals of Statistics 49, 2021) for their mean
and for the family.
"""

import math
from collections.abc import Callable, Mapping, Sequence

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from areopage.scoring.arrays import Column
from areopage.scoring.exams.records import DriftKind, Look, Said, Shift
from areopage.scoring.families import ALPHA

Asked = Mapping[str, Sequence[Said]]
"""What a judge said of each row, pass by pass."""

KINDS: Mapping[DriftKind, float] = {"level": 0.5, "answers": 0.25, "verdicts": 0.25}
"""The share of the evidence that each kind gets."""

_LONGEST = 32
_TILTS = np.array([1.0, 2.0, 4.0, 8.0, 16.0, 32.0])
"""λ, with scores as shares of the scale: small ones for small shifts of noisy judges."""
_BOTH = np.concatenate([_TILTS, -_TILTS])
_SUM_OF_WEIGHTS = 2.11
"""Σ 1/(m ln² m) from m = 2 on is 2.1097."""
_EXACT = 12
"""Up to this number of calls the mean over all choices is computed; beyond it the mean of draws with replacement bounds it."""
_MOST = 1e12
_CLOSE = 1e-3


class DriftSeries(Struct, frozen=True):
    """What a judge said of a canary's rows: in its exam, and in each round since.

    Args:
        cells: the calls of one row with the same options, in the order of the counts.
        groups: of each pass a number that passes with the same options share.
        span: the width of the criterion's scale.
        scores, lacks: the calls counted by their score, as a share of the scale, and by whether they lack one (1) or not (0).
    """

    cells: dict[tuple[str, int], int]
    groups: tuple[int, ...]
    span: float
    scores: "_Calls"
    lacks: "_Calls"

    @classmethod
    def of(cls, exam: Asked, rounds: Sequence[Asked], groups: Sequence[int], span: float) -> "DriftSeries":
        """The calls of an exam and of rounds in their order; rows that only a round has are left out."""
        order = {row: place for place, row in enumerate(exam)}
        cells = {cell: place for place, cell in enumerate((row, group) for row in exam for group in sorted(set(groups)))}
        rows = np.array([order[row] for row, _ in cells], dtype=np.int64)
        scores, lacks = (
            _Calls(rows, values, np.zeros((0, len(cells), values.size))) for values in (np.zeros(0), np.array([0.0, 1.0]))
        )
        series = cls(cells, tuple(groups), span, scores, lacks)
        for asked in (exam, *rounds):
            series = series.then(asked)
        return series

    def then(self, asked: Asked) -> "DriftSeries":
        """The series with another round."""
        scores, lacks = list[tuple[int, float]](), list[tuple[int, float]]()
        for row, said in asked.items():
            for group, verdict in zip(self.groups, said, strict=False):
                if (place := self.cells.get((row, group))) is not None:
                    has_score = isinstance(verdict, int | float)
                    lacks.append((place, 0.0 if has_score else 1.0))
                    scores += [(place, round(verdict / self.span, 9))] if isinstance(verdict, int | float) else []
        return DriftSeries(self.cells, self.groups, self.span, self.scores.then(scores), self.lacks.then(lacks))

    @property
    def rounds(self) -> int:
        """How many rounds there are."""
        return len(self.lacks.counts) - 1

    def look(self, before: float = 0.0) -> Look:
        """Look at the latest round.

        The latest 1, 2, 4 … 32 rounds are compared with all calls before them, and all rounds with the exam.

        `before` is the evidence of the look before; 0 for the first.
        """
        count = self.rounds
        sizes = windows(count)
        comparisons: list[tuple[float, DriftKind, int]] = []
        for window in sizes:
            level, answers = _logs(self.scores.split(window))
            verdicts, _ = _logs(self.lacks.split(window))
            comparisons += [(level, "level", window), (answers, "answers", window), (verdicts, "verdicts", window)]
        added = sum(KINDS[kind] * math.exp(min(logs, math.log(_MOST))) for logs, kind, _ in comparisons) / len(sizes)
        _, kind, window = max(comparisons, key=lambda comparison: comparison[0])
        return Look(rounds=count, evidence=min(_MOST, before + _weight(count) * added), kind=kind, window=window)

    def shift(self, window: int) -> Shift:
        """Estimate how far the scores moved: the latest rounds, one of `windows`, against all calls before them."""
        scores, lacks, span = self.scores.split(window), self.lacks.split(window), self.span
        before, after = (float(side[:, 1].sum() / max(1.0, side.sum())) for side in (lacks.old, lacks.new))
        old, new = scores.old.sum(axis=1), scores.new.sum(axis=1)
        both = (old > 0) & (new > 0)
        if not both.any():
            return Shift(unscored=after, unscored_before=before)
        weights = np.where(both, old * new / np.maximum(1.0, old + new), 0.0)
        differences = np.where(both, _means(scores.values, scores.new) - _means(scores.values, scores.old), 0.0)
        value = float(weights @ differences / weights.sum())
        limit = -math.log(ALPHA * _weight(self.rounds) * KINDS["level"] / len(windows(self.rounds)))

        def leaves_out(by: float) -> bool:
            return _logs(scores.lowered(by))[0] >= limit

        totals = np.bincount(scores.rows, weights=weights)
        by_row = np.bincount(scores.rows, weights=weights * differences)[totals > 0] / totals[totals > 0]
        return Shift(
            value=value * span,
            low=_end(leaves_out, value, -1.0) * span,
            high=_end(leaves_out, value, 1.0) * span,
            apart=float(np.abs(by_row).mean()) * span,
            rows=int((totals > 0).sum()),
            unscored=after,
            unscored_before=before,
        )


def moved(evidence: Mapping[str, float]) -> frozenset[str]:
    """Which members of a family moved: all of them together raise a false alarm with a chance of at most α.

    A member is named if the mean evidence of every part of the family that holds it reaches 1/α (closed testing).

    Args:
        evidence: of each criterion of one judge, as `look` gives it.
    """
    named: set[str] = set()
    for name in evidence:
        others = np.sort([value for other, value in evidence.items() if other != name])
        sums = evidence[name] + np.concatenate([[0.0], np.cumsum(others)])
        if (sums / np.arange(1, len(sums) + 1)).min() >= 1.0 / ALPHA:
            named.add(name)
    return frozenset(named)


def windows(count: int) -> list[int]:
    """The numbers of latest rounds that are compared with all calls before them, of `count` rounds."""
    return sorted({size for size in (1, 2, 4, 8, 16, _LONGEST) if size < count} | {count})


def _weight(count: int) -> float:
    """The share of a look; the shares of all looks add up to 1 at most, and fall slowly."""
    return 1.0 / ((count + 1) * math.log(count + 1) ** 2 * _SUM_OF_WEIGHTS)


def _end(leaves_out: Callable[[float], bool], inside: float, outside: float) -> float:
    """The end of an interval between a value inside and the farthest one."""
    if not leaves_out(outside):
        return outside
    while abs(outside - inside) > _CLOSE:
        middle = (inside + outside) / 2
        inside, outside = (inside, middle) if leaves_out(middle) else (middle, outside)
    return outside


# --- calls, counted by value


class _Split(Struct, frozen=True):
    """Calls before and after a moment. A cell holds the calls of one row with the same options.

    Args:
        rows: the number of each cell's row.
        values: the different values of all calls, as shares of the scale.
        old, new: how often each value was given, of shape (cells, values).
    """

    rows: NDArray[np.int64]
    values: Column
    old: Column
    new: Column

    def lowered(self, by: float) -> "_Split":
        """The same with all later values lowered."""
        nothing = np.zeros_like(self.old)
        values = np.concatenate([self.values, self.values - by])
        return _Split(self.rows, values, np.hstack([self.old, nothing]), np.hstack([nothing, self.new]))


class _Calls(Struct, frozen=True):
    """All calls: `counts` has the shape (1 + rounds, cells, values); the first are those of the exam."""

    rows: NDArray[np.int64]
    values: Column
    counts: Column

    def then(self, verdicts: Sequence[tuple[int, float]]) -> "_Calls":
        """The calls with those of another round, by cell."""
        values = np.union1d(self.values, [value for _, value in verdicts])
        counts = np.zeros((len(self.counts) + 1, self.counts.shape[1], len(values)))
        counts[:-1, :, np.searchsorted(values, self.values)] = self.counts
        for place, value in verdicts:
            counts[-1, place, np.searchsorted(values, value)] += 1.0
        return _Calls(self.rows, values, counts)

    def split(self, window: int) -> _Split:
        """The latest rounds, and all before."""
        at = len(self.counts) - window
        return _Split(self.rows, self.values, self.counts[:at].sum(axis=0), self.counts[at:].sum(axis=0))


def _means(values: Column, counts: Column) -> Column:
    means: Column = counts @ values / np.maximum(1.0, counts.sum(axis=1))
    return means


# --- e-values


def _logs(split: _Split) -> tuple[float, float]:
    """The logarithms of the e-values that all rows moved one way, and that each row moved in its own way."""
    sizes = np.stack([split.old.sum(axis=1), split.new.sum(axis=1)])
    is_compared = (sizes > 0).all(axis=0) & ((split.old + split.new > 0).sum(axis=1) > 1)
    if not is_compared.any():
        return 0.0, 0.0
    rows, old, new = split.rows[is_compared], split.old[is_compared], split.new[is_compared]
    means = _means(split.values, old + new)
    # what the smaller side gives is minus what the other gives
    smaller = np.where((sizes[0] < sizes[1])[is_compared, None], old, new)
    tilts = np.where((sizes[0] < sizes[1])[is_compared, None], -_BOTH, _BOTH)
    size = smaller.sum(axis=1)
    sums = smaller @ split.values - size * means
    by_cell = tilts * sums[:, None] - _log_expected(split.values[None, :] - means[:, None], old + new, size, tilts)
    by_row = np.zeros((int(rows.max()) + 1, len(_BOTH)))
    np.add.at(by_row, rows, by_cell)
    level = _log_mean(by_row.sum(axis=0))
    ways = np.stack([by_row[:, : len(_TILTS)], by_row[:, len(_TILTS) :]])
    answers = (np.logaddexp(ways[0], ways[1]) - math.log(2.0)).sum(axis=0)
    return level, _log_mean(answers)


def _log_expected(values: Column, counts: Column, size: Column, tilts: Column) -> Column:
    """The logarithm of E exp(λS), where S is the sum of `size` calls drawn from each cell without replacement.

    It is an elementary symmetric polynomial of exp(λx). For many calls the bound by draws with replacement is taken, so that the
    e-value errs to the safe side (W. Hoeffding, "Probability inequalities for sums of bounded random variables", Journal of the
    American Statistical Association 58, 1963, theorem 4).

    Args:
        values: of shape (cells, values), minus the cell's mean.
    """
    powers = np.exp(tilts[:, :, None] * values[:, None, :])
    totals = counts.sum(axis=1)
    logs: Column = size[:, None] * np.log((powers * counts[:, None, :]).sum(axis=2) / totals[:, None])
    exact = size <= _EXACT
    if exact.any():
        most = int(size[exact].max())
        sums = _symmetric(powers[exact], counts[exact], most)
        chosen = np.take_along_axis(sums, size[exact].astype(np.int64)[:, None, None], axis=2)[:, :, 0]
        ways = [math.log(math.comb(int(total), int(count))) for total, count in zip(totals[exact], size[exact], strict=True)]
        logs[exact] = np.log(chosen) - np.array(ways)[:, None]
    return logs


def _symmetric(powers: Column, counts: Column, most: int) -> Column:
    """The elementary symmetric polynomials up to a degree, of values with their counts: shape (cells, tilts, 1 + most)."""
    sums = np.zeros((*powers.shape[:2], most + 1))
    sums[:, :, 0] = 1.0
    for place in range(powers.shape[2]):
        terms, next_sums = np.ones(powers.shape[:2]), sums.copy()
        for degree in range(1, most + 1):
            left = np.maximum(0.0, counts[:, place] - degree + 1)
            if not left.any():
                break
            terms = terms * (left / degree)[:, None] * powers[:, :, place]
            next_sums[:, :, degree:] += terms[:, :, None] * sums[:, :, : most + 1 - degree]
        sums = next_sums
    return sums


def _log_mean(logs: Column) -> float:
    """The logarithm of the mean of the exponentials."""
    most = float(logs.max())
    return most + math.log(float(np.exp(logs - most).mean()))
