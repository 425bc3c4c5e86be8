"""Texts made comparable, and expressions that are tried only where they may match."""

import re
from decimal import Decimal

from hypothesis import given
from hypothesis import strategies as st

from areopage.text.figure_forms import figures
from areopage.text.folding import lower_case, matches_at, plain

RUN = re.compile("[0-9]+")
AMOUNT = re.compile("(?<![0-9])[0-9]+(?: ?[0-9]{3}(?![0-9]))? ?€?")  # it begins with a run and ends with one


def test_case_accents_and_punctuation_do_not_count() -> None:
    assert plain("  L’ÉTÉ (2025) – cœur_n° 3 ") == "l ete 2025 cœur n 3"
    assert plain("e\u0301te\u0301") == plain("Été")


@given(st.text())
def test_the_plain_form_is_stable(text: str) -> None:
    assert plain(plain(text)) == plain(text)


@given(st.text(st.characters() | st.sampled_from("İıſKAé")))
def test_lower_case_is_as_long_as_the_text(text: str) -> None:
    assert len(lower_case(text)) == len(text)


def test_letters_that_are_an_i_or_an_s_whatever_their_case_are_read_as_such() -> None:
    assert lower_case("ſİX dayſ, mıN") == "six days, min"


@given(st.text(st.sampled_from("12 €a")))
def test_matches_at_their_starts_are_all_matches(text: str) -> None:
    found = matches_at(AMOUNT, text, [match.start() for match in RUN.finditer(text)])
    assert [match.span() for match in found] == [match.span() for match in AMOUNT.finditer(text)]


def test_a_figure_in_unusual_letters_is_read_and_stops_nothing() -> None:
    assert [(one.value, one.unit, one.text) for one in figures("ſix days, 5 mınutes")] == [
        (Decimal(6), "day", "ſix days"),
        (Decimal(5), "minute", "5 mınutes"),
    ]
    assert [one.value for one in figures("2 avrıl 2020")] == ["2020-04-02"]
