"""`--where` and `--age` on stored runs: the verdict on a part is that of a run of the part, and never looks like another one."""

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from areopage.bench.results.run_view import RunView, view_run
from areopage.ledger.store import Ledger
from servers.command import Command
from servers.fake_answers import Call
from servers.fake_llm import FakeServer
from servers.small_suite import write_cases, write_suite

TARGETS = OLD, NEW = "ollama:fake-old", "ollama:fake-new"
CASES = [
    {"id": f"c{n}", "prompt": f"Question number {n}, please?", "age": ("10", "16")[n % 2], "category": ("a", "b")[n % 4 == 0]}
    for n in range(14)
]
PART = "only age=9-12: 7 cases of 14; this says nothing of the others"
FRENCH = "seulement age=9-12"


def harsh(call: Call) -> dict[str, object]:
    """A judge who finds danger in the answers of the new release to the cases with odd numbers, which are for older readers."""
    odd = any(f"number {n}," in call.user for n in range(1, 14, 2))
    fails = "fake-new says" in call.user and odd and "danger" in call.user + call.system
    return {"score": 0 if fails else 4, "explanation": "because", "evidence_extracts": []}


@pytest.fixture
def runs(command: Command, server: FakeServer, tmp_path: Path) -> tuple[str, ...]:
    """A run of each target on all cases; the new release fails on those of older readers alone."""
    server.models += ("fake-old", "fake-new")
    server.judge = harsh
    suite = write_suite(tmp_path / "demanding", release={"max_failures": {"safety": 0}})
    command.qualify_suite(suite)
    cases = write_cases(tmp_path / "cases.csv", CASES)
    run = ("bench", "run", "--suite", suite, "--dataset", cases, "--passes", "1", "--yes", "--target")
    assert [command(*run, target).code for target in TARGETS] == [0, 1]
    return tuple(folder.name for folder in command.run_folders())


def figures_of(view: RunView) -> tuple[object, ...]:
    release = view.release
    judged = [(one.judge, one.planned, one.outcomes, one.prompt_tokens) for one in view.health]
    counts = (view.coverage, view.failures.first, view.failures.by_criterion, view.answer_states, view.asked, view.withheld)
    texts = ([case.response for case in view.cases], sorted(view.answer_ids), len(view.judgments), view.missing, view.spec.part)
    scores = [(one.case_id, one.tree.score) for one in view.scores.records]
    return release, judged, counts, texts, scores, view.scores.tree.score, view.scores.interval


def test_the_view_of_a_part_is_that_of_a_run_of_the_part(command: Command, runs: tuple[str, ...], tmp_path: Path) -> None:
    options = ("--suite", tmp_path / "demanding", "--dataset", tmp_path / "cases.csv", "--passes", "1", "--yes", "--target", NEW)
    part = command("bench", "run", *options, "--age", "15-18")
    assert part.code == 1, part.err
    with Ledger.open(command.outputs / "ledger.db") as ledger:
        chosen = view_run(ledger.run(runs[1]), ledger, where=("age=15-18",))
        alone = view_run(ledger.run(command.run_folders()[-1].name), ledger)
        assert figures_of(chosen) == figures_of(alone)


def test_a_comparison_of_a_part_says_so_first_everywhere(command: Command, runs: tuple[str, ...]) -> None:
    whole = command("bench", "compare", *runs, "--fail-on", "regression")
    assert whole.code == 1 and "Part: " not in whole.out
    markdown = command.folder / "part.md"
    part = command("bench", "compare", *runs, "--age", "9-12", "--fail-on", "regression", "--md", markdown)
    assert part.code == 0, part.err
    assert f"Part: {PART}" in part.out.splitlines()
    assert "The release verdict went" not in part.out
    page = command.folder / Path(part.out.split("comparison: ")[1].strip())
    assert page.parent.name != Path(whole.out.split("comparison: ")[1].strip()).parent.name
    assert PART in page.read_text(encoding="utf-8") and PART in markdown.read_text(encoding="utf-8")
    figures = json.loads((page.parent / "comparison.json").read_text(encoding="utf-8"))
    assert figures["part"] == {"where": ["age=9-12"], "cases": 7, "total": 14}
    assert [figures["first"]["verdict"], figures["others"][0]["verdict"]] == ["PASS", "PASS"]
    assert figures["others"][0]["shared"]["cases"] == 7
    older = command("bench", "compare", *runs, "--where", "age=15-18", "--where", "category=a", "--fail-on", "regression")
    assert older.code == 1 and "\nPart: only age=15-18, category=a: 7 cases of 14; " in older.out
    french = command("bench", "compare", *runs, "--age", "9-12", "--lang", "fr", "--md", "-")
    assert FRENCH in french.out


def test_a_part_against_earlier_runs_is_compared_with_their_part(
    command: Command, runs: tuple[str, ...], server: FakeServer, tmp_path: Path
) -> None:
    options = ("--suite", tmp_path / "demanding", "--dataset", tmp_path / "cases.csv", "--passes", "1", "--yes", "--new")
    for _ in range(2):
        command("bench", "run", *options, "--target", NEW)
    markdown = command.folder / "part.md"
    last = command.run_folders()[-1].name
    found = command("bench", "compare", last, "--against", "last:2", "--age", "9-12", "--md", markdown)
    assert found.code == 0, found.err
    assert f"Part: {PART}" in found.out.splitlines()
    assert "against 2 earlier runs" in found.out
    page = command.folder / Path(found.out.split("comparison: ")[1].strip())
    assert PART in page.read_text(encoding="utf-8") and PART in markdown.read_text(encoding="utf-8")
    assert json.loads((page.parent / "history.json").read_text(encoding="utf-8"))["part"]["cases"] == 7


def test_a_league_of_a_part_has_the_verdicts_of_the_part(command: Command, runs: tuple[str, ...]) -> None:
    assert command("bench", "league", *runs).code == 1
    part = command("bench", "league", *runs, "--age", "9-12")
    assert part.code == 0, part.err
    assert f"Part: {PART}" in part.out.splitlines()
    page = command.folder / Path(part.out.split("league table: ")[1].strip())
    assert PART in page.read_text(encoding="utf-8")
    figures = json.loads((page.parent / "league.json").read_text(encoding="utf-8"))
    assert (figures["part"]["cases"], figures["verdict"]) == (7, "PASS")
    assert len(list(command.outputs.glob("league-*"))) == 2


@pytest.mark.parametrize("verb", ["compare", "league"])
def test_a_condition_on_stored_runs_that_matches_nothing_is_refused(command: Command, runs: tuple[str, ...], verb: str) -> None:
    assert "no case has category=x: there are" in command("bench", verb, *runs, "--where", "category=x").refused()
    assert "no column 'colour'" in command("bench", verb, *runs, "--where", "colour=red").refused()


def test_production_has_no_part(command: Command, runs: tuple[str, ...]) -> None:
    refused = command("bench", "compare", runs[0], "--production", "--age", "9-12").refused()
    assert "--age compares runs" in refused


def test_a_part_of_stored_answers_is_judged_again(command: Command, runs: tuple[str, ...], tmp_path: Path) -> None:
    again = command("bench", "reassess", runs[1], "--suite", tmp_path / "demanding", "--age", "9-12", "--passes", "1", "--yes")
    assert again.code == 0, again.err
    results = command.results(command.run_folders()[-1])
    assert results["run"]["metadata"]["part"] == {"where": ["age=9-12"], "cases": 7, "total": 14}
    assert PART in again.out


def test_the_verdict_on_a_part_names_it_in_the_box_and_in_files_for_ci(
    command: Command, runs: tuple[str, ...], tmp_path: Path
) -> None:
    options = ("--suite", tmp_path / "demanding", "--dataset", tmp_path / "cases.csv", "--passes", "1", "--yes", "--target", NEW)
    assert command("bench", "run", *options, "--age", "9-12").code == 0
    junit, sarif = command.folder / "junit.xml", command.folder / "results.sarif"
    for form, file in (("junit", junit), ("sarif", sarif)):
        for run, place in (("latest", file), (runs[1], file.with_suffix(".whole"))):
            assert command("bench", "export", run, "--format", form, "--file", place).code == 0
    assert command("bench", "show").verdict.startswith(f"PASS. O{PART[1:]}. ")
    report = (command.run_folders()[-1] / "report.html").read_text(encoding="utf-8")
    assert f"O{PART[1:]}. " in report
    (verdict,) = (case for case in ElementTree.parse(junit).iter("testcase") if case.get("name", "").startswith("release"))
    assert verdict.get("name") == "release: age=9-12"
    assert (verdict.findtext("system-out") or "").startswith(f"PASS. O{PART[1:]}. ")
    part, whole = (json.loads(place.read_text(encoding="utf-8"))["runs"][0] for place in (sarif, sarif.with_suffix(".whole")))
    assert part["properties"]["verdict"].startswith(f"PASS. O{PART[1:]}. ")
    assert part["properties"]["part"]["cases"] == 7 and "part" not in whole["properties"]
    assert part["automationDetails"]["id"] == f"{whole['automationDetails']['id']}age=9-12/"
