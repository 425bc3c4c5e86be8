"""Raters who disagree, over the API and on the pages: blind before the own label, decided, undone, counted."""

import os
import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest
from starlette.testclient import TestClient

from areopage.ledger.people.access import ApiKeys
from areopage.ledger.people.labels import Labels, ReviewQueue
from areopage.ledger.tables.records import Label, ReviewItem
from areopage.server.context import ServerContext

from .live import live
from .seeded import NOW, local_client, seeded_context
from .test_review_pages import CHROMIUM, EXACT, FIELD, INERT_FLAGS, send, text_of

ID = "answer-07-00"
JUDGES = "Réponse vague"
"""What a judge says of the answer."""


@pytest.fixture
def context(tmp_path: Path) -> Iterator[ServerContext]:
    """A server over a seeded ledger with an answer that two people are to label."""
    made = seeded_context(tmp_path)
    ReviewQueue(made.ledger).add([ReviewItem(answer_id=ID, why="sample", created_at=NOW, wanted=2)])
    yield made
    made.ledger.close()


@pytest.fixture
def keys(context: ServerContext) -> dict[str, dict[str, str]]:
    """The headers of four people."""
    made = {name: ApiKeys(context.ledger).create(name, "write")[1] for name in ("anne", "bruno", "chloe", "david")}
    return {name: {"Authorization": f"Bearer {text}"} for name, text in made.items()}


def labelled(client: TestClient, headers: dict[str, str], score: float, **more: object) -> dict[str, object]:
    reply = client.post("/v1/labels", json={"answer_id": ID, "scores": {EXACT: score}, **more}, headers=headers)
    assert reply.status_code == 201, reply.text
    found: dict[str, object] = reply.json()
    return found


def test_people_who_disagree_are_decided_between_over_the_api(
    client: TestClient, context: ServerContext, keys: dict[str, dict[str, str]]
) -> None:
    labelled(client, keys["anne"], 2, note="Wrong term.", correction="Two months.")
    nothing = client.get("/v1/review/disagreements", headers=keys["bruno"]).json()
    assert nothing == {"items": []}, "nobody is told of a label before the own one"
    decide = {"answer_id": ID, "scores": {EXACT: 6}}
    early = client.post("/v1/review/disagreements", json=decide, headers=keys["chloe"])
    assert early.status_code == 422 and "waits for 1 more label" in early.text
    assert labelled(client, keys["bruno"], 9)["blind"] is True
    progress = client.get("/v1/review/progress", headers=keys["anne"]).json()
    assert (progress["compared"], progress["agree"], progress["disagree"], progress["adjudicated"]) == (1, 0, 1, 0)
    assert progress["raters"] == {"Claire": 1, "anne": 1, "bruno": 1}, "Claire labelled another answer"
    (answer,) = client.get("/v1/review/disagreements", headers=keys["chloe"]).json()["items"]
    assert (answer["answer_id"], list(answer["criteria"])) == (ID, [EXACT])
    assert [(one["rater"], one["score"], one["correction"]) for one in answer["criteria"][EXACT]] == [
        ("anne", 2.0, "Two months."),
        ("bruno", 9.0, ""),
    ]
    assert labelled(client, keys["chloe"], 6)["blind"] is False, "the others' labels were read before"
    assert client.post("/v1/labels/undo", json={}, headers=keys["chloe"]).json()["scores"] == {EXACT: 6.0}
    reply = client.post("/v1/review/disagreements", json=decide, headers=keys["chloe"])
    assert (reply.status_code, reply.json()["blind"]) == (201, True)
    late = client.post("/v1/review/disagreements", json=decide, headers=keys["david"])
    assert (late.status_code, late.json()["error"]["code"]) == (409, "adjudicated")
    kept = client.post("/v1/labels/undo", json={}, headers=keys["bruno"])
    assert kept.status_code == 409 and "chloe has decided" in kept.text
    assert client.get("/v1/review/progress", headers=keys["anne"]).json()["adjudicated"] == 1
    undone = client.post("/v1/labels/undo", json={}, headers=keys["chloe"]).json()
    assert (undone["adjudication"], undone["scores"]) == (True, {EXACT: 6.0})
    again = client.post("/v1/labels/undo", json={}, headers=keys["chloe"])
    assert again.status_code == 422 and "undone already" in again.text
    assert client.get("/v1/review/progress", headers=keys["anne"]).json()["disagree"] == 1
    assert len(Labels(context.ledger).of(ID)) == 4, "the trail keeps all"
    page = text_of(client.get(f"/monitor/answers/{ID}", headers=keys["david"] | {"accept-language": "en"}).text)
    assert "adjudication undone" in page and "What the answer should have said: Two months." in page


def test_a_decision_by_someone_who_saw_the_judges_scores_is_not_blind(
    client: TestClient, keys: dict[str, dict[str, str]]
) -> None:
    labelled(client, keys["anne"], 2)
    labelled(client, keys["bruno"], 9)
    client.get(f"/v1/evaluations/{ID}", headers=keys["david"])
    reply = client.post("/v1/review/disagreements", json={"answer_id": ID, "scores": {EXACT: 6}}, headers=keys["david"]).json()
    assert reply["blind"] is False and "does not measure the judges" in reply["remark"]


def test_only_an_admin_decides_or_undoes_in_another_name(client: TestClient, keys: dict[str, dict[str, str]]) -> None:
    labelled(client, keys["anne"], 2)
    for path, body in (
        ("/v1/labels/undo", {"rater": "anne"}),
        ("/v1/review/disagreements", {"answer_id": ID, "scores": {EXACT: 6}, "rater": "anne"}),
    ):
        assert client.post(path, json=body, headers=keys["bruno"]).status_code == 403


def give(context: ServerContext, name: str, score: str) -> TestClient:
    """Label the answer on its page under a name; the browser with which this was done."""
    browser = local_client(context)
    status, place = send(browser, ID, {FIELD: score, "rater": name, "then": "see"})
    assert (status, place) == (303, f"/review/{quote(ID)}")
    return browser


@pytest.mark.parametrize("lang", ["en", "fr"])
def test_the_page_hides_others_and_judges_until_all_have_labelled_and_it_is_decided(context: ServerContext, lang: str) -> None:
    said = {"accept-language": lang}
    anne = give(context, "Anne", "2")
    shown = text_of(anne.get(f"/review/{ID}", headers=said).text)
    assert JUDGES not in shown and ("all raters have labelled" if lang == "en" else "tous les évaluateurs ont noté") in shown
    third = local_client(context)
    assert "Anne" not in text_of(third.get(f"/review/{ID}?adjudicate=1", headers=said).text), "a label is still to come"
    bruno = give(context, "Bruno", "9")
    shown = text_of(bruno.get(f"/review/{ID}", headers=said).text)
    assert JUDGES not in shown and "Anne" in shown and ("Raters disagree" if lang == "en" else "en désaccord") in shown
    assert JUDGES not in text_of(anne.get(f"/review/{ID}", headers=said).text)
    blind = text_of(third.get(f"/review/{ID}", headers=said).text)
    assert "Bruno" not in blind and "Anne" not in blind
    queue = text_of(third.get("/review", headers=said).text)
    assert re.search(r"Done: \d+ of \d+ · 1 disagreement" if lang == "en" else r"Terminées : \d+ sur \d+ · 1 désaccord", queue)
    listed = third.get("/disagreements", headers=said).text
    assert ("Anne: 2, Bruno: 9" if lang == "en" else "Anne : 2, Bruno : 9") in text_of(
        listed
    ) and f"/review/{quote(ID)}?adjudicate=1" in listed
    assert JUDGES not in text_of(third.get(f"/review/{ID}?adjudicate=1", headers=said).text)
    fields = {FIELD: "6", "rater": "Chloé", "note": "As Bruno says.", "then": "adjudicate"}
    assert send(third, ID, fields, to=f"/review/{ID}?adjudicate=1") == (303, "/disagreements")
    shown = text_of(anne.get(f"/review/{ID}", headers=said).text)
    assert JUDGES in shown and "Chloé" in shown and "As Bruno says." in shown
    (decision,) = Labels(context.ledger).deciding([ID]).values()
    assert (decision.rater, decision.score, decision.blind, decision.origin) == ("Chloé", 6.0, True, "web")
    status, page = send(anne, ID, {FIELD: "5", "rater": "Anne", "then": "adjudicate"}, to=f"/review/{ID}?edit=1")
    assert status == 409 and "Another person has adjudicated" in page


def test_the_last_label_is_undone_on_the_page(context: ServerContext) -> None:
    anne = give(context, "Anne", "2")
    page = anne.get("/review").text
    assert 'action="/labels/undo"' in page
    token = re.search(r'name="csrf" value="([^"]+)"', page)
    assert token
    form, origin = {"csrf": token[1]}, {"origin": "http://127.0.0.1:8600"}
    undone = anne.post("/labels/undo", data=form, headers=origin, follow_redirects=False)
    assert (undone.status_code, undone.headers["location"]) == (303, f"/review/{quote(ID)}")
    assert Labels(context.ledger).current_of([ID]) == {}
    assert 'action="/labels/undo"' not in anne.get("/review").text
    refused = anne.post("/labels/undo", data=form, headers=origin | {"accept": "text/html"}, follow_redirects=False)
    assert refused.status_code == 409 and "Nothing was undone" in refused.text
    assert anne.post("/labels/undo", data={"csrf": "x"}, headers=origin).status_code == 403


def test_a_corrected_answer_is_kept_beside_the_label_and_shown_again(context: ServerContext) -> None:
    browser = local_client(context)
    ReviewQueue(context.ledger).add([ReviewItem(answer_id="answer-06-00", why="sample", created_at=NOW)])
    fields = {FIELD: "4", "rater": "Anne", "correction": "  Deux mois.\r\nPas trois. ", "then": "see"}
    assert send(browser, "answer-06-00", fields)[0] == 303
    (label,) = Labels(context.ledger).of("answer-06-00")
    assert label.correction == "Deux mois.\nPas trois."
    assert "Deux mois." in text_of(browser.get("/review/answer-06-00").text)
    assert "Pas trois.</textarea>" in browser.get("/review/answer-06-00?edit=1").text


def test_what_a_rater_says_counts_from_a_decision_on(context: ServerContext, client: TestClient) -> None:
    at = {"origin": "web", "created_at": NOW}
    Labels(context.ledger).add([Label(answer_id=ID, rater="Anne", criterion=EXACT, score=2, **at)])  # type: ignore[arg-type]
    Labels(context.ledger).add([Label(answer_id=ID, rater="Bruno", criterion=EXACT, score=9, **at)])  # type: ignore[arg-type]
    decided = client.post("/v1/review/disagreements", json={"answer_id": ID, "scores": {EXACT: 3}, "rater": "Chloé"})
    assert decided.status_code == 201 and decided.json()["blind"], decided.text
    found = client.get("/v1/agreement?sample_only=false").json()["agreement"]
    assert next(one["people"] for one in found["worst"] if one["item"] == ID) == 3.0
    raters = next(one["raters"] for one in found["criteria"] if one["criterion"] == EXACT)
    assert raters["items"] == 1 and [(pair["first"], pair["second"]) for pair in raters["pairs"]] == [("Anne", "Bruno")]


def test_three_people_label_decide_and_undo_in_browsers(context: ServerContext) -> None:
    if not CHROMIUM.exists() and "chromium" not in os.environ.get("AREOPAGE_REQUIRE", "").split(","):
        pytest.skip("there is no /usr/bin/chromium to decide with")
    from playwright.sync_api import sync_playwright

    complaints: list[str] = []
    with live(context) as site, sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=str(CHROMIUM), args=INERT_FLAGS)
        address = f"http://127.0.0.1:{site.port}"
        pages = {
            name: browser.new_context(locale="fr-FR", viewport={"width": 390, "height": 800}).new_page()
            for name in ("Anne", "Bruno", "Chloé")
        }
        for page in pages.values():
            page.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
            page.on("pageerror", lambda fault: complaints.append(str(fault)))
        for name, score in (("Anne", "2"), ("Bruno", "9")):
            page = pages[name]
            page.goto(f"{address}/review/{ID}")
            page.fill("#rater", name)
            page.check(f"input[name='{FIELD}'][value='{score}']", force=True)
            page.click("details:has(textarea[name=correction]) summary")
            page.fill("textarea[name=correction]", f"Dix jours, dit {name}.")
            page.click("button[value=see]")
            page.wait_for_selector(".undo")
            assert JUDGES not in page.inner_text("main")
        chloe = pages["Chloé"]
        chloe.goto(f"{address}/review")
        chloe.click("text=1 désaccord")
        chloe.click("main table a")
        chloe.wait_for_selector("#adjudicate")
        assert "Dix jours, dit Anne." in chloe.inner_text("main") and JUDGES not in chloe.inner_text("main")
        assert chloe.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
        chloe.fill("#rater", "Chloé")
        chloe.fill(f"input[name='{FIELD}']", "6")
        chloe.click("button[value=adjudicate]")
        chloe.wait_for_url(f"{address}/disagreements")
        assert "Aucun désaccord" in chloe.inner_text("main")
        anne = pages["Anne"]
        anne.goto(f"{address}/review/{ID}")
        assert JUDGES in anne.inner_text("main") and "(Chloé)" in anne.inner_text("main")
        assert anne.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
        chloe.goto(f"{address}/review")
        chloe.click("text=Annuler mon dernier arbitrage")
        chloe.wait_for_selector("#adjudicate")
        assert "en désaccord" in chloe.inner_text("main")
        browser.close()
    assert complaints == []
    labels = Labels(context.ledger)
    assert labels.deciding([ID]) == {} and len(labels.of(ID)) == 3
