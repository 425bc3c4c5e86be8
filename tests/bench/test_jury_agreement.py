"""Gwet's AC2, exact agreement, and agreement on failures."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from areopage.bench.results.jury_agreement import Dispute, FailureAgreement, RunAgreement
from areopage.criteria.records import Scale
from areopage.scoring.chance_agreement import gwet_ac2, krippendorff_alpha
from areopage.scoring.records import CriterionScore, JudgeScore
from scoring.made_columns import columns_of

LEVELS = [float(level) for level in range(6)]
Table = list[list[float | None]]
TABLES = st.integers(2, 5).flatmap(
    lambda judges: st.lists(
        st.lists(st.one_of(st.none(), st.sampled_from(LEVELS)), min_size=judges, max_size=judges), min_size=1, max_size=12
    )
)


def ac2(table: Table, levels: list[float] = LEVELS) -> float | None:
    return gwet_ac2(table, levels).ac2


def by_hand(table: Table, levels: list[float]) -> float | None:
    """The formula read pair of judges by pair of judges."""
    count = len(levels)

    def weight(one: float, other: float) -> float:
        steps = abs(levels.index(one) - levels.index(other))
        return 1 - steps * (steps + 1) / (count * (count - 1))

    rated = [found for row in table if (found := [value for value in row if value is not None])]
    twice = [row for row in rated if len(row) > 1]
    if not twice:
        return None
    shares = [[weight(a, b) for place, a in enumerate(row) for other, b in enumerate(row) if place != other] for row in twice]
    observed = sum(sum(one) / len(one) for one in shares) / len(shares)
    total = sum(weight(a, b) for a in levels for b in levels)
    means = [sum(row.count(level) / len(row) for row in rated) / len(rated) for level in levels]
    chance = total / (count * (count - 1)) * sum(mean * (1 - mean) for mean in means)
    return (observed - chance) / (1 - chance)


@given(TABLES)
def test_ac2_equals_the_formula_and_is_at_most_one(table: Table) -> None:
    found, expected = ac2(table), by_hand(table, LEVELS)
    if expected is None:
        assert found is None
    else:
        assert found == pytest.approx(expected, abs=1e-9)
        assert found is not None and found <= 1 + 1e-12


@given(TABLES)
def test_ac2_does_not_depend_on_the_order_of_judges_or_units_nor_on_the_direction_of_the_scale(table: Table) -> None:
    found = ac2(table)
    turned: Table = [[None if value is None else 5.0 - value for value in reversed(row)] for row in reversed(table)]
    assert ac2(turned) == (None if found is None else pytest.approx(found))


def test_ac2_of_gwets_example_of_four_raters() -> None:
    # the data set cac.raw4raters of Gwet's package irrCAC, ordinal weights: 0.89894, chance 0.68516; two levels only: AC1
    gap = None
    columns: Table = [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, gap, gap, gap],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, gap, gap],
        [gap, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, 3],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, gap],
    ]
    rows = [list(row) for row in zip(*columns, strict=True)]
    found = gwet_ac2(rows, [1, 2, 3, 4, 5])
    assert found.ac2 == pytest.approx(0.89894, abs=5e-6)
    assert found.units == 11
    assert found.low is not None and found.high is not None and found.low < 0.89894 <= found.high <= 1


def test_ac2_is_one_where_all_agree_and_about_zero_by_chance() -> None:
    assert ac2([[1, 1], [2, 2], [5, 5]]) == ac2([[5, 5, 5]] * 9) == 1
    chance = ac2(np.random.default_rng(7).integers(0, 6, (2000, 3)).astype(float).tolist())
    assert chance is not None and abs(chance) < 0.05
    opposed = ac2([[0, 5], [5, 0]] * 9)
    assert opposed is not None and opposed < -0.5


def test_noise_at_the_top_of_the_scale_lowers_alpha_and_not_ac2() -> None:
    noise = np.random.default_rng(1).choice([3.0, 4.0, 5.0], (500, 3), p=[0.03, 0.07, 0.9]).tolist()
    alpha, found = krippendorff_alpha(noise).alpha, ac2(noise)
    assert alpha is not None and abs(alpha) < 0.1
    assert found is not None and found > 0.9


def score(case: int, *judges: float | None, criterion: str = "c") -> CriterionScore:
    known = [one for one in judges if one is not None]
    return CriterionScore(
        case_id=str(case),
        criterion=criterion,
        score=sum(known) / len(known) if known else None,
        agreement=None,
        outliers=(),
        judges=tuple(JudgeScore(judge=f"j{n}", score=one, variance=0, scored=1, planned=1) for n, one in enumerate(judges)),
    )


def failures_of(scores: list[CriterionScore], suite: Scale, limits: dict[str, float]) -> FailureAgreement:
    return RunAgreement.of(columns_of(scores), suite, limits, list(limits)).overall.failures


def test_failures_that_all_judges_see_are_told_from_those_that_some_see() -> None:
    scores = [score(1, 0, 0, 0), score(2, 0, 1, 5), score(3, 0, 5, 5), score(4, 5, 5, 5), score(5, 0, None, None), score(6, 2, 2)]
    found = failures_of(scores, Scale(0, 5), {"c": 2.0})
    assert (found.failed, found.unanimous, found.disputed) == (3, 2, 2)
    # pairs that both fail: 6 + 2 + 0 + 0 + 2; pairs of a failing score and another: 6 + 4 + 2 + 0 + 2
    assert found.positive == pytest.approx(10 / 14)
    assert failures_of([score(1, 5, 5)], Scale(0, 5), {"c": 2.0}).positive is None


def test_where_lower_is_better_high_scores_are_the_failures() -> None:
    found = failures_of([score(1, 5, 4), score(2, 0, 0)], Scale(0, 5, False), {"c": 3.0})
    assert (found.failed, found.unanimous, found.disputed, found.positive) == (1, 1, 0, 1)


def test_agreement_is_told_by_criterion_and_failures_over_the_criteria_that_count_first() -> None:
    scores = [score(n, 0, 0) for n in range(5)] + [score(n, 5, 4.5 if n else 0, criterion="d") for n in range(5)]
    found = RunAgreement.of(columns_of(scores), Scale(0, 5), {"c": 2.0, "d": 2.0}, ["c"])
    assert (found.overall.failures.failed, found.overall.failures.disputed) == (5, 0)
    assert found.overall.exact == 0.5
    c, d = found.by_criterion["c"], found.by_criterion["d"]
    assert (c.exact, c.ac2.ac2, c.alpha.alpha, c.failures.unanimous) == (1, 1, None, 5)
    assert (d.exact, d.failures.disputed) == (0, 1)


def test_scores_that_some_judges_fail_and_others_pass_are_disputed_first_categories_and_wide_ones_first() -> None:
    def score(case: str, criterion: str, *values: float | None, applies: bool = True) -> CriterionScore:
        judges = tuple(
            JudgeScore(judge=f"j{n}", score=value, variance=0.0, scored=1, planned=1) for n, value in enumerate(values)
        )
        return CriterionScore(
            case_id=case, criterion=criterion, score=1.0, agreement=None, outliers=(), judges=judges, applies=applies
        )

    scores = [
        score("tone", "warmth", 0, 5),
        score("near", "harm", 2, 3),
        score("wide", "harm", 5, 0, None),
        score("agreed", "harm", 0, 1),
        score("alone", "harm", 0, None),
        score("idle", "harm", 0, 5, applies=False),
    ]
    found = Dispute.of_scores(columns_of(scores), Scale(), {"harm": 2.0, "warmth": 2.0}, ["harm"])
    assert [(one.case_id, one.failing, one.spread) for one in found] == [
        ("wide", ("j1",), 1.0),
        ("near", ("j0",), 0.2),
        ("tone", ("j0",), 1.0),
    ]
    assert list(found[0].scores) == ["j1", "j0"], "the worst score is first"
