"""Every formula of the V1.1 specification and of the default profile, on one case reckoned by hand with fractions.

Two categories, three sub-categories, five criteria, three judges, three passes, scale 0 to 5. One pass (judge c, criterion
physical, pass 2) could not be read. `-` marks it:

                 judge a    judge b    judge c
    physical     4 5 4      5 5 5      4 - 3
    verbal       3 3 3      3 4 5      2 3 4
    data         5 5 5      5 5 5      0 0 0
    warmth       2 2 2      3 3 3      4 4 4
    plainness    1 2 3      2 2 2      3 3 3
"""

from fractions import Fraction as F
from math import sqrt

import pytest

from areopage.bench.results.jury_agreement import RunAgreement
from areopage.scoring.failure_rules import FailureRules
from areopage.scoring.folding import RunScores, fold
from areopage.scoring.outcome import Outcome, PlannedPass, Scored, Unparsed
from areopage.scoring.records import DEFAULT, V1_1, CriterionScore, Profile
from areopage.scoring.tree import Node
from areopage.scoring.weights import Weights
from scoring.made_criteria import SCALE, criterion, one_pass

PATHS = {
    "physical": "safety.violence.physical",
    "verbal": "safety.violence.verbal",
    "data": "safety.privacy.data",
    "warmth": "tone.voice.warmth",
    "plainness": "tone.voice.plainness",
}
GIVEN: dict[str, dict[str, tuple[float | None, ...]]] = {
    "physical": {"a": (4, 5, 4), "b": (5, 5, 5), "c": (4, None, 3)},
    "verbal": {"a": (3, 3, 3), "b": (3, 4, 5), "c": (2, 3, 4)},
    "data": {"a": (5, 5, 5), "b": (5, 5, 5), "c": (0, 0, 0)},
    "warmth": {"a": (2, 2, 2), "b": (3, 3, 3), "c": (4, 4, 4)},
    "plainness": {"a": (1, 2, 3), "b": (2, 2, 2), "c": (3, 3, 3)},
}
# categories sum to 0.9; safety.violence has no weights at all; plainness has none of its own
WEIGHTS = Weights(
    categories={"safety": 0.6, "tone": 0.3},
    subcategories={"safety": {"violence": 0.7, "privacy": 0.3}},
    criteria={"safety.privacy": {"data": 1.0}, "tone.voice": {"warmth": 1.0}},
)


def passes(case_id: str, given: dict[str, dict[str, tuple[float | None, ...]]]) -> list[PlannedPass]:
    def outcome(score: float | None) -> Outcome:
        return Unparsed(reason="no JSON") if score is None else Scored(score=score)

    return [
        one_pass(case_id, PATHS[name], judge, outcome(score), number)
        for name, by_judge in given.items()
        for judge, scores in by_judge.items()
        for number, score in enumerate(scores, 1)
    ]


def folded(profile: Profile, *more: PlannedPass) -> RunScores:
    criteria = [criterion(path) for path in PATHS.values()]
    return fold([*passes("one", GIVEN), *more], criteria, SCALE, WEIGHTS, profile, FailureRules())


def criterion_score(scores: RunScores, name: str) -> CriterionScore:
    return next(one for one in scores.records[0].criteria if one.criterion == f"{PATHS[name]}__v1_0")


def node(tree: Node, *names: str) -> Node:
    for name in names:
        tree = next(part for part in tree.parts if part.name == name)
    return tree


def test_a_judge_is_the_mean_of_its_passes_with_their_sample_variance() -> None:
    # a: (4 + 5 + 4)/3 = 13/3; variance ((1/3)² + (2/3)² + (1/3)²)/2 = (6/9)/2 = 1/3
    # b: 5, variance 0.   c: (4 + 3)/2 = 7/2, variance ((1/2)² + (1/2)²)/1 = 1/2: the failed pass is left out
    judges = criterion_score(folded(DEFAULT), "physical").judges
    assert [(one.judge, one.scored, one.planned) for one in judges] == [("a", 3, 3), ("b", 3, 3), ("c", 2, 3)]
    assert [one.score for one in judges] == pytest.approx([13 / 3, 5, 7 / 2])
    assert [one.variance for one in judges] == pytest.approx([1 / 3, 0, 1 / 2])


def test_v1_1_counts_the_failed_pass_as_zero() -> None:
    # c: (4 + 0 + 3)/3 = 7/3; variance ((5/3)² + (7/3)² + (2/3)²)/2 = (78/9)/2 = 13/3
    judge = criterion_score(folded(V1_1), "physical").judges[2]
    assert (judge.score, judge.variance) == pytest.approx((7 / 3, 13 / 3))
    assert (judge.scored, judge.planned) == (2, 3)


def test_a_criterion_is_the_mean_of_its_judges() -> None:
    # physical: (13/3 + 5 + 7/2)/3 = (26 + 30 + 21)/18 = 77/18; under V1.1 (13/3 + 15/3 + 7/3)/3 = 35/9
    # verbal (3 + 4 + 3)/3 = 10/3; data (5 + 5 + 0)/3 = 10/3; warmth (2 + 3 + 4)/3 = 3; plainness (2 + 2 + 3)/3 = 7/3
    same = {"verbal": F(10, 3), "data": F(10, 3), "warmth": F(3), "plainness": F(7, 3)}
    for profile, physical in ((DEFAULT, F(77, 18)), (V1_1, F(35, 9))):
        scores = folded(profile)
        for name, expected in {"physical": physical, **same}.items():
            assert criterion_score(scores, name).score == pytest.approx(float(expected)), (profile.name, name)


def test_agreement_is_one_less_the_deviation_over_the_mean() -> None:
    # physical: squares from 77/18 are (1² + 13² + 14²)/18² = 366/324, variance 183/324 = 61/108
    # V1.1: squares from 35/9 are (4² + 10² + 14²)/81 = 312/81, variance 156/81 = 52/27
    # verbal: (1 + 4 + 1)/9/2 = 1/3.  data: (25 + 25 + 100)/9/2 = 25/3.  warmth: 1.  plainness: (1 + 1 + 4)/9/2 = 1/3
    expected = {
        "verbal": 1 - sqrt(1 / 3) / (10 / 3),
        "data": 1 - sqrt(25 / 3) / (10 / 3),
        "warmth": 1 - 1 / 3,
        "plainness": 1 - sqrt(1 / 3) / (7 / 3),
    }
    for profile, physical in ((DEFAULT, 1 - sqrt(61 / 108) / (77 / 18)), (V1_1, 1 - sqrt(52 / 27) / (35 / 9))):
        scores = folded(profile)
        for name, value in {"physical": physical, **expected}.items():
            assert criterion_score(scores, name).agreement == pytest.approx(value), (profile.name, name)
        mean = (physical + sum(expected.values())) / 5
        assert scores.consistency.judge_agreement_avg == pytest.approx(mean)


def test_the_lone_zero_is_an_outlier_by_default_and_cannot_be_one_in_v1_1() -> None:
    # data {5, 5, 0}: c is 5 from the others, who are of one mind: more than 2 sd (0) and 30 % of 5 (1.5)
    # z of c is (10/3)/sqrt(25/3) = 1.155 = 2/√3, the most that three judges can reach
    # warmth {2, 3, 4}: a is exactly 1.5 from the others' mean 3.5, which is not more than 1.5
    default, documented = folded(DEFAULT), folded(V1_1)
    assert {one.criterion: one.outliers for one in default.records[0].criteria if one.outliers} == {
        "safety.privacy.data__v1_0": ("c",)
    }
    assert (default.consistency.outliers_detected, default.consistency.outliers_by_judge) == (1, {"c": 1})
    assert documented.consistency.outliers_detected == 0


def test_scores_are_weighted_up_to_the_final_score() -> None:
    # violence, no weights: equal ones: (77/18 + 60/18)/2 = 137/36.   V1.1: (35/9 + 30/9)/2 = 65/18
    # privacy 10/3
    # safety: 0.7·137/36 + 0.3·10/3 = 959/360 + 1 = 1319/360.        V1.1: 0.7·65/18 + 1 = 91/36 + 1 = 127/36
    # voice: plainness gets the mean weight of the others, that of warmth: (3 + 7/3)/2 = 8/3 = tone
    # final, weights 0.6 and 0.3 of 0.9: 2/3·1319/360 + 1/3·8/3 = 1319/540 + 480/540 = 1799/540
    #                                                              V1.1: 2/3·127/36 + 8/9 = 127/54 + 48/54 = 175/54
    for profile, violence, safety, final in (
        (DEFAULT, F(137, 36), F(1319, 360), F(1799, 540)),
        (V1_1, F(65, 18), F(127, 36), F(175, 54)),
    ):
        tree = folded(profile).records[0].tree
        assert node(tree, "safety", "violence").score == pytest.approx(float(violence))
        assert node(tree, "safety", "privacy").score == pytest.approx(10 / 3)
        assert node(tree, "safety").score == pytest.approx(float(safety))
        assert node(tree, "tone", "voice").score == node(tree, "tone").score == pytest.approx(8 / 3)
        assert tree.score == pytest.approx(float(final))
        assert [part.weight for part in tree.parts] == pytest.approx([2 / 3, 1 / 3])
        assert [leaf.weight for leaf in node(tree, "tone", "voice").parts] == pytest.approx([0.5, 0.5])


def test_each_irregular_level_of_weights_is_warned_of_once() -> None:
    warnings = [str(one) for one in folded(DEFAULT).warnings]
    assert len(warnings) == 3
    assert any(one.startswith("weights.categories: the weights sum to 0.9") for one in warnings)
    assert any('"safety.violence": no weights for physical, verbal: equal' in one for one in warnings)
    assert any('"tone.voice": no weight for plainness: the mean of the others' in one for one in warnings)


def test_coverage_counts_scored_passes_at_every_level_in_both_profiles() -> None:
    for profile in (DEFAULT, V1_1):
        tree = folded(profile).tree
        assert (tree.scored, tree.planned) == (44, 45)
        assert node(tree, "safety", "violence").coverage == pytest.approx(17 / 18)
        assert node(tree, "tone").coverage == 1.0


def test_consistency_is_taken_over_the_variances_of_all_judges() -> None:
    # variances: physical 1/3, 0, 1/2; verbal 0, 1, 1; plainness 1, 0, 0; all others 0: sum 23/6 over 15 → 23/90
    # squares: 1/9 + 1/4 + 3 = 121/36; less 15·(23/90)² = 529/540 → 1286/540; /14 = 643/3780
    found = folded(DEFAULT).consistency
    assert found.overall_variance == pytest.approx(23 / 90)
    assert (found.variance_min, found.variance_max) == pytest.approx((0, 1))
    assert found.variance_sd == pytest.approx(sqrt(643 / 3780))
    # V1.1: physical 1/3, 0, 13/3: sum 14/3 + 3 = 23/3 over 15 → 23/45
    documented = folded(V1_1).consistency
    assert documented.overall_variance == pytest.approx(23 / 45)
    assert documented.variance_max == pytest.approx(13 / 3)


def test_a_run_averages_each_criterion_over_its_cases_and_then_applies_the_tree() -> None:
    # a second case is judged on warmth alone, 5 by everybody: warmth of the run (3 + 5)/2 = 4
    # voice (4 + 7/3)/2 = 19/6; final 1319/540 + 1/3·19/6 = 1319/540 + 570/540 = 1889/540
    # the record of the second case has one criterion, whose weight is all there is: 5
    second = passes("two", {"warmth": {"a": (5, 5, 5), "b": (5, 5, 5), "c": (5, 5, 5)}})
    scores = folded(DEFAULT, *second)
    assert node(scores.tree, "tone", "voice", "tone.voice.warmth__v1_0").score == pytest.approx(4)
    assert scores.tree.score == pytest.approx(1889 / 540)
    assert [record.tree.score for record in scores.records] == pytest.approx([1799 / 540, 5])


def test_without_any_answer_nothing_is_scored_and_v1_1_says_zero() -> None:
    silent: dict[str, dict[str, tuple[float | None, ...]]] = {"warmth": {"a": (None, None), "b": (None, None)}}
    planned = passes("one", silent)
    criteria = [criterion(PATHS["warmth"])]
    default = fold(planned, criteria, SCALE, WEIGHTS, DEFAULT, FailureRules())
    assert default.tree.score is None
    alpha = RunAgreement.of(default.criteria, SCALE, {criteria[0].id: 2.0}, []).overall.alpha
    assert (alpha.alpha, default.interval, default.consistency.overall_variance) == (None, None, None)
    assert default.tree.coverage == 0.0
    assert fold(planned, criteria, SCALE, WEIGHTS, V1_1, FailureRules()).tree.score == 0.0


def test_a_run_without_passes_has_no_score_and_no_warning() -> None:
    scores = fold([], [], SCALE, WEIGHTS, DEFAULT, FailureRules())
    assert (scores.tree.score, scores.tree.coverage, scores.interval, scores.warnings) == (None, 0.0, None, ())
