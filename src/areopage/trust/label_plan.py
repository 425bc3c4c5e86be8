"""How many answers of a run people should label for a stated precision, and which ones."""

from collections.abc import Collection, Sequence
from math import sqrt

import numpy as np
from msgspec import Struct

from areopage.scoring import OVERALL, Rating
from areopage.trust.calibration import FEWEST_LABELS, people_scores
from areopage.trust.correction.means import fit_line
from areopage.trust.correction.planning import LabelPlan, plan_labels, teaching_items
from areopage.trust.run_calibration import JudgedRun, predictions

ASSUMED_CORRELATION = 0.5
"""Of people with the jury where nothing is labelled: juries reach .5 to .6 on recorded sets (docs/accuracy.md)."""

ASSUMED_SPREAD = 0.25
"""Standard deviation of people's scores where nothing is labelled, as a share of the scale's width; or the jury's, if larger."""


class CriterionPlan(Struct, frozen=True, kw_only=True):
    """How many labels one criterion takes; "" is the overall score.

    Args:
        spread, correlation: of people's scores, in points, and with what the labels correct: the judges' mean, weighed by their
            agreement where three or more judge.
        labelled: answers drawn at random that are labelled already; under ten, spread and correlation are assumed.
    """

    criterion: str
    plan: LabelPlan
    spread: float
    correlation: float
    labelled: int

    @property
    def is_assumed(self) -> bool:
        """Whether spread and correlation are assumed."""
        return self.labelled < FEWEST_LABELS


def plan_run(judged: JudgedRun, ratings: Sequence[Rating], drawn: Collection[str], precision: float) -> list[CriterionPlan]:
    """How many random labels each criterion of a run takes, and the overall score.

    Args:
        ratings: blind labels.
        drawn: the ids of the answers that were drawn at random.
        precision: half the width of the 95 % interval of a corrected mean, in points of the run's scale.
    """
    scale = judged.panel.scale
    labels = people_scores(
        rating for rating in ratings if rating.item in drawn and rating.item in judged.scores.get(rating.criterion, {})
    )
    plans: list[CriterionPlan] = []
    for path, scores in judged.scores.items():
        people = labels.get(path, {})
        if not scores or (path == OVERALL and not people):
            continue
        spread = max(ASSUMED_SPREAD * (scale.max - scale.min), float(np.std(list(scores.values()))))
        correlation = ASSUMED_CORRELATION
        if len(people) >= FEWEST_LABELS:
            predicted = predictions(judged, path)
            line = fit_line(np.array(list(people.values())), np.array([predicted[item] for item in people]))
            spread = sqrt(line.spread)
            correlation = sqrt(max(0.0, 1.0 - line.residual / line.spread)) if line.spread > 0 else 0.0
        plan = plan_labels(precision, spread, correlation, len(scores))
        plans.append(CriterionPlan(criterion=path, plan=plan, spread=spread, correlation=correlation, labelled=len(people)))
    return plans


def teaching_answers(judged: JudgedRun, allowed: Collection[str], count: int, labelled: Collection[str]) -> tuple[str, ...]:
    """The answers whose labels tell most about single scores and judges' weights, over all criteria together.

    Args:
        allowed: the ids of the answers that people can label.
        count: how many, at most.
        labelled: the ids of those that are labelled, or queued; they are not chosen again.
    """
    items = [id for id in sorted(allowed) if any(id in by_answer for by_answer in judged.by_judge.values())]
    columns = [[by_answer.get(id, ()) for id in items] for _, by_answer in sorted(judged.by_judge.items())]
    judges = len(judged.panel.judges)
    table = np.array(
        [
            [_mean([passes[at] for passes in row if at < len(passes) and passes[at] is not None]) for at in range(judges)]
            for row in zip(*columns, strict=True)
        ],
        dtype=np.float64,
    ).reshape(len(items), judges)
    scored = np.flatnonzero(~np.isnan(table).all(axis=1))
    kept, table = [items[at] for at in scored], table[scored]
    if not kept:
        return ()
    chosen = teaching_items(table, count, tuple(at for at, id in enumerate(kept) if id in labelled))
    return tuple(kept[at] for at in chosen)


def _mean(values: Sequence[float | None]) -> float:
    scores = [value for value in values if value is not None]
    return sum(scores) / len(scores) if scores else np.nan
