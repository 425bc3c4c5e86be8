"""The randomisation test against a published example, its level and its power."""

import numpy as np
import pytest

from areopage.exams.effects import sign_flip_p_value

MAIZE = [49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48]
"""Darwin's heights of maize, crossed minus self-fertilised, in eighths of an inch; Fisher counts 1,726 of 32,768 choices."""


def test_the_published_example(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = sign_flip_p_value(MAIZE)
    monkeypatch.setattr("areopage.exams.effects.EXACT_UP_TO", 15)
    assert sign_flip_p_value(MAIZE) == 1726 / 32768
    assert drawn == pytest.approx(1726 / 32768, abs=0.006)


def test_without_an_effect_the_level_is_kept_and_equal_shifts_are_found() -> None:
    random = np.random.default_rng(1)
    p_values = [sign_flip_p_value(list(random.integers(-2, 3, 12).astype(float))) or 1.0 for _ in range(400)]
    assert np.mean(np.array(p_values) < 0.05) <= 0.075
    assert sign_flip_p_value([1.0] * 10) == 2 / 2**10
    assert sign_flip_p_value([0.0, 0.0]) == 1.0
    assert sign_flip_p_value([]) is None
