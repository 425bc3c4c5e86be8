"""Variants of an A/B test in production, compared by day or question by question; the command that tells."""

import json
from datetime import date
from pathlib import Path

import numpy as np
import pytest
from msgspec.structs import replace

from areopage.compare.statistics.sequential import day_blocks
from areopage.compare.variants.comparison import Kind, VariantComparison, VariantTest, _Answers, _by_day, _by_question
from areopage.ledger.read.queries import Period
from areopage.ledger.tables.records import Evaluation
from areopage.scoring.arrays import Column
from servers.command import Command
from servers.quality_ledger import SCALE, TODAY, answered, filled

DAYS, EACH = 7, 6
PERIOD = Period(start=date(2026, 11, 15), end=date(2026, 11, 22))


def worse_by(points: float) -> list[Evaluation]:
    """A week of two variants; one day all answers are poor, on both sides."""
    random = np.random.default_rng(1)
    made: list[Evaluation] = []
    for day in range(DAYS):
        level = 5.0 if day == 3 else 8.0
        for number in range(EACH * 2):
            variant = "ab"[number % 2]
            score = round(min(10.0, max(0.0, level + random.normal(0, 0.7) - (points if variant == "b" else 0.0))), 2)
            made.append(
                answered(len(made), score, days_ago=day, variant=variant, prompt=f"Question {day}-{number // 2}", source="chat")
            )
    return made


def compared(folder: Path, answers: list[Evaluation], *, by_question: bool = False) -> dict[str, VariantTest]:
    ledger = filled(folder / "ledger.db", answers)
    try:
        found: tuple[VariantComparison, ...] = VariantComparison.of(
            ledger, PERIOD, SCALE, suite="answer_quality", baseline="a", by_question=by_question
        )
    finally:
        ledger.close()
    (one,) = found
    assert one.variant == "b"
    return {test.criterion or test.kind: test for test in one.tests}


@pytest.mark.parametrize("by_question", [False, True])
def test_a_worse_variant_is_found_by_score_and_an_equal_criterion_is_not(tmp_path: Path, by_question: bool) -> None:
    found = compared(tmp_path, worse_by(3.0), by_question=by_question)
    score, same = found["score"], found["quality.answer.format"]
    assert score.direction == "worse" and score.corrected < 0.05 and score.difference.high < 0
    assert score.answers == (DAYS * EACH, DAYS * EACH) and score.difference.blocks == DAYS * EACH
    assert score.difference.difference == pytest.approx(-3.0, abs=0.4)
    assert score.means[0] is not None and score.means[1] is not None and score.means[0] > score.means[1] + 1.5
    assert (same.direction, same.difference.p_value) == ("unclear", 1.0)
    assert found["weak"].direction in ("worse", "unclear") and (found["weak"].difference.difference or 0) > 0


@pytest.mark.parametrize("points", [0.6, 0.9, 1.2, 3.0])
def test_an_interval_leaves_out_zero_exactly_where_a_difference_is_found(tmp_path: Path, points: float) -> None:
    for test in compared(tmp_path, worse_by(points)).values():
        found = test.difference
        assert (test.direction != "unclear") == (found.low > 0 or found.high < 0), test


def test_a_bad_day_of_one_variants_traffic_is_no_difference(tmp_path: Path) -> None:
    answers = [one for one in worse_by(0.0) if one.variant == "b" or "Question 3-" not in one.prompt]
    found = compared(tmp_path, answers)
    assert found["score"].direction == "unclear"
    assert found["score"].difference.blocks == (DAYS - 1) * EACH, "a day with one variant alone compares nothing"


def test_answers_of_another_panel_are_compared_with_each_other_alone(tmp_path: Path) -> None:
    answers = [replace(one, variant="b") if one.variant == "a" else one for one in worse_by(0.0)]
    answers = [replace(one, variant="a") if number % 3 else one for number, one in enumerate(answers)]
    column = np.array([one.score_global or 0.0 for one in answers])
    values: dict[tuple[Kind, str], Column] = {("score", ""): column, ("criterion", "q.a.x"): column.copy()}
    values["criterion", "q.a.x"][::2] = np.nan
    days = np.array([one.timestamp.date().toordinal() for one in answers])
    columns = _Answers(days=days, panels=np.arange(len(days)) % 2, questions=np.arange(len(days)) % 5 - 1, values=values)
    first, second = (columns.of(np.array([at for at, one in enumerate(answers) if one.variant == name])) for name in "ab")
    for measure in values:
        sides = [side.measured(measure) for side in (first, second)]
        both = {(day, panel) for day in set(days.tolist()) for panel in (0, 1)}
        inside = [
            {place: side.values[measure][(side.days == place[0]) & (side.panels == place[1])] for place in both} for side in sides
        ]
        expected = [
            day_blocks(inside[0][place], inside[1][place], np.random.default_rng(place[0]))
            for place in sorted(both)
            if inside[0][place].size and inside[1][place].size
        ]
        found = _by_day(sides[0], sides[1], measure)
        assert expected and len(found) == len(expected)
        assert all(np.array_equal(one, other) for one, other in zip(found, expected, strict=True))
        pairs = sum(day.shape[1] for day in _by_question(sides[0], sides[1], measure))
        asked = [set(zip(side.panels.tolist(), side.questions.tolist(), strict=True)) for side in sides]
        assert pairs == len({place for place in asked[0] & asked[1] if place[1] >= 0}) > 0


def test_the_command_tells_and_its_exit_code_can_end_a_test(command: Command) -> None:
    filled(command.outputs / "ledger.db", worse_by(3.0)).close()
    until = TODAY.date().isoformat()
    told = command("monitor", "compare", "a", "--since", "2026-11-15", "--until", until, "--fail-on", "regression")
    assert told.code == 1 and "b against a" in told.out and "overall score" in told.out
    figures = json.loads(command("monitor", "compare", "b", "--since", "2026-11-15", "--until", until, "--json").out)
    (one,) = figures["variants"]
    assert (one["variant"], one["tests"][0]["direction"]) == ("a", "better")
    assert command("monitor", "compare", "a", "--since", until, "--until", until, "--fail-on", "regression").code == 0
    assert (
        "variants in the ledger: a, b"
        in command("monitor", "compare", "other", "--since", "2026-11-15", "--until", until).refused()
    )
