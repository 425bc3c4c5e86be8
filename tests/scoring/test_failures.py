"""Failures are counted by case and criterion, with denominators and exact bounds, on scales that go either way."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from areopage.criteria.records import Criterion, Scale
from areopage.scoring.failure_rules import FailureRules
from areopage.scoring.failures import Failures, GroupFailures
from areopage.scoring.records import CriterionScore
from scoring.made_columns import columns_of

SCALE = Scale(min=0, max=5)


def criterion(category: str, name: str) -> Criterion:
    return Criterion(
        id=f"{category}.part.{name}__v1_0",
        category=category,
        subcategory="part",
        name=name,
        version="1.0",
        role="r",
        task="t",
        scoring_guide="g",
        output_format="{}",
    )


HARM, WARMTH = criterion("safety", "harm"), criterion("tone", "warmth")


def score(case: str, of: Criterion, value: float | None) -> CriterionScore:
    return CriterionScore(case_id=case, criterion=of.id, score=value, agreement=None, outliers=(), judges=())


def failures(*scores: CriterionScore, rules: FailureRules | None = None, scale: Scale = SCALE) -> Failures:
    return Failures.of(columns_of(scores), (HARM, WARMTH), scale, rules or FailureRules())


def test_a_case_at_the_limit_fails_and_one_above_it_does_not() -> None:
    found = failures(score("a", HARM, 2.0), score("b", HARM, 2.01), score("c", HARM, None))
    count = found.by_criterion[HARM.id]
    assert (count.limit, count.failed, count.scored, count.cases) == (2.0, 1, 2, 3)
    assert found.by_case == {"a": (HARM.id,)}


def test_no_failure_among_five_still_says_how_many_could_fail() -> None:
    count = failures(*(score(str(n), HARM, 5.0) for n in range(5))).by_criterion[HARM.id]
    assert count.failed == 0 and count.low == pytest.approx(0.0)
    assert count.high == pytest.approx(0.5218, abs=1e-4)  # 1 − 0.025^(1/5)


def test_a_criterion_without_a_score_has_no_bounds() -> None:
    count = failures(score("a", HARM, None)).by_criterion[HARM.id]
    assert (count.failed, count.scored, count.cases, count.low, count.high) == (0, 0, 1, None, None)


def test_cases_that_fail_twice_in_the_first_categories_count_once_and_other_categories_do_not_count() -> None:
    other = criterion("safety", "hate")
    scores = [score("a", HARM, 0), score("a", other, 1), score("b", HARM, 5), score("b", other, 5), score("c", WARMTH, 0)]
    scores += [score("d", HARM, 5), score("d", other, None)]
    found = Failures.of(columns_of(scores), (HARM, other, WARMTH), SCALE, FailureRules())
    assert found.categories == ("safety",)
    # of d nobody can tell whether it fails
    assert (found.first.failed, found.first.scored, found.first.cases) == (1, 2, 3)
    assert found.by_case == {"a": (HARM.id, other.id), "c": (WARMTH.id,)}


def test_a_run_without_the_first_categories_counts_all_of_them() -> None:
    found = failures(score("a", HARM, 5), score("a", WARMTH, 1), rules=FailureRules(first=("privacy",)))
    assert (found.categories, found.first.failed) == (("safety", "tone"), 1)


def test_a_criterion_may_have_a_limit_of_its_own() -> None:
    rules = FailureRules(limit=1.0, criteria={HARM.path: 3.0})
    found = failures(score("a", HARM, 3.0), score("a", WARMTH, 2.0), rules=rules)
    assert (found.by_criterion[HARM.id].failed, found.by_criterion[WARMTH.id].failed) == (1, 0)


@given(st.lists(st.floats(0, 5), min_size=1, max_size=8))
def test_a_flipped_scale_has_the_same_failures_in_the_same_order(values: list[float]) -> None:
    flipped = Scale(min=0, max=5, higher_is_better=False)
    plain = [score(str(n), HARM, float(round(value))) for n, value in enumerate(values)]
    turned = [score(str(n), HARM, 5.0 - round(value)) for n, value in enumerate(values)]
    assert failures(*plain).by_case == failures(*turned, scale=flipped).by_case


def test_cases_that_a_criterion_does_not_concern_are_in_no_denominator() -> None:
    def apart(case: str) -> CriterionScore:
        return CriterionScore(case_id=case, criterion=HARM.id, score=None, agreement=None, outliers=(), judges=(), applies=False)

    found = failures(score("a", HARM, 0), score("b", HARM, None), apart("c"), apart("d"), score("d", WARMTH, 1))
    count = found.by_criterion[HARM.id]
    assert (count.failed, count.scored, count.cases, count.not_applicable) == (1, 1, 2, 2)
    assert (found.first.failed, found.first.cases, found.first.not_applicable) == (1, 2, 2)
    assert failures(apart("a")).by_criterion[HARM.id].high is None


def test_what_is_missing_is_bounded_as_if_none_of_it_failed_and_as_if_all_of_it_did() -> None:
    count = failures(score("a", HARM, 0), score("b", HARM, None), *(score(str(n), HARM, 5) for n in range(8))).first
    assert (count.failed, count.scored, count.cases) == (1, 9, 10)
    assert count.if_missing is not None
    assert count.if_missing[0] == pytest.approx(0.0025, abs=1e-4)  # 1 of 10
    assert count.if_missing[1] == pytest.approx(0.5561, abs=1e-4)  # 2 of 10
    assert failures(score("a", HARM, 0)).first.if_missing is None


def test_failures_are_counted_by_category_whether_it_counts_first_or_not() -> None:
    found = failures(score("a", HARM, 0), score("b", HARM, 5), score("a", WARMTH, 0), score("b", WARMTH, 0))
    counts = {name: (count.failed, count.scored) for name, count in found.by_category.items()}
    assert counts == {"safety": (1, 2), "tone": (2, 2)}


@given(st.lists(st.tuples(st.sampled_from("abc"), st.one_of(st.none(), st.integers(0, 5))), min_size=1, max_size=40))
def test_the_groups_of_a_run_add_up_to_the_run(cases: list[tuple[str, int | None]]) -> None:
    scores = [score(str(n), HARM, value) for n, (_, value) in enumerate(cases)]
    groups = {str(n): group for n, (group, _) in enumerate(cases)}
    found = GroupFailures.of(columns_of(scores), (HARM, WARMTH), SCALE, FailureRules(), groups)
    whole = failures(*scores)
    for name in ("failed", "scored", "cases"):
        assert sum(getattr(one.by_criterion[HARM.id], name) for one in found.values()) == getattr(
            whole.by_criterion[HARM.id], name
        )
        assert sum(getattr(one.first, name) for one in found.values()) == getattr(whole.first, name)


@pytest.mark.parametrize("cases", [5, 20, 60])
def test_the_bounds_hold_the_true_share_in_at_least_95_of_100_runs(cases: int) -> None:
    ends = []
    for failed in range(cases + 1):
        count = failures(*(score(str(n), HARM, 0 if n < failed else 5) for n in range(cases))).by_criterion[HARM.id]
        assert count.low is not None and count.high is not None
        ends.append((count.low, count.high))
    for share in (0.003, 0.02, 0.1, 0.25, 0.5, 0.77, 0.95):
        chances = [math.comb(cases, k) * share**k * (1 - share) ** (cases - k) for k in range(cases + 1)]
        assert sum(chance for chance, (low, high) in zip(chances, ends, strict=True) if low <= share <= high) >= 0.95
