"""Numbers in words are read as digits, whatever their spelling."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from areopage.text.readable import Readable
from servers.spelling import in_english, in_french

TEXTS = st.lists(
    st.sampled_from(
        [
            "deux",
            " ",
            "-",
            "cent",
            "cents",
            "mille",
            "million",
            " d'",
            "et",
            "un",
            "une",
            "a",
            "hundred",
            "and",
            "one",
            "vingt",
            "sept",
            "1,5",
            "250",
            "\u200b",
            "\xad",
            "３",
            "③",
            "٣",
            "é",
            ".",
            "\n",
            "Ⅻ",
            "½",
            " 1/2",
            "é",
            "İ",
            "ième",
            "thousand",
            "pour ",
            "quatre",
        ]
    )
).map("".join) | st.text(max_size=40)


@given(st.integers(2, 999_999), st.booleans(), st.booleans(), st.booleans())
def test_every_number_in_french_words_is_read(number: int, hyphens: bool, belgian: bool, feminine: bool) -> None:
    written = in_french(number, hyphens=hyphens, belgian=belgian, feminine=feminine)
    assert Readable(f"Il faut {written} pièces.").text == f"Il faut {number} pièces."


@given(st.integers(2, 999_999))
def test_every_number_in_english_words_is_read(number: int) -> None:
    assert Readable(f"There are {in_english(number)} rooms.").text == f"There are {number} rooms."


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("1,5 million d'euros", "1500000 euros"),
        ("trois millions d’euros", "3000000 euros"),
        ("un million deux cent mille euros", "1200000 euros"),
        ("2.1 million people", "2100000 people"),
        ("250 mille euros", "250000 euros"),
        ("a hundred dollars", "100 dollars"),
        ("cent pour cent", "100 pour cent"),
        ("vingt pour cent", "20 pour cent"),
        ("twelve hundred", "1200"),
        ("Cinq-Cents", "500"),
        ("octante-trois", "83"),
        ("deux mille vingt-cinq", "2025"),
        ("a two-year lease", "a 2-year lease"),
        ("deux, trois et quatre", "2, 3 et 4"),
    ],
)
def test_words_become_digits(text: str, read: str) -> None:
    assert Readable(text).text == read


@pytest.mark.parametrize(
    "text",
    [
        "un euro",
        "one of them",
        "le 15 sept. 2025",
        "le vingt-cinquième jour",
        "the twenty-fifth",
        "des millions d'euros",
        "hundreds of people",
        "per cent",
        "pourcentage",
        "la partie",
        "Lesdeux",
    ],
)
def test_articles_ordinals_and_parts_of_words_are_no_numbers(text: str) -> None:
    assert Readable(text).text == text


def test_two_languages_make_no_number_together() -> None:
    assert Readable("two cents").text == "2 cents"


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("２５０００ €", "25000 €"),
        ("③⑤⓪ €", "350 €"),
        ("Ⅻ €", "12 €"),
        ("٣٥٠ €", "350 €"),
        ("５％", "5%"),
        ("5 m²", "5 m²"),
        ("2\u200b50\ufeff €", "250 €"),
        ("con\xadgés", "congés"),
        ("½", "0.5"),
    ],
)
def test_digits_of_any_script_are_digits_and_what_is_invisible_is_gone(text: str, read: str) -> None:
    assert Readable(text).text == read


def test_a_span_tells_what_stands_in_the_text_itself() -> None:
    text = "Soit\u200b deux cent cinquante € et ３ ans."
    readable = Readable(text)
    start = readable.text.index("250")
    assert readable.original(start, start + 3) == "deux cent cinquante"
    assert readable.original(start, start + 5) == "deux cent cinquante €"
    start = readable.text.index("3 ans")
    assert readable.original(start, start + 5) == "３ ans"


@given(TEXTS, st.integers(0, 60), st.integers(0, 60))
def test_spans_lie_in_the_text_and_keep_their_order(text: str, one: int, other: int) -> None:
    readable = Readable(text)
    first, last = sorted((min(one, len(readable.text)), min(other, len(readable.text))))
    start, end = readable.span(first, last)
    assert 0 <= start <= len(text) and 0 <= end <= len(text)
    assert first == last or start <= end


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("½ of it", "0.5 of it"),
        ("⅓", "0.3333"),
        ("2½ ans", "2.5 ans"),
        ("2 ⅛ inches", "2.1250 inches"),
        ("2 1/2 hours", "2.5 hours"),
        ("1/2 heure", "0.5 heure"),
        ("2½ million", "2500000"),
        ("2/3 jours, le 1/2", "2/3 jours, le 1/2"),
    ],
)
def test_a_fraction_is_read_in_decimals_where_it_is_a_sign_or_part_of_a_number(text: str, read: str) -> None:
    readable = Readable(text)
    assert readable.text == read
    assert readable.original(0, len(read)) == text
