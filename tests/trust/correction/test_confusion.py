import numpy as np
import pytest

from areopage.trust.correction.confusion import UNKNOWN, Codes, anchored_confusion, effective_judges


def jury(seed: int, items: int = 400, judges: int = 5) -> tuple[Codes, Codes]:
    """Three categories; the last judge calls 1 what people call 2, and the other way round."""
    random = np.random.default_rng(seed)
    truth = random.choice(3, items, p=[0.5, 0.3, 0.2])
    votes = np.where(random.random((items, judges)) < 0.65, truth[:, None], random.integers(0, 3, (items, judges)))
    votes[:, -1] = np.array([0, 2, 1])[truth]
    return truth, votes


def labelled(truth: Codes, count: int, seed: int = 0) -> Codes:
    own = np.full(truth.size, UNKNOWN)
    some = np.random.default_rng(seed).permutation(truth.size)[:count]
    own[some] = truth[some]
    return own


def test_a_judge_that_mistakes_one_category_for_another_is_understood() -> None:
    truth, votes = jury(1)
    labels = labelled(truth, 60)
    found = anchored_confusion(labels, votes, 3)
    majority = np.array([np.bincount(row, minlength=3).argmax() for row in votes])
    unlabelled = labels == UNKNOWN
    assert (found.categories == truth)[unlabelled].mean() > (majority == truth)[unlabelled].mean() + 0.06
    assert found.matrices[-1, 1, 2] > 0.8
    assert found.matrices[-1, 2, 1] > 0.8


def test_probabilities_are_probabilities_and_missing_votes_are_left_out() -> None:
    truth, votes = jury(2)
    votes[::3, 0] = UNKNOWN
    votes[5] = UNKNOWN
    found = anchored_confusion(labelled(truth, 40), votes, 4)
    assert found.posterior.sum(axis=1) == pytest.approx(np.ones(400))
    assert found.matrices.sum(axis=2) == pytest.approx(np.ones((5, 4)))
    assert found.posterior[5] == pytest.approx(found.shares, abs=1e-6)
    assert bool((found.weights >= 0).all())


def test_judges_with_the_same_errors_are_worth_one() -> None:
    wrong = np.random.default_rng(4).random((500, 1)) < 0.3
    assert effective_judges(np.tile(wrong, 6), np.ones((500, 6), dtype=bool)) == pytest.approx(1.0, abs=0.05)
    apart = np.random.default_rng(5).random((2000, 6)) < 0.3
    assert effective_judges(apart, np.ones((2000, 6), dtype=bool)) > 5
    assert effective_judges(np.zeros((50, 1), dtype=bool), np.ones((50, 1), dtype=bool)) == 1.0
