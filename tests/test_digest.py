"""Digests of lists that are too long to be encoded at once."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from areopage.cases.records import Case
from areopage.digest import digest_of, digest_of_list

VALUES = st.none() | st.integers() | st.text(max_size=5) | st.builds(Case, id=st.text(max_size=3), prompt=st.text(max_size=3))


@given(st.lists(VALUES, max_size=4), st.lists(VALUES, max_size=4))
def test_a_list_has_the_same_digest_where_its_values_are_encoded_one_by_one(values: list[Any], inner: list[Any]) -> None:
    assert digest_of_list(values) == digest_of(values)
    assert digest_of_list([*values, iter(inner), *values]) == digest_of([*values, inner, *values])
