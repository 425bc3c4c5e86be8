"""Contacts, codes, numbers, weekdays and names that no document has are held; the documents' own are delivered."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from areopage.app.gate_rules import load_gate
from areopage.cases.records import Document
from areopage.text.sentence_ends import sentences
from servers.identified import ENGLISH, FRENCH, RIGHT_ENGLISH, RIGHT_FRENCH, WRONG_ENGLISH, WRONG_FRENCH

GATE = load_gate()
DATA = Path(__file__).parents[3] / "shared" / "data"
LEAST_HELD, MOST_FALSE_ALARMS = 0.9, 0.03


def delivered(response: str, document: str, prompt: str = "?") -> bool:
    return GATE.decide(prompt, response, [Document(id="doc1", text=document, score=0.9)]).verdict == "deliver"


def test_nearly_all_invented_identifiers_are_held() -> None:
    wrong = [(one, FRENCH) for ones in WRONG_FRENCH.values() for one in ones]
    wrong += [(one, ENGLISH) for ones in WRONG_ENGLISH.values() for one in ones]
    leaving = [one for one, document in wrong if delivered(one, document)]
    assert len(leaving) <= (1 - LEAST_HELD) * len(wrong), leaving


@pytest.mark.parametrize(
    ("response", "document"), [(one, FRENCH) for one in RIGHT_FRENCH] + [(one, ENGLISH) for one in RIGHT_ENGLISH]
)
def test_what_the_document_names_is_delivered_in_another_writing(response: str, document: str) -> None:
    assert delivered(response, document)


@pytest.mark.parametrize(
    ("response", "document"),
    [
        ("Le bureau ouvre du lundi au jeudi.", "Le bureau ouvre du lundi au vendredi."),
        ("Le bureau ouvre le samedi.", "Le bureau ouvre tous les jours."),
        ("The office opens on Sunday.", "The office opens at weekends."),
        ("The office opens on Tuesday.", "The office opens Mon. and Tue. mornings."),
    ],
)
def test_days_between_others_are_those_of_the_document(response: str, document: str) -> None:
    assert delivered(response, document)


@pytest.mark.parametrize(
    ("response", "document"),
    [
        ("Le colis pèse 1,5 kg.", "Le colis pèse 1 500 g."),
        ("The path is 2 km long.", "The path is 2,000 m long."),
        ("La tension est de 230 V.", "Tension (V) : 230"),
    ],
)
def test_a_measure_is_found_in_another_unit(response: str, document: str) -> None:
    assert delivered(response, document)


@pytest.mark.parametrize(
    ("response", "document"),
    [
        ("Le colis pèse 230 kg.", "Le colis fonctionne en 230 V et pèse 12 kg."),
        ("La vitesse est de 40 km/h.", "La vitesse se mesure à 40 °C."),
    ],
)
def test_a_number_with_another_unit_is_no_measure_of_the_answer(response: str, document: str) -> None:
    assert not delivered(response, document)


@pytest.mark.parametrize("amount", ["³⁵⁰", "三百五十", "3S0", "35O", "25O", "0x15e", "1e400", "9" * 5000, "-250"])
def test_an_amount_in_an_odd_notation_is_not_delivered_unread(amount: str) -> None:
    document = "La prime est de 250 euros par an."
    assert not delivered(f"La prime est de {amount} euros par an.", document)


@pytest.mark.parametrize("amount", ["三百五十", "3S0", "0x15e"])
def test_an_amount_that_is_no_number_is_explained_as_a_figure(amount: str) -> None:
    document = Document(id="doc1", text="La prime est de 250 euros par an.", score=0.9)
    decision = GATE.decide("?", f"La prime est de {amount} euros par an.", [document])
    assert [reason.code for reason in decision.reasons if reason.place and reason.place.text == amount] == ["unsupported_figure"]


def test_raised_digits_that_stand_alone_are_a_number() -> None:
    assert delivered("La prime est de ²⁵⁰ euros par an.", "La prime est de 250 euros par an.")
    assert delivered("La prime est de 250 euros par an ¹².", "La prime est de 250 euros par an.")
    assert delivered("Le tarif est de 2x250 €, ou 12 € le m².", "Le tarif est de 2x250 €, ou 12 € le m².")


def test_a_name_is_told_as_one() -> None:
    decision = GATE.decide("?", "La directrice est Mme Sophie Bernard.", [Document(id="doc1", text=FRENCH, score=0.9)])
    assert {reason.code for reason in decision.reasons if reason.decisive} == {"unsupported_name"}


def test_numbers_of_lists_and_steps_are_no_claims() -> None:
    response = "1. Le préavis est d'un mois.\n2. Le préavis court dès la lettre.\n3) Le salaire est dû."
    assert delivered(response, "Le préavis est d'un mois. Le préavis court dès la lettre. Le salaire est dû.")


def _read(name: str) -> list[dict[str, Any]]:
    with gzip.open(DATA / name, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def _right_answers() -> list[tuple[str, str, str]]:
    """Question, answer and document: PIAF's answers in a sentence of their context, and sentences of official pages."""
    rows = _read("piaf/rows.jsonl.gz")[::13]
    found = [(row["question"], f"La réponse est : {row['answers'][0]['text'].rstrip(' .')}.", row["context"]) for row in rows]
    for page in _read("notarial_fr/official_texts_pages.jsonl.gz"):
        usable = [span.text for span in sentences(page["text"], "fr") if 60 <= len(span.text) <= 400]
        found += [("", " ".join(text.split()), page["text"]) for text in usable[:1]]
    return found


@pytest.mark.skipif(not (DATA / "piaf").is_dir(), reason="the labelled sets lie beside the repository")
def test_right_answers_of_real_documents_are_delivered() -> None:
    answers = _right_answers()
    assert len(answers) >= 300
    held = [answer for prompt, answer, document in answers if not delivered(answer, document, prompt)]
    assert len(held) <= MOST_FALSE_ALARMS * len(answers), held[:5]
