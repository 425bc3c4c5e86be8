"""Numbers in digits."""

from areopage.text.numbers import DigitIndex, around, key_of


def test_a_number_is_found_by_its_digits_whatever_parts_them() -> None:
    index = DigitIndex(["un prix de 1 000,50 €", "en 2020 300 €"])
    assert (0, 11, 19) in index.spans(key_of("1000.50"))
    assert (1, 8, 11) in index.spans(key_of("300"))
    assert key_of("3000000") == "3"
    assert key_of("0") == "0"


def test_a_window_cuts_no_number() -> None:
    text = "abc 12 345 678 €"
    assert text[around(text, 9) :].startswith("abc")
