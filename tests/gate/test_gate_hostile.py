"""Whatever texts say, the gate decides, and every place that it names is a slice of them."""

import sys
from collections.abc import Iterator

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from areopage.app.gate_rules import load_rules
from areopage.cases.records import Document
from areopage.gate.decide import Gate
from areopage.gate.records import GATE_VERDICTS, Decision, Place
from servers.identified import STALLING

GATES = [
    Gate(load_rules()),
    Gate(load_rules("v1_1")),
    Gate(msgspec.structs.replace(load_rules("v1_1"), mended_patterns=True)),
    Gate(msgspec.structs.replace(load_rules(), citations="required", language="fallback", grey_band=True)),
]
PIECES = st.sampled_from(
    [
        "[",
        "]",
        "(",
        ")",
        "【",
        "】",
        "[doc1]",
        "[7]",
        "^1",
        "1",
        " 1 000,50 €",
        "$1,000",
        "1999",
        "12 %",
        "art. L. 123-4",
        ".",
        " ",
        "\n",
        "\0",
        "\u202e",
        "\u0301",
        "é",
        "l’",
        "the ",
        "le ",
        "ne ",
        "pas ",
        "not ",
        "I don't know",
        "but ",
        "Enron ",
        "שלום ",
        "👩‍👩‍👧",
        "😀",
        "document 2",
        "\u00a0",
        "İ",
        "ß",
        "ﬁ",
        "１",
        "{prompt}",
        "$name",
        "%s",
        "ⅷ",
        "\ud7ff",
        "_",
        "15 janvier 2025",
        "deux ans",
    ]
)
TEXT = st.lists(PIECES, max_size=25).map("".join) | st.text(max_size=60)
SCORE = st.none() | st.floats(allow_nan=True, allow_infinity=True)
DOCUMENTS = st.lists(st.builds(Document, id=TEXT, text=TEXT, title=TEXT, score=SCORE), max_size=7)


def places(decision: Decision) -> Iterator[Place]:
    for signal in decision.signals:
        yield from signal.places
    for reason in decision.reasons:
        if reason.place is not None:
            yield reason.place


def check(decision: Decision, response: str, documents: list[Document]) -> None:
    assert decision.verdict in GATE_VERDICTS
    for place in places(decision):
        texts = [document.text for document in documents if document.id == place.document] if place.document else [response]
        unnamed = [document.text for document in documents if not document.id] if not place.document else []
        assert any(text[place.start : place.end] == place.text for text in [*texts, *unnamed])
    for sentence in decision.sentences:
        assert response[sentence.start : sentence.end] == sentence.text
        assert sentence.p_unsupported is None or 0 <= sentence.p_unsupported <= 1
    assert all(reason.sentence is None or reason.sentence < len(decision.sentences) for reason in decision.reasons)
    assert [reason.decisive for reason in decision.reasons] == sorted((one.decisive for one in decision.reasons), reverse=True)
    assert (decision.verdict == "deliver") == decision.metrics.quality_pass
    if not decision.needs_judge:
        assert (decision.verdict == "deliver") == (not any(reason.decisive for reason in decision.reasons))
    assert msgspec.json.decode(msgspec.json.encode(decision), type=Decision) == decision


@given(TEXT, TEXT, DOCUMENTS, st.sampled_from(GATES))
def test_any_texts_are_decided_on(prompt: str, response: str, documents: list[Document], gate: Gate) -> None:
    check(gate.decide(prompt, response, documents), response, documents)


@pytest.mark.parametrize(
    "unit",
    [
        "[",
        "([",
        "[1]",
        "1",
        ",123",
        "1 €",
        " ",
        "a",
        "a ",
        ".",
        "^1",
        "שלום ",
        "👩‍👩‍👧",
        "e\u0301",
        "not the ",
        "art. L. 1-",
        "\n",
    ],
)
def test_long_texts_of_one_kind_are_decided_on(unit: str) -> None:
    text = unit * (20_000 // len(unit))
    documents = [Document(id="doc1", text=text, score=0.9)]
    for gate in GATES[:3]:
        check(gate.decide(text, text, documents), text, documents)
    assert GATES[0].decide("", text * 6, documents).reasons[0].code in ("too_long", "empty_response")


def _operations(response: str) -> int:
    """How many calls of Python functions a decision takes, each resumption of a generator included."""
    count = 0

    def note(*_: object) -> None:
        nonlocal count
        count += 1

    sys.setprofile(note)
    try:
        GATES[0].decide("Combien ?", response, [Document(id="doc1", text="Le prix est de 100 €.", score=0.9)])
    finally:
        sys.setprofile(None)
    return count


@pytest.mark.parametrize("unit", STALLING)
def test_twice_the_answer_takes_twice_the_work(unit: str) -> None:
    assert _operations(unit * 1_400) < 2.4 * _operations(unit * 700)


@pytest.mark.parametrize("unit", ["1 €Jean ", "ÀÉ- 1 €", "deux euros "])
def test_an_answer_of_numbers_alone_is_held_unread(unit: str) -> None:
    decision = GATES[0].decide("?", unit * 8_000, [Document(id="doc1", text="Le prix est de 100 €.", score=0.9)])
    assert (decision.verdict, [reason.code for reason in decision.reasons]) == ("human_review", ["too_many_numbers"])
