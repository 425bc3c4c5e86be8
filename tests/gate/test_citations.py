"""Which documents an answer cites, in any form, and what is no citation."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from areopage.cases.records import Document
from areopage.gate.reading.citations import citations_of, exact_ids

DOCUMENTS = [
    Document(id="doc1", title="Code civil", text="Le délai est de dix jours, comme on l’a montré [12]."),
    Document(id="doc2", title="Loi Élan", text="Autre texte."),
    Document(id="doc3", text="Encore un autre."),
]


@pytest.mark.parametrize(
    ("response", "cited"),
    [
        ("Dix jours [doc1].", ["doc1"]),
        ("Dix jours [DOC 1].", ["doc1"]),
        ("Dix jours (doc2).", ["doc2"]),
        ("Dix jours 【3】【1†source】.", ["doc3", "doc1"]),
        ("Dix jours [1][2].", ["doc1", "doc2"]),
        ("Dix jours [1, 2 et 3].", ["doc1", "doc2", "doc3"]),
        ("Dix jours [1-3].", ["doc1", "doc2", "doc3"]),
        ("Dix jours [doc3 ; doc1].", ["doc3", "doc1"]),
        ("Dix jours [Document 2].", ["doc2"]),
        ("Dix jours [id: doc3].", ["doc3"]),
        ("Dix jours [code  CIVIL].", ["doc1"]),
        ("Dix jours (Source : loi Elan).", ["doc2"]),
        ("Dix jours selon le texte^2.", ["doc2"]),
        ("Dix jours [^2].", ["doc2"]),
        ("Le document 2 parle de dix jours.", ["doc2"]),
    ],
)
def test_a_citation_is_found_in_any_form(response: str, cited: list[str]) -> None:
    found = citations_of(response, DOCUMENTS)
    assert (list(found.cited_ids), found.unknown) == (cited, ())
    assert all(place.text == response[place.start : place.end] for place in found.spans)


@pytest.mark.parametrize(
    ("response", "unknown"),
    [
        ("Dix jours [doc9].", ["doc9"]),
        ("Dix jours (doc9).", ["doc9"]),
        ("Dix jours [7].", ["7"]),
        ("Dix jours [Document 9].", ["Document 9"]),
        ("Dix jours [id: rapport].", ["rapport"]),
        ("Dix jours [doc1, doc7].", ["doc7"]),
    ],
)
def test_an_id_that_no_document_has_is_named(response: str, unknown: list[str]) -> None:
    found = citations_of(response, DOCUMENTS)
    assert [label for label, _ in found.unknown] == unknown
    assert all(place.text == response[place.start : place.end] for _, place in found.unknown)


@pytest.mark.parametrize(
    "text",
    [
        "[sic]",
        "[...]",
        "[doc](https://example.org)",
        "[1](https://example.org)",
        "(2019)",
        "[2019]",
        "(1)",
        "[0, 1]",
        "x^2",
        "10^3",
        "[page 12]",
        "[art. 5]",
        "[12 %]",
        "[NOM]",
        "[ ]",
        "le document 9",
        "[x]",
        "[12]",
    ],
)
def test_what_looks_like_a_citation_and_is_none_is_left_alone(text: str) -> None:
    found = citations_of(f"Dix jours {text} en tout.", DOCUMENTS)
    assert (found.cited_ids, found.unknown, found.known_share) == ((), (), None)


def test_an_id_goes_before_a_title_and_a_title_before_a_position() -> None:
    documents = [
        Document(id="2", text="a", title="x"),
        Document(id="b", text="b", title="1"),
        Document(id="c", text="c", title="2"),
    ]
    assert citations_of("[2]", documents).cited_ids == ("2",)
    assert citations_of("[1]", documents).cited_ids == ("b",)
    assert citations_of("[3]", documents).cited_ids == ("c",)


def test_the_documented_reading_takes_ids_to_the_letter() -> None:
    assert exact_ids("a [doc1] b [Doc2] c [doc1, doc3] (doc3)", DOCUMENTS).cited_ids == ("doc1",)


@given(st.text(alphabet=st.sampled_from("[]()【】^0123doc, -–é\u0301\u202e\n"), max_size=80))
def test_any_text_gives_places_that_are_slices_of_it(response: str) -> None:
    found = citations_of(response, DOCUMENTS)
    for place in [*found.spans, *(place for _, place in found.unknown)]:
        assert place.text == response[place.start : place.end]
    assert set(found.cited_ids) <= {"doc1", "doc2", "doc3"}
