"""Every reason of the gate is one plain sentence in both languages, and foreign texts are only ever quoted."""

from typing import get_args

import pytest

from areopage.app.gate_rules import load_gate
from areopage.cases.records import Document
from areopage.gate.records import AskedJudge, Decision, JudgeTrust, Place, Reason, ReasonCode
from areopage.locales import one_line
from areopage.report.gate.decisions import explain, verdict_text

DOCUMENTS = [Document(id="doc1", text="Le bail dure trois ans. Le loyer est fixe.", score=0.9)]


def decided(response: str = "The lease is for three years [doc9].") -> Decision:
    return load_gate().decide("Quel est le délai du bail ?", response, DOCUMENTS)


def with_reason(reason: Reason) -> Decision:
    import msgspec

    return msgspec.structs.replace(decided(), reasons=(reason,))


def test_a_decision_explains_itself_in_both_languages() -> None:
    assert explain(decided(), "en")[0] == "Sentence 1: “[doc9]” refers to a document that does not exist."
    assert explain(decided(), "fr")[0] == "Phrase 1\u00a0: «\u00a0[doc9]\u00a0» renvoie à un document qui n’existe pas."
    assert "The question is in French, the answer in English (information only: no effect on the verdict)." in explain(
        decided(), "en"
    )
    assert verdict_text(decided(), "fr") == "La réponse est retenue pour relecture."


def test_a_refusal_says_so() -> None:
    decision = decided("Je ne trouve pas cette information dans les documents.")
    assert verdict_text(decision, "en") == "The answer may be delivered. The answer only states that no information was found."
    assert explain(decision, "en") == []


def test_a_reason_names_sentence_words_and_document() -> None:
    place = Place(start=0, end=5, text="500 €")
    reason = Reason(code="unsupported_figure", decisive=True, place=place, document="doc1", sentence=1)
    assert explain(with_reason(reason), "en") == ["Sentence 2: the figure “500 €” is in no document (nearest document: doc1)."]
    dated = Reason(code="unsupported_figure", decisive=True, place=Place(start=0, end=12, text="12 mars 2019"))
    assert explain(with_reason(dated), "en") == ["The date “12 mars 2019” is in no document."]
    assert explain(with_reason(dated), "fr") == ["La date «\u00a012 mars 2019\u00a0» ne figure dans aucun document."]
    risk = Reason(code="unsupported_sentence", decisive=True, place=place, sentence=0, value=0.834, threshold=0.5)
    (french,) = explain(with_reason(risk), "fr")
    assert french.replace("\u00a0", " ").replace("\u202f", " ") == (
        "Phrase 1 : « 500 € » n’est probablement pas étayée par les documents (comparaison des mots : 0,83 ; seuil : 0,50)."
    )


@pytest.mark.parametrize("code", get_args(ReasonCode))
@pytest.mark.parametrize("language", ["en", "fr"])
def test_every_reason_has_words(code: ReasonCode, language: str) -> None:
    hostile = Place(start=0, end=9, text="{0} $reason %s \x1b[31m\n" + "x" * 5000)
    for reason in (
        Reason(code=code, decisive=False),
        Reason(code=code, decisive=True, place=hostile, document="$sentence\x07", sentence=0, value=0.4, threshold=0.5),
    ):
        (text,) = explain(with_reason(reason), language)
        assert text.isprintable() or "\u00a0" in text or "\u202f" in text
        assert not {"\x1b", "\n", "\x07"} & set(text)
        assert len(text) < 600
        assert text.endswith(".")
        if reason.document:
            assert "$sentence" in text


def test_a_foreign_text_is_one_clipped_line() -> None:
    assert one_line("a\nb\t\x00c") == "a b c"
    assert one_line("x" * 1000, 10) == "x" * 9 + "…"
    assert one_line(" " * 1000 + "x", 10).endswith("…")


@pytest.mark.parametrize(
    ("standing", "english", "french"),
    [
        ("unexamined", "it has taken no exam: its word releases no answer (exam: x)", "il n’a été soumis à aucun examen"),
        ("failed", "it failed its exam: its word releases no answer (exam: x)", "il a échoué à son examen"),
        (
            "accepted",
            "and the configuration accepts its word (exam: x)",
            "la configuration accepte son avis",
        ),
    ],
)
def test_a_judge_without_a_passed_exam_is_named_with_the_command_that_examines_it(
    standing: JudgeTrust, english: str, french: str
) -> None:
    import msgspec

    reason = Reason(code="unexamined_judge", decisive=True, place=Place(start=0, end=3, text="The"), sentence=0)
    asked = AskedJudge(name="a", model="ollama:a", standing=standing, examine_with="x")
    told = msgspec.structs.replace(with_reason(reason), judge=asked)
    assert english in explain(told, "en")[0]
    assert french in explain(told, "fr")[0]
    assert "ollama:a" in verdict_text(told, "en")
