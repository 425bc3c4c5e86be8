"""Numbers in digits and in words."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from areopage.text.numbers import MOST, DigitIndex, around, in_words, key_of


def test_a_number_is_found_by_its_digits_whatever_parts_them() -> None:
    index = DigitIndex(["un prix de 1 000,50 €", "en 2020 300 €"])
    assert (0, 11, 19) in index.spans(key_of("1000.50"))
    assert (1, 8, 11) in index.spans(key_of("300"))
    assert key_of("3000000") == "3"
    assert key_of("0") == "0"


def test_a_window_cuts_no_number() -> None:
    text = "abc 12 345 678 €"
    assert text[around(text, 9) :].startswith("abc")


@given(st.integers(0, MOST))
def test_every_number_has_words_of_its_own_in_both_languages(number: int) -> None:
    french, english = in_words(number)
    assert "-" not in french + english
    assert (french, english) != in_words(number - 1 if number else 1)


@pytest.mark.parametrize(
    ("number", "french", "english"),
    [
        (21, "vingt et un", "twenty one"),
        (71, "soixante et onze", "seventy one"),
        (80, "quatre vingts", "eighty"),
        (91, "quatre vingt onze", "ninety one"),
        (200, "deux cents", "two hundred"),
        (1_001, "mille un", "one thousand one"),
        (200_000, "deux cent mille", "two hundred thousand"),
        (3_500_000, "trois millions cinq cent mille", "three million five hundred thousand"),
    ],
)
def test_numbers_are_spelt_as_the_languages_spell_them(number: int, french: str, english: str) -> None:
    assert in_words(number) == (french, english)
