"""The real pipeline behind the server: its graph, its cache, its notes; only what is found and written is made up."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from msgspec import structs
from starlette.testclient import TestClient

from areopage.app.config import default_config
from areopage.cases.records import Document
from areopage.checking.config import TracesSection
from areopage.checking.exported_traces import TraceExport
from areopage.rag.records import Generated
from areopage.server.app import create_app
from areopage.server.context import Pipeline
from server.fake_rag import DOCUMENTS, GROUNDED, MADE_UP, QUESTION
from server.seeded import context_for
from servers.new_ledger import ledger_at

pytest.importorskip("langgraph", reason="the extra rag is not installed")
STREAM = {"accept": "text/event-stream"}


class Shelf:
    """A retriever that always finds the same."""

    async def retrieve(self, prompt: str, collection: str, sources_filter: tuple[str, ...]) -> tuple[Document, ...]:
        return DOCUMENTS

    async def revision(self, collection: str) -> str:
        return "1"

    async def aclose(self) -> None:
        """Nothing is open."""


class Pen:
    """A generator that writes what it is told to."""

    def __init__(self) -> None:
        self.text, self.written = GROUNDED, 0

    async def generate(self, prompt: str, documents: tuple[Document, ...], language: str) -> Generated:
        self.written += 1
        return Generated(text=self.text, model="pen", seconds=0.0)

    async def aclose(self) -> None:
        """Nothing is open."""


@pytest.fixture
def pen() -> Pen:
    return Pen()


@contextmanager
def serving(folder: Path, pen: Pen) -> Iterator[TestClient]:
    """A server until the end of the block."""
    from areopage.rag.service import RagService

    context = context_for(folder)
    traces = TracesSection(enabled=True)
    config = default_config(folder).rag
    config = structs.replace(config, section=config.section.model_copy(update={"traces": traces}))
    service = RagService(config, context.ledger, context.gate, Shelf(), pen, lambda _: None)
    context = structs.replace(context, rag=Pipeline(service=service, collection="knowledge_base_main", language="fr"))
    with TestClient(create_app(context), base_url="http://127.0.0.1:8600", client=("127.0.0.1", 50000)) as made:
        yield made
    context.ledger.close()


@pytest.fixture
def client(tmp_path: Path, pen: Pen) -> Iterator[TestClient]:
    with serving(tmp_path, pen) as made:
        yield made


def export(folder: Path) -> None:
    """What the worker does each minute."""
    ledger = ledger_at(folder / "ledger.db")
    TraceExport(ledger, TracesSection(enabled=True), folder / "outputs").run()
    ledger.close()


def test_an_answer_is_noted_and_given_again_from_the_cache(client: TestClient, pen: Pen) -> None:
    first, again = (client.post("/v1/chat", json={"question": QUESTION}).json() for _ in range(2))
    assert (first["mode"], again["mode"], pen.written) == ("generated", "cached", 1)
    assert first["answer"] == again["answer"] == GROUNDED
    assert first["id"] != again["id"]
    listed = client.get("/v1/traces").json()["items"]
    assert {one["id"]: one["mode"] for one in listed} == {first["id"]: "generated", again["id"]: "cached"}
    shown = client.get("/metrics").text
    assert 'areopage_gate_decisions_total{profile="default",verdict="deliver"} 1.0' in shown, "the second was decided before"


def test_what_was_written_stays_inside_until_a_person_lets_it_out(client: TestClient, pen: Pen) -> None:
    pen.text = f"{GROUNDED} {MADE_UP}"
    streamed = client.post("/v1/chat", json={"question": QUESTION}, headers=STREAM).text
    assert "event: answer" in streamed
    assert [step for step in ("retrieve", "generate", "evaluate_response", "human_review") if f'"node":"{step}"' in streamed]
    assert "1 350" not in streamed
    assert "prime" not in streamed
    (held,) = client.get("/v1/traces").json()["items"]
    verdict = {"grounded": "partly", "sentences": [1], "action": "release", "text": GROUNDED}
    assert client.post(f"/v1/traces/{held['id']}/verdict", json=verdict).status_code == 201
    assert client.get(f"/v1/chat/held/{held['id']}").json()["text"] == GROUNDED


def test_an_erased_answer_is_not_given_again(client: TestClient, pen: Pen) -> None:
    ask = {"question": QUESTION}
    first, second = (client.post("/v1/chat", json=ask).json() for _ in range(2))
    assert (first["mode"], second["mode"], pen.written) == ("generated", "cached", 1)
    assert client.delete(f"/v1/traces/{first['id']}").status_code == 204
    assert client.post("/v1/chat", json=ask).json()["mode"] == "generated"
    assert pen.written == 2


def test_an_erased_answer_is_in_no_trace_file(client: TestClient, pen: Pen, tmp_path: Path) -> None:
    pen.text = f"{GROUNDED} {MADE_UP}"
    held, other = (
        client.post("/v1/chat", json={"question": question}).json()["id"] for question in (QUESTION, f"{QUESTION} Bref.")
    )
    export(tmp_path)
    assert client.delete(f"/v1/traces/{held}").status_code == 204
    logs = [tmp_path / "outputs/logs" / name for name in ("metrics.jsonl", "llm_responses.jsonl")]
    for log in logs:
        erased, kept = (json.loads(line) for line in log.read_text(encoding="utf-8").splitlines())
        assert (erased["id"], erased["question"], kept["id"], kept["question"]) == (held, "", other, f"{QUESTION} Bref.")
    assert [path.stem for path in (tmp_path / "outputs/snapshots/for_review").iterdir()] == [other]


def test_a_trace_file_that_cannot_be_rewritten_is_reported_and_rewritten_by_the_next_export(
    client: TestClient, tmp_path: Path
) -> None:
    id = client.post("/v1/chat", json={"question": QUESTION}).json()["id"]
    export(tmp_path)
    metrics = tmp_path / "outputs/logs/metrics.jsonl"
    in_the_way = tmp_path / "outputs/logs/.metrics.jsonl.tmp"
    in_the_way.mkdir()
    refused = client.delete(f"/v1/traces/{id}")
    assert (refused.status_code, "trace file" in refused.text, str(tmp_path) in refused.text) == (503, True, False)
    assert (client.get(f"/v1/traces/{id}").json()["erased"], QUESTION in metrics.read_text(encoding="utf-8")) == (True, True)
    in_the_way.rmdir()
    export(tmp_path)
    assert QUESTION not in metrics.read_text(encoding="utf-8")


def test_traces_are_exported_at_the_servers_end(tmp_path: Path, pen: Pen) -> None:
    with serving(tmp_path, pen) as client:
        client.post("/v1/chat", json={"question": QUESTION})
        assert not (tmp_path / "outputs/logs").exists(), "nothing is written at answer time"
    assert QUESTION in (tmp_path / "outputs/logs/metrics.jsonl").read_text(encoding="utf-8")


def test_all_who_asked_the_same_get_what_was_decided_for_one(client: TestClient, pen: Pen) -> None:
    pen.text = f"{GROUNDED} {MADE_UP}"
    ids = [client.post("/v1/chat", json={"question": QUESTION}).json()["id"] for _ in range(3)]
    assert [client.get(f"/v1/traces/{id}").json()["waiting"] for id in ids] == [3, 3, 3]
    queue = client.get("/review").text
    assert [queue.count(id) for id in ids] == [1, 0, 0]
    assert "3 wait" not in queue  # what was held is told after the rater's own opinion
    assert "3 users asked the same" in client.get(f"/gate/{ids[0]}").text
    verdict = {"grounded": "partly", "sentences": [1], "action": "release", "text": GROUNDED}
    assert client.post(f"/v1/traces/{ids[0]}/verdict", json=verdict).json()["settled"] == 3
    assert [client.get(f"/v1/chat/held/{id}").json() for id in ids] == [
        {"id": id, "state": "released", "text": GROUNDED} for id in ids
    ]
    assert client.get(f"/v1/traces/{ids[0]}").json()["waiting"] == 0


def test_an_answer_that_a_person_called_ungrounded_is_never_delivered_again_until_she_says_otherwise(
    client: TestClient, pen: Pen
) -> None:
    first = client.post("/v1/chat", json={"question": QUESTION}).json()
    assert client.post(f"/v1/traces/{first['id']}/verdict", json={"grounded": "no"}).status_code == 201
    for question in (QUESTION, f"{QUESTION} Merci."):
        again = client.post("/v1/chat", json={"question": question}).json()
        assert (again["verdict"], again["mode"], again["p_unsupported"]) == ("human_review", "human_review", None)
        assert again["reasons"][0] == "Une personne a jugé que les documents n’étayent pas cette réponse."
    assert pen.written == 3
    assert client.post(f"/v1/traces/{first['id']}/verdict", json={"grounded": "yes"}).status_code == 201
    assert client.post("/v1/chat", json={"question": QUESTION}).json()["verdict"] == "deliver"


def test_an_answer_that_a_person_called_grounded_leaves_for_the_same_question(client: TestClient, pen: Pen) -> None:
    pen.text = f"{GROUNDED} {MADE_UP}"
    held = client.post("/v1/chat", json={"question": QUESTION}).json()
    client.post(f"/v1/traces/{held['id']}/verdict", json={"grounded": "yes", "action": "release"})
    again = client.post("/v1/chat", json={"question": QUESTION}).json()
    assert (again["verdict"], again["answer"], again["p_unsupported"]) == ("deliver", pen.text, None)
    assert "Une personne a jugé que les documents étayent cette réponse" in again["reasons"][0]
    assert client.post("/v1/chat", json={"question": f"{QUESTION} Merci."}).json()["verdict"] == "human_review"
    assert client.delete(f"/v1/traces/{held['id']}").status_code == 204
    assert client.post("/v1/chat", json={"question": QUESTION, "no_cache": True}).json()["verdict"] == "human_review"
