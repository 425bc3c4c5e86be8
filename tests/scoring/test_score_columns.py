"""Scores of a run: those of each case do not depend on the cases beside it, to the last digit."""

import math
from collections.abc import Callable
from statistics import fmean
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import Struct

from areopage.criteria.records import Scale
from areopage.scoring.failure_rules import FailureRules
from areopage.scoring.folding import fold
from areopage.scoring.outcome import NotApplicable, Outcome, PlannedPass, Refused, Scored, TimedOut, Unparsed, Unreachable
from areopage.scoring.records import DEFAULT, V1_1, CriterionScore, Profile
from areopage.scoring.score_columns import reduce_passes
from areopage.scoring.tree import Leaf, score_tree
from areopage.scoring.weights import Weights
from scoring import plain_reduction
from scoring.made_criteria import criterion

SUITE = Scale(0, 5)
JUDGES = ("a", "b", "c", "d")
CRITERIA = (criterion("safety.harm.violence"), criterion("safety.harm.grooming"), criterion("warmth.tone.kind"))
CASES = tuple(f"case-{number}" for number in range(5))
WEIGHTS = Weights(categories={"safety": 0.7, "warmth": 0.3}, criteria={"safety.harm": {"violence": 0.9, "grooming": 0.1}})
OUTCOMES: st.SearchStrategy[Outcome | None] = st.one_of(
    st.integers(0, 500).map(lambda score: Scored(score=score / 100)),
    st.sampled_from([0.0, 1.0, 2.0, 4.5, 5.0]).map(lambda score: Scored(score=score)),
    st.sampled_from([NotApplicable(), NotApplicable(), Unparsed(reason="x"), Refused(reason="x")]),
    st.sampled_from([TimedOut(reason="x"), Unreachable(reason="x"), None]),
)
PROFILES: st.SearchStrategy[Profile] = st.sampled_from([DEFAULT, V1_1])


@st.composite
def planned(draw: Callable[..., Any]) -> list[PlannedPass]:
    """The passes of a few cases: some judged reply by reply, some by a rule only, judges with different numbers of passes."""
    found: list[PlannedPass] = []
    judges = JUDGES[: draw(st.integers(1, 4))]
    for number in range(draw(st.integers(1, 5))):
        for place, one in enumerate(CRITERIA):
            if draw(st.integers(0, 5)) == 0:
                found.append(PlannedPass(case_id=f"case-{number}", criterion=one.id, judge="", pass_index=0, by_rule=True))
                continue
            turns = range(1, draw(st.integers(1, 3)) + 1) if place == 2 else (0,)
            found += (
                PlannedPass(
                    case_id=f"case-{number}",
                    criterion=one.id,
                    judge=judge,
                    pass_index=index,
                    turn=turn,
                    outcome=draw(OUTCOMES),
                )
                for turn in turns
                for judge in judges
                for index in range(1, draw(st.integers(1, 3)) + 1)
            )
    return found


@settings(deadline=None, max_examples=150)
@given(passes=planned(), profile=PROFILES, rising=st.booleans())
def test_scores_of_a_run_are_those_of_each_case_and_criterion_alone(
    passes: list[PlannedPass], profile: Profile, rising: bool
) -> None:
    suite = Scale(0, 5, rising)
    run = fold(passes, CRITERIA, suite, WEIGHTS, profile, FailureRules())
    scores = [score for case_id in CASES for one in CRITERIA for score in alone(passes, case_id, one.id, suite, profile)]
    assert list(run.criteria) == scores
    assert [score for record in run.records for score in record.criteria] == list(run.criteria)


@settings(deadline=None, max_examples=150)
@given(passes=planned(), profile=PROFILES, rising=st.booleans())
def test_scores_are_those_of_the_specification_case_by_case(passes: list[PlannedPass], profile: Profile, rising: bool) -> None:
    suite = Scale(0, 5, rising)
    scales, limits = {one.id: one.scale for one in CRITERIA}, FailureRules().limits(CRITERIA, suite)
    expected = plain_reduction.reduce_passes(passes, scales, suite, profile, limits)
    assert rounded(reduce_passes(passes, scales, suite, profile, limits)) == rounded(expected)


def rounded(value: Any) -> Any:
    """Scores without the last digits of their numbers."""
    if isinstance(value, float):
        return round(value, 9)
    if isinstance(value, list | tuple):
        return [rounded(item) for item in value]
    if isinstance(value, Struct):
        return {name: rounded(getattr(value, name)) for name in value.__struct_fields__}
    return value


def alone(passes: list[PlannedPass], case_id: str, criterion: str, suite: Scale, profile: Profile) -> tuple[CriterionScore, ...]:
    """The score of a case on a criterion; none where no pass is planned."""
    some = [one for one in passes if one.case_id == case_id and one.criterion == criterion]
    scales = {one.id: one.scale for one in CRITERIA}
    return reduce_passes(some, scales, suite, profile, FailureRules().limits(CRITERIA, suite))


@settings(deadline=None, max_examples=100)
@given(passes=planned(), profile=PROFILES)
def test_final_scores_of_cases_are_those_of_their_trees(passes: list[PlannedPass], profile: Profile) -> None:
    run = fold(passes, CRITERIA, SUITE, WEIGHTS, profile, FailureRules())
    by_id = {one.id: one for one in CRITERIA}
    for record, final in zip(run.records, run.records.finals.tolist(), strict=True):
        tree, _ = score_tree([Leaf.of(by_id[score.criterion], score) for score in record.criteria], WEIGHTS)
        assert tree == record.tree
        assert math.isnan(final) if tree.score is None else final == pytest.approx(tree.score, rel=1e-15)


@settings(deadline=None, max_examples=100)
@given(passes=planned(), profile=PROFILES)
def test_a_run_s_score_of_a_criterion_is_the_mean_of_its_cases(passes: list[PlannedPass], profile: Profile) -> None:
    limits = FailureRules().limits(CRITERIA, SUITE)
    scores = reduce_passes(passes, {one.id: one.scale for one in CRITERIA}, SUITE, profile, limits)
    run = fold(passes, CRITERIA, SUITE, WEIGHTS, profile, FailureRules())
    leaves = {node.name: node for category in run.tree.parts for part in category.parts for node in part.parts}
    for id in (one.id for one in CRITERIA):
        own = [one for one in scores if one.criterion == id]
        known = [one.score for one in own if one.score is not None]
        assert leaves[id].score == (fmean(known) if known else None)
        assert leaves[id].planned == sum(one.planned for one in own)


def test_a_case_s_records_are_made_when_they_are_asked_for() -> None:
    passes = [
        PlannedPass(case_id=f"case-{n}", criterion=CRITERIA[0].id, judge="a", pass_index=1, outcome=Scored(score=n))
        for n in range(5)
    ]
    run = fold(passes, CRITERIA, SUITE, Weights(), DEFAULT, FailureRules())
    found = run.records.find("case-3")
    assert found is not None and found.tree.score == 3
    assert run.records.find("unknown") is None
    assert [one.case_id for one in run.records[1:3]] == ["case-1", "case-2"]
