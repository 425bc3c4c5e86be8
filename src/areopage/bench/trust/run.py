"""How far the score of a benchmark run can be trusted, from all that the ledger knows of it."""

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from datetime import datetime
from typing import TypeVar

import numpy as np
from msgspec import structs

from areopage.bench.commands import out_option, run_command
from areopage.bench.figures.case_index import young_to_old
from areopage.bench.figures.failures import Dimension, case_group
from areopage.bench.figures.figure import Figure
from areopage.bench.figures.jury_worth import JURY_WORTH
from areopage.bench.figures.missing import UNSCORED
from areopage.bench.figures.people import PEOPLE, scores_by_answer
from areopage.bench.figures.scores import DETECTABLE
from areopage.bench.results.people import answers_by_kind
from areopage.bench.results.run_data import RunData
from areopage.bench.trust.records import (
    FEW,
    Group,
    JudgeTrust,
    LabelsNeeded,
    PartScore,
    PeopleTrust,
    ScoreTrust,
    Step,
    StepName,
    Trust,
    Uncovered,
    Unexamined,
)
from areopage.cases import Case
from areopage.errors import UserError
from areopage.ledger import SAMPLE, TEACHING, CriterionStanding, JudgeStanding, Ledger, compact_standings
from areopage.records import record_from
from areopage.review import OVERALL, Rubric, ratings_of
from areopage.scoring import FEWEST_ITEMS, AppliedCalibration, Interval, JuryWorth, MappedScore, upper_bound
from areopage.trust import (
    FEWEST_LABELS,
    Calibration,
    CriterionPlan,
    JudgedRun,
    altered_calibrations,
    plan_run,
)

View = TypeVar("View", bound=RunData)


def judged_run(view: RunData) -> JudgedRun:
    """The scores of a run's jury, by criterion and answer, and those of each judge."""
    spec = view.spec
    paths = spec.paths
    scores: dict[str, dict[str, float]] = {path: {} for path in (OVERALL, *paths.values())}
    by_judge: dict[str, dict[str, tuple[float | None, ...]]] = {}
    for id, scores_of_answer in scores_by_answer(view).items():
        for path, score in scores_of_answer.items():
            scores[path][id] = score
    columns = view.scores.criteria
    ids = [view.answer_ids.get(case_id, "") for case_id in columns.cases]
    names = [paths[criterion] for criterion in columns.criteria]
    judge_scores = np.where(np.isnan(columns.cells.judge_score), None, columns.cells.judge_score).tolist()  # type: ignore[call-overload]
    rows = zip(columns.case.tolist(), columns.criterion.tolist(), judge_scores, strict=True)
    for case, criterion, given_by in rows:
        by_judge.setdefault(names[criterion], {})[ids[case]] = tuple(given_by)
    return JudgedRun(
        panel=spec,
        run_id=view.run.id,
        scores=scores,
        by_judge=by_judge,
        limits={paths[id]: limit for id, limit in spec.limits.items()},
    )


def fit_run(view: RunData, now: datetime) -> Calibration:
    """Fit a calibration to the blind labels of a run's random sample, and of the answers that teach most.

    Raises:
        UserError: too few answers were drawn at random and labelled.
    """
    ratings, _ = ratings_of(view.people.labels, Rubric.of_panel(view.spec, view.run.id))
    drawn, taught = view.queued_as(SAMPLE), view.queued_as(TEACHING)
    return judged_run(view).fit(ratings, drawn, now, taught=taught, unblind=view.people.unblind)


def planned_labels(view: RunData, precision: float, judged: JudgedRun | None = None) -> list[CriterionPlan]:
    """How many random labels each criterion of a run takes, and the overall score; none where the jury has scored nothing.

    Args:
        precision: half the width of the 95 % interval of a corrected mean, in points of the run's scale.
        judged: what the jury said; None: it is read from the run.
    """
    ratings, _ = ratings_of(view.people.labels, Rubric.of_panel(view.spec, view.run.id))
    return plan_run(judged or judged_run(view), ratings, view.queued_as(SAMPLE), precision)


def _fitting_calibration(view: RunData, judged: JudgedRun) -> AppliedCalibration | None:
    """The calibration that the run is shown with, else the newest that fits it, first of those from its own answers.

    A calibration that cannot be read, or is for another panel, does not fit.
    """
    if view.calibration is not None:
        return view.calibration
    newest = list(reversed(view.calibrations))
    newest.sort(key=lambda stored: stored.run_id != view.run.id)
    for stored in newest:
        with suppress(UserError):
            return judged.corrected(Calibration.read(stored))
    return None


def with_calibration(view: View, ledger: Ledger, id: str) -> View:
    """The run with the corrected means and single scores of a stored calibration beside its scores.

    Args:
        id: of the calibration, the beginning of it, or `latest`; "" leaves the run as it is.

    Raises:
        UserError: there is no such calibration, or it was fitted for other judges, prompts, language or scale.
    """
    if not id:
        return view
    calibration = Calibration.read(ledger.calibrations.find(id))
    judged = judged_run(view)
    by_path, mapped = judged.mapped(calibration), dict[tuple[str, str], MappedScore]()
    ids = {OVERALL: OVERALL} | {criterion.path: criterion.id for criterion in view.spec.criteria}
    for record in view.scores.records:
        answer = view.answer_ids.get(record.case_id, "")
        mapped |= {
            (record.case_id, ids[path]): scores[answer] for path, scores in by_path.items() if path in ids and answer in scores
        }
    return structs.replace(view, calibration=judged.corrected(calibration), mapped=mapped)


CERTAINTY = 0.975  # of each of two bounds; together 95 %
PRECISIONS = (0.05, 0.02)
"""Half-widths of a corrected score's interval that are planned for, as shares of the scale's width."""


def _trust(view: RunData) -> Trust:
    """How far the score can be trusted: what is known of its judges, of people's labels and of what was left out."""
    judges = judges_trust(view.standings, JURY_WORTH.of(view))
    named = (*view.spec.criteria_by_id(), *view.coverage.lost)
    people, score, uncovered = _people(view), _score(view), _uncovered(view)
    return Trust(
        about="run",
        suite=view.spec.suite,
        names=dict(zip(named, view.spec.titles(named), strict=True)),
        judges=judges,
        jury=JURY_WORTH.of(view),
        people=people,
        score=score,
        uncovered=uncovered,
        steps=tuple(_steps(view, people, score)),
    )


def judges_trust(standings: Sequence[JudgeStanding], worth: JuryWorth | None) -> tuple[JudgeTrust, ...]:
    """What is known of each judge.

    Args:
        worth: of their jury; None where nothing is labelled.
    """
    by_judge = {errors.judge: errors for errors in worth.labelled.judges} if worth is not None else {}
    judges: list[JudgeTrust] = []
    for full, standing in zip(standings, compact_standings(standings), strict=True):
        errors = by_judge.get(standing.judge)
        languages = {language for criterion in full.criteria for language in criterion.languages}
        trust = JudgeTrust(standing=standing, examined_in=tuple(sorted(languages)))
        judges.append(record_from(JudgeTrust, errors, standing=standing, examined_in=trust.examined_in) if errors else trust)
    return tuple(judges)


def unexamined(standings: Sequence[JudgeStanding], languages: Sequence[str]) -> Unexamined:
    """What exams leave open.

    A whole exam asks about all answers of a gold set. So where a judge was examined, a criterion that it was never examined on,
    in no version, had no answer there.

    Args:
        languages: of the suite.
    """
    lacking: dict[str, None] = {}
    without: dict[str, None] = {}
    unspoken: dict[str, None] = {}
    for judge in standings:
        examined = {language for criterion in judge.criteria if criterion.exam for language in criterion.languages}
        for criterion in judge.criteria:
            if criterion.state == "never_examined":
                lacking[criterion.criterion] = None
                if examined and criterion.older is None:
                    without[criterion.criterion] = None
        if examined:
            unspoken |= dict.fromkeys(language for language in languages if language not in examined)
    return Unexamined(criteria=tuple(lacking), without_gold=tuple(without), languages=tuple(unspoken))


def examining_steps(suite: str, standings: Sequence[JudgeStanding], place: tuple[str, ...] = ()) -> Iterator[Step]:
    """The exam of the judges that lack one on a criterion, and the criteria that no exam can be about yet."""
    without = unexamined(standings, ()).without_gold
    fit = [judge for judge in standings if judge.state != "unfit"]
    open_ones = [judge for judge in fit if judge.state not in ("qualified", "not_qualified") or judge.never_examined]
    lacking = [judge for judge in open_ones if not judge.criteria or any(_wants_exam(part, without) for part in judge.criteria)]
    if lacking:
        yield Step(name="examine", command=_exam(suite, lacking, place))
    if without:
        named = [judge for judge in fit if any(criterion.criterion in without for criterion in judge.criteria)]
        yield Step(name="gold", command=_exam(suite, named, place), criteria=without)


def _wants_exam(criterion: CriterionStanding, without: Collection[str]) -> bool:
    return criterion.state not in ("qualified", "not_qualified") and criterion.criterion not in without


def _exam(suite: str, judges: Sequence[JudgeStanding], place: tuple[str, ...]) -> tuple[str, ...]:
    named = (word for judge in judges for word in ("--judge", f"{judge.judge}={judge.model}"))
    return ("areopage", "qualify", suite, *named, *place)


def _people(view: RunData) -> PeopleTrust | None:
    people = PEOPLE.of(view)
    if people is None or people.all_labelled is None:
        return None
    every, figures = people.all_labelled, people.sample or people.all_labelled
    drawn = view.queued_as(SAMPLE)
    counted = [label for label in view.people.labels if people.sample is None or label.answer_id in drawn]
    labelled = {label.answer_id for label in counted}
    cases = [case for case in view.cases if view.answer_ids.get(case.id) in labelled]
    return PeopleTrust(
        answers=figures.answers,
        labels=len(counted),
        raters=figures.raters,
        of=len(answers_by_kind(view)["random"]),
        at_random=people.sample is not None,
        others=every.answers - figures.answers,
        unblind=people.not_counted,
        origins=dict(sorted(Counter(label.origin for label in counted).items())),
        languages=_counts(view, cases, "language"),
        ages={name: n for name, n in _counts(view, cases, "maturity").items() if name},
        criteria=figures.criteria,
        first=figures.first,
    )


def _counts(view: RunData, cases: Sequence[Case], dimension: Dimension) -> dict[str, int]:
    return dict(sorted(Counter(case_group(case, view.spec, dimension) for case in cases).items()))


def _score(view: RunData) -> ScoreTrust:
    intervals, tree = view.scores.intervals, view.scores.tree
    cases = dict(zip(view.scores.values.nodes, view.scores.values.cases, strict=True))

    def part(path: tuple[str, ...], score: float | None, interval: Interval | None) -> PartScore:
        low, high = (interval.low, interval.high) if interval is not None else (None, None)
        return PartScore(score=score, low=low, high=high, cases=cases.get(path, 0))

    ids, judged = view.spec.criteria_by_id(), judged_run(view)
    return ScoreTrust(
        scale=view.spec.scale,
        final=part((), tree.score, view.scores.interval),
        criteria={node.name: part(path, node.score, intervals.get(path)) for path, node in tree.paths if node.name in ids},
        calibration=_fitting_calibration(view, judged),
        altered=altered_calibrations(view.calibrations),
        needed=tuple(_needed(view, judged)),
        difference=DETECTABLE.of(view).difference,
        failures=DETECTABLE.of(view).failures,
        failure_cases=DETECTABLE.of(view).failure_cases,
        if_missing=view.scores.if_missing,
    )


def _needed(view: RunData, judged: JudgedRun) -> Iterator[LabelsNeeded]:
    width = view.spec.scale.max - view.spec.scale.min
    for share in PRECISIONS:
        planned = planned_labels(view, share * width, judged)
        planned = [plan for plan in planned if plan.labelled] or planned  # the others are named as unlabelled
        if planned:
            most = max(planned, key=lambda plan: plan.plan.labels)
            yield LabelsNeeded(
                precision=share * width,
                answers=most.plan.labels,
                labelled=most.labelled,
                every=most.plan.labels >= most.plan.judged,
                assumed=any(plan.is_assumed for plan in planned),
            )


def _uncovered(view: RunData) -> Uncovered:
    spec, coverage, columns = view.spec, view.coverage, view.scores.criteria
    scored = columns.counts_of(~np.isnan(columns.cells.score))
    waived = {id for id, count in columns.counts_of(~columns.cells.applies).items() if count}
    silent = [id for id in spec.criteria_by_id() if not scored.get(id) and id not in coverage.lost]
    unanswered = sum(case.response is None and case.id not in view.erased for case in view.cases)
    counts = _counts(view, view.cases, "language")
    by_age, personas = _counts(view, view.cases, "maturity"), view.spec.personas
    few = max(FEW, view.spec.release.min_cases_by_age if view.spec.release is not None else 0)
    names = young_to_old({*personas, *(name for name in by_age if name)})
    bands = {name: persona.maturity_band for name, persona in personas.items()}
    by_category, labels = _counts(view, view.cases, "category"), view.spec.labels
    return Uncovered(
        cases=len(view.cases),
        unanswered=unanswered,
        unscored=len(UNSCORED.of(view)),
        rejected=len(view.rejected),
        conversations=sum(len(case.turns) > 1 or case.child is not None for case in view.cases),
        languages=tuple(_group(name, counts.get(name, 0)) for name in dict.fromkeys((*view.spec.languages, *counts))),
        ages=tuple(_group(name, by_age.get(name, 0), few, bands.get(name, "")) for name in names),
        categories=tuple(_group(labels.get(name), count) for name, count in by_category.items() if name),
        not_judged=coverage.lost,
        never_apply=tuple(id for id in silent if id in waived),
        without_score=tuple(id for id in silent if id not in waived),
        few={id: scored[id] for id in spec.criteria_by_id() if 0 < scored.get(id, 0) < FEW},
        unexamined=unexamined(view.standings, spec.languages),
        missing=coverage.planned - coverage.scored - coverage.not_applicable,
        planned=coverage.planned,
        complete=view.complete,
    )


def _group(name: str, cases: int, few: int = FEW, ages: str = "") -> Group:
    return Group(name=name, cases=cases, hidden=upper_bound(0, cases, CERTAINTY) if cases else 1.0, few=few, ages=ages)


def _steps(view: RunData, people: PeopleTrust | None, score: ScoreTrust) -> Iterator[Step]:
    if not view.complete:
        yield Step(name="resume", command=run_command(view, "bench", "resume"))
    joint = ("--joint",) if view.spec.joint else ()
    yield from examining_steps(view.spec.suite, view.standings, (*joint, *out_option(view)))
    labelled = people.criteria if people is not None and people.at_random else {}
    most = max((criterion.answers for criterion in labelled.values()), default=0)
    if score.needed:
        wide, narrow = score.needed[0], score.needed[-1]
        if wide.labelled < wide.answers or most < FEWEST_ITEMS:
            yield _label(view, "label" if people is None else "more_labels", wide)
        elif narrow.labelled < narrow.answers:
            yield _label(view, "more_labels", narrow)
    is_own = score.calibration is not None and score.calibration.source == view.run.id
    if most >= FEWEST_LABELS and not (is_own and score.calibration is not None and score.calibration.answers >= most):
        yield Step(name="calibrate", command=run_command(view, "calibrate", "fit"))


def _label(view: RunData, name: StepName, needed: LabelsNeeded) -> Step:
    options = ("--precision", f"{needed.precision:g}", "--queue")
    return Step(
        name=name,
        command=run_command(view, "calibrate", "plan", options=options),
        labels=needed.answers,
        precision=needed.precision,
    )


RUN_TRUST: Figure[Trust] = Figure(id="trust", compute=_trust, stored="results")
