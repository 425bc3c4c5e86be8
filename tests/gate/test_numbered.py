"""Citations as a reader sees them: numbers in place of ids, and every other word as it was."""

import pytest

from areopage.cases import Document
from areopage.gate.reading.numbered import numbered

LONG = "20181220-avenant-n-36-opco-p-n0-7a7a"
DOCUMENTS = (
    Document(id=LONG, title="Avenant n° 36", text="a", source="avenant36.pdf", metadata={"page": 3, "headings": ["A", "B"]}),
    Document(id="conges-1", title="Congés payés", text="b", source="https://exemple.fr/reglement", metadata={"page": True}),
    Document(id="3", title="Dates", text="c"),
)


@pytest.mark.parametrize(
    ("text", "shown", "ids"),
    [
        (f"A [{LONG}]. B [conges-1]. C [{LONG}].", "A [1]. B [2]. C [1].", [LONG, "conges-1"]),
        (f"A [conges-1, {LONG}]", "A [1, 2]", ["conges-1", LONG]),
        ("A [2][1]. B [1-2]", "A [1][2]. B [2, 1]", ["conges-1", LONG]),
        ("A 【1†source】, jours¹", "A [1], jours [1]", [LONG]),
        ("A (voir conges-1), (cf. conges-1)", "A (voir [1]), (cf. [1])", ["conges-1"]),
        ("[conges-1, page 3] (conges-1, et article 3)", "[1, page 3] ([1], et article 3)", ["conges-1"]),
        ("[id: conges-1] [Document 2] selon le document 2", "[1] [1] selon le document [1]", ["conges-1"]),
        ("[CONGES-1] [Congés payés]", "[1] [1]", ["conges-1"]),
        ("selon avenant36.pdf, (dates)", "selon avenant36.pdf, (dates)", [LONG, "3"]),
        ("[règlement](https://exemple.fr/reglement)", "[règlement](https://exemple.fr/reglement)", ["conges-1"]),
        ("[3] et 3 jours", "[1] et 3 jours", ["3"]),
        ("rien [sic] (2019) [inconnu-9]", "rien [sic] (2019) [inconnu-9]", []),
    ],
)
def test_numbers_stand_for_ids(text: str, shown: str, ids: list[str]) -> None:
    result, sources = numbered(text, DOCUMENTS)
    assert (result, [source.document.id for source in sources]) == (shown, ids)


def test_many_citations_are_all_numbered() -> None:
    assert numbered(f"A [{LONG}]. " * 80, DOCUMENTS)[0] == "A [1]. " * 80


def test_a_source_tells_its_page_and_section() -> None:
    first, second = numbered(f"[{LONG}] [conges-1]", DOCUMENTS)[1]
    assert (first.page, first.section) == (3, "A › B")
    assert (second.page, second.section) == (None, "")


@pytest.mark.parametrize(
    ("text", "shown", "ids"),
    [
        ("A [2]. B [1].", "A [1]. B [2].", ["2", "1"]),
        ("A [3]. B [1]. C [2].", "A [1]. B [2]. C [3].", ["3", "1", "2"]),
        ("A [2, p. 12].", "A [1, p. 12].", ["2"]),
        ("A [2, p. 2; 1].", "A [1, p. 2; 2].", ["2", "1"]),
        ("A [1, p. 3].", "A [1, p. 3].", ["1"]),
        ("A [doc1, doc12, page 3].", "A [1, 2, page 3].", ["doc1", "doc12"]),
        ("A [Bail]. B [a].", "A [1]. B [1].", ["a"]),
        ("A [a[1]]. B [<b>].", "A [1]. B [2].", ["a[1]", "<b>"]),
    ],
)
def test_ids_that_are_numbers_or_parts_of_words_change_no_other_number(text: str, shown: str, ids: list[str]) -> None:
    documents = [
        Document(id=id, title={"a": "Bail"}.get(id, ""), text="x") for id in ("1", "2", "3", "doc1", "doc12", "a", "<b>")
    ]
    if "a[1]" in ids:
        documents.insert(0, Document(id="a[1]", text="x"))
    result, sources = numbered(text, documents)
    assert (result, [source.document.id for source in sources]) == (shown, ids)


def test_sixty_numbers_that_are_ids_stay_apart() -> None:
    documents = [Document(id=str(number), text="x") for number in range(1, 61)]
    text = " ".join(f"S [{number}]." for number in range(60, 0, -1))
    assert numbered(text, documents)[0] == " ".join(f"S [{number}]." for number in range(1, 61))
