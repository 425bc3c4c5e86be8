"""Questions over HTTP: answered, kept back without a word of them getting out, refused to keys beyond their scope."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fastapi.routing import APIRoute
from starlette.testclient import TestClient

from areopage.errors import CallRejected, CallTimedOut, CallUnreachable, ServerDown, StorageError, TooManyAnswers
from areopage.ledger.people.access import ApiKeys, Audit
from areopage.ledger.tables.trace_records import Release
from areopage.ledger.write.operations import Role
from areopage.ledger.write.traces import Traces
from areopage.rag import api as chat
from areopage.server.app import routers
from areopage.server.context import ServerContext
from server.fake_rag import COLLECTION, GROUNDED, HELD, MADE_UP, OTHER, QUESTION, FakeRag, with_rag
from server.seeded import NOW, context_for, local_client

ASK = {"question": QUESTION}
SECRET = ("1 350", "article 77", "prime", MADE_UP)
STREAM = {"accept": "text/event-stream"}


@pytest.fixture
def bare(tmp_path: Path) -> Iterator[ServerContext]:
    made = context_for(tmp_path)
    yield made
    made.ledger.close()


@pytest.fixture
def answering(bare: ServerContext) -> tuple[ServerContext, FakeRag]:
    return with_rag(bare)


@pytest.fixture
def rag(answering: tuple[ServerContext, FakeRag]) -> FakeRag:
    return answering[1]


@pytest.fixture
def client(answering: tuple[ServerContext, FakeRag]) -> TestClient:
    return local_client(answering[0])


def key(context: ServerContext, role: Role, *collections: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {ApiKeys(context.ledger).create(f'{role}-{len(collections)}', role, collections)[1]}"}


def held_back(client: TestClient, rag: FakeRag, headers: dict[str, str] | None = None) -> Any:
    rag.response = f"{GROUNDED} {MADE_UP}"
    return client.post("/v1/chat", json=ASK, headers=headers or {}).json()


def events(body: bytes) -> list[tuple[str, Any]]:
    """The events of a stream, in their order."""
    found = []
    for block in body.decode().strip().split("\n\n"):
        name, data = block.split("\n")
        found.append((name.removeprefix("event: "), json.loads(data.removeprefix("data: "))))
    return found


def test_an_answer_comes_with_what_it_rests_on(client: TestClient, rag: FakeRag) -> None:
    wish = {"collection": COLLECTION, "sources_filter": ["reglement"], "no_cache": True, "session": "s-1"}
    reply = client.post("/v1/chat", json=ASK | wish)
    assert reply.status_code == 200
    said = reply.json()
    assert (said["answer"], said["verdict"], said["mode"], said["held"]) == (GROUNDED, "deliver", "generated", None)
    assert [one["id"] for one in said["citations"]] == ["conges-1"]
    assert said["reasons"] == []
    asked = rag.asked[0]
    assert (asked.sources_filter, asked.no_cache, asked.session, asked.api_key) == (("reglement",), True, "s-1", "local")


def test_nothing_of_a_held_back_answer_gets_out(client: TestClient, rag: FakeRag) -> None:
    rag.response = f"{GROUNDED} {MADE_UP}"
    reply = client.post("/v1/chat", json=ASK)
    assert (reply.json()["verdict"], reply.json()["answer"]) == ("human_review", HELD)
    assert reply.json()["reasons"][0] == "Un chiffre de la réponse ne figure dans aucun document."
    streamed = client.post("/v1/chat", json=ASK, headers=STREAM)
    waiting = client.get(reply.json()["held"])
    for body in (reply.text, streamed.text, waiting.text):
        assert not [word for word in SECRET if word in body]


def test_a_held_back_answer_is_found_once_it_is_released(client: TestClient, rag: FakeRag, bare: ServerContext) -> None:
    path = held_back(client, rag)["held"]
    assert client.get(path).json()["state"] == "waiting"
    id = path.rpartition("/")[2]
    Traces(bare.ledger).settle(Release(answer_id=id, state="released", text="2,5 jours.", rater="Claire", at=NOW))
    assert client.get(path).json() == {"id": id, "state": "released", "text": "2,5 jours."}
    assert [entry.action for entry in Audit(bare.ledger).list(subject=id)] == ["read"]


def test_a_refused_answer_has_no_text(client: TestClient, rag: FakeRag, bare: ServerContext) -> None:
    path = held_back(client, rag)["held"]
    Traces(bare.ledger).settle(Release(answer_id=path.rpartition("/")[2], state="refused", rater="Claire", at=NOW))
    assert (client.get(path).json()["state"], client.get(path).json()["text"]) == ("refused", "")


def test_an_answer_that_was_erased_waits_no_more(client: TestClient, rag: FakeRag, bare: ServerContext) -> None:
    path = held_back(client, rag)["held"]
    bare.ledger.erasure.erase([path.rpartition("/")[2]])
    assert client.get(path).json()["state"] == "refused"


def test_only_what_was_held_back_can_be_asked_for(client: TestClient) -> None:
    delivered = client.post("/v1/chat", json=ASK).json()["id"]
    for id in (delivered, "0" * 32, "..%2F..%2Fetc"):
        assert client.get(f"/v1/chat/held/{id}").status_code == 404


def test_a_scoped_key_asks_its_own_collections_alone(client: TestClient, rag: FakeRag, bare: ServerContext) -> None:
    own, other = key(bare, "write", COLLECTION), key(bare, "write", OTHER, "third")
    assert client.post("/v1/chat", json=ASK, headers=own).status_code == 200
    assert client.post("/v1/chat", json=ASK, headers=other).status_code == 403, "the default is out of its scope"
    assert client.post("/v1/chat", json=ASK | {"collection": OTHER}, headers=other).status_code == 200
    assert client.post("/v1/chat", json=ASK | {"collection": OTHER}, headers=own).json()["error"]["code"] == "forbidden"
    path = held_back(client, rag, own)["held"]
    assert client.get(path, headers=own).status_code == 200
    assert client.get(path, headers=other).status_code == 404


def test_a_key_that_only_asks_reaches_nothing_but_its_answers(client: TestClient, bare: ServerContext, rag: FakeRag) -> None:
    own = key(bare, "ask")
    reply = held_back(client, rag, own)
    assert reply["mode"] == "human_review"
    assert client.get(reply["held"], headers=own).json()["state"] == "waiting"
    open_to_it = ("/v1/chat/held/{id}", "/chat", "/chat/held/{id}")
    to_anybody = ("/", "/login", "/healthz", "/readyz", "/metrics", "/monitor/charts.css", "/compare/report.css")
    routes = [route for router in routers() for route in router.routes if isinstance(route, APIRoute)]
    paths = {route.path for route in routes if "GET" in (route.methods or ())}
    assert {"/gate/{id}", "/v1/traces/{id}", "/review", *open_to_it} <= paths
    for path in paths:
        found = client.get(path.replace("{id}", reply["id"]), headers=own, follow_redirects=False)
        assert not any(secret in found.text for secret in SECRET), path
        assert (found.status_code == 403) == (path not in open_to_it + to_anybody), path
    settled = client.post(f"/v1/traces/{reply['id']}/verdict", json={"grounded": "yes", "action": "release"}, headers=own)
    assert settled.json()["error"]["code"] == "forbidden"


def test_asking_needs_the_role_ask(client: TestClient, bare: ServerContext) -> None:
    assert client.post("/v1/chat", json=ASK, headers=key(bare, "read")).status_code == 403
    assert client.post("/v1/chat", json=ASK).status_code == 401


def test_without_a_pipeline_it_says_what_to_do(bare: ServerContext) -> None:
    reply = local_client(bare).post("/v1/chat", json=ASK)
    assert (reply.status_code, reply.json()["error"]["code"]) == (503, "no_pipeline")
    assert "areopage.yml" in reply.json()["error"]["message"]


@pytest.mark.parametrize(
    ("fault", "status", "code"),
    [
        (CallTimedOut("http://10.0.0.7/v1 said nothing for 120 s"), 504, "model_timeout"),
        (CallUnreachable("http://10.0.0.7/v1 refuses", unconnected=True), 502, "model_down"),
        (CallRejected("http://10.0.0.7/v1: bad key sk-1", status=401), 502, "model_down"),
        (ServerDown("no embedding server at http://10.0.0.7"), 502, "model_down"),
        (StorageError("no Qdrant server at http://10.0.0.7"), 503, "storage"),
    ],
)
def test_a_model_that_is_down_is_one_clear_line_and_tells_no_address(
    client: TestClient, rag: FakeRag, fault: Exception, status: int, code: str
) -> None:
    rag.fault = fault
    reply = client.post("/v1/chat", json=ASK)
    assert (reply.status_code, reply.json()["error"]["code"]) == (status, code)
    assert "10.0.0.7" not in reply.text
    assert "\n" not in reply.json()["error"]["message"]


def test_an_unknown_collection_is_not_found_and_no_other_one_is_named(client: TestClient) -> None:
    for headers in ({}, STREAM):
        reply = client.post("/v1/chat", json=ASK | {"collection": "nope"}, headers=headers)
        assert (reply.status_code, reply.json()["error"]["code"]) == (404, "unknown_collection")
        assert "secret" not in reply.text


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({}, "question"),
        ({"question": "  "}, "question: must not be empty"),
        ({"question": "x" * 20_001}, "20000"),
        ({"question": "x", "colection": "y"}, "colection"),
        ({"question": "x", "sources_filter": "y"}, "sources_filter"),
    ],
)
def test_a_wrong_question_is_told_what_is_wrong(client: TestClient, body: dict[str, Any], said: str) -> None:
    reply = client.post("/v1/chat", json=body)
    assert reply.status_code == 422
    assert said in reply.json()["error"]["message"]


def test_the_steps_are_streamed_by_name_and_time_alone_and_the_answer_comes_last(client: TestClient, rag: FakeRag) -> None:
    reply = client.post("/v1/chat", json=ASK, headers=STREAM)
    assert reply.headers["content-type"].startswith("text/event-stream")
    assert reply.headers["cache-control"] == "no-store"
    *steps, (last, answer) = events(reply.content)
    assert [(name, step["node"]) for name, step in steps] == [
        ("node", name) for name in ("retrieve", "grade_documents", "generate", "evaluate_response")
    ]
    assert all(set(step) == {"node", "seconds"} for _, step in steps)
    assert (last, answer["answer"], len(rag.asked)) == ("answer", GROUNDED, 1)


def test_a_model_that_goes_down_in_a_stream_ends_it_with_an_error(client: TestClient, rag: FakeRag) -> None:
    rag.fault = CallTimedOut("http://10.0.0.7 said nothing")
    reply = client.post("/v1/chat", json=ASK, headers=STREAM)
    assert reply.status_code == 200
    name, content = events(reply.content)[-1]
    assert (name, content["error"]["code"]) == ("error", "model_timeout")
    assert "10.0.0.7" not in reply.text


def test_a_long_step_shows_signs_of_life(client: TestClient, rag: FakeRag, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chat, "HEARTBEAT_SECONDS", 0.01)
    rag.pause = 0.1
    reply = client.post("/v1/chat", json=ASK, headers=STREAM)
    assert b": still working\n\n" in reply.content
    assert b"event: answer" in reply.content


def test_too_many_answers_at_a_time_of_one_key_are_refused(client: TestClient, rag: FakeRag) -> None:
    rag.fault = TooManyAnswers("32 answers are being generated for the API key local: wait until one has ended")
    reply = client.post("/v1/chat", json=ASK)
    assert (reply.status_code, reply.json()["error"]["code"], reply.headers["retry-after"]) == (429, "too_many", "5")


def test_decisions_are_counted_and_the_pipeline_is_closed_at_the_end(client: TestClient, rag: FakeRag) -> None:
    with client:
        client.post("/v1/chat", json=ASK)
        held_back(client, rag)
        shown = client.get("/metrics").text
    for verdict in ("deliver", "human_review"):
        assert f'areopage_gate_decisions_total{{profile="default",verdict="{verdict}"}} 1.0' in shown
    assert rag.closed
