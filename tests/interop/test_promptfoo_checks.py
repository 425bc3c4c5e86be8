"""An assertion of promptfoo becomes a check only where the check says the same of every response."""

import json
import re
import time
from collections import Counter
from pathlib import Path
from typing import Any, get_args

import msgspec
import pytest

from areopage.criteria.records import Check, CheckType
from areopage.interop.foreign import promptfoo_tests
from areopage.interop.foreign.promptfoo_checks import exact_check, listed
from areopage.interop.foreign.promptfoo_tests import Assertion
from areopage.jury.rules.checks import passes
from servers.command import Command

FORMATS = Path(__file__).parents[2] / "docs/formats.md"


def check(kind: str, value: Any = None) -> Check | None:
    return exact_check(Assertion(type=kind, value=value), str)


@pytest.mark.parametrize(
    ("kind", "value", "passing", "failing"),
    [
        ("regex", "Paris", "In Paris.", "In paris."),
        ("regex", "Paris|Rome", "In Rome.", "In Berlin."),
        ("regex", "^Paris", "Paris it is", "It is Paris"),
        ("regex", r"3\.50 \$", "It costs 3.50 $.", "It costs 3x50 $."),
        ("not-regex", "Berlin", "Paris", "Berlin"),
        ("contains-any", "Paris, Rome", "Rome", "Berlin"),
        ("icontains-all", '"a, b", C', "c and A, B", "a and c"),
        ("contains", 5, "5 of them", "none"),
        ("equals", "Paris", "Paris", "Paris!"),
    ],
)
def test_what_a_check_answers_in_the_same_way_is_one(kind: str, value: Any, passing: str, failing: str) -> None:
    found = check(kind, value)
    assert found is not None
    assert passes(found, passing) and not passes(found, failing)


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        *[("regex", pattern) for pattern in ("Pa.is", "(a+)+b", "^a|b", "a$", r"\d", "a|", "[ab]", "a\\", r"\u0041", "a{2}")],
        *[("equals", {"a": 1}), ("equals", ["a"]), ("similar", "Paris"), ("contains-json", None), ("icontain", "x")],
    ],
)
def test_what_no_check_answers_in_the_same_way_is_none(kind: str, value: Any) -> None:
    assert check(kind, value) is None


def test_the_assertions_that_become_checks_are_those_of_the_documentation() -> None:
    (row,) = [line for line in FORMATS.read_text(encoding="utf-8").splitlines() if "(`rules:checks`)" in line]
    documented = {name for name in re.findall(r"`([a-z-]+)`", row.split("|")[1]) if name != "not-"}
    assert documented == {kind for kind in {*get_args(CheckType), *documented} if check(kind, "x") is not None}


def test_a_list_in_one_text_has_commas_and_quotation_marks() -> None:
    assert listed('a, "b, c" ,d') == ["a", "b, c", "d"]
    assert listed(r'"say \"x\"", "y ""z""",, ') == ['say "x"', 'y "z"']


def test_a_hostile_list_takes_no_time() -> None:
    began = time.perf_counter()
    listed('"' + "\\\\" * 20_000)
    listed('"' * 20_001)
    assert time.perf_counter() - began < 5.0


@pytest.mark.parametrize(
    ("cell", "kind", "value"),
    [
        ("is-json", "is-json", None),
        ("not-word-count: 5", "not-word-count", "5"),
        ("similar:cosine(0.8): Paris", "similar:cosine", "Paris"),
        ("tool-call-f1: x", "tool-call-f1", "x"),
        ("grade: is kind", "llm-rubric", "is kind"),
        ("Note: it rains", "equals", "Note: it rains"),
    ],
)
def test_a_cell_names_its_assertion(cell: str, kind: str, value: str | None) -> None:
    [found] = promptfoo_tests.tests_of_row(["__expected"], [cell], Counter()).assertions
    assert (found.type, found.value) == (kind, value)


def test_what_is_not_kept_is_named_and_a_set_that_must_pass_whole_is_its_members(command: Command, tmp_path: Path) -> None:
    inner = [{"type": "contains", "value": "Paris"}, {"type": "similar", "value": "Paris", "threshold": 0.8}]
    asserted = [
        {"type": "assert-set", "assert": inner},
        {"type": "assert-set", "threshold": 0.5, "assert": inner},
        {"type": "equals", "value": {"a": 1}},
        {"type": "regex", "value": "(a+)+$"},
    ]
    config = {"prompts": ["{{q}}"], "tests": [{"vars": {"q": "France?"}, "assert": asserted}]}
    (tmp_path / "c.json").write_text(json.dumps(config), encoding="utf-8")
    done = command("suites", "import", "promptfoo", tmp_path / "c.json", tmp_path / "suite")
    assert done.code == 0, done.err
    for said in ("assert-set: 1", "similar: 1", "equals with an object or a list: 1", "regex: 1"):
        assert f"not kept: assertion {said}\n" in done.out
    assert "1 criterion" in done.out


def test_a_check_without_what_it_looks_for_is_refused() -> None:
    with pytest.raises(msgspec.ValidationError, match="the check contains-all needs values"):
        msgspec.convert({"type": "contains-all"}, Check)
    assert msgspec.convert({"type": "is-json"}, Check).values == ()
