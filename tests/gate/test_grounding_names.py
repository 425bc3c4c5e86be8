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
