"""The pages around the gate: asking, watching what leaves, deciding on what was held back; with and without scripts."""

import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from msgspec import structs
from starlette.testclient import TestClient

from areopage.app.gate_rules import load_gate
from areopage.cases.records import Document
from areopage.errors import CallTimedOut
from areopage.ledger.people.access import ApiKeys, Audit
from areopage.ledger.people.labels import Labels
from areopage.ledger.tables.trace_records import Release
from areopage.ledger.write.traces import Traces
from areopage.rag.records import ChatPrompt
from areopage.server.context import ServerContext

from .fake_rag import COLLECTION, DOCUMENTS, FALLBACK, GROUNDED, HELD, LEAVE, MADE_UP, OTHER, QUESTION, FakeRag, with_rag
from .seeded import NOW, context_for, local_client, run_of, seeded_context
from .test_pages_browser import ATTACK, Site, browser, complaints

if TYPE_CHECKING:
    from playwright.sync_api import Browser

__all__ = ["browser"]
ORIGIN = {"origin": "http://127.0.0.1:8600"}
MOMENT = r"\d{1,2} \w+ \d{4}, \d\d:\d\d"
WRONG = f"{GROUNDED} {MADE_UP}"
AMENDMENT = Document(
    id="avenant-36",
    title="Avenant n° 36",
    text="Le Conseil, dont le siège est à Paris,\nreprésentée par M. Jean-Jacques BAUDUIN,\nd'une part. "
    "La prime est de 250 € par mois.",
    score=0.9,
)


@pytest.fixture
def answering(tmp_path: Path) -> Iterator[tuple[ServerContext, FakeRag]]:
    made = context_for(tmp_path)
    yield with_rag(made)
    made.ledger.close()


@pytest.fixture
def context(answering: tuple[ServerContext, FakeRag]) -> ServerContext:
    return answering[0]


@pytest.fixture
def rag(answering: tuple[ServerContext, FakeRag]) -> FakeRag:
    return answering[1]


def text_of(html: str) -> str:
    """What a reader reads in the page's body, on one line."""
    body = unescape(re.sub(r"<[^>]+>", " ", html.partition("<main")[2]))
    return " ".join(body.replace("\u202f", " ").replace("\xa0", " ").split())


def marked(page: str) -> list[tuple[str, str]]:
    """What is lit in documents, each with the number of its sentence."""
    return [(unescape(text), number) for text, number in re.findall(r"<mark>([^<]*)</mark><sup>(\d+)</sup>", page)]


def send(client: TestClient, path: str, fields: dict[str, str | list[str]], *, form: str = "") -> tuple[int, str]:
    """Fill a form in and send it; returns the status and where it leads, or the page."""
    token = re.search(r'name="csrf" value="([^"]+)"', client.get(form or path).text)
    assert token
    sent = client.post(path, data={"csrf": token[1], **fields}, headers=ORIGIN, follow_redirects=False)
    return sent.status_code, sent.headers.get("location", sent.text)


def asked(rag: FakeRag, response: str, question: str = QUESTION, collection: str = COLLECTION) -> str:
    rag.response = response
    return rag.answered(ChatPrompt(prompt=question, collection=collection)).id


def sign_in(client: TestClient, context: ServerContext, role: str, *collections: str) -> None:
    key = ApiKeys(context.ledger).create(role, role, collections)[1]  # type: ignore[arg-type]
    assert send(client, "/login", {"key": key, "next": "/gate"})[0] == 303


def test_an_answer_is_shown_with_what_it_rests_on(client: TestClient) -> None:
    status, page = send(client, "/chat", {"question": QUESTION, "sources": "reglement, notes", "fresh": "1"})
    assert status == 200
    assert GROUNDED.replace("conges-1", "1") in text_of(page)
    assert "Congés payés" in text_of(page)


def test_who_may_only_ask_is_led_to_the_chat_and_to_nothing_that_he_may_not_open(
    client: TestClient, context: ServerContext
) -> None:
    sign_in(client, context, "ask")
    assert client.get("/", follow_redirects=False).headers["location"] == "/chat"
    status, page = send(client, "/chat", {"question": QUESTION})
    assert status == 200
    assert set(re.findall(r'href="(/(?!static|chat)[^"?]*)', page)) == {"/login"}
    denied = client.get("/monitor", headers={"accept": "text/html"})
    assert (denied.status_code, "Access denied" in denied.text) == (403, True)
    assert 'href="/chat"' in denied.text
    assert set(re.findall(r'href="(/(?!static|chat)[^"?]*)"', denied.text)) == {"/login", "/"}


@pytest.mark.parametrize(("response", "text"), [("", FALLBACK), (WRONG, HELD)])
def test_instead_of_a_text_that_may_not_leave_its_substitute_is_shown(
    client: TestClient, rag: FakeRag, response: str, text: str
) -> None:
    rag.response = response
    status, page = send(client, "/chat", {"question": QUESTION})
    assert status == 200
    assert text in text_of(page)
    assert "1 350" not in text_of(page)
    assert ("/chat/held/" in page) == (text == HELD)
    assert ("Word comparison" in page) == (text == HELD)


def test_what_goes_wrong_is_said_in_the_readers_language_and_the_question_stays(client: TestClient, rag: FakeRag) -> None:
    client.get("/chat?lang=fr")
    rag.fault = CallTimedOut("http://10.0.0.7")
    status, page = send(client, "/chat", {"question": QUESTION})
    assert status == 504
    assert "Le modèle n’a pas répondu à temps" in page
    assert QUESTION in page
    rag.fault = None
    for fields, said in (({"question": " "}, "Saisissez une question."), ({"question": "x" * 20_001}, "20000 caractères")):
        status, page = send(client, "/chat", fields)  # type: ignore[arg-type]
        assert (status, said in text_of(page)) == (422, True)
    status, page = send(client, "/chat", {"question": QUESTION, "collection": "nope"})
    assert (status, "Cette collection n’existe pas." in page) == (404, True)


def test_asking_by_a_form_needs_its_token(client: TestClient) -> None:
    assert client.post("/chat", data={"question": QUESTION}, headers=ORIGIN).status_code == 403


def test_without_a_pipeline_the_page_says_how_to_get_one(context: ServerContext) -> None:
    client = local_client(structs.replace(context, rag=None))
    page = client.get("/chat").text
    assert "areopage.yml" in text_of(page)
    assert 'href="/chat"' not in page
    assert 'href="/gate"' in page


def test_whoever_may_only_read_sees_no_form(client: TestClient, context: ServerContext, rag: FakeRag) -> None:
    held = asked(rag, WRONG)
    sign_in(client, context, "read")
    assert 'name="question"' not in client.get("/chat").text
    assert 'name="grounded"' not in client.get(f"/gate/{held}").text


def test_the_page_of_a_held_back_answer_shows_it_once_it_is_released(
    client: TestClient, context: ServerContext, rag: FakeRag
) -> None:
    held = asked(rag, WRONG)
    page = client.get(f"/chat/held/{held}").text
    assert 'hx-trigger="every 5s' in page
    assert '<noscript><meta http-equiv="refresh"' in page
    assert "1 350" not in text_of(page)
    Traces(context.ledger).settle(Release(answer_id=held, state="released", text="2,5 jours.", rater="Claire", at=NOW))
    page = client.get(f"/chat/held/{held}").text
    assert "2,5 jours." in page
    assert "hx-get" not in page
    assert client.get(f"/chat/held/{'0' * 32}").status_code == 404


def test_the_list_shows_rates_reasons_and_what_the_filters_let_through(client: TestClient, rag: FakeRag) -> None:
    for response in (GROUNDED, WRONG, "", GROUNDED):
        asked(rag, response)
    page = client.get("/gate?lang=fr").text
    shown = text_of(page)
    for said in ("50,0 %", "25,0 %", "intervalle à 95 %", "Un chiffre de la réponse ne figure dans aucun document.", "handbook"):
        assert said in shown, said
    assert page.count("<figure") == 2
    assert len(re.findall(r'href="/gate/[0-9a-f]{32}"', page)) == 4
    for query, found in (
        ("verdict=human_review", 1),
        ("channel=check", 0),
        ("collection=other", 0),
        (f"q={QUESTION}", 4),
        ("q=other", 0),
        ("unlabelled=1&verdict=deliver", 2),
        ("from=2026-01-01&to=2026-01-02", 0),
        ("period=all", 4),
        ("period=nonsense&before=x&verdict=y", 4),
    ):
        assert len(re.findall(r'href="/gate/[0-9a-f]{32}"', client.get(f"/gate?{query}").text)) == found, query


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("period=nonsense", ["Ignored: “nonsense” is not a valid value of “Period”."]),
        ("verdict=y&channel=mail", ["“y” is not a valid value of “Verdict”", "“mail” is not a valid value of “Channel”"]),
        ("days=7&lang=en", ["Ignored: this page has no filter “days”."]),
        ("from=abc", ["“abc” is not a valid value of “From”"]),
        ("period=all&verdict=deliver&channel=&from=&to=&q=&collection=", []),
    ],
)
def test_a_filter_of_the_list_that_is_ignored_is_named(client: TestClient, rag: FakeRag, query: str, said: list[str]) -> None:
    asked(rag, GROUNDED)
    told = text_of(client.get(f"/gate?{query}").text)
    assert [one for one in said if one not in told] == []
    assert told.count("Ignored:") == len(said)


def test_an_empty_ledger_shows_how_to_begin(client: TestClient) -> None:
    assert "/v1/gate/check" in client.get("/gate?period=all").text


def test_a_decision_shows_which_sentence_no_document_supports_and_what_supports_the_others(
    client: TestClient, context: ServerContext, rag: FakeRag
) -> None:
    held = asked(rag, WRONG)
    page = client.get(f"/gate/{held}?lang=fr").text
    assert re.search(r'<span class="sentence supported">Le salarié acquiert', page)
    assert re.search(r'<span class="sentence unsupported by-part">Le salarié touche', page)
    assert marked(page) == [(LEAVE.removeprefix("Le ").partition(", soit")[0], "1")]
    shown = text_of(page)
    for said in (
        "non étayée",
        "Le chiffre « 1 350 € » ne figure dans aucun document",
        "comparaison des mots maximale pour délivrer",
        "0,728",
        "Modèle d’ancrage seul",
        "La comparaison des mots d’une phrase lui est propre. Celle de la réponse (0,9",
    ):
        assert said in shown, said
    assert [entry.action for entry in Audit(context.ledger).list(subject=held)] == ["read"]


def test_each_figure_that_fails_is_marked_and_its_sentence_only_lightly(client: TestClient, rag: FakeRag) -> None:
    rag.documents = (AMENDMENT,)
    held = asked(rag, "La prime est de 350 € par mois depuis le 12 mars 2019, pour M. Jean-Jacques BAUDUIN [avenant-36].")
    page = client.get(f"/gate/{held}?lang=fr").text
    sentence = page.partition('<span class="sentence unsupported by-part">')[2].partition("</span>")[0]
    assert re.findall(r"<strong class=\"fails\">([^<]*)</strong>", sentence) == ["350 €", "12 mars 2019"]
    assert re.sub("<[^>]+>", "", sentence).startswith("La prime est de 350 € par mois depuis le 12 mars 2019, pour M.")


def test_what_a_document_shares_with_a_sentence_is_lit_also_where_a_figure_of_it_fails(client: TestClient, rag: FakeRag) -> None:
    rag.documents = (AMENDMENT,)
    held = asked(rag, "Depuis le 12 mars 2019, l'organisation est représentée par M. Jean-Jacques BAUDUIN [avenant-36].")
    page = client.get(f"/gate/{held}?lang=fr").text
    assert ("représentée par M. Jean-Jacques BAUDUIN", "1") in marked(page)
    assert "Surlignés : les mots" in text_of(page)


def test_another_value_is_not_lit_and_nothing_is_said_to_be_where_nothing_is(client: TestClient, rag: FakeRag) -> None:
    rag.documents = (AMENDMENT,)
    for response in ("La prime est de 350 €.", "Le chat dort sur un coussin violet."):
        page = client.get(f"/gate/{asked(rag, response)}?lang=fr").text
        assert (marked(page), "Surlignés" in text_of(page)) == ([], False)


def test_reasons_that_say_the_same_are_told_once_with_their_sentences(client: TestClient, rag: FakeRag) -> None:
    bonus = "Une prime de 1 350 € est due, et la prime de 1 350 € est versée en mai. La prime de 1 350 € est annuelle."
    held = asked(rag, f"{GROUNDED} {bonus}")
    page = client.get(f"/gate/{held}?lang=fr").text
    assert text_of(page).count("Le chiffre « 1 350 € » ne figure dans aucun document") == 1
    reason = re.search(r'<li id="(reason-\d+)">(?:(?!</li>).)*Le chiffre(?:(?!</li>).)*</li>', page, re.DOTALL)
    assert reason
    assert re.findall(r'href="#sentence-(\d+)"', reason[0]) == ["2", "3"]
    assert "Phrases 2 , 3 · 3 fois" in text_of(f"<main>{reason[0]}")
    for number in (2, 3):
        sentence = page.partition(f'id="sentence-{number}"')[2].partition("</li>")[0]
        assert f'href="#{reason[1]}"' in sentence


def test_a_sentence_that_a_rule_decided_against_shows_no_low_value_beside(client: TestClient, rag: FakeRag) -> None:
    held = asked(rag, GROUNDED.replace("2,5", "999"))
    page = client.get(f"/gate/{held}?lang=fr").text
    sentence = text_of("<main>" + page.partition('<li class="unsupported"')[2].partition(">")[2].partition("</li>")[0])
    assert "non étayée" in sentence
    assert "999" in sentence
    assert "comparaison des mots 0,9" in sentence


def test_a_decision_of_other_rules_says_so(client: TestClient, context: ServerContext, rag: FakeRag) -> None:
    held = asked(rag, WRONG)
    page = local_client(structs.replace(context, gate=load_gate("v1_1"))).get(f"/gate/{held}").text
    assert "other rules than the current ones" in text_of(page)


def test_a_reviewer_releases_an_edited_answer_and_nobody_changes_it_after_him(
    client: TestClient, context: ServerContext, rag: FakeRag
) -> None:
    held = asked(rag, WRONG)
    path = f"/gate/{held}"
    fields: dict[str, str | list[str]] = {"grounded": "partly", "sentence": ["1"], "note": "Pas de prime.", "rater": "Claire"}
    status, where = send(client, path, fields | {"text": "2,5 jours\r\npar mois.", "then": "release"})
    assert (status, where) == (303, path)
    release = Traces(context.ledger).release(held)
    assert release
    assert (release.state, release.text, release.rater) == ("released", "2,5 jours\npar mois.", "Claire")
    (label,) = Labels(context.ledger).grounding([held])[held]
    assert (label.rater, label.grounded, label.sentences, label.origin) == ("Claire", "partly", (1,), "web")
    page = client.get(path).text
    assert 'name="text"' not in page
    assert "unsupported: sentence 2" in text_of(page)
    told = text_of(page)
    assert re.search(rf"Text sent to the user released on {MOMENT} 2,5 jours par mois\.", told)
    assert re.search(rf"Notice sent first {MOMENT} {re.escape(HELD)}", told)
    status, page = send(client, path, fields | {"then": "refuse"})
    assert (status, "Another reviewer has already decided" in page) == (409, True)
    assert held not in client.get("/review").text


@pytest.mark.parametrize(
    ("opinion", "text"),
    [
        ({"grounded": "partly", "sentence": ["1"]}, GROUNDED),
        ({"grounded": "partly"}, ""),
        ({"grounded": "no", "sentence": ["1"]}, ""),
        ({"grounded": "yes"}, WRONG),
    ],
)
def test_what_a_reviewer_has_called_unsupported_is_not_offered_for_release(
    client: TestClient, rag: FakeRag, opinion: dict[str, str | list[str]], text: str
) -> None:
    path = f"/review/{asked(rag, WRONG)}"
    send(client, path, opinion | {"rater": "Claire", "then": "see"})
    page = client.get(path).text
    (offered,) = re.findall(r'<textarea id="text"[^>]*>\n(.*?)</textarea>', page, re.DOTALL)
    assert unescape(offered) == text
    (primary,) = re.findall(r'class="primary" name="then" value="(\w+)"', page)
    assert primary == ("release" if text else "refuse")


@pytest.mark.parametrize("grounded", ["partly", "no"])
def test_an_answer_that_its_reviewer_calls_unsupported_is_not_released_as_it_is(
    client: TestClient, context: ServerContext, rag: FakeRag, grounded: str
) -> None:
    held = asked(rag, WRONG)
    fields: dict[str, str | list[str]] = {"grounded": grounded, "rater": "Claire", "text": WRONG, "then": "release"}
    status, page = send(client, f"/gate/{held}", fields)
    assert (status, "correct it before you release it" in page) == (422, True)
    release = Traces(context.ledger).release(held)
    assert release and release.state == "waiting"
    assert send(client, f"/gate/{held}", fields | {"grounded": "yes"})[0] == 303


def test_a_reviewer_refuses_or_only_labels(client: TestClient, context: ServerContext, rag: FakeRag) -> None:
    first, second = asked(rag, WRONG), asked(rag, f"{WRONG} {GROUNDED}")
    assert send(client, f"/gate/{first}", {"grounded": "no", "rater": "Claire", "then": "refuse"})[0] == 303
    assert send(client, f"/gate/{second}", {"grounded": "yes", "rater": "Claire", "then": "label"})[0] == 303
    states = [Traces(context.ledger).release(id) for id in (first, second)]
    assert [one.state for one in states if one] == ["refused", "waiting"]
    for id in (first, second):
        told = text_of(client.get(f"/gate/{id}").text)
        assert f"Text sent to the user review notice {HELD}" in told
        assert "Notice sent first" not in told


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"rater": "Claire"}, "Indicate whether the documents support the answer."),
        ({"grounded": "no", "rater": " "}, "Give your name."),
        ({"grounded": "no", "rater": "Claire", "then": "release", "text": " "}, "The text to release is empty."),
        ({"grounded": "yes", "rater": "Claire", "sentence": "1"}, "choose “Partly” or “No”"),
        ({"grounded": "no", "rater": "Claire", "sentence": "99"}, "could not be stored"),
    ],
)
def test_a_wrong_verdict_changes_nothing_and_keeps_what_was_typed(
    client: TestClient, context: ServerContext, rag: FakeRag, fields: dict[str, str | list[str]], said: str
) -> None:
    held = asked(rag, WRONG)
    status, page = send(client, f"/gate/{held}", {"note": "typed with care", **fields})
    assert (status, said in page) == (422, True)
    assert "typed with care" in page
    assert not Labels(context.ledger).grounding([held]).get(held)


def test_an_erased_answer_has_a_page_without_texts(client: TestClient, context: ServerContext, rag: FakeRag) -> None:
    held = asked(rag, WRONG)
    context.ledger.erasure.erase([held])
    page = client.get(f"/gate/{held}")
    assert (page.status_code, "texts erased" in page.text, 'name="grounded"' in page.text) == (200, True, False)
    assert MADE_UP not in page.text
    assert send(client, f"/gate/{held}", {"grounded": "no", "rater": "Claire"}, form="/chat")[0] == 404
    assert f'href="/gate/{held}"' not in client.get("/gate").text
    assert client.get("/gate").status_code == 200


def test_a_scoped_reader_sees_his_collections_alone(client: TestClient, context: ServerContext, rag: FakeRag) -> None:
    own, other = asked(rag, WRONG), asked(rag, WRONG, collection=OTHER)
    sign_in(client, context, "write", COLLECTION)
    for path in ("/gate", f"/gate?collection={OTHER}", "/review"):
        page = client.get(path).text
        assert own in page, path
        assert other not in page, path
    for path in (f"/gate/{other}", f"/chat/held/{other}"):
        assert client.get(path).status_code == 404
    assert send(client, f"/gate/{other}", {"grounded": "no", "then": "refuse"}, form=f"/gate/{own}")[0] == 404
    assert send(client, "/chat", {"question": QUESTION, "collection": OTHER})[0] == 403


def test_pages_of_the_gate_hold_in_a_browser(tmp_path: Path, browser: "Browser") -> None:
    context, rag = with_rag(context_for(tmp_path))
    rag.documents = (
        Document(id=ATTACK, title=ATTACK, text=f"{ATTACK} {DOCUMENTS[0].text} {ATTACK}", score=0.9, source=ATTACK),
        *DOCUMENTS,
    )
    hostile = asked(rag, f"{GROUNDED} {ATTACK} {MADE_UP}", question=f"{ATTACK} {QUESTION}")
    rag.documents = DOCUMENTS
    with Site(context) as site:
        page = browser.new_page(viewport={"width": 390, "height": 800})
        heard = complaints(page)
        page.on("dialog", lambda dialog: heard.append(dialog.message))
        for path in ("/gate", f"/gate/{hostile}", f"/chat/held/{hostile}", "/review", "/chat"):
            page.goto(f"{site.address}{path}?lang=fr")  # the longer words
            assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0, path
            assert page.evaluate("window.pwned") is None
            assert page.locator("[onload], [onerror], [style]").count() == 0
        page.goto(f"{site.address}/gate/{hostile}")
        assert page.locator("mark").count() >= 1
        # asking with scripts: the answer comes in below the form, which stays
        page.goto(f"{site.address}/chat?lang=en")
        rag.response = WRONG
        page.get_by_label("Your question").fill(QUESTION)
        for count in (1, 2):
            page.get_by_role("button", name="Ask").click()
            page.locator(".found").nth(count - 1).wait_for()
        page.get_by_role("link", name="Follow this answer").first.click()
        held = page.url.rpartition("/")[2]
        assert page.get_by_role("heading", name="Waiting for human review").count() == 1
        Traces(context.ledger).settle(Release(answer_id=held, state="released", text=ATTACK, rater="Claire", at=NOW))
        page.evaluate("htmx.trigger('#state', 'seen')")
        page.get_by_role("heading", name="Released").wait_for()
        assert page.locator("#state pre").inner_text() == ATTACK
        assert page.evaluate("window.pwned") is None
        assert heard == []
        page.close()
        works_without_scripts(site, browser, rag)


def works_without_scripts(site: Site, browser: "Browser", rag: FakeRag) -> None:
    """Ask, be held back, be released: by plain forms."""
    page = browser.new_context(java_script_enabled=False, locale="en").new_page()
    page.goto(f"{site.address}/chat")
    rag.response = WRONG
    page.get_by_label("Your question").fill(QUESTION)
    page.get_by_role("button", name="Ask").click()
    held = page.get_by_role("link", name="Follow this answer").get_attribute("href") or ""
    page.goto(f"{site.address}/gate/{held.rpartition('/')[2]}")
    page.get_by_text("Partly", exact=True).click()
    page.get_by_label("2 Le salarié touche").check()
    page.get_by_label("Your name").fill("Claire")
    page.get_by_label("Text to release").fill("2,5 jours.")
    page.get_by_role("button", name="Release this text").click()
    assert "Released by Claire" in page.locator("main").inner_text()
    page.goto(site.address + held)
    assert page.locator("#state pre").inner_text() == "2,5 jours."
    page.context.close()


REVEALING = ("held by the gate", "Held", "risk", "unsupported", "Reasons", "Human labels", "to release", HELD, "<mark", "nearest")


def test_a_held_answer_is_reviewed_blind_and_released_after_the_opinion(
    client: TestClient, context: ServerContext, rag: FakeRag
) -> None:
    held = asked(rag, WRONG)
    path = f"/review/{held}"
    queue = client.get("/review").text
    assert f'href="{path}"' in queue
    assert "answer_quality" not in queue  # the gate's answers are of no suite
    assert "a user waits" in text_of(queue) and "do the documents support it?" in text_of(queue)
    page = client.get(path).text
    assert "Tab moves to the next field, the arrow keys choose, Enter saves." in text_of(page)
    seen = page.partition("<main")[2].replace("Unsupported sentences", "")
    assert [word for word in REVEALING if word in text_of(queue) + seen] == []
    assert "The gate’s decision and other labels are hidden until you have given your opinion." in text_of(page)
    assert DOCUMENTS[1].text in unescape(page)
    assert " checked" not in seen.replace('"text checked"', "")
    fields: dict[str, str | list[str]] = {"grounded": "partly", "sentence": ["1"], "note": "Pas de prime.", "rater": "Claire"}
    assert send(client, path, fields | {"then": "see"}) == (303, path)
    page = client.get(path).text
    assert "does not count" not in page
    assert "1 350 €” is in no document" in text_of(page)
    assert "held by the gate" in client.get("/review").text
    assert send(client, path, fields | {"text": "2,5 jours.", "then": "release"}) == (303, path)
    release = Traces(context.ledger).release(held)
    assert release
    assert (release.state, release.text) == ("released", "2,5 jours.")
    (label,) = Labels(context.ledger).of(held)
    assert (label.grounded, label.sentences, label.blind) == ("partly", (1,), True)


def test_a_label_after_the_decision_was_read_is_not_blind(client: TestClient, context: ServerContext, rag: FakeRag) -> None:
    there, before, other = asked(rag, WRONG), asked(rag, f"{WRONG} {GROUNDED}"), asked(rag, GROUNDED)
    assert "this label does not count for a certified risk" in client.get(f"/gate/{there}").text
    send(client, f"/gate/{there}", {"grounded": "no", "rater": "Claire", "then": "label"})
    client.get(f"/gate/{before}")
    send(client, f"/review/{before}", {"grounded": "no", "rater": "Claire", "then": "see"})
    send(client, f"/review/{other}", {"grounded": "no", "rater": "Claire", "then": "see"})
    client.cookies.delete("areopage_rater")
    send(client, f"/review/{other}", {"grounded": "yes", "rater": "Anne", "then": "see"})
    send(client, f"/review/{other}", {"grounded": "yes", "rater": "Claire", "then": "see"})
    found = [(one.rater, one.grounded, one.blind) for id in (there, before, other) for one in Labels(context.ledger).of(id)]
    assert found == [
        ("Claire", "no", False),
        ("Claire", "no", False),
        ("Claire", "no", True),
        ("Anne", "yes", True),
        ("Claire", "yes", False),
    ]


@pytest.mark.parametrize("address", ["/gate", "/v1/traces"])
def test_who_read_the_list_of_decisions_gives_no_blind_label(
    client: TestClient, context: ServerContext, rag: FakeRag, address: str
) -> None:
    listed = asked(rag, WRONG)
    client.cookies.set("areopage_rater", "Claire")
    assert listed in client.get(address).text
    later = asked(rag, GROUNDED)
    for id in (listed, later):
        send(client, f"/review/{id}", {"grounded": "no", "rater": "Claire", "then": "see"})
    assert [one.blind for id in (listed, later) for one in Labels(context.ledger).of(id)] == [False, True]
    assert "given with the scores in view" in client.get(f"/review/{listed}?lang=en").text


@pytest.mark.parametrize(("lang", "said"), [("fr", "sens non vérifié"), ("en", "meaning not checked")])
def test_a_near_copy_is_shown_as_not_checked_and_without_a_value(client: TestClient, rag: FakeRag, lang: str, said: str) -> None:
    near = asked(rag, GROUNDED.replace("acquiert", "n’acquiert pas"))
    page = client.get(f"/gate/{near}?lang={lang}").text
    assert '<span class="sentence unchecked">' in page
    main = text_of(page)
    assert main.count(said) >= 2
    assert "0,0" not in main.partition("Signa")[0]
    assert said in text_of(client.get(f"/gate?lang={lang}").text)


def test_no_page_of_the_gate_speaks_of_a_risk_or_of_support_by_documents(client: TestClient, rag: FakeRag) -> None:
    delivered = asked(rag, GROUNDED)
    for path in ("/chat", "/gate", f"/gate/{delivered}"):
        english = text_of(client.get(f"{path}?lang=en").text).lower().replace("certified risk", "")
        french = text_of(client.get(f"{path}?lang=fr").text).lower().replace("risque certifié", "")
        assert "risk" not in english
        assert "risque" not in french
        assert "delivers it only if they support it" not in english
        assert "que s’ils l’étayent" not in french


def test_a_client_reads_numbers_and_titles_and_the_api_keeps_the_ids(
    client: TestClient, context: ServerContext, rag: FakeRag
) -> None:
    status, page = send(client, "/chat", {"question": QUESTION})
    shown = text_of(page)
    assert status == 200
    assert f"{GROUNDED.replace('conges-1', '1')} Sources [1] Congés payés" in shown
    assert "conges-1" not in shown
    told = client.post("/v1/chat", json={"question": QUESTION}).json()
    assert (told["answer"], [citation["id"] for citation in told["citations"]]) == (GROUNDED, ["conges-1"])
    stored = context.ledger.traces.get(told["id"])
    assert stored is not None
    assert (stored.response, stored.answer.delivered) == (GROUNDED, GROUNDED)


def test_reasons_on_the_chat_page_name_documents_as_its_sources_do(client: TestClient, rag: FakeRag) -> None:
    rag.response = GROUNDED.replace("conges-1", "conges-2")
    shown = text_of(send(client, "/chat", {"question": QUESTION})[1])
    assert "Sources [1] Dates" in shown
    assert "« [1] » est cité" in shown
    assert "document le plus proche : Congés payés" in shown
    assert "conges-" not in shown


def test_a_released_answer_has_numbers_and_titles_too(client: TestClient, context: ServerContext, rag: FakeRag) -> None:
    held = asked(rag, WRONG)
    Traces(context.ledger).settle(Release(answer_id=held, state="released", text=GROUNDED, rater="Claire", at=NOW))
    assert f"{GROUNDED.replace('conges-1', '1')} Sources [1] Congés payés" in text_of(client.get(f"/chat/held/{held}").text)
    assert client.get(f"/v1/chat/held/{held}").json()["text"] == GROUNDED


def questions_of(page: str) -> list[str]:
    return [unescape(text) for text in re.findall(r'<p class="small soft asked" dir="auto">([^<]*)</p>', page)]


def test_the_questions_of_a_session_stand_one_under_the_other(client: TestClient, context: ServerContext, rag: FakeRag) -> None:
    pages, earlier = [send(client, "/chat", {"question": QUESTION})[1]], ""
    for question in ("Et les dates ?", "Et après ?"):
        earlier = pages[-1].partition('name="earlier" value="')[2].partition('"')[0]
        pages.append(send(client, "/chat", {"question": question, "earlier": earlier})[1])
    assert questions_of(pages[-1]) == ["Et après ?", "Et les dates ?", QUESTION]
    assert [prompt.prompt for prompt in rag.asked] == [QUESTION, "Et les dates ?", "Et après ?"]  # the model gets one at a time
    status, page = send(client, "/chat", {"question": " ", "earlier": earlier})
    assert (status, questions_of(page)) == (422, ["Et les dates ?", QUESTION])


def test_earlier_answers_of_another_key_are_not_shown(client: TestClient, context: ServerContext, rag: FakeRag) -> None:
    other = asked(rag, GROUNDED, question="Une question d’une autre clé ?")
    sign_in(client, context, "ask")
    page = send(client, "/chat", {"question": QUESTION, "earlier": f"{other} unknown {'x' * 500}"})[1]
    assert questions_of(page) == [QUESTION]


def submit(client: TestClient) -> None:
    submitted = {"id": "first", "prompt": "Question?", "response": "Answer.", "documents": []}
    assert client.post("/v1/evaluations", json=submitted).status_code == 202


def menu_of(page: str) -> list[str]:
    return re.findall(r'<li><a href="([^"]+)"', page.partition('class="places"')[2].partition("</nav>")[0])


def test_the_menu_has_what_is_configured_or_stored(client: TestClient, context: ServerContext, rag: FakeRag) -> None:
    assert menu_of(client.get("/chat").text) == ["/gate", "/review", "/chat"]
    assert client.get("/", follow_redirects=False).headers["location"] == "/gate"
    send(client, f"/gate/{asked(rag, WRONG)}", {"grounded": "no", "rater": "Claire", "then": "label"})
    assert menu_of(client.get("/review").text) == ["/gate", "/review", "/agreement", "/chat"]
    submit(client)
    monitor = ["/monitor", "/monitor/answers", "/monitor/alerts", "/monitor/queue", "/monitor/golden"]
    assert menu_of(client.get("/review").text) == [*monitor, "/gate", "/review", "/agreement", "/chat"]


def test_the_menu_of_an_empty_installation_has_all_pages_and_tells_strangers_nothing(
    context: ServerContext, client: TestClient
) -> None:
    empty = local_client(structs.replace(context, rag=None))
    assert len(menu_of(empty.get("/review").text)) == 9
    submit(client)
    assert "/monitor" not in menu_of(client.get("/login").text)


@pytest.mark.parametrize("lang", ["en", "fr"])
def test_the_whole_menu_and_the_languages_stand_on_one_line(tmp_path: Path, browser: "Browser", lang: str) -> None:
    context, _ = with_rag(seeded_context(tmp_path))
    context.ledger.create_run(structs.replace(run_of(NOW), id="bench-1", kind="bench"), [])
    with Site(context) as site:
        page = browser.new_page(viewport={"width": 1280, "height": 800})
        page.goto(f"{site.address}/chat?lang={lang}")
        links = page.locator(".top a")
        assert links.count() == 1 + 10 + 2
        tops = [links.nth(at).bounding_box() for at in range(links.count())]
        middles = [box["y"] + box["height"] / 2 for box in tops if box]
        assert max(middles) - min(middles) < 12, middles
        page.set_viewport_size({"width": 390, "height": 800})
        assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
        page.close()
