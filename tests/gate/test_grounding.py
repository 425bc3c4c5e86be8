"""The grounding model on small answers whose support is plain to see."""

import json
from importlib.resources import files
from itertools import pairwise
from math import exp

import pytest
from hypothesis import given
from hypothesis import strategies as st

from areopage.cases.records import Document
from areopage.gate.grounding.examine import MOST_PLACES, Source
from areopage.gate.grounding.model import Grounding, GroundingModel, ground, model_of

WEIGHTS = files("areopage.suites") / "bundled" / "rag_grounding" / "grounding.json"
MODEL = model_of(json.loads(WEIGHTS.read_text(encoding="utf-8")))
LEASE = Document(
    id="bail",
    text="Le bail est conclu pour trois ans. Le loyer mensuel est de 1 000,50 €. Le preneur verse un dépôt de garantie.",
)
FROGS = Document(id="frogs", text="Frogs are amphibians. They breathe through their skin and lay their eggs in still water.")
DOCUMENTS = (LEASE, FROGS)


def doubt(grounding: Grounding) -> float:
    assert grounding.p_unsupported is not None
    return grounding.p_unsupported


def check(response: str, prompt: str = "", documents: tuple[Document, ...] = DOCUMENTS, language: str = "fr") -> Grounding:
    return ground(MODEL, prompt, response, documents, language)


def test_a_sentence_of_a_document_is_far_more_likely_supported_than_an_invented_one() -> None:
    told = doubt(check("Le preneur verse un dépôt de garantie."))
    invented = doubt(check("Le gardien promène les girafes bleues sur la plage de Biarritz."))
    assert told < 0.1 < 0.9 < invented


def test_both_languages_are_read_alike() -> None:
    assert doubt(check("Frogs lay eggs in still water and breathe through the skin.", language="en")) < 0.1
    assert doubt(check("Purple helicopters negotiate medieval tax treaties in Norway.", language="en")) > 0.9


def test_inflection_and_accents_do_not_make_a_word_unknown() -> None:
    (sentence,) = check("LES PRENEURS VERSERONT DES DEPOTS DE GARANTIE.").sentences
    assert not sentence.unsupported


def test_an_accent_written_apart_is_the_same_letter() -> None:
    (sentence,) = check("Le preneur verse un de\u0301po\u0302t de garantie.").sentences
    assert not sentence.unsupported


def test_words_of_the_question_are_not_held_against_the_answer() -> None:
    (alone,) = check("Le colibri verse un dépôt.").sentences
    (asked,) = check("Le colibri verse un dépôt.", prompt="Que verse le colibri ?").sentences
    assert [place.text for place in alone.unsupported] == ["colibri"]
    assert not asked.unsupported


def test_places_are_exact_and_the_nearest_document_is_named() -> None:
    response = "Bonjour ! Le loyer mensuel est de 1 000,50 €. Frogs lay blue eggs in still water."
    grounding = check(response)
    for sentence in grounding.sentences:
        assert response[sentence.start : sentence.end] == sentence.text
        for place in sentence.unsupported:
            assert response[place.start : place.end] == place.text
        if sentence.supporting:
            document = next(one for one in DOCUMENTS if one.id == sentence.supporting.document)
            assert document.text[sentence.supporting.start : sentence.supporting.end] == sentence.supporting.text
    assert [sentence.document for sentence in grounding.sentences][1:] == ["bail", "frogs"]
    assert [place.text for place in grounding.sentences[2].unsupported] == ["blue"]


@pytest.mark.parametrize(
    "response",
    [
        "Je ne sais pas.",
        "Les documents ne précisent pas cette information.",
        "I don't know.",
        "What do you mean?",
        "N'hésitez pas à me demander autre chose.",
        "",
        "!!!",
    ],
)
def test_an_answer_that_claims_nothing_has_no_probability(response: str) -> None:
    grounding = check(response)
    assert grounding.p_unsupported is None
    assert not any(sentence.claim or sentence.p_unsupported is not None for sentence in grounding.sentences)


def test_citations_are_no_words_of_the_answer() -> None:
    response = "Le preneur verse un dépôt (document 1) [bail-2024]. Frogs breathe through skin, passages 2, 3 and 4."
    assert not any(sentence.unsupported for sentence in check(response).sentences)


def test_an_answer_from_other_documents_is_unsupported_even_if_it_is_short() -> None:
    assert doubt(check("Il s'agit de conversions forcées.")) > 0.5


def test_without_documents_everything_is_unsupported() -> None:
    grounding = check("Le preneur verse un dépôt de garantie.", documents=())
    assert doubt(grounding) > 0.5
    assert grounding.sentences[0].document == ""
    assert grounding.sentences[0].supporting is None


def test_titles_support_too() -> None:
    titled = (Document(id="t", title="Statut du colibri", text="Il verse un dépôt."),)
    (sentence,) = check("Le colibri a un statut.", documents=titled).sentences
    assert not sentence.unsupported


def test_the_order_of_two_sentences_does_not_change_the_doubt() -> None:
    held, invented = "Le preneur verse un dépôt de garantie.", "Le colibri chante."
    assert doubt(check(f"{held} {invented}")) == pytest.approx(doubt(check(f"{invented} {held}")))


@pytest.mark.parametrize("words", [4, 8, 16])
def test_each_unknown_word_of_a_short_answer_adds_to_the_doubt(words: int) -> None:
    held = ["Le", "preneur", "verse", "dépôt", "garantie", "loyer", "mensuel", "bail", "conclu"] * 2
    strange = ["colibri", "girafe", "hélicoptère", "norvège"]
    found = [doubt(check(" ".join([*held[: words - count + 1], *strange[:count]]) + ".")) for count in range(5)]
    assert all(first < second - 0.001 for first, second in pairwise(found))


@pytest.mark.parametrize("sentences", [1, 2, 3])
def test_an_answer_is_judged_by_the_sum_of_its_sentences_odds(sentences: int) -> None:
    grounding = check(" ".join(["Le preneur verse un colibri."] * sentences))
    odds = sum(p / (1 - p) for p in (sentence.p_unsupported or 0 for sentence in grounding.sentences))
    assert exp(grounding.features["odds"]) == pytest.approx(odds)


def test_a_denial_that_the_document_does_not_make_is_seen() -> None:
    (denied,) = check("Le preneur ne verse pas de dépôt de garantie.").sentences
    (told,) = check("Le preneur verse un dépôt de garantie.").sentences
    assert (denied.features["negation_alone"], told.features["negation_alone"]) == (1.0, 0.0)


def test_every_feature_of_the_model_is_told_and_explained() -> None:
    (sentence,) = check("Le colibri verse un dépôt.").sentences
    weights = (*MODEL.sentence.weights, *MODEL.answer.weights)
    assert {part.feature for part in MODEL.sentence.weights} <= set(sentence.features)
    assert {part.feature for part in MODEL.answer.weights} <= set(check("Le colibri.").features)
    assert all(part.says and part.scale > 0 for part in weights)
    assert MODEL.provenance["date"] and MODEL.provenance["command"]


def test_more_unknown_words_never_make_an_answer_likelier_to_be_supported() -> None:
    steps = ["Le preneur verse un dépôt", " colibri", " girafe", " hélicoptère", " norvège"]
    found = [doubt(check("".join(steps[:count]) + ".")) for count in range(1, len(steps) + 1)]
    assert found == sorted(found)


@pytest.mark.parametrize(
    ("data", "named"),
    [
        ({}, "name"),
        ({"name": "x", "provenance": {}, "sentence": {"bias": "a", "weights": []}, "answer": {"bias": 0, "weights": []}}, "bias"),
        ({"name": "x", "provenance": {}, "sentence": {"bias": 0, "weights": []}, "answer": {"bias": 0}}, "weights"),
        (
            {"name": "x", "provenance": {}, "sentence": {"bias": 0, "weights": []}, "answer": {"bias": 0, "weights": []}, "y": 1},
            "y",
        ),
        (
            {
                "name": "x",
                "provenance": {},
                "sentence": {"bias": 0, "weights": [{"feature": "new", "weight": 1, "mean": 0, "scale": 0}]},
                "answer": {"bias": 0, "weights": []},
            },
            "scale",
        ),
    ],
)
def test_a_wrong_weights_file_names_the_field(data: dict[str, object], named: str) -> None:
    with pytest.raises(ValueError, match=named):
        model_of(data)


def test_a_model_without_weights_says_the_same_of_everything() -> None:
    flat = model_of({"name": "x", "provenance": {}, "sentence": {"bias": 0, "weights": []}, "answer": {"bias": 0, "weights": []}})
    assert isinstance(flat, GroundingModel)
    assert doubt(ground(flat, "", "Le colibri chante.", DOCUMENTS, "fr")) == 0.5


def test_only_so_many_places_of_a_word_are_looked_at() -> None:
    source = Source([Document(id="x", text="colibri girafe " * 40_000)], [["colibri"]])
    assert source.best_stretch({"colibri"})[1] == 1
    pairs = MOST_PLACES + 1  # of a stretch and the next one: the first stretch has one before it
    assert max(len(places) for places in source._places.values()) == pairs


PIECES = [
    "[",
    "]",
    "1",
    " ",
    "\n",
    ".",
    "€",
    "é",
    "\u0301",
    "\u202e",
    "👩‍👩‍👧",
    "article 5",
    "en 1500",
    "loi n° ",
    "12,5 %",
    "not",
    "_",
    "’",
    "mot",
    "A" * 70,
    "\x00",
]
texts = st.lists(st.sampled_from(PIECES), max_size=40).map("".join) | st.text(max_size=60)


@given(texts, texts, texts, st.sampled_from(["fr", "en", ""]))
def test_hostile_texts_get_a_probability_and_exact_places(prompt: str, response: str, document: str, language: str) -> None:
    grounding = ground(MODEL, prompt, response, (Document(id="x", text=document),), language)
    assert (grounding.p_unsupported is not None) == any(sentence.claim for sentence in grounding.sentences)
    assert 0 <= (grounding.p_unsupported or 0) <= 1
    for sentence in grounding.sentences:
        assert (sentence.p_unsupported is not None) == sentence.claim
        assert 0 <= (sentence.p_unsupported or 0) <= 1
        for place in (*sentence.unsupported, *(claim.place for claim in sentence.claims)):
            assert response[place.start : place.end] == place.text
        for evidence in (sentence.supporting, *(claim.evidence for claim in sentence.claims)):
            if evidence:
                assert document[evidence.start : evidence.end] == evidence.text
