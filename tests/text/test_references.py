"""References to law and documents, in any of their writings."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from areopage.text.reference_forms import references
from servers import HUGE

PIECES = st.sampled_from(
    [
        "article ",
        "articles ",
        "art. ",
        "L. ",
        "R.*",
        "123-4",
        "45",
        " et ",
        ", ",
        "loi ",
        "n° ",
        "du ",
        "CCN ",
        "Notariat",
        "Code civil",
        "[1]",
        "[doc",
        "]",
        "(source: ",
        ")",
        "section ",
        "§ ",
        "12(3)",
        "selon la loi",
        "https://a.b",
        " ",
        "\n",
        "2018",
        "5 septembre 2018",
    ]
)
TEXTS = st.one_of(st.text(), st.lists(PIECES).map("".join))


def found(text: str) -> list[tuple[str, str]]:
    return [(reference.kind, reference.normalised) for reference in references(text)]


@pytest.mark.parametrize(
    ("writings", "kind", "normalised"),
    [
        (["art. L. 123-4", "Article L123-4", "l'article L.\u00a0123-4", "ART L 123-4", "L. 123-4"], "article", "article l123-4"),
        (["Art. R.*123-4", "article R. *123-4", "article R*123-4"], "article", "article r*123-4"),
        (["article 45", "Art. 45", "art 45", "article n° 45", "Article\u00a045"], "article", "article 45"),
        (["article P 784", "Article P784"], "article", "article p784"),
        (["article 1er", "article premier", "Article 1"], "article", "article 1"),
        (["article 12 bis", "Art. 12bis"], "article", "article 12bis"),
        (["section 12(3)", "s. 12(3)", "§ 12(3)", "Section 12(3)"], "section", "section 12(3)"),
        (["loi n° 2018-771", "Loi no 2018-771", "loi organique n°\u00a02018-771 du 5 septembre 2018"], "law", "loi 2018-771"),
        (["décret n° 2020-12", "Decree No. 2020-12"], "law", "decret 2020-12"),
        (["loi du 10 juillet 1965", "Law of 10 July 1965"], "law", "loi 1965-07-10"),
        (["règlement (UE) 2016/679", "Regulation (EU) 2016/679", "regulation 2016/679"], "law", "regulation 2016/679"),
        (["directive 2003/88/CE", "Directive 2003/88/EC"], "law", "directive 2003/88"),
        (["Data Protection Act 2018"], "law", "data protection act 2018"),
        (["n° 09-12.345", "pourvoi 09-12.345"], "ruling", "ruling 09-12.345"),
        (["Code civil", "code civil", "Civil Code"], "code", "code civil"),
        (["Code du travail", "Labour Code", "labor code"], "code", "code du travail"),
        (["CCN Notariat", "CCN du notariat", "Convention collective nationale du notariat"], "agreement", "agreement notariat"),
        (["la CCN prévoit", "convention collective", "the collective agreement"], "agreement", "agreement"),
        (["[doc1]", "[DOC1]"], "marker", "doc1"),
        (["[1]"], "marker", "1"),
        (["[Document 2]", "document 2"], "marker", "document 2"),
        (["(source: Guide CSN)", "(Source : guide csn)"], "source", "guide csn"),
        (["https://example.org/A.", "(https://example.org/a)"], "link", "https://example.org/a"),
        (["Selon la loi, oui"], "mention", "selon la loi"),
        (["According to the regulations"], "mention", "according to the regulations"),
    ],
)
def test_every_writing_of_a_reference_is_the_same(writings: list[str], kind: str, normalised: str) -> None:
    assert {writing: found(writing) for writing in writings} == {writing: [(kind, normalised)] for writing in writings}


def test_the_references_of_a_list_are_told_apart_and_share_its_span() -> None:
    text = "Voir les articles 3 et 4, 30 jours, puis les articles L. 3141-3, L. 3141-5 et R. 12 du Code du travail."
    assert found(text) == [
        ("article", "article 3"),
        ("article", "article 4"),
        ("article", "article l3141-3"),
        ("article", "article l3141-5"),
        ("article", "article r12"),
        ("code", "code du travail"),
    ]
    assert references(text)[0].text == references(text)[1].text == "articles 3 et 4"


def test_an_agreement_does_not_take_the_article_for_its_name() -> None:
    assert found("CCN Article 45") == [("agreement", "agreement"), ("article", "article 45")]
    assert found("CCN Notariat - Article 45 (Congés payés)") == [("agreement", "agreement notariat"), ("article", "article 45")]


@pytest.mark.parametrize(
    "text",
    [
        "Je ne sais pas exactement, mais il y a des congés dans le notariat.",
        "Cet article est long, la section aussi.",
        "[à compléter] et [lien](texte)",
        "Le code de la porte est 1234.",
        "La partie 3 et le party 4; smart 5 start 6.",
        "un mois, 30 jours, 12 %",
    ],
)
def test_ordinary_words_are_no_reference(text: str) -> None:
    assert found(text) == []


def test_only_what_says_where_to_look_is_precise() -> None:
    text = "article 45, section 2, loi n° 2018-771, [1], Code civil, CCN, selon la loi, (source: guide)"
    assert [reference.precise for reference in references(text)] == [True, True, True, True, False, False, False, False]


@given(TEXTS)
def test_references_are_exact_ordered_and_found_again_alone(text: str) -> None:
    starts = [reference.start for reference in references(text)]
    assert starts == sorted(starts)
    for reference in references(text):
        assert text[reference.start : reference.end] == reference.text != ""
        assert reference.normalised == reference.normalised.lower().strip()


@pytest.mark.parametrize(
    "piece",
    [
        "article 1 et ",
        "articles 1",
        "1, ",
        "L. ",
        "L",
        "CCN ",
        "[1",
        "[",
        "(source: ",
        "http://",
        "Aaa ",
        "Aaa and ",
        "loi a b ",
        "selon la ",
        "1-1-",
        "1",
        "code de ",
        "art ",
        "conventions collectives ",
        " ",
        "l1-1-1",
        "§§ ",
        "source ",
        "(a",
        "é",
    ],
)
def test_many_hostile_characters_are_read(piece: str) -> None:
    text = piece * (HUGE // len(piece))
    assert len(references(f"{text} article 45")) >= 1
