"""The real pipeline behind the server: its graph, its cache, its notes; only what is found and written is made up."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec import structs
from starlette.testclient import TestClient

from areopage.cases.records import Document
from areopage.rag.config import default_rag_config
from areopage.rag.records import Generated
from areopage.server.app import create_app
from areopage.server.context import Pipeline

from .fake_rag import DOCUMENTS, GROUNDED, MADE_UP, QUESTION
from .seeded import context_for

pytest.importorskip("langgraph", reason="the extra rag is not installed")
STREAM = {"accept": "text/event-stream"}


class Shelf:
    """A retriever that always finds the same."""

    async def retrieve(self, question: str, collection: str, sources_filter: tuple[str, ...]) -> tuple[Document, ...]:
        return DOCUMENTS

    async def aclose(self) -> None:
        """Nothing is open."""


class Pen:
    """A generator that writes what it is told to."""

    def __init__(self) -> None:
        self.text, self.written = GROUNDED, 0

    async def generate(self, question: str, documents: tuple[Document, ...], language: str) -> Generated:
        self.written += 1
        return Generated(text=self.text, model="pen", seconds=0.0)

    async def aclose(self) -> None:
        """Nothing is open."""


@pytest.fixture
def pen() -> Pen:
    return Pen()


@pytest.fixture
def client(tmp_path: Path, pen: Pen) -> Iterator[TestClient]:
    from areopage.rag.service import RagService

    context = context_for(tmp_path)
    service = RagService(default_rag_config(tmp_path), context.ledger, context.gate, Shelf(), pen, lambda _: None)
    context = structs.replace(context, rag=Pipeline(service=service, collection="knowledge_base_main", language="fr"))
    with TestClient(create_app(context), base_url="http://127.0.0.1:8600", client=("127.0.0.1", 50000)) as made:
        yield made
    context.ledger.close()


def test_an_answer_is_noted_and_given_again_from_the_cache(client: TestClient, pen: Pen) -> None:
    first, again = (client.post("/v1/chat", json={"question": QUESTION}).json() for _ in range(2))
    assert (first["mode"], again["mode"], pen.written) == ("generated", "cached", 1)
    assert first["answer"] == again["answer"] == GROUNDED
    assert first["id"] != again["id"]
    listed = client.get("/v1/exchanges").json()["items"]
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
    (held,) = client.get("/v1/exchanges").json()["items"]
    verdict = {"grounded": "partly", "sentences": [1], "action": "release", "text": GROUNDED}
    assert client.post(f"/v1/exchanges/{held['id']}/verdict", json=verdict).status_code == 201
    assert client.get(f"/v1/chat/held/{held['id']}").json()["text"] == GROUNDED


def test_an_erased_answer_is_not_given_again(client: TestClient, pen: Pen) -> None:
    ask = {"question": QUESTION}
    first, second = (client.post("/v1/chat", json=ask).json() for _ in range(2))
    assert (first["mode"], second["mode"], pen.written) == ("generated", "cached", 1)
    assert client.delete(f"/v1/exchanges/{first['id']}").status_code == 204
    assert client.post("/v1/chat", json=ask).json()["mode"] == "generated"
    assert pen.written == 2
