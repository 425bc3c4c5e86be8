"""Documents are read from what people put into one cell, and a damaged list is not taken for a text."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from areopage.cases.documents import read_documents


@pytest.mark.parametrize(
    "cell",
    [
        [{"doc_titre": "Article 45", "text": "30 jours"}],
        '[{"doc_titre": "Article 45", "text": "30 jours"}]',
        {"titre": "Article 45", "contenu": "30 jours"},
    ],
)
def test_documents_are_read_in_the_older_systems_words(cell: Any) -> None:
    (document,) = read_documents(cell)
    assert (document.id, document.title, document.text) == ("doc1", "Article 45", "30 jours")


def test_documents_may_be_texts_and_keep_what_else_they_say() -> None:
    first, second = read_documents(
        ["[1] plain", {"id": 7, "text": "t", "score": "0.5", "source": "s", "page": 3, "metadata": {"a": 1}}]
    )
    assert (first.id, first.text) == ("doc1", "[1] plain")
    assert (second.id, second.score, second.source, second.metadata) == ("7", 0.5, "s", {"a": 1, "page": 3})


@pytest.mark.parametrize("cell", ["one text, with [brackets]", "[Document 1] (Score: 0.5)\ntext", "[1]", "{note} x"])
def test_plain_text_is_one_document_even_behind_a_bracket(cell: str) -> None:
    assert [document.text for document in read_documents(cell)] == [cell]


@pytest.mark.parametrize("cell", [None, "", " \n", [], "[]", " [ ] "])
def test_an_empty_cell_or_list_is_no_document(cell: Any) -> None:
    assert read_documents(cell) == ()


DEEP = '[{"text": "x", "a": '


@pytest.mark.parametrize(
    "cell",
    ['[{"text": "cut', "['printed', 'by Python']", "{'text': 'x'}", '["a",]', DEEP * 300, DEEP + "[" * 200 + "]" * 200 + "}]"],
)
def test_a_cell_that_begins_like_a_list_and_is_none_is_refused(cell: str) -> None:
    with pytest.raises(ValueError):
        read_documents(cell)


@given(cell=st.text(st.sampled_from("[]{}\"':,a1 \n"), max_size=20) | st.text() | st.integers() | st.lists(st.text() | st.none()))
def test_any_cell_is_documents_with_text_or_a_value_error(cell: Any) -> None:
    try:
        documents = read_documents(cell)
    except ValueError as fault:
        assert len(str(fault).splitlines()) == 1
    else:
        assert all(document.text.strip() and document.id for document in documents)
