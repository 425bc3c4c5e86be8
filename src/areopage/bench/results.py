"""A run as the ledger tells it: cases, answers, judgments, and the scores computed from them. No model is called."""

from collections.abc import Mapping, Sequence

import msgspec
from msgspec import Struct

from areopage.bench.keys import answer_calls, judged_cases, recorded_id
from areopage.bench.spec import RunCase, RunSpec, decode_spec
from areopage.cases.records import Case, RejectedRow
from areopage.errors import UserError, name_list
from areopage.jury.call import material_of
from areopage.jury.judges import Judge
from areopage.jury.parsing import read_verdict
from areopage.jury.plan import plan_judge
from areopage.jury.standing import standing_of
from areopage.ledger.answers import Answers, Link
from areopage.ledger.evaluations import Evaluations
from areopage.ledger.records import Answer, CriterionResult, Evaluation, Judgment, Repair, Run, Verdict
from areopage.ledger.store import Ledger
from areopage.scoring.counts import band_of
from areopage.scoring.fold import RecordScores, RunScores, final_shares, fold
from areopage.scoring.outcome import OUTCOME_NAMES, Outcome, PlannedPass, Scored, Unparsed, outcome_name
from areopage.scoring.profile import Profile
from areopage.scoring.reduce import spread_of
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
    by_key = Answers(ledger).by_key([call.key for call in calls])
    answers = {call.case.id: by_key[call.key] for call in calls if call.key in by_key}
    judged = judged_cases(spec, cases, calls, by_key)
    places = {
        (call.case.id, call.criterion.id, judge.name, call.pass_index): call.key
        for judge in spec.judges
        for call in plan_judge(judge, judged, spec.personas, spec.salt)
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
    """A judgment whose raw texts were read again; calls that brought no text, or a cut prompt, stay as they are."""
    if not judgment.raw_text or "prompt_cut" in judgment.steps:
        return judgment
    scales = {criterion.id: criterion.scale for criterion in spec.criteria}
    material = material_of(case)
    verdicts: list[Verdict] = []
    steps: tuple[str, ...] = ()
    repair: Repair = "none"
    for verdict in judgment.verdicts:
        scale = scales.get(verdict.criterion, spec.scale)
        finish_reason = "stop" if judgment.repair_text else judgment.finish_reason
        reading = read_verdict(judgment.raw_text, finish_reason, scale, material)
        steps, repair = reading.steps, "heuristic" if reading.heuristic else "none"
        if isinstance(reading.outcome, Unparsed) and judgment.repair_text:
            reading = read_verdict(judgment.repair_text, judgment.finish_reason, scale, material)
            steps, repair = (*steps, "repair_call", *reading.steps), "model" if isinstance(reading.outcome, Scored) else "none"
        verdicts.append(Verdict(criterion=verdict.criterion, outcome=reading.outcome))
    return msgspec.structs.replace(judgment, verdicts=tuple(verdicts), steps=steps, repair=repair)


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
        standing=judge.standing,
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
    made = [evaluation_of(view, record, cases[record.case_id], by_case[record.case_id]) for record in records]
    numbers = Answers(ledger).numbers([one.id for one in made])
    # cases alike to the letter share the target's answer
    Evaluations(ledger).put(list({one.id: one for one in made if one.id in numbers}.values()))
    keys = [(one.id, judgment.key) for one, record in zip(made, records, strict=True) for judgment in by_case[record.case_id]]
    Answers(ledger).append_judged([Link(numbers[id], key) for id, key in keys if id in numbers])


def evaluation_of(view: RunView, record: RecordScores, case: Case, judgments: Sequence[Judgment]) -> Evaluation:
    """The evaluation of one case's answer."""
    spec, answer = view.spec, view.answers.get(case.id)
    paths = {criterion.id: criterion.path for criterion in spec.criteria}
    shares = dict(final_shares(record.tree))
    lacking = [one.criterion for one in record.criteria if one.score is None and shares[one.criterion] > 0]
    score = None if lacking else record.tree.score
    price = {judge.name: judge.price for judge in spec.judges if judge.price is not None}
    currencies = {one.currency for one in price.values()}
    costs = [price[one.judge].of(one.prompt_tokens, one.completion_tokens) for one in judgments if one.judge in price]
    return Evaluation(
        id=recorded_id(case) if answer is None else answer.id,
        run_id=view.run.id,
        origin="bench",
        state="evaluated",
        reason="" if score is not None else f"no score for {name_list(paths[key] for key in lacking)}",
        timestamp=view.run.created_at if answer is None else answer.answered_at,
        evaluated_at=max((one.created_at for one in judgments), default=view.run.created_at),
        suite=spec.suite,
        suite_version=spec.suite_version,
        language=spec.language,
        source=case.source if answer is None else answer.source,
        prompt=case.prompt_text,
        response=case.response or "",
        score_global=score,
        band=band_of(score, spec.scale),
        criteria=tuple(
            CriterionResult(
                criterion=paths[one.criterion], score=one.score, band=band_of(one.score, spec.scale), agreement=one.agreement
            )
            for one in record.criteria
        ),
        standing=standing_of(spec.judges),
        scored=record.tree.scored,
        planned=record.tree.planned,
        spread=spread_of(record.criteria),
        prompt_tokens=sum(one.prompt_tokens or 0 for one in judgments),
        completion_tokens=sum(one.completion_tokens or 0 for one in judgments),
        seconds=sum(one.seconds for one in judgments),
        cost=sum(costs) if len(currencies) == 1 else None,
        currency=currencies.pop() if len(currencies) == 1 else "",
    )
