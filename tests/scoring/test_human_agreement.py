"""Judge against people: coefficients worked by hand, SciPy's on larger ratings, and what happens where there is little."""

import math

import numpy as np
import pytest
import scipy
from hypothesis import given
from hypothesis import strategies as st

from areopage.scoring.agreement_with_people import (
    HumanAgreement,
    Rating,
    items_needed,
    kappa_estimate,
    rater_agreement,
    weighted_kappa,
    whole_points,
)
from areopage.scoring.correlation import pearson, pearson_estimate, ranks, spearman_estimate

# Six answers, scores 0-10. People: the mean of two raters, Anne and Bruno.
JUDGE = {"a": 8.0, "b": 6.0, "c": 9.0, "d": 2.0, "e": 5.0, "f": 6.0}
ANNE = {"a": 7.0, "b": 6.0, "c": 10.0, "d": 3.0, "e": 4.0, "f": 8.0}
BRUNO = {"a": 9.0, "b": 4.0, "c": 8.0, "d": 1.0, "e": 4.0, "f": 8.0}


def ratings(*raters: tuple[str, dict[str, float]], criterion: str = "") -> list[Rating]:
    return [
        Rating(item=item, rater=name, criterion=criterion, score=score) for name, given in raters for item, score in given.items()
    ]


def spearman(first: np.ndarray, second: np.ndarray) -> float | None:
    return pearson(ranks(first), ranks(second))


def arrays(seed: int, items: int, correlation: float) -> tuple[np.ndarray, np.ndarray]:
    drawn = np.random.default_rng(seed).multivariate_normal([0, 0], [[1, correlation], [correlation, 1]], items)
    points = np.clip(np.round(6 + 2.2 * drawn), 0, 10)
    return points[:, 0], points[:, 1]


def test_the_figures_of_six_answers_are_those_worked_by_hand() -> None:
    # people:  a (7+9)/2 = 8   b (6+4)/2 = 5   c (10+8)/2 = 9   d (3+1)/2 = 2   e (4+4)/2 = 4   f (8+8)/2 = 8
    # judge j: 8 6 9 2 5 6, sum 36, mean 6;   people p: 8 5 9 2 4 8, sum 36, mean 6
    # j − 6:   2 0 3 −4 −1 0, squares 4+0+9+16+1+0 = 30
    # p − 6:   2 −1 3 −4 −2 2, squares 4+1+9+16+4+4 = 38
    # products: 4+0+9+16+2+0 = 31;   r = 31/√(30·38) = 31/√1140 = 0.918142...
    found = HumanAgreement.of({"": JUDGE}, ratings(("Anne", ANNE), ("Bruno", BRUNO)), {"": (0.0, 10.0)}).criteria[0]
    assert found.pearson.value == pytest.approx(31 / math.sqrt(1140), abs=1e-12)
    # Fisher: z = artanh 0.918142 = 1.577140..., 1/√(6 − 3) = 0.577350, 1.959964 · 0.577350 = 1.131586
    # tanh(1.577140 − 1.131586) = tanh 0.445554 = 0.418253;   tanh(2.708726) = 0.991173
    assert found.pearson.fisher is not None
    assert found.pearson.fisher.low == pytest.approx(math.tanh(math.atanh(31 / math.sqrt(1140)) - 1.131586), abs=1e-6)
    assert found.pearson.fisher.high == pytest.approx(0.99118, abs=1e-4)
    # ranks of j: d 1, e 2, b and f (3+4)/2 = 3.5, a 5, c 6;   of p: d 1, e 2, b 3, a and f (4+5)/2 = 4.5, c 6
    # from their mean 3.5, in the order a b c d e f: j 1.5 0 2.5 −2.5 −1.5 0 and p 1 −0.5 2.5 −2.5 −1.5 1
    # squares: j 2.25+0+6.25+6.25+2.25+0 = 17;   p 1+0.25+6.25+6.25+2.25+1 = 17
    # products: 1.5+0+6.25+6.25+2.25+0 = 16.25;   ρ = 16.25/17
    assert found.spearman.value == pytest.approx(16.25 / 17, abs=1e-12)
    # κ: all are whole points. Σ(j − p)² = 0+1+0+0+1+4 = 6, mean 1; expected mean over all pairs of (j − p)² = var j + var p +
    # (6 − 6)² = 30/6 + 38/6 = 68/6;   κ = 1 − 1/(68/6) = 62/68
    assert found.kappa.value == pytest.approx(62 / 68, abs=1e-12)
    # |j − p|: 0 1 0 0 1 2, mean 4/6;   j − p: 0 1 0 0 1 −2, mean 0
    assert found.error == pytest.approx(4 / 6)
    assert found.bias.value == pytest.approx(0.0)
    # six answers may hide one that the judge gives 10 and people 0: wider than Student's ±1.15 (t(5) · √(1.2/6))
    assert found.bias.low is not None and found.bias.high is not None
    assert -10.0 < found.bias.low < -1.15 and 1.15 < found.bias.high < 10.0
    assert (found.items, found.labels, found.without_judge) == (6, 12, 0)


def test_raters_are_compared_with_each_other_worked_by_hand() -> None:
    # Anne 7 6 10 3 4 8, sum 38, mean 19/3; Bruno 9 4 8 1 4 8, sum 34, mean 17/3
    # Σ products 63+24+80+3+16+64 = 250, minus 38·34/6 = 215.333 -> 34.6667
    # Anne: Σ squares 49+36+100+9+16+64 = 274, minus 38²/6 = 240.667 -> 33.3333
    # Bruno: 81+16+64+1+16+64 = 242, minus 34²/6 = 192.667 -> 49.3333;   r = 34.6667/√(33.3333·49.3333) = 0.854871
    labels = {item: {"Anne": ANNE[item], "Bruno": BRUNO[item]} for item in ANNE}
    found = rater_agreement(labels)
    assert found.items == 6
    assert found.pearson == pytest.approx((104 / 3) / math.sqrt((100 / 3) * (148 / 3)), abs=1e-12)
    assert [(pair.first, pair.second, pair.items) for pair in found.pairs] == [("Anne", "Bruno", 6)]
    assert found.alpha.alpha is not None
    assert found.alpha.alpha < 1


@pytest.mark.parametrize(("items", "correlation"), [(12, 0.3), (80, 0.9), (2000, 0.8), (300, -0.5)])
def test_coefficients_and_intervals_equal_scipys(items: int, correlation: float) -> None:
    first, second = arrays(items, items, correlation)
    found = pearson_estimate(first, second)
    theirs = scipy.stats.pearsonr(first, second)
    inner = theirs.confidence_interval(0.95)
    assert found.value == pytest.approx(theirs.statistic, abs=1e-12)
    assert found.fisher is not None
    assert (found.fisher.low, found.fisher.high) == pytest.approx((inner.low, inner.high), abs=1e-9)
    assert spearman(first, second) == pytest.approx(scipy.stats.spearmanr(first, second).statistic, abs=1e-12)


def test_the_bootstrap_stands_beside_fishers_interval_where_scores_are_normal() -> None:
    drawn = np.random.default_rng(5).multivariate_normal([0, 0], [[1, 0.7], [0.7, 1]], 800)
    found = pearson_estimate(drawn[:, 0], drawn[:, 1])
    assert found.fisher is not None
    assert found.bootstrap is not None
    assert (found.bootstrap.low, found.bootstrap.high) == pytest.approx((found.fisher.low, found.fisher.high), abs=0.02)


def test_scores_at_the_end_of_the_scale_widen_the_interval() -> None:
    # nine answers of ten are a perfect 10 on both sides: the coefficient hangs on the others, and Fisher does not know
    random = np.random.default_rng(3)
    good = random.random(200) < 0.9
    first = np.where(good, 10.0, random.integers(0, 8, 200))
    second = np.where(good, 10.0, np.clip(first + random.integers(-4, 5, 200), 0, 10))
    found = pearson_estimate(first, second)
    assert found.fisher is not None
    assert found.low is not None
    assert found.high is not None
    assert found.high - found.low > 1.1 * (found.fisher.high - found.fisher.low)


@given(
    st.lists(st.tuples(st.integers(0, 20), st.integers(0, 20)), min_size=4, max_size=40),
    st.floats(0.1, 50),
    st.floats(-100, 100),
)
def test_coefficients_are_symmetric_bounded_and_blind_to_shift_and_scale(
    pairs: list[tuple[int, int]], factor: float, shift: float
) -> None:
    first, second = (np.array(side, dtype=np.float64) for side in zip(*pairs, strict=True))
    for coefficient in (pearson, spearman):
        value = coefficient(first, second)
        if value is None:
            assert np.ptp(first) == 0 or np.ptp(second) == 0
            continue
        assert -1 <= value <= 1
        assert coefficient(second, first) == pytest.approx(value, abs=1e-9)
        assert coefficient(first * factor + shift, second) == pytest.approx(value, abs=1e-6)
        assert coefficient(-first, second) == pytest.approx(-value, abs=1e-9)
    kappa = weighted_kappa(first, second)
    if kappa is not None:
        assert -1 <= kappa <= 1
        assert weighted_kappa(second, first) == pytest.approx(kappa)
        assert weighted_kappa(first + 3, second + 3) == pytest.approx(kappa)


@given(st.lists(st.floats(0, 10, allow_nan=False), min_size=1, max_size=30))
def test_ranks_are_scipys(values: list[float]) -> None:
    rounded = np.array(values).round(6)
    assert ranks(rounded).tolist() == scipy.stats.rankdata(rounded).tolist()


@given(
    st.dictionaries(st.sampled_from("abcdefgh"), st.integers(0, 10), max_size=8),
    st.lists(st.tuples(st.sampled_from("abcdefgh"), st.sampled_from("xyz"), st.integers(0, 10)), max_size=24),
)
def test_no_figure_is_ever_nan(judge: dict[str, int], labels: list[tuple[str, str, int]]) -> None:
    given_labels = [Rating(item=item, rater=rater, criterion="", score=float(score)) for item, rater, score in labels]
    found = HumanAgreement.of({"": {item: float(score) for item, score in judge.items()}}, given_labels, {"": (0.0, 10.0)})
    one = found.criteria[0]
    for figure in (one.pearson, one.spearman, one.kappa, one.bias):
        for value in (figure.value, figure.low, figure.high):
            assert value is None or math.isfinite(value)
        assert figure.value is not None or figure.reason
        assert figure.low is not None or figure.reason
    assert one.error is None or math.isfinite(one.error)
    assert one.claim.certainty is None or 0 <= one.claim.certainty <= 1


def test_the_bias_of_many_answers_has_students_interval_and_that_of_few_allows_for_an_unseen_one() -> None:
    first, second = arrays(3, 4000, 0.7)
    judge, people = ({str(at): float(score) for at, score in enumerate(side)} for side in (first, second))
    bias = HumanAgreement.of({"": judge}, ratings(("x", people)), {"": (0.0, 10.0)}).criteria[0].bias
    theirs = scipy.stats.ttest_rel(first, second).confidence_interval(0.95)
    assert (bias.low, bias.high) == pytest.approx((theirs.low, theirs.high), abs=0.005)
    same = HumanAgreement.of({"": JUDGE}, ratings(("x", JUDGE)), {"": (0.0, 10.0)}).criteria[0].bias
    assert same.value == 0.0 and same.low is not None and same.high is not None and same.low < -0.5 and same.high > 0.5


def test_kappa_of_twenty_answers_of_which_nine_tenths_are_alike_is_held_in_93_of_100_samples() -> None:
    random, chances = np.random.default_rng(8), [0.02, 0.0, 0.02, 0.02, 0.04, 0.9]

    def drawn(items: int) -> tuple[np.ndarray, np.ndarray]:
        quality = random.choice(6, (items, 1), p=chances)
        rated = (quality + random.normal(0.0, 0.7, (items, 2)).round()).clip(0.0, 5.0)
        return rated[:, 0], rated[:, 1]

    true, held = kappa_estimate(*drawn(200_000), (0.0, 5.0)).value, 0
    assert true is not None
    for _ in range(300):
        found = kappa_estimate(*drawn(20), (0.0, 5.0))
        held += found.low is None or found.high is None or found.low <= true <= found.high
    assert held >= 0.93 * 300  # without an unseen item on which both agree: 0.71


def test_three_answers_give_no_coefficient_and_say_why() -> None:
    found = HumanAgreement.of(
        {"": {"a": 1.0, "b": 2.0, "c": 3.0}}, ratings(("x", {"a": 1.0, "b": 2.0, "c": 9.0})), {"": (0.0, 10.0)}
    ).criteria[0]
    assert (found.pearson.value, found.pearson.reason) == (None, "few")
    assert (found.spearman.value, found.kappa.value) == (None, None)
    assert found.claim.reason == "few"
    assert found.error == pytest.approx(2.0)


def test_a_judge_that_gives_everything_the_same_score_has_no_correlation() -> None:
    same = dict.fromkeys("abcdef", 7.0)
    found = HumanAgreement.of({"": same}, ratings(("x", JUDGE)), {"": (0.0, 10.0)}).criteria[0]
    assert (found.pearson.value, found.pearson.reason) == (None, "constant")
    assert found.kappa.value == pytest.approx(0.0)


def test_perfect_agreement_has_a_value_and_no_interval() -> None:
    found = HumanAgreement.of({"": JUDGE}, ratings(("x", JUDGE)), {"": (0.0, 10.0)}).criteria[0]
    assert (found.pearson.value, found.pearson.low, found.pearson.reason) == (1.0, None, "perfect")
    assert (found.kappa.value, found.kappa.reason) == (1.0, "perfect")
    assert found.claim.verdict == "not_settled"  # six answers are too few, however well they agree
    assert found.claim.needed == 20


def test_items_without_a_score_of_the_judge_are_counted_and_left_out() -> None:
    found = HumanAgreement.of({"": {"a": 8.0}}, ratings(("x", JUDGE)), {"": (0.0, 10.0)}).criteria[0]
    assert (found.items, found.without_judge) == (1, 5)


@pytest.mark.parametrize(("correlation", "verdict"), [(0.93, "holds"), (0.6, "does_not_hold"), (0.8, "not_settled")])
def test_the_bound_holds_fails_or_stays_open(correlation: float, verdict: str) -> None:
    random = np.random.default_rng(11)
    first = random.normal(size=400)
    noise = random.normal(size=400)
    noise -= first * float(first @ noise) / float(first @ first)
    # a sample whose coefficient is the wanted one exactly
    first, noise = (side - side.mean() for side in (first, noise))
    noise -= first * float(first @ noise) / float(first @ first)
    second = correlation * first / first.std() + math.sqrt(1 - correlation**2) * noise / noise.std()
    judge = {str(at): score for at, score in enumerate(first)}
    people = {str(at): score for at, score in enumerate(second)}
    claim = HumanAgreement.of({"": judge}, ratings(("x", people)), {"": (0.0, 10.0)}).criteria[0].claim
    assert claim.verdict == verdict
    assert (claim.needed is None) == (verdict != "not_settled" or correlation == 0.8)


def test_the_answers_that_settle_it_do_settle_it() -> None:
    # r 0.85: artanh 0.85 − artanh 0.8 = 1.256153 − 1.098612 = 0.157541; (1.644854/0.157541)² = 109.01; + 3 -> 113
    assert items_needed(math.atanh(0.85) - math.atanh(0.8), 1.0) == 113
    assert items_needed(0.0, 1.0) is None
    assert items_needed(0.001, 1.0) is None  # 2.7 million: out of reach
    assert items_needed(5.0, 1.0) == 20


def test_each_item_stands_once_among_the_worst_with_its_largest_difference() -> None:
    judge = {"": {"a": 9.0, "b": 5.0}, "c1": {"a": 2.0, "b": 5.0}}
    labels = [*ratings(("x", {"a": 7.0, "b": 5.0})), *ratings(("x", {"a": 8.0, "b": 6.0}), criterion="c1")]
    worst = HumanAgreement.of(judge, labels, {"": (0.0, 10.0), "c1": (0.0, 10.0)}).worst
    assert [(one.item, one.criterion, one.difference) for one in worst] == [("a", "c1", -6.0), ("b", "c1", -1.0)]


def test_halves_are_rounded_upwards_for_kappa() -> None:
    assert whole_points(np.array([0.5, 1.5, 2.5, 2.4999999999, 7.3])).tolist() == [1, 2, 3, 3, 7]


def test_kappa_equals_the_weighted_table() -> None:
    first, second = arrays(9, 150, 0.6)
    table = np.zeros((11, 11))
    for left, right in zip(first.astype(int), second.astype(int), strict=True):
        table[left, right] += 1
    weights = (np.arange(11)[:, None] - np.arange(11)[None, :]) ** 2
    chance = np.outer(table.sum(axis=1), table.sum(axis=0)) / table.sum()
    assert weighted_kappa(first, second) == pytest.approx(1 - (weights * table).sum() / (weights * chance).sum(), abs=1e-12)


def test_spearmans_interval_is_that_of_bonett_and_wright() -> None:
    first, second = arrays(2, 100, 0.6)
    found = spearman_estimate(first, second)
    assert found.value is not None
    half = scipy.stats.norm.ppf(0.975) * math.sqrt((1 + found.value**2 / 2) / 97)
    assert (found.low, found.high) == pytest.approx(
        (math.tanh(math.atanh(found.value) - half), math.tanh(math.atanh(found.value) + half))
    )
