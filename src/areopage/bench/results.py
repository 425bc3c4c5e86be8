"""A run as the ledger tells it: cases, answers, judgments, and the scores folded from them. No model is called."""

from collections.abc import Mapping, Sequence

import msgspec
from msgspec import Struct

from areopage.bench.keys import answer_calls, judged_cases
from areopage.bench.spec import RunCase, RunSpec, decode_spec
from areopage.cases.records import Case, RejectedRow
from areopage.errors import UserError, name_list
from areopage.jury.judges import Judge
from areopage.jury.plan import plan
from areopage.jury.reader import material_of, read_again
from areopage.ledger.records import Answer, Judgment, Run, Verdict
from areopage.ledger.store import Ledger
from areopage.scoring.fold import RunScores, fold
from areopage.scoring.outcome import OUTCOME_NAMES, Outcome, PlannedPass, outcome_name
from areopage.scoring.profile import Profile
from areopage.scoring.weights import Weights

PassKey = tuple[str, str, str, int]


class JudgeHealth(Struct, frozen=True, kw_only=True):
    """How one judge did over a run.

    Args:
        standing: why it is known to be unfit; "" where it was never examined.
        outcomes: how many passes came to each outcome; `not_run` counts those that were never asked.
        repaired: passes read by json-repair, and by a repair call.
        seconds: mean of a call; tokens are sums, as far as the server told them.
        cost: in `currency`; None where no price is stated.
    """

    judge: str
    model: str
    standing: str
    planned: int
    outcomes: dict[str, int]
    repaired_heuristic: int
    repaired_model: int
    seconds: float
    prompt_tokens: int
    completion_tokens: int
    cost: float | None
    currency: str
    outliers: int

    @property
    def coverage(self) -> float:
        """Scored passes over planned ones, in [0, 1]."""
        return self.outcomes["scored"] / self.planned if self.planned else 0.0


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
    spec = varied(decode_spec(run.spec, f"run {run.id}"), change)
    cases = load_run_cases(ledger, run.id)
    calls = answer_calls(spec, cases)
    by_key = ledger.answers([call.key for call in calls])
    answers = {call.case.id: by_key[call.key] for call in calls if call.key in by_key}
    judged = judged_cases(spec, cases, calls, by_key)
    places = {
        (call.case.id, criterion.id, judge.name, call.pass_index): call.key
        for judge in spec.judges
        for call in plan(judge, judged, spec.personas, spec.salt)
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
        health=tuple(judge_health(judge, spec, cases, judgments, scores) for judge in spec.judges),
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


def reparsed(judgment: Judgment, spec: RunSpec, case: Case) -> Judgment:
    """A judgment whose raw texts were read again; one without a text to read stays as it is."""
    criteria = spec.criteria_by_id()
    asked = tuple(criteria[verdict.criterion] for verdict in judgment.verdicts)
    reading = read_again(judgment, asked, material_of(case))
    if reading is None:
        return judgment
    verdicts = tuple(Verdict(criterion=name, outcome=outcome) for name, outcome in reading.outcomes.items())
    return msgspec.structs.replace(judgment, verdicts=verdicts, steps=reading.steps, repair=reading.repair)


def judge_health(
    judge: Judge, spec: RunSpec, cases: Sequence[RunCase], judgments: Mapping[PassKey, Judgment], scores: RunScores
) -> JudgeHealth:
    """How one judge did."""
    criteria = spec.criteria_by_id()
    pairs = sum(1 for item in cases for key in item.criteria if judge.may_judge(criteria[key]))
    planned = pairs * len(judge.passes)
    own = [judgment for (_, _, name, _), judgment in judgments.items() if name == judge.name]
    outcomes = dict.fromkeys(OUTCOME_NAMES, 0)
    for judgment in own:
        for verdict in judgment.verdicts:
            outcomes[outcome_name(verdict.outcome)] += 1
    price = judge.price
    return JudgeHealth(
        judge=judge.name,
        model=str(judge.reference),
        standing=judge.unfit,
        planned=planned,
        outcomes=outcomes | {"not_run": planned - len(own)},
        repaired_heuristic=sum(judgment.repair == "heuristic" for judgment in own),
        repaired_model=sum(judgment.repair == "model" for judgment in own),
        seconds=sum(judgment.seconds for judgment in own) / len(own) if own else 0.0,
        prompt_tokens=sum(judgment.prompt_tokens or 0 for judgment in own),
        completion_tokens=sum(judgment.completion_tokens or 0 for judgment in own),
        cost=sum(price.of(one.prompt_tokens, one.completion_tokens) for one in own) if price else None,
        currency=price.currency if price else "",
        outliers=scores.consistency.outliers_by_judge.get(judge.name, 0),
    )
