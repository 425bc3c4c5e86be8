"""Whether a jury sees the failures that people see: counts, exact bounds, and an independent count of random tables."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from areopage.criteria.records import Scale
from areopage.scoring.agreement_with_people import Rating
from areopage.scoring.failures_by_people import HumanFailures
from areopage.scoring.shares import Share

SCORES = st.integers(0, 5).map(float)
LIMITS = {"a": 2.0, "b": 2.0}


def measured(jury: dict[str, dict[str, float]], ratings: list[tuple[str, str, str, float]], **changes: Scale) -> HumanFailures:
    made = [Rating(item=item, rater=rater, criterion=criterion, score=score) for item, rater, criterion, score in ratings]
    return HumanFailures.of(jury, made, LIMITS, changes.get("scale", Scale()), ["a"])


def test_a_failure_that_only_people_see_is_missed() -> None:
    jury = {"a": {"x": 0.0, "y": 5.0, "z": 5.0}}
    found = measured(jury, [("x", "Anne", "a", 1.0), ("y", "Anne", "a", 0.0), ("z", "Anne", "a", 4.0)]).by_criterion["a"]
    assert (found.items, found.people, found.jury, found.both, found.missed) == (3, 2, 1, 1, ("y",))
    assert (found.sensitivity.hits, found.sensitivity.of) == (1, 2)
    assert found.sensitivity.low == pytest.approx(0.0126, abs=1e-4)
    assert found.sensitivity.high == pytest.approx(0.9874, abs=1e-4)
    assert (found.specificity.share, found.specificity.low) == pytest.approx((1.0, 0.025))
    assert found.agreement.share == pytest.approx(2 / 3)


def test_an_item_fails_for_people_by_the_mean_of_its_raters_and_at_the_limit() -> None:
    ratings = [("x", "Anne", "a", 1.0), ("x", "Bruno", "a", 3.0), ("y", "Anne", "a", 2.0), ("y", "Bruno", "a", 3.0)]
    found = measured({"a": {"x": 2.0, "y": 2.1}}, ratings).by_criterion["a"]
    assert (found.people, found.jury, found.both) == (1, 1, 1)


def test_where_lower_is_better_high_scores_fail() -> None:
    scale = Scale(min=0, max=5, higher_is_better=False)
    found = measured({"a": {"x": 5.0}}, [("x", "Anne", "a", 0.0)], scale=scale).by_criterion["a"]
    assert (found.people, found.jury) == (0, 1)


def test_an_item_fails_first_if_it_fails_any_criterion_that_counts_first() -> None:
    found = HumanFailures.of(
        {"a": {"x": 5.0}, "b": {"x": 0.0, "y": 0.0}},
        [
            Rating(item=item, rater="Anne", criterion=criterion, score=1.0)
            for item, criterion in [("x", "a"), ("x", "b"), ("y", "c")]
        ],
        LIMITS,
        Scale(),
        ["a", "b"],
    )
    assert (found.first.items, found.first.people, found.first.jury, found.first.both) == (1, 1, 1, 1)


@given(st.lists(st.tuples(SCORES, SCORES), max_size=30))
def test_the_counts_are_those_of_an_independent_count(pairs: list[tuple[float, float]]) -> None:
    jury = {"a": {str(at): one for at, (one, _) in enumerate(pairs)}}
    found = measured(jury, [(str(at), "Anne", "a", other) for at, (_, other) in enumerate(pairs)]).first
    both = sum(one <= 2 and other <= 2 for one, other in pairs)
    people = sum(other <= 2 for _, other in pairs)
    passed = sum(one > 2 and other > 2 for one, other in pairs)
    assert (found.both, found.people, len(found.missed)) == (both, people, people - both)
    assert (found.specificity.hits, found.specificity.of) == (passed, len(pairs) - people)
    assert found.agreement.hits == both + passed
    assert (found.sensitivity.share is None) == (people == 0)


def test_exact_bounds_are_clopper_and_pearsons() -> None:
    assert Share.exact(0, 0).share is None
    none = Share.exact(0, 5)
    assert (none.low, none.high) == pytest.approx((0.0, 0.5218), abs=1e-4)
    some = Share.exact(3, 10)
    assert (some.low, some.high) == pytest.approx((0.0667, 0.6525), abs=1e-4)
