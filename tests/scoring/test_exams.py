"""Figures and marks of an exam, and the predicted chance to pass it."""

import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from areopage.criteria.records import Scale
from areopage.scoring.exams.figures import examine
from areopage.scoring.exams.intervals import error_interval, rows_for_mean, separation, separation_interval
from areopage.scoring.exams.records import CriterionExam, ExamItem, Marks, Said

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))
from exam_power import Oracle, predicted

SCALE = Scale(min=0.0, max=5.0)
PERFECT = ((0.0, 1.0, 0.0), (4.0, 5.0, 5.0))


def item(number: int, low: float, high: float, *passes: Said, **variants: Said) -> ExamItem:
    return ExamItem(row=f"r{number}", language="en", low=low, high=high, passes=passes, variants=variants)


def flawless(side: int) -> list[ExamItem]:
    """A judge that always gives the best score inside the band."""
    return [
        item(number, low, high, score, score, layout=score)
        for number, (low, high, score) in enumerate(one for one in PERFECT for _ in range(side))
    ]


def simulated(oracle: Oracle, side: int, seed: int) -> CriterionExam:
    """An exam of an oracle on as many low as high rows, with three passes and two variants."""
    random = np.random.default_rng(seed)

    def say(low: float, high: float) -> Said:
        chances = oracle.says(low / 5, high / 5)
        places = np.array(list(chances)) * 5
        lapsed = random.random() < oracle.lapses
        return None if lapsed else float(random.choice(places, p=np.array(list(chances.values())) / sum(chances.values())))

    items = [
        item(number, low, high, *(say(low, high) for _ in range(3)), layout=say(low, high), courtesy=say(low, high))
        for number, (low, high, _) in enumerate(one for one in PERFECT for _ in range(side))
    ]
    return examine("c", items, SCALE, Marks())


def states(exam: CriterionExam) -> dict[str, str]:
    return {mark.name: mark.state for mark in exam.marks}


def test_a_flawless_judge_passes_with_ten_rows_a_side_and_is_told_how_many_it_lacks_with_fewer() -> None:
    assert examine("c", flawless(10), SCALE, Marks()).state == "qualified"
    few = examine("c", flawless(4), SCALE, Marks())
    assert few.state == "not_qualified"
    assert states(few) == dict.fromkeys(states(few), "open")
    apart = few.marks[0]
    assert (apart.needed, apart.needed_low, apart.needed_high) == (12, 6, 6)
    more = max(mark.needed or 0 for mark in few.marks)
    assert examine("c", flawless(4 + (more + 1) // 2), SCALE, Marks()).state == "qualified"


@pytest.mark.parametrize(
    ("oracle", "passes"),
    [
        (Oracle(noise=0.05), True),
        (Oracle(noise=0.1), True),
        (Oracle(noise=0.4), False),
        (Oracle(noise=0.05, bias=-0.3), False),
        (Oracle(noise=0.05, lapses=0.15), False),
    ],
    ids=["small-noise", "noise", "much-noise", "bias", "lapses"],
)
def test_an_oracle_passes_or_fails_as_the_power_analysis_predicts(oracle: Oracle, passes: bool) -> None:
    bands = [(0.0, 0.2)] * 12 + [(0.8, 1.0)] * 12
    expected = predicted(oracle, bands, passes=3, changes=2, marks=Marks())
    assert (expected.least > 0.98) if passes else (expected.most < 0.02)
    assert {simulated(oracle, 12, seed).state for seed in range(6)} == {"qualified" if passes else "not_qualified"}


def test_a_judge_that_evades_bad_answers_as_not_applicable_does_not_pass() -> None:
    evading = [item(number, 0, 1, "not_applicable", "not_applicable") for number in range(12)]
    found = examine("c", [*evading, *(item(20 + number, 4, 5, 5.0, 5.0) for number in range(12))], SCALE, Marks())
    assert found.error.value == pytest.approx(0.4)
    assert (found.separation.value, states(found)["error"]) == (0.5, "not_met")


def test_not_applicable_is_right_where_the_gold_set_allows_it() -> None:
    allowed = ExamItem(row="a", language="en", low=4, high=5, may_not_apply=True, passes=("not_applicable",))
    outside = ExamItem(row="b", language="en", low=None, high=None, may_not_apply=True, passes=("not_applicable",))
    found = examine("c", [*flawless(10), allowed, outside], SCALE, Marks())
    assert (found.rows, found.error.value, found.separation.of, found.applicability.value) == (21, 0.0, 20, 1.0)


def test_bias_keeps_its_sign_and_the_error_does_not() -> None:
    strict = [item(number, 4, 5, 3.0, 3.0) for number in range(10)] + [item(10 + number, 0, 1, 0.0, 0.0) for number in range(10)]
    found = examine("c", strict, SCALE, Marks())
    assert found.error.value == pytest.approx(0.1)
    assert (found.bias.value, found.inside.value) == (-0.1, 0.5)
    assert found.kappa.value == pytest.approx(2 / 3)


def test_a_model_asked_once_is_not_qualified_and_code_asked_once_is() -> None:
    once = [
        ExamItem(row=one.row, language="en", low=one.low, high=one.high, passes=one.passes[:1], variants=one.variants)
        for one in flawless(10)
    ]
    assert examine("c", once, SCALE, Marks(), repeats=False).state == "qualified"
    model = examine("c", once, SCALE, Marks())
    assert [(mark.name, mark.state, mark.figure.value) for mark in model.missed] == [("consistency", "open", None)]


def test_calls_without_a_verdict_count_against_the_rows_and_not_against_the_scores() -> None:
    silent = [item(number, 0, 1, 0.0, None) for number in range(10)]
    found = examine("c", [*silent, *flawless(10)[10:]], SCALE, Marks())
    assert (found.parsed.value, found.error.value, states(found)["parsed"]) == (0.5, 0.0, "not_met")


@given(st.lists(st.integers(0, 5), min_size=1, max_size=12), st.lists(st.integers(0, 5), min_size=1, max_size=12))
def test_a_separation_lies_in_its_interval_and_turns_with_its_sides(low: list[int], high: list[int]) -> None:
    left, right = np.array(low, dtype=np.float64), np.array(high, dtype=np.float64)
    value = separation(left, right)
    assert value is not None
    assert value == pytest.approx(1 - (separation(right, left) or 0.0))
    lower, upper = separation_interval(value, len(low), len(high))
    assert 0.0 <= lower <= value <= upper <= 1.0
    assert upper - lower > 0.05


def test_the_interval_of_a_separation_holds_its_level_for_ten_rows_a_side() -> None:
    random, covered = np.random.default_rng(1), 0
    for _ in range(400):
        low, high = random.normal(0, 1, 10), random.normal(1.812, 1, 10)  # a true separation of 0.9
        ends = separation_interval(separation(low, high) or 0.0, 10, 10)
        covered += ends[0] <= 0.9 <= ends[1]
    assert 0.92 <= covered / 400 <= 0.99


def test_the_interval_of_a_mean_is_that_of_clopper_and_pearson_where_values_are_all_zero() -> None:
    for rows in (5, 20, 60):
        low, high = error_interval({0.0: rows}, 1.0)
        assert low == 0.0
        assert high == pytest.approx(1 - 0.025 ** (1 / rows), abs=0.02)


def test_rows_for_a_mean_are_enough_and_none_fewer() -> None:
    wanted = rows_for_mean({0.0: 5.0}, 0.8, 0.15, 2_000)
    assert wanted is not None
    assert error_interval({0.0: float(wanted)}, 0.8)[1] <= 0.15 < error_interval({0.0: wanted - 1.0}, 0.8)[1]
    assert rows_for_mean({0.2: 5.0}, 0.8, 0.15, 2_000) is None
