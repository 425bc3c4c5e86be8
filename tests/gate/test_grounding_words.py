"""Figures in words are decided as figures in digits are, in either direction, by the whole gate."""

import pytest

from areopage.app.gate_rules import load_gate
from areopage.cases.records import Document
from servers import THOROUGH
from servers.identified import ENGLISH_NUMBERS, FRENCH_NUMBERS, pairs_of_numbers

GATE = load_gate()
LEAST = 0.9


def delivered(response: str, document: str) -> bool:
    return GATE.decide("?", response, [Document(id="doc1", text=document, score=0.9)]).verdict == "deliver"


@pytest.mark.parametrize("sentence", [*FRENCH_NUMBERS, *ENGLISH_NUMBERS])
def test_words_and_digits_say_the_same_in_both_directions(sentence: str) -> None:
    """A document that has the number supports it, one that has another holds the answer."""
    pairs = list(pairs_of_numbers(sentence))[:: 1 if THOROUGH else 3]
    decided = [(delivered(answer, document), same) for answer, document, same in pairs]
    right = [leaves for leaves, same in decided if same]
    wrong = [not leaves for leaves, same in decided if not same]
    assert sum(right) / len(right) >= LEAST
    assert sum(wrong) / len(wrong) >= LEAST


@pytest.mark.parametrize(
    ("response", "document"),
    [
        ("La subvention est de 1,5 million d'euros.", "La subvention est de 1 500 000 €."),
        ("The grant is two hundred and fifty dollars.", "The grant is $250."),
        ("La durée est de septante-cinq jours.", "La durée est de 75 jours."),
        ("La durée est de nonante et un jours.", "La durée est de 91 jours."),
        ("La durée est de huitante et un jours.", "La durée est de 81 jours."),
        ("Le délai est de vingt et une semaines.", "Le délai est de 21 semaines."),
        ("La prime est de ２５０ €.", "La prime est de 250 €."),
        ("La pri\u00adme de nais\u200bsance est de 2\u200b50 €.", "La prime de naissance est de 250 €."),
    ],
)
def test_a_writing_of_the_same_figure_is_delivered(response: str, document: str) -> None:
    assert delivered(response, document)


@pytest.mark.parametrize("figure", ["２５０００ €", "③⑤⓪ €", "Ⅻ €", "٣٥٠ €", "trois cent cinquante euros", "1,5 million d'euros"])
def test_another_figure_is_held_in_whatever_digits(figure: str) -> None:
    assert not delivered(f"La prime de naissance est de {figure}.", "La prime de naissance est de 250 €.")
