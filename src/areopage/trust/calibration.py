"""A calibration: what people's labels of answers correct in a jury's scores, and the conditions under which it holds.

A calibration is for these judges with these weights, passes, prompts, language and scale; for another panel it is refused. It is
fitted to a run (`areopage.trust.run_calibration`) or to a monitored period (`areopage.trust.monitor_calibration`).
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from datetime import UTC, date, datetime, timedelta

import msgspec
from msgspec import Struct, field, structs

from areopage.criteria import TEMPLATE_VERSION, Scale
from areopage.digest import digest_of, short_digest
from areopage.errors import DamagedRow, UserError, name_list
from areopage.jury import Panel, ScoringMethod
from areopage.ledger import StoredCalibration
from areopage.scoring import OVERALL, AppliedCalibration, CorrectedScore, CorrectedShare, Rating
from areopage.trust.correction.maps import ScaleMap
from areopage.trust.correction.means import Corrected, FittedLine
from areopage.trust.correction.weights import JuryWeights

METHOD = "areopage/calibration/1"
FEWEST_LABELS = 10
"""A criterion with fewer labelled answers gets no correction."""

ID_LENGTH = 12


class FittedJudge(Struct, frozen=True, kw_only=True):
    """A judge that a calibration is for; `method` is how its answers become scores."""

    name: str
    model: str
    digest: str
    passes: int
    method: ScoringMethod = "sampled"


class LabelsUsed(Struct, frozen=True, kw_only=True):
    """Which labels a calibration rests on.

    Args:
        answers: how many labelled answers were drawn at random; only these are used.
        drawn: how many answers were drawn at random, labelled or not. If raters chose which of them to label, the labelled ones
            are no random sample.
        labels, raters: of these answers.
        taught: how many more labelled answers were queued as they teach most. Maps and weights of single scores learn from
            them; means and shares do not.
        selected: how many more labelled answers were not drawn at random, and are not used.
        unblind: how many labels are not used, as their raters had seen the judges' scores.
        digest: SHA-256 over answer, rater, criterion and score of each label, those that teach too.
    """

    answers: int
    drawn: int
    labels: int
    raters: tuple[str, ...]
    taught: int = 0
    selected: int
    unblind: int
    digest: str


class PeopleLabels(Struct, frozen=True, kw_only=True):
    """People's mean scores of judged answers, by criterion's path and answer's id.

    Args:
        sample: of answers that were drawn at random.
        taught: of answers that were queued as they teach most.
    """

    sample: dict[str, dict[str, float]]
    taught: dict[str, dict[str, float]]
    used: LabelsUsed

    @classmethod
    def of(
        cls,
        ratings: Iterable[Rating],
        scores: Mapping[str, Mapping[str, float]],
        scale: Scale,
        drawn: Collection[str],
        *,
        taught: Collection[str] = (),
        unblind: int = 0,
    ) -> "PeopleLabels":
        """The labels of answers and criteria that the jury scored, by criterion's path and answer's id; see `fit_calibration`."""
        usable = [
            rating for rating in ratings if rating.item in scores.get(rating.criterion, {}) and scale.contains(rating.score)
        ]
        kept = [rating for rating in usable if rating.item in drawn]
        more = [rating for rating in usable if rating.item in taught and rating.item not in drawn]
        used = LabelsUsed(
            answers=len({rating.item for rating in kept}),
            drawn=len(drawn),
            labels=len(kept),
            raters=tuple(sorted({rating.rater for rating in [*kept, *more]})),
            taught=len({rating.item for rating in more}),
            selected=len({rating.item for rating in usable} - set(drawn) - set(taught)),
            unblind=unblind,
            digest=digest_of(sorted((rating.item, rating.rater, rating.criterion, rating.score) for rating in [*kept, *more])),
        )
        return cls(sample=people_scores(kept), taught=people_scores(more), used=used)

    @property
    def most(self) -> int:
        """How many answers of the sample are labelled on one criterion, at most."""
        return max(map(len, self.sample.values()), default=0)


def people_scores(ratings: Iterable[Rating]) -> dict[str, dict[str, float]]:
    """People's mean score of each answer, by criterion's path and answer's id."""
    by_path: dict[str, dict[str, list[float]]] = {}
    for rating in ratings:
        by_path.setdefault(rating.criterion, {}).setdefault(rating.item, []).append(rating.score)
    return {path: {item: sum(scores) / len(scores) for item, scores in items.items()} for path, items in by_path.items()}


class FailureErrors(Struct, frozen=True, kw_only=True):
    """How judges err about failures of one criterion: their confusion matrices, started at the labels.

    Args:
        missed: of each judge the share of people's failures that it passes.
        alarms: of each judge the share of the answers which people pass that it fails.
        weights: of each judge's vote; 1 would be an independent judge's.
        share: of failures among all answers, by the model. The corrected share of failures does not rest on it.
        effective: how many independent judges the jury is worth.
    """

    missed: tuple[float, ...]
    alarms: tuple[float, ...]
    weights: tuple[float, ...]
    share: float
    effective: float


class CriterionFit(Struct, frozen=True, kw_only=True):
    """What labels correct on one criterion; "" is the overall score.

    Args:
        prompt: a digest of what judges read of the criterion; "" for the overall score.
        agreement: the judges' weights in the predictions that `line` and `mean` rest on, by their agreement with each other, in
            the panel's order; () where the jury's score is the prediction.
        jury: the jury's mean score of all judged answers.
        line: people's scores on the predictions, for other answers.
        jury_line: people's scores on the jury's, for other answers of which only the jury's mean is known.
        mean: of all judged answers, before and after.
        failures: the share of failing answers, before and after; None for the overall score.
        map: from single scores of the jury to people's.
        weights: of the judges, where several judged and enough is labelled. `map` and `weights` tell what single scores err by.
        errors: of the judges about failures; None under two labelled failures, or two answers that people pass.
        days: of a monitored period, those with labels of the random sample: `mean` is of their answers. () for a run.
    """

    criterion: str
    prompt: str
    agreement: tuple[float, ...] = ()
    jury: float
    line: FittedLine
    jury_line: FittedLine
    mean: Corrected
    failures: CorrectedShare | None
    map: ScaleMap
    weights: JuryWeights | None
    errors: FailureErrors | None = None
    days: tuple[date, ...] = ()

    @property
    def by_weights(self) -> bool:
        """Whether single scores are predicted by the judges' weights: their error on labels left out is not the larger one."""
        return self.weights is not None and (self.map.error is None or self.weights.error <= self.map.error)

    @property
    def singles(self) -> str:
        """What maps single scores: `weights`, or the kind of the map."""
        return "weights" if self.by_weights else self.map.kind


class LabelledDays(Struct, frozen=True, kw_only=True):
    """The monitored period whose answers were labelled: days in UTC, `end` excluded; None takes all sources, or variants."""

    start: date
    end: date
    source: str | None
    variant: str | None

    @property
    def text(self) -> str:
        """The first and the last day, in ISO 8601, and the scope."""
        scope = "".join(f", {name}" for name in (self.source, self.variant) if name)
        return f"{self.start.isoformat()} to {(self.end - timedelta(days=1)).isoformat()}{scope}"


class Calibration(Struct, frozen=True, kw_only=True):
    """What labels of a run correct, with everything that it rests on.

    Args:
        id: the beginning of `digest`; both are made from all the rest.
        run_id: the run whose answers were labelled, or the monitor's panel that judged them.
        monitored: the monitored period that was labelled; None for a run.
        left_out: criteria with fewer than ten labelled answers, with their number.
    """

    id: str = ""
    digest: str = ""
    method: str = METHOD
    suite: str
    run_id: str
    monitored: LabelledDays | None = None
    language: str
    scale: Scale
    template: str
    joint: bool
    judges: tuple[FittedJudge, ...]
    labels: LabelsUsed
    fitted: datetime
    criteria: tuple[CriterionFit, ...]
    left_out: dict[str, int] = field(default_factory=dict)

    @property
    def source(self) -> str:
        """Whose answers were labelled: a run's id, or a monitored period."""
        return self.monitored.text if self.monitored else self.run_id

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

    @classmethod
    def fit(
        cls,
        panel: Panel,
        run_id: str,
        labels: PeopleLabels,
        criteria: Collection[str],
        fit: Callable[[str, str], CriterionFit],
        now: datetime,
        *,
        monitored: LabelledDays | None = None,
    ) -> "Calibration":
        """A calibration with its hash, of the criteria that the jury scored.

        `fit` says what labels correct on a criterion, by its path and the digest of its prompt.
        """
        prompts = _prompt_digests(panel)
        counts = {path: len(labels.sample.get(path, {})) for path in criteria}
        calibration = cls(
            suite=panel.suite,
            run_id=run_id,
            monitored=monitored,
            language=panel.language,
            scale=panel.scale,
            template=TEMPLATE_VERSION,
            joint=panel.joint,
            judges=_judges(panel),
            labels=labels.used,
            fitted=now.astimezone(UTC).replace(microsecond=0),
            criteria=tuple(fit(path, prompts.get(path, "")) for path, count in counts.items() if count >= FEWEST_LABELS),
            left_out={path: count for path, count in counts.items() if count < FEWEST_LABELS and path != OVERALL},
        )
        calibration = msgspec.json.decode(_body(calibration), type=cls)  # as it will be read: whole numbers become fractions
        digest = digest_of(calibration)
        return structs.replace(calibration, id=digest[:ID_LENGTH], digest=digest)

    @classmethod
    def read(cls, stored: StoredCalibration) -> "Calibration":
        """Read a calibration from its row.

        Raises:
            UserError: another version of areopage stored it, or it was altered.
            DamagedRow: it cannot be read.
        """
        calibration = _calibration_in(stored)
        if calibration is None:
            raise UserError(f"calibration {stored.id}: another version of areopage stored it: fit it again")
        if _is_altered(calibration, stored):
            raise UserError(
                f"calibration {stored.id}: it was altered after it was fitted: areopage verify shows what was changed"
            )
        return calibration

    def applied(self, criteria: Mapping[str, CorrectedScore], final: CorrectedScore | None) -> AppliedCalibration:
        """Corrected scores with the name of what corrected them."""
        return AppliedCalibration(
            id=self.id,
            digest=self.digest,
            fitted=self.fitted.isoformat(),
            source=self.source,
            answers=self.labels.answers,
            raters=len(self.labels.raters),
            criteria=dict(criteria),
            final=final,
        )

    def corrected(self, fit: CriterionFit, mean: Corrected, jury: float, *, is_own: bool) -> CorrectedScore:
        """A corrected mean, cut at the ends of the scale; `is_own`: the labels are of the answers whose mean it is."""
        low, high = self.scale.min, self.scale.max
        return CorrectedScore(
            calibration=self.id,
            uncorrected=jury,
            score=min(high, max(low, mean.value)),
            low=None if mean.low is None else min(high, max(low, mean.low)),
            high=None if mean.high is None else min(high, max(low, mean.high)),
            labels=fit.line.labels,
            judged=mean.judged,
            own=is_own,
            weight=mean.weight,
            saved=mean.saved if is_own else None,
            failures=fit.failures if is_own else None,
        )

    def refuse_other_panel(self, panel: Panel) -> None:
        """Refuse other judges, prompts, language or scale than those that the calibration was fitted for."""
        for fault in _faults(self, panel):
            raise UserError(f"calibration {self.id} cannot correct these scores: {fault}")


def _prompt_digests(panel: Panel) -> dict[str, str]:
    """A digest of what judges read of each criterion, by its path."""
    return {criterion.path: digest_of(criterion.content()) for criterion in panel.criteria}


def _judges(panel: Panel) -> tuple[FittedJudge, ...]:
    return tuple(
        FittedJudge(
            name=judge.name,
            model=str(judge.reference),
            digest=judge.digest,
            passes=judge.passes,
            method=judge.method,
        )
        for judge in panel.judges
    )


def _body(calibration: Calibration) -> str:
    return msgspec.json.encode(calibration, order="deterministic").decode()


def _calibration_in(stored: StoredCalibration) -> Calibration | None:
    """A calibration as it is stored; None of another version of areopage."""
    try:
        return msgspec.json.decode(stored.body, type=Calibration)
    except msgspec.ValidationError:
        return None
    except msgspec.DecodeError as fault:
        raise DamagedRow(f"calibration {stored.id}", "body", fault) from None


def _is_altered(calibration: Calibration, stored: StoredCalibration) -> bool:
    return calibration.digest != stored.digest or digest_of(structs.replace(calibration, id="", digest="")) != stored.digest


def altered_calibrations(stored: Iterable[StoredCalibration]) -> tuple[str, ...]:
    """The ids of calibrations that were altered after they were fitted; those of another version are not among them.

    Raises:
        DamagedRow: one cannot be read.
    """
    read = [(_calibration_in(row), row) for row in stored]
    return tuple(row.id for calibration, row in read if calibration is not None and _is_altered(calibration, row))


def _faults(calibration: Calibration, panel: Panel) -> Iterator[str]:
    fitted, now = {judge.name: judge for judge in calibration.judges}, {judge.name: judge for judge in _judges(panel)}
    if calibration.suite != panel.suite:
        yield f"it is for the suite {calibration.suite}, not {panel.suite}"
    if set(fitted) != set(now):
        yield f"it is for the judges {name_list(sorted(fitted))}, not {name_list(sorted(now))}"
    for name in sorted(set(fitted) & set(now)):
        yield from _judge_faults(fitted[name], now[name])
    if calibration.template != TEMPLATE_VERSION:
        yield f"it is for the prompt version {calibration.template}, not {TEMPLATE_VERSION}"
    if (calibration.language, calibration.scale, calibration.joint) != (panel.language, panel.scale, panel.joint):
        yield "it is for another language, scale, or way of asking about criteria"
    prompts = _prompt_digests(panel)
    for fit in calibration.criteria:
        if fit.prompt and fit.criterion in prompts and fit.prompt != prompts[fit.criterion]:
            yield f"the text of the criterion {fit.criterion} has changed"
    if not any(fit.criterion in prompts for fit in calibration.criteria):
        yield "it corrects no criterion of theirs"


def _judge_faults(before: FittedJudge, after: FittedJudge) -> Iterator[str]:
    name = before.name
    if before.model != after.model:
        yield f"judge {name} was {before.model}, and is {after.model}"
    elif before.digest != after.digest:
        shown = [short_digest(judge.digest) or "unknown" for judge in (before, after)]
        yield f"judge {name} ({after.model}) had the model digest {shown[0]}, and has {shown[1]}"
    elif before.passes != after.passes:
        yield f"judge {name} was asked {before.passes} times, and is asked {after.passes} times"
    elif before.method != after.method:
        yield f"the scores of judge {name} were {before.method}, and are {after.method} (scoring_method)"
