"""Figures in words are decided as figures in digits are, in either direction, by the whole gate."""

from collections.abc import Iterator

import pytest

from areopage.app.gate_rules import load_gate
from areopage.cases.records import Document
from servers.spelling import in_english, in_french

GATE = load_gate()
NUMBERS = (*range(2, 101), 120, 150, 201, 250, 365, 999, 1_200, 1_500, 3_000, 250_000)
LEAST = 0.9
FRENCH = {
    "La prime de naissance est de {} euros.": ("{} €", "{} euros"),
    "Le taux de la retenue est de {} pour cent.": ("{} %", "{} pour cent"),
    "Le congé de naissance dure {} jours.": ("{} jours",),
    "Le préavis de départ est de {} mois.": ("{} mois",),
    "La garantie du bâtiment est de {} ans.": ("{} ans",),
}
ENGLISH = {
    "The birth bonus is {} dollars.": ("${}", "{} dollars"),
    "The rate of the deduction is {} percent.": ("{}%", "{} percent"),
    "The birth leave lasts {} days.": ("{} days",),
    "The notice period is {} months.": ("{} months",),
}


def delivered(response: str, document: str) -> bool:
    return GATE.decide("?", response, [Document(id="doc1", text=document, score=0.9)]).verdict == "deliver"


def writings(number: int, language: str) -> Iterator[str]:
    if language == "en":
        yield in_english(number)
        return
    yield in_french(number)
    yield in_french(number, hyphens=True)
    yield in_french(number, belgian=True)


@pytest.mark.parametrize(("sentence", "language"), [*((one, "fr") for one in FRENCH), *((one, "en") for one in ENGLISH)])
def test_words_and_digits_say_the_same_in_both_directions(sentence: str, language: str) -> None:
    """A document that has the number supports it, one that has another holds the answer."""
    shown = (FRENCH if language == "fr" else ENGLISH)[sentence]
    unit = shown[-1]
    right: list[bool] = []
    wrong: list[bool] = []
    for number in NUMBERS:
        other = 15 if number != 15 else 18
        for words in writings(number, language):
            in_words = sentence.format(words)
            for figure in shown:
                in_digits = sentence.replace(unit, figure).format(number)
                right += [delivered(in_words, in_digits), delivered(in_digits, in_words)]
            strange = next(writings(other, language))
            wrong += [
                not delivered(in_words, sentence.format(strange)),
                not delivered(sentence.format(number), sentence.format(strange)),
                not delivered(in_words, sentence.format(other)),
            ]
    assert sum(right) / len(right) >= LEAST
    assert sum(wrong) / len(wrong) >= LEAST


@pytest.mark.parametrize(
    ("response", "document"),
    [
        ("La subvention est de 1,5 million d'euros.", "La subvention est de 1 500 000 €."),
        ("The grant is two hundred and fifty dollars.", "The grant is $250."),
        ("La durée est de septante-cinq jours.", "La durée est de 75 jours."),
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
