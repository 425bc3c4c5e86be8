"""Krippendorff's α against the package of that name, and its interval."""

import warnings

import krippendorff
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from areopage.bench.results.jury_agreement import rating_table
from areopage.criteria.records import Scale
from areopage.scoring.chance_agreement import Alpha, gwet_ac2, krippendorff_alpha
from areopage.scoring.records import CriterionScore, JudgeScore
from scoring.made_columns import columns_of

CELL = st.one_of(st.none(), st.integers(0, 10).map(lambda half: half / 2))


@st.composite
def tables(draw: st.DrawFn) -> list[list[float | None]]:
    judges = draw(st.integers(2, 6))
    return draw(st.lists(st.lists(CELL, min_size=judges, max_size=judges), min_size=1, max_size=14))


def reference(table: list[list[float | None]]) -> float | None:
    """The package's value; None where only one level is compared, for which it has no word."""
    compared = {value for row in table if sum(one is not None for one in row) > 1 for value in row if value is not None}
    if len(compared) < 2:
        return None
    data = np.array([[np.nan if one is None else one for one in row] for row in table]).T
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return float(krippendorff.alpha(reliability_data=data, level_of_measurement="ordinal"))


@settings(max_examples=2 * settings().max_examples)
@given(tables())
def test_alpha_equals_that_of_the_package_on_tables_with_gaps(table: list[list[float | None]]) -> None:
    found = krippendorff_alpha(table).alpha
    expected = reference(table)
    if expected is None:
        assert found is None
    else:
        assert found == pytest.approx(expected, abs=1e-9)


def test_alpha_of_the_textbook() -> None:
    # Krippendorff (2011), "Computing Krippendorff's Alpha-Reliability": four observers, twelve units, ordinal α 0.815
    gap = None
    columns: list[list[float | None]] = [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, gap, gap, gap],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, gap, 3],
        [gap, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, gap],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, gap],
    ]
    rows: list[list[float | None]] = [[column[unit] for column in columns] for unit in range(12)]
    found = krippendorff_alpha(rows)
    assert found.alpha == pytest.approx(0.815, abs=0.001)
    assert found.units == 11


def test_perfect_agreement_is_one_and_chance_is_about_zero() -> None:
    assert krippendorff_alpha([[1, 1], [2, 2], [5, 5]]).alpha == 1
    draw = np.random.default_rng(7).integers(0, 6, (2000, 3)).astype(float).tolist()
    found = krippendorff_alpha(draw).alpha
    assert found is not None
    assert abs(found) < 0.05


@pytest.mark.parametrize("table", [[], [[]], [[None, None]], [[None, None]] * 9, [[3.0, None], [None, 2.0]], [[4.0, 4.0]] * 9])
def test_alpha_is_undefined_without_two_levels_to_compare(table: list[list[float | None]]) -> None:
    found = krippendorff_alpha(table)
    assert (found.alpha, found.low, found.high) == (None, None, None)


@given(tables())
def test_the_interval_holds_its_bounds_and_comes_out_the_same_twice(table: list[list[float | None]]) -> None:
    found = krippendorff_alpha(table)
    assert found == krippendorff_alpha(table)
    if found.low is not None and found.high is not None:
        assert found.units >= 5
        assert found.low <= found.high <= 1
    if found.units < 5:
        assert found.low is None


@pytest.mark.parametrize("units", [20, 50])
def test_intervals_of_coefficients_hold_the_true_value_in_91_of_100_samples_at_least(units: int) -> None:
    """300 samples each, so that 91 is three standard errors under 95; the percentile bootstrap of AC2 is at 83 with 20 units."""
    random, levels = np.random.default_rng(units), [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]

    def ratings(count: int) -> list[list[float]]:
        truth = random.integers(0, 6, (count, 1))
        given: list[list[float]] = (truth + random.normal(0.0, 0.7, (count, 3)).round()).clip(0, 5).tolist()
        return given

    large = ratings(20_000)
    true = krippendorff_alpha(large).alpha, gwet_ac2(large, levels).ac2
    held = np.zeros(2)
    for _ in range(300):
        sample = ratings(units)
        alpha, ac2 = krippendorff_alpha(sample), gwet_ac2(sample, levels)
        for place, (low, high) in enumerate(((alpha.low, alpha.high), (ac2.low, ac2.high))):
            value = true[place]
            assert value is not None and low is not None and high is not None
            held[place] += low <= value <= high
    assert held.min() / 300 >= 0.91


def test_the_interval_of_a_large_table_contains_alpha_and_is_narrow() -> None:
    random = np.random.default_rng(3)
    truth = random.integers(0, 6, 400)
    table = np.clip(truth[:, None] + random.integers(-1, 2, (400, 3)), 0, 5).astype(float).tolist()
    found = krippendorff_alpha(table)
    assert found.alpha is not None and found.low is not None and found.high is not None
    assert found.low < found.alpha < found.high
    assert found.high - found.low < 0.1


def run_alpha(scores: list[CriterionScore], suite: Scale) -> Alpha:
    return krippendorff_alpha(rating_table(columns_of(scores), suite))


def judged(number: int, scores: dict[str, float | None]) -> CriterionScore:
    judges = tuple(JudgeScore(judge=name, score=one, variance=0, scored=1, planned=1) for name, one in scores.items())
    return CriterionScore(case_id=str(number), criterion="c", score=None, agreement=None, outliers=(), judges=judges)


def test_on_a_scale_of_one_point_judges_who_differ_do_not_agree() -> None:
    # half points would make 0.3 and 0.6 one level
    scores = [judged(number, {"a": 0.3, "b": 0.6} if number % 2 else {"a": 0.6, "b": 0.3}) for number in range(10)]
    found = run_alpha(scores, Scale(0, 1)).alpha
    assert found is not None
    assert found < 0


def test_means_of_passes_that_differ_by_less_than_half_a_point_agree() -> None:
    scores = [judged(number, {"a": float(number % 5), "b": number % 5 + 0.2, "c": None}) for number in range(10)]
    assert run_alpha(scores, Scale(0, 5)).alpha == 1


def test_judges_who_were_not_asked_are_gaps() -> None:
    scores = [judged(1, {"a": 1.0, "b": 1.0}), judged(2, {"b": 3.0, "c": 3.0}), judged(3, {"c": 2.0})]
    found = run_alpha(scores, Scale(0, 5))
    assert (found.alpha, found.units) == (1, 2)
