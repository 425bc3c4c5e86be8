"""What an answer takes over from its documents word for word."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from areopage.cases.records import Document
from areopage.gate.signals import overlap_of

SENTENCE = "The buyer may withdraw from the contract within ten days of its signature."


def test_a_copied_run_is_found_with_its_places_across_line_breaks() -> None:
    document = Document(id="a", text="Chapter one.\n" + SENTENCE.replace(" within", "\nwithin"))
    found = overlap_of(f"As stated: {SENTENCE}", [Document(id="b", text="Nothing of it."), document], 200)
    assert found.windows is not None
    assert found.windows >= 0.5
    assert found.snippets == 0
    for place in found.places:
        assert place.text == (document.text if place.document else f"As stated: {SENTENCE}")[place.start : place.end]
    assert {place.document for place in found.places} == {"", "a"}


def test_a_paraphrase_has_no_copied_run_and_a_short_answer_no_run_at_all() -> None:
    document = Document(id="a", text=SENTENCE)
    assert overlap_of("Purchasers can pull out for about a week and a half.", [document], 200).windows == 0
    assert overlap_of("Ten days.", [document], 200).windows is None
    assert overlap_of(SENTENCE, [], 200).windows == 0


def test_the_snippet_is_compared_to_the_letter() -> None:
    documents = [Document(id="a", text=SENTENCE), Document(id="b", text="Something else."), Document(id="c", text="")]
    assert overlap_of(f"So: {SENTENCE}", documents, 20).snippets == pytest.approx(1 / 3)


@given(
    st.text(alphabet=st.sampled_from("ab \n\0\u00a0é"), max_size=60),
    st.lists(st.text(alphabet=st.sampled_from("ab \n\0é"), max_size=60)),
)
def test_any_texts_give_shares_and_exact_places(response: str, texts: list[str]) -> None:
    documents = [Document(id=str(number), text=text) for number, text in enumerate(texts)]
    found = overlap_of(response, documents, 5)
    assert 0 <= found.snippets <= 1
    assert found.windows is None or 0 <= found.windows <= 1
    for place in found.places:
        assert place.text == (texts[int(place.document)] if place.document else response)[place.start : place.end]
