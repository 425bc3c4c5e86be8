"""What a jury is worth: planted correlation, leniency, noise and redundancy are recovered; no more is said than the data tell."""

import tracemalloc
from typing import Any

import numpy as np
import pytest
import scipy
from hypothesis import given, settings
from hypothesis import strategies as st

from areopage.scoring.agreement_with_people import Rating
from areopage.scoring.arrays import Column, Matrix
from areopage.scoring.worth import effective
from areopage.scoring.worth.alternative import Replacement, alternative_test, corrected, worse_by
from areopage.scoring.worth.contributions import best_judge, judge_errors
from areopage.scoring.worth.effective import effective_judges, kish, most_judges
from areopage.scoring.worth.tables import JuryTable, mean_estimate, spread_estimate
from areopage.scoring.worth.worth import labelled_worth, unlabelled_worth

SPAN = 10.0


def table_of(scores: Matrix, labels: Matrix, per_item: int = 1) -> JuryTable:
    units = len(scores)
    return JuryTable(
        judges=tuple(f"j{at}" for at in range(scores.shape[1])),
        raters=tuple(f"r{at}" for at in range(labels.shape[1])),
        names=tuple(f"i{at}" for at in range(units // per_item)),
        items=np.arange(units) // per_item,
        criteria=np.arange(units) % per_item,
        scores=scores,
        labels=labels,
    )


def planted(
    items: int,
    judges: int,
    *,
    correlation: float = 0.0,
    leniency: tuple[float, ...] = (),
    noise: tuple[float, ...] = (),
    raters: int = 1,
    rater_noise: float = 0.0,
    per_item: int = 1,
    seed: int = 0,
) -> JuryTable:
    """A jury with known errors: a share of each error's variance is in common."""
    random, units = np.random.default_rng(seed), items * per_item
    truth = random.normal(5.0, 2.0, (units, 1))
    common, own = random.normal(size=(units, 1)), random.normal(size=(units, judges))
    errors = (np.sqrt(correlation) * common + np.sqrt(1 - correlation) * own) * np.array(noise or [1.0] * judges)
    labels = truth + rater_noise * random.normal(size=(units, raters))
    return table_of(truth + errors + np.array(leniency or [0.0] * judges), labels, per_item)


def value_of(found: Any) -> float:
    assert found is not None
    assert found.value is not None
    return float(found.value)


@pytest.mark.parametrize("correlation", [0.0, 0.3, 0.6, 0.9])
@pytest.mark.parametrize("per_item", [1, 4])
def test_the_planted_number_of_independent_judges_is_recovered(correlation: float, per_item: int) -> None:
    found = effective_judges(planted(600 // per_item, 6, correlation=correlation, per_item=per_item, seed=3))
    assert found is not None
    expected = 6 / (1 + 5 * correlation)
    assert value_of(found.value) == pytest.approx(expected, rel=0.1)
    assert found.value.low is not None
    assert found.value.high is not None
    assert found.value.low <= expected <= found.value.high
    assert found.without_noise is None  # a single rater says nothing of people's noise


def test_leniency_is_no_error_in_common() -> None:
    plain, lenient = (planted(200, 4, correlation=0.4, leniency=shift, seed=4) for shift in ((), (2.0, 2.0, 2.0, 2.0)))
    assert value_of(effective_judges(plain).value) == pytest.approx(value_of(effective_judges(lenient).value))  # type: ignore[union-attr]


def test_peoples_own_noise_lowers_the_number_and_can_be_left_out() -> None:
    expected, cleaned = 5 / (1 + 4 * 0.2), []
    for seed in range(12):
        found = effective_judges(planted(500, 5, correlation=0.2, raters=3, rater_noise=1.5, seed=seed), resamples=50)
        assert found is not None
        assert value_of(found.value) < 0.75 * expected
        assert found.people_noise == pytest.approx(1.5 / np.sqrt(3), rel=0.08)
        cleaned.append(value_of(found.without_noise))
    assert np.mean(cleaned) == pytest.approx(expected, rel=0.07)


def test_the_interval_of_independent_judges_covers_the_truth() -> None:
    hits = 0
    for seed in range(200):
        found = effective_judges(planted(30, 4, correlation=0.5, seed=seed), resamples=100, seed=seed)
        assert found is not None
        assert found.value.low is not None
        assert found.value.high is not None
        hits += found.value.low <= kish(0.5, 4) <= found.value.high
    assert hits >= 184  # 92 %; the exact chance at 95 % is .98


@given(st.floats(-1, 1), st.integers(2, 20))
def test_a_jury_is_worth_at_least_one_and_at_most_all_of_its_judges(correlation: float, judges: int) -> None:
    assert 1.0 - 1e-12 <= kish(correlation, judges) <= judges


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 1000), st.integers(2, 6))
def test_order_of_judges_and_units_and_the_origin_of_the_scale_change_nothing(seed: int, judges: int) -> None:
    table = planted(25, judges, correlation=0.3, seed=seed)
    random = np.random.default_rng(seed)
    columns, rows = random.permutation(judges), random.permutation(25)
    moved = table_of(table.scores[rows][:, columns] * 2.0 + 7.0, table.labels[rows] * 2.0 + 7.0)
    first, second = effective_judges(table, resamples=2), effective_judges(moved, resamples=2)
    assert value_of(first.value) == pytest.approx(value_of(second.value))  # type: ignore[union-attr]
    if judges > 2:
        assert value_of(most_judges(table, resamples=2)) == pytest.approx(value_of(most_judges(moved, resamples=2)), rel=1e-6)


def test_a_missing_score_counts_for_no_pair() -> None:
    table = planted(300, 3, correlation=0.5, seed=6)
    scores = table.scores.copy()
    scores[::3, 0] = np.nan
    found = effective_judges(table_of(scores, table.labels))
    assert value_of(found.value) == pytest.approx(1.5, rel=0.15)  # type: ignore[union-attr]


def test_too_few_items_or_judges_give_no_number() -> None:
    assert effective_judges(planted(19, 4)) is None
    assert effective_judges(planted(50, 1)) is None
    assert most_judges(planted(50, 2)) is None
    assert best_judge(planted(19, 4), SPAN) is None


# --- without labels


def test_residuals_around_the_mean_of_the_others_correlate_alike_for_every_jury() -> None:
    for correlation in (0.0, 0.9):
        scores = planted(2000, 5, correlation=correlation, seed=7).scores
        residuals = scores - (scores.sum(axis=1, keepdims=True) - scores) / 4
        found = np.corrcoef(residuals, rowvar=False)
        assert (found.sum() - 5) / 20 == pytest.approx(-1 / 4, abs=0.01)


def test_without_labels_the_limit_is_the_number_of_judges_where_they_err_alone_also_with_unequal_noise() -> None:
    for noise in ((), (0.5, 0.5, 0.5, 1.0, 1.0, 3.0)):
        assert value_of(most_judges(planted(2000, 6, noise=noise, seed=8))) == pytest.approx(6.0, abs=0.35)


def test_without_labels_groups_of_alike_judges_are_seen() -> None:
    random = np.random.default_rng(9)
    truth, camps = random.normal(5, 2, (1000, 1)), random.normal(size=(1000, 2))
    scores = truth + np.repeat(camps, 3, axis=1) + 0.1 * random.normal(size=(1000, 6))
    found = value_of(most_judges(table_of(scores, truth)))
    assert 2.0 <= found <= 2.3


@pytest.mark.parametrize("correlation", [0.1, 0.5, 0.8])
def test_without_labels_the_limit_lies_above_the_truth_as_shared_errors_stay_unseen(correlation: float) -> None:
    found = most_judges(planted(500, 5, correlation=correlation, seed=10))
    assert value_of(found) > 5 / (1 + 4 * correlation)
    assert value_of(found) == pytest.approx(5.0, abs=0.3)


def test_without_labels_each_judge_is_compared_with_the_others() -> None:
    table = planted(400, 3, leniency=(1.4, 0.0, 0.0), noise=(1.0, 1.0, 1.0), seed=11)
    found = unlabelled_worth(JuryTable.of(scores_of(table)), SPAN)
    assert [value_of(one.apart) for one in found.judges] == pytest.approx([1.4, -0.7, -0.7], abs=0.16)
    assert [one.stands_apart for one in found.judges] == [("level",), (), ()]
    assert value_of(found.judges[0].spread) == pytest.approx(np.sqrt(1.5), rel=0.1)
    assert unlabelled_worth(JuryTable.of({}), SPAN).items == 0
    assert unlabelled_worth(JuryTable.of({"alone": {"c": {"i": 1.0}}}), SPAN).judges == ()


# --- judges


def test_planted_leniency_and_noise_are_recovered() -> None:
    leniency, noise = (-1.0, 0.0, 0.5), (0.4, 1.0, 2.0)
    found = judge_errors(planted(250, 3, leniency=leniency, noise=noise, seed=12), SPAN)
    assert [value_of(one.leniency) for one in found] == pytest.approx(
        leniency, abs=3 * 2.0 / np.sqrt(250)
    )  # three standard errors of the noisiest
    assert [value_of(one.noise) for one in found] == pytest.approx(noise, rel=0.1)
    assert [one.error for one in found[1:]] == pytest.approx([0.798, 1.645], rel=0.15)  # of a normal error: √(2/π) · sd, folded


def test_intervals_of_leniency_and_noise_cover_the_truth_where_criteria_of_an_item_share_an_error() -> None:
    random, hits = np.random.default_rng(13), np.zeros(2)
    for _ in range(400):
        items = np.repeat(np.arange(30), 3)
        values = 0.3 + random.normal(size=30)[items] + random.normal(size=90)
        mean, spread = mean_estimate(values, items, SPAN), spread_estimate(values, items, np.zeros(90, dtype=np.intp))
        assert mean.low is not None
        assert mean.high is not None
        assert spread.low is not None
        assert spread.high is not None
        hits += (mean.low <= 0.3 <= mean.high, spread.low <= np.sqrt(2) <= spread.high)
    assert (hits >= 0.92 * 400).all()


@pytest.mark.parametrize(("wrong", "known"), [(3, False), (4, True)])
def test_under_four_items_with_other_errors_say_nothing_of_independent_judges(wrong: int, known: bool) -> None:
    scores, labels = np.full((30, 3), 5.0), np.full((30, 1), 5.0)
    scores[:wrong, :2] = 0.0
    scores[1, 0] = 5.0
    scores[2, 2] = 0.0
    table = JuryTable(
        judges=("a", "b", "c"),
        raters=("people",),
        names=tuple(map(str, range(30))),
        items=np.arange(30),
        criteria=np.zeros(30, dtype=np.intp),
        scores=scores,
        labels=labels,
    )
    found = effective_judges(table)
    assert found is not None and (found.value.value is not None) == known


def test_a_judge_without_which_the_jury_errs_less_adds_nothing_and_a_good_one_helps() -> None:
    found = judge_errors(planted(300, 3, noise=(0.3, 0.5, 4.0), seed=14), SPAN)
    assert [one.contribution for one in found] == ["helps", "helps", "adds_nothing"]
    assert found[2].without is not None
    assert value_of(found[2].without) < -0.3


def test_no_judge_is_called_useless_where_the_data_do_not_tell() -> None:
    found = labelled_worth(*asked(planted(25, 3, noise=(1.0, 1.0, 1.3), seed=15)), SPAN)
    assert {one.contribution for one in found.judges} == {"unknown"}
    assert found.useless == ()


def test_equal_judges_are_not_called_useless() -> None:
    """Each of them lowers the jury's error a little: calling one useless is always wrong."""
    for seed in range(6):
        found = judge_errors(planted(30, 3, correlation=0.5, seed=seed), SPAN)
        assert not any(one.contribution == "adds_nothing" for one in found)


def test_the_best_judge_is_named_and_its_error_is_not_lowered_by_the_choice() -> None:
    found = best_judge(planted(400, 4, noise=(2.0, 2.0, 0.3, 2.0), seed=16), SPAN)
    assert found is not None
    assert (found.judge, found.chosen, found.better) == ("j2", 1.0, "judge")
    gaps = []
    for seed in range(30):  # equal judges: chosen by the error on the same items, the best one would seem better than it is
        table = planted(24, 6, seed=seed)
        chosen = best_judge(table, SPAN)
        assert chosen is not None
        gaps.append(chosen.error - np.sqrt(2 / np.pi))
        assert np.abs(table.errors).mean(axis=0).min() <= chosen.error + 1e-12
    assert abs(np.mean(gaps)) < 3 * np.std(gaps) / np.sqrt(30)


# --- may a judge replace a person


def reference(judge: Column, labels: Matrix, epsilon: float, *, categories: bool) -> tuple[float, float]:
    """Winning rate and advantage, written from the definition, item by item, with SciPy's tests."""
    p_values, advantages = [], []
    for rater in range(labels.shape[1]):
        apart, wins = [], []
        for item in np.flatnonzero(~np.isnan(labels[:, rater])):
            others = [one for at, one in enumerate(labels[item]) if at != rater and not np.isnan(one)]
            if not others:
                continue

            def near(value: float, others: list[float] = others) -> float:
                if categories:
                    return float(np.mean([value == one for one in others]))
                return -float(np.sqrt(np.mean([(value - one) ** 2 for one in others])))

            of_judge, of_rater = near(judge[item]), near(labels[item, rater])
            wins.append(float(of_judge >= of_rater))
            apart.append(float(of_rater >= of_judge) - wins[-1])
        p_values.append(scipy.stats.ttest_1samp(apart, epsilon, alternative="less").pvalue)
        advantages.append(np.mean(wins))
    found = scipy.stats.false_discovery_control(p_values, method="by")
    return float(np.mean(found <= 0.05)), float(np.mean(advantages))


@pytest.mark.parametrize("categories", [True, False])
@pytest.mark.parametrize("seed", range(4))
def test_the_alternative_annotator_test_is_that_of_its_definition(categories: bool, seed: int) -> None:
    random = np.random.default_rng(seed)
    truth = random.integers(1, 6, 120).astype(float)
    labels = np.where(random.random((120, 5)) < 0.3, random.integers(1, 6, (120, 5)), truth[:, None]).astype(float)
    labels[random.random((120, 5)) < 0.3] = np.nan
    judge = np.where(random.random(120) < 0.1 * (seed + 1), random.integers(1, 6, 120), truth).astype(float)
    found = alternative_test(table_of(judge[:, None], labels), categories=categories)
    assert found is not None
    one = found.judges[0]
    for kind, epsilon in Replacement.EPSILON.items():
        rate, advantage = reference(judge, labels, epsilon, categories=categories)
        assert one.winning_rate[kind] == pytest.approx(rate)
        assert one.may_replace[kind] is (rate >= 0.5)
        assert one.advantage == pytest.approx(advantage)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_corrected_p_values_are_scipys(p_values: list[float]) -> None:
    assert corrected(p_values) == pytest.approx(scipy.stats.false_discovery_control(p_values, method="by"))


@settings(max_examples=50)
@given(st.lists(st.sampled_from([-1.0, 0.0, 1.0]), min_size=30, max_size=60), st.sampled_from(list(Replacement.EPSILON.values())))
def test_the_one_sided_test_is_scipys(differences: list[float], epsilon: float) -> None:
    values = np.array(differences)
    if values.std() > 0:
        expected = scipy.stats.ttest_1samp(values, epsilon, alternative="less").pvalue
        assert worse_by(values, epsilon) == pytest.approx(expected, rel=1e-6, abs=1e-12)
    else:
        assert worse_by(values, epsilon) == (0.0 if values[0] < epsilon else 1.0)


def test_an_oracle_may_replace_a_person_and_a_random_judge_may_not() -> None:
    random = np.random.default_rng(17)
    truth = random.normal(5, 2, (100, 1))
    labels = truth + random.normal(size=(100, 3))
    found = alternative_test(table_of(np.hstack([truth, random.normal(5, 2, (100, 1))]), labels))
    assert found is not None
    assert [one.judge for one in found.judges] == ["j0", "j1", ""]
    assert found.judges[0].may_replace == {"expert": True, "skilled": True, "crowd": True}
    assert found.judges[1].may_replace == {"expert": False, "skilled": False, "crowd": False}


def test_criteria_of_one_item_are_one_item_of_the_test() -> None:
    table = planted(60, 1, raters=3, rater_noise=1.0, per_item=4, seed=18)
    found = alternative_test(table)
    assert found is not None
    assert found.items == 60
    assert {one.items for one in found.judges[0].raters} == {60}


@pytest.mark.parametrize(("items", "raters"), [(49, 3), (80, 2)])
def test_with_too_few_items_or_people_nothing_is_said_of_replacing_a_person(items: int, raters: int) -> None:
    assert alternative_test(planted(items, 2, raters=raters, rater_noise=1.0)) is None


# --- together


def scores_of(table: JuryTable) -> dict[str, dict[str, dict[str, float]]]:
    found: dict[str, dict[str, dict[str, float]]] = {judge: {} for judge in table.judges}
    for row, (item, criterion) in enumerate(zip(table.items, table.criteria, strict=True)):
        for column, judge in enumerate(table.judges):
            found[judge].setdefault(f"c{criterion}", {})[table.names[item]] = float(table.scores[row, column])
    return found


def asked(table: JuryTable) -> tuple[dict[str, dict[str, dict[str, float]]], list[Rating]]:
    ratings = [
        Rating(item=table.names[item], rater=rater, criterion=f"c{criterion}", score=float(table.labels[row, column]))
        for row, (item, criterion) in enumerate(zip(table.items, table.criteria, strict=True))
        for column, rater in enumerate(table.raters)
    ]
    return scores_of(table), ratings


def test_scores_and_labels_are_arranged_as_they_were_given() -> None:
    table = planted(30, 3, raters=2, rater_noise=0.5, per_item=2, seed=19)
    again = JuryTable.of(*asked(table))
    order = np.argsort([table.names[item] for item in range(30)])
    units = np.concatenate([[2 * item, 2 * item + 1] for item in order])
    assert np.array_equal(again.scores, table.scores[units])
    assert np.array_equal(again.labels, table.labels[units])
    assert again.size == 30


def test_the_overall_score_counts_only_where_it_is_all_there_is() -> None:
    judges = {"j": {"": {"a": 3.0, "b": 4.0}, "c": {"a": 1.0}}}
    both = [Rating(item="a", rater="r", criterion=name, score=2.0) for name in ("", "c")]
    assert JuryTable.of(judges, both).scores.tolist() == [[1.0]]
    assert JuryTable.of(judges, both[:1]).scores.tolist() == [[3.0]]


def test_with_few_labels_only_their_number_is_told() -> None:
    judges, ratings = asked(planted(19, 3, raters=2, rater_noise=0.5))
    found = labelled_worth(judges, ratings, SPAN)
    assert (found.enough, found.items, found.labels, found.raters, found.twice) == (False, 19, 38, 2, 19)
    assert (found.effective, found.judges, found.best, found.replacement) == (None, (), None, None)
    assert labelled_worth(judges, [], SPAN).items == 0


def test_a_judge_alone_has_leniency_and_noise_and_no_jury() -> None:
    found = labelled_worth(*asked(planted(60, 1, raters=3, rater_noise=1.0)), SPAN)
    assert found.effective is None
    assert found.best is None
    assert found.judges[0].without is None
    assert found.replacement is not None
    assert [one.judge for one in found.replacement.judges] == ["j0"]


def test_a_judge_of_few_criteria_is_measured_and_not_counted_among_the_jury() -> None:
    table = planted(200, 4, correlation=0.5, per_item=1, seed=20)
    scores = table.scores.copy()
    scores[70:, 3] = np.nan
    partly = table_of(scores, table.labels)
    found, best = effective_judges(partly), best_judge(partly, SPAN)
    assert found is not None
    assert best is not None
    assert (found.judges, best.units) == (3, 200)
    assert [one.units for one in judge_errors(partly, SPAN)] == [200, 200, 200, 70]


def test_a_judge_without_a_labelled_score_is_left_out() -> None:
    judges, ratings = asked(planted(30, 2))
    found = labelled_worth(judges | {"elsewhere": {"c9": {"other": 1.0}}}, ratings, SPAN)
    assert [one.judge for one in found.judges] == ["j0", "j1"]


def test_resamples_of_a_large_jury_are_drawn_in_portions_that_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    items, resamples = 3_000, 400
    table, whole = planted(items, 3, correlation=0.3), most_judges(planted(items, 3, correlation=0.3), resamples=resamples)
    monkeypatch.setattr(effective, "_DRAWN_AT_ONCE", 10 * items)
    tracemalloc.start()
    try:
        found, (_, peak) = most_judges(table, resamples=resamples), tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < items * resamples * 8 / 2  # all draws as numbers would take twice as much
    assert found is not None and whole is not None
    for name in ("value", "low", "high"):
        assert getattr(found, name) == pytest.approx(getattr(whole, name), rel=1e-9)
