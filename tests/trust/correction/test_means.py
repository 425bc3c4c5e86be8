import numpy as np
import pytest
import scipy
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from areopage.scoring.arrays import Column
from areopage.trust.correction.means import (
    corrected_mean,
    fit_line,
    labels_alone,
    stratified_mean,
    transported_mean,
    weighted_mean,
)
from areopage.trust.correction.planning import half_width, plan_labels, teaching_items

RANDOM = np.random.default_rng
LEVEL_LOW, LEVEL_HIGH = 0.93, 0.97


def population(seed: int, items: int = 400, noise: float = 0.8) -> tuple[Column, Column]:
    """People's scores of 1 to 5, skewed towards 5, and a strict judge's."""
    random = RANDOM(seed)
    people = 5 - random.gamma(1.2, 0.8, items).clip(0, 4)
    judge = people - 0.7 + random.normal(0, noise, items)
    return people, judge


def covered(draws: int, labels: int, items: int = 400) -> float:
    people, judge = population(1, items)
    random, hits = RANDOM(2), 0
    for _ in range(draws):
        own = random.permutation(items)[:labels]
        found = corrected_mean(people[own], judge[own], judge)
        assert found.low is not None
        assert found.high is not None
        hits += found.low <= people.mean() <= found.high
    return hits / draws


@pytest.mark.parametrize("labels", [12, 50])
def test_the_interval_of_a_corrected_mean_holds_its_level_in_a_finite_population(labels: int) -> None:
    assert LEVEL_LOW <= covered(3000, labels) <= LEVEL_HIGH


def test_labelling_every_item_leaves_no_uncertainty_and_gives_the_mean_of_the_labels() -> None:
    people, judge = population(3, 40)
    found = corrected_mean(people, judge, judge)
    assert found.value == pytest.approx(people.mean())
    assert found.low == pytest.approx(found.value)
    assert found.high == pytest.approx(found.value)


def test_a_judge_that_tells_nothing_does_no_harm() -> None:
    people, _ = population(4, 4000)
    noise = RANDOM(5).normal(3, 1, 4000)
    found = corrected_mean(people[:100], noise[:100], noise)
    assert abs(found.weight) < 0.2
    assert found.saved == pytest.approx(0.0, abs=0.06)


def test_a_constant_judge_leaves_the_labels_alone() -> None:
    people, _ = population(6)
    found = corrected_mean(people[:50], np.full(50, 4.0), np.full(400, 4.0))
    assert found.weight == 0.0
    assert found.value == pytest.approx(people[:50].mean())


def test_too_few_labels_and_labels_without_any_spread_have_no_interval() -> None:
    assert corrected_mean(np.array([3.0, 4.0]), np.array([2.0, 4.0]), np.arange(9.0)).low is None
    same = corrected_mean(np.full(20, 5.0), np.full(20, 5.0), np.full(90, 5.0))
    assert (same.value, same.low, same.error) == (5.0, None, None)
    assert labels_alone(np.full(20, 5.0), 90).reason == "constant"


def test_a_good_judge_saves_the_share_of_labels_that_its_squared_correlation_tells() -> None:
    people, judge = population(7, 20_000)
    found = corrected_mean(people[:8000], judge[:8000], judge)
    assert found.saved == pytest.approx(np.corrcoef(people, judge)[0, 1] ** 2, abs=0.05)


def days(seed: int) -> tuple[Column, Column, list[NDArray[np.int64]]]:
    """Thirty days of growing traffic whose scores by people fall, which the judge does not see. Indexes of each day."""
    random, sizes = RANDOM(seed), np.arange(6, 306, 10)
    day = np.repeat(np.arange(30), sizes)
    people = 5 - random.gamma(1.2, 0.8, day.size).clip(0, 4) - 0.03 * day
    judge = people - 0.7 + 0.03 * day + random.normal(0, 0.8, day.size)
    return people, judge, [np.flatnonzero(day == one).astype(np.int64) for one in range(30)]


def test_the_interval_of_a_mean_by_days_holds_its_level_where_each_day_has_the_same_number_of_labels() -> None:
    people, judge, by_day = days(1)
    random, draws, hits, alone, unweighted, narrower = RANDOM(2), 600, 0, 0, 0, 0
    day, sizes = np.repeat(np.arange(30), 5), np.array([float(one.size) for one in by_day])
    weights = np.concatenate([np.full(5, one.size / 5) for one in by_day])
    for _ in range(draws):
        own = np.concatenate([random.permutation(one)[:5] for one in by_day])
        found = stratified_mean(people[own], judge[own], day, sizes, float(judge.mean()))
        together = weighted_mean(people[own], judge[own], weights, float(judge.mean()))
        assert together.value == found.value
        assert together.error is not None
        assert found.error is not None
        narrower += found.error < together.error
        plain = corrected_mean(people[own], judge[own], judge)
        truth = float(people.mean())
        for one in (found, found.labels_alone, plain):
            assert one.low is not None
            assert one.high is not None
        hits += found.low <= truth <= found.high  # type: ignore[operator]
        alone += found.labels_alone.low <= truth <= found.labels_alone.high  # type: ignore[operator]
        unweighted += plain.low <= truth <= plain.high  # type: ignore[operator]
    assert LEVEL_LOW <= hits / draws <= LEVEL_HIGH
    assert LEVEL_LOW <= alone / draws <= LEVEL_HIGH
    assert narrower > 0.8 * draws
    assert unweighted / draws < 0.8


def test_with_few_labels_a_day_the_interval_is_that_of_all_days_together() -> None:
    people, judge, by_day = days(1)
    own = np.concatenate([one[:1] for one in by_day])
    sizes = np.array([float(one.size) for one in by_day])
    found = stratified_mean(people[own], judge[own], np.arange(30), sizes, float(judge.mean()))
    assert found == weighted_mean(people[own], judge[own], sizes, float(judge.mean()))


def test_equal_weights_change_nothing() -> None:
    people, judge = population(12, 400)
    plain = corrected_mean(people[:40], judge[:40], judge)
    weighed = weighted_mean(people[:40], judge[:40], np.full(40, 10.0), float(judge.mean()))
    for name in ("value", "low", "high", "error", "saved", "judged"):
        assert getattr(weighed, name) == pytest.approx(getattr(plain, name)), name
    assert weighed.labels_alone.low == pytest.approx(plain.labels_alone.low)


def test_one_label_that_stands_for_nearly_all_items_leaves_no_interval() -> None:
    people, judge = population(13, 400)
    found = weighted_mean(people[:20], judge[:20], np.r_[381.0, np.ones(19)], float(judge.mean()))
    assert found.low is None


@given(shift=st.floats(-5, 5), scale=st.floats(0.1, 4))
@settings(max_examples=30, deadline=None)
def test_another_unit_of_the_judge_changes_nothing(shift: float, scale: float) -> None:
    people, judge = population(8)
    first = corrected_mean(people[:60], judge[:60], judge)
    second = corrected_mean(people[:60], shift + scale * judge[:60], shift + scale * judge)
    assert second.value == pytest.approx(first.value)
    assert second.error == pytest.approx(first.error)


def test_a_corrected_mean_and_its_interval_are_those_of_ppi_python() -> None:
    """ppi-python 0.2.3: ppi_mean_pointestimate(people, judge, rest) and ppi_mean_ci(people, judge, rest, alpha=0.05)."""
    counts = np.array([[20, 8, 0, 0, 0], [11, 5, 4, 0, 0], [11, 14, 12, 11, 0], [0, 28, 20, 17, 15], [0, 0, 33, 32, 59]])
    scores = np.arange(1.0, 6.0)
    people, judge = np.repeat(np.repeat(scores, 5), counts.ravel()), np.repeat(np.tile(scores, 5), counts.ravel())
    rest = np.repeat(scores, [676, 693, 1186, 1020, 1425])
    mine = corrected_mean(people, judge, np.concatenate([judge, rest]))
    assert mine.value == pytest.approx(3.92622746, abs=2e-3)
    assert mine.error is not None
    drawn = fit_line(people, judge).spread / mine.judged  # theirs takes the judged items as a sample of a population, too
    reach = scipy.stats.t.ppf(0.975, people.size - 2) * (mine.error**2 + drawn) ** 0.5  # theirs is the normal's, not Student's
    assert [mine.value - reach, mine.value + reach] == pytest.approx([3.82306298, 4.02939194], abs=3e-3)


def test_labels_alone_are_students_interval() -> None:
    people, _ = population(10)
    found = labels_alone(people[:30], 10**9)
    inner = scipy.stats.ttest_1samp(people[:30], 0).confidence_interval(0.95)
    assert [found.low, found.high] == pytest.approx([inner.low, inner.high])


def test_a_transported_line_is_the_textbooks_prediction_of_a_mean() -> None:
    people, judge = population(11)
    line = fit_line(people[:50], judge[:50])
    reference = scipy.stats.linregress(judge[:50], people[:50])
    assert line.slope == pytest.approx(reference.slope)
    assert line.at(0.0) == pytest.approx(reference.intercept)
    far, near = transported_mean(line, line.predicted + 2, 10**9), transported_mean(line, line.predicted, 10**9)
    assert near.error == pytest.approx(np.sqrt(line.residual / 50))
    assert far.error == pytest.approx(np.hypot(np.sqrt(line.residual / 50), 2 * reference.stderr))


def test_a_plan_reaches_its_precision_and_one_label_fewer_does_not() -> None:
    plan = plan_labels(0.1, 1.0, 0.6, 3000)
    assert plan.reached <= 0.1 < half_width(plan.labels - 1, 0.8, 3000, used=2)
    assert 1 - plan.labels / plan.labels_alone == pytest.approx(0.36, abs=0.1)
    assert plan_labels(1e-6, 1.0, 0.6, 200).labels == 200


def test_items_that_teach_are_those_where_judges_are_extreme_or_apart() -> None:
    scores = np.full((200, 3), 4.0) + RANDOM(18).normal(0, 0.1, (200, 3))
    scores[7], scores[90], scores[3] = (1, 1, 1), (5, 1, 4), (1, 5, 4)
    assert set(teaching_items(scores, 3)) == {3, 7, 90}
    assert not set(teaching_items(scores, 5, labelled=(7,))) & {7}
