"""No cell that we write starts a formula."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from areopage.cases.text_files import bare_cell, inert_cell


@pytest.mark.parametrize(
    "text",
    [
        "=1+1",
        "+1+1",
        "-1+1",
        "@SUM(A1)",
        "\t=1",
        "\r=1",
        "\n=1",
        "\tplain",
        " =1+1",
        "＝1+1",
        "-",
        "-1.5.2",
        "+33 6 12",
        "=",
        "-١",
        "|1+1",
        "｜1+1",
        "\u200b=1+1",
        "\ufeff \u2060-1+1",
        "\u00ad\u202e@SUM(A1)",
    ],
)
def test_a_formula_gets_an_apostrophe(text: str) -> None:
    assert inert_cell(text) == "'" + text


@pytest.mark.parametrize(
    ("value", "cell"),
    [
        (-1.5, "-1.5"),
        ("-1.5", "-1.5"),
        ("+3", "+3"),
        ("-2e-05", "-2e-05"),
        (7, "7"),
        (None, ""),
        ("", ""),
        ("a=b", "a=b"),
        ("'x", "'x"),
        ("x\n=1", "x\n=1"),
    ],
)
def test_numbers_stay_numbers_and_text_stays_text(value: object, cell: str) -> None:
    assert inert_cell(value) == cell


@given(text=st.text(st.sampled_from("=+-@\t\r\n '0123.eE|a\u200b"), max_size=8) | st.text())
def test_what_still_starts_like_a_formula_is_a_number(text: str) -> None:
    cell = inert_cell(text)
    assert cell in (text, "'" + text)
    if cell.lstrip(" \t\r\n\u200b")[:1] in tuple("=+-@|"):
        float(cell)


@given(text=st.text(st.sampled_from("=+-@\t\r\n '0123.eE|a\u200b"), max_size=8) | st.text())
def test_the_text_of_a_cell_is_given_back(text: str) -> None:
    assert bare_cell(inert_cell(text)) == text
