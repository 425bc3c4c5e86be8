"""Placeholders: values go in as they are, whatever they hold; faults of a template are found before it is used."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from areopage.criteria.prompts import PLACEHOLDERS, fill, template_faults, without_content

VALUE = st.text(alphabet=st.sampled_from("ab{}%$\\s \n{age_group}é😀\x00")) | st.text()


@given(VALUE, VALUE)
def test_values_are_put_in_verbatim_and_never_read_as_templates(age: str, level: str) -> None:
    filled = fill("<{age_group}|{reading_level}|{age_group}>", {"age_group": age, "reading_level": level})
    assert filled == f"<{age}|{level}|{age}>"


@given(st.text())
def test_a_doubled_text_stands_for_itself_and_has_no_fault(text: str) -> None:
    template = text.replace("{", "{{").replace("}", "}}")
    assert template_faults(template) == []
    assert fill(template, {"age_group": "x"}) == text


@given(st.text(alphabet=st.sampled_from("{}a_ \n%")))
def test_any_template_is_filled_without_an_error(template: str) -> None:
    fill(template, dict.fromkeys(PLACEHOLDERS, "{x}%s"))
    template_faults(template)


@pytest.mark.parametrize(
    ("template", "filled"),
    [
        ("{{age_group}}", "{age_group}"),
        ("{{{age_group}}}", "{9}"),
        ('{{"score": {age_group}}}', '{"score": 9}'),
        ("{unknown}", "{unknown}"),
        ("a { b } c", "a { b } c"),
        ("100%s %(age_group)s $age_group", "100%s %(age_group)s $age_group"),
    ],
)
def test_braces_are_read_in_these_ways(template: str, filled: str) -> None:
    assert fill(template, {"age_group": "9"}) == filled


def test_each_fault_of_a_template_is_named_with_its_line() -> None:
    faults = template_faults("fine {age_group}\nan { open one\n{unknwon}\nand a } closed one {Age} {{fine}}")
    assert [fault.split(")")[0] for fault in faults] == [
        "unbalanced '{' (its line 2",
        "unknown placeholder {unknwon} (its line 3",
        "unbalanced '}' (its line 4",
        "unbalanced '{' (its line 4",
        "unbalanced '}' (its line 4",
    ]


def test_the_lines_that_held_the_case_go_with_their_headings() -> None:
    template = '{{\n  "score": 0-5\n}}\n\nCONTENT TO ANALYZE:\n\nPROMPT: {prompt}\nRESPONSE:\n{response}'
    assert without_content(template) == '{{\n  "score": 0-5\n}}'


def test_escaped_names_of_the_case_and_headings_of_other_texts_stay() -> None:
    for template in ('{{\n  "score": 0\n}}\nAnswer so:', "write {{response}} literally", "for {age_group} years"):
        assert without_content(template) == template
