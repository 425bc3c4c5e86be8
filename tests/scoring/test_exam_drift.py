"""The drift of a judge since its exam: the e-value holds for any noise, and moves are found."""

from collections.abc import Sequence
from itertools import combinations, product
from math import comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from areopage.scoring.exams.drift import Asked, DriftSeries, moved, windows
from areopage.scoring.exams.records import Look, Said

SPAN = 5.0
NAMED = 20.0
"""The evidence that names the only criterion of a judge."""


def asked(scores: Sequence[Said]) -> Asked:
    """One pass over rows in order."""
    return {str(row): (score,) for row, score in enumerate(scores)}


def looks(exam: Asked, rounds: Sequence[Asked], groups: Sequence[int] = (0,)) -> list[Look]:
    found, series = list[Look](), DriftSeries.of(exam, [], groups, SPAN)
    for one in rounds:
        series = series.then(one)
        found.append(series.look(found[-1].evidence if found else 0.0))
    return found


calls = st.one_of(st.integers(0, 5).map(float), st.just("not_applicable"), st.none())


@settings(max_examples=30, deadline=None)
@given(st.lists(st.lists(calls, min_size=4, max_size=4), min_size=1, max_size=2))
def test_over_all_ways_to_choose_the_later_calls_the_evidence_of_a_look_is_its_weight(rows: list[list[Said]]) -> None:
    """Of four calls of each row two are of the exam: the mean over all choices is the share of the look."""
    groups, total, ways = (0, 0), 0.0, list(combinations(range(4), 2))
    for chosen in product(ways, repeat=len(rows)):
        exam = {str(row): tuple(rows[row][at] for at in range(4) if at in chosen[row]) for row in range(len(rows))}
        later = {str(row): tuple(rows[row][at] for at in range(4) if at not in chosen[row]) for row in range(len(rows))}
        total += DriftSeries.of(exam, [later], groups, SPAN).look().evidence
    nothing = DriftSeries.of(asked([1.0]), [asked([1.0])], (0,), SPAN).look().evidence
    assert total / comb(4, 2) ** len(rows) == pytest.approx(nothing)


def test_the_weights_of_all_looks_add_up_to_one_at_most() -> None:
    same = asked([0.0, 5.0])
    total = looks(same, [same] * 40)[-1].evidence  # equal answers say nothing: the sum of the weights
    rest = 1.0 / (2.11 * np.log(41.5))  # ∫ 1/(x ln² x) from 41.5 on, over their sum: more than the terms from 42 on
    assert total < total + rest <= 1.0


def test_a_judge_that_repeats_itself_is_never_named() -> None:
    same = asked([0.0, 1.0, 4.0, 5.0, None, "not_applicable"] * 2)
    found = looks(same, [same] * 60)
    assert all(one.evidence < 1.0 for one in found)
    told = DriftSeries.of(same, [same] * 60, (0,), SPAN).shift(60)
    assert (told.value, told.apart, told.rows, told.unscored, told.unscored_before) == (0.0, 0.0, 8, 1 / 3, 1 / 3)
    assert told.low is not None and told.high is not None and told.low < 0.0 < told.high


@pytest.mark.parametrize(
    ("later", "kind"),
    [
        ([1.0] * 6 + [4.0] * 6, "answers"),
        ([1.0] * 6 + [5.0] * 6, "level"),
        ([None] * 6 + [5.0] * 6, "verdicts"),
        (["not_applicable"] * 6 + [5.0] * 6, "verdicts"),
    ],
)
def test_a_deterministic_judge_that_changes_its_answers_is_named_within_two_rounds(later: list[Said], kind: str) -> None:
    exam = {str(row): ((0.0, 5.0)[row >= 6],) * 3 for row in range(12)}
    found = looks(exam, [asked(later)] * 2, (0, 0, 0))
    assert found[-1].evidence >= NAMED
    assert found[-1].kind == kind


def test_a_move_after_many_unchanged_rounds_is_found_and_measured() -> None:
    exam, risen = asked([1.0, 4.0] * 6), asked([2.0, 5.0] * 6)
    rounds = [exam] * 30 + [risen] * 2
    found = looks(exam, rounds)
    assert found[29].evidence < 1.0
    assert found[-1].evidence >= NAMED
    told = DriftSeries.of(exam, rounds, (0,), SPAN).shift(found[-1].window)
    assert told.low is not None and told.high is not None
    assert told.value == pytest.approx(1.0)
    assert told.apart == pytest.approx(1.0)
    assert 0.0 < told.low < 1.0 < told.high


def test_passes_with_other_options_are_compared_with_their_own_kind_alone() -> None:
    """The second pass of the exam is a point higher; later rounds ask the first pass."""
    exam = {str(row): (1.0, 2.0) for row in range(12)}
    rounds = [asked([1.0] * 12)] * 20
    assert looks(exam, rounds, (0, 1))[-1].evidence < 1.0
    assert looks(exam, rounds, (0, 0))[-1].evidence > NAMED


def test_rows_that_a_round_lacks_and_rows_that_are_new_do_not_count() -> None:
    exam = asked([0.0, 5.0, 1.0])
    part = {"0": (0.0,), "9": (5.0,)}
    told = DriftSeries.of(exam, [part], (0,), SPAN).shift(1)
    assert (told.value, told.rows) == (0.0, 1)
    nothing = DriftSeries.of(exam, [{}], (0,), SPAN).shift(1)
    assert (nothing.value, nothing.low, nothing.rows, nothing.unscored) == (None, None, 0, 0.0)


def test_evidence_neither_falls_nor_depends_on_the_unit_of_the_scale() -> None:
    random = np.random.default_rng(1)
    drawn = [[float(score) for score in random.integers(0, 6, 8)] for _ in range(12)]
    found = looks(asked(drawn[0]), [asked(one) for one in drawn[1:]])
    evidence = [one.evidence for one in found]
    assert evidence == sorted(evidence)
    tenfold = DriftSeries.of(asked([10 * one for one in drawn[0]]), [asked([10 * one for one in drawn[1]])], (0,), 50.0).look()
    assert tenfold.evidence == pytest.approx(evidence[0])


def test_windows_are_of_the_latest_rounds_and_of_all() -> None:
    assert [windows(count) for count in (1, 2, 3, 8, 100)] == [[1], [1, 2], [1, 2, 3], [1, 2, 4, 8], [1, 2, 4, 8, 16, 32, 100]]


def test_the_family_of_a_judges_criteria_shares_the_chance_of_a_false_alarm() -> None:
    assert moved({"a": 20.0}) == {"a"}
    assert moved({"a": 39.0, "b": 0.0}) == frozenset()
    assert moved({"a": 40.0, "b": 0.0}) == {"a"}
    assert moved({"a": 25.0, "b": 25.0, "c": 25.0}) == {"a", "b", "c"}  # together they prove what one alone does not
    assert moved({}) == frozenset()


def test_noise_alone_seldom_names_a_judge_over_many_looks() -> None:
    """20 judges, 25 looks each: at most one in twenty may be named."""
    random = np.random.default_rng(2)
    named = 0
    for _ in range(20):
        truth = random.choice([0.0, 1.0, 4.0, 5.0], 8)

        def once(truth: np.ndarray = truth) -> list[float]:
            return [float(score) for score in np.clip(np.round(truth + random.normal(0.0, 0.7, 8)), 0, 5)]

        passes = [once() for _ in range(3)]
        exam = {str(row): tuple(one[row] for one in passes) for row in range(8)}
        named += looks(exam, [asked(once()) for _ in range(25)], (0, 0, 0))[-1].evidence >= NAMED
    assert named <= 1
