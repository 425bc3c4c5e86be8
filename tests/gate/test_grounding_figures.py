"""Figures and references of an answer are sought value for value in its documents."""

import pytest

from areopage.cases.records import Document
from areopage.gate.grounding import claims as claims_module
from areopage.gate.grounding import figure_context as context_module
from areopage.gate.grounding import places as places_module
from areopage.gate.grounding.claims import check_claims
from areopage.text import FigureText, TextFigure, supports


def check(response: str, document: str, prompt: str = "") -> list[tuple[str, str, bool]]:
    claims = check_claims(prompt, response, (Document(id="x", text=document),))
    for claim in claims:
        assert response[claim.place.start : claim.place.end] == claim.place.text
        if claim.evidence:
            assert document[claim.evidence.start : claim.evidence.end] == claim.evidence.text
    return [(claim.kind, claim.place.text, claim.supported) for claim in claims]


@pytest.mark.parametrize(
    ("response", "document", "kind"),
    [
        ("Le loyer est de 1 000,50 €.", "Rent: €1,000.50", "amount"),
        ("Cela coûte 3 millions d'euros.", "un budget de 3 000 000 €", "amount"),
        ("Le 15 janvier 2025.", "signé le 15/01/2025 à Paris", "date"),
        ("En 2025.", "signé le 15/01/2025", "date"),
        ("Un taux de 12 %.", "le taux est de 12 pour cent", "percentage"),
        ("A 39% chance.", "There is 39 percentage chance of rain", "percentage"),
        ("Selon l'art. L. 123-4.", "voir l'article L123-4 du code", "reference"),
        ("Voir l'article 5.", "les articles 3, 4 et 5 de la loi", "reference"),
        ("La loi n° 2018-771 du 5 septembre 2018.", "Loi 2018-771 (5 septembre 2018)", "reference"),
        ("Sous 14 jours.", "dans un délai de deux semaines", "duration"),
        ("En 1789, tout change.", "La Révolution (1789-1799)", "date"),
        ("L'acte du 1er novembre 2022.", "à compter du 1er \nnovembre 2022", "date"),
    ],
)
def test_another_writing_of_the_same_value_supports_it(response: str, document: str, kind: str) -> None:
    found = check(response, document)
    assert (kind, True) in [(one[0], one[2]) for one in found]
    assert all(supported for _, _, supported in found)


@pytest.mark.parametrize(
    ("response", "document"),
    [
        ("300 €", "un prix de 1 300 €"),
        ("12 %", "112 % et 12,5 %"),
        ("En 2024.", "signé en 2025, n° 12024"),
        ("article 12", "article 12-3 et article 112"),
        ("En 1789, tout change.", "en 1788 et 17890"),
        ("15 janvier 2025", "le 16 janvier 2025"),
        ("$500", "500 €"),
        ("la loi du 10 juillet 1965", "la loi du 11 juillet 1965"),
    ],
)
def test_another_value_supports_nothing(response: str, document: str) -> None:
    assert any(not supported for _, _, supported in check(response, document))


def test_a_figure_of_the_question_needs_no_document() -> None:
    assert check("Avec 500 €, oui.", "Rien ici.", prompt="Et avec 500 € ?") == [("amount", "500 €", True)]


def test_a_title_supports_without_a_place_to_show() -> None:
    (claim,) = check_claims("", "En 2021.", (Document(id="x", title="Rapport 2021", text="Rien."),))
    assert claim.supported and claim.evidence is None


def test_the_numbers_of_a_list_are_no_figures() -> None:
    assert check("1. Le bail\n2. Le loyer\n3) Le dépôt", "") == []


def test_an_early_year_is_one_only_where_it_reads_like_one() -> None:
    assert "date" not in [kind for kind, _, _ in check("Environ 1500 personnes et 1 789 chaises.", "")]


def test_the_work_for_many_claims_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []

    def noting(text: str) -> FigureText:
        read.append(text)
        return FigureText(text)

    monkeypatch.setattr(claims_module, "FigureText", noting)
    document = " ".join(f"{number} €" for number in range(3_000))
    claims = check_claims("", " ".join(f"{number},7 €" for number in range(3_000)), (Document(id="x", text=document),))
    assert len(claims) == 3_000
    assert not any(claim.supported for claim in claims)
    assert 0 < len(read) <= 10


def test_figures_of_one_value_are_not_all_compared_with_each_other(monkeypatch: pytest.MonkeyPatch) -> None:
    compared: list[TextFigure] = []

    def noting(documented: TextFigure, claimed: TextFigure) -> bool:
        compared.append(claimed)
        return supports(documented, claimed)

    for module in (places_module, context_module):
        monkeypatch.setattr(module, "supports", noting)
    documents = [Document(id="x", text="50 $ 50 € 50 % " * 1_000)]
    claims = check_claims("", "50 £ 50 € 50% " * 200, documents)
    assert [claim.state for claim in claims[:3]] == ["missing", "supported", "supported"]
    assert 0 < len(compared) < 600 * 100


LEASE = (
    "Le bail prend effet 30 jours après sa signature. Le dépôt de garantie est de 900 €.\n"
    "Autre matière : la réclamation du locataire se fait dans les 22 jours. Le plafond des virements est de 20 000 €."
)


def states(response: str, document: str = LEASE, prompt: str = "") -> list[tuple[str, str, str | None]]:
    claims = check_claims(prompt, response, (Document(id="x", text=document),))
    return [(claim.kind, claim.state, claim.instead.text if claim.instead else None) for claim in claims]


def test_a_figure_of_another_matter_is_misplaced_and_the_right_one_is_named() -> None:
    assert states("Le bail prend effet 22 jours après sa signature.") == [("duration", "elsewhere", "30 jours")]
    assert states("Le dépôt de garantie est de 20 000 €.") == [("amount", "elsewhere", "900 €")]


def test_a_figure_in_its_place_is_supported_whatever_else_the_documents_hold() -> None:
    assert states("Le bail prend effet 30 jours après sa signature.") == [("duration", "supported", None)]
    assert states("Le locataire réclame dans les 22 jours.") == [("duration", "supported", None)]
    assert states("Le dépôt de garantie s'élève à 900 €.") == [("amount", "supported", None)]


def test_the_questions_words_place_a_short_answers_figure() -> None:
    asked = "Combien de jours après la signature le bail prend-il effet ?"
    assert states("22 jours.", prompt=asked) == [("duration", "elsewhere", "30 jours")]
    assert states("30 jours.", prompt=asked) == [("duration", "supported", None)]


def test_a_question_does_not_put_a_misplaced_figure_right() -> None:
    assert states("Le bail prend effet 22 jours après sa signature.", prompt="Et 22 jours ?") == [
        ("duration", "elsewhere", "30 jours")
    ]
    denied = "Le bail ne prend pas effet 22 jours après sa signature mais 30 jours après."
    assert states(denied, prompt="Et 22 jours ?") == [("duration", "repeated", None), ("duration", "supported", None)]


@pytest.mark.parametrize(
    ("response", "document", "state"),
    [
        ("Le 15 janvier, le bail finit.", "Le bail finit le 15 janvier 2025.", "supported"),
        ("It ends on January 15.", "It ends on Jan 15.", "supported"),
        ("Le 16 janvier, le bail finit.", "Le bail finit le 15 janvier 2025.", "missing"),
        ("You may 15 times.", "Nothing.", ""),
    ],
)
def test_a_day_without_its_year_is_a_date(response: str, document: str, state: str) -> None:
    assert [one[1] for one in states(response, document) if one[0] == "date"] == ([state] if state else [])


@pytest.mark.parametrize(
    ("response", "document", "state"),
    [
        ("L'acte exige 3 témoins.", "Il faut trois témoins.", "supported"),
        ("It takes two witnesses.", "2 witnesses are needed.", "supported"),
        ("L'acte exige 3 témoins.", "Il faut 2 témoins.", "missing"),
        ("L'acte exige 3 témoins.", "Il a 3 pages.", "elsewhere"),
        ("Environ 1 200 habitants.", "Elle compte 200 chats.", ""),
    ],
)
def test_a_number_of_things_is_a_quantity(response: str, document: str, state: str) -> None:
    assert [one[:2] for one in states(response, document) if one[0] == "quantity"] == ([("quantity", state)] if state else [])


def test_the_unit_of_a_duration_may_stand_apart() -> None:
    assert states("It rains on 56 days a year.", "The number of days with rain is 56.") == [("duration", "supported", None)]
