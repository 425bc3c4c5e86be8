import numpy as np
import pytest
import scipy
from hypothesis import given
from hypothesis import strategies as st

from areopage.scoring.arrays import Column, Matrix
from areopage.trust.correction.maps import KINDS, Kind, choose_map, fit_map, isotonic
from areopage.trust.correction.weights import agreement_weights, fit_weights

VALUES = st.lists(st.floats(-100, 100), min_size=1, max_size=40)


@given(values=VALUES)
def test_an_isotonic_sequence_does_not_decrease_keeps_the_sum_and_changes_nothing_twice(values: list[float]) -> None:
    found = isotonic(np.array(values))
    assert bool((np.diff(found) >= -1e-9).all())
    assert found.sum() == pytest.approx(sum(values), abs=1e-6)
    assert isotonic(found) == pytest.approx(found)


@given(values=VALUES, seed=st.integers(0, 99))
def test_isotonic_sequences_are_scipys(values: list[float], seed: int) -> None:
    weights = np.random.default_rng(seed).uniform(0.5, 3, len(values))
    theirs = scipy.optimize.isotonic_regression(np.array(values), weights=weights).x
    assert isotonic(np.array(values), weights) == pytest.approx(theirs, abs=1e-6)


def test_an_isotonic_sequence_is_scikit_learns() -> None:
    """scikit-learn 1.9.1: IsotonicRegression().fit_transform(range(8), values, sample_weight=weights)."""
    values, weights = np.array([1.0, 3.0, 2.0, 2.5, 5.0, 4.0, 1.0, 6.0]), np.array([1.0, 2.0, 1.0, 3.0, 1.0, 1.0, 0.5, 2.0])
    theirs = [1.0, 2.583333333, 2.583333333, 2.583333333, 3.8, 3.8, 3.8, 6.0]
    assert isotonic(values, weights) == pytest.approx(theirs)


@pytest.mark.parametrize(("kind", "people"), [("same", 0.0), ("moved", 0.8), ("linear", -9.0)])
def test_the_simplest_map_that_is_not_worse_is_chosen(kind: Kind, people: float) -> None:
    random = np.random.default_rng(1)
    judged = random.integers(1, 6, 80).astype(float)
    wanted = judged + people if kind != "linear" else 2.5 + 0.4 * judged
    assert choose_map(wanted + random.normal(0, 0.3, 80), judged).kind == kind


def test_a_bent_scale_gets_an_isotonic_map() -> None:
    random = np.random.default_rng(2)
    judged = random.uniform(1, 5, 300)
    bent = np.where(judged < 3, 1.5, 4.5) + random.normal(0, 0.3, 300)
    found = choose_map(bent, judged)
    assert found.kind == "isotonic"
    assert found.apply(np.array([2.0, 4.0])) == pytest.approx([1.5, 4.5], abs=0.2)


def test_few_labels_shrink_a_slope_that_is_noise_and_no_map_decreases() -> None:
    random = np.random.default_rng(3)
    noise = [fit_map("linear", random.normal(3, 1, 8), random.normal(3, 1, 8)) for _ in range(200)]
    assert np.mean([found.to[1] - found.to[0] for found in noise]) < 0.12
    for kind in KINDS:
        turned = fit_map(kind, np.array([5.0, 4, 3, 2, 1, 1]), np.array([1.0, 2, 3, 4, 5, 6]))
        assert bool((np.diff(turned.apply(np.linspace(0, 7, 20))) >= -1e-9).all())


def jury(seed: int, items: int = 600) -> tuple[Column, Matrix]:
    """Three good judges that differ in strictness, two of noise."""
    random = np.random.default_rng(seed)
    people = random.normal(3.5, 1, items)
    good = people[:, None] + np.array([-1.0, 0.0, 0.5]) + random.normal(0, 0.6, (items, 3))
    return people, np.column_stack([good, random.normal(3, 1, (items, 2))])


def test_weights_beat_the_mean_and_the_best_judge_and_stay_near_the_mean_with_few_labels() -> None:
    people, scores = jury(4)
    found = fit_weights(people[:100], scores[:100])
    errors = np.abs(found.predict(scores[100:]) - people[100:]).mean()
    best = np.abs(scores[100:] - people[100:, None]).mean(axis=0).min()
    assert errors < best - 0.1
    assert errors < np.abs(scores[100:].mean(axis=1) - people[100:]).mean() - 0.1
    assert min(found.weights[:3]) > max(found.weights[3:])
    assert found.error <= found.mean_error
    few = fit_weights(people[:4], scores[:4]).weights
    assert max(few) - min(few) < 0.05


def test_missing_scores_count_as_the_mean_of_the_others() -> None:
    people, scores = jury(6)
    found = fit_weights(people[:80], scores[:80])
    with_gap = scores[100:101].copy()
    with_gap[0, 1] = np.nan
    whole = with_gap.copy()
    whole[0, 1] = np.nanmean(with_gap)
    assert found.predict(with_gap) == pytest.approx(found.predict(whole))


def test_judges_that_agree_weigh_more_and_no_label_is_needed_for_it() -> None:
    random = np.random.default_rng(11)
    truth = random.normal(3, 1, 600)
    judges = truth[:, None] * [1.0, 1.0, 0.5, 1.0] + random.normal(0, [0.3, 0.5, 0.4, 3.0], (600, 4))
    found = agreement_weights(judges)
    assert found.sum() == pytest.approx(1.0)
    assert bool((found >= 0).all())
    assert found[0] > found[1] > found[3]
    r = [np.corrcoef(truth, one)[0, 1] for one in (judges @ found, judges.mean(axis=1))]
    assert r[0] > r[1] + 0.1
    assert agreement_weights(judges * 10 + 5) == pytest.approx(found, abs=1e-4)


def test_where_agreement_tells_nothing_judges_weigh_the_same() -> None:
    random = np.random.default_rng(12)
    for judges in (
        random.normal(3, 1, (100, 2)),
        random.normal(3, 1, (20, 4)),
        np.column_stack([np.full(100, 4.0), *random.normal(3, 1, (3, 100))]),
    ):
        assert agreement_weights(judges) == pytest.approx(1 / judges.shape[1])
    twins = random.normal(3, 1, (200, 1)) + random.normal(0, [0.0, 0.0, 0.8, 0.8, 0.8], (200, 5))
    assert agreement_weights(twins)[:2].sum() < 0.9  # two equal judges do not outweigh all others


def test_weights_hold_to_the_base_that_is_given() -> None:
    people, scores = np.tile([2.0, 4.0], 3), np.random.default_rng(13).normal(3, 1, (6, 3))
    base = np.array([0.7, 0.2, 0.1])
    found = np.array(fit_weights(people, scores, base=base).weights)
    assert found == pytest.approx(found.sum() * base, abs=1e-4)
