"""A maturity is understood, or refused; it is never guessed."""

from importlib import resources
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from areopage.cases.maturity import normalise_maturity
from areopage.cases.records import MATURITIES, Maturity

DOCS = Path(__file__).parents[2] / "docs" / "reference" / "cases.md"
BANDS: dict[Maturity, range] = {
    "Child": range(6, 9),
    "Teen": range(9, 13),
    "YoungAdult": range(13, 18),
    "Emerging": range(18, 26),
}
ORDER = {maturity: place for place, maturity in enumerate(MATURITIES)}

ages = st.integers(6, 25)
spellings = st.sampled_from(
    [
        "{}",
        " {} ",
        "{}.0",
        "{} ans",
        "{}ans",
        "âge {}",
        "Age: {}",
        "âgé de {} ans",
        "age {}",
        "{} years old",
        "{}-year-old",
        "{} year olds",
        "{} y/o",
        "{}yo",
        "{}+",
        "{} ans et plus",
        "{} and over",
        "adolescent, {}",
        "enfant ({} ans)",
        "Young adult – {}",
        "adulte {}",
        "6e, {} ans",
    ]
)
ranges = st.sampled_from(
    [
        "{}-{}",
        "{} - {}",
        "{}–{}",
        "{}..{}",
        "{}…{}",
        "{} to {}",
        "{}-to-{}",
        "{} à {} ans",
        "{} ans à {} ans",
        "de {} à {} ans",
        "between {} and {}",
        "entre {} et {} ans",
        "ages {}-{}",
        "Teen ({}-{})",
        "{}-{} years",
        "aged {} through {}",
    ]
)


def band_of(age: int) -> Maturity:
    return next(maturity for maturity, band in BANDS.items() if age in band)


@given(age=ages, spelling=spellings)
def test_every_age_maps_to_its_band_however_it_is_written_and_beats_words(age: int, spelling: str) -> None:
    assert normalise_maturity(spelling.replace("{}", str(age))) == band_of(age)


@given(age=ages, fraction=st.floats(0, 0.99))
def test_a_number_in_a_number_cell_is_an_age(age: int, fraction: float) -> None:
    assert normalise_maturity(age) == normalise_maturity(age + fraction) == band_of(age)


@given(low=ages, high=ages, spelling=ranges)
def test_a_range_takes_the_band_of_its_lower_end(low: int, high: int, spelling: str) -> None:
    text = spelling.replace("{}", str(low), 1).replace("{}", str(high), 1)
    if low <= high:
        assert normalise_maturity(text) == band_of(low)
    else:
        with pytest.raises(ValueError, match="write the lower age first"):
            normalise_maturity(text)


@pytest.mark.parametrize("maturity", MATURITIES)
def test_a_name_maps_to_itself_in_any_case(maturity: str) -> None:
    spaced = maturity.replace("gA", "g A")
    for text in (maturity, maturity.upper(), maturity.lower(), spaced, spaced.replace(" ", "_"), spaced.replace(" ", "-")):
        assert normalise_maturity(text) == maturity


@pytest.mark.parametrize(
    ("text", "maturity"),
    [
        ("kids", "Child"),
        ("Enfants", "Child"),
        ("pré-ado", "Teen"),
        ("Préadolescente", "Teen"),
        ("tweens", "Teen"),
        ("adolescent", "Teen"),
        ("Jeunes adultes", "YoungAdult"),
        ("étudiante", "Emerging"),
        ("adult", "Emerging"),
        ("child / enfant", "Child"),
        ("CP", "Child"),
        ("CE2", "Child"),
        ("élève de CM1", "Teen"),
        ("classe de 6ème", "Teen"),
        ("4e", "YoungAdult"),
        ("Terminale", "YoungAdult"),
        ("Grade 3", "Child"),
        ("4th grade", "Teen"),
        ("enfant, 6e", "Teen"),
        ("5 ans", "Child"),
        ("0-5", "Child"),
        ("40", "Emerging"),
        ("120", "Emerging"),
    ],
)
def test_words_and_school_levels_follow_the_published_table(text: str, maturity: str) -> None:
    assert normalise_maturity(text) == maturity


@pytest.mark.parametrize("value", [None, "", "  ", "\n", float("nan")])
def test_an_empty_cell_is_none(value: object) -> None:
    assert normalise_maturity(value) is None


@pytest.mark.parametrize(
    "value",
    [
        "0",
        0,
        -8,
        "-8",
        "121",
        float("inf"),
        10**400,
        True,
        ["Child"],
        "under 13",
        "18 months",
        "year 5",
        "collège",
        "college",
        "child or teen",
        "6-8, 9-12",
        "8/10",
        "version 15",
        "3e année",
        "15 %",
        "1²",
        "٨",
        "6-8-10",
        "n/a",
        "unknown",
        "u13",
        "13++",
        "1.2.3",
        "(),",
        "age",
        "8" * 1000,
    ],
)
def test_what_is_not_wholly_understood_is_refused(value: object) -> None:
    with pytest.raises(ValueError):
        normalise_maturity(value)


def test_a_range_that_a_spreadsheet_turned_into_a_date_is_recognised_as_such() -> None:
    with pytest.raises(ValueError, match="is a date"):
        normalise_maturity("2024-08-06")


@given(text=st.text() | st.text("0123456789 -–.àaeto+ansyr,/()", max_size=40))
def test_any_text_is_a_maturity_or_none_or_a_value_error_in_one_line(text: str) -> None:
    try:
        maturity = normalise_maturity(text)
    except ValueError as fault:
        assert len(str(fault).splitlines()) == 1
    else:
        assert maturity is None or maturity in MATURITIES


@given(value=st.none() | st.booleans() | st.integers() | st.floats() | st.binary() | st.lists(st.integers()))
def test_any_cell_is_a_maturity_or_none_or_a_value_error(value: object) -> None:
    try:
        maturity = normalise_maturity(value)
    except ValueError:
        return
    assert maturity is None or maturity in MATURITIES


def test_every_alias_of_the_file_is_understood_and_every_word_is_in_the_reference() -> None:
    table = yaml.safe_load(resources.files("areopage.cases").joinpath("maturity_aliases.yml").read_text(encoding="utf-8"))
    text = DOCS.read_text(encoding="utf-8")
    rows = {line.split("|")[1].strip(): line.split("|")[3] for line in text.splitlines() if line.count("|") == 4}
    for maturity, words in table["words"].items():
        assert [normalise_maturity(word) for word in words] == [maturity] * len(words)
        assert [word.strip() for word in rows[f"`{maturity}`"].split(",")] == words
    for level, age in table["school_levels"].items():
        assert normalise_maturity(level) == normalise_maturity(age), level


@given(low=ages, high=ages)
def test_a_range_is_never_less_strict_than_one_of_its_ages(low: int, high: int) -> None:
    low, high = sorted((low, high))
    found = normalise_maturity(f"{low}-{high}")
    assert found is not None
    assert all(ORDER[found] <= ORDER[band_of(age)] for age in range(low, high + 1))
