"""Rounding that is announced is no error; bounds, rates and rows of tables must be those of the documents."""

import pytest

from areopage.app.gate_rules import load_gate
from areopage.cases.records import Document

GATE = load_gate()


def delivered(response: str, document: str, prompt: str = "Que dit le texte ?") -> bool:
    return GATE.decide(prompt, response, [Document(id="doc1", text=document, score=0.9)]).verdict == "deliver"


PRICE = "Le prix de la concession est de 1 234,56 €."


@pytest.mark.parametrize(
    "figure", ["environ 1 235 €", "plus de 1 200 €", "près de 1 235 euros", "moins de 1 300 €", "1 234,56 €"]
)
def test_a_figure_that_is_announced_as_rounded_is_delivered(figure: str) -> None:
    assert delivered(f"Le prix de la concession est de {figure}.", PRICE)


@pytest.mark.parametrize("figure", ["environ 1 300 €", "plus de 1 300 €", "moins de 1 200 €", "1 235 €", "environ 12 €"])
def test_a_figure_beyond_its_rounding_is_held(figure: str) -> None:
    assert not delivered(f"Le prix de la concession est de {figure}.", PRICE)


@pytest.mark.parametrize(
    ("response", "document"),
    [
        ("La commune compte 2,1 millions d'habitants.", "La commune compte 2 102 650 habitants."),
        ("The city has nearly 70 kilometres of coast.", "The city has 69.2 kilometres of coast."),
    ],
)
def test_a_rounded_number_is_delivered(response: str, document: str) -> None:
    assert delivered(response, document)


@pytest.mark.parametrize(
    "figure",
    ["250 € par mois", "au moins 250 €", "jusqu'à 250 €", "deux cent cinquante euros par mois", "250 euros au plus par an"],
)
def test_a_bound_or_a_rate_that_no_document_has_is_held(figure: str) -> None:
    assert not delivered(f"La prime de naissance est de {figure}.", "La prime de naissance est de 250 €.")


@pytest.mark.parametrize(
    ("figure", "document"),
    [
        ("250 € par mois", "La prime mensuelle de naissance est de 250 €."),
        ("250 € par mois", "La prime de naissance est de 250 €/mois."),
        ("au moins 250 €", "La prime de naissance ne peut être inférieure à 250 €."),
        ("au maximum 250 €", "La prime de naissance est plafonnée à 250 €."),
        ("250 €", "La prime de naissance est de 250 € par mois."),
    ],
)
def test_a_bound_or_a_rate_of_the_documents_is_delivered(figure: str, document: str) -> None:
    assert delivered(f"La prime de naissance est de {figure}.", document)


TABLE = "Prime de vacances :\n\n| Catégorie | Prime |\n|---|---|\n| Employé | 250 € |\n| Cadre | 400 € |\n| Apprenti | 120 € |\n"
LIST = "Prime de vacances :\n- Employé : 250 €\n- Cadre : 400 €\n- Apprenti : 120 €\n"


@pytest.mark.parametrize("document", [TABLE, LIST])
@pytest.mark.parametrize(
    "response",
    [
        "La prime d'un cadre est de 250 €.",
        "La prime de vacances d'un employé est de quatre cents euros.",
        "| Catégorie | Prime |\n|---|---|\n| Employé | 400 € |\n| Cadre | 250 € |",
        "La prime de vacances :\n- Employé : 400 €\n- Cadre : 250 €",
    ],
)
def test_a_value_of_another_row_is_held(document: str, response: str) -> None:
    assert not delivered(response, document)


@pytest.mark.parametrize("document", [TABLE, LIST])
@pytest.mark.parametrize(
    "response",
    [
        "La prime d'un cadre est de 400 €.",
        "La prime de vacances est de 250 € pour un employé et de 400 € pour un cadre.",
        "| Catégorie | Prime |\n|---|---|\n| Employé | 250 € |\n| Cadre | 400 € |",
        "La prime de vacances :\n- Employé : 250 €\n- Cadre : 400 €",
        "Les primes de vacances vont de 120 € à 400 €.",
    ],
)
def test_a_value_of_its_own_row_is_delivered(document: str, response: str) -> None:
    assert delivered(response, document)


PAIRS = "Primes de vacances : Employé : 250 € ; Cadre : 400 € ; Apprenti : 120 €.\n"
SEMICOLONS = "categorie;prime de vacances\nEmployé;250 €\nCadre;400 €\nApprenti;120 €\n"
TABS = SEMICOLONS.replace(";", "\t")
HEADED = (
    "Primes\n\n| Catégorie | Prime (€) | Jours |\n|---|---|---|\n"
    "| Employé | 250 | 3 |\n| Cadre | 400 | 5 |\n| Apprenti | 120 | 2 |\n"
)
HEADED_COMMAS = "Grade,Holiday bonus in $\nClerk,250\nManager,400\nApprentice,120\n"
ENGLISH = "| Grade | Bonus |\n|---|---|\n| Clerk | $250 |\n| Manager | $400 |\n| Apprentice | $120 |\n"
COMMAS = "grade,bonus\nClerk,$250\nManager,$400\nApprentice,$120\n"
TWO_VALUES = (
    "La prime d'un employé est de {} € et celle d'un cadre de {} €.",
    "Un employé touche {} €, un cadre {} €.",
    "Employé : {} €, cadre : {} €.",
    "- Employé : {} €\n- Cadre : {} €",
    "La prime est de {} € pour les employés et de {} € pour les cadres.",
    "Un employé touche {} €, contre {} € pour un cadre.",
    "La prime d'un employé ({} €) n'est pas celle d'un cadre ({} €).",
    "L'employé et le cadre touchent respectivement {} € et {} €.",
    "Un employé touche {} €, contre {} € pour un cadre, et un apprenti 120 €.",
)
TWO_VALUES_ENGLISH = (
    "The bonus of a clerk is ${} and that of a manager is ${}.",
    "The bonus is ${} for a clerk and ${} for a manager.",
    "Clerks and managers get ${} and ${} respectively.",
    "A clerk gets ${}, compared with ${} for a manager.",
)


@pytest.mark.parametrize(
    ("document", "sentences"),
    [
        *((document, TWO_VALUES) for document in (TABLE, LIST, PAIRS, SEMICOLONS, TABS, HEADED)),
        *((document, TWO_VALUES_ENGLISH) for document in (ENGLISH, COMMAS, HEADED_COMMAS)),
    ],
)
def test_two_values_of_a_sentence_must_be_those_of_the_rows_that_their_nearest_words_name(
    document: str, sentences: tuple[str, ...]
) -> None:
    assert [one for one in sentences if not delivered(one.format(250, 400), document)] == []
    assert [one for one in sentences if delivered(one.format(400, 250), document)] == []


def test_a_number_of_another_column_has_no_unit_of_a_head() -> None:
    assert not delivered("La prime d'un cadre est de 5 €.", HEADED)
    assert delivered("Le taux d'un cadre est de 12 %.", "| Catégorie | Taux (%) |\n|---|---|\n| Employé | 10 |\n| Cadre | 12 |\n")


def test_durations_must_be_in_their_row() -> None:
    document = "- Employé : 25 jours de congé\n- Cadre : 30 jours de congé\n"
    assert delivered("Un employé a 25 jours de congé et un cadre 30 jours.", document)
    assert not delivered("Un employé a 30 jours de congé et un cadre 25 jours.", document)


@pytest.mark.parametrize(
    "response",
    [
        "Les primes de vacances vont de 120 € pour un apprenti à 400 € pour un cadre.",
        "Un cadre touche 400 €, soit plus que les 250 € d'un employé et les 120 € d'un apprenti.",
        "Employés et cadres ont 250 € ou 400 €.",
    ],
)
def test_values_beside_the_names_of_several_rows_are_delivered(response: str) -> None:
    assert delivered(response, TABLE)


def test_a_row_without_a_word_of_its_own_names_nothing() -> None:
    document = "CA année N : 2 000 000 €\nCA année N-1 : 1 800 000 €\nTaux de marge : 11 %\n"
    assert delivered("Le CA de l'année N-1 est de 1 800 000 € pour un taux de marge de 11 %.", document)


def test_another_value_in_code_is_held() -> None:
    document = "def bonus(employee):\n    return 250\n"
    prompt = "What does bonus return?"
    assert delivered("```python\ndef bonus(employee):\n    return 250\n```", document, prompt)
    assert not delivered("```python\ndef bonus(employee):\n    return 300\n```", document, prompt)


def test_an_answer_without_spaces_between_words_is_held_as_a_language_that_is_not_read() -> None:
    decision = GATE.decide("奖金是多少？", "奖金是三百五十欧元。", [Document(id="doc1", text="奖金是二百五十欧元。", score=0.9)])
    assert decision.verdict == "human_review"
    assert "unread_language" in [reason.code for reason in decision.reasons if reason.decisive]
