"""The API over real sockets: what goes in, what comes out, and what is said of every mistake."""

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from fastapi.routing import APIRoute
from msgspec import structs
from starlette.testclient import TestClient

from areopage.errors import StorageError
from areopage.ledger.people.access import Audit
from areopage.ledger.people.labels import Labels
from areopage.ledger.write.answers import Answers
from areopage.ledger.write.evaluations import Evaluations
from areopage.server.app import create_app, routers
from areopage.server.context import ServerContext

from .live import Live, live
from .seeded import NOW, SEEDED_IDS, WEAK_ID, context_for, seeded_context


@pytest.fixture
def context(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[ServerContext]:
    """What a server shares; its ledger holds answers where the test asks for `seeded`."""
    made = (seeded_context if "seeded" in request.fixturenames else context_for)(tmp_path)
    yield made
    made.ledger.close()


@pytest.fixture
def seeded() -> list[str]:
    return list(SEEDED_IDS)


def shown(site: Live, id: str) -> Any:
    """The view of an answer."""
    reply = site.get(f"/v1/evaluations/{quote(id, safe='')}")
    assert reply.status == 200, reply.body
    return reply.json


# --- handing over


def test_an_answer_is_stored_when_the_request_returns(site: Live) -> None:
    sent = {
        "id": "chat-1",
        "prompt": "Combien de jours ?",
        "response": "Trente jours.",
        "documents": ["un texte", {"id": "d", "title": "Article 45", "text": "Trente jours.", "score": 0.9, "page": 3}],
        "source": "helpdesk",
        "variant": "B",
        "language": "fr",
        "answered_at": "2026-03-01T09:30:00+01:00",
        "metadata": {"session": 4711},
    }
    reply = site.post("/v1/evaluations", sent)
    assert (reply.status, reply.json) == (202, {"items": [{"id": "chat-1", "new": True}]})
    stored = Answers(site.context.ledger).get("chat-1")
    assert stored is not None
    assert stored.case.metadata == {"session": 4711}
    assert [(one.title, one.text) for one in stored.case.documents] == [("", "un texte"), ("Article 45", "Trente jours.")]
    assert stored.case.documents[1].metadata == {"page": 3}
    assert shown(site, "chat-1") | {"received_at": ""} == {
        "id": "chat-1",
        "state": "waiting",
        "attempts": 0,
        "reason": "",
        "received_at": "",
        "answered_at": "2026-03-01T08:30:00Z",
        "source": "helpdesk",
        "variant": "B",
        "language": "fr",
        "prompt": "Combien de jours ?",
        "response": "Trente jours.",
        "documents": [
            {"id": "doc1", "text": "un texte", "title": "", "score": None, "source": "", "metadata": {}},
            {"id": "d", "text": "Trente jours.", "title": "Article 45", "score": 0.9, "source": "", "metadata": {"page": 3}},
        ],
        "metadata": {"session": 4711},
        "trace_id": "",
        "erased": False,
        "quality_score": None,
        "result": None,
    }


def test_an_id_counts_once_however_often_it_comes(site: Live) -> None:
    one = {"id": "a", "prompt": "?", "response": "first"}
    twice = {"items": [one, one, {"id": "b", "prompt": "?", "response": "!"}]}
    assert site.post("/v1/evaluations", one).json["items"] == [{"id": "a", "new": True}]
    assert [item["new"] for item in site.post("/v1/evaluations", twice).json["items"]] == [False, False, True]
    assert shown(site, "a")["response"] == "first"


def test_an_id_with_another_answer_is_refused(site: Live) -> None:
    given = {"id": "chat-1", "prompt": "?", "response": "one"}
    assert site.post("/v1/evaluations", given).status == 202 and site.post("/v1/evaluations", given).status == 202
    reply = site.post("/v1/evaluations", given | {"response": "two"})
    assert (reply.status, reply.code) == (409, "id_taken") and "'chat-1'" in reply.json["error"]["message"]
    reply = site.post("/v1/evaluations", {"items": [given | {"response": "two"}, given | {"id": "chat-2"}]})
    assert reply.status == 409 and "the other answers of the request are stored" in reply.json["error"]["message"]
    assert site.get("/v1/evaluations/chat-2").status == 200
    assert site.get("/v1/evaluations/chat-1").json["response"] == "one"


def test_without_an_id_one_is_made(site: Live) -> None:
    made = site.post("/v1/evaluations", {"items": [{"prompt": "?", "response": "!"}] * 3}).json["items"]
    assert len({item["id"] for item in made}) == 3
    assert all(item["new"] for item in made)


def test_the_specification_s_names_are_taken(site: Live) -> None:
    chunks = [{"doc_titre": "CCN Article 45", "text": "Les clercs bénéficient de 30 jours."}]
    sent = {"id": "x", "question": "Combien ?", "answer": "30.", "context_chunks": chunks}
    assert site.post("/v1/evaluations", sent).status == 202
    stored = Answers(site.context.ledger).get("x")
    assert stored is not None and stored.case.documents[0].title == "CCN Article 45"
    conversation = [{"role": "user", "content": "Bonjour"}, {"role": "assistant", "content": "Oui ?"}]
    assert site.post("/v1/evaluations", {"id": "y", "prompt": conversation, "response": "!"}).status == 202
    assert shown(site, "y")["prompt"] == "user: Bonjour\nassistant: Oui ?"


def test_nulls_are_as_good_as_nothing(site: Live) -> None:
    sent = dict.fromkeys(["id", "question", "documents", "source", "variant", "language", "answered_at", "metadata"])
    assert site.post("/v1/evaluations", {**sent, "prompt": "?", "response": "!"}).status == 202


@pytest.mark.parametrize(
    "id", ["a/b", "a//b/", "/a", "é ü 答", "a?b#c%d", "a b", "../../etc/passwd", "https://x/y", "a\\b", "{id}", "1" * 128]
)
def test_any_printable_id_may_be_asked_for(site: Live, id: str) -> None:
    assert site.post("/v1/evaluations", {"id": id, "prompt": "?", "response": "!"}).status == 202
    assert shown(site, id)["id"] == id
    assert site.ask("DELETE", f"/v1/evaluations/{quote(id, safe='')}").status == 204
    assert shown(site, id)["state"] == "erased"
    assert site.get(f"/v1/evaluations/{quote(id + '1', safe='')}").code == "unknown_answer"


def test_many_requests_at_once_are_all_stored(site: Live) -> None:
    def hand_over(number: int) -> int:
        items = [{"id": f"{number}-{at}", "prompt": "?", "response": "!"} for at in range(3)]
        return site.post("/v1/evaluations", {"items": items}).status

    with ThreadPoolExecutor(16) as pool:
        assert set(pool.map(hand_over, range(80))) == {202}
    assert Evaluations(site.context.ledger).backlog().waiting == 240


def test_as_many_as_allowed_are_taken_and_no_more(site: Live) -> None:
    items = [{"prompt": "?", "response": "!"}] * 1000
    assert len(site.post("/v1/evaluations", {"items": items}).json["items"]) == 1000
    reply = site.post("/v1/evaluations", {"items": items * 2})
    assert reply.status == 422
    assert "1000" in reply.json["error"]["message"] and "$.items" in reply.json["error"]["message"]


def test_where_the_ledger_cannot_be_written_every_waiting_request_hears_of_it(tmp_path: Path) -> None:
    async def full(_: object) -> list[bool]:
        raise StorageError("/place: no space left to write: free some space")

    context = context_for(tmp_path)
    broken = structs.replace(context, submit=full)
    with live(broken) as site, ThreadPoolExecutor(8) as pool:
        replies = list(pool.map(lambda _: site.post("/v1/evaluations", {"prompt": "?", "response": "!"}), range(24)))
        assert {reply.status for reply in replies} == {503}
        assert all(b"/place" not in reply.body for reply in replies)
        assert site.get("/healthz").status == 200
    context.ledger.close()


# --- mistakes

GOOD = {"prompt": "?", "response": "!"}


@pytest.mark.parametrize(
    ("body", "status", "said"),
    [
        (b"", 400, "truncated"),
        (b"{", 400, "truncated"),
        (b'{"prompt": "a",}', 400, "malformed"),
        (b'{"prompt": "a", "response": "b"} x', 400, "trailing"),
        (b'{"prompt": NaN}', 400, "malformed"),
        (b"\xff\xfe", 400, "malformed"),
        (b'{"prompt": "\xff", "response": "b"}', 400, "utf-8"),
        (b'{"metadata": ' + b"[" * 100_000, 400, "invalid JSON"),
        (b'{"prompt":"a","response":"b","metadata":{"a":' + b"[" * 200 + b"]" * 200 + b"}}", 400, "deeper"),
        (b"[]", 422, "object"),
        (b"null", 422, "object"),
        (b'"text"', 422, "object"),
        (b"{}", 422, "prompt (or question)"),
        (b'{"items": []}', 422, "$.items"),
        (b'{"items": {}}', 422, "$.items"),
        (b'{"items": [1]}', 422, "$.items[0]"),
        (b'{"items": [{}], "prompt": "a"}', 422, "prompt"),
        (b'{"prompt": "a"}', 422, "response (or answer)"),
        (b'{"prompt": "", "response": "b"}', 422, "$.prompt"),
        (b'{"prompt": " ", "response": "b"}', 422, "empty"),
        (b'{"prompt": [], "response": "b"}', 422, "$.prompt"),
        (b'{"prompt": 3, "response": "b"}', 422, "$.prompt"),
        (b'{"prompt": [{"role": "robot", "content": "x"}], "response": "b"}', 422, "$.prompt[0].role"),
        (b'{"prompt": [{"role": "system", "content": "x"}], "response": "b"}', 422, "none of them is the user's - at `$`"),
        (b'{"prompt": "a", "question": "b", "response": "c"}', 422, "are synonyms"),
        (b'{"prompt": "a", "response": "b", "answer": "c"}', 422, "are synonyms"),
        (b'{"prompt": "a", "response": "b", "promt": "c"}', 422, "promt"),
        (b'{"prompt": "a", "response": "b", "id": ""}', 422, "$.id"),
        (b'{"prompt": "a", "response": "b", "id": 7}', 422, "$.id"),
        (rb'{"prompt": "a", "response": "b", "id": "a\u0000b"}', 422, "printable"),
        (rb'{"prompt": "a", "response": "b", "id": "a\nb"}', 422, "printable"),
        (rb'{"prompt": "a", "response": "b", "source": "a\u0000b"}', 422, "source"),
        (b'{"prompt": "a", "response": "b", "variant": "' + b"v" * 65 + b'"}', 422, "$.variant"),
        (b'{"prompt": "a", "response": "b", "answered_at": "yesterday"}', 422, "$.answered_at"),
        (b'{"prompt": "a", "response": "b", "answered_at": "0001-01-01T00:00:00+14:00"}', 422, "$.answered_at"),
        (b'{"prompt": "a", "response": "b", "answered_at": "2099-01-01T00:00:00Z"}', 422, "in the future"),
        (b'{"prompt": "a", "response": "b", "answered_at": "9999-12-31T23:59:59-14:00"}', 422, "$.answered_at"),
        (b'{"prompt": "a", "response": "b", "documents": [{}]}', 422, "document 1"),
        (b'{"prompt": "a", "response": "b", "documents": ["a", " "]}', 422, "document 2"),
        (b'{"prompt": "a", "response": "b", "metadata": []}', 422, "$.metadata"),
        (b'{"prompt": "a", "response": "b", "metadata": {"a": 1e999}}', 422, "$.metadata"),
        (b'{"prompt": "a", "response": "b", "metadata": {"a": "' + b"x" * 70_000 + b'"}}', 422, "metadata"),
        (json.dumps({"items": [GOOD, GOOD, {"prompt": "?"}]}).encode(), 422, "$.items[2]"),
        (json.dumps(GOOD | {"language": "zz"}).encode(), 422, "language 'zz': give a code of ISO 639"),
        (json.dumps(GOOD | {"source": "golden:answer_quality"}).encode(), 422, "$.source"),
        (json.dumps(GOOD | {"source": "Golden:x"}).encode(), 422, "$.source"),
        (json.dumps(GOOD | {"source": " golden:x"}).encode(), 422, "$.source"),
        (json.dumps(GOOD | {"source": "ｇolden：x"}).encode(), 422, "$.source"),
    ],
)
def test_each_mistake_is_named_with_its_place_and_stores_nothing(site: Live, body: bytes, status: int, said: str) -> None:
    reply = site.post("/v1/evaluations", body)
    assert reply.status == status, reply.body
    assert reply.code == ("bad_json" if status == 400 else "invalid")
    assert said in reply.json["error"]["message"]
    assert Evaluations(site.context.ledger).backlog().waiting == 0


def test_nul_characters_in_a_text_are_stored_as_something_visible(site: Live) -> None:
    sent = (
        rb'{"id": "n", "prompt": "a\u0000b", "response": "c\u0000", "documents": ["d\u0000"], "metadata": {"k\u0000": "\u0000"}}'
    )
    assert site.post("/v1/evaluations", sent).status == 202
    assert "\0" not in shown(site, "n")["prompt"]
    assert site.get("/v1/evaluations?text=a%00b").status == 200


def test_half_a_surrogate_pair_does_not_cost_the_other_answers_of_a_request(site: Live) -> None:
    good = rb'{"id": "a", "prompt": "\ud83d\ude00 \\ud83d", "response": "R"}'
    cut = rb'{"id": "b", "prompt": "Oui \uD83D", "response": "\ude00\ud83d\ud83d\ude00", "metadata": {"k": "\ud800"}}'
    assert site.post("/v1/evaluations", b'{"items": [' + good + b"," + cut + b"]}").status == 202
    assert shown(site, "a")["prompt"] == "\U0001f600 \\ud83d"
    assert (shown(site, "b")["prompt"], shown(site, "b")["response"]) == ("Oui \ufffd", "\ufffd\ufffd\U0001f600")


# --- reading


def test_an_evaluated_answer_has_its_scores(site: Live, seeded: list[str]) -> None:
    found = shown(site, seeded[0])
    assert found["state"] == "evaluated"
    assert found["quality_score"] == {
        "exactitude": 9.5,
        "completude": 9.0,
        "format": 9.5,
        "sources": 9.0,
        "score_global": 9.28,
        "feedback": found["result"]["feedback"],
    }
    assert found["result"]["qualification"] == "never examined"
    assert found["result"]["criteria"][0] == {
        "criterion": "quality.answer.exactitude",
        "score": 9.5,
        "grade": "excellent",
        "agreement": 0.9,
    }


def test_an_answer_that_nobody_handed_over_is_not_there(site: Live) -> None:
    for path in ("/v1/evaluations/none", "/v1/evaluations/", "/v1/evaluations/%00", "/v1/evaluations/%ED%A0%80"):
        assert site.get(path).code == "unknown_answer"
        assert site.ask("DELETE", path).code == "unknown_answer"


def test_lists_go_on_from_a_cursor_without_gaps(site: Live, seeded: list[str]) -> None:
    found, cursor = [], ""
    while True:
        page = site.get(f"/v1/evaluations?limit=7{cursor}").json
        found += [item["id"] for item in page["items"]]
        if page["next"] is None:
            break
        cursor = f"&before={page['next']}"
    assert found == seeded[::-1]


def test_lists_are_filtered(site: Live, seeded: list[str]) -> None:
    weak = site.get("/v1/evaluations?grade=weak&limit=200").json["items"]
    assert weak and all(item["result"]["grade"] == "weak" for item in weak)
    day = (NOW - timedelta(days=1)).date()
    one_day = site.get(f"/v1/evaluations?from={day}&to={day}&limit=200").json["items"]
    assert {item["answered_at"][:10] for item in one_day} == {str(day)} and len(one_day) == 6
    assert site.get("/v1/evaluations?variant=A&source=help-desk&limit=200").json["items"]
    assert site.get("/v1/evaluations?source=nowhere").code == "invalid"
    found = site.get("/v1/evaluations?text=r%C3%A9tractation&limit=200").json["items"]
    assert found and all("rétractation" in item["prompt"] for item in found)
    assert len(site.get("/v1/evaluations?criterion=quality.answer.sources&limit=200").json["items"]) == len(seeded)
    poor = site.get("/v1/evaluations?criterion=quality.answer.sources&grade=weak&limit=200").json["items"]
    assert all(item["quality_score"]["sources"] < 6 for item in poor)


@pytest.mark.parametrize(
    "query",
    [
        "limit=0",
        "limit=201",
        "limit=x",
        "before=0",
        "before=99999999999",
        "grade=bad",
        "from=soon",
        "from=2026-02-02&to=2026-02-01",
        "to=0001-01-01",
        "from=9999-12-31",
    ],
)
def test_a_wrong_filter_is_named(site: Live, query: str) -> None:
    reply = site.get(f"/v1/evaluations?{query}")
    assert (reply.status, reply.code) == (422, "invalid")
    assert query.partition("=")[0] in reply.json["error"]["message"]


ROUTES = [
    route for router in routers() for route in router.routes if isinstance(route, APIRoute) and route.path.startswith("/v1/")
]


@pytest.mark.parametrize("route", ROUTES, ids=lambda route: route.name)
def test_a_parameter_that_a_route_does_not_have_is_refused_and_its_own_are_named(route: APIRoute, context: ServerContext) -> None:
    client = TestClient(create_app(context), base_url="http://127.0.0.1:8600", client=("127.0.0.1", 50000))
    for method in route.methods or ():
        reply = client.request(method, route.path.replace("{id:path}", "a").replace("{id}", "a"), params={"dayz": 7})
        assert reply.status_code == 422
        names = [field.alias for field in route.dependant.query_params]
        allowed = f"use {', '.join(names)}" if names else "this route has none"
        assert reply.json()["error"] == {"code": "invalid", "message": f"unknown parameter 'dayz': {allowed}"}


def test_what_is_read_and_erased_is_noted(site: Live, seeded: list[str]) -> None:
    shown(site, seeded[0])
    site.get("/v1/evaluations")
    site.get("/monitor/answers", {"Accept": "text/html"})
    assert site.ask("DELETE", f"/v1/evaluations/{seeded[0]}").status == 204
    entries = [(one.actor, one.action, one.subject) for one in Audit(site.context.ledger).list()]
    assert ("local", "read", seeded[0]) in entries
    assert entries.count(("local", "read", "")) == 2
    assert ("local", "erase", seeded[0]) in entries
    found = shown(site, seeded[0])
    assert (found["erased"], found["prompt"], found["response"], found["state"]) == (True, "", "", "evaluated")
    assert found["result"]["score_global"] is not None and found["result"]["feedback"] == ""
    assert site.ask("DELETE", f"/v1/evaluations/{seeded[0]}").status == 204
    assert [one.subject for one in Audit(site.context.ledger).list() if one.action == "erase"] == [seeded[0]]
    assert site.ask("DELETE", "/v1/evaluations/nobody").status == 404


# --- figures, alerts, labels


def test_figures_are_those_of_the_last_days(site: Live, seeded: list[str]) -> None:
    week, month = site.get("/v1/figures").json, site.get("/v1/figures?days=30").json
    assert week["period"] == {"start": "2026-11-14", "end": "2026-11-21"}
    assert (week["scored"], month["scored"]) == (42, 54)
    assert {one["label"] for one in week["criteria"]} == {"Exactitude", "Complétude", "Structure en quatre parties", "Sources"}
    assert len(week["days"]) == 7
    assert site.get("/v1/figures?source=nowhere").code == "invalid"
    assert (week["baseline"], site.get("/v1/figures?baseline=A").json["baseline"]) == ("B", "A")
    for query in ("days=0", "days=367", "days=x", "baseline=C"):
        assert site.get(f"/v1/figures?{query}").code == "invalid"


def test_an_empty_ledger_has_empty_figures(site: Live) -> None:
    figures = site.get("/v1/figures").json
    assert (figures["planned"], figures["received"]) == (0, 0)
    assert (figures["scored"], figures["coverage"], figures["overall"]["mean"]["mean"]) == (0, None, None)
    assert site.get("/v1/alerts").json == {"items": [], "open": {}, "next": None}
    assert site.get("/v1/agreement").status == 200


def test_alerts_are_listed_by_state(site: Live, seeded: list[str]) -> None:
    every = site.get("/v1/alerts").json["items"]
    still = site.get("/v1/alerts?state=open").json["items"]
    assert len(still) < len(every)
    assert {one["state"] for one in still} == {"open"}
    assert site.get("/v1/alerts?state=none").code == "invalid"


def test_a_label_is_that_of_the_key_and_counts_for_agreement(site: Live, seeded: list[str]) -> None:
    write, admin = site.key("write", "Ada"), site.key("admin")
    sent = {"answer_id": seeded[0], "scores": {"": 8.5, "exactitude": 9, "quality.answer.sources": 7.25}, "note": "juste"}
    reply = site.post("/v1/labels", sent, write)
    assert (reply.status, reply.json) == (201, {"stored": 3, "rater": "Ada", "blind": True, "remark": ""})
    assert {one.criterion: one.score for one in Labels(site.context.ledger).of(seeded[0]) if one.rater == "Ada"} == {
        "": 8.5,
        "quality.answer.exactitude": 9.0,
        "quality.answer.sources": 7.25,
    }
    before = site.get("/v1/agreement?sample_only=false", write).json["labelled"]
    assert before == 2
    assert site.post("/v1/labels", sent | {"rater": "Bea"}, write).code == "forbidden"
    assert site.post("/v1/labels", sent | {"rater": "Bea"}, admin).json["rater"] == "Bea"
    noted = [(one.actor, one.detail) for one in Audit(site.context.ledger).list(subject=seeded[0]) if one.action == "label"]
    assert ("admin", "in the name of Bea") in noted  # else nobody could tell who wrote Bea's scores


def test_an_answer_that_was_erased_while_it_was_judged_takes_no_label(site: Live) -> None:
    assert site.post("/v1/evaluations", {"id": "mine", "prompt": "Q", "response": "R"}).status == 202
    assert site.ask("DELETE", "/v1/evaluations/mine").status == 204
    assert site.post("/v1/labels", {"answer_id": "mine", "scores": {"": 3}}).code == "unknown_answer"
    page = site.get("/review/mine", {"Accept": "text/html"})
    assert (
        page.status == 200
        and b"texts of this answer were erased" in page.body
        and b'<form method="post" action="/review' not in page.body
    )


@pytest.mark.parametrize(
    ("change", "status", "said"),
    [
        ({"answer_id": "none"}, 404, "none"),
        ({"scores": {}}, 422, "$.scores"),
        ({"scores": {"charm": 3}}, 422, "charm"),
        ({"scores": {"": 11}}, 422, "0 to 10"),
        ({"scores": {"": -0.5}}, 422, "0 to 10"),
        ({"scores": {"exactitude": 3, "quality.answer.exactitude": 4}}, 422, "twice"),
        ({"scores": {"": "7"}}, 422, "$.scores"),
        ({"rater": "  "}, 422, "rater"),
        ({"note": "x" * 10_001}, 422, "$.note"),
        ({"more": 1}, 422, "more"),
    ],
)
def test_a_label_that_makes_no_sense_is_refused(site: Live, seeded: list[str], change: Any, status: int, said: str) -> None:
    reply = site.post("/v1/labels", {"answer_id": WEAK_ID, "scores": {"": 5}} | change)
    assert reply.status == status, reply.body
    assert said in reply.json["error"]["message"]
    assert str(site.context.ledger.place) not in reply.json["error"]["message"]


# --- what the API gives back


def test_a_filter_that_names_nothing_is_refused_with_the_allowed_names(site: Live, seeded: list[str]) -> None:
    full = site.get("/v1/evaluations?criterion=quality.answer.exactitude&grade=weak").json["items"]
    assert site.get("/v1/evaluations?criterion=exactitude&grade=weak").json["items"] == full != []
    for query, named in (
        ("criterion=foo&grade=weak", "exactitude"),
        ("source=nobody", "help-desk"),
        ("variant=nobody", "use one of"),
        ("to=0", "2026-03-01"),
        ("from=1764288000", "2026-03-01"),
    ):
        reply = site.get(f"/v1/evaluations?{query}")
        assert reply.status == 422 and named in reply.json["error"]["message"], query
    assert site.get("/v1/figures?source=nobody").status == site.get("/v1/figures?variant=nobody").status == 422


def test_the_api_gives_back_what_it_took(site: Live) -> None:
    sent = {
        "id": "mine",
        "prompt": "Q ?",
        "response": "A.",
        "documents": [{"title": "Article 45", "text": "Thirty days.", "page": 3}],
        "metadata": {"user": "u1"},
        "trace_id": "0af7651916cd43dd8448eb211c80319c",
    }
    assert site.post("/v1/evaluations", sent).status == 202
    found = site.get("/v1/evaluations/mine").json
    assert [(one["title"], one["text"], one["metadata"]) for one in found["documents"]] == [
        ("Article 45", "Thirty days.", {"page": 3})
    ]
    assert {name: found[name] for name in ("metadata", "trace_id")} == {name: sent[name] for name in ("metadata", "trace_id")}


def test_a_rater_reads_an_answer_without_scores_and_is_told_whether_labels_are_blind(site: Live, seeded: list[str]) -> None:
    key, id = site.key("write", "Ada"), seeded[0]
    found = site.get(f"/v1/evaluations/{id}?blind=1", key).json
    assert found["response"] and found["quality_score"] is None and found["result"] is None
    label = {"answer_id": id, "scores": {"": 8}}
    assert site.post("/v1/labels", label, key).json["blind"] is True
    assert site.get(f"/v1/evaluations/{id}", key).json["quality_score"]
    reply = site.post("/v1/labels", label, key).json
    assert reply["blind"] is False and "blind=1" in reply["remark"]
