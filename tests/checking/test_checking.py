"""The gate with its judge and with labels, in other pipelines: from Python and on the command line."""

import json
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import func, select

from areopage.app.answering import open_checker
from areopage.app.config import load_config
from areopage.app.gate_rules import check_answer
from areopage.checking.node import gate_node
from areopage.ledger.people.labels import Labels
from areopage.ledger.store import Ledger
from areopage.ledger.tables.answer_tables import judgments
from areopage.ledger.write.traces import Traces
from servers.command import Command
from servers.configured import write_config
from servers.fake_llm import FakeServer
from servers.made_traces import delivered_trace, grounding_label
from servers.rag_parts import DOCUMENTS, QUESTION

ANSWER = "Le délai de rétractation est de 14 jours à compter de la livraison du bien, frais de retour compris."
BODY: dict[str, Any] = {"prompt": QUESTION, "response": ANSWER, "documents": [{"text": one.text} for one in DOCUMENTS]}
BAND: dict[str, Any] = {
    "gate": {"grey_band": True, "thresholds": {"deliver": 0.0, "hold": 1.0}},
    "rag": {"grey_band": {"judge": "ollama:fake-a", "seconds": 10, "unexamined": "deliver"}},
}


def verdict(score: int) -> str:
    return json.dumps({"explanation": "because", "score": score, "evidence_extracts": []})


@pytest.fixture
def config(tmp_path: Path, server: FakeServer, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file whose gate sends every answer to a judge."""
    monkeypatch.setenv("OLLAMA_HOST", server.address)
    return write_config(tmp_path, **BAND)


def kept(ledger: Ledger) -> int:
    with ledger.engine.connect() as connection:
        return int(connection.execute(select(func.count()).select_from(judgments)).scalar_one())


@pytest.mark.parametrize(("score", "found"), [(2, "deliver"), (1, "human_review"), (0, "human_review")])
def test_a_checker_asks_the_judge(config: Path, server: FakeServer, score: int, found: str) -> None:
    server.faults.says = [verdict(score)]
    with open_checker(load_config(config)) as checker:
        decision = check_answer(QUESTION, ANSWER, DOCUMENTS, gate=checker)
        assert (decision.verdict, decision.judged, decision.needs_judge) == (found, True, False)
        state = {"question": QUESTION, "generation": ANSWER, "documents": DOCUMENTS}
        assert gate_node(checker)(state)["verdict"] == found


def test_a_checker_can_leave_the_judge_out_and_holds_what_no_judge_settles(config: Path, server: FakeServer) -> None:
    with open_checker(load_config(config)) as checker:
        decision = check_answer(QUESTION, ANSWER, DOCUMENTS, gate=checker, judge=False)
        assert (decision.verdict, decision.needs_judge, server.calls) == ("human_review", True, [])
        server.faults.says = ["unreadable"]
        decision = check_answer(QUESTION, ANSWER, DOCUMENTS, gate=checker)
        assert (decision.verdict, decision.reasons[0].code) == ("human_review", "judge_failed")
    with open_checker(load_config(config), judge=False) as checker:
        assert check_answer(QUESTION, ANSWER, DOCUMENTS, gate=checker).needs_judge


def test_a_judge_that_is_too_slow_holds_the_answer_in_its_time(config: Path, server: FakeServer) -> None:
    server.faults.hang = True
    write_config(config.parent, **BAND | {"rag": {"grey_band": {"judge": "ollama:fake-a", "seconds": 0.2}}})
    with open_checker(load_config(config)) as checker:
        decision = check_answer(QUESTION, ANSWER, DOCUMENTS, gate=checker)
    assert (decision.verdict, decision.reasons[0].code) == ("human_review", "judge_failed")


def test_a_node_with_a_ledger_knows_what_people_said(config: Path, server: FakeServer, ledger: Ledger) -> None:
    server.faults.says = [verdict(2)]
    Traces(ledger).append([delivered_trace(1, response=ANSWER, documents=DOCUMENTS, collection="faq")])
    with open_checker(load_config(config), ledger=ledger) as checker:
        node, state = gate_node(checker, collection="faq"), {"question": QUESTION, "generation": ANSWER, "documents": DOCUMENTS}
        assert node(state)["verdict"] == "deliver"
        Labels(ledger).add([grounding_label(1, "Anne", "no")])
        assert node(state)["decision"]["reasons"][0]["code"] == "labelled_unsupported"
        elsewhere = check_answer(QUESTION, ANSWER, DOCUMENTS, gate=checker, collection="contracts")
        assert elsewhere.verdict == "deliver"


@pytest.mark.parametrize(("score", "found"), [(2, "deliver"), (0, "human_review")])
def test_a_configured_judge_is_asked_about_near_copies(
    tmp_path: Path, server: FakeServer, monkeypatch: pytest.MonkeyPatch, score: int, found: str
) -> None:
    monkeypatch.setenv("OLLAMA_HOST", server.address)
    server.faults.says = [verdict(score)]
    documents = [{"text": "Les intérêts du livret ne sont pas soumis à l'impôt sur le revenu."}]
    near = "Les intérêts du livret sont soumis à l'impôt sur le revenu."
    with open_checker(load_config(write_config(tmp_path, rag=BAND["rag"]))) as checker:
        decision = check_answer("Le livret est-il imposable ?", near, documents, gate=checker)
        unasked = check_answer("Le livret est-il imposable ?", near, documents, gate=checker, judge=False)
    assert (decision.verdict, decision.judged, decision.meaning_not_checked) == (found, True, ())
    assert (unasked.verdict, unasked.judged, unasked.meaning_not_checked) == ("deliver", False, (0,))


# --- on the command line


def test_the_command_asks_the_judge(command: Command, server: FakeServer) -> None:
    server.faults.says = [verdict(2)]
    write_config(command.folder, **BAND)
    (command.folder / "guide.txt").write_text(DOCUMENTS[0].text, encoding="utf-8")
    asked = ("gate", "check", "--prompt", QUESTION, "--response", ANSWER, "--document", "guide.txt")
    assert command(*asked).code == 0
    without = command(*asked, "--no-judge")
    assert (without.code, "Un juge doit vérifier 1 phrase." in without.out) == (1, True)
