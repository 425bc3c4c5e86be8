"""Tests of an unchanged noisy target fail as rarely as stated, and those of a worse one are found; the seed is fixed."""

import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))
import pytest_noise

RUNS = 200


@pytest.mark.parametrize("prompts", [50, 200])
def test_at_most_sixteen_of_two_hundred_unchanged_runs_fail_at_five_percent(prompts: int) -> None:
    random = np.random.default_rng(prompts)
    share = pytest_noise.share_runs(random, RUNS, prompts, true=0.9, demanded=0.9)
    baseline = pytest_noise.baseline_runs(random, RUNS // 4, prompts, before=0.95, now=0.95)
    assert share["fails"]["runs"] <= 16
    assert baseline["fails"]["runs"] <= 16 // 4


@pytest.mark.parametrize("prompts", [50, 100])
def test_a_lucky_baseline_does_not_make_unchanged_runs_fail_more_often_than_stated(prompts: int) -> None:
    random = np.random.default_rng(prompts)
    found = pytest_noise.baseline_runs(random, RUNS, prompts, before=0.9, now=0.9, baselines=100)["kept_baselines"]
    assert found["95_of_100"] <= 0.05 and found["over_stated"]["share"] <= 0.05, found


def test_a_worse_target_is_found() -> None:
    random = np.random.default_rng(3)
    assert pytest_noise.share_runs(random, RUNS, 200, true=0.8, demanded=0.9)["fails"]["share"] > 0.9
    assert pytest_noise.baseline_runs(random, 20, 200, before=0.95, now=0.8)["fails"]["share"] > 0.9


def test_whole_tests_of_an_unchanged_target_do_not_fail_and_ask_no_judge_twice() -> None:
    found = pytest_noise.pipeline_runs(np.random.default_rng(4), 3, 30, true=0.9)
    assert found["verdicts"]["fail"] == 0 and sum(found["verdicts"].values()) == 3
