"""A capitalised word that no document has is a name; words that only begin something, adjectives and general words are none."""

import pytest

from areopage.app.gate_rules import check_answer

FRENCH = (
    "Le prêt est accordé par le Crédit Mutuel. L'étude Martin & Fils est rue Molière, à Metz. "
    "La garantie est versée par le Fonds de garantie des dépôts et de résolution."
)
ENGLISH = "Mr Smith of Halden Bank signed the contract in Leeds. The world health organisation approved it."


def delivered(response: str, document: str) -> bool:
    question = "Que dit le texte ?" if document is FRENCH else "What does the text say?"
    return check_answer(question, response, [document]).verdict == "deliver"


@pytest.mark.parametrize(
    ("document", "response"),
    [
        (FRENCH, "Le prêt est accordé par le Crédit Agricole."),
        (FRENCH, "L'étude Durand & Fils est rue Molière."),
        (FRENCH, "L'étude Martin & Fils est rue Voltaire."),
        (FRENCH, "La garantie est versée par l'ACPR."),
        (FRENCH, "Demandez Bernard à l'étude."),
        (ENGLISH, "Mr Smith of Barclays signed the contract."),
        (ENGLISH, "The contract was signed with Lloyds."),
        (ENGLISH, "Maria Alvarez signed the contract in Leeds."),
    ],
)
def test_an_organisation_a_street_or_a_person_that_no_document_has_is_held(document: str, response: str) -> None:
    assert not delivered(response, document)


@pytest.mark.parametrize(
    ("document", "response"),
    [
        (FRENCH, "Le Crédit Mutuel accorde le prêt."),
        (FRENCH, "Cependant, le prêt est accordé par le Crédit Mutuel."),
        (FRENCH, "La garantie est versée par le FGDR."),
        (FRENCH, "# Réponse\n\n**Prêt** : accordé par le Crédit Mutuel."),
        (FRENCH, "- Prêteur : Crédit Mutuel\n- Étude : Martin & Fils"),
        (ENGLISH, "However, the contract was signed in Leeds."),
        (ENGLISH, "The WHO approved the contract that Smith signed."),
        (ENGLISH, "The English contract was signed in Leeds by Mr Smith."),
    ],
)
def test_names_of_the_documents_and_capitals_that_make_no_name_are_delivered(document: str, response: str) -> None:
    assert delivered(response, document)


@pytest.mark.parametrize(
    ("document", "response"),
    [
        ("Les langues d'Europe ont des racines communes.", "Les racines sont communes, in European languages."),
        ("Il est médecin dans des hôpitaux new-yorkais.", "Il est médecin dans des hôpitaux de New York."),
        ("La part est versée à l'opérateur de compétences.", "La part est versée à l'OPCO."),
        ("En ItalieAmanda Lear débute en 1978.", "En 1978 débute Amanda Lear."),
        ("The winner was Hunter Girl of Leeds.", "The winner was HunterGirl of Leeds."),
        ("The Babylonian Empire fell.", "The Neo-Babylonian Empire fell."),
    ],
)
def test_a_name_that_a_document_has_in_another_form_is_delivered(document: str, response: str) -> None:
    assert check_answer("?", response, [document]).verdict == "deliver"


@pytest.mark.parametrize(
    ("document", "response"),
    [
        ("Le contrat est signé à Metz.", "Le contrat est signé avec Lee à Metz."),
        ("The contract of McDonald was signed.", "The contract was signed with Donald."),
        ("Le fonds aide l'opération de compensation.", "Le fonds aide l'UNSA."),
    ],
)
def test_a_name_that_only_resembles_words_of_a_document_is_held(document: str, response: str) -> None:
    assert check_answer("?", response, [document]).verdict != "deliver"
