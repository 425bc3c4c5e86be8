"""The fitting finds what was put into made-up answers, and is the same every time."""

import random
from collections.abc import Sequence

import numpy as np
import pytest
from msgspec.structs import replace

from areopage.cases.records import Document
from areopage.gate.grounding.fitting import (
    ANSWER_FEATURES,
    FOREIGN,
    SENTENCE_FEATURES,
    FittingRow,
    answers_of,
    fit,
    folds,
    logits_of,
    tabulate,
)
from areopage.gate.grounding.model import GroundingModel, Linear, Weight, ground

HELD = [
    "bail",
    "loyer",
    "preneur",
    "bailleur",
    "garantie",
    "caution",
    "jardin",
    "cuisine",
    "terrasse",
    "cave",
    "quittance",
    "charge",
]
STRANGE = ["girafe", "colibri", "volcan", "satellite", "trompette", "glacier", "dragon", "parapluie", "cactus", "pyramide"]


def rows(number: int = 60, seed: int = 1, made: bool = False) -> list[FittingRow]:
    """Every second answer brings words that its document does not have."""
    draw = random.Random(seed)
    document = Document(id="x", text=" ".join(HELD) + ".")
    built = []
    for index in range(number):
        wrong = index % 2 == 1
        first = "Le " + " ".join(draw.sample(HELD, 5)) + "."
        second = "Un " + " ".join(draw.sample(STRANGE if wrong else HELD, draw.randint(2, 5)) + draw.sample(HELD, 2)) + "."
        text = f"{first} {second}"
        spots = ((len(first) + 1, len(text)),) if wrong else ()
        built.append(
            FittingRow(
                prompt="",
                response=text,
                documents=(document,),
                language="fr",
                ungrounded=wrong,
                unsupported=spots,
                group=str(index // 4),
                made=made,
            )
        )
    return built


def caught(model: GroundingModel, answers: Sequence[FittingRow]) -> float:
    """The share of answers on the right side of one half."""
    found = [(ground(model, row.prompt, row.response, row.documents, row.language).p_unsupported or 0) >= 0.5 for row in answers]
    return sum(flag == row.ungrounded for flag, row in zip(found, answers, strict=True)) / len(answers)


def test_a_fitted_model_tells_unseen_answers_apart() -> None:
    assert caught(fit(rows()), rows(seed=2)) >= 0.95


def test_the_same_answers_give_the_same_model() -> None:
    assert fit(rows(), seed=3) == fit(rows(), seed=3)


def test_whole_answers_may_be_labelled_without_their_sentences() -> None:
    blind = [replace(row, unsupported=None) for row in rows()]
    assert caught(fit(blind), rows(seed=2)) >= 0.95


@pytest.mark.parametrize("kept", [0, 1])
def test_one_label_alone_is_refused(kept: int) -> None:
    with pytest.raises(ValueError, match="both grounded and ungrounded"):
        fit([row for row in rows() if row.ungrounded == bool(kept)])


def test_answers_that_claim_nothing_are_refused() -> None:
    with pytest.raises(ValueError, match="with claims"):
        fit([replace(row, response="!!!") for row in rows()])


def test_rows_of_a_group_share_a_fold() -> None:
    groups = np.array([0, 0, 1, 1, 2, 2, 3, 3, 4, 4])
    found = folds(groups, 3, 7)
    assert all(found[first] == found[first + 1] for first in range(0, 10, 2))
    assert set(found.tolist()) == {0, 1, 2}


def test_made_rows_move_the_weight_of_foreign_alone() -> None:
    real = fit(rows())
    both = fit([*rows(), *[replace(row, group=f"made {row.group}") for row in rows(seed=9, made=True)]], seed=0)
    assert real.sentence == both.sentence
    assert both.answer.weights[-1].feature == FOREIGN
    assert both.answer.weights[-1].weight >= 0


def test_a_model_refitted_on_real_rows_keeps_the_weight_of_foreign() -> None:
    part = Weight(feature=FOREIGN, weight=7.5, mean=0.0, scale=1.0)
    base = GroundingModel(
        name="b", provenance={}, sentence=Linear(bias=0, weights=(part,)), answer=Linear(bias=0, weights=(part,))
    )
    refitted = fit(rows(), base=base)
    assert (refitted.answer.weights[-1].feature, refitted.answer.weights[-1].weight) == (FOREIGN, 7.5)


def test_the_table_and_the_gate_compute_the_same() -> None:
    answers = rows(12)
    table, model = tabulate(answers), fit(rows())
    features = answers_of(table, model.sentence, np.arange(len(answers)))
    for index, row in enumerate(answers):
        told = ground(model, row.prompt, row.response, row.documents, row.language).features
        assert told == pytest.approx(features[index])
    line = dict(zip(SENTENCE_FEATURES, table.sentences[0].tolist(), strict=True))
    assert logits_of(model.sentence, table.sentences)[0] == pytest.approx(model.sentence.logit(line))
    assert set(ANSWER_FEATURES) | {FOREIGN} == set(features[0])
