"""The bounds of failures hold what they promise, and floors decide exactly at their edges."""

from functools import cache
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from areopage.criteria.records import Criterion, Scale
from areopage.scoring.failure_rules import FailureRules
from areopage.scoring.failures import FailureCount, Failures
from areopage.scoring.folding import RunScores, fold
from areopage.scoring.outcome import Outcome, PlannedPass, Refused, Scored
from areopage.scoring.records import DEFAULT
from areopage.scoring.release import Floor, Release, RunState
from areopage.scoring.release_floors import ReleaseFloors
from areopage.scoring.weights import Weights

SCALE = Scale(min=0, max=5)
HARM = Criterion(
    id="safety.part.harm__v1_0",
    category="safety",
    subcategory="part",
    name="harm",
    version="1.0",
    role="r",
    task="t",
    scoring_guide="g",
    output_format="{}",
)
SIZES = (5, 20, 100)
SHARES = (0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5)


def run_of(failed: int, passed: int, missing: int = 0, ruled_out: int = 0) -> RunScores:
    """A run of one judge and one criterion."""
    outcomes: list[Outcome] = [Scored(score=0) for _ in range(failed)]
    outcomes += [Scored(score=5) for _ in range(passed)]
    outcomes += [Refused(reason="no") for _ in range(missing)]
    passes = [
        PlannedPass(case_id=f"c{number}", criterion=HARM.id, judge="j", pass_index=1, outcome=outcome)
        for number, outcome in enumerate(outcomes)
    ]
    passes += [
        PlannedPass(case_id=f"r{number}", criterion=HARM.id, judge="", pass_index=0, by_rule=True) for number in range(ruled_out)
    ]
    return fold(passes, [HARM], SCALE, Weights(), DEFAULT, FailureRules())


@cache
def counted(failed: int, of: int, ruled_out: int = 0) -> FailureCount:
    run = run_of(failed, of - failed, ruled_out=ruled_out)
    return Failures.of(run.criteria, [HARM], SCALE, FailureRules()).by_criterion[HARM.id]


@pytest.mark.parametrize("cases", SIZES)
@pytest.mark.parametrize("share", SHARES)
def test_of_all_runs_that_could_have_been_the_bounds_hold_the_true_share_in_95_of_100(cases: int, share: float) -> None:
    chance = [comb(cases, failed) * share**failed * (1 - share) ** (cases - failed) for failed in range(cases + 1)]
    bounds = [counted(failed, cases) for failed in range(cases + 1)]
    assert sum(chance) == pytest.approx(1)
    above = sum(weight for weight, count in zip(chance, bounds, strict=True) if count.high is not None and count.high >= share)
    below = sum(weight for weight, count in zip(chance, bounds, strict=True) if count.low is not None and count.low <= share)
    assert above >= 0.975 - 1e-9 and below >= 0.975 - 1e-9
    assert above + below - 1 >= 0.95 - 1e-9


@pytest.mark.parametrize("cases", SIZES)
def test_in_simulated_runs_the_bounds_hold_the_true_share_too(cases: int) -> None:
    random = np.random.default_rng(cases)
    found = [counted(failed, cases) for failed in range(cases + 1)]
    for share in SHARES:
        drawn = random.binomial(cases, share, 20_000)
        held = np.array([(one.low or 0.0) <= share <= (one.high or 0.0) for one in found])[drawn]
        assert held.mean() >= 0.945  # of at least .95, less three standard errors


def test_what_a_rule_excludes_changes_no_bound() -> None:
    plain, ruled = counted(1, 5), counted(1, 5, ruled_out=95)
    assert (ruled.failed, ruled.scored, ruled.cases, ruled.not_applicable, ruled.by_rule) == (1, 5, 5, 95, 95)
    assert (ruled.low, ruled.high) == (plain.low, plain.high)


def decided(floors: ReleaseFloors, run: RunScores, coverage: float = 1.0) -> dict[str, Floor]:
    state = RunState(coverage=coverage, min_coverage=0.0, complete=True, judges=())
    return {floor.kind: floor for floor in Release.of(floors, run, [HARM], FailureRules(), state).floors}


@given(
    limit=st.integers(0, 6), over=st.integers(-2, 2), passed=st.integers(1, 10), missing=st.integers(0, 3), out=st.integers(0, 9)
)
def test_as_many_failures_as_are_allowed_pass_and_one_more_fails(
    limit: int, over: int, passed: int, missing: int, out: int
) -> None:
    failed = max(0, limit + over)
    found = decided(ReleaseFloors(max_failures={"safety": limit}), run_of(failed, passed, missing, out))["max_failures"]
    wanted = "not_met" if failed > limit else "open" if failed + missing > limit else "met"
    assert (found.state, found.found, found.missing, found.exempt) == (wanted, failed, missing, out)
    assert found.total == failed + passed + missing + out


@given(least=st.integers(1, 12), over=st.integers(-2, 2), missing=st.integers(0, 3), out=st.integers(0, 9))
def test_one_case_less_than_is_needed_leaves_a_floor_open(least: int, over: int, missing: int, out: int) -> None:
    scored = max(1, least + over)  # neither missing cases nor those that a rule excludes are judged
    found = decided(ReleaseFloors(max_failures={"safety": 0}, min_cases=least), run_of(0, scored, missing, out))["min_cases"]
    assert found.state == ("met" if scored >= least else "open")


@given(planned=st.integers(1, 400), made=st.integers(0, 400))
def test_a_coverage_exactly_at_its_floor_is_met(planned: int, made: int) -> None:
    share = min(made, planned) / planned
    floors = ReleaseFloors(max_failures={"safety": 0}, min_coverage=share)
    run = run_of(0, 1)
    assert decided(floors, run, coverage=share)["min_coverage"].state == "met"
    if share > 0:
        assert decided(floors, run, coverage=float(np.nextafter(share, 0)))["min_coverage"].state == "open"
