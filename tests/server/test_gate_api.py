"""The gate over HTTP: decisions on other pipelines' answers, and what people and programs find of them later."""

import json
from collections.abc import Sequence
from datetime import timedelta
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs
from sqlalchemy import func, select
from starlette.testclient import TestClient

from areopage.app.answering import open_judge
from areopage.app.gate_rules import load_gate
from areopage.checking.judge_gold import read_judge_gold
from areopage.checking.judging import CRITERION, open_sentence_judge
from areopage.errors import StorageError
from areopage.exams.asking import AskingWishes
from areopage.exams.exam import run_exam
from areopage.exams.gate_exam import gate_exams
from areopage.gate.decide import Gate
from areopage.ledger.people.access import ApiKeys, Audit
from areopage.ledger.people.labels import Labels
from areopage.ledger.read.queries import TraceFilter
from areopage.ledger.tables.answer_tables import judgments
from areopage.ledger.tables.trace_records import Trace
from areopage.ledger.write.operations import Role
from areopage.ledger.write.traces import Traces
from areopage.server.app import create_app
from areopage.server.context import ServerContext
from servers.fake_answers import Call
from servers.fake_llm import FakeServer

from .fake_rag import DOCUMENTS, GROUNDED, LEAVE, MADE_UP, QUESTION
from .seeded import NOW, context_for, local_client

CHUNKS = [{"id": one.id, "title": one.title, "text": one.text, "score": one.score} for one in DOCUMENTS]
CHECK: dict[str, Any] = {"prompt": QUESTION, "response": GROUNDED, "documents": CHUNKS}
WRONG = CHECK | {"response": f"{GROUNDED} {MADE_UP}"}


def key(context: ServerContext, role: Role, *collections: str) -> dict[str, str]:
    name = f"{role}-{'-'.join(collections)}"
    return {"Authorization": f"Bearer {ApiKeys(context.ledger).create(name, role, collections)[1]}"}


def stored(context: ServerContext) -> Sequence[Trace]:
    return Traces(context.ledger).list(TraceFilter())


def test_a_check_says_what_becomes_of_an_answer_and_why(client: TestClient) -> None:
    passed = client.post("/v1/gate/check", json=CHECK).json()
    assert (passed["verdict"], passed["reasons"], passed["cited_ids"]) == ("deliver", [], ["conges-1"])
    held = client.post("/v1/gate/check", json=WRONG).json()
    assert held["verdict"] == "human_review"
    figure = next(one for one in held["reasons"] if one["code"] == "unsupported_figure")
    assert figure["decisive"]
    assert "1 350 €" in figure["text"].replace("\u202f", " ").replace("\xa0", " ")
    first, second = held["sentences"]
    assert WRONG["response"][second["start"] : second["end"]] == MADE_UP
    assert first["p_unsupported"] < second["p_unsupported"]
    assert "features" not in second


def test_the_specifications_names_are_taken(client: TestClient) -> None:
    chunks = [{"doc_titre": one.title, "text": one.text} for one in DOCUMENTS]
    turns = [{"role": "user", "content": "Bonjour"}, {"role": "user", "content": QUESTION}]
    for question in (QUESTION, turns):
        body = {"question": question, "answer": GROUNDED, "context_chunks": chunks}
        assert client.post("/v1/gate/check", json=body).status_code == 200


def test_nothing_is_too_little_to_be_decided_on(client: TestClient) -> None:
    nothing = client.post("/v1/gate/check", json={"prompt": "", "response": ""})
    assert nothing.status_code == 422
    reply = client.post("/v1/gate/check", json={"prompt": "Bonjour ?", "response": "", "documents": []}).json()
    assert reply["verdict"] == "fallback"


@pytest.mark.parametrize(
    ("change", "status", "said"),
    [
        ({"prompt": None}, 422, "prompt (or question)"),
        ({"response": None}, 422, "response (or answer)"),
        ({"question": "?"}, 422, "are synonyms"),
        ({"documents": [{"title": "x"}]}, 422, "document 1 has no text"),
        ({"doc": 1}, 422, "doc"),
    ],
)
def test_a_wrong_check_is_told_what_is_wrong(client: TestClient, change: dict[str, Any], status: int, said: str) -> None:
    reply = client.post("/v1/gate/check", json=CHECK | change)
    assert reply.status_code == status
    assert said in reply.json()["error"]["message"]


def test_what_is_held_back_is_on_the_disk_and_in_the_queue_when_the_check_is_answered(
    client: TestClient, context: ServerContext
) -> None:
    with client:
        held = client.post("/v1/gate/check", json=WRONG | {"session": "s-1", "collection": "handbook"}).json()
        assert held["stored"] == "yes"
        trace = Traces(context.ledger).get(held["id"])
        assert trace is not None
        assert (trace.channel, trace.mode, trace.answer.session, trace.answer.api_key) == (
            "check",
            "human_review",
            "s-1",
            "local",
        )
        assert trace.response == WRONG["response"]
        assert client.get(held["held"]).json()["state"] == "waiting"
        queue = client.get("/review").text
        assert f'href="/review/{held["id"]}"' in queue
        assert client.get("/review/?after=0", follow_redirects=False).headers["location"] == f"/review/{held['id']}"


def test_what_leaves_is_written_soon_and_at_the_latest_when_the_server_stops(client: TestClient, context: ServerContext) -> None:
    with client:
        for number in range(30):
            reply = client.post("/v1/gate/check", json=CHECK | {"prompt": f"{QUESTION} {number}"}).json()
            assert (reply["verdict"], reply["stored"]) == ("deliver", "soon")
    assert len(stored(context)) == 30


def test_what_is_not_to_be_kept_is_kept_nowhere(client: TestClient, context: ServerContext) -> None:
    with client:
        reply = client.post("/v1/gate/check", json=WRONG | {"store": False}).json()
        assert (reply["stored"], reply["held"]) == ("no", None)
    assert not stored(context)


def test_a_ledger_that_cannot_be_written_stops_only_what_must_be_on_the_disk(
    client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_: object, given: Sequence[Trace]) -> None:
        raise StorageError("disk full")

    monkeypatch.setattr(Traces, "append", full)
    monkeypatch.setattr("areopage.ledger.write.batch.Batch.close.__defaults__", (0.05,))
    with client:
        assert client.post("/v1/gate/check", json=CHECK).json()["stored"] == "soon"
        refused = client.post("/v1/gate/check", json=WRONG)
        assert (refused.status_code, refused.json()["error"]["code"]) == (503, "storage")
        assert "areopage_gate_unwritten 1.0" in client.get("/metrics").text


def test_the_storage_policy_leaves_texts_only_to_those_who_wait_for_a_person(tmp_path: Path) -> None:
    made = context_for(tmp_path, storage={"text": "none"})
    with local_client(made) as client:
        client.post("/v1/gate/check", json=CHECK)
        held = client.post("/v1/gate/check", json=WRONG).json()["id"]
        waiting = Traces(made.ledger).get(held)
        assert waiting
        assert waiting.response
        verdict = {"grounded": "no", "action": "release", "text": "2,5 jours."}
        assert client.post(f"/v1/traces/{held}/verdict", json=verdict).status_code == 201
        assert client.get(f"/v1/chat/held/{held}").json()["text"] == "2,5 jours."
    assert [one.response for one in stored(made)] == ["", ""]
    made.ledger.close()


def test_a_huge_answer_is_held_back_and_holds_nobody_up(client: TestClient) -> None:
    reply = client.post("/v1/gate/check", json=CHECK | {"response": "Le salarié. " * 40_000}).json()
    assert (reply["verdict"], reply["reasons"][0]["code"]) == ("human_review", "too_long")


def test_the_documented_rule_decides_where_it_is_configured(context: ServerContext) -> None:
    client = local_client(structs.replace(context, gate=load_gate("v1_1")))
    reply = client.post("/v1/gate/check", json=CHECK).json()
    assert (reply["profile"], reply["p_unsupported"]) == ("v1_1", None)


def test_a_scoped_key_notes_under_its_own_collections(client: TestClient, context: ServerContext) -> None:
    one, two = key(context, "write", "a"), key(context, "write", "a", "b")
    assert client.post("/v1/gate/check", json=CHECK | {"collection": "b"}, headers=one).status_code == 403
    assert client.post("/v1/gate/check", json=CHECK, headers=two).status_code == 422
    held = client.post("/v1/gate/check", json=WRONG, headers=one).json()["id"]
    trace = Traces(context.ledger).get(held)
    assert trace
    assert trace.collection == "a"


def test_decisions_are_counted_and_timed(client: TestClient) -> None:
    client.post("/v1/gate/check", json=CHECK)
    client.post("/v1/gate/check", json=WRONG)
    shown = client.get("/metrics").text
    for verdict in ("deliver", "human_review"):
        assert f'areopage_gate_decisions_total{{profile="default",verdict="{verdict}"}} 1.0' in shown
    assert "areopage_gate_seconds_count 2.0" in shown
    assert 'areopage_gate_reasons_total{code="unsupported_figure"} 1.0' in shown
    assert 'areopage_gate_p_unsupported_bucket{le="0.1"} 1.0' in shown
    assert "areopage_gate_p_unsupported_count 2.0" in shown
    assert "areopage_gate_lost 0.0" in shown


def test_the_latest_metrics_and_snapshot_of_a_question_are_found(context: ServerContext) -> None:
    seconds = count()
    with local_client(structs.replace(context, now=lambda: NOW + timedelta(seconds=next(seconds)))) as client:
        client.post("/v1/gate/check", json=CHECK)
        held = client.post("/v1/gate/check", json=WRONG).json()["id"]
        latest = client.get("/v1/debug/latest", params={"question": QUESTION}).json()
        assert client.get("/v1/debug/latest", params={"question": "never asked"}).status_code == 404
    assert latest["snapshot"]["id"] == held
    assert set(latest["snapshot"]) == {"id", "timestamp", "question", "documents", "sources", "generation", "metrics"}
    figures = {"avg_score", "confidence", "cites_ok", "overlap_ratio", "hallucination", "quality_pass", "escalate", "num_sources"}
    assert figures | {"timestamp", "question"} == set(latest["metrics"])
    assert latest["metrics"]["hallucination"] is True
    assert [entry.action for entry in Audit(context.ledger).list(subject=held)] == ["read"]


def test_traces_are_listed_page_by_page_read_and_erased(client: TestClient, context: ServerContext) -> None:
    with client:
        ids = [client.post("/v1/gate/check", json=WRONG | {"prompt": f"{QUESTION} {n}"}).json()["id"] for n in range(3)]
        page = client.get("/v1/traces", params={"limit": 2}).json()
        assert [one["id"] for one in page["items"]] == ids[:0:-1]
        rest = client.get("/v1/traces", params={"limit": 2, "before": page["next"]}).json()
        assert ([one["id"] for one in rest["items"]], rest["next"]) == (ids[:1], None)
        asked = client.get("/v1/traces", params={"prompt": f"{QUESTION} 1"}).json()
        assert [one["id"] for one in asked["items"]] == [ids[1]]
        shown = client.get(f"/v1/traces/{ids[0]}").json()
        assert (shown["response"], shown["release"]["state"]) == (WRONG["response"], "waiting")
        assert "1 350 €" in " ".join(shown["explanations"])
        assert client.delete(f"/v1/traces/{ids[0]}").status_code == 204
        erased = client.get(f"/v1/traces/{ids[0]}").json()
        assert (erased["erased"], erased["prompt"], erased["response"], erased["documents"]) == (True, "", "", [])
        assert (erased["verdict"], erased["release"]["state"]) == ("human_review", "refused")
        assert client.delete(f"/v1/traces/{ids[0]}").status_code == 404
        assert client.post(f"/v1/traces/{ids[0]}/verdict", json={"grounded": "no"}).status_code == 404
    assert "erase" in [entry.action for entry in Audit(context.ledger).list(subject=ids[0])]


def test_only_an_admin_reads_traces_and_a_scoped_one_his_own(client: TestClient, context: ServerContext) -> None:
    write, admin, scoped = key(context, "write"), key(context, "admin"), key(context, "admin", "a")
    with client:
        a, b = (
            client.post("/v1/gate/check", json=WRONG | {"collection": name}, headers=admin).json()["id"] for name in ("a", "b")
        )
        assert client.get("/v1/traces", headers=write).status_code == 403
        assert len(client.get("/v1/traces", headers=admin).json()["items"]) == 2
        assert [one["id"] for one in client.get("/v1/traces", headers=scoped).json()["items"]] == [a]
        assert client.get("/v1/traces", params={"collection": "b"}, headers=scoped).status_code == 403
        for path in (f"/v1/traces/{b}", f"/v1/chat/held/{b}"):
            assert client.get(path, headers=scoped).status_code == 404
        assert client.delete(f"/v1/traces/{b}", headers=scoped).status_code == 404
        verdict = {"grounded": "no"}
        assert client.post(f"/v1/traces/{b}/verdict", json=verdict, headers=scoped).status_code == 404
        assert client.post(f"/v1/traces/{a}/verdict", json=verdict, headers=scoped).status_code == 201
        pages = [client.get(path, headers=scoped) for path in ("/gate?collection=b", "/review", f"/gate/{b}")]
        assert b not in pages[0].text + pages[1].text
        assert a in pages[0].text
        assert pages[2].status_code == 404


def test_a_verdict_is_stored_and_settles_once(client: TestClient, context: ServerContext) -> None:
    with client:
        held = client.post("/v1/gate/check", json=WRONG).json()["id"]
        path = f"/v1/traces/{held}/verdict"
        label = {"grounded": "partly", "sentences": [1], "note": "La prime n’existe pas."}
        assert client.post(path, json=label).json()["state"] == "waiting"
        assert client.post(path, json=label | {"action": "release"}).json()["state"] == "released"
        assert client.post(path, json=label | {"action": "refuse"}).status_code == 409
        assert client.get(f"/v1/chat/held/{held}").json()["text"] == WRONG["response"]
    given = Labels(context.ledger).grounding([held])[held]
    assert [(one.rater, one.grounded, one.sentences, one.origin) for one in given] == [("local", "partly", (1,), "api")]


@pytest.mark.parametrize(
    "verdict",
    [
        {"grounded": "maybe"},
        {"grounded": "no", "sentences": [7]},
        {"grounded": "yes", "sentences": [1]},
        {"grounded": "no", "text": "x"},
        {"grounded": "no", "action": "refuse", "text": "x"},
        {"grounded": "no", "action": "release", "text": "  "},
        {},
    ],
)
def test_a_wrong_verdict_changes_nothing(client: TestClient, context: ServerContext, verdict: dict[str, Any]) -> None:
    with client:
        held = client.post("/v1/gate/check", json=WRONG).json()["id"]
        assert client.post(f"/v1/traces/{held}/verdict", json=verdict).status_code == 422
    assert not Labels(context.ledger).grounding([held]).get(held)


def test_only_an_admin_speaks_in_anothers_name(client: TestClient, context: ServerContext) -> None:
    write, admin = key(context, "write"), key(context, "admin")
    with client:
        held = client.post("/v1/gate/check", json=WRONG, headers=write).json()["id"]
        verdict = {"grounded": "no", "rater": "Claire"}
        assert client.post(f"/v1/traces/{held}/verdict", json=verdict, headers=write).status_code == 403
        assert client.post(f"/v1/traces/{held}/verdict", json=verdict, headers=admin).json()["rater"] == "Claire"
    told = [(entry.actor, entry.detail) for entry in Audit(context.ledger).list(subject=held)]
    assert ("admin-", "in the name of Claire") in told


def test_the_requests_span_carries_the_decision_and_no_text(context: ServerContext) -> None:
    pytest.importorskip("opentelemetry.sdk")
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

    kept, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(kept))
    app = create_app(context, tracing=provider)
    with TestClient(app, base_url="http://127.0.0.1:8600", client=("127.0.0.1", 50000)) as client:
        held = client.post("/v1/gate/check", json=WRONG).json()["id"]
    span = next(span for span in kept.get_finished_spans() if span.name == "POST /v1/gate/check")
    (event,) = span.events
    assert event.name == "gen_ai.evaluation.result"
    attributes = dict(event.attributes or {})
    assert (attributes["areopage.trace.id"], attributes["gen_ai.evaluation.score.label"]) == (held, "human_review")
    assert "prime" not in json.dumps(attributes)


@pytest.mark.parametrize("score", [0.45, 0.03, -0.2])
def test_scores_of_another_retriever_decide_nothing(client: TestClient, score: float) -> None:
    chunks = [one | {"score": score} for one in CHUNKS]
    reply = client.post("/v1/gate/check", json=CHECK | {"documents": chunks}).json()
    assert (reply["verdict"], reply["metrics"]["avg_score"], reply["metrics"]["confidence"]) == ("deliver", None, None)


@pytest.mark.parametrize("score", [1.7, 20, 18.3, -3, "high", True, [1]])
def test_scores_on_another_scale_are_ignored_with_one_remark(client: TestClient, score: Any) -> None:
    chunks = [one | {"score": score} for one in CHUNKS]
    reply = client.post("/v1/gate/check", json=CHECK | {"documents": chunks}).json()
    assert (reply["verdict"], reply["metrics"]["confidence"]) == ("deliver", None)
    assert [(reason["code"], reason["decisive"]) for reason in reply["reasons"]] == [("ignored_scores", False)]


@pytest.mark.parametrize(
    ("documents", "said"),
    [
        ([{"body": LEAVE}], "document 1 has no text: its keys are body; write one of text"),
        ([LEAVE, {"body": LEAVE}], "document 2 has no text"),
    ],
)
def test_documents_that_cannot_be_read_are_refused_with_the_reason(client: TestClient, documents: list[Any], said: str) -> None:
    reply = client.post("/v1/gate/check", json=CHECK | {"documents": documents})
    assert (reply.status_code, said in reply.json()["error"]["message"]) == (422, True), reply.text


def test_scores_are_compared_where_the_rules_say_so(context: ServerContext) -> None:
    config = structs.replace(context.gate.config, foreign_scores="compared")
    client = local_client(structs.replace(context, gate=Gate(config)))
    assert client.post("/v1/gate/check", json=CHECK).json()["metrics"]["confidence"] == pytest.approx(0.8 * 0.91)
    far = [one | {"score": 0.03} for one in CHUNKS]
    assert client.post("/v1/gate/check", json=CHECK | {"documents": far}).json()["reasons"][0]["code"] == "not_relevant"
    negative = client.post("/v1/gate/check", json=CHECK | {"documents": [{"text": LEAVE, "score": -0.2}]}).json()
    assert negative["reasons"][-1]["code"] == "ignored_scores"


def test_a_configured_judge_is_asked_in_the_grey_band_and_may_be_left_out(tmp_path: Path, server: FakeServer) -> None:
    made = context_for(tmp_path, rag={"grey_band": {"judge": "ollama:fake-a", "seconds": 10, "unexamined": "deliver"}})
    judge = open_sentence_judge(made.config.rag, made.ledger, {"OLLAMA_HOST": server.address}, 4096)
    wide = structs.replace(made.gate.config.thresholds, deliver=0.0, hold=1.0)
    gate = Gate(structs.replace(made.gate.config, thresholds=wide, grey_band=True))
    body = CHECK | {"response": f"{LEAVE} Cette règle vaut partout."}

    def kept() -> int:
        with made.ledger.engine.connect() as connection:
            return int(connection.execute(select(func.count()).select_from(judgments)).scalar_one())

    def asked(score: int, **fields: Any) -> dict[str, Any]:
        server.faults.says = [json.dumps({"explanation": "because", "score": score, "evidence_extracts": []})]
        found: dict[str, Any] = opened.post("/v1/gate/check", json=body | fields).json()
        return found

    with local_client(structs.replace(made, gate=gate, judge=judge)) as opened:
        left_out = asked(2, judge=False)
        assert (left_out["verdict"], left_out["needs_judge"], server.calls) == ("human_review", True, [])
        assert (asked(2, store=False)["verdict"], kept()) == ("deliver", 0)
        settled = asked(2)
        assert (settled["verdict"], settled["judged"], settled["needs_judge"]) == ("deliver", True, False)
        assert kept() > 0
        assert asked(0, response=f"{LEAVE} Cette règle vaut ailleurs.")["reasons"][0]["code"] == "judge_unsupported"
    made.ledger.close()


def test_a_check_its_trace_and_its_page_say_the_standing_of_the_judge(
    tmp_path: Path, server: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OLLAMA_HOST", server.address)
    wide = structs.replace(load_gate().config.thresholds, deliver=0.0, hold=1.0)
    gate = Gate(structs.replace(load_gate().config, thresholds=wide, grey_band=True))
    made = context_for(tmp_path, rag={"grey_band": {"judge": "ollama:fake-a", "seconds": 10}})
    supported = {row.response: row.bands[CRITERION] == (2, 2) for row in read_judge_gold("fr")}

    def oracle(call: Call) -> dict[str, Any]:
        shown = call.user.partition("<<<RESPONSE")[2]
        wrong = any(f"\n{text}\n" in shown for text, right in supported.items() if not right)
        return {"explanation": "because", "score": 0 if wrong else 2, "evidence_extracts": []}

    server.judge = oracle
    (exam,) = gate_exams(made.config, AskingWishes(), ["fr"])
    with local_client(structs.replace(made, gate=gate, judge=open_judge(made.config, made.ledger))) as client:
        before = client.post("/v1/gate/check", json=CHECK).json()
        assert (before["verdict"], before["judge"]["standing"]) == ("human_review", "unexamined")
        assert before["judge"]["examine_with"] in before["reasons"][0]["text"]
        run_exam(exam.checked(), made.ledger)
        after = client.post("/v1/gate/check", json=CHECK).json()
        assert (after["verdict"], after["judge"]["standing"]) == ("deliver", "provisional")
        assert client.get(f"/v1/traces/{before['id']}").json()["judge"] == before["judge"]
    for language, said in (("fr", "qualifié à titre provisoire"), ("en", "provisionally qualified")):
        assert said in local_client(made).get(f"/gate/{after['id']}?lang={language}").text
    made.ledger.close()


def test_a_section_with_a_judge_alone_opens_no_pipeline(tmp_path: Path) -> None:
    assert not context_for(tmp_path, rag={"grey_band": {"judge": "ollama:fake-a"}}).config.answers_questions


def test_a_near_copy_says_that_its_meaning_was_not_checked(client: TestClient) -> None:
    near = CHECK | {"response": GROUNDED.replace("acquiert", "n’acquiert pas")}
    with client:
        reply = client.post("/v1/gate/check", json=near).json()
        assert (reply["verdict"], reply["p_unsupported"], reply["meaning_not_checked"]) == ("deliver", None, [0])
        assert reply["sentences"][0]["changes"] == ["negation"]
        assert [reason["code"] for reason in reply["reasons"]] == ["meaning_not_checked"]
        shown = client.get("/metrics").text
        assert 'areopage_gate_meaning_not_checked_total{verdict="deliver"} 1.0' in shown
    (entry,) = client.get("/v1/traces").json()["items"]
    assert (entry["meaning_not_checked"], entry["reasons"]) == (1, ["meaning_not_checked"])
