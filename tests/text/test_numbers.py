"""Numbers in digits."""

from areopage.text.numbers import around


def test_a_window_cuts_no_number() -> None:
    text = "abc 12 345 678 €"
    assert text[around(text, 9) :].startswith("abc")
