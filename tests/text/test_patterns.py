"""Patterns that are compiled late match as those that are compiled at once."""

import re

import pytest

from areopage.text.patterns import late_pattern


def test_a_late_pattern_matches_as_a_compiled_one() -> None:
    late, early = late_pattern(r"(a+)b", re.IGNORECASE), re.compile(r"(a+)b", re.IGNORECASE)
    text = "xAAb ab"
    assert [one.span() for one in late.finditer(text)] == [one.span() for one in early.finditer(text)]
    assert (late.findall(text), late.sub("-", text)) == (early.findall(text), early.sub("-", text))
    assert (late.pattern, late.flags, late.search("c")) == (early.pattern, early.flags, None)


def test_a_late_pattern_is_compiled_at_its_first_use() -> None:
    wrong = late_pattern("(")
    with pytest.raises(re.error):
        wrong.search("")
