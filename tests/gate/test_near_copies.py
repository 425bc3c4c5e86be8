"""A sentence that nearly copies a document, with a word changed that can change the meaning, says that it was not checked."""

import json
from pathlib import Path

import pytest
from msgspec.structs import replace

from areopage.app.gate_rules import load_gate, load_rules
from areopage.cases.records import Document
from areopage.gate.decide import Gate
from areopage.gate.records import Decision, SentenceJudgment
from areopage.gate.settle import asking_about_near_copies, settled_by_labels
from areopage.report.gate.decisions import explain

PAIRS = [
    json.loads(line)
    for path in sorted((Path(__file__).parent / "near_copies").glob("*.jsonl"))
    for line in path.read_text(encoding="utf-8").splitlines()
]
GATE = load_gate()
HOLDING = Gate(replace(load_rules(), near_copies="hold"))
DOCUMENT = "Les intérêts du livret ne sont pas soumis à l'impôt. Le taux du livret est de 3 %."
COPY = "Les intérêts du livret sont soumis à l'impôt."


def decided(answer: str, document: str = DOCUMENT, gate: Gate = GATE) -> Decision:
    return gate.decide("Le livret est-il imposable ?", answer, [Document(id="doc1", text=document)])


@pytest.mark.parametrize("lang", ["fr", "en"])
def test_near_copies_carry_the_state_and_rewordings_do_not(lang: str) -> None:
    pairs = [pair for pair in PAIRS if pair["lang"] == lang]
    missed = [pair["id"] for pair in pairs if not decided(pair["near_copy"], pair["document"]).meaning_not_checked]
    flagged = [pair["id"] for pair in pairs if decided(pair["rewording"], pair["document"]).meaning_not_checked]
    assert len(pairs) >= 25
    assert len(missed) <= 0.1 * len(pairs), missed
    assert len(flagged) <= 0.1 * len(pairs), flagged


@pytest.mark.parametrize("pair", [pair for pair in PAIRS if pair["kind"] != "opposite"], ids=lambda pair: str(pair["id"]))
def test_a_sentence_says_what_it_changes(pair: dict[str, str]) -> None:
    decision = decided(pair["near_copy"], pair["document"])
    assert pair["kind"] in decision.sentences[0].changes


@pytest.mark.parametrize(
    ("document", "answer"),
    [
        ("Corvane bought Tellmark in 2019.", "Corvane was bought by Tellmark in 2019."),
        ("The train runs from Paris to Lyon on weekdays.", "The train runs from Lyon to Paris on weekdays."),
        ("La prime est versée si le salarié a un an d'ancienneté.", "La prime est versée."),
        ("Le bureau est ouvert chaque jour sauf le dimanche.", "Le bureau est ouvert chaque jour."),
        ("Le stage dure au moins trois mois.", "Le stage dure trois mois."),
        ("If cornered, the snake strikes when it is touched.", "The snake strikes when it is touched."),
        ("Si le maire l'accepte, la salle est louée quand elle est libre.", "La salle est louée quand elle est libre."),
        ("You may cancel only within 14 days of delivery.", "You may not cancel within 14 days of delivery."),
    ],
)
def test_words_that_are_dropped_or_moved_count_as_well_as_added_ones(document: str, answer: str) -> None:
    assert decided(answer, document).meaning_not_checked == (0,)


@pytest.mark.parametrize(
    "answer",
    [
        "Les intérêts du livret ne sont pas soumis à l'impôt.",
        "Le taux du livret est de 3 %.",
        "Les intérêts du livret sont exonérés d'impôt.",
    ],
)
def test_a_copy_and_a_denial_in_other_words_do_not_carry_it(answer: str) -> None:
    decision = decided(answer)
    assert decision.meaning_not_checked == ()
    assert not any(reason.code == "meaning_not_checked" for reason in decision.reasons)


def test_a_near_copy_is_flagged_and_has_no_low_probability() -> None:
    decision = decided(COPY)
    assert (decision.verdict, decision.meaning_not_checked, decision.p_unsupported) == ("deliver", (0,), None)
    assert decision.sentences[0].p_unsupported is None
    (reason,) = decision.reasons
    assert (reason.code, reason.decisive, reason.document, reason.sentence) == ("meaning_not_checked", False, "doc1", 0)
    assert "le sens n’a pas été vérifié" in explain(decision, "fr")[0]
    assert "meaning was not checked" in explain(decision, "en")[0]


def test_the_rule_hold_holds_near_copies() -> None:
    decision = decided(COPY, gate=HOLDING)
    assert (decision.verdict, decision.p_unsupported) == ("human_review", None)
    assert [reason.code for reason in decision.reasons if reason.decisive] == ["meaning_not_checked"]


@pytest.mark.parametrize("gate", [GATE, HOLDING])
def test_a_judge_settles_near_copies(gate: Gate) -> None:
    asked = asking_about_near_copies(decided(COPY, gate=gate))
    assert (asked.needs_judge, asked.doubtful) == (True, (0,))
    supported = gate.resolve(asked, [SentenceJudgment(sentence=0, supported=True)])
    assert (supported.verdict, supported.meaning_not_checked, supported.reasons) == ("deliver", (), ())
    refuted = gate.resolve(asked, [SentenceJudgment(sentence=0, supported=False)])
    assert (refuted.verdict, refuted.reasons[0].code) == ("human_review", "judge_unsupported")
    silent = gate.resolve(asked, [SentenceJudgment(sentence=0, supported=None)])
    assert (silent.verdict, silent.meaning_not_checked) == (decided(COPY, gate=gate).verdict, (0,))


def test_people_settle_near_copies() -> None:
    assert settled_by_labels(decided(COPY, gate=HOLDING), supported=True).meaning_not_checked == ()


def test_no_judge_is_asked_about_a_near_copy_of_an_answer_that_is_held_anyway() -> None:
    decision = decided(f"{COPY} Il faut appeler le 01 23 45 67 89.")
    assert (decision.verdict, decision.meaning_not_checked) == ("human_review", (0,))
    assert not asking_about_near_copies(decision).needs_judge


@pytest.mark.parametrize(
    ("answer", "verdict"),
    [
        ("Les documents ne contiennent pas cette information.", "deliver"),
        ("Le taux du livret est de 3 % [doc9].", "human_review"),
        ("存款利息的税率是三，存款利息不需要缴税。", "human_review"),
    ],
)
def test_no_probability_contradicts_the_verdict(answer: str, verdict: str) -> None:
    decision = decided(answer)
    assert (decision.verdict, decision.p_unsupported) == (verdict, None)
