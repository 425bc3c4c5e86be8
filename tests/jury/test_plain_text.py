"""Phrases of sources are found in a text whatever its case, accents and punctuation."""

from hypothesis import given
from hypothesis import strategies as st

from areopage.jury.rules.sources import PlainText
from areopage.text.folding import plain


def test_a_phrase_is_found_as_whole_words_where_it_stands() -> None:
    text = "Voir : la « C.C.N. – Article 45 », puis l'article 451."
    place = PlainText(text).find("ccn article 45")
    assert place is None
    place = PlainText(text).find("c c n ARTICLE 45")
    assert place is not None
    assert text[slice(*place)] == "C.C.N. – Article 45"
    later = PlainText(text).find("article", place[1])
    assert later is not None
    assert text[slice(*later)] == "article"
    assert "article 4" not in PlainText(text)
    assert "" not in PlainText(text)


@given(st.text(), st.text(), st.integers(0, 50))
def test_what_is_found_is_in_its_plain_form_the_phrase(text: str, phrase: str, start: int) -> None:
    place = PlainText(text).find(phrase, start)
    if place is not None:
        assert start <= place[0] < place[1] <= len(text)
        assert plain(phrase) in plain(text[slice(*place)])
