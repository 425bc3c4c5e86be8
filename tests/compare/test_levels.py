"""Two runs level by level: what the tests are of, which of them count, and that no difference is rarely called one."""

from collections import Counter
from collections.abc import Iterable
from functools import partial

import numpy as np
import pytest

from areopage.compare.statistics.levels import (
    CaseOutcomes,
    Difference,
    LevelDifference,
    compare_cases,
    compare_levels,
    compare_paired,
)
from areopage.compare.statistics.tested import decided_levels, decided_slices, discoveries, family_of, fewest_changes
from areopage.scoring.folding import RecordScores
from compare.made_runs import BASIS, CRITERIA, JUDGES, made
from scoring.made_criteria import SCALE

Runs = tuple[dict[str, RecordScores], dict[str, RecordScores]]


def two_runs(cases: int, worse: dict[str, float], count: int) -> Runs:
    """Two runs, of which the first gives `count` cases other scores on some criteria, by path; all other scores are 4."""
    base = {f"c{n}": {(one.path, judge): 4.0 for one in CRITERIA for judge in JUDGES} for n in range(cases)}
    changed = {
        id: {cell: worse.get(cell[0], score) if place < count else score for cell, score in cells.items()}
        for place, (id, cells) in enumerate(base.items())
    }
    return made(changed), made(base)


def outcomes(scores: Iterable[float]) -> CaseOutcomes:
    by_id = {str(number): float(score) for number, score in enumerate(scores)}
    return CaseOutcomes(scores=by_id, fails={id: score <= 2.0 for id, score in by_id.items()})


def by_path(found: tuple[LevelDifference, ...]) -> dict[str, Difference]:
    return {".".join(one.path): one.difference for one in found}


def test_each_node_of_the_tree_has_its_scores_and_its_failures() -> None:
    runs = two_runs(12, {"safety.trust.lies": 1.0}, 8)
    (levels,) = family_of([compare_levels(*runs, BASIS, compare_paired)], SCALE)
    assert Counter(one.level for one in levels) == {"final": 1, "category": 2, "subcategory": 3, "criterion": 4}
    assert levels[0].path == ()
    found = by_path(levels)
    assert found[""].score.difference == pytest.approx(-3.0 * 0.7 * 0.5 * 8 / 12)
    assert found[""].means == pytest.approx((4.0 - 0.7, 4.0)) if found[""].means else False
    assert (found[""].failures and len(found[""].failures.first)) == 8
    assert found["safety.trust"].score == found["safety.trust.safety.trust.lies__v1_0"].score
    assert found["safety.trust"].by_failures == found["safety.trust.safety.trust.lies__v1_0"].by_failures
    assert found[""].by_failures.direction == "worse" and found[""].by_failures.p_value == pytest.approx(2 / 2**8)
    assert {path for path, one in found.items() if one.by_failures.direction == "worse"} >= {"", "safety", "safety.trust"}
    assert found["care"].directions == ("unclear", "unclear")
    assert found["care"].by_score.corrected is None, "a test that can find nothing takes part in no family"


def test_the_same_change_the_other_way_is_better_by_the_same_p_values() -> None:
    runs = two_runs(12, {"safety.trust.lies": 1.0}, 8)
    (worse,), (better,) = (family_of([compare_levels(*pair, BASIS, compare_paired)], SCALE) for pair in (runs, runs[::-1]))
    for one, other in zip(worse, better, strict=True):
        for here, there in zip(one.difference.directions, other.difference.directions, strict=True):
            assert {"worse": "better", "better": "worse", "unclear": "unclear"}[here] == there
        assert one.difference.by_score.corrected == other.difference.by_score.corrected


@pytest.mark.parametrize("count", [fewest_changes() - 1, fewest_changes()])
def test_with_fewer_changed_cases_than_a_find_needs_there_is_none(count: int) -> None:
    runs = two_runs(40, {one.path: 0.0 for one in CRITERIA}, count)
    found = compare_levels(*runs, BASIS, compare_paired)
    able = [one for one in family_of([found], SCALE)[0] if one.difference.by_failures.corrected is not None]
    assert bool(able) == (count == fewest_changes())
    assert found[0].difference.by_failures.p_value == pytest.approx(2 / 2**count)


def test_more_runs_that_are_compared_share_one_level() -> None:
    runs = two_runs(12, {"safety.trust.lies": 1.0}, 8)
    levels = compare_levels(*runs, BASIS, compare_paired)
    alone, both = family_of([levels], SCALE)[0][0], family_of([levels, levels], SCALE)[0][0]
    assert alone.difference.by_failures.corrected is not None and both.difference.by_failures.corrected is not None
    assert both.difference.by_failures.corrected > alone.difference.by_failures.corrected


def test_cases_that_belong_together_prove_less() -> None:
    runs = two_runs(40, {one.path: 1.0 for one in CRITERIA}, 8)
    clusters = {id: str(place // 8) for place, id in enumerate(runs[0])}
    alone, together = (compare_cases(*runs, BASIS, partial(compare_paired, clusters=one)) for one in ({}, clusters))
    assert alone.by_failures.p_value is not None and together.by_failures.p_value is not None
    assert alone.by_failures.p_value < 0.01 < together.by_failures.p_value


def test_of_slices_without_a_difference_at_most_one_comparison_in_twenty_finds_one() -> None:
    """8 slices of 30 cases, 50 comparisons: the smallest corrected p-value is under 0.05 in at most 5 % but for chance."""
    random, wrong = np.random.default_rng(11), 0
    for _ in range(50):
        slices = []
        for _ in range(8):
            first, second = random.choice([0.0, 3.0, 4.0, 5.0], (2, 30), p=[0.1, 0.2, 0.3, 0.4])
            slices.append(compare_paired(outcomes(first), outcomes(second), SCALE, clusters={}))
        wrong += any(one != "unclear" for found in discoveries(slices, SCALE) for one in found.directions)
    assert wrong <= 7, wrong  # 99 % of draws at a chance of 5 %


@pytest.mark.parametrize("seed", range(12))
def test_each_interval_leaves_out_0_exactly_where_its_test_finds_a_difference(seed: int) -> None:
    """Runs with some differences that only an uncorrected interval would leave 0 out of."""
    random = np.random.default_rng(seed)
    draws = [
        {
            f"c{n}": {(one.path, judge): float(random.choice([1.0, 3.0, 4.0], p=p)) for one in CRITERIA for judge in JUDGES}
            for n in range(40)
        }
        for p in ([0.25, 0.25, 0.5], [0.08, 0.32, 0.6])
    ]
    runs = made(draws[0]), made(draws[1])
    (levels,) = decided_levels([partial(compare_levels, *runs, BASIS, compare_paired)], SCALE)
    cuts = [
        {id: record for place, (id, record) in enumerate(side.items()) if place % 5 == part} for part in range(5) for side in runs
    ]
    slices = decided_slices(
        [partial(compare_cases, cuts[2 * part], cuts[2 * part + 1], BASIS, compare_paired) for part in range(5)],
        SCALE,
    )
    for difference in (*(one.difference for one in levels), *slices):
        assert difference.failures is not None
        pairs = (difference.by_failures, difference.failures.difference), (difference.by_score, difference.score)
        for test, interval in pairs:
            assert (test.direction != "unclear") == interval.is_separate, (test, interval)
            if test.level is not None:
                assert interval.level == pytest.approx(1.0 - test.level)


def test_the_failures_of_the_whole_run_have_the_full_level_whatever_else_is_tested() -> None:
    runs = two_runs(40, {"care.tone.warm": 0.0}, 6)
    (levels,) = family_of([compare_levels(*runs, BASIS, compare_paired)], SCALE)
    assert levels[0].difference.by_failures.corrected == pytest.approx(2 / 2**6)
    assert levels[0].difference.by_failures.direction == "worse", "a category outside of safety counts as well"
