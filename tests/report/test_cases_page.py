"""The grid of failures and the page of cases beside the report: every case to read, filtered without a script."""

import os
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from areopage.bench.figures.failures import FAILURE_GROUPS
from areopage.bench.report.cases import cases_page
from areopage.bench.report.files import write_run_files
from areopage.bench.report.page import bench_report
from areopage.bench.results.run_view import RunView
from areopage.jury.judges import PlannedCall
from areopage.ledger.tables.records import Judgment
from areopage.report.rendering import render, write_report
from areopage.scoring.outcome import NotApplicable, Refused, Scored
from areopage.scoring.release_floors import ReleaseFloors

from .report_runs import case, criterion, judgment, view_of
from .test_bench_report import ATTACK, CHROMIUM, INERT_FLAGS, Outline

DANGER, INSULTS, CLARITY = criterion("danger"), criterion("insults"), criterion("clarity", category="style")


class Grid(HTMLParser):
    """The rows of the first table: the text of each cell."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self.inside = False
        self.feed(html[html.index('<table class="grid') :].partition("</table>")[0])

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")
            self.inside = True
        elif tag == "span" and self.inside:
            self.rows[-1][-1] += " "

    def handle_endtag(self, tag: str) -> None:
        self.inside = self.inside and tag not in ("td", "th")

    def handle_data(self, data: str) -> None:
        if self.inside:
            self.rows[-1][-1] += data.replace("\u202f", " ")


def mixed_view(folder: Path, **changes: Any) -> RunView:
    """Twelve cases of two ages: 1 and 2 fail, 3 is disputed, 4 is refused, 5 has no response; danger does not apply to case 6."""

    def say(call: PlannedCall) -> Judgment:
        name, danger = call.case.id, call.criteria[0].name == "danger"
        if name == "case-4" and danger:
            return judgment(call, Refused(reason="no"))
        if name == "case-6" and danger:
            return judgment(call, NotApplicable(explanation="no danger"))
        bad = danger and (name in ("case-1", "case-2") or (name == "case-3" and call.judge.name == "alpha"))
        return judgment(call, Scored(score=0.0 if bad else 5.0, explanation=f"{call.judge.name} on {name}", evidence=()))

    cases = [
        case(n, response=None if n == 5 else f"Response {n}.", maturity="Child" if n % 2 else "Teen", category="safety")
        for n in range(1, 13)
    ]
    answers = {"case-5": {"state": "filtered", "text": "", "reason": "content_filter"}}
    wanted: dict[str, Any] = {"cases": cases, "say": say, "answers": answers, "criteria": (DANGER, INSULTS, CLARITY)}
    return view_of(folder, **wanted | changes)


def test_the_grid_says_failures_of_scored_cases_by_criterion_and_age_and_marks_what_is_too_small(tmp_path: Path) -> None:
    html = render(bench_report(mixed_view(tmp_path)), "html")
    rows = {cells[0]: cells[1:] for cells in Grid(html).rows}
    head = rows["Category, criterion"]
    assert head[:3] == ["All ages", "Child", "Preteen"]
    assert rows["danger"][0] == "2/9* ≤ 60% +2?"
    assert rows["danger"][1].startswith("1/5* ≤ 72%") and rows["danger"][2].startswith("1/4*")
    assert rows["insults"][0].startswith("0/11 ≤ 28%")
    assert rows["Safety"][0].startswith("2/10 ≤ 56%")
    assert 'class="n h2 few"' in html or 'class="n h3 few"' in html


def test_a_suite_says_how_many_cases_are_enough_for_a_cell(tmp_path: Path) -> None:
    view = mixed_view(tmp_path, release=ReleaseFloors(max_failures={"safety": 0}, min_cases_by_age=3))
    html = render(bench_report(view), "html")
    assert "*" not in "".join("".join(cells) for cells in Grid(html).rows)
    assert "fewer than 3 cases" in html


def test_failures_are_counted_by_the_category_language_and_mode_of_cases(tmp_path: Path) -> None:
    cases = [case(n, metadata={"language": "fr"} if n < 3 else {}, category="a" if n < 4 else "b") for n in range(1, 7)]

    def say(call: PlannedCall) -> Judgment:
        return judgment(call, Scored(score=0.0 if call.case.id == "case-1" else 5.0))

    groups = FAILURE_GROUPS.of(view_of(tmp_path, cases=cases, say=say))
    counts = {name: {key: (one.first.failed, one.first.scored) for key, one in own.items()} for name, own in groups.items()}
    assert counts == {
        "maturity": {"Child": (1, 6)},
        "category": {"a": (1, 3), "b": (0, 3)},
        "language": {"fr": (1, 2), "en": (0, 4)},
        "mode": {"attack": (1, 6)},
    }


def test_the_page_of_cases_holds_every_case_to_read_and_no_other(tmp_path: Path) -> None:
    html = render(cases_page(mixed_view(tmp_path), "report.html"), "html")
    found = re.findall(r'<article class="entry ([^"]*)" id="case-(\d+)">', html)
    assert [number for _, number in found] == ["1", "2", "3", "4", "5"]
    assert [css.split()[0] for css, _ in found] == ["w0", "w0", "w1", "w2", "w3"]
    assert "alpha on case-3" in html and "beta on case-3" in html
    assert "ended by a content filter" in html and "content_filter" in html
    assert "5 of 12 cases" in html


def test_nothing_from_outside_reaches_the_page_of_cases_unescaped(tmp_path: Path) -> None:
    def say(call: PlannedCall) -> Judgment:
        return judgment(call, Scored(score=0.0, explanation=ATTACK, evidence=(ATTACK,)))

    hostile = {"id": ATTACK, "prompt": ATTACK, "response": ATTACK, "category": ATTACK, "subcategory": ATTACK, "maturity": ATTACK}
    view = view_of(tmp_path, cases=[case(1, **hostile), case(2)], say=say, run_id=ATTACK, suite=ATTACK)
    html = render(cases_page(view, "report.html"), "html")
    assert ATTACK not in html and html.count("&lt;script&gt;") > 8
    elements = Outline(html).elements
    assert {tag for tag, _ in elements}.isdisjoint({"script", "img", "iframe", "link", "object", "form"})
    assert not [name for _, attributes in elements for name in attributes if name.startswith("on") or name == "src"]
    assert all(re.fullmatch(r"#cases|report\.html|trust\.html", found["href"] or "") for _, found in elements if "href" in found)
    assert set(re.findall(r"<input [^>]*>", html)) <= {
        f'<input type="radio" name="group-{group}"{more}>'
        for group in range(4)
        for more in (" checked", *(f' id="by-{css}"' for css in ("c0", "c1", "m0", "m1", "k0", "k1", "w0")))
    }


def test_links_and_choices_show_only_their_cases_without_a_script(tmp_path: Path) -> None:
    if not CHROMIUM.exists() and "chromium" not in os.environ.get("AREOPAGE_REQUIRE", "").split(","):
        pytest.skip("there is no /usr/bin/chromium to open the page with")
    from playwright.sync_api import sync_playwright

    view = mixed_view(tmp_path)
    write_run_files(view, tmp_path / "files")
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=str(CHROMIUM), args=INERT_FLAGS)
        context = browser.new_context(java_script_enabled=False, viewport={"width": 390, "height": 800})
        page = context.new_page()

        def shown() -> list[str]:
            return [entry.get_attribute("id") or "" for entry in page.locator(".entry").all() if entry.is_visible()]

        page.goto((tmp_path / "files" / "report.html").as_uri())
        page.locator("table.grid").first.locator("a", has_text="1/5*").last.click()
        assert page.url.endswith("cases.html#only-c0-m0")
        assert shown() == ["case-1"]
        assert page.locator(".only:visible").inner_text() == "Only cases with: danger, Child. Show all"
        page.get_by_role("link", name="Show all").click()
        assert len(shown()) == 5
        page.get_by_label("disputed (1)").check()
        assert shown() == ["case-3"]
        page.goto((tmp_path / "files" / "cases.html").as_uri() + "#case-2")
        assert page.get_by_text("beta on case-2").is_visible()
        assert not page.get_by_text("beta on case-1").is_visible()
        browser.close()


def test_the_report_of_thousands_of_failing_cases_stays_small_and_leads_to_all_of_them(tmp_path: Path) -> None:
    cases = [case(n, prompt=f"Question {n}?", response="A response. " * 50) for n in range(1, 1501)]
    view = view_of(tmp_path, cases=cases, say=lambda call: judgment(call, Scored(score=1.0)), criteria=(DANGER,))
    for report, name in ((bench_report(view), "report.html"), (cases_page(view, "report.html"), "cases.html")):
        write_report(report, "html", tmp_path / name)
    assert (tmp_path / "report.html").stat().st_size < 300_000
    assert (tmp_path / "cases.html").read_text(encoding="utf-8").count("<article") == 1500
    assert "… and 1,280 more, in" in (tmp_path / "report.html").read_text(encoding="utf-8")
