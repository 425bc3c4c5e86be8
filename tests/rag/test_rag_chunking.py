"""Texts in chunks."""

import re
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from areopage.rag.ingestion.chunking import Chunk, Cutting, SourceText, TextPart, cut, slug

SMALL = Cutting(size=110, overlap=40, language="fr")
WORDS = re.compile(r"\w+")


def chunks(*parts: TextPart, cutting: Cutting = SMALL, **fields: Any) -> list[Chunk]:
    return list(cut(SourceText(parts=parts, **fields), "docs/reglement.md", "reglement", cutting))


def test_a_chunk_ends_with_a_sentence_and_the_next_one_repeats_its_end() -> None:
    text = (
        "Le délai est de dix jours. Il court à compter de la réception. Passé ce délai, la demande est close. On peut la rouvrir."
    )
    first, second = chunks(TextPart(text=text))
    assert first.text == "Le délai est de dix jours. Il court à compter de la réception. Passé ce délai, la demande est close."
    assert second.text == "Passé ce délai, la demande est close. On peut la rouvrir."


def test_an_article_begins_a_chunk_and_goes_on_over_the_page() -> None:
    pages = (
        TextPart(text="Préambule.\nArticle 12 – Délais\nDix jours.\nVoir l'article 3.", page=1),
        TextPart(text="Suite des délais.\nArt. L. 123-4. Frais.", page=2),
    )
    found = chunks(*pages)
    assert [(one.text.partition("\n")[0], one.headings, one.page) for one in found] == [
        ("Préambule.", (), 1),
        ("Article 12 – Délais", ("Article 12 – Délais",), 1),
        ("Suite des délais.", ("Article 12 – Délais",), 2),
        ("Art. L. 123-4. Frais.", ("Art. L. 123-4. Frais.",), 2),
    ]
    assert "Voir l'article 3." in found[1].text


def test_the_head_of_a_page_is_no_chunk_of_its_own() -> None:
    text = "Version consolidée au 1er mars 2024 10\nArticle 12\nDix jours.\nArticle 13\nUn mois."
    found = chunks(TextPart(text=text, page=10))
    assert [(one.text, one.headings) for one in found] == [
        ("Version consolidée au 1er mars 2024 10\nArticle 12\nDix jours.", ("Article 12",)),
        ("Article 13\nUn mois.", ("Article 13",)),
    ]


def test_headings_and_title_lead_what_is_embedded() -> None:
    (one,) = chunks(TextPart(text="Délai\nDix jours.", headings=("Prêts", "Délai")), title="Guide")
    assert one.embedded == "Guide > Prêts\nDélai\nDix jours."


def test_ids_are_short_and_stable_and_a_documents_own_id_is_kept() -> None:
    (one,) = chunks(TextPart(text="Dix jours."))
    assert re.fullmatch(r"reglement-[0-9a-f]{4}", one.id)
    longer = chunks(TextPart(text="Un tout nouveau début.", headings=("A",)), TextPart(text="Dix jours."))
    assert longer[1].id == one.id
    assert chunks(TextPart(text="Dix jours."), id="art12")[0].id == "art12"
    assert chunks(TextPart(text="Dix jours."), id="[l'art 12]")[0].id.startswith("l-art-12-")


def test_equal_texts_of_one_document_are_two_chunks() -> None:
    one, two = chunks(TextPart(text="Néant.", headings=("A",)), TextPart(text="Néant.", headings=("B",)))
    assert one.key != two.key


def test_a_slug_is_plain_and_short() -> None:
    assert slug("Règlement intérieur (version 2) de la très honorable compagnie") == "reglement-interieur-version-2-de"
    assert slug("???") == "doc"


@given(st.text(alphabet="ab é.!\n\tÉ1,«»\u00a0", max_size=800), st.integers(100, 200), st.integers(0, 99))
def test_no_word_is_cut_or_lost_and_none_is_longer_than_asked(text: str, size: int, overlap: int) -> None:
    found = chunks(TextPart(text=text), cutting=Cutting(size=size, overlap=overlap, language="fr"))
    assert all(len(one.text) <= size for one in found)
    words = [word for word in WORDS.findall(text) if len(word) < size]
    if all(len(run) < size for run in text.split()):
        assert set(WORDS.findall(" ".join(one.text for one in found))) == set(words)


def test_a_run_without_spaces_is_cut_all_the_same() -> None:
    found = chunks(TextPart(text="x" * 1_000))
    assert max(len(one.text) for one in found) <= SMALL.size
