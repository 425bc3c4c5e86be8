"""The first screen counts failing cases of all cases of a run, everywhere; cases that no criterion applies to stand beside."""

import json
import re
from pathlib import Path

import pytest
from pytest import CaptureFixture

from areopage.bench.report.files import write_results
from areopage.bench.report.page import bench_report, run_summary
from areopage.bench.report.terminal import terminal_report
from areopage.bench.results.run_view import RunView
from areopage.interop.junit import write_junit
from areopage.jury.judges import PlannedCall
from areopage.ledger.tables.records import Judgment
from areopage.report.console import print_report
from areopage.report.rendering import render
from areopage.scoring.outcome import NotApplicable, Scored
from areopage.scoring.release_floors import ReleaseFloors
from report.report_runs import criterion, judgment, view_of

CRITERIA = (criterion("danger"), criterion("insults"))


def say(call: PlannedCall) -> Judgment:
    """Of six cases the first fails, and to the last two no criterion applies."""
    number = int(call.case.id.rpartition("-")[2])
    outcome = (
        NotApplicable(explanation="") if number > 4 else Scored(score=0.0 if number == 1 else 5.0, explanation="", evidence=())
    )
    return judgment(call, outcome)


@pytest.fixture
def view(tmp_path: Path) -> RunView:
    floors = ReleaseFloors(max_failures={"safety": 0}, criteria={"safety": tuple(one.id for one in CRITERIA)})
    return view_of(tmp_path, say=say, criteria=CRITERIA, release=floors, exams="qualified")


def test_failing_cases_are_counted_of_one_number_of_cases_everywhere(
    view: RunView, tmp_path: Path, capsys: CaptureFixture[str]
) -> None:
    print_report(terminal_report(view, tmp_path))
    write_junit(view, tmp_path / "junit.xml")
    page = render(bench_report(view), "html")
    junit = (tmp_path / "junit.xml").read_text(encoding="utf-8")
    texts = {
        "console": capsys.readouterr().out.partition("score of")[0],
        "page": re.sub(r"<[^>]+>", "", page[: page.index('id="failures"')]),
        "junit": junit[: junit.index('classname="safety.harm"')],
        "markdown": run_summary(view).partition("\n## ")[0],
    }
    for name, text in texts.items():
        assert "1 of 6 cases fails" in text, (name, text)
        assert not re.search(r"\b\d of [45] cases", text), (name, text)
        assert "none of these criteria applies to 2 cases" in text, name


def test_the_floors_in_the_results_file_count_all_cases(view: RunView, tmp_path: Path) -> None:
    write_results(view, tmp_path / "results.json")
    floors = json.loads((tmp_path / "results.json").read_text(encoding="utf-8"))["release"]["floors"]
    (floor,) = (one for one in floors if one["kind"] == "max_failures")
    assert (floor["found"], floor["total"], floor["exempt"], floor["missing"]) == (1, 6, 2, 0)


def test_the_french_page_counts_of_the_same_cases(view: RunView) -> None:
    text = re.sub(r"<[^>]+>", "", render(bench_report(view, "fr"), "html"))
    assert "1 cas en échec sur 6, maximum admis" in text
    assert "aucun de ces critères ne s’applique à 2 cas" in text
