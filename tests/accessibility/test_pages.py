"""Every kind of page passes axe-core's rules for WCAG 2.2 A and AA, everything unfolded: in English on a wide screen, in dark
and on a phone, and in French on a wide screen, since colours and widths do not depend on the language.

The rules find what a program can find: contrast, names, labels, roles, structure. Whether a page reads well aloud,
they do not tell.
"""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import quote

import pytest
from axe_playwright_python.sync_playwright import Axe
from filelock import FileLock

from areopage.bench.spec import RunSpec
from areopage.compare.league.page import write_league
from areopage.compare.league.table import league_of
from areopage.compare.league.trend import Trend, trend_groups
from areopage.compare.league.trend_page import write_trend
from areopage.demo.page import tour_page
from areopage.demo.tour import play
from areopage.exams.audit_report import audit_report
from areopage.ledger.people.labels import ReviewQueue
from areopage.ledger.read.queries import TraceFilter
from areopage.ledger.store import Ledger
from areopage.ledger.tables.records import ReviewItem
from areopage.ledger.write.fleet import Fleet, FleetNote
from areopage.rag.records import ChatPrompt
from areopage.report.gate.figures import gate_figures
from areopage.report.gate.page import gate_report
from areopage.report.rendering import write_report
from compare.test_compare_page import put_run as put_compared
from compare.test_league_report import FLOORS, entry
from exams.test_audit_report import FOUND
from report import report_runs
from server.fake_rag import COLLECTION, GROUNDED, MADE_UP, QUESTION, with_rag
from server.seeded import NOW, WEAK_ID, context_for, seed
from server.test_pages_browser import Site, browser
from server.test_run_pages import RUN, put_run
from servers.gate_answers import BAD, filled, label, trace
from servers.gate_answers import NOON as NOON_OF_TRACES

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

__all__ = ["browser"]

WCAG = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
CONTRAST = ["color-contrast"]
LOOKS: tuple[tuple[Literal["light", "dark"], int, list[str]], ...] = (
    ("light", 1280, WCAG),
    ("dark", 1280, CONTRAST),
    ("light", 390, WCAG),
)
LANGUAGES = {"en": "en-GB", "fr": "fr-FR"}
AXE = Axe().axe_script
UNFOLD = "document.querySelectorAll('details').forEach(one => { one.open = true; })"
REPORTS = {
    "demo": "index.html",
    "report": "runs/{run}/report.html",
    "cases": "runs/{run}/cases.html",
    "trust": "runs/{run}/trust.html",
    "comparison": "comparison/comparison.html",
    "quality": "quality-report.html",
    "league": "league/league.html",
    "trend": "trend/trend.html",
    "audit": "audit.html",
    "gate": "gate.html",
}
PAGES = {
    "monitor": "/monitor?period=30",
    "monitor answers": "/monitor/answers",
    "monitor answer": f"/monitor/answers/{WEAK_ID}",
    "monitor alerts": "/monitor/alerts",
    "monitor queue": "/monitor/queue",
    "monitor golden": "/monitor/golden",
    "monitor variants": "/monitor/variants",
    "trust": "/trust",
    "agreement": "/agreement",
    "runs": "/runs",
    "run": f"/runs/{RUN}",
    "run trust": f"/runs/{RUN}/trust",
    "run progress": f"/runs/{RUN}/progress",
    "compare": "/compare?a=run-old&b=run-new",
    "compare chooser": "/compare",
    "review": "/review",
    "review answer": "/review/answer-07-00",
    "gate": "/gate?period=all",
    "gate trace": "/gate/HELD",
    "chat": "/chat",
    "chat held": "/chat/held/HELD",
    "login": "/login",
    "missing": "/monitor/answers/nowhere",
}


def write_demonstration(folder: Path, language: str) -> str:
    """Write a report of every kind, the release that fails among them; the id of its run."""
    shown = play(folder, language, lambda _: None)
    write_report(tour_page(shown, None), "html", folder / "index.html")
    write_others(folder, language)
    return shown.runs[-1].run.id


def write_others(folder: Path, language: str) -> None:
    """The reports that no demonstration writes: a league and a trend with all that they can show, an audit, the gate's."""
    entries = [entry(folder / f"league-{bad}", f"target-{bad}", bad, release=FLOORS) for bad in (0, 2)]
    by_topic = [entry(folder / f"topic-{bad}", f"target-{bad}", bad, by=("topic",)) for bad in (0, 2)]
    write_league(league_of(by_topic), folder / "league", {}, language)
    write_trend(Trend(target="target", groups=trend_groups(entries)), folder / "trend", {}, language)
    write_report(audit_report(FOUND, language), "html", folder / "audit.html")
    answers = [*map(trace, range(1, 31)), *(trace(number, BAD) for number in range(31, 41))]
    labels = [label(answers[0], "no"), label(answers[1], "yes"), label(answers[30], "no"), label(answers[31], "yes")]
    ledger = filled(folder / "gate.db", answers, labels)
    found = gate_figures(ledger, TraceFilter(), language=language, policy="full", max_chars=200, now=NOON_OF_TRACES)
    write_report(gate_report(found), "html", folder / "gate.html")
    ledger.close()


@pytest.fixture(scope="module")
def readers(browser: "Browser") -> "dict[str, Page]":
    """A page of the browser for each language, for one test after the other: opening it costs more than what a test does."""
    return {language: browser.new_page(locale=locale) for language, locale in LANGUAGES.items()}


@pytest.fixture
def page(readers: "dict[str, Page]", language: str) -> "Iterator[Page]":
    """A page for readers of a language on a wide screen, which knows nothing of the test before."""
    readers[language].set_viewport_size({"width": 1280, "height": 900})
    readers[language].emulate_media(color_scheme="light", reduced_motion="reduce")
    yield readers[language]
    readers[language].evaluate("localStorage.clear(); sessionStorage.clear()")
    readers[language].context.clear_cookies()


@pytest.fixture(scope="module")
def demonstration(session_folder: Path) -> Callable[[str], dict[str, Path]]:
    """The reports of a language by kind; one process of a session makes them, in a thread of its own, since the browser's
    keeps an event loop.
    """

    @cache
    def shown(language: str) -> dict[str, Path]:
        folder = session_folder / f"demonstration-{language}"
        unfinished = folder.with_suffix(".part")
        with FileLock(folder.with_suffix(".lock")), ThreadPoolExecutor(1) as thread:
            if not folder.exists():
                run = thread.submit(write_demonstration, unfinished, language).result()
                (unfinished / "run").write_text(run, encoding="utf-8")
                unfinished.rename(folder)
        run = (folder / "run").read_text(encoding="utf-8")
        return {kind: folder / place.format(run=run) for kind, place in REPORTS.items()}

    return shown


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Site, str]]:
    """A server with something on every page, and the id of an answer that the gate holds."""
    folder = tmp_path_factory.mktemp("site")
    context = context_for(folder)
    seed(context.ledger)
    put_run(context.ledger)
    judges = [judge.name for judge in RunSpec.of(context.ledger.run(RUN)).judges]
    Fleet(context.ledger).ask(RUN, {"target": 4, **dict.fromkeys(judges, 50)}, NOW)
    Fleet(context.ledger).note(RUN, FleetNote(worker="w-1", server="openai@two", text="left to others", at=NOW))
    ReviewQueue(context.ledger).add([ReviewItem(answer_id="answer-07-00", why="alert", created_at=NOW, wanted=2)])
    with ExitStack() as stack:
        patch = stack.enter_context(pytest.MonkeyPatch.context())
        patch.setattr(report_runs, "ledger_at", Ledger.open)
        for name, failing in (("run-old", 0), ("run-new", 9)):
            put_compared(folder, name, failing=failing)
        context, rag = with_rag(context)
        rag.answered(ChatPrompt(prompt=QUESTION, collection=COLLECTION))
        rag.response = f"{GROUNDED} {MADE_UP}"
        held = rag.answered(ChatPrompt(prompt=QUESTION, collection=COLLECTION))
        yield stack.enter_context(Site(context)), held.id


def violations(page: "Page", language: str) -> list[str]:
    """What axe-core finds on a page, unfolded, in each look of a language: a line for each rule and place."""
    page.evaluate(UNFOLD)
    page.evaluate(AXE)
    found: list[str] = []
    for scheme, width, rules in LOOKS if language == "en" else LOOKS[:1]:
        page.set_viewport_size({"width": width, "height": 900})
        page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
        chosen = {"type": "rule" if rules is CONTRAST else "tag", "values": rules}
        options: dict[str, Any] = {"resultTypes": ["violations"], "runOnly": chosen}
        results = page.evaluate("options => axe.run(options)", options)
        assert results["testEngine"]["name"] == "axe-core" and results["passes"], "the rules were applied"
        for violation in results["violations"]:
            for node in violation["nodes"]:
                said = " ".join(node["failureSummary"].split())
                found.append(f"{scheme} {width} {violation['id']} {node['target']} {node['html'][:160]} {said[:300]}")
    return found


@pytest.mark.long
@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("kind", REPORTS)
def test_a_report_has_no_barrier_that_axe_finds(
    demonstration: Callable[[str], dict[str, Path]], kind: str, language: str, page: "Page"
) -> None:
    page.goto(demonstration(language)[kind].as_uri())
    assert page.locator("html").get_attribute("lang") == language
    found = violations(page, language)
    assert not found, "\n".join(found)


@pytest.mark.long
@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("kind", PAGES)
def test_a_page_of_the_server_has_no_barrier_that_axe_finds(
    site: tuple[Site, str], kind: str, language: str, page: "Page"
) -> None:
    running, held = site
    path = PAGES[kind].replace("HELD", quote(held))
    answer = page.goto(f"{running.address}{path}")
    assert answer is not None and answer.status == (404 if kind == "missing" else 200)
    assert page.locator("html").get_attribute("lang") == language
    found = violations(page, language)
    assert not found, "\n".join(found)


@pytest.mark.parametrize("language", ["en"])
def test_one_line_stands_under_the_whole_head_of_a_table(
    demonstration: Callable[[str], dict[str, Path]], language: str, page: "Page"
) -> None:
    page.goto(demonstration(language)["demo"].as_uri())
    lines = page.locator("thead tr").evaluate_all(
        "rows => rows.map(row => [...row.cells].map(cell => getComputedStyle(cell).borderBottom))"
    )
    assert len(lines) > 0
    assert [len(set(row)) for row in lines] == [1] * len(lines)


def test_a_barrier_is_found(browser: "Browser") -> None:
    page = browser.new_page()
    page.set_content("<html><body><img src=x><input><p style='color: #ccc; background: #fff'>pale</p></body></html>")
    found = "\n".join(violations(page, "en"))
    page.close()
    rules = ("image-alt", "label", "html-has-lang", "document-title", "color-contrast")
    assert all(f"light 1280 {rule} " in found for rule in rules)
    assert "dark 1280 color-contrast" in found
