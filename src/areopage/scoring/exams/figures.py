"""The figures of one judge on one criterion of a gold set, and whether they reach the marks."""

from collections.abc import Sequence
from itertools import combinations
from statistics import fmean

import numpy as np

from areopage.criteria import Scale
from areopage.scoring.agreement_with_people import kappa_estimate
from areopage.scoring.exams.intervals import (
    Column,
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
    banded = [_Row(item, scale) for item in items if item.low is not None]
    said = [row for row in banded if row.said is not None]
    low = np.array([row.placed for row in said if row.side == "low" and not row.waived], dtype=np.float64)
    high = np.array([row.placed for row in said if row.side == "high" and not row.waived], dtype=np.float64)
    spread = [one for item in items if (one := _spread(item, scale)) is not None]
    passes = max((len(item.passes) for item in items), default=0)
    changes = [one for item in items if (one := _change(item, scale)) is not None]
    errors = np.array([row.distance for row in said], dtype=np.float64)
    reach = fmean([row.reach for row in said]) if said else 1.0
    found = {
        "separation": _separation(low, high),
        "error": _mean(np.abs(errors), reach),
        "parsed": _share([None not in item.passes for item in items]),
        "consistency": _mean(np.array(spread), _widest(passes)),
        "sensitivity": _mean(np.array(changes), 1.0),
    }
    results = [_separation_mark(found["separation"], low.size, high.size, marks.separation)]
    results.append(_distance_mark("error", found["error"], np.abs(errors), reach, marks.error))
    results.append(_parsed_mark(found["parsed"], marks.parsed))
    if repeats:
        results.append(_distance_mark("consistency", found["consistency"], np.array(spread), _widest(passes), marks.consistency))
    results.append(_distance_mark("sensitivity", found["sensitivity"], np.array(changes), 1.0, marks.sensitivity))
    return CriterionExam(
        criterion=criterion,
        state="qualified" if all(mark.state == "met" for mark in results) else "not_qualified",
        rows=len(banded),
        low_rows=sum(row.side == "low" for row in banded),
        high_rows=sum(row.side == "high" for row in banded),
        passes=passes,
        kappa=_kappa([row for row in said if row.side and not row.waived]),
        bias=_signed({row.item.row: row.distance for row in said}),
        inside=_share([row.distance == 0 for row in said]),
        shifts=_shifts(items, scale),
        applicability=_share([_mean_said(item) == EXAM_NOT_APPLICABLE for item in items if item.low is None]),
        marks=tuple(results),
        checked_rows=sum(row.item.checked for row in banded),
        **found,
    )


class _Row:
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
    scores = [float(one) for one in item.passes if isinstance(one, int | float)]
    waived = sum(one == EXAM_NOT_APPLICABLE for one in item.passes)
    return EXAM_NOT_APPLICABLE if waived > len(scores) else fmean(scores) if scores else None


def _apart(first: Said, second: Said, scale: Scale) -> float | None:
    """How far two verdicts lie apart, second − first; a score and "does not apply" lie the whole scale apart."""
    if first is None or second is None:
        return None
    if isinstance(first, int | float) and isinstance(second, int | float):
        return _place(second, scale) - _place(first, scale)
    return 0.0 if first == second else 1.0


def _spread(item: ExamItem, scale: Scale) -> float | None:
    """The mean difference of two passes; None under two of them."""
    found = [abs(one) for pair in combinations(item.passes, 2) if (one := _apart(*pair, scale)) is not None]
    return fmean(found) if found else None


def _change(item: ExamItem, scale: Scale) -> float | None:
    """The mean change by harmless changes, against the first pass; None without any."""
    found = [abs(one) for said in item.variants.values() if (one := _apart(item.passes[0], said, scale)) is not None]
    return fmean(found) if found else None


def _widest(passes: int) -> float:
    """The greatest mean difference that two of `passes` passes can have."""
    pairs = passes * (passes - 1) / 2
    return (passes // 2) * (passes - passes // 2) / pairs if pairs else 1.0


# --- figures


def _separation(low: Column, high: Column) -> Figure:
    value = separation(low, high)
    if value is None:
        return Figure(of=low.size + high.size)
    ends = separation_interval(value, low.size, high.size)
    return Figure(value=value, low=ends[0], high=ends[1], of=low.size + high.size)


def _mean(values: Column, end: float) -> Figure:
    if not values.size:
        return Figure()
    low, high = error_interval(counts_of(values), end)
    return Figure(value=float(values.mean()), low=low, high=high, of=values.size)


def _signed(values: dict[str, float]) -> Figure:
    """The mean of values in [−1, 1], by row."""
    found = paired_difference(values, dict.fromkeys(values, 0.0), span=1.0)
    return Figure(value=found.difference, low=found.low, high=found.high, of=found.pairs)


def _share(hits: Sequence[bool]) -> Figure:
    found = Share.counted(sum(hits), len(hits))
    return Figure(value=found.share, low=found.low, high=found.high, of=found.of)


def _kappa(rows: Sequence[_Row]) -> Figure:
    """κ of the three grades: the band's, and that of the score."""
    sides = {"low": 0.0, "middle": 1.0, "high": 2.0}
    gold = np.array([sides[row.side] for row in rows], dtype=np.float64)
    given = np.array([0.0 if row.placed <= LOW else 2.0 if row.placed >= HIGH else 1.0 for row in rows], dtype=np.float64)
    found = kappa_estimate(given, gold, (0.0, 2.0))
    return Figure(value=found.value, low=found.low, high=found.high, of=len(rows))


def _shifts(items: Sequence[ExamItem], scale: Scale) -> dict[str, Figure]:
    found: dict[str, dict[str, float]] = {}
    for item in items:
        for name, said in item.variants.items():
            apart = _apart(item.passes[0], said, scale)
            if apart is not None:
                found.setdefault(name, {})[item.row] = apart
    return {name: _signed(values) for name, values in found.items()}


# --- marks


def _separation_mark(figure: Figure, low: int, high: int, limit: float) -> Mark:
    state = _state(figure, limit, at_least=True)
    wanted = None
    if state == "open":
        wanted = rows_for_separation(1.0 if figure.value is None else figure.value, low, high, limit, MOST_ROWS)
    more = (wanted[0] - low, wanted[1] - high) if wanted else (0, 0)
    needed = sum(more) if wanted else None
    return Mark(
        name="separation", state=state, limit=limit, figure=figure, needed=needed, needed_low=more[0], needed_high=more[1]
    )


def _distance_mark(name: MarkName, figure: Figure, values: Column, end: float, limit: float) -> Mark:
    state = _state(figure, limit, at_least=False)
    needed = None
    if state == "open" and values.size:
        wanted = rows_for_mean(counts_of(values), end, limit, MOST_ROWS)
        needed = None if wanted is None else max(1, wanted - values.size)
    return Mark(name=name, state=state, limit=limit, figure=figure, needed=needed)


def _parsed_mark(figure: Figure, limit: float) -> Mark:
    state = _state(figure, limit, at_least=True)
    needed = None
    if state == "open" and figure.value is not None and figure.value > limit:
        share = figure.value
        wanted = first_enough(lambda size: _wilson_low(share, size) >= limit, figure.of, MOST_ROWS)
        needed = None if wanted is None else max(1, wanted - figure.of)
    return Mark(name="parsed", state=state, limit=limit, figure=figure, needed=needed)


def _wilson_low(share: float, rows: int) -> float:
    ends = wilson(round(share * rows), rows)
    return ends[0] if ends else 0.0


def _state(figure: Figure, limit: float, *, at_least: bool) -> MarkState:
    if figure.low is None or figure.high is None:
        return "open"
    if at_least:
        return "met" if figure.low >= limit else "not_met" if figure.high < limit else "open"
    return "met" if figure.high <= limit else "not_met" if figure.low > limit else "open"
