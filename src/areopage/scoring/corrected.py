"""A calibration applied to scores: the corrected mean that stands beside each score, and the name of what corrected it.

The corrections themselves are in `areopage.trust.correction`.
"""

from msgspec import Struct


class SampledShare(Struct, frozen=True, kw_only=True):
    """A share in [0, 1] of a random part of a finite population, with its 95 % interval."""

    value: float
    low: float
    high: float


class CorrectedShare(Struct, frozen=True, kw_only=True):
    """A share in [0, 1] corrected by labels, with its 95 % interval.

    Args:
        uncorrected: the share of all judged items by the jury.
        value, low, high: the corrected share and its interval.
        labels, judged: how many items are labelled, and how many were judged.
        labels_alone: the labels' share and its interval without any verdict.
        saved: which share of the labels is saved, by the squares of the intervals' widths; None where labels alone have none.
        by_verdict: whether the jury's verdict was used: not under two labels of either verdict.
    """

    uncorrected: float
    value: float
    low: float
    high: float
    labels: int
    judged: int
    labels_alone: SampledShare
    saved: float | None
    by_verdict: bool


class CorrectedScore(Struct, frozen=True, kw_only=True):
    """A mean score corrected by people's labels, with its 95 % interval, on the run's scale.

    Args:
        calibration: the id of the calibration.
        uncorrected: the jury's mean over the answers that it scored.
        score, low, high: the corrected mean and its interval; without an interval where no label strays from its prediction.
        labels: how many labelled answers it rests on.
        judged: how many answers it is the mean of; of a monitored period those of days with labels.
        own: whether these are answers of this run. Else the relation between people and jury on other answers is assumed to hold.
        weight: points by people per point of what the labels correct; 0: the jury's scores tell nothing.
        saved: the share of the labels that the jury saves; null without an interval, or where the labels are of other answers.
        failures: the share of failing answers, corrected in the same way; null where the labels are of other answers.
    """

    calibration: str
    uncorrected: float
    score: float
    low: float | None
    high: float | None
    labels: int
    judged: int
    own: bool
    weight: float
    saved: float | None
    failures: CorrectedShare | None


class MappedScore(Struct, frozen=True, kw_only=True):
    """What people are expected to give one answer where the jury gave it its score; it stands beside that score, never for it.

    Args:
        calibration: the id of the calibration.
        score: on the run's scale.
        failing: the chance that people fail the answer, in [0, 1], by the errors of its judges; null where too few failures are
            labelled, and of the final score.
        by: what maps it: `weights` of the judges, or the map of the jury's score: `same`, `moved`, `linear` or `isotonic`.
    """

    calibration: str
    score: float
    by: str
    failing: float | None = None


class AppliedCalibration(Struct, frozen=True, kw_only=True):
    """A calibration as it is applied to a run or to a monitored period.

    Args:
        id, digest: the beginning of the SHA-256 over the whole calibration, and all of it.
        fitted: when, UTC, in ISO 8601.
        source: the run whose labels were used, or the monitored period.
        answers, raters: how many answers were labelled at random, and by how many people.
        criteria: by a criterion's id; of a monitored period by its path.
        final: of the overall score; null where raters gave too few overall scores.
    """

    id: str
    digest: str
    fitted: str
    source: str
    answers: int
    raters: int
    criteria: dict[str, CorrectedScore]
    final: CorrectedScore | None

    @property
    def scores(self) -> tuple[CorrectedScore, ...]:
        """Those of the criteria, then the overall one."""
        return (*self.criteria.values(), *([self.final] if self.final else []))
