"""Adaptive passes: the plan is a pure function, keeps its budget, errs as often as it says, and leaves averages unbiased."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from areopage.bench.pass_allocation import (
    DECISION,
    FLOOR,
    NONE,
    PILOT,
    START,
    PassFloor,
    PassItems,
    PassPlan,
    StoppingShift,
    item_noise,
)
from areopage.bench.pass_settings import PassSettings
from areopage.scoring.shares import lower_bound, upper_bound

Table = NDArray[np.float64]
LIMIT, SPAN = 2.0, 5.0


def items_of(
    scores: Table, pairs: int, judges: int, *, costs: Table | None = None, floors: tuple[PassFloor, ...] = ()
) -> PassItems:
    """A jury on one criterion: the items of each pair follow each other, judge by judge."""
    count = pairs * judges
    judge = np.arange(count) % judges
    return PassItems(
        scores=scores,
        closed=np.ones(scores.shape, dtype=bool),
        unread=np.isnan(scores),
        costs=np.zeros(scores.shape) if costs is None else costs,
        most=np.full(count, scores.shape[1]),
        pair=np.arange(count) // judges,
        group=judge,
        judge=judge,
        order=np.random.default_rng(9).random(count),
        limits=np.full(pairs, LIMIT),
        case=np.arange(pairs),
        criterion=np.zeros(pairs, dtype=np.intp),
        floors=floors,
        span=SPAN,
    )


def simulated(random: np.random.Generator, truth: Table, judges: int, most: int, noise: float) -> Table:
    """Passes of judges around the truth of each pair."""
    return np.repeat(truth, judges)[:, None] + noise * random.standard_normal((truth.size * judges, most))


def levels(plan: PassPlan, items: PassItems, first: int | None = None) -> Table:
    """The score of each pair: the mean over judges of the means of their passes, of all or of the first ones."""
    passes = plan.passes if first is None else np.minimum(plan.passes, first)
    made = np.arange(items.scores.shape[1]) < passes[:, None]
    means = np.nanmean(np.where(made, items.scores, np.nan), axis=1)
    return np.bincount(items.pair, means) / np.bincount(items.pair)


random_runs = st.tuples(st.integers(0, 2**32 - 1), st.integers(1, 25), st.integers(1, 3), st.integers(1, 3), st.integers(1, 6))


@given(random_runs, st.integers(0, 60))
@settings(max_examples=60, deadline=None)
def test_a_plan_keeps_its_bounds_and_its_budget_and_is_the_same_again(run: tuple[int, int, int, int, int], more: int) -> None:
    seed, pairs, judges, start, room = run
    random = np.random.default_rng(seed)
    scores = np.clip(np.round(simulated(random, random.uniform(0, 5, pairs), judges, start + room, 0.8)), 0, 5)
    scores[random.random(scores.shape) < 0.1] = np.nan
    items = items_of(scores, pairs, judges)
    budget = pairs * judges * start + more
    asked = PassSettings(start=start, most=start + room, precision=0.25, calls=budget)
    plan = PassPlan.of(items, asked)
    assert plan.passes.sum() <= budget
    assert (plan.passes >= start).all()
    assert (plan.passes <= items.most).all()
    assert ((plan.reasons != NONE).sum(axis=1) == plan.passes).all()
    assert (plan.reasons[:, :start] == START).all()
    again = PassPlan.of(items, asked)
    assert (again.passes == plan.passes).all()
    assert (again.reasons == plan.reasons).all()


@given(st.integers(0, 2**32 - 1), st.integers(1, 3))
@settings(max_examples=30, deadline=None)
def test_passes_that_are_in_store_but_not_planned_change_nothing(seed: int, start: int) -> None:
    random = np.random.default_rng(seed)
    scores = simulated(random, random.uniform(1, 4, 15), 2, 6, 0.7)
    asked = PassSettings(start=start, most=6, precision=0.3, calls=80)
    plan = PassPlan.of(items_of(scores, 15, 2), asked)
    scores[np.arange(6) >= plan.passes[:, None]] = 5.0
    assert (PassPlan.of(items_of(scores, 15, 2), asked).passes == plan.passes).all()


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=12, deadline=None)
def test_a_run_that_is_broken_off_anywhere_goes_on_to_the_same_plan(seed: int) -> None:
    random = np.random.default_rng(seed)
    scores, asked = simulated(random, random.uniform(1, 4, 12), 2, 5, 0.7), PassSettings(most=5, precision=0.3)
    whole = PassPlan.of(items_of(scores, 12, 2), asked)
    done = np.zeros(scores.shape, dtype=bool)
    for _ in range(500):
        items = items_of(np.where(done, scores, np.nan), 12, 2)
        so_far = PassPlan.of(msgspec_replace(items, closed=done), asked, made=_made(done))
        left = np.argwhere((np.arange(5) < so_far.passes[:, None]) & ~done)
        if not left.size:
            break
        for row, column in random.permutation(left)[: random.integers(1, left.shape[0] + 1)]:
            done[row, column] = True
    assert not so_far.waiting
    assert (so_far.passes == whole.passes).all()
    assert done.sum() == whole.passes.sum()


def msgspec_replace(items: PassItems, closed: NDArray[np.bool_]) -> PassItems:
    """The items with other closed calls."""
    return PassItems(**{name: getattr(items, name) for name in items.__struct_fields__} | {"closed": closed})


def _made(done: NDArray[np.bool_]) -> NDArray[np.intp]:
    return np.where(done.any(axis=1), done.shape[1] - np.argmax(done[:, ::-1], axis=1), 0)


def test_an_open_call_holds_the_next_round_back() -> None:
    scores = simulated(np.random.default_rng(1), np.full(10, 2.2), 2, 4, 0.6)
    items = items_of(scores, 10, 2)
    items.closed[3, 0] = False
    plan = PassPlan.of(items, PassSettings(most=4, precision=0.3))
    assert plan.waiting
    assert plan.passes.sum() == 20


def test_passes_go_where_a_score_is_near_its_limit_or_noisy() -> None:
    random = np.random.default_rng(2)
    truth = np.array([2.1] * 30 + [4.5] * 30)
    plan = PassPlan.of(items_of(simulated(random, truth, 2, 6, 0.4), 60, 2), PassSettings(start=2, most=6, precision=9.0))
    near, far = plan.passes[:60].mean(), plan.passes[60:].mean()
    assert near > 4.5
    assert far == 2.0
    assert set(plan.reasons[:60].ravel()) <= {NONE, START, DECISION}


def test_a_case_that_a_floor_depends_on_goes_first_and_not_once_the_floor_is_settled() -> None:
    scores = np.full((40, 4), 4.5) + 0.3 * np.random.default_rng(3).standard_normal((40, 4))
    scores[:12] -= 2.5  # six pairs close to the limit
    counted = np.zeros(20, dtype=bool)
    counted[:3] = True
    asked = PassSettings(start=2, most=4, precision=9.0, calls=84)
    open_ = PassPlan.of(items_of(scores, 20, 2, floors=(PassFloor(1, counted),)), asked)
    assert open_.reasons[:6, 2].tolist().count(FLOOR) == 4
    assert open_.passes.sum() == 84
    assert open_.spent
    settled = PassPlan.of(items_of(scores, 20, 2, floors=(PassFloor(20, counted),)), asked)
    assert not (settled.reasons == FLOOR).any()


def test_a_budget_in_money_is_kept_where_calls_cost_about_the_same() -> None:
    random = np.random.default_rng(4)
    scores, costs = simulated(random, np.full(40, 2.2), 2, 8, 1.0), random.uniform(0.8, 1.0, (80, 8))
    items = items_of(scores, 40, 2, costs=costs)
    plan = PassPlan.of(items, PassSettings(most=8, precision=0.1, cost=200.0))
    spent = costs[np.arange(8) < plan.passes[:, None]].sum()
    assert 190 < spent <= 200.0
    assert plan.spent


def test_one_pass_is_followed_by_a_pilot_that_no_score_decides() -> None:
    scores = np.full((60, 3), 4.8)
    first = PassPlan.of(items_of(scores, 60, 1), PassSettings(most=3, precision=9.0))
    scores[:, 0] = np.random.default_rng(5).uniform(3, 5, 60)
    second = PassPlan.of(items_of(scores, 60, 1), PassSettings(most=3, precision=9.0))
    assert (first.reasons == PILOT).sum() == 32
    assert ((first.reasons == PILOT) == (second.reasons == PILOT)).all()


def test_a_pass_that_cannot_be_read_is_followed_by_another_one() -> None:
    scores = np.full((40, 4), 4.8)
    scores[3, :2] = np.nan
    plan = PassPlan.of(items_of(scores, 40, 1), PassSettings(start=2, most=4, precision=9.0))
    assert plan.passes[3] == 3
    assert (np.delete(plan.passes, 3) == 2).all()


def test_a_reliable_criterion_gets_no_pass_for_its_precision() -> None:
    random = np.random.default_rng(12)
    scores = simulated(random, np.linspace(2.5, 5, 50), 1, 20, 0.4)
    asked = PassSettings(start=2, most=20, precision=0.01, reliability=0.9, risk=0.5)
    plan = PassPlan.of(items_of(scores, 50, 1), asked)
    level = levels(plan, items_of(scores, 50, 1))
    noise = (0.4**2 / plan.passes).mean()
    true = level.var(ddof=1) - noise
    assert 0.9 <= (true + 0.4**2 / 20) / (true + noise) < 0.95
    assert (plan.passes < 20).all()
    strict = PassPlan.of(items_of(scores, 50, 1), PassSettings(start=2, most=20, precision=0.01, risk=0.5))
    assert (strict.passes == 20).all()


def test_the_noise_of_an_item_is_drawn_to_its_group_and_that_of_a_group_to_its_judge() -> None:
    random = np.random.default_rng(6)
    deviation = np.repeat([0.2, 0.8], 400)
    scores = 3 + deviation[:, None] * random.standard_normal((800, 2))
    groups = np.repeat([0, 1], 400)
    noise = item_noise(scores, groups, groups, 0.25)
    assert noise[:400].mean() == pytest.approx(0.04, rel=0.15)
    assert noise[400:].mean() == pytest.approx(0.64, rel=0.15)
    assert noise[:400].std() < 0.02  # equal true variances: hardly anything is left of chance
    few = item_noise(np.array([[3.0, 3.0, 3.0], [1.0, 4.0, 2.0]]), np.array([0, 0]), np.array([0, 0]), 0.25)
    assert 0 < few[0] < few[1]
    assert item_noise(np.full((3, 2), np.nan), groups[:3], groups[:3], 0.25).tolist() == [0.25] * 3


@pytest.mark.parametrize("start", [1, 2])
def test_a_settled_score_lies_on_the_wrong_side_no_more_often_than_the_risk_says(start: int) -> None:
    random = np.random.default_rng(7)
    truth = random.uniform(1.2, 3.2, 4000)
    items = items_of(simulated(random, truth, 2, 8, 0.5), 4000, 2)
    plan = PassPlan.of(items, PassSettings(start=start, most=8, precision=9.0, risk=0.05))
    settled = ~plan.unsettled
    wrong = ((levels(plan, items) <= LIMIT) != (truth <= LIMIT))[settled]
    assert settled.mean() > 0.6
    assert wrong.mean() < 0.05 / 2


def test_the_first_passes_average_without_bias_where_all_passes_do_not() -> None:
    """Few passes are bad ones, so that a case stops early where it happened to have none."""
    random, errors, biases, shifts = np.random.default_rng(8), [], [], []
    for _ in range(60):
        rare = np.where(random.random((300, 6)) < 0.15, 1.0, 4.0)  # mean 3.55: most passes say 4, some say 1
        items = items_of(rare, 300, 1)
        plan = PassPlan.of(items, PassSettings(start=2, most=6, precision=9.0))
        first, every = levels(plan, items, first=2), levels(plan, items)
        errors.append(first.mean() - 3.55)
        biases.append(every.mean() - 3.55)
        found = StoppingShift.of(list(first), list(every))
        assert found is not None
        assert found.low is not None
        assert found.high is not None
        shifts.append((found.low, found.shift, found.high))
    error = np.std(errors) / np.sqrt(60)
    assert abs(np.mean(errors)) < 3 * error
    assert np.mean(biases) > 10 * error  # the plain mean of all passes is off
    low, shift, high = np.mean(shifts, axis=0)
    assert low < np.mean(biases) < high
    assert shift == pytest.approx(np.mean(biases), abs=3 * error)


def test_exact_bounds_of_the_share_of_failures_hold_under_adaptive_passes() -> None:
    random, covered = np.random.default_rng(10), 0
    for _ in range(150):
        failing = random.random(60) < 0.12
        truth = np.where(failing, random.uniform(0.5, 1.6, 60), random.uniform(2.5, 5, 60))
        items = items_of(np.clip(simulated(random, truth, 2, 5, 0.5), 0, 5), 60, 2)
        plan = PassPlan.of(items, PassSettings(most=5, precision=0.4))
        failed = int((levels(plan, items) <= LIMIT).sum())
        covered += lower_bound(failed, 60, 0.975) <= 0.12 <= upper_bound(failed, 60, 0.975)
    assert covered / 150 >= 0.93
