"""The figures of one judge on one criterion of a gold set, and whether they reach the marks."""

from collections.abc import Iterable, Sequence
from itertools import combinations
from statistics import fmean

import numpy as np

from areopage.criteria import Scale
from areopage.scoring.agreement_with_people import kappa_estimate
from areopage.scoring.arrays import Column
from areopage.scoring.exams.intervals import (
    counts_of,
    error_interval,
    first_enough,
    rows_for_mean,
    rows_for_separation,
    separation,
    separation_interval,
)
from areopage.scoring.exams.records import (
    EXAM_NOT_APPLICABLE,
    HIGH,
    LOW,
    CriterionExam,
    ExamItem,
    Figure,
    Mark,
    MarkName,
    Marks,
    MarkState,
    Said,
)
from areopage.scoring.paired import paired_difference
from areopage.scoring.shares import Share, wilson

MOST_ROWS = 2_000
"""Of more rows nothing is said: a figure that needs them lies too near its mark."""


def examine(criterion: str, items: Sequence[ExamItem], scale: Scale, marks: Marks, *, repeats: bool = True) -> CriterionExam:
    """Compute an exam's figures on one criterion.

    Args:
        items: every row that the criterion was asked about.
        scale: the criterion's own, on which bands and scores are.
        repeats: the judge may answer otherwise when it is asked again; code does not.
    """
    banded = [_BandedRow(item, scale) for item in items if item.low is not None]
    said = [row for row in banded if row.said is not None]
    low, high = (
        np.array([row.placed for row in said if row.side == side and not row.waived], dtype=np.float64)
        for side in ("low", "high")
    )
    passes = max((len(item.passes) for item in items), default=0)
    pairs = passes * (passes - 1) / 2
    widest = (passes // 2) * (passes - passes // 2) / pairs if pairs else 1.0  # the greatest mean difference of two passes
    spread = _distances((combinations(item.passes, 2) for item in items), scale)
    changes = _distances((((item.passes[0], change) for change in item.variants.values()) for item in items), scale)
    errors = np.abs(np.array([row.distance for row in said], dtype=np.float64))
    results = {
        "separation": _separation_mark(low, high, marks.separation),
        "error": _distance_mark("error", errors, fmean([row.reach for row in said]) if said else 1.0, marks.error),
        "parsed": _parsed_mark([None not in item.passes for item in items], marks.parsed),
        "consistency": _distance_mark("consistency", spread, widest, marks.consistency),
        "sensitivity": _distance_mark("sensitivity", changes, 1.0, marks.sensitivity),
    }
    counted = tuple(mark for name, mark in results.items() if repeats or name != "consistency")
    return CriterionExam(
        criterion=criterion,
        state="qualified" if all(mark.state == "met" for mark in counted) else "not_qualified",
        rows=len(banded),
        low_rows=sum(row.side == "low" for row in banded),
        high_rows=sum(row.side == "high" for row in banded),
        passes=passes,
        kappa=_kappa([row for row in said if row.side and not row.waived]),
        bias=_signed({row.item.row: row.distance for row in said}),
        inside=_share([row.distance == 0 for row in said]),
        shifts=_shifts(items, scale),
        applicability=_share([_mean_said(item) == EXAM_NOT_APPLICABLE for item in items if item.low is None]),
        marks=counted,
        checked_rows=sum(row.item.checked for row in banded),
        **{name: mark.figure for name, mark in results.items()},
    )


class _BandedRow:
    """A row with a band, as one judge judged it; places and distances are shares of the scale.

    That the criterion does not apply, where it does, is as wrong as can be.
    """

    def __init__(self, item: ExamItem, scale: Scale) -> None:
        low, high = (_place(end, scale) for end in (item.low or 0.0, item.high or 0.0))
        self.item, self.said = item, _mean_said(item)
        self.side = "low" if high <= LOW else "high" if low >= HIGH else "middle" if low > LOW and high < HIGH else ""
        self.reach = max(low, 1.0 - high)
        self.waived = self.said == EXAM_NOT_APPLICABLE and item.may_not_apply
        if isinstance(self.said, float):
            self.placed = _place(self.said, scale)
            self.distance = round(min(0.0, self.placed - low) + max(0.0, self.placed - high), 9)
        else:
            self.placed = 0.0 if self.side == "high" else 1.0
            self.distance = 0.0 if self.waived else -self.reach if low > 1.0 - high else self.reach


def _place(score: float, scale: Scale) -> float:
    return (score - scale.min) / (scale.max - scale.min)


def _mean_said(item: ExamItem) -> Said:
    """The mean of the passes' scores; that the criterion does not apply, where more passes say so than give a score."""
    scores = [float(said) for said in item.passes if isinstance(said, int | float)]
    waived = sum(said == EXAM_NOT_APPLICABLE for said in item.passes)
    return EXAM_NOT_APPLICABLE if waived > len(scores) else fmean(scores) if scores else None


def _apart(first: Said, second: Said, scale: Scale) -> float | None:
    """How far two verdicts lie apart, second − first; a score and "does not apply" lie the whole scale apart."""
    if first is None or second is None:
        return None
    if isinstance(first, int | float) and isinstance(second, int | float):
        return _place(second, scale) - _place(first, scale)
    return 0.0 if first == second else 1.0


def _distances(pairs_of_items: Iterable[Iterable[tuple[Said, Said]]], scale: Scale) -> Column:
    """The mean distance of each item's pairs of verdicts; items without a pair are left out."""
    means: list[float] = []
    for pairs in pairs_of_items:
        distances = [abs(apart) for first, second in pairs if (apart := _apart(first, second, scale)) is not None]
        means += [fmean(distances)] if distances else []
    return np.array(means, dtype=np.float64)


# --- figures


def _signed(values: dict[str, float]) -> Figure:
    """The mean of values in [−1, 1], by row."""
    mean = paired_difference(values, dict.fromkeys(values, 0.0), span=1.0)
    return Figure(value=mean.difference, low=mean.low, high=mean.high, of=mean.pairs)


def _share(hits: Sequence[bool]) -> Figure:
    share = Share.counted(sum(hits), len(hits))
    return Figure(value=share.share, low=share.low, high=share.high, of=share.of)


def _kappa(rows: Sequence[_BandedRow]) -> Figure:
    """κ of the three grades: the band's, and that of the score."""
    sides = {"low": 0.0, "middle": 1.0, "high": 2.0}
    gold = np.array([sides[row.side] for row in rows], dtype=np.float64)
    judged = np.array([0.0 if row.placed <= LOW else 2.0 if row.placed >= HIGH else 1.0 for row in rows], dtype=np.float64)
    kappa = kappa_estimate(judged, gold, (0.0, 2.0))
    return Figure(value=kappa.value, low=kappa.low, high=kappa.high, of=len(rows))


def _shifts(items: Sequence[ExamItem], scale: Scale) -> dict[str, Figure]:
    by_change: dict[str, dict[str, float]] = {}
    for item in items:
        for name, said in item.variants.items():
            apart = _apart(item.passes[0], said, scale)
            if apart is not None:
                by_change.setdefault(name, {})[item.row] = apart
    return {name: _signed(values) for name, values in by_change.items()}


# --- marks


def _separation_mark(low: Column, high: Column, limit: float) -> Mark:
    value, of = separation(low, high), low.size + high.size
    ends = (None, None) if value is None else separation_interval(value, low.size, high.size)
    figure = Figure(value=value, low=ends[0], high=ends[1], of=of)
    state, wanted = _state(figure, limit, at_least=True), None
    if state == "open":
        wanted = rows_for_separation(1.0 if value is None else value, low.size, high.size, limit, MOST_ROWS)
    more = (wanted[0] - low.size, wanted[1] - high.size) if wanted else (0, 0)
    return Mark(
        name="separation",
        state=state,
        limit=limit,
        figure=figure,
        needed=sum(more) if wanted else None,
        needed_low=more[0],
        needed_high=more[1],
    )


def _distance_mark(name: MarkName, values: Column, end: float, limit: float) -> Mark:
    if not values.size:
        return Mark(name=name, state="open", limit=limit, figure=Figure())
    counts = counts_of(values)
    low, high = error_interval(counts, end)
    figure = Figure(value=float(values.mean()), low=low, high=high, of=values.size)
    state = _state(figure, limit, at_least=False)
    wanted = rows_for_mean(counts, end, limit, MOST_ROWS) if state == "open" else None
    needed = None if wanted is None else max(1, wanted - values.size)
    return Mark(name=name, state=state, limit=limit, figure=figure, needed=needed)


def _parsed_mark(parsed: Sequence[bool], limit: float) -> Mark:
    figure = _share(parsed)
    state, share, wanted = _state(figure, limit, at_least=True), figure.value, None

    def enough(rows: int) -> bool:
        ends = wilson(round((share or 0.0) * rows), rows)
        return ends is not None and ends[0] >= limit

    if state == "open" and share is not None and share > limit:
        wanted = first_enough(enough, figure.of, MOST_ROWS)
    needed = None if wanted is None else max(1, wanted - figure.of)
    return Mark(name="parsed", state=state, limit=limit, figure=figure, needed=needed)


def _state(figure: Figure, limit: float, *, at_least: bool) -> MarkState:
    if figure.low is None or figure.high is None:
        return "open"
    if at_least:
        return "met" if figure.low >= limit else "not_met" if figure.high < limit else "open"
    return "met" if figure.high <= limit else "not_met" if figure.low > limit else "open"
