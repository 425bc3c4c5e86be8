"""What documents hold in a writing that no extractor reads as a figure or a reference: tables, words, dates of acts, titles."""

import pytest

from areopage.cases.records import Document
from areopage.gate.grounding.claims import check_claims

SALARIES = """Salaires mensuels
1er/10/2024 Point à 15,69 €
1er/03/2025 Point à 15,78 €
Employés E 120 1 883 1 894
T1 132 2 072 2 083
T2 146 2 291 2 304
Cadres
C1 220 3 452 3 472
"""


def states(response: str, document: str, prompt: str = "", title: str = "") -> list[str]:
    """Of the figures and references; codes and bare numbers ("coefficient 220") have tests of their own."""
    claims = check_claims(prompt, response, (Document(id="x", text=document, title=title),))
    return [claim.state for claim in claims if claim.kind not in ("code", "number")]


@pytest.mark.parametrize(
    ("response", "state"),
    [
        ("Le minimum du niveau T2 est de 2 304 €.", "supported"),
        ("Pour un C1 (coefficient 220) : 3 472 euros par mois.", "supported"),
        ("Le minimum du niveau T2 est de 3 472 €.", "elsewhere"),
        ("Le minimum du niveau T2 est de 2 305 €.", "missing"),
        ("Le minimum du niveau T2 est de 291 €.", "missing"),
        ("Le minimum est de 146 €.", "missing"),
    ],
)
def test_an_amount_may_stand_in_a_table_without_its_unit(response: str, state: str) -> None:
    assert states(response, SALARIES) == [state]


def test_the_question_may_name_the_row() -> None:
    assert states("Il est de 3 472 €.", SALARIES, prompt="Quel est le minimum d'un C.1 ?") == ["supported"]
    assert states("Il est de 3 472 €.", SALARIES, prompt="Quel est le minimum d'un T1 ?") == ["elsewhere"]


@pytest.mark.parametrize(
    "document", ["500 salariés, prime de 20 €", "un taux de 500 % et 20 €", "$500 and 20 €", "1 500 points, 20 €"]
)
def test_a_number_with_another_unit_supports_no_amount(document: str) -> None:
    assert states("Cela coûte 500 €.", document) == ["missing"]


def test_a_date_in_the_head_of_a_table_is_read() -> None:
    assert states("Ce montant valait au 1er octobre 2024.", SALARIES) == ["supported"]


@pytest.mark.parametrize(
    ("response", "document"),
    [
        ("L'amende est de 10 000 euros.", "1o Dix mille euros ;"),
        ("Une amende de 80 000 €.", "une amende de quatre-vingt mille euros"),
        ("A fine of $2,500.", "a fine of two thousand five hundred dollars"),
        ("Une fois tous les quatre ans.", "au cours de la période quadriennale en cours"),
    ],
)
def test_a_figure_may_be_written_in_words(response: str, document: str) -> None:
    assert states(response, document) == ["supported"]


@pytest.mark.parametrize(
    ("response", "document"),
    [
        ("L'amende est de 12 000 euros.", "dix mille euros"),
        ("L'amende est de 10 000 euros.", "cent dix mille euros"),
        ("L'amende est de 10 000 euros.", "dix mille cinq cents euros"),
        ("Sous 13 mois.", "cent treize mois"),
        ("Sous 1 mois.", "vingt et un mois"),
    ],
)
def test_a_part_of_a_number_in_words_supports_nothing(response: str, document: str) -> None:
    assert states(response, document) == ["missing"]


@pytest.mark.parametrize(
    ("response", "document", "state"),
    [
        ("En vertu de la loi du 5 septembre 2018.", "la loi n°2018-771 du 5 septembre 2018 pour la liberté", "supported"),
        ("Selon l'accord du 22 février 2024.", "Avenant n° 55 du 22 février 2024 – Accord de salaires", "supported"),
        ("Selon la loi du 6 septembre 2018.", "la loi n°2018-771 du 5 septembre 2018 pour la liberté", "missing"),
        ("Selon le décret du 5 septembre 2018.", "la loi n°2018-771 du 5 septembre 2018 pour la liberté", "missing"),
        ("Au titre de l'article 15.2.", "en application de l’article « 15.2 – Reconnaissance »", "supported"),
    ],
)
def test_an_act_may_be_named_by_its_date_alone(response: str, document: str, state: str) -> None:
    assert states(response, document)[0] == state


@pytest.mark.parametrize("title", ["avenant_n51.pdf", "Avenant n°51 du 21 septembre.pdf", "AVENANT 51 - Salaires"])
def test_a_title_names_an_act_however_its_number_is_joined(title: str) -> None:
    assert states("C'est l'avenant n° 51.", "Rien.", title=title) == ["supported"]
    assert states("C'est l'avenant n° 5.", "Rien.", title=title) == ["missing"]


def test_what_an_answer_reckons_from_its_own_amounts_needs_no_document() -> None:
    document = "Le minimum était de 2 255 € ; il est de 2 259 €."
    assert states("Il passe de 2 255 € à 2 259 €, soit 4 € de plus.", document) == ["supported", "supported", "computed"]
    assert states("Il passe de 2 255 € à 2 259 €, soit 5 € de plus.", document) == ["supported", "supported", "missing"]
    assert states("Le minimum gagne 4 €, de 2 255 à 2 259 €.", document) == ["computed", "supported"]


def test_an_amount_is_not_reckoned_from_years_or_from_what_is_no_money() -> None:
    assert states("De 2023 à 2024, 3 pièces et 2 timbres : 1 €.", "De 2023 à 2024, 3 pièces et 2 timbres.")[-1] == "missing"


def test_a_figure_far_from_the_words_of_an_answer_in_free_writing_is_not_called_misplaced() -> None:
    document = (
        "L'article 29.5 de la convention collective, relatif à la participation financière, vient de l'accord du 8 juin 2001.\n"
        "Le présent avenant entrera en vigueur le 1er janvier 2025."
    )
    answer = "La nouvelle version de l'article sur la participation financière s'applique à partir du 1er janvier 2025."
    assert states(answer, document) == ["supported"]


@pytest.mark.parametrize(
    ("response", "document", "state"),
    [
        ("Sous 13 mois.", "un délai de treize mois", "supported"),
        ("Sous 70 jours.", "soixante-dix jours au plus", "supported"),
        ("Within 45 days.", "no later than forty-five days", "supported"),
        ("Sous 1 mois.", "dans un délai d'un mois", "supported"),
        ("Sous 21 jours.", "dans les trente et un jours", "missing"),
        ("Ouvert à 17 h 30.", "l'étude ouvre à 17h30", "supported"),
        ("Ouvert à 18h30.", "l'étude ouvre à 17h30", "missing"),
        ("Voir l'article 1112\u20112.", "l'article 1112-2 du code", "supported"),
    ],
)
def test_durations_in_words_times_of_day_and_hyphens_that_do_not_break(response: str, document: str, state: str) -> None:
    assert states(response, document) == [state]
