"""A key that is limited to a source: on every route it sees and changes that source alone."""

import re
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from fastapi.routing import APIRoute
from starlette.testclient import TestClient

from areopage.cases.records import Case
from areopage.ledger.people.access import ApiKeys
from areopage.ledger.people.labels import Labels, ReviewQueue
from areopage.ledger.store import Ledger
from areopage.ledger.tables.records import Answer, Label, ReviewItem
from areopage.ledger.write.alerts import Alerts
from areopage.ledger.write.answers import Answers
from areopage.ledger.write.evaluations import Evaluations
from areopage.ledger.write.operations import Alert, Role
from areopage.ledger.write.traces import Traces
from areopage.server.app import create_app, routers
from areopage.server.context import ServerContext
from servers import gate_answers

from .samples import Sample
from .seeded import NOW, context_for, judged, local_client, run_of

SECRET = "Xylophage"
OWN = "Ampoule"
QUESTIONS = {"beta": f"Que veut {SECRET} ?", "alpha": f"Que veut {OWN} ?"}
OPEN = {"/healthz", "/readyz", "/login", "/", "/monitor/charts.css", "/metrics"}
"""Routes without answers, or with counts for this computer."""


@pytest.fixture
def context(tmp_path: Path) -> Iterator[ServerContext]:
    made = context_for(tmp_path)
    made.ledger.create_run(run_of(NOW), [])
    fill(made.ledger, "beta", SECRET, 10)
    fill(made.ledger, "alpha", OWN, 20)
    yield made
    made.ledger.close()


@pytest.fixture
def client(context: ServerContext) -> TestClient:
    return local_client(context, follow_redirects=False)


def fill(ledger: Ledger, source: str, word: str, number: int) -> None:
    """An evaluated, a given-up, a waiting and a held answer of a source, an alert, a label and a place in the review queue."""
    question = QUESTIONS[source]
    sample = Sample(question, f"{word} dort.", f"Un {word}.", (3.0, 2.0, 1.0, 1.0), f"Parle de {word}.", f"Trop de {word}.")
    judged(ledger, f"{source}-1", NOW - timedelta(hours=1), sample, source=source, raw=f"I like {word}.")
    at = NOW - timedelta(minutes=9)
    for id in (f"{source}-2", f"{source}-3"):
        case = Case(id=id, prompt=question, response=f"{word}.")
        waiting = Answer(id=id, origin="monitor", case=case, source=source, language="fr", received_at=at, answered_at=at)
        Evaluations(ledger).submit([waiting])
        Evaluations(ledger).note_failure(id, f"the judge said {word}")
    Evaluations(ledger).give_up(f"{source}-2", f"the judge said {word}")
    held = gate_answers.trace(number, gate_answers.BAD + f" {word}.", prompt=question, collection=source)
    Traces(ledger).append([held])
    about = {"opened_at": at, "last_seen_at": at, "next_attempt_at": at}
    told = Alert(rule="answer", subject=f"{source}-1", state="open", title=word, body=word, answer_id=f"{source}-1", **about)  # type: ignore[arg-type]
    Alerts(ledger).open(told)
    Alerts(ledger).open(Alert(rule="mean", subject=source, state="open", title=f"mean {SECRET}", body=SECRET, **about))  # type: ignore[arg-type]
    label = Label(answer_id=f"{source}-1", rater=f"rater-{word}", criterion="", score=9.0, note=word, origin="web", created_at=at)
    Labels(ledger).add([label])
    ReviewQueue(ledger).add([ReviewItem(answer_id=f"{source}-1", why="alert", created_at=at, wanted=2)])


def key(context: ServerContext, role: Role, *scope: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {ApiKeys(context.ledger).create(f'{role} {scope}', role, scope)[1]}"}


def ids_of(source: str) -> list[str]:
    return [f"{source}-1", f"{source}-2", f"{source}-3", f"{10 if source == 'beta' else 20:032x}"]


def readable() -> list[str]:
    """The paths of all routes that show something."""
    routes = [route for router in routers() for route in router.routes if isinstance(route, APIRoute)]
    return sorted({route.path for route in routes if "GET" in (route.methods or ())} - OPEN)


def changing() -> set[str]:
    """The method and path of all routes that change something."""
    routes = [route for router in routers() for route in router.routes if isinstance(route, APIRoute)]
    return {f"{method} {route.path}" for route in routes for method in (route.methods or set()) - {"GET"}}


def addresses(path: str, source: str) -> list[str]:
    """The addresses of a route about a source: for each of its answers, and with every way to ask for the source."""
    if "{" in path:
        return [re.sub(r"\{.*\}", id, path) for id in ids_of(source)]
    asked = (
        "",
        "days=366",
        "period=all",
        "state=open",
        "state=closed",
        "limit=200",
        "only=all",
        "sample_only=false",
        "id=" + ids_of(source)[0],
    )
    question = QUESTIONS[source]
    named = (f"source={source}", f"collection={source}", f"q={question}", f"text={question}", f"prompt={question}")
    alike = (f"question={question}", f"question={question}&collection={source}", f"source={source}&period=all&days=366")
    return [f"{path}?{one}" for one in (*asked, *named, *alike)]


def test_a_key_limited_to_a_source_reads_nothing_of_another_on_any_route(client: TestClient, context: ServerContext) -> None:
    every, limited = key(context, "admin"), key(context, "admin", "alpha")
    shown = set[str]()
    for path in readable():
        for address in addresses(path, "beta"):
            found = "" if path in shown else client.get(address, headers=every).text
            shown |= {path} if f"{SECRET} dort".lower() in found.lower() or SECRET in found else set()
            refused = client.get(address, headers=limited)
            text = re.sub(r'="[^"?]*[?][^"]*"', "", refused.text)  # links to this page, and a filter, repeat what was asked
            text = text.replace(QUESTIONS["beta"], "") if QUESTIONS["beta"] in address else text
            assert refused.status_code in (200, 303, 403, 404, 422), (address, refused.status_code, text)
            unknown = refused.status_code == 404 and "{" in path  # the message names the id
            text = text.replace(address.rpartition("/")[2], "") if unknown else text
            assert not re.search(f"{SECRET}|beta-[123]", text), (address, text)
            assert "beta-" not in refused.headers.get("location", ""), address
    assert {"/monitor", "/monitor/answers", "/monitor/answers/{id:path}", "/v1/evaluations", "/v1/evaluations/{id:path}"} <= shown
    assert {"/v1/figures", "/v1/alerts", "/v1/agreement", "/v1/traces", "/v1/traces/{id}", "/v1/debug/latest"} <= shown
    assert {"/monitor/alerts", "/monitor/queue", "/agreement", "/review", "/gate", "/gate/{id}", "/review/{id:path}"} <= shown


def test_a_key_limited_to_a_source_reads_all_of_its_own(client: TestClient, context: ServerContext) -> None:
    limited = key(context, "admin", "alpha")
    shown = {path for path in readable() if any(OWN in client.get(one, headers=limited).text for one in addresses(path, "alpha"))}
    assert {"/monitor", "/monitor/answers", "/monitor/answers/{id:path}", "/v1/evaluations", "/v1/evaluations/{id:path}"} <= shown
    assert {"/v1/figures", "/v1/alerts", "/v1/agreement", "/v1/traces", "/v1/traces/{id}", "/v1/debug/latest"} <= shown
    assert {"/monitor/alerts", "/monitor/queue", "/agreement", "/review", "/gate", "/gate/{id}", "/review/{id:path}"} <= shown
    figures = client.get("/v1/figures", headers=limited).json()
    assert (figures["scored"], figures["failed"], figures["judges"], figures["cost"]) == (1, 1, [], {})
    alerts = client.get("/v1/alerts", headers=limited).json()
    assert ([one["subject"] for one in alerts["items"]], alerts["open"]) == (["alpha-1"], {"answer": 1})
    assert client.get("/v1/agreement?sample_only=false", headers=limited).json()["labelled"] == 1


def test_a_key_limited_to_a_source_decides_only_its_own_disagreements(client: TestClient, context: ServerContext) -> None:
    for id in ("alpha-3", "beta-3"):
        for rater, score in (("Anne", 1.0), ("Bruno", 9.0)):
            Labels(context.ledger).add(
                [Label(answer_id=id, rater=rater, criterion="", score=score, origin="web", created_at=NOW)]
            )
    limited = key(context, "admin", "alpha")
    listed = client.get("/v1/review/disagreements", headers=limited).json()["items"]
    assert [one["answer_id"] for one in listed] == ["alpha-3"]
    assert client.get("/v1/review/progress", headers=limited).status_code == 403
    page = client.get("/disagreements", headers=limited).text
    assert OWN in page or "Anne: 1" in page
    assert "beta" not in page and SECRET not in page
    decided = {"answer_id": "beta-3", "scores": {"": 5}}
    assert client.post("/v1/review/disagreements", json=decided, headers=limited).status_code == 404
    assert client.post("/v1/review/disagreements", json=decided | {"answer_id": "alpha-3"}, headers=limited).status_code == 201
    assert client.post("/v1/labels/undo", json={"rater": "Bruno"}, headers=limited).status_code == 422, "it is of beta"


def test_a_key_limited_to_a_source_changes_nothing_of_another_on_any_route(client: TestClient, context: ServerContext) -> None:
    limited, tried = key(context, "admin", "alpha"), set[str]()
    before = [Answers(context.ledger).get(id) for id in ids_of("beta")]
    answer = {"prompt": "Q", "response": "R"}

    def refused(method: str, path: str, body: object = None, id: str = "") -> int:
        tried.add(f"{method} {path}")
        reply = client.request(method, re.sub(r"\{.*\}", id, path), json=body, headers=limited)
        return reply.status_code

    assert refused("POST", "/v1/evaluations", answer | {"source": "beta"}) == 403
    assert refused("POST", "/v1/evaluations", {"items": [answer, answer | {"source": "beta"}]}) == 403
    assert refused("POST", "/v1/gate/check", answer | {"collection": "beta"}) == 403
    assert refused("POST", "/v1/chat", {"question": "?", "collection": "beta"}) == 503  # there is no pipeline here
    for id in ids_of("beta"):
        assert refused("DELETE", "/v1/evaluations/{id:path}", id=id) == 404
        assert refused("DELETE", "/v1/traces/{id}", id=id) == 404
        assert refused("POST", "/v1/labels", {"answer_id": id, "scores": {"": 1}}) == 404
        assert refused("POST", "/v1/traces/{id}/verdict", {"grounded": "yes", "action": "release"}, id=id) == 404
        assert refused("POST", "/v1/review/disagreements", {"answer_id": id, "scores": {"": 1}}) == 404
    for rater in {one.rater for id in ids_of("beta") for one in Labels(context.ledger).of(id)}:
        assert refused("POST", "/v1/labels/undo", {"rater": rater}) == 422
    for id in ids_of("beta"):  # an answer of its own: ids are unique by source
        assert refused("POST", "/v1/evaluations", answer | {"id": id}) == 202
    for path in (
        "/gate/{id}",
        "/review/{id:path}",
        "/review/",
        "/monitor/queue/retry",
        "/runs/{id:path}",
        "/monitor/alerts/accept",
        "/labels/undo",
    ):
        tried.add(f"POST {path}")
    sign_in(client, context, "alpha")
    for id in ids_of("beta"):
        form = {"csrf": token(client), f"score.{''}": "1", "grounded": "no", "then": "release", "text": "x", "id": id}
        for address in (f"/gate/{id}", f"/review/{id}", f"/review/?id={id}"):
            assert client.post(address, data=form).status_code == 404
        assert client.post(f"/runs/{id}", data=form | {"verdict": "reject"}).status_code == 404
        assert client.post("/monitor/queue/retry", data=form).status_code == 303
    assert client.post("/monitor/queue/retry", data={"csrf": token(client)}).status_code == 303
    accepted = client.post("/monitor/alerts/accept", data={"csrf": token(client), "number": "1", "note": "Known."})
    assert accepted.status_code == 403, "an incident may be about several sources"
    assert [Answers(context.ledger).get(id) for id in ids_of("beta")] == before
    assert len(Labels(context.ledger).of("beta-1")) == 1
    attempts = {one.id: one.attempts for one in Evaluations(context.ledger).waiting(10) if "~" not in one.id}
    assert attempts == {"alpha-2": 0, "alpha-3": 1, "beta-3": 1}  # only its own was reopened
    assert [one.id for one in Evaluations(context.ledger).failed(10)] == ["beta-2"]  # its own was tried again
    assert changing() - tried == {"POST /login", "POST /logout", "POST /chat"}  # asks as /v1/chat does


def sign_in(client: TestClient, context: ServerContext, source: str) -> None:
    text = ApiKeys(context.ledger).create("Ada", "admin", (source,))[1]
    reply = client.post("/login", data={"key": text, "csrf": token(client), "next": "/review"})
    assert reply.status_code == 303


def token(client: TestClient) -> str:
    found = re.search(r'name="csrf" value="([^"]+)"', client.get("/login").text)
    assert found
    return found.group(1)


def test_what_a_limited_key_submits_belongs_to_its_source(client: TestClient, context: ServerContext) -> None:
    ingest = key(context, "ingest", "alpha")
    for id, given in (("n1", {}), ("n2", {"source": "alpha"})):
        body = {"id": id, "prompt": "Q", "response": "R"} | given
        assert client.post("/v1/evaluations", json=body, headers=ingest).status_code == 202
    assert Answers(context.ledger).sources(["n1", "n2", "nobody's"]) == {"n1": "alpha", "n2": "alpha"}


def test_a_key_with_several_sources_names_the_one_it_means(client: TestClient, context: ServerContext) -> None:
    both = key(context, "write", "alpha", "beta")
    for path in ("/v1/evaluations", "/v1/figures"):
        assert client.get(path, headers=both).json()["error"]["code"] == "invalid"
        assert client.get(f"{path}?source=beta", headers=both).status_code == 200
        assert client.get(f"{path}?source=gamma", headers=both).status_code == 403
    submitted = client.post("/v1/evaluations", json={"prompt": "Q", "response": "R"}, headers=both)
    assert "several sources" in submitted.json()["error"]["message"]
    assert {one["subject"] for one in client.get("/v1/alerts", headers=both).json()["items"]} == {"alpha-1", "beta-1"}


def test_metrics_and_golden_questions_are_about_all_sources(context: ServerContext) -> None:
    remote = TestClient(create_app(context), base_url="http://127.0.0.1:8600", client=("203.0.113.9", 50000))
    every, limited = key(context, "read"), key(context, "read", "alpha")
    for path in ("/metrics", "/monitor/golden"):
        assert remote.get(path, headers=every).status_code == 200
        assert remote.get(path, headers=limited).status_code == 403
