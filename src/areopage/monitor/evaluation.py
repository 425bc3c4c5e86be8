"""The evaluation of one answer: a pure function of the terms, the case and the judgments."""

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct

from areopage.cases.records import Case
from areopage.criteria.records import Criterion
from areopage.jury.judges import Judge
from areopage.jury.standing import standing_of
from areopage.ledger.records import Band, CriterionResult, JudgeUse, Judgment
from areopage.monitor.context import fit_documents
from areopage.monitor.remarks import words_about
from areopage.monitor.terms import Call, Terms, asked, planned_calls
from areopage.scoring.counts import band_of
from areopage.scoring.fold import final_shares, leaf
from areopage.scoring.outcome import (
    OUTCOME_NAMES,
    Outcome,
    PlannedPass,
    Scored,
    TimedOut,
    Unreachable,
    outcome_name,
)
from areopage.scoring.reduce import CriterionScore, reduce_passes
from areopage.scoring.tree import score_tree

DECIMALS = 6  # 5.9999999999 is 6, and must raise no alert


class Evaluation(Struct, frozen=True, kw_only=True):
    """What an evaluation of one answer found. Scores are on the suite's scale, tokens and cost are sums over all calls.

    Args:
        case_id: the answer's id.
        run_id: the terms that it was judged on; "" where no judge could be seated.
        scores: by the criterion's short name ("exactitude"), every criterion of the suite; None where there is no score.
        criteria: the criteria that this jury may judge, by path ("quality.answer.exactitude").
        score_global: weighted over those criteria; None unless each of them that weighs has a score.
        feedback, strengths, weaknesses, suggestions: in the judges' words.
        reason: why there is no global score; "" where there is one.
        standing: what is known of the judges' fitness; see `standing_of`.
        spread: the largest difference between two judges on one criterion; None under two.
        scored, planned: verdicts.
        prompt_tokens, completion_tokens: None where no judge counted.
        seconds: of wall time.
        cost: in `currency`; None where no price is known, or judges are paid in several currencies.
        documents_left_out: documents that models were not shown, or not whole; what `max_chars` cuts off does not count.
        remarks: what the reader should know of the configuration.
        judgments: one for each call.
        uses: what each judge did.
        retryable: why another attempt may bring more; "" where it cannot.
    """

    case_id: str
    run_id: str
    scores: dict[str, float | None]
    criteria: tuple[CriterionResult, ...]
    score_global: float | None
    band: Band
    feedback: str
    strengths: tuple[str, ...]
    weaknesses: tuple[str, ...]
    suggestions: tuple[str, ...]
    reason: str
    standing: str
    spread: float | None
    scored: int
    planned: int
    prompt_tokens: int | None
    completion_tokens: int | None
    seconds: float
    cost: float | None
    currency: str
    documents_left_out: int
    remarks: tuple[str, ...]
    judgments: tuple[Judgment, ...]
    uses: tuple[JudgeUse, ...]
    retryable: str

    @property
    def quality_score(self) -> dict[str, Any]:
        """For an answer's payload: each criterion, `score_global`, `feedback`; `reason` where there is no global score."""
        shape: dict[str, Any] = {**self.scores, "score_global": self.score_global, "feedback": self.feedback}
        return shape if self.score_global is not None else shape | {"reason": self.reason}


def evaluation_of(
    terms: Terms, run_id: str, case: Case, judgments: Mapping[str, Judgment], seconds: float, fault: str = ""
) -> Evaluation:
    """Fold judgments into an evaluation; no model is asked and nothing is read.

    Args:
        judgments: by key; planned calls without one count as not made.
        seconds: how long it took.
        fault: why no judge could be asked at all; "" where they were.
    """
    calls = planned_calls(terms, case)
    passes = planned_passes(case, calls, judgments)
    scales = {one.id: one.scale for one in terms.criteria}
    found = {one.criterion: one for one in reduce_passes(passes, scales, terms.scale, terms.profile)}
    judged = [one for one in terms.criteria if one.id in found]
    score = global_score(terms, judged, found)
    held = [judgments[call.key] for call in calls if call.key in judgments]
    words = words_about(terms, calls, judgments)
    uses = tuple(use for use in (judge_use(judge, held) for judge in terms.judges) if use.calls)
    cost, currency = total_cost(terms, uses)
    return Evaluation(
        case_id=case.id,
        run_id=run_id,
        scores={name: found[key].score if key in found else None for key, name in terms.names.items()},
        criteria=tuple(
            CriterionResult(
                criterion=one.path,
                score=found[one.id].score,
                band=band_of(found[one.id].score, terms.scale),
                agreement=found[one.id].agreement,
            )
            for one in judged
        ),
        score_global=score,
        band=band_of(score, terms.scale),
        feedback=words.feedback,
        strengths=words.strengths,
        weaknesses=words.weaknesses,
        suggestions=words.suggestions,
        reason="" if score is not None else fault or why_unscored(terms, judged, found, passes),
        standing=standing_of(terms.judges),
        spread=widest(found.values()),
        scored=sum(isinstance(one.outcome, Scored) for one in passes),
        planned=len(passes),
        prompt_tokens=known_sum([one.prompt_tokens for one in held]),
        completion_tokens=known_sum([one.completion_tokens for one in held]),
        seconds=seconds,
        cost=cost,
        currency=currency,
        documents_left_out=fit_documents(case.documents, terms.context)[1],
        remarks=terms.remarks,
        judgments=tuple(held),
        uses=uses,
        retryable=fault or why_retryable(passes),
    )


def planned_passes(case: Case, calls: Sequence[Call], judgments: Mapping[str, Judgment]) -> list[PlannedPass]:
    """Every planned verdict with its outcome, None where its call was not made."""
    passes: list[PlannedPass] = []
    for call in calls:
        judgment = judgments.get(call.key)
        outcomes: dict[str, Outcome] = {one.criterion: one.outcome for one in judgment.verdicts} if judgment else {}
        passes.extend(
            PlannedPass(
                case_id=case.id,
                criterion=criterion.id,
                judge=call.judge.name,
                pass_index=call.pass_index,
                outcome=outcomes.get(criterion.id),
            )
            for criterion in asked(call)
        )
    return passes


def global_score(terms: Terms, judged: Sequence[Criterion], found: Mapping[str, CriterionScore]) -> float | None:
    """The weighted score over the judged criteria; None unless each that weighs has one."""
    lacking = unscored(terms, judged, found)
    if lacking or not judged:
        return None
    tree, _ = score_tree([leaf(one, found[one.id]) for one in judged], terms.weights)
    return None if tree.score is None else round(tree.score, DECIMALS)


def unscored(terms: Terms, judged: Sequence[Criterion], found: Mapping[str, CriterionScore]) -> list[Criterion]:
    """The judged criteria that weigh and have no score."""
    tree, _ = score_tree([leaf(one, found[one.id]) for one in judged], terms.weights)
    shares = dict(final_shares(tree))
    return [one for one in judged if shares[one.id] > 0 and found[one.id].score is None]


def why_unscored(
    terms: Terms, judged: Sequence[Criterion], found: Mapping[str, CriterionScore], passes: Sequence[PlannedPass]
) -> str:
    """Which criteria lack a score, and what came of their verdicts."""
    lacking = unscored(terms, judged, found)
    if not lacking:
        return "no criterion that this jury judges has a weight"
    parts: list[str] = []
    for one in lacking:
        said = [failure_of(found) for found in passes if found.criterion == one.id and not isinstance(found.outcome, Scored)]
        parts.append(f"{terms.names[one.id]}: {', '.join(dict.fromkeys(said))}")
    return f"no score for {'; '.join(parts)}"


def failure_of(one: PlannedPass) -> str:
    """A verdict that failed, in words."""
    if one.outcome is None:
        return f"{one.judge} was not asked"
    return f"{one.judge} {outcome_name(one.outcome).replace('_', ' ')} ({getattr(one.outcome, 'reason', '')})"


def why_retryable(passes: Sequence[PlannedPass]) -> str:
    """Why another attempt may bring a verdict that this one did not; "" where none can."""
    return next((failure_of(one) for one in passes if isinstance(one.outcome, TimedOut | Unreachable | None)), "")


def widest(scores: Any) -> float | None:
    """The largest difference between two judges on one criterion."""
    differences: list[float] = []
    for one in scores:
        values = [judge.score for judge in one.judges if judge.score is not None]
        if len(values) > 1:
            differences.append(max(values) - min(values))
    return max(differences, default=None)


def known_sum(counts: Sequence[int | None]) -> int | None:
    """The sum of the counts that are known; None where none is."""
    known = [count for count in counts if count is not None]
    return sum(known) if known else None


def judge_use(judge: Judge, judgments: Sequence[Judgment]) -> JudgeUse:
    """What one judge did; a repair call counts as a call."""
    own = [one for one in judgments if one.judge == judge.name]
    outcomes = dict.fromkeys(OUTCOME_NAMES, 0)
    for judgment in own:
        for verdict in judgment.verdicts:
            outcomes[outcome_name(verdict.outcome)] += 1
    price = judge.price
    return JudgeUse(
        judge=judge.name,
        model=str(judge.reference),
        calls=len(own) + sum(bool(one.repair_text) for one in own),
        outcomes={name: count for name, count in outcomes.items() if count},
        seconds=sum(one.seconds for one in own),
        prompt_tokens=sum(one.prompt_tokens or 0 for one in own),
        completion_tokens=sum(one.completion_tokens or 0 for one in own),
        cost=sum(price.of(one.prompt_tokens, one.completion_tokens) for one in own) if price else 0.0,
        currency=price.currency if price else "",
    )


def total_cost(terms: Terms, uses: Sequence[JudgeUse]) -> tuple[float | None, str]:
    """What the judges with a price cost together, and in which currency."""
    priced = {judge.name for judge in terms.judges if judge.price is not None}
    paid = [use for use in uses if use.judge in priced]
    currencies = {use.currency for use in paid}
    if len(currencies) != 1:
        return None, ""
    return sum(use.cost for use in paid), currencies.pop()
