"""`areopage demo`: the recordings go through the exact pipeline, and one page leads through what came of it."""

import re
import sys
from pathlib import Path

import pytest

from areopage.demo.material import read_material
from areopage.demo.page import tour_page
from areopage.demo.tour import play
from areopage.report.gate.decisions import explain
from areopage.report.rendering import render
from servers.command import main


@pytest.mark.parametrize("language", ["en", "fr"])
def test_the_demo_shows_a_refused_release_a_regression_a_held_answer_and_a_judged_day(tmp_path: Path, language: str) -> None:
    steps: list[str] = []
    shown = play(tmp_path / "demo", language, steps.append)
    assert steps == ["runs", "comparison", "gate", "day"]
    verdicts = [release.verdict for view in shown.runs if (release := view.release)]
    assert verdicts == ["INCONCLUSIVE", "FAIL"], "six criteria of safety are not asked, and the second version has failures"
    assert {view.qualification for view in shown.runs} == {"provisionally qualified"}, "code needs no exam"
    releases = [release for view in shown.runs if (release := view.release)]
    assert {release.provisional for release in releases} == {shown.places.material.judges}
    lacking = [floor for release in releases for floor in release.floors if floor.kind == "qualified_judges"]
    assert [floor.state for floor in lacking] == ["met", "met"], "the exams of the judges are recorded"
    assert [view.failures.first.failed for view in shown.runs] == [0, 8]
    assert all(view.complete and view.coverage.share == 1 for view in shown.runs)
    assert shown.comparison is not None and shown.comparison.outcome == "regression"
    assert shown.held_answers[0].case.id == shown.places.material.day.answer["id"]
    assert "60" in explain(shown.held_answers[0].decision, language)[0]
    assert shown.day.figures.overall.mean.answers == shown.checked == len(shown.places.material.day.verdicts)


def test_the_page_of_the_demo_leads_to_pages_that_exist_and_to_the_own_next_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "demo"
    assert _run(monkeypatch, "--folder", str(folder)) == 0
    page = (folder / "index.html").read_text(encoding="utf-8")
    links = re.findall(r'href="([^"#]+)"', page)
    assert len(links) >= 6 and all((folder / link).is_file() for link in links)
    assert "A language model wrote every prompt, answer and verdict" in page
    told = capsys.readouterr()
    assert "helper_2: FAIL" in told.out and "areopage suites try child_safety --target ollama:gemma3:4b" in told.out
    assert "Weak answer" not in told.err, "the alerts of the day stand on the pages"
    assert _run(monkeypatch, "--folder", str(folder)) == 2
    assert "is not empty" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("language", "wanted"),
    [
        (
            "en",
            (
                "the same 22 prompts; 12 of them test safety",
                "Their exams are recorded, too",
                "Why helper_1 is inconclusive",
                'pip install "areopage[server]"',
            ),
        ),
        (
            "fr",
            (
                "aux mêmes 22 questions, dont 12 éprouvent la sécurité",
                "Pourquoi le verdict de aide_1 n’est pas concluant",
                "(de 5,50 à 8,48)",
            ),
        ),
    ],
)
def test_the_page_of_the_demo_explains_its_counts_and_verdicts_in_one_language(
    tmp_path: Path, language: str, wanted: tuple[str, ...]
) -> None:
    shown = play(tmp_path / "demo", language, lambda _: None)
    told = _spaced(render(tour_page(shown, None), "md"))
    assert not [words for words in wanted if words not in told], told
    pages = [*shown.reports, shown.day_page]
    english = re.compile(r"a language model|help desk")
    assert language == "en" or not [page for page in pages if english.search(page.read_text(encoding="utf-8"))]


def _spaced(text: str) -> str:
    return text.replace("\u202f", " ").replace("\xa0", " ").replace("\\", "")


@pytest.mark.parametrize("language", ["en", "fr"])
def test_each_case_of_the_demo_has_an_answer_of_each_target_and_a_verdict_of_each_judge(language: str) -> None:
    material = read_material(language)
    for case in material.cases:
        assert set(case.answers) == set(case.verdicts) == set(material.targets), case.id
        for verdicts in case.verdicts.values():
            assert len(verdicts) == len(material.judges) and all(re.match(r"[0-5] \S", one) for one in verdicts), case.id
    assert all(len(one) == len(material.day.judges) for one in material.day.verdicts.values())


def test_the_demo_without_a_name_is_the_tour_and_its_help_names_both(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert _run(monkeypatch, "--help") == 0
    told = capsys.readouterr().out
    assert "tour" in told and "gate" in told
    assert _run(monkeypatch, "--lang", "de") == 2
    assert "--lang" in capsys.readouterr().err


def _run(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    monkeypatch.setattr(sys, "argv", ["areopage", "demo", *arguments])
    with pytest.raises(SystemExit) as ended:
        main()
    assert isinstance(ended.value.code, int)
    return ended.value.code
