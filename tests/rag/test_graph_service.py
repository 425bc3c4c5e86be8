"""The pipeline: its routes, what the user gets, and what the ledger keeps."""

import asyncio
import json
import re
import socket
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from areopage.app.gate_rules import load_gate
from areopage.cases.records import Document
from areopage.checking.log_lines import MetricsLine
from areopage.errors import CallTimedOut, ConfigError, StorageError, SubmissionError, TooManyAnswers, UnknownCollection
from areopage.gate.records import AskedJudge, Decision, GateVerdict
from areopage.ledger.read.queries import TraceFilter
from areopage.ledger.store import Ledger
from areopage.ledger.tables.trace_records import Trace
from areopage.ledger.write.traces import Traces
from areopage.rag.records import ChatPrompt, citations_of
from areopage.rag.service import RagService
from servers import PATIENCE
from servers.new_ledger import ledger_at
from servers.rag_parts import DOCUMENTS, QUESTION, RESPONSE, GivenGenerator, GivenRetriever, ToldGate, rag_config, rag_service

ASKED = ChatPrompt(prompt=QUESTION)


def ask(service: RagService, *questions: ChatPrompt) -> list[Trace]:
    """The answers to questions that are asked one after the other, and the service closed."""

    async def all_of_them() -> list[Trace]:
        answers = [await service.answer(question) for question in questions]
        await service.aclose()
        return answers

    return asyncio.run(all_of_them())


def nodes_of(service: RagService, question: ChatPrompt = ASKED) -> list[str]:
    """The nodes that a question passes."""

    async def walk() -> list[str]:
        names = [event["node"] async for event in service.stream(question) if "node" in event]
        await service.aclose()
        return names

    return asyncio.run(walk())


def kept(folder: Path) -> list[Trace]:
    """The traces of the folder's ledger, the oldest first."""
    ledger = Ledger.open(folder / "ledger.db")
    try:
        return list(Traces(ledger).each(TraceFilter()))
    finally:
        ledger.close()


def low(score: float) -> tuple[Document, ...]:
    return (Document(id="far", text="Tout autre chose.", score=score),)


# --- routes


@pytest.mark.parametrize(
    ("verdict", "last"),
    [("deliver", []), ("human_review", ["human_review"]), ("fallback", ["fallback"])],
)
def test_the_verdict_sends_an_answer_out_to_people_or_to_the_fallback(
    tmp_path: Path, verdict: GateVerdict, last: list[str]
) -> None:
    service = rag_service(tmp_path, gate=ToldGate(verdict))

    assert nodes_of(service) == ["retrieve", "grade_documents", "generate", "evaluate_response", *last]


@pytest.mark.parametrize("documents", [(), low(0.49)], ids=["none", "far"])
def test_without_a_relevant_document_nothing_is_generated(tmp_path: Path, documents: tuple[Document, ...]) -> None:
    generator = GivenGenerator()
    service = rag_service(tmp_path, retriever=GivenRetriever(documents), generator=generator)

    assert nodes_of(service) == ["retrieve", "grade_documents", "fallback"]
    assert generator.languages == []
    (trace,) = kept(tmp_path)
    assert (trace.verdict, trace.mode, trace.response) == ("fallback", "fallback", "")
    assert trace.decision is not None
    assert trace.decision.reasons[0].code == ("not_relevant" if documents else "no_documents")


@pytest.mark.parametrize("profile", ["default", "v1_1"])
def test_the_real_gate_grades_the_documents(tmp_path: Path, profile: str) -> None:
    relevant = rag_service(tmp_path, gate=load_gate(profile))
    far = rag_service(tmp_path, gate=load_gate(profile), retriever=GivenRetriever(low(0.2)))

    assert "generate" in nodes_of(relevant)
    assert nodes_of(far) == ["retrieve", "grade_documents", "fallback"]


def test_the_real_gate_delivers_what_the_documents_say_and_holds_back_an_altered_figure(tmp_path: Path) -> None:
    (good,) = ask(rag_service(tmp_path, gate=load_gate()), ASKED)
    wrong = GivenGenerator("Le délai de rétractation est de 30 jours et coûte 45 € de frais [conso-1].")
    (held,) = ask(rag_service(tmp_path, gate=load_gate(), generator=wrong), ASKED)

    assert (good.verdict, good.answer.delivered) == ("deliver", RESPONSE)
    assert [citation.id for citation in citations_of(good)] == ["conso-1"]
    assert held.verdict == "human_review"
    assert "45" not in held.answer.delivered.replace(held.id, "")  # an id may hold it


# --- what the user gets


def test_a_delivered_answer_comes_with_its_documents_and_citations(tmp_path: Path) -> None:
    retriever = GivenRetriever()
    service = rag_service(tmp_path, retriever=retriever, retrieval={"sources": ["guide"]})

    (answer,) = ask(service, ASKED)

    assert (answer.answer.delivered, answer.mode, answer.language) == (RESPONSE, "generated", "fr")
    assert answer.documents == DOCUMENTS
    assert [citation.id for citation in citations_of(answer)] == ["conso-1"]
    assert answer.confidence == pytest.approx(0.584)
    assert retriever.asked == [(QUESTION, "knowledge_base_main", ("guide",))]
    assert retriever.closed


def test_an_answer_held_back_says_so_in_the_questions_language_with_its_id(tmp_path: Path) -> None:
    question = ChatPrompt(prompt="How long do I have to send back what I bought?")
    (french,) = ask(rag_service(tmp_path, gate=ToldGate("human_review")), ASKED)
    (english,) = ask(rag_service(tmp_path, gate=ToldGate("human_review")), question)

    assert french.answer.delivered.startswith("Une personne va relire")
    assert english.answer.delivered.startswith("A person will look at")
    assert french.id in french.answer.delivered
    assert english.id in english.answer.delivered
    assert (english.mode, english.language, citations_of(english)) == ("human_review", "en", ())
    assert RESPONSE not in english.answer.delivered


def test_the_texts_can_be_given_and_another_language_gets_the_configured_one(tmp_path: Path) -> None:
    texts = {"fallback": {"en": "Sorry, nothing found."}, "human_review": {"en": "Wait: {id}, {braces} stay."}}
    service = rag_service(tmp_path, gate=ToldGate("human_review"), texts=texts, language="en")

    (answer,) = ask(service, ChatPrompt(prompt="Widerruf?"))

    assert answer.answer.delivered == f"Wait: {answer.id}, {{braces}} stay."


def test_an_empty_text_in_the_configuration_is_one_clear_line(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"texts\.fallback\.fr: is empty"):
        rag_service(tmp_path, texts={"fallback": {"fr": " "}})


def test_an_empty_question_and_an_endless_one_are_refused(tmp_path: Path) -> None:
    for question, says in ((" \n", "empty"), ("x" * 20_001, "longer than 20,000 characters")):
        with pytest.raises(SubmissionError, match=says):
            ask(rag_service(tmp_path), ChatPrompt(prompt=question))


def test_ids_that_a_model_cites_apart_from_its_text_count_as_citations_and_are_not_shown(tmp_path: Path) -> None:
    gate = ToldGate()
    generator = GivenGenerator("Quatorze jours [conso-1].", cited_ids=("conso-1", "conso-2"))

    (answer,) = ask(rag_service(tmp_path, gate=gate, generator=generator), ASKED)

    assert gate.seen[-1][1] == "Quatorze jours [conso-1]. [conso-2]"
    assert answer.answer.delivered == "Quatorze jours [conso-1]."
    assert kept(tmp_path)[0].response == gate.seen[-1][1]


# --- what is kept


def test_every_answer_is_in_the_ledger_and_a_held_back_one_in_the_review_queue(tmp_path: Path) -> None:
    question = ChatPrompt(prompt=QUESTION, collection="other", sources_filter=("b", "a"), session="s", api_key="k")

    (answer,) = ask(rag_service(tmp_path, gate=ToldGate("human_review")), question)

    (trace,) = kept(tmp_path)
    assert trace.id == answer.id
    assert re.fullmatch("[0-9a-f]{32}", trace.id)
    assert (trace.channel, trace.verdict, trace.mode) == ("chat", "human_review", "human_review")
    assert (trace.prompt, trace.response, trace.answer.delivered) == (QUESTION, RESPONSE, answer.answer.delivered)
    assert (trace.collection, trace.sources_filter, trace.answer.session, trace.answer.api_key) == ("other", ("b", "a"), "s", "k")
    assert (trace.answer.model, trace.documents) == ("given:model", DOCUMENTS)
    assert trace.metrics["confidence"] == pytest.approx(0.584)
    assert trace.answer.seconds is not None
    assert trace.gate_seconds is not None
    ledger = Ledger.open(tmp_path / "ledger.db")
    release = Traces(ledger).release(answer.id)
    ledger.close()
    assert release is not None
    assert release.state == "waiting"


def test_a_model_that_does_not_answer_is_a_fault_and_never_a_trace(tmp_path: Path) -> None:
    service = rag_service(tmp_path, generator=GivenGenerator(fault=CallTimedOut("too slow")))

    with pytest.raises(CallTimedOut, match="too slow"):
        ask(service, ASKED)

    assert kept(tmp_path) == []


def test_a_fault_of_the_retriever_reaches_the_caller_as_it_is(tmp_path: Path) -> None:
    service = rag_service(tmp_path, retriever=GivenRetriever(fault=UnknownCollection("no collection x")))

    with pytest.raises(UnknownCollection, match="no collection x"):
        ask(service, ASKED)


def test_one_line_is_said_for_each_answer_and_sources_cannot_break_it(tmp_path: Path) -> None:
    said: list[str] = []
    question = ChatPrompt(prompt=QUESTION, sources_filter=("cfpb", "x\n[chatbot] chosen_mode=forged"))

    ask(rag_service(tmp_path, say=said.append), question)

    assert said == [
        "[chatbot] chosen_mode=generated confidence=0.584 response_lang=fr "
        'sources_filter=["cfpb","x\\n[chatbot] chosen_mode=forged"]'
    ]


def test_the_line_and_the_figures_of_an_answer_say_the_standing_of_the_judge_that_was_asked(tmp_path: Path) -> None:
    said: list[str] = []
    asked = AskedJudge(name="a", model="ollama:a", standing="provisional")

    class Judged(ToldGate):
        def decide(self, *given: Any) -> Decision:
            return replace(super().decide(*given), judge=asked)

    (trace,) = ask(rag_service(tmp_path, gate=Judged(), say=said.append), ASKED)

    assert said[0].endswith("sources_filter=[] judge=provisional")
    assert MetricsLine.of(trace).judge_standing == "provisional"


def test_in_shadow_mode_everything_is_delivered_and_the_verdict_noted(tmp_path: Path) -> None:
    (answer,) = ask(shadowed(tmp_path, ToldGate("human_review"), DOCUMENTS), ASKED)
    (far,) = ask(shadowed(tmp_path, ToldGate(), low(0.2)), ASKED)
    (nothing,) = ask(shadowed(tmp_path, ToldGate(), ()), ASKED)

    assert (answer.answer.delivered, answer.mode, answer.verdict) == (RESPONSE, "shadow", "human_review")
    assert (far.answer.delivered, far.mode, far.verdict) == (RESPONSE, "shadow", "fallback")
    assert nothing.mode == "fallback"
    assert [trace.mode for trace in kept(tmp_path)] == ["shadow", "shadow", "fallback"]


def shadowed(folder: Path, gate: ToldGate, documents: tuple[Document, ...]) -> RagService:
    """A service in shadow mode."""
    config = rag_config(folder, shadow=True)
    ledger = ledger_at(folder / "ledger.db")
    return RagService(config, ledger, gate, GivenRetriever(documents), GivenGenerator(), lambda line: None)


# --- how it is kept


def test_answers_at_the_same_time_share_transactions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sizes: list[int] = []
    append = Traces.append

    def slow_append(self: Traces, traces: Sequence[Trace]) -> None:
        if str(tmp_path) in self._ledger.place:  # an earlier test's last answer may come late
            sizes.append(len(traces))
        time.sleep(0.05)
        append(self, traces)

    async def all_of_them() -> None:
        service = rag_service(tmp_path)
        await asyncio.gather(*(service.answer(ChatPrompt(prompt=f"{QUESTION} {number}")) for number in range(20)))
        await service.aclose()

    monkeypatch.setattr(Traces, "append", slow_append)
    asyncio.run(all_of_them())

    assert sum(sizes) == 20
    assert len(sizes) <= 2
    assert len(kept(tmp_path)) == 20


def test_an_answer_that_cannot_be_noted_does_not_leave(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(self: Traces, traces: Sequence[Trace]) -> None:
        raise StorageError("no space left")

    monkeypatch.setattr(Traces, "append", full)

    with pytest.raises(StorageError, match="no space left"):
        ask(rag_service(tmp_path), ASKED)


def test_a_storage_policy_holds_for_the_ledger_and_the_files(tmp_path: Path) -> None:
    def without_texts(trace: Trace) -> Trace:
        case = msgspec.structs.replace(trace.answer.case, prompt="", response="", documents=())
        return msgspec.structs.replace(trace, answer=msgspec.structs.replace(trace.answer, case=case, delivered=""))

    config = rag_config(tmp_path, traces={"enabled": True, "folder": "."})
    ledger = ledger_at(tmp_path / "ledger.db")
    service = RagService(config, ledger, ToldGate(), GivenRetriever(), GivenGenerator(), lambda line: None, reduce=without_texts)

    (answer,) = ask(service, ASKED)

    assert answer.answer.delivered == RESPONSE
    assert kept(tmp_path)[0].answer.delivered == ""
    assert "rétractation" not in (tmp_path / "logs" / "metrics.jsonl").read_text(encoding="utf-8")


def test_traces_are_written_where_they_are_wanted_and_a_snapshot_of_what_does_not_pass(tmp_path: Path) -> None:
    traces = {"enabled": True, "folder": "out"}
    ask(rag_service(tmp_path, traces=traces), ASKED, ASKED)
    (held,) = ask(rag_service(tmp_path, traces=traces, gate=ToldGate("human_review")), ASKED)
    ask(rag_service(tmp_path, traces=traces, retriever=GivenRetriever(())), ASKED)

    def lines(name: str) -> list[dict[str, Any]]:
        return [json.loads(line) for line in (tmp_path / "out" / "logs" / name).read_text(encoding="utf-8").splitlines()]

    assert [line["quality_pass"] for line in lines("metrics.jsonl")] == [True, False, False]
    assert [line["question"] for line in lines("llm_responses.jsonl")] == [QUESTION, QUESTION]
    assert [place.stem for place in (tmp_path / "out" / "snapshots" / "for_review").iterdir()] == [held.id]
    assert not (tmp_path / "logs").exists()


# --- streaming, and without an event loop


def test_a_stream_ends_with_the_answer(tmp_path: Path) -> None:
    async def walk() -> list[dict[str, Any]]:
        service = rag_service(tmp_path)
        events = [event async for event in service.stream(ASKED)]
        await service.aclose()
        return events

    events = asyncio.run(walk())

    assert events[0] == {"node": "retrieve", "state": {"documents": DOCUMENTS}}
    assert events[-1]["trace"].answer.delivered == RESPONSE


def test_a_stream_that_is_left_is_finished_and_noted_all_the_same(tmp_path: Path) -> None:
    async def leave() -> None:
        service = rag_service(tmp_path, generator=GivenGenerator(seconds=0.05))
        events = service.stream(ASKED)
        await anext(aiter(events))
        await events.aclose()  # type: ignore[attr-defined]
        while service._flights:  # noqa: ASYNC110 - nothing tells of the end of what nobody waits for
            await asyncio.sleep(0.01)
        await service.aclose()

    asyncio.run(leave())

    assert [trace.answer.delivered for trace in kept(tmp_path)] == [RESPONSE]


def test_a_key_has_so_many_answers_in_generation_those_included_that_a_caller_left(tmp_path: Path) -> None:
    asked = ChatPrompt(prompt=QUESTION, no_cache=True, api_key="desk")

    async def ask_and_leave() -> None:
        service = rag_service(tmp_path, generation={"per_key": 2}, generator=GivenGenerator(seconds=0.05))
        for _ in range(2):
            events = service.stream(asked)
            await anext(aiter(events))
            await events.aclose()  # type: ignore[attr-defined]
        with pytest.raises(TooManyAnswers, match="2 answers are being generated for the API key desk"):
            await service.answer(asked)
        await service.answer(replace(asked, api_key="other"))
        await asyncio.gather(*service._flights.values())
        await service.answer(asked)
        await service.aclose()

    asyncio.run(ask_and_leave())

    assert len(kept(tmp_path)) == 4


def test_a_fault_ends_a_stream(tmp_path: Path) -> None:
    async def walk() -> None:
        service = rag_service(tmp_path, generator=GivenGenerator(fault=CallTimedOut("too slow")))
        try:
            async for _ in service.stream(ASKED):
                pass
        finally:
            await service.aclose()

    with pytest.raises(CallTimedOut):
        asyncio.run(walk())


# --- what must not happen


def test_no_run_is_sent_to_langsmith_whatever_the_environment_says(tmp_path: Path) -> None:
    """LangGraph would send every question, document and answer there; a listener on loopback stands for the service."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(0.05)
        address = f"http://127.0.0.1:{listener.getsockname()[1]}"
        script = (
            "import asyncio, sys; from pathlib import Path\n"
            "from servers.rag_parts import rag_service, QUESTION\n"
            "from areopage.rag.records import ChatPrompt\n"
            "async def main():\n"
            "    service = rag_service(Path(sys.argv[1]))\n"
            "    print((await service.answer(ChatPrompt(prompt=QUESTION))).mode)\n"
            "    await service.aclose()\n"
            "asyncio.run(main())\n"
            "from langchain_core.tracers.langchain import wait_for_all_tracers\n"
            "wait_for_all_tracers()\n"
        )
        environment = {
            "LANGSMITH_TRACING": "true",
            "LANGCHAIN_TRACING_V2": "true",
            "LANGSMITH_API_KEY": "k",
            "LANGCHAIN_API_KEY": "k",
            "LANGSMITH_ENDPOINT": address,
            "LANGCHAIN_ENDPOINT": address,
            "PYTHONPATH": ":".join([*sys.path, str(Path(__file__).parents[1])]),
            "PATH": "",
        }
        run = subprocess.run(
            [sys.executable, "-c", script, str(tmp_path)],
            env=environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=PATIENCE,
        )
        assert (run.stdout, run.returncode) == ("generated\n", 0), run.stderr
        with pytest.raises(TimeoutError):
            listener.accept()
