"""A run as the ledger tells it: cases, answers, judgments, and the scores computed from them. No model is called."""

from collections.abc import Mapping, Sequence

import msgspec
from msgspec import Struct

from areopage.bench.keys import answer_calls, judged_cases, recorded_id
from areopage.bench.spec import RunCase, RunSpec, spec_of
from areopage.cases.records import Case, RejectedRow
from areopage.errors import UserError, name_list
from areopage.jury.judges import Judge
from areopage.jury.panel import planned_calls
from areopage.jury.results import JudgeHealth, evaluation_of, judge_health, reparsed
from areopage.ledger.answers import Answers, Link
from areopage.ledger.evaluations import Evaluations
from areopage.ledger.records import Answer, Evaluation, Judgment, Run
from areopage.ledger.store import Ledger
from areopage.scoring.fold import RecordScores, RunScores, fold
from areopage.scoring.outcome import Outcome, PlannedPass
from areopage.scoring.profile import Profile
from areopage.scoring.weights import Weights

PassKey = tuple[str, str, str, int]


class RunView(Struct, frozen=True, kw_only=True):
    """A run with everything that is known of it.

    Args:
        spec: the specification, with the judges, weights and profile that the scores were folded with.
        cases: every case, the target's response filled in where there is one.
        rejected: the rows of the datasets that could not be used.
        answers: the target's answers by case.
        judgments: by (case, criterion, judge, pass).
        complete: no pass is left that another try could bring.
        variant: how this view differs from the run as it was carried out; "" where it does not.
    """

    run: Run
    spec: RunSpec
    cases: tuple[Case, ...]
    rejected: tuple[RejectedRow, ...]
    answers: dict[str, Answer]
    judgments: dict[PassKey, Judgment]
    scores: RunScores
    health: tuple[JudgeHealth, ...]
    complete: bool
    variant: str


class Variant(Struct, frozen=True, kw_only=True):
    """What a rescoring changes; None and empty change nothing."""

    weights: Weights | None = None
    profile: Profile | None = None
    without_judges: tuple[str, ...] = ()
    reparse: bool = False

    def describe(self) -> str:
        """The changes in words, "" for none."""
        parts = [
            "other weights" if self.weights is not None else "",
            f"profile {self.profile.name}" if self.profile is not None else "",
            f"without {', '.join(self.without_judges)}" if self.without_judges else "",
            "raw texts parsed again" if self.reparse else "",
        ]
        return "; ".join(part for part in parts if part)


def load_run_cases(ledger: Ledger, run_id: str) -> tuple[RunCase, ...]:
    """The cases of a run."""
    return tuple(msgspec.json.decode(text, type=RunCase) for text in ledger.run_cases(run_id))


def view_run(run: Run, ledger: Ledger, variant: Variant | None = None) -> RunView:
    """Read a run from the ledger and fold its scores.

    Raises:
        UserError: the variant leaves out a judge that the run does not have, or all of them.
        StorageError: the ledger cannot be read.
    """
    change = variant or Variant()
    spec = varied(spec_of(run), change)
    cases = load_run_cases(ledger, run.id)
    calls = answer_calls(spec, cases)
    by_key = Answers(ledger).by_key([call.key for call in calls])
    answers = {call.case.id: by_key[call.key] for call in calls if call.key in by_key}
    judged = judged_cases(spec, cases, calls, by_key)
    places = {
        (call.case.id, criterion.id, call.judge.name, call.pass_index): call.key
        for call in planned_calls(spec, judged)
        for criterion in call.criteria
    }
    held = ledger.judgments(list(places.values()))
    responses = {item.case.id: item.case for item in judged}
    judgments = {place: held[key] for place, key in places.items() if key in held}
    if change.reparse:
        judgments = {place: reparsed(judgment, spec, responses[place[0]]) for place, judgment in judgments.items()}
    scores = fold(planned_passes(spec, cases, judgments), spec.criteria, spec.scale, spec.weights, spec.profile)
    return RunView(
        run=run,
        spec=spec,
        cases=tuple(responses.get(item.case.id, item.case) for item in cases),
        rejected=tuple(msgspec.json.decode(text, type=RejectedRow) for text in ledger.run_rejected(run.id)),
        answers=answers,
        judgments=judgments,
        scores=scores,
        health=tuple(run_health(judge, spec, cases, judgments, scores) for judge in spec.judges),
        complete=run.finished_at is not None,
        variant=change.describe(),
    )


def varied(spec: RunSpec, change: Variant) -> RunSpec:
    """A specification with a variant's changes."""
    names = [judge.name for judge in spec.judges]
    for name in change.without_judges:
        if name not in names:
            raise UserError(f"the run has no judge {name!r}: it has {name_list(names)}")
    judges = tuple(judge for judge in spec.judges if judge.name not in change.without_judges)
    if not judges:
        raise UserError("no judge would be left")
    profile = change.profile.with_quorum(spec.quorum) if change.profile else spec.profile
    return msgspec.structs.replace(spec, judges=judges, weights=change.weights or spec.weights, profile=profile)


def planned_passes(spec: RunSpec, cases: Sequence[RunCase], judgments: Mapping[PassKey, Judgment]) -> list[PlannedPass]:
    """Every planned pass of a run, in order of cases, with its outcome where it was asked."""
    criteria = spec.criteria_by_id()
    return [
        PlannedPass(
            case_id=item.case.id,
            criterion=key,
            judge=judge.name,
            pass_index=number,
            outcome=outcome_for(judgments.get((item.case.id, key, judge.name, number)), key),
        )
        for item in cases
        for key in item.criteria
        for judge in spec.judges
        if judge.may_judge(criteria[key])
        for number in range(1, len(judge.passes) + 1)
    ]


def outcome_for(judgment: Judgment | None, criterion: str) -> Outcome | None:
    """A judgment's outcome on a criterion."""
    if judgment is None:
        return None
    return next((verdict.outcome for verdict in judgment.verdicts if verdict.criterion == criterion), None)


def run_health(
    judge: Judge, spec: RunSpec, cases: Sequence[RunCase], judgments: Mapping[PassKey, Judgment], scores: RunScores
) -> JudgeHealth:
    """How one judge did over a run."""
    criteria = spec.criteria_by_id()
    planned = sum(1 for item in cases for key in item.criteria if judge.may_judge(criteria[key])) * len(judge.passes)
    own = [judgment for (_, _, name, _), judgment in judgments.items() if name == judge.name]
    return judge_health(judge, planned, own, scores.consistency.outliers_by_judge.get(judge.name, 0))


def store_evaluations(view: RunView, ledger: Ledger) -> None:
    """Keep the scores of a run's answers, and which judgments belong to them; scores that are kept of this run are replaced.

    Args:
        view: of the run as it was carried out, not of a variant.
    """
    by_case: dict[str, list[Judgment]] = {record.case_id: [] for record in view.scores.records}
    for (case_id, _, _, _), judgment in view.judgments.items():
        by_case.setdefault(case_id, []).append(judgment)
    cases = {case.id: case for case in view.cases if case.response is not None}
    records = [record for record in view.scores.records if record.case_id in cases]
    made = [_evaluation_of(view, record, cases[record.case_id], by_case[record.case_id]) for record in records]
    numbers = Answers(ledger).numbers([one.id for one in made])
    # cases alike to the letter share the target's answer
    Evaluations(ledger).put(list({one.id: one for one in made if one.id in numbers}.values()))
    keys = [(one.id, judgment.key) for one, record in zip(made, records, strict=True) for judgment in by_case[record.case_id]]
    Answers(ledger).append_judged([Link(numbers[id], view.run.id, key) for id, key in keys if id in numbers])


def _evaluation_of(view: RunView, record: RecordScores, case: Case, judgments: Sequence[Judgment]) -> Evaluation:
    """The evaluation of one case's answer."""
    answer = view.answers.get(case.id)
    at = max((one.created_at for one in judgments), default=view.run.created_at)
    return msgspec.structs.replace(
        evaluation_of(view.spec, view.run.id, case, record.criteria, judgments, at),
        id=recorded_id(case) if answer is None else answer.id,
        origin="bench",
        timestamp=view.run.created_at if answer is None else answer.answered_at,
        source=case.source if answer is None else answer.source,
    )
