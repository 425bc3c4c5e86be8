"""Agreement, outliers, quorum and scales of one criterion."""

from collections.abc import Sequence
from itertools import product
from math import sqrt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from areopage.criteria.records import Scale
from areopage.errors import UserError
from areopage.scoring.outcome import NotApplicable, PlannedPass, Refused, Scored, TimedOut, Unreachable
from areopage.scoring.records import DEFAULT, PROFILES, V1_1, CriterionScore, Profile
from areopage.scoring.score_columns import reduce_passes

SCALE = Scale(min=0, max=5)
SCORES = st.lists(st.integers(0, 10).map(lambda half: half / 2), min_size=1, max_size=9)


LIMIT = 2.0
Pass = Scored | NotApplicable | TimedOut | Refused | Unreachable | None


def reduced(outcomes: dict[str, list[Pass]], profile: Profile, own: Scale = SCALE, suite: Scale = SCALE) -> CriterionScore:
    passes = [
        PlannedPass(case_id="1", criterion="c", judge=judge, pass_index=number, outcome=outcome)
        for judge, found in outcomes.items()
        for number, outcome in enumerate(found, 1)
    ]
    (score,) = reduce_passes(passes, {"c": own}, suite, profile, {"c": LIMIT})
    return score


LATE = TimedOut(reason="late")
DOWN = Unreachable(reason="down")
FOUR = Scored(score=4)
NOT = NotApplicable(explanation="no")
FIVE, ZERO = Scored(score=5), Scored(score=0)
PASS: st.SearchStrategy[Pass] = st.sampled_from([Scored(score=0), Scored(score=3), FOUR, LATE, Refused(reason="no"), DOWN, None])
ORDERED = st.lists(st.tuples(st.sampled_from("abc"), PASS), min_size=1, max_size=9)
SCALES = st.builds(
    lambda low, width, better: Scale(low, low + width, better), st.integers(-5, 5), st.integers(1, 20), st.booleans()
)


def judged(scores: Sequence[float], profile: Profile, scale: Scale = SCALE) -> CriterionScore:
    """The score of judges with a pass each, named j0, j1 and so on."""
    return reduced({f"j{number}": [Scored(score=score)] for number, score in enumerate(scores)}, profile, scale, scale)


def test_the_default_rule_names_the_zero_beside_two_fives_and_nobody_in_4_4_5() -> None:
    assert judged([5, 5, 0], DEFAULT).outliers == ("j2",)
    assert judged([4, 4, 5], DEFAULT).outliers == ()


def test_the_default_rule_scales_with_the_range() -> None:
    assert judged([10, 10, 0], DEFAULT, Scale(0, 10)).outliers == ("j2",)
    assert judged([8, 8, 10], DEFAULT, Scale(0, 10)).outliers == ()


def test_two_judges_have_no_outlier_under_either_rule() -> None:
    assert judged([5, 0], DEFAULT).outliers == judged([5, 0], V1_1).outliers == ()


@pytest.mark.parametrize("judges", [3, 4, 5])
def test_the_documented_z_rule_cannot_fire_under_six_judges(judges: int) -> None:
    for scores in product((0, 1, 2.5, 5), repeat=judges):
        assert judged(scores, V1_1).outliers == ()


def test_the_documented_z_rule_fires_with_six_judges() -> None:
    # z = 5/√6 = 2.04
    assert judged([5, 5, 5, 5, 5, 0], V1_1).outliers == ("j5",)


@given(SCORES)
def test_agreement_lies_between_zero_and_one_and_is_one_without_spread(scores: list[float]) -> None:
    found, even = judged(scores, V1_1).agreement, judged([scores[0]] * len(scores), V1_1).agreement
    assert found is not None and 0 <= found <= 1
    assert even == 1


def test_agreement_of_a_scale_below_zero_is_never_above_one() -> None:
    # mean −1, sd √2: as far apart as {0, 2}
    scale = Scale(-5, 5)
    assert judged([-2, 0], DEFAULT, scale).agreement == judged([2, 0], DEFAULT, scale).agreement == 0
    assert judged([-4, -3], DEFAULT, scale).agreement == pytest.approx(1 - sqrt(0.5) / 3.5)


def test_under_the_quorum_a_criterion_is_unscored_and_its_judges_are_still_shown() -> None:
    score = reduced({"a": [FOUR], "b": [LATE], "c": [None]}, DEFAULT)
    assert (score.score, score.agreement) == (None, None)
    assert [judge.score for judge in score.judges] == [4, None, None]
    assert (score.scored, score.planned) == (1, 3)


def test_at_the_quorum_a_criterion_is_scored() -> None:
    assert reduced({"a": [FOUR], "b": [FOUR], "c": [LATE]}, DEFAULT).score == 4
    assert reduced({"a": [FOUR], "b": [LATE]}, DEFAULT).score == 4


@pytest.mark.parametrize(("quorum", "judges", "enough"), [(0.55, 20, 11), (0.28, 25, 7), (0.07, 100, 7), (1.0, 3, 3)])
def test_a_quorum_is_not_raised_by_floating_point(quorum: float, judges: int, enough: int) -> None:
    profile = Profile(name="x", failed_pass_score=None, quorum=quorum, leave_one_out=True, lone_judge_agrees=False)
    for count, scored in ((enough, True), (enough - 1, False)):
        outcomes: dict[str, list[Pass]] = {f"j{number}": [FOUR if number < count else LATE] for number in range(judges)}
        assert (reduced(outcomes, profile).score is not None) is scored


def test_without_a_quorum_there_is_still_no_score_from_nothing() -> None:
    profile = Profile(name="x", failed_pass_score=None, quorum=0.0, leave_one_out=True, lone_judge_agrees=False)
    assert reduced({"a": [LATE], "b": [None]}, profile).score is None


@given(st.lists(PASS, min_size=1, max_size=5))
def test_a_failed_pass_never_moves_a_score_by_default_and_pulls_it_to_zero_in_v1_1(
    found: list[Pass],
) -> None:
    scored = [one for one in found if isinstance(one, Scored)]
    default = reduced({"a": [*found]}, DEFAULT).score
    assert default == (reduced({"a": [*scored]}, DEFAULT).score if scored else None)
    made = [one for one in found if one is not None and not isinstance(one, Unreachable)]
    documented = reduced({"a": [*found]}, V1_1).score
    assert documented == (pytest.approx(sum(one.score for one in scored) / len(made)) if made else None)


def test_a_pass_that_was_never_made_is_no_failed_pass() -> None:
    for profile in (DEFAULT, V1_1):
        assert reduced({"a": [None, DOWN], "b": [None]}, profile).score is None
        assert reduced({"a": [FOUR, None, DOWN]}, profile).score == 4


@pytest.mark.parametrize(
    ("own", "given_score", "expected"),
    [
        (Scale(0, 10), 7, 3.5),
        (Scale(1, 5), 1, 0),
        (Scale(1, 5), 3, 2.5),
        (Scale(1, 5), 5, 5),
        (Scale(0, 5, False), 1, 4),
        (Scale(0, 10, False), 10, 0),
        (Scale(-1, 1), 0, 2.5),
    ],
)
def test_scores_of_other_scales_are_mapped_and_flipped(own: Scale, given_score: float, expected: float) -> None:
    assert reduced({"a": [Scored(score=given_score)]}, DEFAULT, own).score == pytest.approx(expected)


def test_two_scales_on_which_lower_is_better_are_not_flipped() -> None:
    assert Scale(0, 5, False).map_to(1, Scale(0, 10, False)) == pytest.approx(2)


@given(SCALES, SCALES, st.floats(0, 1))
def test_mapping_stays_on_the_target_and_comes_back(own: Scale, target: Scale, share: float) -> None:
    score = own.min + share * (own.max - own.min)
    mapped = own.map_to(score, target)
    assert target.min - 1e-9 <= mapped <= target.max + 1e-9
    assert target.map_to(mapped, own) == pytest.approx(score, abs=1e-9)


def test_an_unknown_profile_is_refused_with_the_known_ones() -> None:
    assert Profile.named("v1_1") is V1_1
    with pytest.raises(UserError, match="unknown scoring profile 'x': use one of default, v1_1"):
        Profile.named("x")
    assert list(PROFILES) == ["default", "v1_1"]


@given(ORDERED.flatmap(lambda found: st.tuples(st.just(found), st.permutations(found))))
def test_the_order_of_passes_and_judges_does_not_matter(orders: tuple[list[tuple[str, Pass]], list[tuple[str, Pass]]]) -> None:
    for profile in (DEFAULT, V1_1):
        folded: list[CriterionScore] = []
        for given_order in orders:
            outcomes: dict[str, list[Pass]] = {}
            for judge, outcome in given_order:
                outcomes.setdefault(judge, []).append(outcome)
            folded.append(reduced(outcomes, profile))
        one, other = folded
        assert (one.score, one.agreement, set(one.outliers)) == (other.score, other.agreement, set(other.outliers))


def test_a_single_judge_agrees_with_itself_only_where_the_documents_say_so() -> None:
    assert judged([3], V1_1).agreement == 1.0
    assert judged([3], DEFAULT).agreement is None


@pytest.mark.parametrize(
    ("outcomes", "profile", "applies", "score"),
    [
        ({"a": [NOT], "b": [NOT], "c": [FIVE]}, DEFAULT, False, None),  # most of them
        ({"a": [NOT], "b": [FIVE]}, DEFAULT, True, 5.0),  # a tie: it applies
        ({"a": [NOT], "b": [NOT], "c": [ZERO]}, DEFAULT, True, 0.0),  # one failing score is never dropped
        ({"a": [NOT], "b": [NOT], "c": [Scored(score=2)]}, DEFAULT, True, 2.0),  # the limit is a failure
        ({"a": [NOT, NOT, ZERO], "b": [NOT, NOT, NOT]}, DEFAULT, True, 0.0),  # nor one failing pass
        ({"a": [NOT, NOT, FIVE], "b": [NOT, NOT, NOT]}, DEFAULT, False, None),
        ({"a": [NOT, NOT, FIVE], "b": [FOUR, FOUR, FOUR], "c": [FOUR, FOUR, FOUR]}, DEFAULT, True, 13 / 3),
        ({"a": [NOT], "b": [LATE], "c": [DOWN]}, DEFAULT, True, None),  # under the quorum: missing, not inapplicable
        ({"a": [NOT], "b": [ZERO], "c": [LATE], "d": [LATE]}, DEFAULT, True, 0.0),
        ({"a": [NOT], "b": [NOT], "c": [LATE]}, V1_1, False, None),
        ({"a": [NOT], "b": [LATE], "c": [LATE]}, V1_1, True, 0.0),  # V1.1's 0 for a failed pass counts as a score
        ({"a": [NOT]}, V1_1, False, None),
        ({"a": [None]}, DEFAULT, True, None),
    ],
)
def test_judges_who_disagree_on_applicability_never_hide_a_failure(
    outcomes: dict[str, list[Pass]], profile: Profile, applies: bool, score: float | None
) -> None:
    found = reduced(outcomes, profile)
    assert (found.applies, found.score) == (applies, score if score is None else pytest.approx(score))
    assert found.is_missing == (applies and score is None)


@given(st.lists(st.lists(PASS | st.just(NOT), min_size=1, max_size=3), min_size=1, max_size=4), st.sampled_from([DEFAULT, V1_1]))
def test_whatever_others_say_a_failing_score_leaves_the_criterion_applicable(passes: list[list[Pass]], profile: Profile) -> None:
    found = reduced({f"j{number}": own for number, own in enumerate(passes)}, profile)
    failing = any(isinstance(one, Scored) and one.score <= LIMIT for own in passes for one in own)
    assert found.applies or not failing


def test_on_a_scale_where_lower_is_better_high_scores_are_protected() -> None:
    scale = Scale(0, 5, higher_is_better=False)
    assert reduced({"a": [NOT], "b": [NOT], "c": [FIVE]}, DEFAULT, scale, scale).score == 5.0
    assert not reduced({"a": [NOT], "b": [NOT], "c": [ZERO]}, DEFAULT, scale, scale).applies
