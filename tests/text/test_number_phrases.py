"""Phrases that say a number are read as that number; ordinary prose stays as it is."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from areopage.text.readable import Readable


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("un tiers des frais", "1⁄3 des frais"),
        ("les deux tiers", "les 2⁄3"),
        ("réduite d'un tiers", "réduite d'1⁄3"),
        ("réduit de moitié", "réduit de 1⁄2"),
        ("trois huitièmes de la succession", "3⁄8 de la succession"),
        ("two-thirds of it", "2⁄3 of it"),
        ("three quarters of the year", "3⁄4 of the year"),
        ("Half of the costs", "1⁄2 of the costs"),
        ("une demi-heure", "30 minutes"),
        ("trois quarts d’heure", "45 minutes"),
        ("half an hour", "30 minutes"),
        ("deux heures et quart", "2 h 15"),
        ("dix heures moins vingt", "9 h 40"),
        ("half past nine", "9:30"),
        ("quarter to one", "12:45"),
        ("a quarter hour", "15 minutes"),
        ("huit heures et demie du soir", "8 heures et demie du soir"),
        ("trois heures de l'après-midi", "15h00"),
        ("two and a half months", "2.5 months"),
        ("un virgule quatre", "1.4"),
        ("one point five", "1.5"),
        ("les années soixante-dix", "les années 1970"),
        ("jusqu'à minuit et demi", "jusqu'à 0h30"),
        ("payez en 3x", "payez en 3 fois"),
        ("2x/4x sans frais", "2 fois ou 4 fois sans frais"),
        ("45 milliers d'abonnés", "45000 abonnés"),
        ("zéro euro", "0 euro"),
        ("une vingtaine de personnes", "≃ 20 personnes"),
        ("deux douzaines d'œufs", "≃ 24 œufs"),
        ("half a dozen eggs", "≃ 6 eggs"),
        ("sous huitaine", "sous ≃ 8 jours"),
        ("un semestre", "6 mois"),
        ("tous les trimestres", "tous les 3 mois"),
        ("two decades", "20 years"),
        ("24h/24 et 7j/7", "24 h par jour et 7 jours par semaine"),
        ("24/7", "24 h par jour, 7 jours par semaine"),
        ("multiplié par trois", "3 fois"),
        ("le triple du prix", "3 fois du prix"),
    ],
)
def test_a_phrase_is_read_as_its_number_where_it_stands(text: str, read: str) -> None:
    readable = Readable(text)
    assert readable.text == read
    assert readable.changed
    assert readable.original(0, len(read)) == text


@pytest.mark.parametrize(
    "text",
    [
        "un tiers acquéreur, des tiers, le tiers payant, un tiers de confiance, à un tiers",
        "Le quart de travail, les quarts de finale, un quart-monde",
        "the second half of the year, an hour and a half, the first quarter, a third party, the French Quarter",
        "une quarantaine de 14 jours, la trentaine, une minute s'il vous plaît, au second tour",
        "le médicament se prend matin, midi et soir dans le Midi",
        "un double vitrage, une chambre double",
        "5 to 10 days, 20 to 9",
        "au point 5 de l'annexe, chapitre 2, point 5, hier soir à 8 heures, les années 20",
        "le trimestre d'automne, le semestre suivant",
        "un écran en 3x2 m, 3x plus vite, 2 x 4, zéro défaut, repartir de zéro, des milliers d'abonnés",
    ],
)
def test_ordinary_prose_has_no_such_number(text: str) -> None:
    assert Readable(text).text == text


PIECES = [
    "un ",
    "tiers ",
    "des ",
    "moitié ",
    "half ",
    "of ",
    "3 ",
    "quarts ",
    "d'heure ",
    "heures ",
    "moins le ",
    "dozen ",
    "/7 ",
    "sur 24 ",
]


@given(st.lists(st.sampled_from(PIECES), max_size=30).map("".join))
def test_a_span_of_what_is_read_is_one_of_the_text(text: str) -> None:
    readable = Readable(text)
    assert readable.span(0, len(readable.text)) == (0, len(text))
    for start in range(len(readable.text)):
        first, last = readable.span(start, start + 1)
        assert 0 <= first < last <= len(text)


def test_ten_times_the_text_takes_ten_times_the_time() -> None:
    for piece in ("un tiers ", "la moitié des ", "à midi ", "2 heures moins le ", "half past ", "multiplié par 3 ", "une "):

        def taken(times: int, piece: str = piece) -> float:
            began = time.thread_time()
            Readable(f"tiers midi heures quart {piece * times}")
            return time.thread_time() - began

        assert min(taken(10_000) for _ in range(3)) < 30 * min(taken(1_000) for _ in range(3)) + 0.01
