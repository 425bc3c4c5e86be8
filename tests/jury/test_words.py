"""Words and syllables of English and French."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from areopage.jury.rules.word_forms import Vocabulary, complex_word_share, is_complex, syllables, words
from servers import HUGE

ENGLISH = {
    1: "cat house time liked walked played trees eyes fly don't they've used makes through friends school",
    2: "table tables wanted little people science sometimes careful homework doing being changes boxes agree value didn't create "
    "creature ocean poem rhythm quiet language beyond player lion union",
    3: "beautiful animal family scientist video radio piano carefully computer opinion creation idea stadium tourism"
    " dinosaur elephant banana chocolate dangerous understand different recipe",
    4: "society usually education experience reality situation temperature interesting community vegetable",
    5: "photosynthesis electricity imagination",
    6: "responsibility",
}
FRENCH = {
    1: "chat table tables les que quelques longue lion pluie fruit nuit eau aiment mangent vient jouent trois cœur août vue",
    2: "maison petite voyage pays école élève théâtre réel idée noël maïs naïf nation client oiseaux famille soleil chaos "
    "parlaient souvent moment vraiment content monsieur joué jouer amies naviguent explique parents",
    3: "océan création poésie héroïne société ouvrier février maintenant différents animaux aujourd'hui expérience étudier koala "
    "oublier influence égoïste dinosaure important",
    4: "télévision ordinateur température gouvernement bibliothèque photosynthèse rapidement continuer",
    5: "environnement électricité",
    6: "responsabilité",
}


@pytest.mark.parametrize(("language", "known"), [("en", ENGLISH), ("fr", FRENCH)])
def test_syllables_of_well_known_words(language: str, known: dict[int, str]) -> None:
    wrong = {
        word: syllables(word, language)
        for count, text in known.items()
        for word in text.split()
        if syllables(word, language) != count
    }
    assert wrong == {}


def test_words_keep_accents_and_part_at_french_elisions() -> None:
    french = words("L'école d’été, c'est aujourd'hui qu'on l'ouvre jusqu'à 8 h !")
    assert " ".join(french) == "L école d été c est aujourd'hui qu on l ouvre jusqu à h"
    english = words("Don't stop: it's O'Neil's well-known snake_case, 42 times.")
    assert " ".join(english) == "Don't stop it's O'Neil's well known snake case times"


def test_words_written_with_separate_accents_are_whole() -> None:
    apart = unicodedata.normalize("NFD", "L'élève naïf")
    assert [unicodedata.normalize("NFC", word) for word in words(apart)] == ["L", "élève", "naïf"]
    assert syllables(words(apart)[1], "fr") == 2


@given(st.text())
def test_words_are_pieces_of_the_text_in_order(text: str) -> None:
    position = 0
    for word in words(text):
        position = text.index(word, position) + len(word)


@given(st.text(min_size=1), st.sampled_from(["en", "fr", "fr-CA", "de"]))
def test_syllables_lie_between_one_and_the_letters(word: str, language: str) -> None:
    assert 1 <= syllables(word, language) <= 2 * max(1, len(unicodedata.normalize("NFC", word).lower()))


@given(st.lists(st.text(alphabet="abcdeéiot'", min_size=1)), st.integers(2, 6), st.sampled_from(["en", "fr"]))
def test_the_share_of_hard_words_falls_as_more_syllables_are_asked(found: list[str], count: int, language: str) -> None:
    share = complex_word_share(found, language, Vocabulary(count))
    assert 0.0 <= complex_word_share(found, language, Vocabulary(count + 1)) <= share <= 1.0


def test_familiar_words_and_their_plurals_are_not_hard() -> None:
    vocabulary = Vocabulary(3, frozenset({"elephant", "aujourd'hui"}))
    assert not is_complex("Elephants", "en", vocabulary)
    assert not is_complex("Aujourd’hui", "fr", vocabulary)
    assert is_complex("hippopotamus", "en", vocabulary)
    assert complex_word_share(words("The elephant saw a hippopotamus"), "en", vocabulary) == 1 / 5


def test_a_text_without_words_has_no_hard_words() -> None:
    assert complex_word_share((), "en", Vocabulary(3)) == 0.0


def test_a_limit_under_two_syllables_is_refused() -> None:
    with pytest.raises(ValueError, match="at least 2"):
        Vocabulary(1)


@pytest.mark.parametrize("piece", ["a", "b", "é", "l'", "one", "e", "'", "aeone", "\u0301", "ab "])
@pytest.mark.parametrize("language", ["en", "fr"])
def test_an_endless_hostile_word_is_counted(piece: str, language: str) -> None:
    text = "aae" + piece * (HUGE // len(piece))
    assert len(words(text)) >= 1
    assert syllables(text, language) >= 1
