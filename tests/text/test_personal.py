"""What is personal goes; what an answer rests on (articles, dates, amounts) stays; no text takes long."""

import string

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from areopage.text.figure_forms import figures
from areopage.text.personal import redact
from areopage.text.reference_forms import references
from servers import HUGE


@pytest.mark.parametrize(
    "address",
    [
        "jean.dupont@exemple.fr",
        "a+b_c-d%e@mail.exemple.co.uk",
        "JEAN@EXEMPLE.FR",
        "rené@exemple.fr",
        "jean.dupont (at) exemple.fr",
        "x@1and1.com",
        f"{'a' * 80}@exemple.fr",
    ],
)
def test_addresses_go(address: str) -> None:
    assert redact(f"Écrivez à {address}, merci.") == "Écrivez à [EMAIL], merci."


@pytest.mark.parametrize(
    "number",
    [
        "01 23 45 67 89",
        "01.23.45.67.89",
        "01-23-45-67-89",
        "0123456789",
        "01 23 45 67 89",
        "01/23/45/67/89",
        "01 234 567 89",
        "+33 1 23 45 67 89",
        "+33123456789",
        "+33 (0)1 23 45 67 89",
        "0033 1 23 45 67 89",
        "(+33) 6 12 34 56 78",
        "06 12 34 19 85",
        "+1 202-555-0143",
        "+1 (202) 555-0143",
        "(202) 555-0143",
        "202-555-0143",
        "+44 20 7946 0958",
        "020 7946 0958",
        "07700 900123",
        "0121 496 0123",
        "+32 470 12 34 56",
        "+41 79 123 45 67",
    ],
)
def test_telephone_numbers_go(number: str) -> None:
    assert redact(f"Appelez le {number}, ou venez.") == "Appelez le [PHONE], ou venez."


@pytest.mark.parametrize(
    "number",
    [
        "FR76 3000 6000 0112 3456 7890 189",
        "FR7630006000011234567890189",
        "fr76 3000 6000 0112 3456 7890 189",
        "DE89 3704 0044 0532 0130 00",
        "GB29 NWBK 6016 1331 9268 19",
        "BE68-5390-0754-7034",
        "MT84 MALT 0110 0001 2345 MTLC AST0 01S",
    ],
)
def test_ibans_go(number: str) -> None:
    assert redact(f"IBAN : {number} est le mien") == "IBAN : [IBAN] est le mien"


@pytest.mark.parametrize("number", ["FR76 3000 6000 0112 3456 7890 188", "ZZ89 3704 1144 1532 1130 00", "FR76 3000 6000"])
def test_what_only_looks_like_an_iban_stays(number: str) -> None:
    assert number in redact(f"IBAN : {number}.")


@pytest.mark.parametrize("number", ["4111 1111 1111 1111", "4111111111111111", "5500-0000-0000-0004", "3782 822463 10005"])
def test_cards_with_the_right_check_digit_go(number: str) -> None:
    assert redact(f"Carte {number}.") == "Carte [CARD]."
    wrong = number[:-1] + str((int(number[-1]) + 1) % 10)
    assert redact(f"Carte {wrong}.") == f"Carte {wrong}."


def test_social_security_numbers_with_the_right_key_go() -> None:
    assert redact("NIR 1 84 12 76 451 089 46, 255081416802538") == "NIR [SSN], [SSN]"
    assert redact("NIR 1 84 12 2A 451 089 33") == "NIR [SSN]"
    assert redact("NIR 1 84 12 76 451 089 47") == "NIR 1 84 12 76 451 089 47"


@pytest.mark.parametrize(
    ("text", "redacted"),
    [
        ("M. Dupont, Mme de La Tour et Maître Élodie Lévêque-Martin", "M. [NAME], Mme [NAME] et Maître [NAME]"),
        ("MME DURAND et Me O’Brien", "MME [NAME] et Me [NAME]"),
        ("Dear Mr Smith, Dr. J. Watson here", "Dear Mr [NAME], Dr. [NAME] here"),
        ("M. Le Goff et Mme d’Ormesson", "M. [NAME] et Mme [NAME]"),
        ("je m'appelle jean dupont et j'habite Lyon", "je m'appelle [NAME] et j'habite Lyon"),
        ("Je m’appelle Awa Ndiaye.", "Je m’appelle [NAME]."),
        ("My name is Xi Wu and I ask", "My name is [NAME] and I ask"),
        ("Nom : DURAND\nPrénom : paul", "Nom : [NAME]\nPrénom : [NAME]"),
        ("Jean Dupont et DUPONT Jean ont signé", "[NAME] et [NAME] ont signé"),
        ("Bonjour Marie-Claire Durand, bonjour Sophie de la Motte !", "Bonjour [NAME], bonjour [NAME] !"),
        ("I met Sarah Connor yesterday", "I met [NAME] yesterday"),
        ("LE DOSSIER DE JEAN DUPONT EST CLOS", "LE DOSSIER DE [NAME] EST CLOS"),
    ],
)
def test_names_go(text: str, redacted: str) -> None:
    assert redact(text) == redacted


@pytest.mark.parametrize(
    "text",
    [
        "Madame, Monsieur, bonjour.",
        "Monsieur le Président de la Chambre",
        "Tell Me About The Labour Code",
        "La Convention Collective Nationale du Notariat, Cour de cassation, Conseil d'État",
        "**Analyse** : la question. **Principe** : la règle. **Sources** : CCN du Notariat - Article 45",
        "Code civil, Code du travail, Data Protection Act 2018, Companies Act 2006",
        "SIRET 552 100 554 00025, SIREN 552 100 554, IDCC 2205",
        "+12 000 000 € et 1 000 000,50 €, +5 000 000",
        "01/02/2025 10:30, 2025-01-15, le 1er janvier 2025, 12.10.2025",
        "09-12.345 09-12.346, pourvoi n° 10-11.222, C-131/12, (UE) 2016/679",
        "articles L. 1234-5, R.*123-4, 3 et 4 ; loi n° 2018-771 du 5 septembre 2018",
        "2,5 jours par mois, 30 jours ouvrables, 12,5 %, 48 heures",
        "Article 6\nM. 123",
    ],
)
def test_what_an_answer_rests_on_stays(text: str) -> None:
    assert redact(text) == text


numbers = st.integers(min_value=1, max_value=99_999)
small = st.integers(min_value=1, max_value=28)
months = st.sampled_from(["janvier", "mars", "août", "December", "May"])
years = st.integers(min_value=1950, max_value=2049)
groups = st.lists(st.integers(min_value=0, max_value=999), min_size=1, max_size=4)
pieces = st.one_of(
    st.builds("article L. {}-{}".format, numbers, small),
    st.builds("articles {} et {}".format, numbers, numbers),
    st.builds("loi n° {}-{}".format, years, numbers),
    st.builds("pourvoi n° {:02d}-{:02d}.{:03d}".format, small, small, st.integers(min_value=0, max_value=999)),
    st.builds("{} {} {}".format, small, months, years),
    st.builds("{:02d}/{:02d}/{}".format, small, st.integers(min_value=1, max_value=12), years),
    st.builds("{}-{:02d}-{:02d}".format, years, st.integers(min_value=1, max_value=12), small),
    st.builds(
        lambda first, rest, sign: f"{first} " + " ".join(f"{group:03d}" for group in rest) + f" {sign}",
        st.integers(min_value=1, max_value=999), groups, st.sampled_from(["€", "euros", "EUR"]),
    ),
    st.builds("{},{:02d} €".format, numbers, small),
    st.builds("+{} %".format, numbers),
    st.builds("{} jours ouvrables".format, numbers),
    st.builds("Regulation (EU) {}/{}".format, years, small),
)  # fmt: skip


@given(st.lists(pieces, max_size=8), st.sampled_from([", ", " ; ", ". ", "\n", " et "]))
@example(["1 001 000 000 000 €"], ", ")
def test_figures_and_references_survive(parts: list[str], between: str) -> None:
    text = between.join(parts)
    redacted = redact(text)
    assert [(one.kind, one.normalised) for one in references(redacted)] == [
        (one.kind, one.normalised) for one in references(text)
    ]
    assert [(one.kind, one.value, one.unit) for one in figures(redacted)] == [
        (one.kind, one.value, one.unit) for one in figures(text)
    ]


@given(st.text(alphabet=string.printable + "éÉ’  €«»[]", max_size=300))
def test_redacting_twice_changes_nothing_more(text: str) -> None:
    assert redact(redact(text)) == redact(text)


def test_a_redacted_text_is_left_alone() -> None:
    text = "M. [NAME], [EMAIL], [PHONE], [IBAN], [CARD], je m'appelle [NAME]"
    assert redact(text) == text


@pytest.mark.parametrize(
    "piece",
    [
        "a",
        "a@",
        "a.",
        "A-",
        "Aa ",
        "A. ",
        "A'a",
        "0",
        "01 ",
        "+1 ",
        "(",
        "FR76 ",
        "FR76",
        "M. ",
        "Jean ",
        "Jean de la ",
        "de ",
        "je m'appelle ",
        "a (at) ",
        "4111 ",
        "1 84 ",
        f"a@{'b' * 62}.",
        " ",
        "\n",
        "é",
        "JEAN ",
    ],
)
def test_many_hostile_characters_are_read_through(piece: str) -> None:
    """With anything quadratic in them the patterns would not end within the patience of whoever runs the tests."""
    assert redact((piece * (HUGE // len(piece) + 1))[:HUGE])
