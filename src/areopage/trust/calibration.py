"""A calibration: what people's labels of a run's answers correct in its jury's scores, and the conditions under which it holds.

Only labels count that were given blind, on answers that were drawn at random: other labels say how far the jury errs on answers
that were picked because they looked bad. A calibration is for these judges with these weights, passes, prompts, language and
scale; for another panel it is refused.
"""

from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, datetime

import msgspec
import numpy as np
from msgspec import Struct, field, structs

from areopage.criteria.prompts import TEMPLATE_VERSION, criterion_content
from areopage.criteria.records import Scale
from areopage.digest import digest_of, short_digest
from areopage.errors import UserError, counted, name_list
from areopage.jury.panel import Panel
from areopage.ledger.calibrations import StoredCalibration
from areopage.scoring.correction.applied import AppliedCalibration, CorrectedScore
from areopage.scoring.correction.maps import ScaleMap, choose_map
from areopage.scoring.correction.means import Corrected, Line, corrected_mean, fit_line, transported_mean
from areopage.scoring.correction.shares import CorrectedShare, corrected_share
from areopage.scoring.correction.weights import JuryWeights, fit_weights
from areopage.scoring.correlation import Column
from areopage.scoring.human_agreement import Rating

METHOD = "areopage/calibration/1"
FEWEST_LABELS = 10
"""A criterion with fewer labelled answers gets no correction."""

FEWEST_FOR_WEIGHTS = 30
OVERALL = ""
ID_LENGTH = 12
_ALIKE = 1e-9

Scores = Mapping[str, Mapping[str, float]]
"""Criterion's path ("" is the overall score) -> answer -> score on the panel's scale."""


class FittedJudge(Struct, frozen=True, kw_only=True):
    """A judge that a calibration is for."""

    name: str
    model: str
    digest: str
    passes: int


class LabelsUsed(Struct, frozen=True, kw_only=True):
    """Which labels a calibration rests on.

    Args:
        answers: how many labelled answers were drawn at random; only these are used.
        drawn: how many answers were drawn at random, labelled or not. If raters chose which of them to label, the labelled ones
            are no random sample.
        labels, raters: of these answers.
        selected: how many more labelled answers were not drawn at random, and are not used.
        unblind: how many labels are not used, as their raters had seen the judges' scores.
        digest: SHA-256 over answer, rater, criterion and score of each label.
    """

    answers: int
    drawn: int
    labels: int
    raters: tuple[str, ...]
    selected: int
    unblind: int
    digest: str


class CriterionFit(Struct, frozen=True, kw_only=True):
    """What labels correct on one criterion; "" is the overall score.

    Args:
        prompt: a digest of what judges read of the criterion; "" for the overall score.
        line: people's scores on the jury's, for other answers.
        mean: of all judged answers, before and after.
        failures: the share of failing answers, before and after; None for the overall score.
        map: from single scores of the jury to people's.
        weights: of the judges, where several judged and enough is labelled. `map` and `weights` tell what single scores err by.
    """

    criterion: str
    prompt: str
    line: Line
    mean: Corrected
    failures: CorrectedShare | None
    map: ScaleMap
    weights: JuryWeights | None


class Calibration(Struct, frozen=True, kw_only=True):
    """What labels of a run correct, with everything that it rests on.

    Args:
        id: the beginning of `digest`; both are made from all the rest.
        run_id: the run whose answers were labelled.
        left_out: criteria with fewer than ten labelled answers, with their number.
    """

    id: str = ""
    digest: str = ""
    method: str = METHOD
    suite: str
    run_id: str
    language: str
    scale: Scale
    template: str
    joint: bool
    judges: tuple[FittedJudge, ...]
    labels: LabelsUsed
    fitted: datetime
    criteria: tuple[CriterionFit, ...]
    left_out: dict[str, int] = field(default_factory=dict)

    def stored(self) -> StoredCalibration:
        """As a row of the ledger."""
        return StoredCalibration(
            id=self.id,
            suite=self.suite,
            run_id=self.run_id,
            created_at=self.fitted,
            body=_body(self),
            digest=self.digest,
        )


class Judged(Struct, frozen=True, kw_only=True):
    """What the jury of a run said.

    Args:
        scores: of the jury.
        by_judge: criterion's path -> answer -> score of each judge, in the panel's order; None where one gave none.
        limits: of failures, by a criterion's path.
    """

    panel: Panel
    run_id: str
    scores: Scores
    by_judge: Mapping[str, Mapping[str, Sequence[float | None]]]
    limits: Mapping[str, float]


def fit_calibration(
    judged: Judged, ratings: Sequence[Rating], drawn: Collection[str], now: datetime, *, unblind: int = 0
) -> Calibration:
    """Fit a calibration to the labels of answers that were drawn at random.

    Args:
        ratings: blind labels; of answers and criteria that the jury did not score they are left out.
        drawn: the ids of the answers that were drawn at random.
        unblind: how many labels are left out, as they are not blind.

    Raises:
        UserError: no criterion has ten answers that were drawn at random and labelled.
    """
    panel = judged.panel
    usable = [one for one in ratings if one.item in judged.scores.get(one.criterion, {}) and panel.scale.contains(one.score)]
    kept = [one for one in usable if one.item in drawn]
    labelled: dict[str, dict[str, list[float]]] = {}
    for one in kept:
        labelled.setdefault(one.criterion, {}).setdefault(one.item, []).append(one.score)
    enough = {path: items for path, items in labelled.items() if len(items) >= FEWEST_LABELS}
    selected = len({one.item for one in usable} - set(drawn))
    if not enough:
        raise UserError(_too_few(judged.run_id, max(map(len, labelled.values()), default=0), selected))
    used = LabelsUsed(
        answers=len({one.item for one in kept}),
        drawn=len(drawn),
        labels=len(kept),
        raters=tuple(sorted({one.rater for one in kept})),
        selected=selected,
        unblind=unblind,
        digest=digest_of(sorted((one.item, one.rater, one.criterion, one.score) for one in kept)),
    )
    prompts = {one.path: digest_of(criterion_content(one)) for one in panel.criteria}
    found = Calibration(
        suite=panel.suite,
        run_id=judged.run_id,
        language=panel.language,
        scale=panel.scale,
        template=TEMPLATE_VERSION,
        joint=panel.joint,
        judges=_judges(panel),
        labels=used,
        fitted=now.astimezone(UTC).replace(microsecond=0),
        criteria=tuple(_fit(judged, path, enough[path], prompts.get(path, "")) for path in judged.scores if path in enough),
        left_out={path: len(labelled.get(path, {})) for path in judged.scores if path not in enough and path != OVERALL},
    )
    found = msgspec.json.decode(_body(found), type=Calibration)  # as it will be read: whole numbers become fractions
    digest = digest_of(found)
    return structs.replace(found, id=digest[:ID_LENGTH], digest=digest)


def _too_few(run_id: str, at_random: int, selected: int) -> str:
    picked = f"; {counted(selected, 'other labelled answer')} cannot be used: they were not drawn at random" if selected else ""
    return (
        f"run {run_id}: {counted(at_random, 'answer')} drawn at random and labelled blind, {FEWEST_LABELS} are needed{picked}: "
        f"areopage calibrate plan {run_id} --queue draws answers at random"
    )


def _judges(panel: Panel) -> tuple[FittedJudge, ...]:
    return tuple(
        FittedJudge(name=judge.name, model=str(judge.reference), digest=judge.digest, passes=len(judge.passes))
        for judge in panel.judges
    )


def _fit(judged: Judged, path: str, labelled: Mapping[str, Sequence[float]], prompt: str) -> CriterionFit:
    scores, scale = judged.scores[path], judged.panel.scale
    items = sorted(labelled)
    people = np.array([sum(labelled[item]) / len(labelled[item]) for item in items])
    own, everything = np.array([scores[item] for item in items]), np.array(list(scores.values()))
    limit, failures = judged.limits.get(path), None
    if limit is not None:
        sides = [np.array([scale.reaches(score, limit) for score in side]) for side in (people, own, everything)]
        failures = corrected_share(*sides)
    return CriterionFit(
        criterion=path,
        prompt=prompt,
        line=fit_line(people, own),
        mean=corrected_mean(people, own, everything),
        failures=failures,
        map=choose_map(people, own),
        weights=_weights(people, [judged.by_judge.get(path, {}).get(item, ()) for item in items]),
    )


def _weights(people: Column, given: Sequence[Sequence[float | None]]) -> JuryWeights | None:
    """Weights of the judges; None with one judge, with few labels, or where an answer has no judge's score."""
    if len(given) < FEWEST_FOR_WEIGHTS or min(len(row) for row in given) < 2 or any(set(row) == {None} for row in given):
        return None
    return fit_weights(people, np.array([[np.nan if one is None else one for one in row] for row in given]))


def _body(one: Calibration) -> str:
    return msgspec.json.encode(one, order="deterministic").decode()


def read_calibration(stored: StoredCalibration) -> Calibration:
    """Read a calibration from its row.

    Raises:
        UserError: another version of areopage stored it, or it was altered.
    """
    try:
        found = msgspec.json.decode(stored.body, type=Calibration)
    except msgspec.MsgspecError as fault:
        raise UserError(f"calibration {stored.id}: another version of areopage stored it: fit it again") from fault
    if found.digest != stored.digest or digest_of(structs.replace(found, id="", digest="")) != stored.digest:
        raise UserError(f"calibration {stored.id}: it was altered after it was fitted: areopage verify shows what was changed")
    return found


def refuse_other_panel(calibration: Calibration, panel: Panel) -> None:
    """Refuse a calibration that was fitted for other judges, prompts, language or scale.

    Raises:
        UserError: with the name of what differs.
    """
    fault = next(iter(_faults(calibration, panel)), None)
    if fault is not None:
        raise UserError(f"calibration {calibration.id} cannot correct these scores: {fault}")


def _faults(calibration: Calibration, panel: Panel) -> list[str]:
    fitted, now = {one.name: one for one in calibration.judges}, {one.name: one for one in _judges(panel)}
    found: list[str] = []
    if calibration.suite != panel.suite:
        found.append(f"it is for the suite {calibration.suite}, not {panel.suite}")
    if set(fitted) != set(now):
        found.append(f"it is for the judges {name_list(sorted(fitted))}, not {name_list(sorted(now))}")
    for name in sorted(set(fitted) & set(now)):
        before, after = fitted[name], now[name]
        if before.model != after.model:
            found.append(f"judge {name} was {before.model}, and is {after.model}")
        elif before.digest != after.digest:
            shown = [short_digest(one.digest) or "unknown" for one in (before, after)]
            found.append(f"judge {name} ({after.model}) had the model digest {shown[0]}, and has {shown[1]}")
        elif before.passes != after.passes:
            found.append(f"judge {name} was asked {before.passes} times, and is asked {after.passes} times")
    if calibration.template != TEMPLATE_VERSION:
        found.append(f"it is for the prompt version {calibration.template}, not {TEMPLATE_VERSION}")
    if (calibration.language, calibration.scale, calibration.joint) != (panel.language, panel.scale, panel.joint):
        found.append("it is for another language, scale, or way of asking about criteria")
    prompts = {one.path: digest_of(criterion_content(one)) for one in panel.criteria}
    for fit in calibration.criteria:
        if fit.prompt and fit.criterion in prompts and fit.prompt != prompts[fit.criterion]:
            found.append(f"the text of the criterion {fit.criterion} has changed")
    if not any(fit.criterion in prompts for fit in calibration.criteria):
        found.append("it corrects no criterion of theirs")
    return found


def apply_calibration(calibration: Calibration, judged: Judged) -> AppliedCalibration:
    """The corrected means of a run's scores.

    On the run that it was fitted to, they hold for all its answers without any assumption. On another run of the same panel they
    assume that people and jury relate to each other as on the labelled answers.

    Raises:
        UserError: the run has another panel.
    """
    refuse_other_panel(calibration, judged.panel)
    ids = {one.path: one.id for one in judged.panel.criteria}
    corrected: dict[str, CorrectedScore] = {}
    for fit in calibration.criteria:
        scores = judged.scores.get(fit.criterion)
        if scores:
            corrected[fit.criterion] = _corrected(calibration, fit, np.array(list(scores.values())), judged)
    return AppliedCalibration(
        id=calibration.id,
        digest=calibration.digest,
        fitted=calibration.fitted.isoformat(),
        source=calibration.run_id,
        answers=calibration.labels.answers,
        raters=len(calibration.labels.raters),
        criteria={ids[path]: one for path, one in corrected.items() if path in ids},
        final=corrected.get(OVERALL),
    )


def _corrected(calibration: Calibration, fit: CriterionFit, scores: Column, judged: Judged) -> CorrectedScore:
    same = fit.mean.judged == scores.size and abs(fit.mean.uncorrected - float(scores.mean())) < _ALIKE
    own = judged.run_id == calibration.run_id and same
    mean = fit.mean if own else transported_mean(fit.line, float(scores.mean()), scores.size)
    low, high = calibration.scale.min, calibration.scale.max
    return CorrectedScore(
        calibration=calibration.id,
        uncorrected=mean.uncorrected,
        score=min(high, max(low, mean.value)),
        low=None if mean.low is None else min(high, max(low, mean.low)),
        high=None if mean.high is None else min(high, max(low, mean.high)),
        labels=fit.line.labels,
        own=own,
        weight=mean.weight,
        saved=mean.saved if own else None,
        failures=fit.failures if own else None,
    )
