"""How judges err about failures: confusion matrices that start at people's labels, and what they say of single answers."""

from collections.abc import Mapping, Sequence

import numpy as np

from areopage.scoring import UNKNOWN, Codes, anchored_confusion, category_chances
from areopage.trust.calibration import CriterionFit, FailureErrors
from areopage.trust.judged import JudgedRun

FEWEST_OF_EACH = 2
"""With fewer labelled failures, or labelled answers that pass, there are no matrices."""

_PASSES, _FAILS = 0, 1


def fit_errors(judged: JudgedRun, path: str, people: Mapping[str, float]) -> FailureErrors | None:
    """Estimate judges' confusion matrices of failing and passing on one criterion.

    Args:
        people: people's mean score of each labelled answer, by its id; of answers that were picked by the judges' scores too.

    Returns:
        None where no score is a failure, no judge's score is known, or people fail, or pass, fewer than two answers.
    """
    limit, items = judged.limits.get(path), judged.voted(path)
    if limit is None or not items:
        return None
    scale = judged.panel.scale
    labels = np.array([int(scale.reaches(people[item], limit)) if item in people else UNKNOWN for item in items])
    if min(int((labels == kind).sum()) for kind in (_PASSES, _FAILS)) < FEWEST_OF_EACH:
        return None
    confusion = anchored_confusion(labels, _votes(judged, path, items, limit), 2)
    return FailureErrors(
        missed=tuple(confusion.matrices[:, _FAILS, _PASSES].tolist()),
        alarms=tuple(confusion.matrices[:, _PASSES, _FAILS].tolist()),
        weights=tuple(confusion.weights.tolist()),
        share=float(confusion.shares[_FAILS]),
        effective=confusion.effective,
    )


def failing_chances(judged: JudgedRun, fit: CriterionFit) -> dict[str, float]:
    """The chance that people fail each answer, in [0, 1], by what its judges say; {} where no matrices are known."""
    errors, limit, items = fit.errors, judged.limits.get(fit.criterion), judged.voted(fit.criterion)
    if errors is None or limit is None or not items:
        return {}
    missed, alarms = np.array(errors.missed), np.array(errors.alarms)
    matrices = np.stack([np.column_stack([1 - alarms, alarms]), np.column_stack([missed, 1 - missed])], axis=1)
    shares, votes = np.array([1 - errors.share, errors.share]), _votes(judged, fit.criterion, items, limit)
    chances = category_chances(votes, matrices, np.array(errors.weights), shares)[:, _FAILS]
    return dict(zip(items, chances.tolist(), strict=True))


def _votes(judged: JudgedRun, path: str, items: Sequence[str], limit: float) -> Codes:
    """Whether each judge fails each answer, shape (N, m); `UNKNOWN` without a score."""
    scale, votes = judged.panel.scale, judged.by_judge[path]
    return np.array([[UNKNOWN if score is None else int(scale.reaches(score, limit)) for score in votes[item]] for item in items])
