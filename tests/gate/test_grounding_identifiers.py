"""Contacts, codes, numbers, weekdays and names that no document has are held; the documents' own are delivered."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from areopage.app.gate_rules import load_gate
from areopage.cases.records import Document
from areopage.text.sentences import sentences

GATE = load_gate()
DATA = Path(__file__).parents[3] / "shared" / "data"
LEAST_HELD, MOST_FALSE_ALARMS = 0.9, 0.03

FRENCH = (
    "La mairie est joignable au 01 44 55 66 77 ou à accueil@mairie-exemple.fr, du lundi au vendredi de 9 h à 17 h 30. "
    "Le formulaire se trouve sur https://www.mairie-exemple.fr/demarches/conges. La directrice est Mme Claire Dupont, "
    "à Lyon. Les frais se paient sur le compte IBAN FR76 3000 6000 0112 3456 7890 189. L'appareil pèse 12 kg, "
    "fonctionne en 230 V, avec un débit de 45 l/min, entre 0 et 40 °C, à une vitesse de 50 km/h au plus. Son numéro "
    "de série est AX-2047, le logiciel est en version 3.2.1. La notice est en page 14. Le rapport de transmission est "
    "de 3:1. La commune compte 1,4 million d'habitants. La réunion a lieu en salle B12 à 18 h. La garantie dure deux "
    "ans."
)
ENGLISH = (
    "The office answers at 020 7946 0958 or help@city-example.org, Monday to Friday. The form is at https://www.city- "
    "example.org/forms/leave. The director is Ms Claire Dupont, in Leeds. The device weighs 12 kg, runs on 230 V with "
    "a flow of 45 l/min, from 0 to 40 °C, at up to 50 km/h. Its serial number is AX-2047 and the software is version "
    "3.2.1. Report it on line 12 of Form 1040. See page 14. The gear ratio is 3:1. The city has a population of 1.4 "
    "million. The meeting is in room B12 at 6 pm. The warranty lasts two years."
)
WRONG_FRENCH = (
    "La mairie est joignable au 01 44 55 66 78.",
    "Écrivez à contact@mairie-exemple.fr.",
    "Écrivez à accueil@mairie-modele.fr.",
    "Le formulaire se trouve sur https://www.mairie-autre.fr/demarches/conges.",
    "Le formulaire se trouve sur www.mairie-exemple.fr/formulaires.",
    "Le compte est FR76 3000 6000 0112 3456 7890 188.",
    "La directrice est Mme Sophie Bernard.",
    "La directrice est Claire Martin.",
    "La directrice travaille à Marseille.",
    "La mairie est ouverte du lundi au samedi.",
    "L'appareil pèse 15 kg.",
    "L'appareil fonctionne en 110 V.",
    "L'appareil a un débit de 65 l/min.",
    "L'appareil fonctionne entre 5 et 60 °C.",
    "La vitesse est de 80 km/h.",
    "Son numéro de série est AX-3041.",
    "Le logiciel est en version 3.4.1.",
    "La notice est en page 41.",
    "Le rapport de transmission est de 4:1.",
    "La commune compte 2,1 millions d'habitants.",
    "La réunion a lieu en salle B21.",
    "La réunion a lieu à 19 h.",
    "La garantie dure trois ans.",
)
WRONG_ENGLISH = (
    "Call 020 7946 0959.",
    "Write to info@city-example.org.",
    "The form is at www.city-sample.org/forms/leave.",
    "The form is at https://www.city-example.org/forms/travel.",
    "The director is Ms Jane Porter.",
    "The director works in Bristol.",
    "The office is open Monday to Saturday.",
    "The device weighs 15 kg.",
    "The device runs on 110 V.",
    "The flow is 65 l/min.",
    "It works from 5 to 60 °C.",
    "The device reaches 80 km/h.",
    "The serial number is AX-3041.",
    "The software is version 3.4.1.",
    "Report it on line 8 of Form 1040.",
    "Report it on line 12 of Form 1099.",
    "See page 41.",
    "The gear ratio is 4:1.",
    "The city has a population of 2.1 million.",
    "The meeting is in room B21.",
    "The meeting is at 7 pm.",
    "The warranty lasts three years.",
)
RIGHT_FRENCH = (
    "Appelez le 01.44.55.66.77.",
    "Appelez le +33 1 44 55 66 77.",
    "Écrivez à accueil@mairie-exemple.fr.",
    "Le formulaire se trouve sur mairie-exemple.fr/demarches/conges.",
    "Le site est www.mairie-exemple.fr.",
    "Le compte est FR7630006000011234567890189.",
    "La directrice est Madame Dupont.",
    "La directrice est Claire Dupont.",
    "La mairie est joignable le mercredi.",
    "L'appareil pèse 12 kilos.",
    "L'appareil pèse 12 000 g.",
    "L'appareil fonctionne en 230 volts.",
    "La température va de 0 à 40 °C.",
    "Le numéro de série est AX2047.",
    "La notice est en page 14.",
    "La commune compte 1 400 000 habitants.",
    "La réunion a lieu en salle B12 à 18 heures.",
    "Le rapport est de 3 pour 1.",
)
RIGHT_ENGLISH = (
    "Call 020-7946-0958.",
    "The director is Claire Dupont.",
    "The director works in Leeds.",
    "The office answers on Wednesday.",
    "It weighs 12 kg.",
    "It weighs 12,000 g.",
    "It runs on 230 volts.",
    "Report it on line 12 of Form 1040.",
    "See page 14.",
    "The population is 1,400,000.",
    "The meeting is in room B12.",
)


def delivered(response: str, document: str, prompt: str = "?") -> bool:
    return GATE.decide(prompt, response, [Document(id="doc1", text=document, score=0.9)]).verdict == "deliver"


def test_nearly_all_invented_identifiers_are_held() -> None:
    leaving = [one for one in WRONG_FRENCH if delivered(one, FRENCH)] + [one for one in WRONG_ENGLISH if delivered(one, ENGLISH)]
    assert len(leaving) <= (1 - LEAST_HELD) * len(WRONG_FRENCH + WRONG_ENGLISH), leaving


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
