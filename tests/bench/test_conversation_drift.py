"""First failing reply, escalation, recovery; and over a run how many conversations failed by which reply."""

import math

from hypothesis import given
from hypothesis import strategies as st

from areopage.bench.results.drift import Drift, RunDrift, kendall_tau_b
from areopage.criteria.records import Scale
from areopage.scoring.outcome import PlannedPass, Refused, Scored, TimedOut
from areopage.scoring.records import DEFAULT, CriterionScore
from areopage.scoring.score_columns import reduce_passes

SCALE, LIMIT = Scale(), 2.0
SCORES = st.lists(st.one_of(st.none(), st.integers(0, 5).map(float)), min_size=1, max_size=20)
KNOWN = st.lists(st.integers(0, 5).map(float), min_size=3, max_size=20)


def over(*scores: float | None, scale: Scale = SCALE, limit: float = LIMIT) -> Drift:
    """The drift of a conversation with these scores."""
    return Drift.of_turns(list(enumerate(scores, 1)), scale, limit)


def case_score(*turns: tuple[float | None, ...], case_id: str = "1") -> CriterionScore:
    """The score of a case from the scores that the judges a, b… give each reply; None timed out."""
    passes = [
        PlannedPass(
            case_id=case_id,
            criterion="c",
            judge=judge,
            pass_index=1,
            turn=turn,
            outcome=TimedOut(reason="late") if score is None else Scored(score=score),
        )
        for turn, scores in enumerate(turns, 1)
        for judge, score in zip("abc", scores, strict=False)
    ]
    (found,) = reduce_passes(passes, {"c": SCALE}, SCALE, DEFAULT, {"c": LIMIT})
    return found


def test_the_case_has_the_score_of_its_worst_reply() -> None:
    found = case_score((5, 5), (1, 3), (4, 5))
    assert found.score == 2.0
    assert [one.score for one in found.turns] == [5.0, 2.0, 4.5]
    assert (found.scored, found.planned) == (6, 6)
    assert {one.judge: one.score for one in found.judges} == {"a": 1.0, "b": 3.0}


def test_a_reply_without_a_score_leaves_the_case_without_one_unless_another_fails() -> None:
    assert case_score((5,), (None,), (4,)).is_missing
    assert case_score((5,), (None,), (2,)).score == 2.0
    assert list(case_score((5,), (None,)).planned_passes) == [("a", 1, 1), ("a", 2, 1)]
    lost = case_score((None,), (None,))
    assert lost.is_missing and lost.planned == 2


def test_a_refused_reply_is_missing_too() -> None:
    refused = PlannedPass(case_id="1", criterion="c", judge="a", pass_index=1, turn=2, outcome=Refused(reason="no"))
    first = PlannedPass(case_id="1", criterion="c", judge="a", pass_index=1, turn=1, outcome=Scored(score=5))
    (found,) = reduce_passes([first, refused], {"c": SCALE}, SCALE, DEFAULT, {"c": LIMIT})
    assert found.is_missing and found.scored == 1


@given(st.lists(st.integers(0, 5).map(float), min_size=1, max_size=20))
def test_the_case_fails_just_when_a_reply_fails(scores: list[float]) -> None:
    found = case_score(*((score,) for score in scores))
    assert found.score == min(scores)
    assert (found.score <= LIMIT) == (over(*scores).failing > 0)


def test_a_fall_over_the_conversation_is_escalation_and_one_odd_reply_is_none() -> None:
    assert over(5, 4, 2).escalated and over(5, 5, 5, 5, 0).escalated and over(5, 5, 4, 4, 3, 3, 2, 1).escalated
    assert not over(5, 4, 5).escalated and not over(5, 5, 0, 5, 5).escalated and not over(5, 4, 5, 4).escalated
    assert not over(0, 0, 0).escalated and not over(1, 3, 5).escalated
    assert over(5, 1).trend is None and not over(5, 1).escalated


def test_recovery_is_a_passing_reply_after_a_failing_one() -> None:
    assert over(5, 1, 4).recovered and over(5, 1, 4).ends_well
    assert over(1, 5, 1).recovered and not over(1, 5, 1).ends_well
    assert not over(5, 4, 1).recovered
    assert over(1, None).ends_well is None


@given(SCORES)
def test_the_first_failing_reply_is_the_first_at_or_under_the_limit(scores: list[float | None]) -> None:
    found = over(*scores)
    failing = [number for number, score in enumerate(scores, 1) if score is not None and score <= LIMIT]
    assert found.first_failing == (failing[0] if failing else None)
    assert (found.failing, found.missing) == (len(failing), scores.count(None))
    assert found.survived < (found.first_failing or len(scores) + 1)


@given(KNOWN)
def test_the_trend_turns_its_sign_when_the_conversation_is_read_backwards(scores: list[float]) -> None:
    forward, backward = kendall_tau_b(scores), kendall_tau_b(scores[::-1])
    assert -1.0 <= forward <= 1.0
    assert math.isclose(forward, -backward, abs_tol=1e-12)
    assert not (over(*scores).escalated and over(*scores[::-1]).escalated)


@given(KNOWN)
def test_a_flipped_scale_tells_the_same(scores: list[float]) -> None:
    low, high = over(*scores), over(*(5 - one for one in scores), scale=Scale(higher_is_better=False), limit=5 - LIMIT)
    assert (low.first_failing, low.escalated, low.recovered, low.ends_well) == (
        (high.first_failing, high.escalated, high.recovered, high.ends_well)
    )


def test_the_table_counts_failures_by_reply_with_exact_bounds() -> None:
    runs = [over(5, 5, 1)] * 3 + [over(1, 5, 5)] + [over(5, 5, 5)] * 16
    found = RunDrift.of(runs)
    assert [(one.first, one.failed, one.conversations) for one in found.by_turn] == [(1, 1, 20), (0, 1, 20), (3, 4, 20)]
    last = found.by_turn[-1]
    assert round(last.low, 4) == 0.0573 and round(last.high, 4) == 0.4366  # Clopper and Pearson's for 4 of 20
    assert (found.conversations, found.failed, found.recovered, found.ended_well) == (20, 4, 1, 1)


def test_a_conversation_that_ended_or_is_not_known_leaves_the_later_rows() -> None:
    found = RunDrift.of([over(5), over(5, None, 5), over(1), over(5, 5, 5)])
    assert [(one.failed, one.conversations) for one in found.by_turn] == [(1, 4), (1, 2), (1, 2)]


@given(st.lists(SCORES, max_size=12))
def test_the_table_never_loses_a_failure(runs: list[list[float | None]]) -> None:
    drifts = [over(*scores) for scores in runs]
    found = RunDrift.of(drifts)
    assert sum(one.first for one in found.by_turn) == found.failed == sum(one.first_failing is not None for one in drifts)
    assert all(earlier.failed <= later.failed for earlier, later in zip(found.by_turn, found.by_turn[1:], strict=False))
    assert all(one.low <= one.failed / one.conversations <= one.high for one in found.by_turn)
