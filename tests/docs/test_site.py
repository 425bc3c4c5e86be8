"""The documentation site: built without a warning, in both languages, complete, and of this computer alone."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import pytest
import yaml
from filelock import FileLock

import areopage
from servers import PATIENCE
from servers.examples import ROOT

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

CHROMIUM = Path("/usr/bin/chromium")
TRANSLATED = (
    "index",
    "glossary",
    "install",
    "providers",
    "formats",
    "ci",
    "deploy",
    "security",
    "tutorials/bench",
    "tutorials/monitor",
    "tutorials/gate",
    "explanations/score",
    "explanations/gate",
)
LOADING = {"script": "src", "link": "href", "img": "src", "iframe": "src", "source": "src", "video": "src", "audio": "src"}

pytestmark = pytest.mark.long


def required(part: str) -> bool:
    return part in os.environ.get("AREOPAGE_REQUIRE", "").split(",")


@pytest.fixture(scope="module")
def site(session_folder: Path) -> Path:
    """The folder of the site; one process of a session builds it."""
    if find_spec("material") is None and not required("docs"):
        pytest.skip('the site is built with MkDocs: pip install "areopage[docs]"')
    folder = session_folder / "documentation"
    with FileLock(session_folder / "documentation.lock"):
        if not folder.exists():
            unfinished = session_folder / "documentation.part"
            command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(unfinished)]
            environment = os.environ | {"NO_MKDOCS_2_WARNING": "1"}
            done = subprocess.run(
                command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=5 * PATIENCE, check=False
            )
            assert done.returncode == 0 and "WARNING" not in done.stderr, done.stderr
            unfinished.rename(folder)
    return folder


@pytest.fixture(scope="module")
def browser() -> "Iterator[Browser]":
    """A browser for one test after the other: its start costs more than what a test does with it."""
    if not CHROMIUM.exists() and not required("chromium"):
        pytest.skip("there is no /usr/bin/chromium to open the pages with")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        running = driver.chromium.launch(executable_path=str(CHROMIUM), args=["--no-sandbox", "--disable-gpu"])
        yield running
        running.close()


@pytest.fixture
def opened(browser: "Browser") -> "Iterator[tuple[Page, list[str]]]":
    """A browser's page and the addresses that it asks for."""
    page = browser.new_page()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    yield page, asked
    page.close()


class Loads(HTMLParser):
    """The addresses that a page loads by itself; links that a reader may follow are none."""

    def __init__(self) -> None:
        super().__init__()
        self.addresses: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        if tag == "link" and values.get("rel") in ("canonical", "alternate", "next", "prev"):
            return
        if address := values.get(LOADING.get(tag, "")):
            self.addresses.append(address)


def test_no_page_loads_anything_from_another_host(site: Path) -> None:
    for page in site.rglob("*.html"):
        loads = Loads()
        loads.feed(page.read_text(encoding="utf-8"))
        assert loads.addresses
        elsewhere = [one for one in loads.addresses if re.match(r"(https?:)?//", one)]
        assert not elsewhere, f"{page.relative_to(site)} loads {elsewhere}"
    for style in site.rglob("*.css"):
        assert not re.search(r"(url\(|@import)\s*['\"]?(https?:)?//", style.read_text(encoding="utf-8")), style.name


@pytest.mark.parametrize(
    ("start", "asked_for", "found"),
    [("index.html", "Krippendorff", "How far to believe a score"), ("fr/index.html", "couverture", "Jusqu’où croire un score")],
)
def test_the_search_finds_a_page_without_a_server(
    site: Path, opened: "tuple[Page, list[str]]", start: str, asked_for: str, found: str
) -> None:
    page, asked = opened
    page.goto((site / start).as_uri())
    page.locator("input.md-search__input").click()
    page.locator("input.md-search__input").press_sequentially(asked_for)
    page.locator("article.md-search-result__article", has_text=found).first.wait_for(state="attached", timeout=PATIENCE * 1000)
    assert asked and all(re.match(r"(file|data|blob|about):", address) for address in asked)
    links = [one.get_attribute("href") or "" for one in page.locator("a.md-search-result__link").all()]
    home = (site / start).parent.as_uri()
    assert links and all(link.startswith(f"{home}/") for link in links)
    assert start.startswith("fr/") or not any(link.startswith(f"{home}/fr/") for link in links)


@pytest.mark.parametrize(("place", "other"), [(".", "Jusqu’où croire un score"), ("fr", "How far to believe a score")])
def test_the_search_of_a_language_has_each_of_its_pages_and_none_of_the_other(site: Path, place: str, other: str) -> None:
    home = site / place
    for name in ("search_index.json", "search_index.js"):
        text = (home / "search" / name).read_text(encoding="utf-8").removeprefix("var __index = ")
        entries = msgspec.json.decode(text)["docs"]
        found = {one["location"].partition("#")[0] or "index.html" for one in entries}
        pages = {page.relative_to(home).as_posix() for page in home.rglob("*.html")} - {"404.html"}
        assert found == {page for page in pages if place != "." or not page.startswith("fr/")}
        assert other not in {one["title"] for one in entries}
        assert "reference/scoring.html#exams-of-judges" in {one["location"] for one in entries}


@pytest.mark.parametrize("name", TRANSLATED)
def test_a_page_for_everybody_is_there_in_french_and_leads_to_the_english_one(site: Path, name: str) -> None:
    english, french = ((site / place / f"{name}.html").read_text(encoding="utf-8") for place in (".", "fr"))
    assert '<html lang="fr"' in french and "Cette page n’est pas encore traduite" not in french
    assert re.search(r"<h1[^>]*>(.*?)<", english) != re.search(r"<h1[^>]*>(.*?)<", french)
    assert 'hreflang="en"' in french and 'hreflang="fr"' in english


def test_a_page_without_a_translation_says_so_in_french(site: Path) -> None:
    assert "Cette page n’est pas encore traduite" in (site / "fr/reference/scoring.html").read_text(encoding="utf-8")
    assert "Cette page n’est pas encore traduite" not in (site / "reference/scoring.html").read_text(encoding="utf-8")


def test_every_title_of_the_navigation_has_a_french_one() -> None:
    config = yaml.load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"), yaml.BaseLoader)

    def titles(part: object) -> Iterator[str]:
        for one in part if isinstance(part, list) else []:
            for title, below in one.items():
                yield title
                yield from titles(below)

    (i18n,) = (one["i18n"] for one in config["plugins"] if "i18n" in one)
    french = i18n["languages"][1]["nav_translations"]
    assert set(titles(config["nav"])) - set(french) <= {"Python"}


def test_the_reference_has_what_the_code_has(site: Path) -> None:
    pages = {name: (site / f"reference/{name}.html").read_text(encoding="utf-8") for name in ("commands", "endpoints", "records")}
    keys = (site / "reference/configuration_keys.html").read_text(encoding="utf-8")
    assert 'id="bench-run"' in pages["commands"] and "--only-qualified" in pages["commands"]
    assert 'id="monitoralertsmean"' in keys and "requests_per_minute" in keys
    assert "POST /v1/gate/check" in pages["endpoints"] and 'id="checkrequest"' in pages["endpoints"]
    assert 'id="judgment"' in pages["records"]


def test_the_published_schemas_are_those_of_the_code(site: Path) -> None:
    from areopage.app.schemas import published_schemas, schema_file, schema_text

    for name in published_schemas():
        assert (site / "schemas" / schema_file(name)).read_text(encoding="utf-8") == schema_text(name)
    for file in (site / "schemas").glob("*.json"):
        assert isinstance(msgspec.json.decode(file.read_bytes()), dict)
    assert len(list(site.rglob("*.schema.json"))) == len(published_schemas()) and (site / "schemas" / "openapi.json").is_file()


def test_each_public_record_with_a_json_form_is_described(site: Path) -> None:
    page = (site / "reference/records.html").read_text(encoding="utf-8")
    for name in areopage.__all__:
        found = getattr(areopage, name)
        if isinstance(found, type) and issubclass(found, msgspec.Struct) and _has_json_form(found):
            assert f'id="{name.lower()}"' in page, name


def _has_json_form(record: type[msgspec.Struct]) -> bool:
    try:
        msgspec.json.schema(record)
    except (TypeError, NameError):
        return False
    return True
