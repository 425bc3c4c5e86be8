"""Health, readiness and metrics."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs
from prometheus_client.parser import text_string_to_metric_families
from sqlalchemy import text
from starlette.testclient import TestClient

from areopage.cases.records import Case
from areopage.ledger.tables.records import Answer, Evaluation
from areopage.ledger.write.evaluations import Evaluations
from areopage.server.app import create_app
from areopage.server.context import ServerContext
from servers.evaluated import evaluate, judged
from servers.judged_answers import NOW, RUN, SUITE
from servers.new_ledger import ledger_at

from .live import Live, live
from .seeded import context_for, seed


def samples(site: Live) -> dict[tuple[str, ...], float]:
    """The metrics as a collector reads them: name and labels -> value."""
    reply = site.get("/metrics")
    assert reply.status == 200
    assert reply.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
    return {
        (sample.name, *sample.labels.values()): sample.value
        for family in text_string_to_metric_families(reply.body.decode())
        for sample in family.samples
    }


def test_the_process_lives_and_is_ready(site: Live) -> None:
    site.key("read")
    assert site.get("/healthz").json == {"status": "ok", "reason": ""}
    assert site.get("/readyz").json == {"status": "ok", "reason": ""}


def test_an_answer_received_under_a_clock_that_was_ahead_is_seen_to_wait(site: Live) -> None:
    at = NOW + timedelta(days=2)
    case = Case(id="ahead", prompt="?", response="!")
    answer = Answer(id="ahead", origin="monitor", case=case, source="help-desk", language="fr", received_at=at, answered_at=at)
    Evaluations(site.context.ledger).submit([answer])
    assert samples(site)["areopage_oldest_waiting_seconds",] == pytest.approx(172_800, abs=60)


@pytest.mark.parametrize("path", ["/healthz", "/readyz", "/login", "/static/app.css"])
def test_head_is_answered_as_get_is_without_a_body(site: Live, path: str) -> None:
    """Load balancers ask so."""
    head, get = site.ask("HEAD", path), site.get(path)
    assert (head.status, head.body) == (200, b"")
    assert head.headers["content-type"] == get.headers["content-type"]
    assert head.headers["content-length"] == get.headers["content-length"]


def test_it_is_not_ready_without_its_worker(context: ServerContext) -> None:
    def fault() -> str:
        return "the worker has stopped: the log says why"

    client = TestClient(create_app(context, checks=[lambda: "", fault]), base_url="http://localhost", client=("127.0.0.1", 5))
    reply = client.get("/readyz")
    assert reply.status_code == 503
    assert reply.json() == {"status": "unavailable", "reason": fault()}
    assert client.get("/healthz").status_code == 200


def test_it_is_not_ready_on_a_ledger_of_another_version(site: Live) -> None:
    with site.context.ledger.engine.begin() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    reply = site.get("/readyz")
    assert reply.status == 503
    assert "another version" in reply.json["reason"]


def test_it_is_not_ready_without_space_for_its_ledger(site: Live, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("areopage.server.metrics.LEAST_FREE_BYTES", 1 << 62)
    reply = site.get("/readyz")
    assert (reply.status, reply.json["reason"]) == (503, "there is no space left for the ledger")
    assert site.get("/healthz").status == 200


def test_it_is_not_ready_without_its_ledger_and_says_so_without_a_place(tmp_path: Path) -> None:
    context = context_for(tmp_path)
    with live(context) as site:
        context.ledger.close()
        (tmp_path / "ledger.db").unlink()
        (tmp_path / "ledger.db").mkdir()
        reply = site.get("/readyz")
        assert reply.status == 503
        assert reply.json["reason"] == "the ledger cannot be reached"
        assert site.get("/healthz").status == 200


def test_it_is_not_ready_once_the_file_of_its_ledger_is_gone(site: Live, tmp_path: Path) -> None:
    """Connections that are open would go on writing to what no name leads to any more."""
    file = Path(site.context.ledger.engine.url.database or "")
    assert site.get("/readyz").status == 200
    file.rename(tmp_path / "elsewhere.db")
    reply = site.get("/readyz")
    assert (reply.status, "gone" in reply.json["reason"], str(file) in reply.json["reason"]) == (503, True, False)


def test_metrics_count_what_was_handed_over_and_what_the_ledger_holds(site: Live) -> None:
    seed(site.context.ledger)
    unread = Evaluation(id="unread", run_id=RUN, timestamp=NOW, evaluated_at=NOW, suite=SUITE.name)
    of_judge: dict[str, Any] = {"run_id": RUN, "judge": "mistral", "model": "ollama:mistral-small"}
    evaluate(site.context.ledger, unread, [judged("unread", {"unparsed": 4}, **of_judge)])
    site.post("/v1/evaluations", {"items": [{"id": "a", "prompt": "?", "response": "!"}] * 2})
    site.get("/v1/evaluations/a")
    site.get("/v1/evaluations/b")
    site.get("/no/such/page/1")
    site.get("/no/such/page/2")
    found = samples(site)
    assert found["areopage_submissions_total", "no"] == 1
    assert found["areopage_submissions_total", "yes"] == 1
    assert found["areopage_backlog", "waiting"] == 2
    assert found["areopage_backlog", "failed"] == 1
    assert found["areopage_oldest_waiting_seconds",] > 0
    assert found["areopage_answers_total", "scored"] == 54
    assert found["areopage_answers_total", "unscored"] == 1
    assert found["areopage_answers_total", "failed"] == 1
    assert found["areopage_judge_calls_total", "mistral", "ollama:mistral-small"] > 0
    assert found["areopage_judge_verdicts_total", "mistral", "ollama:mistral-small", "unparsed"] == 4
    assert sum(value for key, value in found.items() if key[0] == "areopage_open_alerts") == 2
    assert found["areopage_request_seconds_count", "GET", "/v1/evaluations/{id}", "200"] == 1
    assert found["areopage_request_seconds_count", "GET", "/v1/evaluations/{id}", "404"] == 1
    assert found["areopage_request_seconds_count", "GET", "other", "404"] == 2
    assert found["areopage_request_seconds_count", "POST", "/v1/evaluations", "202"] == 1


def test_metrics_are_for_readers_and_for_this_computer(site: Live) -> None:
    key = site.key("read")
    assert site.get("/metrics").status == 200
    through_a_proxy = {"X-Forwarded-For": "203.0.113.9"}
    assert site.get("/metrics", through_a_proxy).status == 401
    assert site.get("/metrics", through_a_proxy | key).status == 200


def test_two_servers_of_one_process_do_not_mix_their_metrics(context: ServerContext, tmp_path: Path) -> None:
    async def submit(_: object) -> list[bool]:
        return [True]

    other = ledger_at(tmp_path / "other.db")
    second = structs.replace(context, ledger=other, submit=submit)
    with live(context) as one, live(second) as two:
        two.post("/v1/evaluations", {"prompt": "?", "response": "!"})
        assert samples(one)["areopage_submissions_total", "no"] == 0
        assert samples(two)["areopage_submissions_total", "no"] == 1
    other.close()


def test_metrics_have_no_moments_of_the_library(site: Live) -> None:
    site.get("/healthz")
    assert not [name for name, *_ in samples(site) if name.endswith("_created")]
