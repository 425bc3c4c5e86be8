"""What a certificate promises is kept, and what cannot be promised is not."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from areopage.gate.tuning.risk import (
    GRID,
    Control,
    ThresholdStep,
    certify,
    least_answers,
    needed,
    p_value,
    starting_counts,
    steps_of,
)

DRAWS = 400


def draw(random: np.random.Generator, rows: int, middle: float, spread: float) -> tuple[list[float], list[bool]]:
    """Scores that are calibrated: an answer is wrong as often as its score says."""
    scores = 1.0 / (1.0 + np.exp(-random.normal(middle, spread, rows)))
    return scores.tolist(), (random.random(rows) < scores).tolist()


def true_risk(middle: float, spread: float, control: Control) -> dict[float, float]:
    """By threshold, from very many answers."""
    scores, wrong = draw(np.random.default_rng(99), 200_000, middle, spread)
    return {
        step.threshold: step.wrong / (max(step.taken, 1) if control == "delivered" else len(scores))
        for step in steps_of(scores, wrong)
    }


@pytest.mark.parametrize("control", ["delivered", "all"])
@pytest.mark.parametrize(("middle", "spread", "rows", "risk"), [(-2.2, 1.6, 300, 0.1), (-4.0, 2.2, 500, 0.05)])
def test_the_true_risk_exceeds_the_stated_one_in_no_more_draws_than_stated(
    control: Control, middle: float, spread: float, rows: int, risk: float
) -> None:
    truth = true_risk(middle, spread, control)
    random = np.random.default_rng(7)
    missed = certified = 0
    for _ in range(DRAWS):
        scores, wrong = draw(random, rows, middle, spread)
        step = certify(steps_of(scores, wrong), rows, risk, 0.9, control)
        certified += step is not None
        missed += step is not None and truth[step.threshold] > risk
    noise = 3 * math.sqrt(0.1 * 0.9 / DRAWS)
    assert missed / DRAWS <= 0.1 + noise
    assert certified >= DRAWS / 2  # it promises something, most of the time


@pytest.mark.parametrize("control", ["delivered", "all"])
def test_groups_of_dependent_answers_keep_the_stated_risk(control: Control) -> None:
    """Groups of one to nine answers, whose answers are wrong together."""
    random = np.random.default_rng(5)

    def sample(groups: int) -> tuple[list[float], list[bool], list[str]]:
        scores, wrong, units = [], [], []
        for group in range(groups):
            share, difficulty = random.beta(0.4, 2.0), random.normal(-2.0, 1.0)
            for _ in range(int(random.integers(1, 10))):
                scores.append(float(1.0 / (1.0 + np.exp(-random.normal(difficulty + 3.0 * share, 0.7)))))
                wrong.append(bool(random.random() < share))
                units.append(f"group {group}")
        return scores, wrong, units

    scores, wrong, units = sample(8_000)
    base = 1 if control == "delivered" else 8_000
    truth = {
        step.threshold: step.wrong / (max(step.taken, 1e-9) if control == "delivered" else base)
        for step in steps_of(scores, wrong, units=units)
    }
    missed = certified = 0
    for _ in range(DRAWS):
        scores, wrong, units = sample(90)
        step = certify(steps_of(scores, wrong, units=units), 90, 0.25, 0.9, control)
        certified += step is not None
        missed += step is not None and truth[step.threshold] > 0.25
    assert missed / DRAWS <= 0.1 + 3 * math.sqrt(0.1 * 0.9 / DRAWS)
    assert certified >= DRAWS / 2


def test_the_average_risk_is_kept_on_average() -> None:
    truth = true_risk(-2.2, 1.6, "all")
    random = np.random.default_rng(7)
    risks = []
    for _ in range(DRAWS):
        scores, wrong = draw(random, 100, -2.2, 1.6)
        step = certify(steps_of(scores, wrong), 100, 0.05, 0.95, "average")
        risks.append(truth[step.threshold] if step else 0.0)
    assert np.mean(risks) <= 0.05 + 3 * np.std(risks) / math.sqrt(DRAWS)


def test_a_score_without_meaning_gets_no_certificate_more_often_than_stated() -> None:
    """Scores that say nothing, and answers that are ungrounded just over the risk: every threshold is wrong."""
    random = np.random.default_rng(3)
    certified = 0
    for _ in range(DRAWS):
        scores, wrong = random.random(400).tolist(), (random.random(400) < 0.101).tolist()
        certified += certify(steps_of(scores, wrong), 400, 0.1, 0.9) is not None
    assert certified / DRAWS <= 0.1 + 3 * math.sqrt(0.1 * 0.9 / DRAWS)


def test_149_answers_without_a_wrong_one_certify_two_percent_and_148_do_not() -> None:
    assert least_answers(0.02, 0.05) == 149
    for rows, certified in ((149, True), (148, False)):
        steps = steps_of([0.1] * rows, [False] * rows)
        assert (certify(steps, rows, 0.02, 0.95) is not None) == certified


def test_one_wrong_answer_among_the_surest_does_not_end_the_search() -> None:
    """The strictest threshold with enough answers is missed; a later start, with twice the answers, still certifies."""
    scores = [0.01] * 190 + [0.3] * 1200
    wrong = [True] * 2 + [False] * 1388
    step = certify(steps_of(scores, wrong), len(scores), 0.02, 0.95)
    assert step is not None
    assert step.taken == 1390


def test_starts_share_the_level_and_take_no_more_answers_than_there_are() -> None:
    assert starting_counts(149, 0.02, 0.05) == [149]
    assert starting_counts(400, 0.02, 0.05) == [183, 366]
    assert starting_counts(1000, 0.02, 0.05) == [203, 406, 812]


def test_answers_that_are_never_delivered_count_only_where_all_are_asked_about() -> None:
    scores, wrong = [0.1] * 60 + [math.inf] * 200, [False] * 60 + [True] * 200
    steps = steps_of(scores, wrong)
    assert certify(steps, 260, 0.02, 0.95, "delivered") is None
    step = certify(steps, 260, 0.02, 0.95, "all")
    assert step is not None
    assert (step.taken, step.wrong) == (60, 0)


def test_too_few_labels_are_told_how_many_would_do() -> None:
    scores, wrong = [0.1] * 50 + [0.9] * 50, [False] * 50 + [True] * 50
    found = needed(steps_of(scores, wrong), 100, 0.02, 0.95)
    assert found.least == 149
    assert found.likely is not None
    assert 298 <= found.likely < 2000  # half of the answers can be delivered


def test_a_forecast_that_comes_true_is_certified() -> None:
    scores, wrong = [0.1] * 100 + [0.9] * 50, [False] * 98 + [True] * 52
    steps = steps_of(scores, wrong)
    assert certify(steps, 150, 0.05, 0.95) is None
    found = needed(steps, 150, 0.05, 0.95)
    assert found.likely is not None
    times = -(-found.likely // 150)
    more = tuple(ThresholdStep(threshold=step.threshold, taken=step.taken * times, wrong=step.wrong * times) for step in steps)
    assert certify(more, 150 * times, 0.05, 0.95) is not None


def test_where_every_threshold_lets_through_too_much_no_number_of_labels_would_do() -> None:
    random = np.random.default_rng(0)
    scores, wrong = random.random(500).tolist(), (random.random(500) < 0.4).tolist()
    found = needed(steps_of(scores, wrong), 500, 0.02, 0.95)
    assert found.likely is None
    assert found.share is not None
    assert found.share > 0.02


@given(
    rows=st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=1, max_size=200),
    risk=st.floats(0.01, 0.6),
    control=st.sampled_from(["delivered", "all", "average"]),
)
def test_what_is_certified_is_a_threshold_of_the_grid_that_passes_its_own_test(
    rows: list[tuple[float, bool]], risk: float, control: Control
) -> None:
    steps = steps_of([score for score, _ in rows], [wrong for _, wrong in rows])
    step = certify(steps, len(rows), risk, 0.9, control)
    if step is None:
        return
    assert step.threshold in GRID
    assert step.taken == sum(score <= step.threshold for score, _ in rows)
    if control != "average":
        assert p_value(step, len(rows), risk, control) <= 0.1 + 1e-9
    if control != "delivered":  # this risk grows with the threshold, so that more may be delivered where more is allowed
        looser = certify(steps, len(rows), risk * 1.5, 0.9, control)
        assert looser is not None
        assert looser.threshold >= step.threshold
