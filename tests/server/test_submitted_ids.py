"""Ids are those of a source, answers name the key that they came with, and an ingest key does not write into the past."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from areopage.ledger.people.access import ApiKeys
from areopage.ledger.write.answers import Answers, id_within
from areopage.ledger.write.evaluations import Evaluations
from areopage.ledger.write.operations import Role
from areopage.ledger.write.traces import Traces
from areopage.server.app import create_app
from areopage.server.context import ServerContext
from servers.made_traces import delivered_trace

from .seeded import context_for

ANSWER = {"prompt": "Combien de jours ?", "response": "30 jours."}


def context_with(folder: Path, **sections: Any) -> ServerContext:
    return context_for(folder, now=lambda: datetime.now(UTC), **sections)


@pytest.fixture(params=["full", "truncated", "redacted", "none"])
def context(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[ServerContext]:
    made = context_with(tmp_path, storage={"text": request.param})
    yield made
    made.ledger.close()


@pytest.fixture
def client(context: ServerContext) -> TestClient:
    return TestClient(create_app(context), base_url="http://127.0.0.1:8600", client=("203.0.113.9", 50000))


def key(context: ServerContext, role: Role, *scope: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {ApiKeys(context.ledger).create(f'{role} {scope}', role, scope)[1]}"}


def post(client: TestClient, headers: dict[str, str], **fields: Any) -> tuple[int, Any]:
    reply = client.post("/v1/evaluations", json=ANSWER | fields, headers=headers)
    return reply.status_code, reply.json()


def test_two_sources_may_use_one_id_and_neither_learns_of_the_other(client: TestClient, context: ServerContext) -> None:
    alpha, beta = key(context, "write", "alpha"), key(context, "write", "beta")
    assert post(client, alpha, id="order-1") == (202, {"items": [{"id": "order-1", "new": True}]})
    free = post(client, beta, id="order-2", response="A")
    taken = post(client, beta, id="order-1", response="B")
    assert (free[0], taken[0]) == (202, 202)
    assert taken[1] == {"items": [{"id": "order-1", "new": True}]}
    assert post(client, beta, id="order-1", response="B") == (202, {"items": [{"id": "order-1", "new": False}]})
    stored = Answers(context.ledger).by_id(["order-1", id_within("order-1", "beta")])
    assert {one.source: one.case.response for one in stored.values()} == {"alpha": "30 jours.", "beta": "B"}
    for headers, response in ((alpha, "30 jours."), (beta, "B")):
        shown = client.get("/v1/evaluations/order-1", headers=headers).json()
        assert (shown["id"], shown["response"]) == ("order-1", response)


def test_another_text_under_an_id_of_its_source_is_refused_under_every_storage_policy(
    client: TestClient, context: ServerContext
) -> None:
    every = key(context, "ingest")
    assert post(client, every, id="a", source="site")[0] == 202
    kept = Answers(context.ledger).get("a")
    assert kept is not None
    Evaluations(context.ledger).give_up("a", "busy", kept.__class__(**{**_fields(kept), "case": _reduced(kept)}))
    assert post(client, every, id="a", source="site")[1] == {"items": [{"id": "a", "new": False}]}
    status, refused = post(client, every, id="a", source="site", response="Another.")
    assert (status, refused["error"]["code"]) == (409, "id_taken")
    assert post(client, every, id="a", source="bot", response="Another.")[0] == 202
    assert post(client, every, id="a", source="bot", response="A third.")[0] == 409
    context.ledger.erasure.erase(["a"])
    assert post(client, every, id="a", source="site", response="Another.")[1] == {"items": [{"id": "a", "new": False}]}


def _fields(answer: Any) -> dict[str, Any]:
    return {name: getattr(answer, name) for name in answer.__struct_fields__}


def _reduced(answer: Any) -> Any:
    return answer.case.__class__(id=answer.id, prompt="[cut]", response="[cut]")


def test_answers_of_one_request_that_share_an_id_are_told_apart_by_source(client: TestClient, context: ServerContext) -> None:
    items = [ANSWER | {"id": "a", "source": source, "response": source} for source in ("x", "y", "x")]
    reply = client.post("/v1/evaluations", json={"items": items}, headers=key(context, "ingest"))
    assert [one["new"] for one in reply.json()["items"]] == [True, True, False]


def test_an_id_of_the_gate_in_another_collection_is_not_touched(client: TestClient, context: ServerContext) -> None:
    trace = delivered_trace(1)
    Traces(context.ledger).append([trace])
    assert post(client, key(context, "ingest", "beta"), id=trace.id)[0] == 202
    assert Evaluations(context.ledger).get(trace.id) is None
    assert Evaluations(context.ledger).get(id_within(trace.id, "beta")) is not None


def test_an_answer_names_the_key_that_it_came_with(client: TestClient, context: ServerContext) -> None:
    record, text = ApiKeys(context.ledger).create("bot", "ingest")
    assert post(client, {"Authorization": f"Bearer {text}"}, id="a")[0] == 202
    stored = Answers(context.ledger).get("a")
    assert stored is not None
    assert stored.api_key == record.id
    page = client.get("/monitor/answers/a", headers=key(context, "read"))
    assert record.id in page.text


def test_an_ingest_key_submits_answers_of_the_last_days_only(tmp_path: Path) -> None:
    context = context_with(tmp_path)
    client = TestClient(create_app(context), base_url="http://127.0.0.1:8600", client=("203.0.113.9", 50000))
    ingest, write = key(context, "ingest"), key(context, "write")
    now = datetime.now(UTC)
    recent, old = (now - timedelta(days=30)).isoformat(), (now - timedelta(days=33)).isoformat()
    assert post(client, ingest, answered_at=recent)[0] == 202
    status, refused = post(client, ingest, answered_at=old)
    assert status == 422
    assert "monitor.oldest_days" in refused["error"]["message"]
    assert post(client, write, answered_at=old)[0] == 202
    context.ledger.close()
    free = context_with(tmp_path / "free", oldest_days=None)
    client = TestClient(create_app(free), base_url="http://127.0.0.1:8600", client=("203.0.113.9", 50000))
    assert post(client, key(free, "ingest"), answered_at="1999-01-01T00:00:00Z")[0] == 202
    free.ledger.close()
