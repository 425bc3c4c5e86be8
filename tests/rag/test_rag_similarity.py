"""The map from cosines to relevance."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from areopage.rag.retrieval.similarity import Background, coverages, measured_background, other_matters, relevance

BACKGROUND = Background(mean=0.77, sd=0.02, pairs=100)


@given(st.floats(-1, 1), st.floats(-1, 1), st.floats(0, 1), st.floats(0, 1))
def test_relevance_is_in_bounds_and_grows_in_both(one: float, other: float, held: float, more: float) -> None:
    low, high = sorted((one, other))
    less, most = sorted((held, more))
    scores = relevance(np.array([low, high]), np.array([less, most]), BACKGROUND)
    assert 0 <= scores[0] <= scores[1] <= 1


def test_background_is_nothing_and_the_same_text_is_everything() -> None:
    scores = relevance(np.array([0.77, 1.0]), np.array([0.0, 1.0]), BACKGROUND)
    assert scores[0] == 0
    assert scores[1] > 0.9


def test_coverage_counts_rare_words_more_and_finds_other_forms() -> None:
    passages = ["Le délai de rétractation est de dix jours.", "Le délai de paiement.", "Les délais de livraison."]
    shares = coverages("Quels sont les délais de rétractation ?", passages)
    assert shares[0] == 1
    assert shares[1] == shares[2] < 0.5
    assert coverages("de la", passages).tolist() == [0, 0, 0]
    assert coverages("délai", []).tolist() == []


def test_the_background_is_not_shifted_by_a_question_that_is_answered() -> None:
    draw = np.random.default_rng(1)
    passages = draw.normal(size=(50, 64)).astype(np.float32)
    passages /= np.linalg.norm(passages, axis=1, keepdims=True)
    questions = draw.normal(size=(30, 64)).astype(np.float32)
    questions /= np.linalg.norm(questions, axis=1, keepdims=True)
    before = measured_background(questions, passages)
    questions[0] = passages[0]
    after = measured_background(questions, passages)
    assert abs(before.mean - after.mean) < 0.01
    assert before.pairs == 1_500


def test_a_single_chunk_still_gives_a_background() -> None:
    one = np.full((1, 4), 0.5, dtype=np.float32)
    assert measured_background(one, one).sd > 0


def test_questions_about_other_matters_come_in_both_languages() -> None:
    questions = other_matters()
    assert set(questions) == {"fr", "en"}
    assert len(questions["fr"]) == len(questions["en"]) == 30
