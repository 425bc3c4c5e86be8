"""Citations in any form are citations: an answer that cites a document is delivered, one that cites none that exists is held."""

import pytest

from areopage.app.gate_rules import check_answer
from areopage.gate.records import Decision

DOCUMENTS = [
    {
        "id": "doc-3",
        "text": "La prime est de 250 € par enfant. Elle est versée en juin.",
        "source": "https://exemple.fr/reglement",
        "title": "Règlement",
    },
    {"id": "doc-4", "text": "Le congé dure trois semaines.", "source": "notes/conges.md", "title": "Congés"},
]
ANSWER = "La prime est de 250 € par enfant"


def decided(response: str) -> Decision:
    return check_answer("Quel est le montant de la prime ?", response, DOCUMENTS)


@pytest.mark.parametrize(
    "cited",
    [
        " [doc-3].",
        " [règlement](https://exemple.fr/reglement).",
        " (https://exemple.fr/reglement).",
        " : https://exemple.fr/reglement",
        " (voir doc-3).",
        " (cf. doc-3).",
        " (see doc-3).",
        " (source : Règlement).",
        ".\n\nSources : [1] doc-3 – Règlement",
        ".\n\nSources :\n- doc-3 – Règlement\n- doc-4 : Congés",
        ". Source : doc-3",
        " {doc-3}.",
        " <doc-3>.",
        "¹.",
        ", d'après doc-3.",
    ],
)
def test_a_document_is_cited_by_its_id_its_source_or_its_title_in_any_form(cited: str) -> None:
    decision = decided(ANSWER + cited)
    assert (decision.verdict, decision.cited_ids[:1], decision.unknown_ids) == ("deliver", ("doc-3",), ())


@pytest.mark.parametrize(
    "cited",
    [
        " [source: doc-9].",
        ". Source : doc-9",
        " [voir doc-9].",
        " {doc-9}.",
        " <doc-9>.",
        " (cf. doc-9).",
        ", d'après doc-9.",
        ".\n\nSources :\n- doc-9 – Règlement",
        "⁹.",
    ],
)
def test_an_id_that_no_document_has_is_named_in_any_form(cited: str) -> None:
    decision = decided(ANSWER + cited)
    assert decision.verdict == "human_review"
    assert decision.unknown_ids in (("doc-9",), ("9",))


def test_a_link_to_another_page_is_no_citation() -> None:
    assert decided(f"{ANSWER} [règlement](https://autre.fr/reglement).").verdict == "human_review"


def test_what_a_citation_stands_beside_is_still_checked() -> None:
    assert decided("La prime est de 350 € par enfant (voir doc-3).").verdict == "human_review"
    assert decided(f"{ANSWER}.\n\nSources :\n- doc-3 : 400 €").verdict == "human_review"


def test_words_and_numbers_are_no_ids() -> None:
    documents = [{"id": "2024", "text": "Le bail dure trois ans."}, {"id": "bail", "text": "Le loyer est fixe."}]
    decision = check_answer("Quelle est la durée ?", "Le bail dure trois ans.", documents)
    assert (decision.verdict, decision.cited_ids, decision.unknown_ids) == ("deliver", (), ())
