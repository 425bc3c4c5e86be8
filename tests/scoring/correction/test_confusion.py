import numpy as np
import pytest

from areopage.scoring.correction.confusion import UNKNOWN, Codes, anchored_confusion, dawid_skene, effective_judges


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


def test_groups_have_shares_of_their_own() -> None:
    random = np.random.default_rng(3)
    groups = np.arange(600) % 2
    truth = np.where(random.random(600) < 0.9, groups, 1 - groups)
    votes = np.where(random.random((600, 3)) < 0.6, truth[:, None], 1 - truth[:, None])
    labels = labelled(truth, 60)
    without, within = anchored_confusion(labels, votes, 2), anchored_confusion(labels, votes, 2, groups=groups)
    assert (within.categories == truth).mean() > (without.categories == truth).mean() + 0.1


def test_judges_with_the_same_errors_are_worth_one() -> None:
    wrong = np.random.default_rng(4).random((500, 1)) < 0.3
    assert effective_judges(np.tile(wrong, 6), np.ones((500, 6), dtype=bool)) == pytest.approx(1.0, abs=0.05)
    apart = np.random.default_rng(5).random((2000, 6)) < 0.3
    assert effective_judges(apart, np.ones((2000, 6), dtype=bool)) > 5
    assert effective_judges(np.zeros((50, 1), dtype=bool), np.ones((50, 1), dtype=bool)) == 1.0


# Votes of three judges -> how many of 120 items have them, and the probabilities of the three categories by crowd-kit 1.4.2:
# DawidSkene(n_iter=400, tol=1e-12).fit_predict_proba(DataFrame(rows, columns=["task", "worker", "label"]))
PATTERNS = {
    "000": (8, (0.8659, 0.0044, 0.1298)),
    "001": (7, (0.8087, 0.0422, 0.149)),
    "002": (1, (0.0, 0.0108, 0.9892)),
    "010": (1, (0.0, 0.2257, 0.7743)),
    "011": (3, (0.0, 0.7112, 0.2888)),
    "012": (2, (0.0, 0.0867, 0.9133)),
    "020": (3, (0.1763, 0.0032, 0.8205)),
    "021": (3, (0.1447, 0.0276, 0.8277)),
    "022": (5, (0.0, 0.0013, 0.9987)),
    "100": (6, (0.848, 0.0337, 0.1183)),
    "101": (6, (0.6312, 0.2606, 0.1082)),
    "102": (2, (0.0, 0.0849, 0.9151)),
    "110": (2, (0.0, 0.7123, 0.2877)),
    "111": (12, (0.0, 0.9544, 0.0456)),
    "112": (2, (0.0, 0.4463, 0.5537)),
    "120": (1, (0.1826, 0.0266, 0.7908)),
    "121": (2, (0.1276, 0.1928, 0.6796)),
    "122": (3, (0.0, 0.0108, 0.9892)),
    "200": (5, (0.0001, 0.0, 0.9999)),
    "201": (1, (0.0001, 0.0, 0.9999)),
    "202": (8, (0.0, 0.0, 1.0)),
    "210": (5, (0.0, 0.0, 1.0)),
    "211": (2, (0.0, 0.0, 1.0)),
    "212": (4, (0.0, 0.0, 1.0)),
    "220": (3, (0.0, 0.0, 1.0)),
    "221": (9, (0.0, 0.0, 1.0)),
    "222": (14, (0.0, 0.0, 1.0)),
}


def test_without_labels_the_algorithm_is_dawids_and_skenes_as_crowd_kit_has_it() -> None:
    votes = np.array([[int(vote) for vote in pattern] for pattern, (items, _) in PATTERNS.items() for _ in range(items)])
    theirs = np.array([chances for items, chances in PATTERNS.values() for _ in range(items)])
    mine = dawid_skene(votes, 3, rounds=400, tolerance=1e-12)
    assert mine.posterior == pytest.approx(theirs, abs=1e-4)
