"""What an answer states."""

from areopage.gate.reading.stated import around


def test_a_window_cuts_no_number() -> None:
    text = "abc 12 345 678 €"
    assert text[around(text, 9) :].startswith("abc")
