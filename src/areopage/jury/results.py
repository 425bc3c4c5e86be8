"""Results of a jury: a pure function of panel, case and judgments."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

import msgspec

from areopage.cases import Case, Turn
from areopage.errors import name_list
from areopage.jury.addressing import signs_in
from areopage.jury.expectations import scoring_steps, with_known_probabilities
from areopage.jury.judges import PlannedCall
from areopage.jury.panel import Panel
from areopage.jury.planning import JudgedCase
from areopage.jury.reader import material_of, read_again
from areopage.jury.remarks import remarks_on
from areopage.ledger import (
    IN_BATCH,
    CriterionResult,
    Evaluation,
    JudgeUse,
    Judgment,
    Standing,
    Verdict,
    compact_standings,
    standing_fields,
    standings,
)
from areopage.models import call_notes_in
from areopage.records import plain_data, record_from
from areopage.scoring import DECIMALS as SHOWN_DECIMALS
from areopage.scoring import (
    CriterionScore,
    Given,
    Grade,
    Leaf,
    PlannedPass,
    TimedOut,
    Unreachable,
    critical_floor,
    grade_of,
    reduce_passes,
    score_tree,
)

NONE_APPLIES = "no criterion applies"
NONE_WEIGHS = "no criterion that this jury judges has a weight"
DECIMALS = 6  # 5.9999999999 is 6, and must raise no alert


class Evaluated(Evaluation, frozen=True, kw_only=True):
    """An evaluation with its inputs.

    Args:
        scores: by the criterion's short name ("exactitude"), every criterion of the suite; None where there is no score.
        documents_left_out: documents that models were not shown, or not whole; what `max_chars` cuts off does not count.
        remarks: what the reader should know of the configuration.
        judgments: one for each call.
        retryable: why another attempt may bring more; "" where it cannot.
    """

    scores: dict[str, float | None]
    documents_left_out: int = 0
    remarks: tuple[str, ...] = ()
    judgments: tuple[Judgment, ...] = ()
    retryable: str = ""

    def __getattr__(self, name: str) -> float | None:
        """The score of a criterion by its short name, such as `exactitude`."""
        if name == "scores" or name not in self.scores:
            raise AttributeError(f"no criterion has the name {name!r}", name=name, obj=self)
        return self.scores[name]

    @property
    def uses(self) -> tuple[JudgeUse, ...]:
        """Each judge's activity, in order of first judgments."""
        by_judge: dict[str, list[Judgment]] = {}
        for judgment in self.judgments:
            by_judge.setdefault(judgment.judge, []).append(judgment)
        return tuple(
            JudgeUse(
                judge=name,
                model=group[0].model,
                calls=sum(call.calls for call in group),
                outcomes=dict(Counter(verdict.outcome.name for call in group for verdict in call.verdicts)),
                seconds=sum(call.seconds for call in group),
                prompt_tokens=sum(call.prompt_tokens or 0 for call in group),
                completion_tokens=sum(call.completion_tokens or 0 for call in group),
                cost=sum(call.cost or 0.0 for call in group),
                currency=next((call.currency for call in group if call.currency), ""),
            )
            for name, group in by_judge.items()
        )

    @property
    def quality_score(self) -> dict[str, Any]:
        """Build an answer's payload: each criterion, `score_global` and `feedback`.

        `reason` is set where there is no global score.
        """
        shape: dict[str, Any] = {**self.scores, "score_global": self.score_global, "feedback": self.feedback}
        return shape if self.score_global is not None else shape | {"reason": self.reason}

    def to_dict(self) -> dict[str, Any]:
        """The evaluation and its judgments as plain data, for JSON."""
        return plain_data(self)


def evaluated(
    panel: Panel, run_id: str, case: Case, judgments: Mapping[str, Judgment], at: datetime, *, fault: str = ""
) -> Evaluated:
    """Aggregate the judgments on one answer.

    Args:
        judgments: by key; planned calls without one count as not made.
        at: when it was evaluated.
        fault: why no judge could be asked at all; "" where they were.
    """
    return _evaluated(panel, run_id, case, _calls(panel, case), judgments, at, fault)


def evaluated_again(panel: Panel, run_id: str, case: Case, judgments: Iterable[Judgment], at: datetime) -> Evaluated:
    """Aggregate judgments that are known to be about an answer, with any keys.

    They are found by judge, pass, turn and criteria: the keys of an erased answer are random, and a reduced text has another key.
    """
    listed = list(judgments)
    calls = _calls(panel, case if case.response is not None else _outline(panel, case, listed))
    by_place = {
        (item.judge, item.pass_index, item.turn, frozenset(said.criterion for said in item.verdicts)): item for item in listed
    }
    places = {
        call.key: (call.judge.name, call.pass_index, call.turn, frozenset(criterion.id for criterion in call.criteria))
        for call in calls
    }
    by_key = {key: by_place[place] for key, place in places.items() if place in by_place}
    return _evaluated(panel, run_id, case, calls, by_key, at)


def _outline(panel: Panel, case: Case, judgments: Sequence[Judgment]) -> Case:
    """A case without texts that has as many turns as its judgments tell."""
    whole = {criterion.id for criterion in panel.criteria if criterion.scope == "conversation"}
    replies = max((judgment.turn for judgment in judgments), default=0)
    if any(said.criterion in whole for judgment in judgments for said in judgment.verdicts):
        replies = max(replies, 2)
    if replies < 2:
        return case
    turns = [Turn(role="assistant" if place % 2 else "user", content=f"{place}") for place in range(2 * replies - 1)]
    return msgspec.structs.replace(case, prompt=tuple(turns), response="")


def _calls(panel: Panel, case: Case) -> list[PlannedCall]:
    return list(panel.planned_calls([JudgedCase(case=case, criteria=panel.criteria)]))


def _evaluated(
    panel: Panel,
    run_id: str,
    case: Case,
    calls: Sequence[PlannedCall],
    judgments: Mapping[str, Judgment],
    at: datetime,
    fault: str = "",
) -> Evaluated:
    passes: list[PlannedPass] = []
    for call in calls:
        outcomes = judgments[call.key].outcomes if call.key in judgments else {}
        passes.extend(
            PlannedPass(
                case_id=case.id,
                criterion=criterion.id,
                judge=call.judge.name,
                pass_index=call.pass_index,
                turn=call.turn,
                outcome=outcomes.get(criterion.id),
            )
            for criterion in call.criteria
        )
    scales = {criterion.id: criterion.scale for criterion in panel.criteria}
    limits = panel.failures.limits(panel.criteria, panel.scale)
    scores = reduce_passes(passes, scales, panel.scale, panel.profile, limits)
    listed = [judgments[call.key] for call in calls if call.key in judgments]
    evaluation = evaluation_of(panel, run_id, case, scores, listed, at)
    remarks = remarks_on(panel, calls, judgments)
    retryable = (planned for planned in passes if isinstance(planned.outcome, TimedOut | Unreachable | None))
    by_id = {score.criterion: score.score for score in scores}
    return record_from(
        Evaluated,
        evaluation,
        reason="" if evaluation.score_global is not None else fault or _why_unscored(panel, scores, passes),
        feedback=remarks.feedback,
        strengths=remarks.strengths,
        weaknesses=remarks.weaknesses,
        suggestions=remarks.suggestions,
        remarks=(),
        scores={name: by_id.get(id) for id, name in panel.names.items()},
        documents_left_out=panel.context.fit(case.documents)[1] if panel.context else 0,
        judgments=tuple(listed),
        retryable=fault or next(map(_failure, retryable), ""),
    )


def evaluation_of(
    panel: Panel,
    run_id: str,
    case: Case,
    scores: Sequence[CriterionScore],
    judgments: Sequence[Judgment],
    at: datetime,
    unexamined: Sequence[Standing] | None = None,
) -> Evaluation:
    """Build the evaluation of one answer from its criteria's scores.

    Args:
        scores: of the criteria that some judge may judge, in the panel's order.
        judgments: those that were made about it.
        at: when it was evaluated.
        unexamined: see `judges_unexamined`, which is called where it is None.
    """
    by_id = panel.criteria_by_id()
    lacking, score = _weighed(panel, scores)
    cost, currency = _total_cost(judgments)
    return Evaluation(
        id=case.id,
        run_id=run_id,
        state="evaluated",
        reason="" if score is not None else _nothing_scored(scores, [panel.names[key] for key in lacking]),
        timestamp=at,
        evaluated_at=at,
        suite=panel.suite,
        suite_version=panel.suite_version,
        language=panel.language,
        source=case.source,
        prompt=case.prompt_text,
        response=case.response or "",
        score_global=score,
        grade=_grade(panel, score, scores),
        criteria=tuple(
            CriterionResult(
                criterion=by_id[score_of.criterion].path,
                score=score_of.score,
                grade=grade_of(score_of.score, panel.scale) if score_of.applies else "not_applicable",
                agreement=score_of.agreement,
            )
            for score_of in scores
        ),
        **standing_fields(judges_unexamined(panel) if unexamined is None else unexamined),
        scored=sum(score_of.scored for score_of in scores),
        planned=sum(score_of.planned for score_of in scores),
        not_applicable=sum(score_of.not_applicable for score_of in scores),
        spread=CriterionScore.spread_of(scores),
        prompt_tokens=_known_sum(judgment.prompt_tokens for judgment in judgments),
        completion_tokens=_known_sum(judgment.completion_tokens for judgment in judgments),
        seconds=sum(judgment.seconds for judgment in judgments),
        cost=cost,
        currency=currency,
    )


def judges_unexamined(panel: Panel) -> tuple[Standing, ...]:
    """The standings of a panel's judges where no exam is known: what an evaluation says until exams are looked up."""
    return compact_standings(standings(panel.judges, panel.criteria, {}, joint=panel.joint))


def reparsed(judgment: Judgment, panel: Panel, case: Case) -> Judgment:
    """Read a judgment's raw texts again; incomplete raw texts leave it unchanged.

    A score that was computed from log-probabilities stays where the judge's own score is read as before.
    """
    if judgment.stored != "full":
        return judgment
    by_id, at = panel.criteria_by_id(), case.at(judgment.turn)
    reading = read_again(judgment, [by_id[verdict.criterion] for verdict in judgment.verdicts], material_of(at))
    if reading is None:
        return judgment
    before = {verdict.criterion: verdict.outcome for verdict in judgment.verdicts}
    outcomes = {name: with_known_probabilities(outcome, before[name]) for name, outcome in reading.outcomes.items()}
    verdicts = tuple(Verdict(criterion=name, outcome=outcome) for name, outcome in outcomes.items())
    way = tuple(step for step in judgment.steps if step == IN_BATCH)
    noted = (*call_notes_in(judgment.steps), *scoring_steps(judgment.steps), *signs_in(judgment.steps))
    steps = (*way, *reading.steps, *noted)
    return msgspec.structs.replace(judgment, verdicts=verdicts, steps=steps, repair=reading.repair)


# --- parts of an evaluation


def _grade(panel: Panel, score: float | None, scores: Sequence[CriterionScore]) -> Grade:
    """The grade of an answer: weak at any global score where a criterion is at the limit from which it is critical."""
    by_id = panel.criteria_by_id()
    critical = [
        (result.score, critical_floor(by_id[result.criterion].severity, by_id[result.criterion].critical_limit, panel.scale))
        for result in scores
        if result.applies
    ]
    for value, limit in critical:
        if value is not None and limit is not None and panel.scale.reaches(round(value, SHOWN_DECIMALS), limit):
            return "weak"
    return grade_of(score, panel.scale)


def _weighed(panel: Panel, scores: Sequence[CriterionScore]) -> tuple[list[str], float | None]:
    """The ids of the weighted criteria that apply and have no score, and the weighted score, None where there are such."""
    by_id = panel.criteria_by_id()
    tree = score_tree([Leaf.of(by_id[score.criterion], score) for score in scores], panel.weights)[0]
    shares = tree.criterion_shares
    lacking = [score.criterion for score in scores if shares[score.criterion] > 0 and score.is_missing]
    return lacking, None if lacking or tree.score is None else round(tree.score, DECIMALS)


def _nothing_scored(scores: Sequence[CriterionScore], lacking: Sequence[str]) -> str:
    """Why there is no global score, in short."""
    if lacking:
        return f"no score for {name_list(lacking)}"
    return NONE_APPLIES if any(not score.applies for score in scores) else NONE_WEIGHS


def _why_unscored(panel: Panel, scores: Sequence[CriterionScore], passes: Sequence[PlannedPass]) -> str:
    """The criteria without a score and the outcomes of their verdicts."""
    lacking, _ = _weighed(panel, scores)
    if not lacking:
        return _nothing_scored(scores, ())
    parts: list[str] = []
    for key in lacking:
        failed = [_failure(planned) for planned in passes if planned.criterion == key and not isinstance(planned.outcome, Given)]
        parts.append(f"{panel.names[key]}: {', '.join(dict.fromkeys(failed))}")
    return f"no score for {'; '.join(parts)}"


def _failure(planned: PlannedPass) -> str:
    if planned.outcome is None:
        return f"{planned.judge} was not asked"
    return f"{planned.judge} {planned.outcome.name.replace('_', ' ')} ({getattr(planned.outcome, 'reason', '')})"


def _known_sum(counts: Iterable[int | None]) -> int | None:
    numbers = [count for count in counts if count is not None]
    return sum(numbers) if numbers else None


def _total_cost(judgments: Sequence[Judgment]) -> tuple[float | None, str]:
    """The total cost of priced calls; None with several currencies."""
    paid = [judgment for judgment in judgments if judgment.cost is not None]
    currencies = {call.currency for call in paid}
    if len(currencies) != 1:
        return None, ""
    return sum(call.cost or 0.0 for call in paid), currencies.pop()
