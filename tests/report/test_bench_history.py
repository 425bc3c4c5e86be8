"""A run beside the run before it and the run in the other mode; disputed failures; the summary on paper."""

import os
import re
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any, get_args

import msgspec
import pytest

from areopage.bench.panels import PartName
from areopage.bench.report.page import ON_PAPER, bench_report
from areopage.bench.results.history import with_history
from areopage.bench.results.run_view import RunView
from areopage.bench.spec import Target
from areopage.jury.judges import PlannedCall
from areopage.ledger.store import Ledger
from areopage.ledger.tables.records import Judgment
from areopage.models.reference import ModelReference
from areopage.report.elements import report_locale
from areopage.report.rendering import render, write_report
from areopage.scoring.outcome import NotApplicable, Scored
from areopage.scoring.release_floors import ReleaseFloors

from . import report_runs
from .report_runs import case, criterion, judge, judgment, view_of
from .test_bench_report import CHROMIUM, INERT_FLAGS, Outline

CASES = [case(n, response=None) for n in range(1, 7)]


def failing(*numbers: int) -> Callable[[PlannedCall], Judgment]:
    """Every judge fails these cases on danger, and passes the others."""
    names = {f"case-{n}" for n in numbers}

    def say(call: PlannedCall) -> Judgment:
        bad = call.case.id in names and call.criteria[0].name == "danger"
        return judgment(call, Scored(score=1.0 if bad else 5.0, explanation="", evidence=()))

    return say


class Runs:
    """Complete runs in one ledger, each a day after the one before, each with responses of its own."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder, self.monkeypatch, self.made = folder, monkeypatch, 0

    def add(self, say: Callable[[PlannedCall], Judgment], **changes: Any) -> RunView:
        """Put a run into the ledger and view it beside the others."""
        self.made += 1
        self.monkeypatch.setattr(report_runs, "BEGUN", report_runs.BEGUN + timedelta(days=1))
        target = Target(reference=ModelReference("ollama", "target-model"), digest=f"weights-{self.made}")
        answers = {one.id: {"text": f"Response {self.made}."} for one in CASES}
        usual: dict[str, Any] = {"cases": CASES, "answers": answers, "target": target, "run_id": f"run-{self.made}", "say": say}
        view = view_of(self.folder, **usual | changes)
        ledger = Ledger.open(self.folder / "ledger.db")
        try:
            return with_history(view, ledger)
        finally:
            ledger.close()


@pytest.fixture
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Runs:
    return Runs(tmp_path, monkeypatch)


def section(view: RunView, id: str) -> str:
    html = render(bench_report(view), "html")
    found = re.search(rf'<section id="{id}".*?</section>', html, re.DOTALL)
    return Outline(found[0]).text if found else ""


def test_a_first_run_has_nothing_to_be_compared_with_and_says_so(runs: Runs) -> None:
    view = runs.add(failing(1))
    assert "Nothing to compare" in section(view, "changes")


def test_a_run_names_its_newly_failing_and_its_mended_cases(runs: Runs) -> None:
    runs.add(failing(5), run_id="older")
    runs.add(failing(1, 2))
    view = runs.add(failing(2, 3, 4))
    assert view.history is not None and view.history.earlier is not None
    found = view.history.earlier
    danger = criterion("danger").id
    assert found.other.run_id == "run-2"
    assert found.new == {"case-3": (danger,), "case-4": (danger,)}
    assert found.mended == {"case-1": (danger,)}
    assert found.failures is not None
    pairs = found.failures
    assert (pairs.first, pairs.second, pairs.both, pairs.neither) == (("case-3", "case-4"), ("case-1",), 1, 2)
    assert found.target_changes == ("digest",)
    told = section(view, "changes")
    assert "2 newly failing cases: case-3 (danger) , case-4 (danger)" in told and "1 mended case: case-1 (danger)" in told
    assert "2/6" in told and "3/6" in told and "its weights" in told


@pytest.mark.parametrize(
    ("changes", "part"),
    [
        ({"judges": (judge("alpha"), judge("gamma"))}, "judges"),
        ({"criteria": (criterion("danger", label="Other words"), criterion("insults"))}, "criteria"),
        ({"cases": [case(n, prompt="Another question?", response=None) for n in range(1, 7)]}, "cases"),
    ],
)
def test_runs_with_another_panel_or_other_cases_are_not_compared_and_it_is_said_what_differs(
    runs: Runs, changes: dict[str, Any], part: str
) -> None:
    runs.add(failing(1))
    view = runs.add(failing(2), **changes)
    told = section(view, "changes")
    assert "Not compared with the last run (run-1" in told and part in told
    assert "newly failing" not in told and "2/6" not in told


def test_an_unfinished_run_another_target_and_another_mode_are_not_the_last_run(runs: Runs) -> None:
    runs.add(failing(1), complete=False)
    runs.add(failing(1), target=Target(reference=ModelReference("ollama", "other-model")))
    runs.add(failing(1), mode="defensive")
    assert "Nothing to compare" in section(runs.add(failing(1)), "changes")


def test_both_modes_stand_side_by_side_with_their_paired_difference(runs: Runs) -> None:
    runs.add(failing(1), mode="defensive", run_id="calm")
    view = runs.add(failing(1, 2, 3))
    told = section(view, "modes")
    assert told.index("attack") < told.index("defensive", told.index("Criterion"))
    assert re.search(r"danger 3/6 ≤ \d+% 1/6", told)
    assert "2 only in this run, 0 only in the other, 1 in both, 3 in none" in told
    assert "+33.3 points (95% interval" in told
    assert not section(runs.add(failing(1), judges=(judge("gamma"),)), "modes"), "another panel is not put beside it"


def test_disputed_failures_are_listed_with_what_each_judge_said(tmp_path: Path) -> None:
    def say(call: PlannedCall) -> Judgment:
        bad = call.case.id == "case-2" and call.criteria[0].name == "danger" and call.judge.name == "alpha"
        words = f"{call.judge.name} {'sees harm' if bad else 'sees none'}"
        return judgment(call, Scored(score=0.0 if bad else 5.0, explanation=words, evidence=()))

    view = view_of(tmp_path, say=say)
    told = section(view, "disputes")
    assert "Judges dispute 1 score in 1 case" in told
    assert "2.50 Question 2? danger · fails: alpha; passes: beta · case-2" in told
    assert "alpha sees harm" in told and "beta sees none" in told
    assert "Question 3?" not in told
    calm = view_of(tmp_path / "calm", say=lambda call: judgment(call, Scored(score=4.0)))
    assert "On no score do judges disagree" in section(calm, "disputes")
    assert not section(view_of(tmp_path / "one", judges=(judge("alpha"),)), "disputes")


def test_the_printed_summary_of_24_criteria_and_four_ages_has_two_pages(runs: Runs) -> None:
    if not CHROMIUM.exists() and "chromium" not in os.environ.get("AREOPAGE_REQUIRE", "").split(","):
        pytest.skip("there is no /usr/bin/chromium to print the report with")
    from playwright.sync_api import sync_playwright

    criteria = tuple(
        msgspec.structs.replace(criterion(f"criterion_{n}", category=f"category_{n // 5}"), label=f"A criterion with a name {n}")
        for n in range(24)
    )
    ages = ("Child", "Teen", "YoungAdult", "Emerging")
    cases = [case(n, response=None, maturity=ages[n % 4]) for n in range(1, 13)]

    def say(call: PlannedCall) -> Judgment:
        number = int(call.case.id.removeprefix("case-"))
        if (number + len(call.criteria[0].name)) % 11 == 0:
            return judgment(call, NotApplicable(explanation=""))
        bad = number % 3 == 0 and call.judge.name == "alpha"
        return judgment(call, Scored(score=0.0 if bad else 3.0, explanation="", evidence=()))

    wanted: dict[str, Any] = {"cases": cases, "criteria": criteria, "language": "fr"}
    wanted["release"] = ReleaseFloors(max_failures={"category_0": 0}, min_cases_by_age=4)
    runs.add(say, **wanted, exams="qualified")
    runs.add(say, **wanted, mode="defensive")
    path = runs.folder / "report.html"
    write_report(bench_report(runs.add(say, **wanted)), "html", path)
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=str(CHROMIUM), args=INERT_FLAGS)
        page = browser.new_page()
        page.goto(path.as_uri())
        printed = page.pdf(format="A4", prefer_css_page_size=True)
        page.emulate_media(media="print")
        shown = [
            id for id in ("failures", "scores", "changes", "modes", "disputes", "sign") if page.locator(f"#{id}").is_visible()
        ]
        hidden = [id for id in ("worst", "judges", "how") if page.locator(f"#{id}").is_visible()]
        browser.close()
    assert len(re.findall(rb"/Type\s*/Page\b(?!s)", printed)) == 2
    assert shown == ["failures", "scores", "changes", "modes", "disputes", "sign"] == list(ON_PAPER)
    assert not hidden


def test_every_part_that_can_differ_has_a_name_in_both_languages() -> None:
    for language in ("en", "fr"):
        locale = report_locale(language)
        assert all(f"part_{part}" in locale.messages for part in get_args(PartName))
