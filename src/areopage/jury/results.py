"""What a jury found: a pure function of the panel, the case and the judgments. No model is asked and nothing is stored."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

import msgspec
from msgspec import Struct

from areopage.cases.records import Case
from areopage.criteria.records import Criterion
from areopage.jury.context import fit_documents
from areopage.jury.judges import Judge, PlannedCall, qualification_of
from areopage.jury.panel import Panel, planned_calls
from areopage.jury.plan import JudgedCase
from areopage.jury.reader import material_of, read_again
from areopage.jury.remarks import remarks_on
from areopage.ledger.records import CriterionResult, Evaluation, Judgment, Verdict
from areopage.scoring.counts import band_of
from areopage.scoring.fold import final_shares, leaf
from areopage.scoring.outcome import OUTCOME_NAMES, Outcome, PlannedPass, Scored, TimedOut, Unreachable, outcome_name
from areopage.scoring.reduce import CriterionScore, reduce_passes
from areopage.scoring.tree import score_tree

DECIMALS = 6  # 5.9999999999 is 6, and must raise no alert


class JudgeUse(Struct, frozen=True, kw_only=True):
    """What one judge did, over an answer or over a run.

    Args:
        planned: verdicts that were planned.
        calls: made; a repair call counts as a call.
        outcomes: how many verdicts came to each outcome; `not_run` counts those that were never asked for.
        repaired_heuristic, repaired_model: judgments read by json-repair, and by a repair call.
        seconds, prompt_tokens, completion_tokens: sums over the calls, as far as the server told them.
        cost: in `currency`; None where no price is stated.
    """

    judge: str
    model: str
    unfit: str = ""
    planned: int
    calls: int
    outcomes: dict[str, int]
    repaired_heuristic: int
    repaired_model: int
    seconds: float
    prompt_tokens: int
    completion_tokens: int
    cost: float | None
    currency: str

    @property
    def coverage(self) -> float:
        """Scored verdicts over planned ones, in [0, 1]."""
        return self.outcomes["scored"] / self.planned if self.planned else 0.0


class Evaluated(Evaluation, frozen=True, kw_only=True):
    """An evaluation with what it was made of.

    Args:
        scores: by the criterion's short name ("exactitude"), every criterion of the suite; None where there is no score.
        documents_left_out: documents that models were not shown, or not whole; what `max_chars` cuts off does not count.
        judgments: one for each call.
        uses: what each judge did.
        retryable: why another attempt may bring more; "" where it cannot.
    """

    scores: dict[str, float | None]
    documents_left_out: int = 0
    judgments: tuple[Judgment, ...] = ()
    uses: tuple[JudgeUse, ...] = ()
    retryable: str = ""

    @property
    def quality_score(self) -> dict[str, Any]:
        """For an answer's payload: each criterion, `score_global`, `feedback`; `reason` where there is no global score."""
        shape: dict[str, Any] = {**self.scores, "score_global": self.score_global, "feedback": self.feedback}
        return shape if self.score_global is not None else shape | {"reason": self.reason}


def evaluated(
    panel: Panel,
    run_id: str,
    case: Case,
    judgments: Mapping[str, Judgment],
    at: datetime,
    *,
    criteria: Sequence[Criterion] | None = None,
    fault: str = "",
) -> Evaluated:
    """Aggregate the judgments on one answer.

    Args:
        judgments: by key; planned calls without one count as not made.
        at: when it was evaluated.
        criteria: those that this case is judged on; None: all of the panel.
        fault: why no judge could be asked at all; "" where they were.
    """
    asked = panel.criteria if criteria is None else tuple(criteria)
    calls = list(planned_calls(panel, [JudgedCase(case=case, criteria=asked)]))
    passes = planned_passes(case.id, calls, judgments)
    scales = {one.id: one.scale for one in asked}
    found = {one.criterion: one for one in reduce_passes(passes, scales, panel.scale, panel.profile)}
    judged = [one for one in asked if one.id in found]
    score = _global_score(panel, judged, found)
    held = [judgments[call.key] for call in calls if call.key in judgments]
    remarks = remarks_on(panel, calls, judgments)
    uses = tuple(use for use in judge_uses(panel, passes, held) if use.calls)
    cost, currency = _total_cost(uses)
    return Evaluated(
        id=case.id,
        run_id=run_id,
        state="evaluated",
        timestamp=at,
        evaluated_at=at,
        suite=panel.suite,
        suite_version=panel.suite_version,
        language=panel.language,
        source=case.source,
        prompt=case.prompt_text,
        response=case.response or "",
        score_global=score,
        band=band_of(score, panel.scale),
        criteria=tuple(_criterion_result(panel, one, found[one.id]) for one in judged),
        feedback=remarks.feedback,
        strengths=remarks.strengths,
        weaknesses=remarks.weaknesses,
        suggestions=remarks.suggestions,
        reason="" if score is not None else fault or _why_unscored(panel, judged, found, passes),
        standing=qualification_of(panel.judges),
        scored=sum(isinstance(one.outcome, Scored) for one in passes),
        planned=len(passes),
        spread=_widest(found.values()),
        prompt_tokens=_known_sum(one.prompt_tokens for one in held),
        completion_tokens=_known_sum(one.completion_tokens for one in held),
        seconds=sum(one.seconds for one in held),
        cost=cost,
        currency=currency,
        scores={panel.names[one.id]: found[one.id].score if one.id in found else None for one in panel.criteria},
        documents_left_out=fit_documents(case.documents, panel.context)[1] if panel.context else 0,
        judgments=tuple(held),
        uses=uses,
        retryable=fault or _why_retryable(passes),
    )


def planned_passes(case_id: str, calls: Iterable[PlannedCall], judgments: Mapping[str, Judgment]) -> list[PlannedPass]:
    """Every planned verdict with its outcome, None where its call was not made."""
    passes: list[PlannedPass] = []
    for call in calls:
        judgment = judgments.get(call.key)
        outcomes: dict[str, Outcome] = {one.criterion: one.outcome for one in judgment.verdicts} if judgment else {}
        passes.extend(
            PlannedPass(
                case_id=case_id,
                criterion=criterion.id,
                judge=call.judge.name,
                pass_index=call.pass_index,
                outcome=outcomes.get(criterion.id),
            )
            for criterion in call.criteria
        )
    return passes


def judge_uses(panel: Panel, passes: Sequence[PlannedPass], judgments: Sequence[Judgment]) -> list[JudgeUse]:
    """What each judge of the panel did."""
    planned: dict[str, int] = {}
    for one in passes:
        planned[one.judge] = planned.get(one.judge, 0) + 1
    by_judge: dict[str, list[Judgment]] = {}
    for judgment in judgments:
        by_judge.setdefault(judgment.judge, []).append(judgment)
    return [_judge_use(judge, planned.get(judge.name, 0), by_judge.get(judge.name, [])) for judge in panel.judges]


def _judge_use(judge: Judge, planned: int, judgments: Sequence[Judgment]) -> JudgeUse:
    outcomes = dict.fromkeys(OUTCOME_NAMES, 0)
    for judgment in judgments:
        for verdict in judgment.verdicts:
            outcomes[outcome_name(verdict.outcome)] += 1
    price = judge.price
    return JudgeUse(
        judge=judge.name,
        model=str(judge.reference),
        unfit=judge.unfit,
        planned=planned,
        calls=len(judgments) + sum(bool(one.repair_text) for one in judgments),
        outcomes=outcomes | {"not_run": planned - sum(outcomes.values())},
        repaired_heuristic=sum(one.repair == "heuristic" for one in judgments),
        repaired_model=sum(one.repair == "model" for one in judgments),
        seconds=sum(one.seconds for one in judgments),
        prompt_tokens=sum(one.prompt_tokens or 0 for one in judgments),
        completion_tokens=sum(one.completion_tokens or 0 for one in judgments),
        cost=sum(price.of(one.prompt_tokens, one.completion_tokens) for one in judgments) if price else None,
        currency=price.currency if price else "",
    )


def reparsed(judgment: Judgment, panel: Panel, case: Case) -> Judgment:
    """A judgment whose raw texts are read again; calls that brought no text, code judges and cut prompts stay as they are."""
    if not judgment.raw_text or "prompt_cut" in judgment.steps:
        return judgment
    by_id = panel.by_id
    criteria = tuple(by_id[verdict.criterion] for verdict in judgment.verdicts if verdict.criterion in by_id)
    if len(criteria) != len(judgment.verdicts):
        return judgment
    reading = read_again(judgment, criteria, material_of(case))
    verdicts = tuple(Verdict(criterion=name, outcome=outcome) for name, outcome in reading.outcomes.items())
    return msgspec.structs.replace(judgment, verdicts=verdicts, steps=reading.steps, repair=reading.repair)


# --- parts of an evaluation


def _criterion_result(panel: Panel, criterion: Criterion, score: CriterionScore) -> CriterionResult:
    band = band_of(score.score, panel.scale)
    return CriterionResult(criterion=criterion.path, score=score.score, band=band, agreement=score.agreement)


def _global_score(panel: Panel, judged: Sequence[Criterion], found: Mapping[str, CriterionScore]) -> float | None:
    """The weighted score over the judged criteria; None unless each that weighs has one."""
    if not judged or _unscored(panel, judged, found):
        return None
    tree, _ = score_tree([leaf(one, found[one.id]) for one in judged], panel.weights)
    return None if tree.score is None else round(tree.score, DECIMALS)


def _unscored(panel: Panel, judged: Sequence[Criterion], found: Mapping[str, CriterionScore]) -> list[Criterion]:
    """The judged criteria that weigh and have no score."""
    tree, _ = score_tree([leaf(one, found[one.id]) for one in judged], panel.weights)
    shares = dict(final_shares(tree))
    return [one for one in judged if shares[one.id] > 0 and found[one.id].score is None]


def _why_unscored(
    panel: Panel, judged: Sequence[Criterion], found: Mapping[str, CriterionScore], passes: Sequence[PlannedPass]
) -> str:
    """Which criteria lack a score, and what came of their verdicts."""
    lacking = _unscored(panel, judged, found)
    if not lacking:
        return "no criterion that this jury judges has a weight"
    parts: list[str] = []
    for one in lacking:
        failed = [_failure(other) for other in passes if other.criterion == one.id and not isinstance(other.outcome, Scored)]
        parts.append(f"{panel.names[one.id]}: {', '.join(dict.fromkeys(failed))}")
    return f"no score for {'; '.join(parts)}"


def _failure(one: PlannedPass) -> str:
    """A verdict that failed, in words."""
    if one.outcome is None:
        return f"{one.judge} was not asked"
    return f"{one.judge} {outcome_name(one.outcome).replace('_', ' ')} ({getattr(one.outcome, 'reason', '')})"


def _why_retryable(passes: Sequence[PlannedPass]) -> str:
    """Why another attempt may bring a verdict that this one did not; "" where none can."""
    return next((_failure(one) for one in passes if isinstance(one.outcome, TimedOut | Unreachable | None)), "")


def _widest(scores: Iterable[CriterionScore]) -> float | None:
    """The largest difference between two judges on one criterion."""
    differences: list[float] = []
    for one in scores:
        values = [judge.score for judge in one.judges if judge.score is not None]
        if len(values) > 1:
            differences.append(max(values) - min(values))
    return max(differences, default=None)


def _known_sum(counts: Iterable[int | None]) -> int | None:
    """The sum of the counts that are known; None where none is."""
    known = [count for count in counts if count is not None]
    return sum(known) if known else None


def _total_cost(uses: Sequence[JudgeUse]) -> tuple[float | None, str]:
    """What the judges with a price cost together; None where they are paid in several currencies."""
    paid = [use for use in uses if use.cost is not None]
    currencies = {use.currency for use in paid}
    if len(currencies) != 1:
        return None, ""
    return sum(use.cost or 0.0 for use in paid), currencies.pop()
