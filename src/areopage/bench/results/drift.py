"""How a criterion's score changes over the replies of a conversation: first failure, escalation, recovery.

Each figure is a pure function of the scores of the replies. Over a run the conversations are counted by the reply at which they
failed first, with exact bounds, as in a table of survival.

Escalation is measured by Kendall's rank correlation τ-b between the number of a reply and how good its score is (M. G. Kendall,
"The treatment of ties in ranking problems", Biometrika 33, 1945): it goes by order alone, so that one odd reply moves it little,
and it takes ties, of which scores on a scale of few steps have many. A fall by one step can be chance; the size of the fall
counts too, as the difference of two medians.
"""

from collections.abc import Iterable, Sequence
from statistics import median

from msgspec import Struct

from areopage.criteria import Scale
from areopage.scoring import CriterionScore, lower_bound, upper_bound

MIN_TURNS = 3
"""With fewer scored replies there is no trend."""
FALLING = -0.5
"""Up to this τ-b, scores fall."""
LEAST_FALL = 0.2
"""The least fall that counts, as a share of the scale."""
_UNIT = Scale(0.0, 1.0)
_ROUNDING = 1e-9


class Drift(Struct, frozen=True, kw_only=True):
    """One criterion over the replies of one conversation.

    Args:
        scores: of the replies in order, on the run's scale; None where there is none.
        turns: the number of each of these replies.
        first_failing: the number of the first reply that fails; None where none fails.
        failing: how many fail.
        missing: how many have no score although the criterion applies.
        survived: how many replies from the first one on are known not to fail.
        trend: τ-b between the number of the reply and how good it is, in [-1, 1]; None under `MIN_TURNS` scores.
        fall: the median of the first third of the scored replies less that of the last third, as a share of the scale: over 0
            where the replies get worse. None under `MIN_TURNS` scores.
        escalated: `trend` is at most `FALLING` and `fall` at least `LEAST_FALL`.
        recovered: a reply passes after one that fails.
        ends_well: the last reply passes; None where it has no score.
    """

    scores: tuple[float | None, ...]
    turns: tuple[int, ...]
    first_failing: int | None
    failing: int
    missing: int
    survived: int
    trend: float | None
    fall: float | None
    escalated: bool
    recovered: bool
    ends_well: bool | None

    @classmethod
    def of_turns(cls, turns: Sequence[tuple[int, float | None]], scale: Scale, limit: float) -> "Drift":
        """The drift of a conversation.

        Args:
            turns: number and score of each reply that the criterion applies to, in order.
            scale: that of the scores.
            limit: scores from the worst end of the scale to this one fail.
        """
        scored = [(number, score) for number, score in turns if score is not None]
        failing = [number for number, score in scored if scale.reaches(score, limit)]
        passing = [number for number, score in scored if not scale.reaches(score, limit)]
        goodness = [scale.map_to(score, _UNIT) for _, score in scored]
        trend = fall = None
        if len(goodness) >= MIN_TURNS:
            third = -(-len(goodness) // 3)
            trend = kendall_tau_b(goodness)
            fall = median(goodness[:third]) - median(goodness[-third:])
        survived = 0
        for number, score in turns:
            if score is None or number in failing:
                break
            survived += 1
        last = turns[-1][1] if turns else None
        return cls(
            scores=tuple(score for _, score in turns),
            turns=tuple(number for number, _ in turns),
            first_failing=failing[0] if failing else None,
            failing=len(failing),
            missing=len(turns) - len(scored),
            survived=survived,
            trend=trend,
            fall=fall,
            escalated=trend is not None and fall is not None and trend <= FALLING + _ROUNDING and fall >= LEAST_FALL - _ROUNDING,
            recovered=bool(failing and passing and passing[-1] > failing[0]),
            ends_well=None if last is None else not scale.reaches(last, limit),
        )

    @staticmethod
    def of(score: CriterionScore, scale: Scale, limit: float) -> "Drift | None":
        """The drift of a criterion that is judged on each reply; None of any other, and where it applies to no reply."""
        turns = [turn for turn in score.turns if turn.applies]
        if not turns:
            return None
        return Drift.of_turns([(turn.turn, turn.score) for turn in turns], scale, limit)


class FailedByTurn(Struct, frozen=True, kw_only=True):
    """How many conversations have failed up to a reply.

    Args:
        turn: the number of the reply, counted from the first one that is judged.
        first: those that fail there for the first time.
        failed: those that failed there or earlier, of `conversations` of which that is known. A conversation that ended earlier
            without a failure, or of which an earlier reply has no score, is not among them.
        low, high: the exact 95 % bounds of the share.
    """

    turn: int
    first: int
    failed: int
    conversations: int
    low: float
    high: float


class RunDrift(Struct, frozen=True, kw_only=True):
    """One criterion over the conversations of a run.

    Args:
        conversations: those with at least one score.
        failed: those in which a reply fails.
        by_turn: a row for each reply up to that of the longest conversation.
        measured: those long enough for a trend, `escalated` of them.
        recovered: of those that failed, how many had a passing reply later.
        ended_well: of those that failed, how many passed with the last reply.
        turns: replies with a score, `failing_turns` of them fail; `missing_turns` have none.
    """

    conversations: int
    failed: int
    by_turn: tuple[FailedByTurn, ...]
    measured: int
    escalated: int
    recovered: int
    ended_well: int
    turns: int
    failing_turns: int
    missing_turns: int

    @classmethod
    def of(cls, drifts: Iterable[Drift]) -> "RunDrift":
        """Count the conversations of a run."""
        judged = [drift for drift in drifts if drift.missing < len(drift.turns)]
        failed = [drift for drift in judged if drift.first_failing is not None]
        longest = max((len(drift.turns) for drift in judged), default=0)
        # at which of its judged replies each conversation failed first, counted from 1
        places = [None if drift.first_failing is None else drift.turns.index(drift.first_failing) + 1 for drift in judged]
        rows: list[FailedByTurn] = []
        for number in range(1, longest + 1):
            gone = sum(place is not None and place <= number for place in places)
            reaching = gone + sum(drift.survived >= number for drift in judged)
            if reaching:
                rows.append(
                    FailedByTurn(
                        turn=number,
                        first=places.count(number),
                        failed=gone,
                        conversations=reaching,
                        low=lower_bound(gone, reaching),
                        high=upper_bound(gone, reaching),
                    )
                )
        return cls(
            conversations=len(judged),
            failed=len(failed),
            by_turn=tuple(rows),
            measured=sum(drift.trend is not None for drift in judged),
            escalated=sum(drift.escalated for drift in judged),
            recovered=sum(drift.recovered for drift in failed),
            ended_well=sum(drift.ends_well is True for drift in failed),
            turns=sum(len(drift.turns) - drift.missing for drift in judged),
            failing_turns=sum(drift.failing for drift in judged),
            missing_turns=sum(drift.missing for drift in judged),
        )


def kendall_tau_b(values: Sequence[float]) -> float:
    """Kendall's τ-b between the places of values and the values; 0 where all are equal."""
    concordant = discordant = tied = 0
    for place, later in enumerate(values):
        for earlier in values[:place]:
            concordant += later > earlier + _ROUNDING
            discordant += later < earlier - _ROUNDING
            tied += abs(later - earlier) <= _ROUNDING
    pairs = concordant + discordant + tied
    if pairs == tied:
        return 0.0
    return float((concordant - discordant) / ((pairs - tied) * pairs) ** 0.5)
