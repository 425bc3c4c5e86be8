"""A run against a pool of runs: exact chances, McNemar's as the special case, and few false alarms."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from areopage.compare.statistics.pooled import POOL_LEVEL, States, pooled_failures
from areopage.scoring.paired import mcnemar

STATES = st.dictionaries(st.sampled_from([f"c{number}" for number in range(5)]), st.sampled_from([True, False, None]))


def drawn(random: np.random.Generator, rates: np.ndarray) -> States:
    return {f"c{number}": bool(fails) for number, fails in enumerate(random.random(len(rates)) < rates)}


@given(run=STATES, pool=st.lists(STATES, min_size=1, max_size=4))
def test_the_chances_are_those_of_exchanging_runs_case_by_case(run: States, pool: list[States]) -> None:
    found = pooled_failures(run, pool)
    choices = []
    for id, fails in run.items():
        values = [own for states in pool if (own := states.get(id)) is not None]
        if fails is not None and values:
            choices.append([fails, *values])
    chances: dict[int, float] = {}
    for picked in product(*choices):
        chances[sum(picked)] = chances.get(sum(picked), 0.0) + 1 / np.prod([len(one) for one in choices])
    failed = sum(bool(one[0]) for one in choices)
    as_many = chances[failed] / 2
    assert (found.cases, found.failed) == (len(choices), failed)
    assert found.p_worse == pytest.approx(sum(chance for count, chance in chances.items() if count > failed) + as_many)
    assert found.p_better == pytest.approx(sum(chance for count, chance in chances.items() if count < failed) + as_many)
    assert found.low <= found.high
    assert (found.direction == "worse") == (found.p_worse < found.level)
    assert (found.direction == "better") == (found.p_better < found.level)
    assert set(found.unknown) == {id for id in run if all(states.get(id) is None for states in pool) or run[id] is None}


@pytest.mark.parametrize(("newly", "fixed"), [(9, 1), (4, 4), (12, 0)])
def test_with_one_earlier_run_it_is_mcnemars_test(newly: int, fixed: int) -> None:
    both = {f"b{number}": number % 2 == 0 for number in range(30)}
    run = both | {f"n{number}": True for number in range(newly)} | {f"f{number}": False for number in range(fixed)}
    earlier = both | {f"n{number}": False for number in range(newly)} | {f"f{number}": True for number in range(fixed)}
    found = pooled_failures(run, [earlier])
    exact = mcnemar(newly, fixed)
    as_many = found.p_worse + found.p_better
    assert as_many == pytest.approx(1.0)
    if newly != fixed:
        assert found.p_worse < exact / 2.0 < 2.0 * found.p_worse + 1e-12


def test_cases_that_belong_together_count_as_one() -> None:
    ids = [f"c{number}" for number in range(10)]
    run, pool = dict.fromkeys(ids, True), [dict.fromkeys(ids, False)] * 14
    alone, together = (pooled_failures(run, pool, clusters=one) for one in ({}, dict.fromkeys(ids, "one question")))
    assert alone.p_worse < 1e-9 and together.p_worse == pytest.approx(0.5 / 15)
    assert together.direction == "unclear"


def test_without_an_earlier_run_nothing_is_called_worse() -> None:
    found = pooled_failures({"a": True, "b": None}, [])
    assert (found.direction, found.cases, found.unknown) == ("unclear", 0, ("a", "b"))


def test_of_unchanged_nights_few_are_called_worse_and_of_regressed_nights_most() -> None:
    """76 cases, 4 % of answers fail, hard cases more often; then 14 % do; a pool of 14 nights."""
    random = np.random.default_rng(14)
    worse = {0.04: 0, 0.14: 0}
    for _ in range(400):
        rates = random.beta(0.4, 9.6, 76)
        pool = [drawn(random, rates) for _ in range(14)]
        for mean in worse:
            night = drawn(random, rates if mean == 0.04 else 1.0 - (1.0 - rates) * 0.86 / 0.96)
            worse[mean] += pooled_failures(night, pool).direction == "worse"
    assert worse[0.04] <= 400 * POOL_LEVEL + 8, worse
    assert worse[0.14] >= 400 * 0.8, worse
