"""Placeholders: values go in as they are, whatever they hold; all other braces are text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from areopage.criteria.prompts import PLACEHOLDERS, fill, misspelt_placeholders, without_content

VALUE = st.text(alphabet=st.sampled_from("ab{}%$\\s \n{age_group}é😀\x00")) | st.text()


@given(VALUE, VALUE)
def test_values_are_put_in_verbatim_and_never_read_as_templates(age: str, level: str) -> None:
    filled = fill("<{age_group}|{reading_level}|{age_group}>", {"age_group": age, "reading_level": level})
    assert filled == f"<{age}|{level}|{age}>"


@given(st.text())
def test_a_doubled_text_stands_for_itself(text: str) -> None:
    template = text.replace("{", "{{").replace("}", "}}")
    assert fill(template, {"age_group": "x"}) == text


@given(st.text(alphabet=st.sampled_from("{}a_ \n%")))
def test_any_template_is_filled_without_an_error(template: str) -> None:
    fill(template, dict.fromkeys(PLACEHOLDERS, "{x}%s"))
    misspelt_placeholders(template)


@pytest.mark.parametrize(
    ("template", "filled"),
    [
        ("{{age_group}}", "{age_group}"),
        ("{{{age_group}}}", "{9}"),
        ('{{"score": {age_group}}}', '{"score": 9}'),
        ("{unknown}", "{unknown}"),
        ("a { b } c", "a { b } c"),
        ('{"score": 0-5}', '{"score": 0-5}'),
        ('{"a": {"b": {"score": {age_group}}}}', '{"a": {"b": {"score": 9}}}'),
        ('{{"a": {{"b": {age_group}}}}}', '{"a": {"b": 9}}'),
        ("{Age} {age group} {it}", "{Age} {age group} {it}"),
        ("100%s %(age_group)s $age_group", "100%s %(age_group)s $age_group"),
    ],
)
def test_braces_are_read_in_these_ways(template: str, filled: str) -> None:
    assert fill(template, {"age_group": "9"}) == filled


def test_almost_a_placeholder_is_named_with_its_line_and_other_braces_are_text() -> None:
    assert misspelt_placeholders("fine {age_group}\nan { open one\n{age_grup}\n{unknown} and a } {Age} {{fine}}") == [
        "{age_grup} (its line 3) is no placeholder: did you mean {age_group}?"
    ]


def test_the_lines_that_held_the_case_go_with_their_headings() -> None:
    template = '{{\n  "score": 0-5\n}}\n\nCONTENT TO ANALYZE:\n\nPROMPT: {prompt}\nRESPONSE:\n{response}'
    assert without_content(template) == '{{\n  "score": 0-5\n}}'


def test_escaped_names_of_the_case_and_headings_of_other_texts_stay() -> None:
    for template in ('{{\n  "score": 0\n}}\nAnswer so:', "write {{response}} literally", "for {age_group} years"):
        assert without_content(template) == template
