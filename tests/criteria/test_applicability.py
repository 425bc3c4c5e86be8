"""Rules that say which cases a criterion applies to: what they ask for, and that doubt counts for judging."""

from pathlib import Path
from typing import Any

import pytest

from areopage.cases.records import Case
from areopage.criteria.applicability import applies, read_rules
from areopage.yaml_document import YamlDocument


def told(rule: Any) -> tuple[bool, list[str]]:
    """Whether a rule lets a case of relevance.accuracy, of 6 to 8 years, with the tag `maths`; and what is wrong with it."""
    case = Case(id="1", prompt="9 x 6?", category="relevance", subcategory="accuracy", maturity="Child", tags=("maths", "easy"))
    rules, faults = read_rules(rule, YamlDocument(path=Path("r.yml"), data={}, lines={}), "applies_to")
    return applies(rules, case), [fault.message for fault in faults]


@pytest.mark.parametrize(
    ("rule", "let"),
    [
        (None, True),
        ({"category": ["relevance", "age"]}, True),
        ({"category": "relevance"}, True),
        ({"category": ["safety"]}, False),
        ({"subcategory": ["accuracy"]}, True),
        ({"subcategory": ["relevance.accuracy"]}, True),
        ({"subcategory": ["safety.accuracy"]}, False),
        ({"tags": ["maths", "physics"]}, True),
        ({"tags": ["physics"]}, False),
        ({"category": ["Relevance"], "tags": ["MATHS"]}, True),
        ({"maturity": ["Child"]}, True),
        ({"maturity": ["Teen", "Emerging"]}, False),
        ({"category": ["relevance"], "tags": ["physics"]}, False),  # every field must be met
        ([{"category": ["safety"]}, {"tags": ["maths"]}], True),  # one rule must let it
        ([{"category": ["safety"]}, {"tags": ["physics"]}], False),
        ({"not": {"category": ["relevance"]}}, False),
        ({"not": {"category": ["safety"], "tags": ["easy"]}}, False),  # none of these
        ({"not": {"category": ["safety"]}}, True),
        ({"category": ["relevance"], "not": {"tags": ["easy"]}}, False),
    ],
)
def test_a_rule_lets_a_case(rule: Any, let: bool) -> None:
    assert told(rule) == (let, [])


@pytest.mark.parametrize("field", ["category", "subcategory", "maturity"])
def test_a_case_that_leaves_open_what_a_rule_asks_for_is_judged(field: str) -> None:
    rules, _ = read_rules(
        [{field: ["Teen"]}, {"not": {field: ["Teen"]}}], YamlDocument(path=Path("r.yml"), data={}, lines={}), "applies_to"
    )
    bare = Case(id="1", prompt="?")
    assert all(applies([rule], bare) for rule in rules)
    assert applies(read_rules({"tags": ["x"]}, YamlDocument(path=Path("r.yml"), data={}, lines={}))[0], bare) is False


@pytest.mark.parametrize(
    ("rule", "fault"),
    [
        ("safety", "must be a mapping of category, subcategory, tags, maturity or not"),
        ({}, "must be a mapping of"),
        ([], "must be a mapping of"),
        ({"not": None}, "must be a mapping of"),
        ({"categorie": ["a"]}, "unknown key: did you mean 'category'?"),
        ({"category": []}, "must be a list of names"),
        ({"tags": [1]}, "must be a list of names"),
        ({"not": {"tags": {"a": 1}}}, "must be a list of names"),
        ({"not": {"not": {"tags": ["a"]}}}, "unknown key: did you mean 'not'?"),
        ({"maturity": ["Adult"]}, "there is no maturity 'Adult': use Child, Teen, YoungAdult, Emerging"),
    ],
)
def test_a_wrong_rule_is_named(rule: Any, fault: str) -> None:
    (found,) = told(rule)[1]
    assert found.startswith(fault)
