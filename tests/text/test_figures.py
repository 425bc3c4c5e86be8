"""Figures with their unit, in English and French writing."""

from decimal import Decimal

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from areopage.text.figure_forms import FigureText, TextFigure, digits_of_date, figures, supports
from areopage.text.readable import Readable
from servers import HUGE

PIECES = st.sampled_from(
    [
        "1",
        "000",
        " ",
        "\xa0",
        ",",
        ".",
        "50",
        " €",
        "$",
        "%",
        " jours",
        " ouvrables",
        " par mois",
        "trois ",
        " months",
        "15/01/2025",
        "2025",
        "31",
        "/",
        "-",
        " janvier ",
        "January ",
        "12",
        "99",
        " à ",
        "k€",
        "\n",
        "’",
    ]
)
TEXTS = st.one_of(st.text(), st.lists(PIECES).map("".join))


def only(text: str) -> TextFigure:
    (figure,) = figures(text)
    return figure


@pytest.mark.parametrize(
    ("text", "value", "unit"),
    [
        ("12 %", "12", "%"),
        ("12,5\u00a0%", "12.5", "%"),
        ("12.5%", "12.5", "%"),
        ("0,125 %", "0.125", "%"),
        ("12 pour cent", "12", "%"),
        ("12 per cent", "12", "%"),
        ("1 000,50 €", "1000.5", "EUR"),
        ("1\u202f000,50\u00a0€", "1000.5", "EUR"),
        ("1.000,50 euros", "1000.5", "EUR"),
        ("1.000 €", "1000", "EUR"),
        ("€1,000.50", "1000.5", "EUR"),
        ("100€", "100", "EUR"),
        ("1 234 567,89 EUR", "1234567.89", "EUR"),
        ("3 millions d'euros", "3000000", "EUR"),
        ("12 k€", "12000", "EUR"),
        ("$1,000.00", "1000", "USD"),
        ("$1.5 million", "1500000", "USD"),
        ("1,000,000 dollars", "1000000", "USD"),
        ("£20", "20", "GBP"),
        ("20 francs suisses", "20", "CHF"),
    ],
)
def test_percentages_and_amounts_are_read_in_both_number_formats(text: str, value: str, unit: str) -> None:
    figure = only(f"Il faut payer {text}, dit-on.")
    assert (figure.value, figure.unit, figure.text) == (Decimal(value), unit, text)


@pytest.mark.parametrize(
    ("text", "value", "unit", "days", "per"),
    [
        ("30 jours ouvrables", "30", "day", "working", ""),
        ("30 jours ouvrables par an", "30", "day", "working", "year"),
        ("25 jours ouvrés", "25", "day", "business", ""),
        ("30 working days a year", "30", "day", "working", "year"),
        ("10 calendar days", "10", "day", "calendar", ""),
        ("two business days", "2", "day", "business", ""),
        ("2,5 jours par mois", "2.5", "day", "", "month"),
        ("2.5 days of paid leave per month", "2.5", "day", "", "month"),
        ("2,5 jours ouvrables de congés payés par mois", "2.5", "day", "working", "month"),
        ("three months", "3", "month", "", ""),
        ("trois mois", "3", "month", "", ""),
        ("two (2) years", "24", "month", "", ""),
        ("un an", "12", "month", "", ""),
        ("vingt-quatre heures", "1440", "minute", "", ""),
        ("35 heures par semaine", "2100", "minute", "", "week"),
        ("5 semaines/an", "35", "day", "", "year"),
        ("10-day", "10", "day", "", ""),
        ("5 additional working days a year", "5", "day", "working", "year"),
        ("five extra days", "5", "day", "", ""),
        ("3 full months", "3", "month", "", ""),
        ("2 autres mois", "2", "month", "", ""),
        ("2 premiers mois", "2", "month", "", ""),
        ("12 derniers mois", "12", "month", "", ""),
    ],
)
def test_durations_are_converted_to_comparable_units(text: str, value: str, unit: str, days: str, per: str) -> None:
    figure = only(f"Compter {text}.")
    assert (figure.kind, figure.value, figure.unit, figure.days, figure.per) == ("duration", Decimal(value), unit, days, per)
    assert figure.text == text


@pytest.mark.parametrize(
    ("text", "iso"),
    [
        ("15 janvier 2025", "2025-01-15"),
        ("1er août 2024", "2024-08-01"),
        ("15/01/2025", "2025-01-15"),
        ("01/02/2025", "2025-02-01"),
        ("01/31/2025", "2025-01-31"),
        ("15.01.2025", "2025-01-15"),
        ("2025-01-15", "2025-01-15"),
        ("January 15, 2025", "2025-01-15"),
        ("Jan. 15th, 2025", "2025-01-15"),
        ("15 January 2025", "2025-01-15"),
        ("29 février 2024", "2024-02-29"),
        ("mars 2024", "2024-03"),
        ("2025", "2025"),
    ],
)
def test_dates_are_read_in_both_languages(text: str, iso: str) -> None:
    figure = only(f"Depuis {text} environ")
    assert (figure.kind, figure.value, figure.text) == ("date", iso, text)


@pytest.mark.parametrize(
    "text", ["29 février 2025", "31/04/2025", "45/13/2025", "12", "page 5", "2018-771", "un jour", "1.2.3.4", "12025", "3"]
)
def test_what_is_no_date_and_has_no_unit_is_no_figure(text: str) -> None:
    assert figures(text) == ()


def test_both_ends_of_a_range_are_figures() -> None:
    assert [figure.value for figure in figures("de 3 à 6 mois")] == [3, 6]
    assert [figure.value for figure in figures("10 % à 20 %")] == [10, 20]


def test_the_year_of_an_amount_is_no_date() -> None:
    assert [(figure.kind, figure.value) for figure in figures("2000 € en 2020")] == [("amount", 2000), ("date", "2020")]
    assert [figure.value for figure in FigureText("2000 euros en 2020, 12 % de 30 jours").of("date")] == ["2020"]


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("2 ans et 3 mois", ["27 month"]),
        ("un an et six mois", ["18 month"]),
        ("a year and six months", ["18 month"]),
        ("2 ans et 3 mois de prison", ["27 month"]),
        ("2 ans et 3 mois de préavis", ["24 month", "3 month"]),
        ("2 à 3 ans et 6 mois", ["24 month", "36 month", "6 month"]),
        ("3 mois et 2 ans", ["3 month", "24 month"]),
        ("2 sem. 3 j.", ["17 day"]),
        ("1h 30min", ["90 minute"]),
        ("une heure et quinze minutes", ["75 minute"]),
        ("P1Y6M", ["18 month"]),
        ("P1Y6M3DT1H30M", ["18 month", "3 day", "90 minute"]),
    ],
)
def test_parts_of_one_duration_are_one_figure(text: str, values: list[str]) -> None:
    assert [f"{figure.value} {figure.unit}" for figure in figures(text)] == values


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("20 € 50", ["20.5"]),
        ("20 euros 50 par mois", ["20.5"]),
        ("20 € 50 €", ["20", "50"]),
        ("20 € 50 personnes", ["20"]),
        ("20 euros 5", ["20"]),
    ],
)
def test_cents_may_stand_apart_behind_the_currency(text: str, values: list[str]) -> None:
    assert [str(figure.value) for figure in figures(text)] == values


@pytest.mark.parametrize(
    ("text", "value", "unit", "written"),
    [
        ("le timbre coûte 20 euros et 50 centimes.", "20.50", "EUR", "20 euros et 50 centimes"),
        (
            "cent quarante-trois euros et soixante-dix centimes",
            "143.70",
            "EUR",
            "cent quarante-trois euros et soixante-dix centimes",
        ),
        ("le repas à 12€50", "12.50", "EUR", "12€50"),
        ("3 dollars 5 cents", "3.05", "USD", "3 dollars 5 cents"),
        ("un million et demi d'euros", "1500000", "EUR", "un million et demi d'euros"),
        ("2 millions et demi d'euros", "2500000", "EUR", "2 millions et demi d'euros"),
        ("trois virgule cinq pour cent", "3.5", "%", "trois virgule cinq pour cent"),
        ("zéro virgule zéro cinq pour cent", "0.05", "%", "zéro virgule zéro cinq pour cent"),
        ("deux ans et demi", "30", "month", "deux ans et demi"),
        ("un an et demi", "18", "month", "un an et demi"),
        ("une heure et demie", "90", "minute", "une heure et demie"),
        ("une demi-heure", "30", "minute", "une demi-heure"),
        ("half an hour", "30", "minute", "half an hour"),
        ("un quart d'heure", "15", "minute", "un quart d'heure"),
        ("trois quarts d'heure", "45", "minute", "trois quarts d'heure"),
    ],
)
def test_an_amount_with_cents_and_halves_are_one_figure(text: str, value: str, unit: str, written: str) -> None:
    (figure,) = figures(text)
    assert (figure.value, figure.unit, figure.text) == (Decimal(value), unit, written)


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("entre 12 euros et 15 euros", [12, 15]),
        ("12,50 € et 50 centimes", [Decimal("12.5"), Decimal("0.5")]),
        ("20 euros, 50 places", [20]),
        ("20 euros et 500 centimes", [20, 5]),
    ],
)
def test_amounts_beside_each_other_stay_apart(text: str, values: list[Decimal]) -> None:
    assert [figure.value for figure in figures(text)] == values


@pytest.mark.parametrize(
    ("held", "claimed", "answer"),
    [
        ("30 jours", "30 jours ouvrables par an", True),
        ("30 jours ouvrés", "30 jours ouvrables", False),
        ("2 jours par mois", "2 jours par an", False),
        ("12 mois", "un an", True),
        ("1 000,50 €", "€1,000.50", True),
        ("1 000 €", "$1,000", False),
        ("15 janvier 2025", "2025", True),
        ("2025", "15 janvier 2025", False),
        ("12 %", "12 €", False),
    ],
)
def test_a_figure_supports_what_it_says_in_other_words(held: str, claimed: str, answer: bool) -> None:
    assert supports(only(held), only(claimed)) is answer


@given(TEXTS)
def test_figures_are_exact_ordered_and_do_not_cross(text: str) -> None:
    end, last = 0, (-1, -1)
    for figure in figures(text):
        assert text[figure.start : figure.end] == figure.text != ""
        assert figure.start >= end or (figure.start, figure.end) == last
        assert supports(figure, figure)
        end, last = figure.end, (figure.start, figure.end)


@given(TEXTS)
@example("le premier mars, du 2 au 6 juin, 30/06/25, 2024-25, 14 juillet '89, en mil neuf cent deux, since 1789, by 30/06")
def test_a_date_is_written_with_the_last_digits_of_its_year_or_with_its_day(text: str) -> None:
    for figure in FigureText(Readable(text).text).all():
        assert figure.kind != "date" or digits_of_date(str(figure.value)) in figure.text


@given(st.decimals(0, 10**9, places=2))
def test_english_and_french_writings_of_an_amount_are_equal(value: Decimal) -> None:
    english = f"{value:,}"
    french = english.replace(",", "\u202f").replace(".", ",")
    assert only(f"€{english}").value == only(f"{french} €").value == value


@pytest.mark.parametrize(
    "piece",
    [
        "1 ",
        "1 000 ",
        "000 ",
        "1,",
        "1.",
        "12/",
        "a ",
        "1er ",
        "1",
        "un an ",
        "jan ",
        "12 pour ",
        "$",
        "3 à ",
        "3 jours de a ",
        "2020-",
        "’000",
        " ",
        "1€",
        "é",
    ],
)
def test_many_hostile_characters_are_read(piece: str) -> None:
    text = piece * (HUGE // len(piece))
    assert only(f"{text[:0]}12 %").value == 12
    assert len(figures(f"{text}\n\n12 %")) >= 1
