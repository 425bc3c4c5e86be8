"""The pages in a real browser: nothing from outside runs, the policy is never offended, and everything works by keyboard,
on a phone, and without JavaScript."""

import os
import shutil
import socket
import threading
import time
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import uvicorn

from areopage.ledger.store import Ledger
from areopage.ledger.write.evaluations import Evaluations
from areopage.server.app import create_app
from areopage.server.context import ServerContext

from .samples import SAMPLES, Sample
from .seeded import NOW, WEAK_ID, context_for, judged, run_of, seed

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

CHROMIUM = Path("/usr/bin/chromium")
FLAGS = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-component-update"]
FLAGS.append("--js-flags=--no-opt")  # a script that runs once takes less time than its optimization
ATTACK = (
    """</script><script>window.pwned=1</script><img src=x onerror="window.pwned=1"><svg onload="window.pwned=1">'"{{7919*7927}}"""
)
PATHS = (
    "/monitor?period=7",
    "/monitor/answers",
    f"/monitor/answers/{WEAK_ID}",
    "/monitor/alerts",
    "/monitor/queue",
    "/monitor/golden",
    "/trust",
)


class Site:
    """A server of the pages on a free port, and what it shares."""

    def __init__(self, context: ServerContext) -> None:
        self.context = context
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.address = f"http://127.0.0.1:{self._socket.getsockname()[1]}"
        config = uvicorn.Config(create_app(context), log_level="warning", ws="none", lifespan="on")
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._server.run, args=([self._socket],))

    def __enter__(self) -> "Site":
        self._thread.start()
        while not self._server.started:
            time.sleep(0.01)
        return self

    def __exit__(self, *_: object) -> None:
        self._server.should_exit = True
        self._thread.join()
        self._socket.close()
        self.context.ledger.close()


@pytest.fixture(scope="module")
def full(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A full ledger, for each test to copy."""
    place = tmp_path_factory.mktemp("full") / "ledger.db"
    ledger = Ledger.open(place)
    seed(ledger)
    ledger.close()
    return place


@pytest.fixture
def site(tmp_path: Path, full: Path) -> Iterator[Site]:
    shutil.copy(full, tmp_path)
    with Site(context_for(tmp_path)) as running:
        yield running


@pytest.fixture(scope="module")
def browser() -> Iterator["Browser"]:
    if not CHROMIUM.exists() and "chromium" not in os.environ.get("AREOPAGE_REQUIRE", "").split(","):
        pytest.skip("there is no /usr/bin/chromium to open the pages with")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        running = driver.chromium.launch(executable_path=str(CHROMIUM), args=FLAGS)
        yield running
        running.close()


def complaints(page: "Page") -> list[str]:
    """What the browser complains of, as it comes: offences against the policy, faults of scripts."""
    heard: list[str] = []
    page.on("console", lambda message: heard.append(message.text) if message.type in ("error", "warning") else None)
    page.on("pageerror", lambda fault: heard.append(str(fault)))
    return heard


def test_nothing_that_comes_from_outside_runs(tmp_path: Path, browser: "Browser") -> None:
    context = context_for(tmp_path)
    context.ledger.create_run(run_of(NOW, unfit=ATTACK), [])
    hostile = Sample(ATTACK, ATTACK, ATTACK, (1.0, 1.0, 1.0, 1.0), ATTACK, ATTACK)
    judged(
        context.ledger,
        ATTACK[:100],
        NOW - timedelta(minutes=5),
        hostile,
        source=ATTACK,
        raw=ATTACK,
    )
    Evaluations(context.ledger).give_up(ATTACK[:100], ATTACK)
    with Site(context) as site:
        page = browser.new_page()
        heard = complaints(page)
        page.on("dialog", lambda dialog: heard.append(dialog.message))
        for path in ("/monitor", "/monitor/answers", "/monitor/queue", "/monitor/alerts"):
            page.goto(site.address + path)
            assert page.evaluate("window.pwned") is None
            assert page.locator("[onload], [onerror]").count() == 0
            assert page.locator("script").count() == 2
        page.goto(f"{site.address}/monitor/answers")
        page.locator("#rows a").first.click()
        assert "<img src=x" in page.locator("h1").inner_text()
        page.evaluate("document.querySelectorAll('details').forEach(part => { part.open = true; })")
        assert page.locator("pre.raw").first.inner_text() == ATTACK
        assert page.evaluate("window.pwned") is None
        assert "62773913" not in page.locator("main").inner_text().replace(ATTACK, "")
        assert heard == []
        page.close()


def test_no_page_offends_the_policy_or_is_wider_than_a_phone(site: Site, browser: "Browser") -> None:
    page = browser.new_page(viewport={"width": 390, "height": 800})
    heard = complaints(page)
    for path in PATHS:
        answer = page.goto(site.address + path)
        assert answer
        assert answer.headers["content-security-policy"]
        assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0, path
        assert page.evaluate("typeof htmx") == "object"
    assert heard == []
    page.close()


def test_older_answers_are_appended_to_the_list(site: Site, browser: "Browser") -> None:
    page = browser.new_page()
    heard = complaints(page)
    page.goto(f"{site.address}/monitor/answers")
    assert page.locator("#rows > tr").count() == 50
    page.locator("#older").click()
    page.locator("#rows > tr").nth(53).wait_for()
    assert page.locator("#rows > tr").count() == 54
    assert page.locator("#older").count() == 0
    assert page.locator("h1").count() == 1
    assert heard == []
    page.close()


def test_the_figures_renew_themselves_only_while_they_are_seen(site: Site, browser: "Browser") -> None:
    page = browser.new_page()
    heard = complaints(page)
    polls: list[str] = []
    page.on("request", lambda request: polls.append(request.url) if "/monitor/figures" in request.url else None)
    page.goto(f"{site.address}/monitor")
    page.locator("#trend-figures summary").click()
    judged(site.context.ledger, "new", NOW - timedelta(minutes=1), SAMPLES[0])
    page.evaluate("Object.defineProperty(document, 'hidden', {value: true, configurable: true})")
    page.evaluate("htmx.trigger('#figures', 'seen')")
    assert polls == []
    page.evaluate("Object.defineProperty(document, 'hidden', {value: false, configurable: true})")
    page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    page.get_by_role("status").get_by_text("7 answers judged").wait_for()
    assert page.locator("#trend-figures").get_attribute("open") is not None, "what the reader opened stays open"
    with page.expect_response(lambda response: "/monitor/figures" in response.url) as unchanged:
        page.evaluate("htmx.trigger('#figures', 'seen')")
    assert unchanged.value.status == 204
    assert "every 10s" in (page.locator("#figures").get_attribute("hx-trigger") or "")
    assert heard == []
    page.close()


def test_the_page_says_when_it_was_updated_and_when_the_server_does_not_answer(site: Site, browser: "Browser") -> None:
    page = browser.new_page()
    page.goto(f"{site.address}/monitor?lang=en")
    shown, stale = page.locator("#updated"), page.get_by_role("alert").filter(has_text="No connection to the server")
    before = shown.inner_text()
    assert before == f"{NOW:%H:%M:%S}"
    for failing in (lambda route: route.abort(), lambda route: route.fulfill(status=503)):
        page.route("**/monitor/figures*", failing)
        page.evaluate("htmx.trigger('#figures', 'seen')")
        stale.wait_for()
        assert shown.inner_text() == before
        page.unroute("**/monitor/figures*")
        page.evaluate("htmx.trigger('#figures', 'seen')")
        stale.wait_for(state="hidden")
        before = shown.inner_text()
        assert before != f"{NOW:%H:%M:%S}", "the time of the server's answer"
    page.close()


@pytest.mark.parametrize(("width", "height"), [(1366, 768), (1280, 640)])
def test_the_buttons_that_save_a_label_are_seen_at_once(site: Site, browser: "Browser", width: int, height: int) -> None:
    page = browser.new_page(viewport={"width": width, "height": height}, locale="fr-FR")
    page.goto(f"{site.address}/review/{WEAK_ID}")
    for name in ("Enregistrer et continuer", "Enregistrer et comparer"):
        box = page.get_by_role("button", name=name).bounding_box()
        assert box and box["y"] + box["height"] <= height
    page.close()


def test_everything_works_without_javascript(site: Site, browser: "Browser") -> None:
    page = browser.new_context(java_script_enabled=False).new_page()
    page.goto(f"{site.address}/monitor")
    page.get_by_role("link", name="7 days").click()
    assert "42 answers judged" in page.locator("#told").inner_text()
    page.get_by_label("Variant", exact=True).select_option("A")
    page.get_by_role("button", name="Apply").click()
    assert "42 answers judged" not in page.locator("#told").inner_text()
    page.get_by_role("link", name="Answers", exact=True).click()
    page.get_by_label("Words in the question or the answer").fill("rétractation")
    page.get_by_label("Grade", exact=True).select_option("weak")
    page.get_by_role("button", name="Apply").click()
    assert 0 < page.locator("#rows > tr").count() < 50
    page.goto(f"{site.address}/monitor/answers")
    page.locator("#older").click()
    assert page.locator("#rows > tr").count() == 4
    page.get_by_role("link", name="Queue").click()
    page.get_by_role("button", name="Retry").click()
    assert "No failed evaluations" in page.locator("main").inner_text()
    page.get_by_role("link", name="En français").click()
    assert page.locator("h1").inner_text() == "File d’attente"
    page.context.close()


def test_the_keyboard_reaches_the_content_first_and_sees_where_it_is(site: Site, browser: "Browser") -> None:
    page = browser.new_page()
    page.goto(f"{site.address}/monitor/answers")
    focused = "document.activeElement.id || document.activeElement.innerText"
    page.keyboard.press("Tab")
    assert page.evaluate(focused) == "Skip to the content"
    assert page.evaluate("document.activeElement.getBoundingClientRect().top") >= 0
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"
    page.goto(f"{site.address}/monitor/answers")
    reached = []
    for _ in range(20):
        page.keyboard.press("Tab")
        reached.append(page.evaluate(focused))
        assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") != "none", reached[-1]
    order = [
        reached.index(name) for name in ("Skip to the content", "Areopage", "Overview", "Agreement", "EN", "All", "q", "grade")
    ]
    assert order == sorted(order)
    page.close()


def test_an_id_with_an_escaped_sign_is_found(site: Site, browser: "Browser") -> None:
    judged(site.context.ledger, "100%25 /..", NOW, SAMPLES[3])
    page = browser.new_page()
    page.goto(f"{site.address}/monitor/answers?period=today")
    page.locator("#rows a").first.click()
    assert page.locator("dd code").first.inner_text() == "100%25 /.."
    page.get_by_role("link", name="En français").click()
    assert page.locator("dd code").first.inner_text() == "100%25 /.."
    page.close()
