"""The pages for labelling and for agreement: blind before, honest after; a label typed in a browser reaches the figures."""

import json
import os
import re
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest
import uvicorn
from starlette.testclient import TestClient

from areopage.ledger.people.access import SCORES, ApiKeys, Audit
from areopage.ledger.people.labels import Labels, ReviewQueue
from areopage.ledger.tables.records import Label, ReviewItem
from areopage.ledger.write.operations import Role
from areopage.server.app import create_app
from areopage.server.context import ServerContext
from areopage.server.pages.review import SHOWN

from .seeded import NOW, SAMPLES, judged, seeded_context

CHROMIUM = Path("/usr/bin/chromium")
INERT_FLAGS = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-component-update"]
WEAK_ID = "answer-07-00"
"""A weak answer that waits for a second label."""

EXACT = "quality.answer.exactitude"
FIELD = f"score.{EXACT}"
VERDICT_WORDS = ("Réponse vague", "Délai absent", "Claire", "une alerte", "an alert", "alert")


@pytest.fixture
def context(tmp_path: Path) -> Iterator[ServerContext]:
    """A server over a seeded ledger; `WEAK_ID` waits for a second label: Claire has labelled it already."""
    made = seeded_context(tmp_path)
    ReviewQueue(made.ledger).add([ReviewItem(answer_id=WEAK_ID, why="alert", created_at=NOW, wanted=2)])
    claire = Label(
        answer_id=WEAK_ID, rater="Claire", criterion=EXACT, score=3, note="Délai absent.", origin="web", created_at=NOW
    )
    Labels(made.ledger).add([claire])
    yield made
    made.ledger.close()


def text_of(html: str) -> str:
    """What a reader reads, on one line."""
    body = html.partition("<main")[2]
    return " ".join(re.sub(r"<[^>]+>", " ", body).replace("\u202f", " ").replace("\xa0", " ").split())


def token_of(html: str) -> str:
    found = re.search(r'name="csrf" value="([^"]+)"', html)
    assert found
    return found[1]


def send(client: TestClient, id: str, fields: dict[str, str], *, to: str = "") -> tuple[int, str]:
    """Fill the form in and send it; returns the status and where it leads, or the page."""
    address = to or f"/review/{quote(id, safe='')}"
    token = token_of(client.get(address).text)
    sent = client.post(
        address, data={"csrf": token, **fields}, headers={"origin": "http://127.0.0.1:8600"}, follow_redirects=False
    )
    return sent.status_code, sent.headers.get("location", sent.text)


@pytest.mark.parametrize(
    ("lang", "said"), [("en", "Scores of the judge and of other raters are hidden"), ("fr", "restent masquées")]
)
def test_a_rater_sees_neither_the_judges_scores_nor_others_before_his_own(client: TestClient, lang: str, said: str) -> None:
    page = client.get(f"/review/{WEAK_ID}", headers={"accept-language": lang})
    assert page.status_code == 200
    shown = text_of(page.text)
    assert said in shown
    assert SAMPLES[2].question in shown
    assert SAMPLES[2].document in shown
    for word in VERDICT_WORDS:
        assert word not in shown
    queue = text_of(client.get("/review", headers={"accept-language": lang}).text)
    assert SAMPLES[2].question in queue
    for word in VERDICT_WORDS:
        assert word not in queue


def test_he_sees_them_once_he_has_labelled(client: TestClient, context: ServerContext) -> None:
    status, place = send(client, WEAK_ID, {FIELD: "4", "score.": "3", "rater": "Chloé", "note": "Trop vague", "then": "see"})
    assert (status, place) == (303, f"/review/{WEAK_ID}")
    shown = text_of(client.get(place, headers={"accept-language": "fr"}).text)
    assert "Réponse vague" in shown
    assert "Claire" in shown
    assert "Délai absent." in shown
    assert "Trop vague" in shown
    assert "Exactitude 2,4 2,4 2,4 4,0 3,0 −1,6" in shown
    assert [(one.rater, one.criterion, one.score, one.origin) for one in Labels(context.ledger).of(WEAK_ID)][-2:] == [
        ("Chloé", EXACT, 4.0, "web"),
        ("Chloé", "", 3.0, "web"),
    ]
    entry = next(one for one in Audit(context.ledger).list(subject=WEAK_ID) if one.action == "label")
    assert entry.actor == "Chloé"


def test_the_overall_score_that_a_rater_left_out_is_compared_as_weighed_from_the_criteria(client: TestClient) -> None:
    scores = {f"score.quality.answer.{name}": "4" for name in ("exactitude", "completude", "format", "sources")}
    status, place = send(client, WEAK_ID, scores | {"rater": "Chloé", "then": "see"})
    assert status == 303
    shown = text_of(client.get(place, headers={"accept-language": "fr"}).text)
    assert "Score global 1,5 — — 4,0 — −2,5" in shown


def test_only_scores_given_before_the_judges_were_seen_count_for_agreement(client: TestClient, context: ServerContext) -> None:
    def labels(rater: str) -> list[tuple[float, bool]]:
        return [(one.score, one.blind) for one in Labels(context.ledger).of(WEAK_ID) if one.rater == rater]

    def counted() -> tuple[int, int, int]:
        client.cookies.set("areopage_rater", "Dora")  # figures of agreement quote the judges' scores: another person reads them
        found = client.get("/v1/agreement?sample_only=false").json()
        client.cookies.clear()
        return found["labelled"], found["agreement"]["labels"], found["unblind"]

    before = counted()
    send(client, WEAK_ID, {FIELD: "4", "rater": "Chloé", "then": "see"})
    client.get(f"/review/{WEAK_ID}")  # compares the scores
    send(client, WEAK_ID, {FIELD: "2", "rater": "Chloé"}, to=f"/review/{WEAK_ID}?edit")
    assert labels("Chloé") == [(4.0, True), (2.0, False)]
    assert counted() == (before[0], before[1] + 1, before[2])
    _, key = ApiKeys(context.ledger).create("Bob", "write")
    headers = {"authorization": f"Bearer {key}"}
    assert client.get(f"/monitor/answers/{WEAK_ID}", headers=headers).status_code == 200
    sent = {"answer_id": WEAK_ID, "scores": {EXACT: 3}}
    assert client.post("/v1/labels", json=sent, headers=headers).status_code == 201
    assert labels("Bob") == [(3.0, False)]
    report = client.get("/v1/agreement?sample_only=false", headers=headers).json()
    assert (report["agreement"]["labels"], report["unblind"]) == (before[1] + 1, before[2] + 1)


@pytest.mark.parametrize(
    "address",
    [
        "/monitor/answers",
        "/v1/evaluations?grade=weak",
        "/monitor/alerts",
        "/v1/alerts",
        "/v1/figures?days=30",
        "/monitor?days=30",
        "/v1/agreement?sample_only=false",
    ],
)
def test_a_list_with_scores_takes_the_blindness_of_later_labels(client: TestClient, context: ServerContext, address: str) -> None:
    roles: dict[str, Role] = {"Bob": "write", "Eve": "write", "Dora": "read"}
    keys = {name: {"authorization": f"Bearer {ApiKeys(context.ledger).create(name, role)[1]}"} for name, role in roles.items()}
    found = re.search(r"answer-\d\d-\d\d", client.get(address, headers=keys["Dora"]).text)
    assert found
    id = found[0]
    assert client.get(f"/v1/evaluations/{id}?blind=1", headers=keys["Bob"]).status_code == 200
    for _ in range(2):
        assert id in client.get(address, headers=keys["Bob"]).text
    sent = {"answer_id": id, "scores": {EXACT: 3}}
    assert [client.post("/v1/labels", json=sent, headers=keys[name]).json()["blind"] for name in ("Bob", "Eve")] == [False, True]
    seen = [one for one in Audit(context.ledger).list(subject=id) if one.detail == SCORES]
    assert [one.actor for one in seen] == ["Bob"]  # once, however often the list is read; Dora's key cannot label


@pytest.mark.parametrize(
    ("lang", "tag", "form", "mark"),
    [
        ("en", "scores seen", "You have seen the scores", "given with the scores in view"),
        ("fr", "notes vues", "Vous avez vu les notes", "donnée avec les notes sous les yeux"),
    ],
)
def test_queue_form_and_tables_say_that_a_label_is_given_with_the_scores_in_view(
    client: TestClient, context: ServerContext, lang: str, tag: str, form: str, mark: str
) -> None:
    _, key = ApiKeys(context.ledger).create("Bob", "write")
    headers = {"authorization": f"Bearer {key}", "accept-language": lang}

    def read(address: str) -> str:
        return text_of(client.get(address, headers=headers).text)

    assert tag not in read("/review") and form not in read(f"/review/{WEAK_ID}")
    assert mark not in read(f"/monitor/answers/{WEAK_ID}")
    assert tag in read("/review") and form in read(f"/review/{WEAK_ID}")
    client.post("/v1/labels", json={"answer_id": WEAK_ID, "scores": {EXACT: 3}}, headers=headers)
    assert read(f"/monitor/answers/{WEAK_ID}").count(mark) == 1  # of two labels
    assert mark in read(f"/review/{WEAK_ID}")


def test_saving_leads_to_the_next_answer_and_then_back_to_the_queue(client: TestClient, context: ServerContext) -> None:
    ReviewQueue(context.ledger).add([ReviewItem(answer_id=f"answer-00-0{at}", why="sample", created_at=NOW) for at in (1, 2)])
    seen = []
    place = "/review/?after=0"
    while True:
        place = client.get(place, follow_redirects=False).headers["location"]
        if place == "/review":
            break
        seen.append(place.removeprefix("/review/"))
        _, place = send(client, seen[-1], {FIELD: "5", "rater": "Chloé", "then": "next"})
    assert seen == ["answer-00-01", "answer-00-02", WEAK_ID]  # the random sample comes first
    assert "The review queue is empty" in client.get(place).text


def test_the_name_is_kept_whatever_its_letters(client: TestClient) -> None:
    send(client, WEAK_ID, {FIELD: "4", "rater": "Zoé Łąc; x=1"})
    assert 'value="Zoé Łąc; x=1"' in client.get("/review/answer-00-00").text


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({FIELD: "", "rater": "Chloé", "note": "kept"}, "Donnez au moins une note."),
        ({FIELD: "4", "rater": " ", "note": "kept"}, "Donnez votre nom."),
        ({FIELD: "40", "rater": "Chloé", "note": "kept"}, "Les notes vont de 0 à 10."),
        ({"score.invented": "4", "rater": "Chloé", "note": "kept"}, "Les notes vont de 0 à 10."),
    ],
)
def test_a_label_that_cannot_be_taken_comes_back_with_what_was_typed(
    client: TestClient, context: ServerContext, fields: dict[str, str], said: str
) -> None:
    before = len(Labels(context.ledger).of(WEAK_ID))
    client.headers["accept-language"] = "fr"
    status, page = send(client, WEAK_ID, fields)
    assert status == 422
    assert said in text_of(page)
    assert "kept" in page
    assert "Réponse vague" not in page
    assert len(Labels(context.ledger).of(WEAK_ID)) == before


def test_a_form_without_our_token_or_from_elsewhere_is_refused(client: TestClient, context: ServerContext) -> None:
    before = len(Labels(context.ledger).of(WEAK_ID))
    fields = {FIELD: "4", "rater": "Chloé"}
    assert client.post(f"/review/{WEAK_ID}", data={"csrf": "x", **fields}).status_code == 403
    token = token_of(client.get(f"/review/{WEAK_ID}").text)
    stranger = client.post(f"/review/{WEAK_ID}", data={"csrf": token, **fields}, headers={"origin": "https://evil.example"})
    assert stranger.status_code == 403
    assert len(Labels(context.ledger).of(WEAK_ID)) == before


@pytest.mark.parametrize("id", ["a/b c?d#e", "..", ".", "50 %", "<b>é</b>"])
def test_any_id_can_be_labelled(client: TestClient, context: ServerContext, id: str) -> None:
    judged(context.ledger, id, NOW, SAMPLES[0])
    ReviewQueue(context.ledger).add([ReviewItem(answer_id=id, why="asked", created_at=NOW)])
    links = re.findall(r'<td class="wholly"><a href="([^"]+)"', client.get("/review").text)
    assert len(links) == 2
    status, place = send(client, id, {FIELD: "4", "rater": "Chloé", "then": "see"}, to=links[1].replace("&amp;", "&"))
    assert status == 303
    assert client.get(place).status_code == 200
    assert [one.score for one in Labels(context.ledger).of(id)] == [4.0]


def test_the_queue_has_pages_and_says_what_each_answer_asks_for(client: TestClient, context: ServerContext) -> None:
    for number in range(SHOWN + 2):
        judged(context.ledger, f"more-{number:02d}", NOW, SAMPLES[0])
    ReviewQueue(context.ledger).add(
        [ReviewItem(answer_id=f"more-{number:02d}", why="asked", created_at=NOW) for number in range(SHOWN + 2)]
    )
    first = client.get("/review").text
    further = re.search(r'href="(/review\?after=\d+)" rel="next"', first)
    assert further and text_of(first).count("scores for each criterion") == SHOWN
    second = client.get(further[1]).text
    assert text_of(second).count("scores for each criterion") == 3 and 'rel="next"' not in second
    assert "First page" in text_of(second) and "/review/more-51" in second


def test_what_holds_for_every_criterion_is_said_once(client: TestClient) -> None:
    shown = text_of(client.get("/agreement?only=all&lang=en").text)
    assert shown.count("No coefficient yet") == 1 and "All criteria. No coefficient yet" in shown


@pytest.mark.parametrize(
    ("language", "missing", "found"),
    [
        ("en", "that takes 20 labelled answers, and there are 2.", "Judge − people"),
        ("fr", "il faut 20 réponses notées par des personnes, et il y en a 2.", "Juge − humains"),
    ],
)
def test_the_page_says_what_the_jury_is_worth_or_how_many_labels_are_missing(
    client: TestClient, context: ServerContext, language: str, missing: str, found: str
) -> None:
    address = f"/agreement?only=all&lang={language}"
    assert missing in text_of(client.get(address).text)
    for number in range(24):
        sample = SAMPLES[number % len(SAMPLES)]
        judged(context.ledger, f"more-{number:02d}", NOW, sample, drift=(number % 3) / 2)
        label = Label(
            answer_id=f"more-{number:02d}", rater="Anne", criterion=EXACT, score=sample.scores[0], origin="web", created_at=NOW
        )
        Labels(context.ledger).add([label])
    shown = text_of(client.get(address).text)
    assert missing not in shown and found in shown


def test_an_answer_that_is_not_there_is_not_found(client: TestClient) -> None:
    assert client.get("/review/nobody").status_code == 404
    assert client.get("/review/?id=nobody").status_code == 404


def test_with_keys_the_rater_is_the_key_and_a_reader_may_not_label(client: TestClient, context: ServerContext) -> None:
    _, writer = ApiKeys(context.ledger).create("relectrice", "write")
    _, reader = ApiKeys(context.ledger).create("lecteur", "read")
    address = f"/review/{WEAK_ID}"
    shown = client.get(address, headers={"authorization": f"Bearer {writer}"})
    assert 'name="rater"' not in shown.text
    sent = client.post(
        address,
        data={"csrf": token_of(shown.text), FIELD: "4", "rater": "somebody else"},
        headers={"authorization": f"Bearer {writer}"},
        follow_redirects=False,
    )
    assert sent.status_code == 303
    assert Labels(context.ledger).of(WEAK_ID)[-1].rater == "relectrice"
    read = client.get(address, headers={"authorization": f"Bearer {reader}"})
    assert "Your key cannot label" in read.text
    assert "<form" not in read.text.partition("<main")[2]
    refused = client.post(address, data={"csrf": token_of(shown.text), FIELD: "4"}, headers={"authorization": f"Bearer {reader}"})
    assert refused.status_code == 403


@pytest.mark.parametrize("lang", ["en", "fr"])
def test_agreement_says_in_words_what_its_figures_mean(client: TestClient, context: ServerContext, lang: str) -> None:
    empty = text_of(client.get("/agreement", headers={"accept-language": lang}).text)
    assert ("No labels match this selection" if lang == "en" else "Aucune note ne correspond à cette sélection") in empty
    jury = Labels(context.ledger).panel_scores([f"answer-{day:02d}-{place:02d}" for day in range(9) for place in range(6)])
    Labels(context.ledger).add(
        [
            Label(answer_id=id, rater=rater, criterion=path, score=score, origin="cli", created_at=NOW)
            for id, scores in jury.items()
            for rater in ("Anne", "Bruno")
            for path, score in scores["answer_quality"].items()
        ]
    )
    ReviewQueue(context.ledger).add([ReviewItem(answer_id=id, why="sample", created_at=NOW) for id in jury])
    page = client.get("/agreement", headers={"accept-language": lang})
    shown = text_of(page.text)
    assert page.status_code == 200
    assert ("Does the correlation with people exceed 0.8?" if lang == "en" else "dépasse-t-elle 0,8 ?") in shown
    assert ("Yes. Confidence: over 99.9%." if lang == "en" else "Oui. Confiance : plus de 99,9 %.") in shown
    assert ("Accuracy 0 to 10" if lang == "en" else "Exactitude 0 à 10") in shown
    assert not re.search(r"\bNone\b|Undefined|\$[a-z]|nan", shown)
    every = client.get("/agreement?only=all", headers={"accept-language": lang})
    assert f'href="/monitor/answers/{WEAK_ID}"' in every.text  # Claire differs there
    undecided = "only answers of the random sample can decide" if lang == "en" else "seules les réponses de l’échantillon"
    assert undecided in text_of(every.text) and "Confidence: over 99.9%" not in text_of(every.text)


def test_agreement_takes_what_makes_no_sense_in_an_address_for_nothing(client: TestClient) -> None:
    page = client.get("/agreement?days=x&judge=nobody&only=y")
    assert page.status_code == 200
    for field, value in (("Labels of", "x"), ("Judge", "nobody"), ("Answers", "y")):
        assert f"Ignored: “{value}” is not a valid value of “{field}”." in text_of(page.text)
    page = client.get("/agreement?days=7&judge=mistral&only=")
    assert (page.status_code, "Ignored:" in page.text) == (200, False)


def test_the_api_gives_the_same_figures(client: TestClient) -> None:
    found = json.loads(client.get("/v1/agreement?days=30&sample_only=false").text)
    assert found["labelled"] == 2
    assert found["agreement"]["criteria"][0]["claim"]["verdict"] == "not_settled"
    assert client.get("/v1/agreement?judge=nobody").status_code == 422
    assert client.get("/v1/agreement?days=0").status_code == 422
    schema = client.get("/openapi.json").json()
    assert "AgreementReport" in schema["components"]["schemas"]
    assert "/v1/agreement" in schema["paths"]


@pytest.mark.parametrize("path", ["/review", f"/review/{WEAK_ID}", "/agreement"])
def test_no_page_holds_a_script_or_a_style_of_its_own(client: TestClient, path: str) -> None:
    html = client.get(path).text
    assert not re.search(r"<style|style=|<script(?! src=\"/static/)|\son[a-z]+=", html)


@pytest.fixture
def address(context: ServerContext) -> Iterator[str]:
    """A real server on a free port."""
    server = uvicorn.Server(uvicorn.Config(create_app(context), host="127.0.0.1", port=0, log_level="error", ws="none"))
    thread = threading.Thread(target=server.run)
    thread.start()
    while not server.started and thread.is_alive():
        time.sleep(0.02)
    yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    server.should_exit = True
    thread.join()


def test_a_label_typed_in_a_browser_reaches_agreement(context: ServerContext, address: str) -> None:
    if not CHROMIUM.exists() and "chromium" not in os.environ.get("AREOPAGE_REQUIRE", "").split(","):
        pytest.skip("there is no /usr/bin/chromium to type a label with")
    from playwright.sync_api import sync_playwright

    attack = "<script>document.title='pwned'</script><img src=x onerror=\"document.title='pwned'\">"
    judged(context.ledger, "attack", NOW, SAMPLES[0]._replace(question=attack, answer=attack, document=attack, feedback=attack))
    ReviewQueue(context.ledger).add([ReviewItem(answer_id="attack", why="asked", created_at=NOW)])
    complaints: list[str] = []
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=str(CHROMIUM), args=INERT_FLAGS)
        page = browser.new_page(viewport={"width": 390, "height": 800}, locale="fr-FR")
        page.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda fault: complaints.append(str(fault)))
        page.goto(f"{address}/review")
        page.click("text=Commencer")
        page.focus(f"input[name='{FIELD}'][value='']")
        for _ in range(5):  # from “no score” one step up to 0, and on to 4
            page.keyboard.press("ArrowRight")
        page.fill("#rater", "Chloé")
        page.click("button[value=next]")
        page.wait_for_url(f"{address}/review/attack")
        assert page.evaluate("document.querySelectorAll('main script, main img').length") == 0
        assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
        page.check(f"input[name='{FIELD}'][value='9']", force=True)
        page.fill("#note", attack)
        page.click("button[value=see]")
        page.wait_for_selector(".compared")
        assert page.evaluate("document.querySelectorAll('main script, main img').length") == 0
        assert "pwned" not in page.title()
        page.set_viewport_size({"width": 1280, "height": 800})
        page.goto(f"{address}/review/{WEAK_ID}?edit")
        assert page.evaluate("getComputedStyle(document.querySelector('.judgment')).overflowY") == "visible"
        page.focus("#rater")  # no field lies below the buttons that stay in sight
        field, buttons = page.locator("#rater").bounding_box(), page.locator("form .buttons").bounding_box()
        assert field and buttons and field["y"] + field["height"] <= buttons["y"]
        page.goto(f"{address}/agreement?only=all")
        shown = page.inner_text("main").replace("\u202f", " ").replace("\xa0", " ")
        assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
        browser.close()
    assert complaints == []
    assert [(one.rater, one.score) for one in Labels(context.ledger).of(WEAK_ID)][-1] == ("Chloé", 4.0)
    assert re.search(r"Réponses notées\s+3", shown, re.IGNORECASE)
    assert "2 évaluateurs" in shown
    assert "<script>document.title" in shown  # the attack is the farthest apart, shown as text
