"""Sentences: what ends one in English and French, and what only looks as if it did."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from areopage.jury.rules.word_forms import words
from areopage.text.sentence_ends import sentences
from servers import HUGE


def cut(text: str, language: str = "en") -> list[str]:
    return [span.text for span in sentences(text, language)]


PIECES = st.sampled_from(
    [
        "Le chat",
        "dort",
        ".",
        "...",
        "…",
        "!",
        "? ",
        " ",
        "\n",
        "\n\n",
        "- ",
        "1. ",
        "« ",
        " »",
        "M.",
        "e.g.",
        "3.14",
        "J.",
        '"',
        ")",
        "é",
    ]
)
TEXTS = st.one_of(st.text(), st.lists(PIECES).map("".join))


@given(TEXTS, st.sampled_from(["en", "fr"]))
def test_spans_are_exact_ordered_and_lose_no_word(text: str, language: str) -> None:
    spans = sentences(text, language)
    end = 0
    for span in spans:
        assert span.start >= end
        assert text[span.start : span.end] == span.text == span.text.strip()
        assert any(map(str.isalnum, span.text))
        end = span.end
    assert [word for span in spans for word in words(span.text)] == list(words(text))


@given(TEXTS)
def test_cutting_a_sentence_again_leaves_its_words(text: str) -> None:
    for sentence in cut(text):
        assert [word for piece in cut(sentence) for word in words(piece)] == list(words(sentence))


@pytest.mark.parametrize(
    "sentence",
    [
        "Dr. Smith met Mr. Jones at St. Mary's.",
        "Some pets, e.g. cats, i.e. felines, sleep approx. ten hours.",
        "Pi is about 3.14 and not 3.5.",
        "See example.org or No. 5, p. 12, for more.",
        "J. K. Rowling and George W. Bush met.",
        "The U.S. Army came.",
        "We bring cups, plates, etc. and go.",
        "Well... maybe… not",
        '"Really?" he asked.',
        "He shouted “Stop!” and ran.",
    ],
)
def test_one_english_sentence_stays_whole(sentence: str) -> None:
    assert cut(sentence, "en") == [sentence]


@pytest.mark.parametrize(
    "sentence",
    [
        "M. Dupont, Mme. Durand et le Dr. Petit sont là.",
        "Il coûte 3,50 € ou 1.000,50 €, cf. l'art. 5 et la p. 12.",
        "« Viens ! » dit-il.",
        "« Tu viens\u00a0? »\u00a0demanda-t-elle.",
        "Rome fut bâtie vers 753 av. J.-C. environ.",
        "Eh bien… peut-être... demain",
        "Il y a des pommes, des poires, etc. dans le panier.",
    ],
)
def test_one_french_sentence_stays_whole(sentence: str) -> None:
    assert cut(sentence, "fr") == [sentence]


@pytest.mark.parametrize(
    ("language", "parts"),
    [
        ("en", ["It rains.", "We stay in!", "Do you?", "Yes…", "Good."]),
        ("en", ["They came at 5 p.m.", "It was late."]),
        ("en", ["It has vitamin C.", "It is good."]),
        ("en", ["He said no.", "Then he left in 1990.", "3 men stayed."]),
        ("en", ["This is nice.", "that is good.", "so it goes."]),
        ("en", ["**Bold.**", "_Next one._", "(In brackets.)", "End"]),
        ("fr", ["Bonjour !", "Comment vas-tu ?", "« Bien. »", "Il sourit."]),
        ("fr", ["J'aime mon prof.", "Elle est gentille."]),
        ("fr", ["Il mange des pommes, etc.", "Puis il part."]),
        ("fr", ["Ça va…", "On y va ?!", "Oui."]),
    ],
)
def test_a_stop_before_a_new_sentence_ends_it(language: str, parts: list[str]) -> None:
    assert cut(" ".join(parts), language) == parts


def test_list_items_and_headings_are_sentences_without_their_markers() -> None:
    text = "# Titre\nVoici :\n- le chat dort\n* Le chien court.\n1. Un\n2) Deux\n> **3.** Trois\n— Bonjour !\n\nFin"
    expected = ["Titre", "Voici :", "le chat dort", "Le chien court.", "Un", "Deux", "**3.**", "Trois", "Bonjour !", "Fin"]
    assert cut(text, "fr") == expected


def test_a_wrapped_line_is_one_sentence_and_a_new_line_is_another() -> None:
    assert cut("A line that\r\ngoes on here, and,\nAlice said, ends.") == ["A line that\r\ngoes on here, and,\nAlice said, ends."]
    assert cut("Roses are red\nViolets are blue") == ["Roses are red", "Violets are blue"]
    assert cut("roses are red\n\nviolets are blue") == ["roses are red", "violets are blue"]


def test_text_without_letters_or_digits_has_no_sentence() -> None:
    assert cut("") == cut(" \n\t") == cut("... !? --- ***") == []


@pytest.mark.parametrize("piece", [".", "!", "… ", ". ", "a. ", "A. ", "\n", "a\n", "a,\r\n", "- ", '.»"', ". »", "1. ", " "])
def test_many_hostile_characters_are_cut(piece: str) -> None:
    text = piece * (HUGE // len(piece))
    assert sum(len(span.text) for span in sentences(f"a.{text}x", "fr")) <= len(text) + 3
