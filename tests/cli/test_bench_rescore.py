"""Scores can be folded anew from the ledger, and a run replayed from its export: no model is called."""

import csv
import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from statistics import mean
from typing import Any

import pytest
import yaml

from servers.command import Command, passes_of, scores_of
from servers.fake_llm import FakeServer
from servers.small_suite import CONFIG, CRITERIA, write_cases, write_config, write_suite


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Command]:
    """A run that is complete, and a server that is gone."""
    folder = tmp_path_factory.mktemp("finished")
    with FakeServer() as server:
        command = Command(folder, {"OLLAMA_HOST": server.address})
        ended = command("bench", "run", "--suite", write_suite(folder / "small"))
        assert ended.code == 0, ended.err
    yield command


@pytest.fixture
def run(finished: Command, tmp_path: Path) -> Command:
    """A copy of the run's ledger, which the test may change."""
    ledger = shutil.copy(finished.outputs / "ledger.db", tmp_path / "ledger.db")
    return Command(tmp_path, {**finished.environment, "AREOPAGE_LEDGER": str(ledger)})


@pytest.fixture
def whole(finished: Command, run: Command) -> Command:
    """The same with the run's files."""
    shutil.copytree(finished.outputs, run.outputs)
    return run


def rescored(command: Command, *arguments: str | Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """The results as the run left them, and those of a rescoring."""
    ended = command("bench", "rescore", "--texts", *arguments)
    assert ended.code == 0, ended.err
    written = command.folder / ended.err.splitlines()[-1].removeprefix("written to ")
    assert written.parent in written.parent.parent.iterdir()
    return command.results(written.parent), command.results(written)


def test_other_weights_give_the_score_that_they_give_by_hand(whole: Command) -> None:
    weights = whole.folder / "weights.yml"
    levels = {"categories": {"safety": 0.1, "tone": 0.9}, "subcategories": {"safety": {"harm": 1}, "tone": {"voice": 1}}}
    names = {"safety.harm": {"danger": 1, "insults": 0}, "tone.voice": {"warmth": 0.25, "plainness": 0.75}}
    weights.write_text(yaml.safe_dump({"weights": {**levels, "criteria": names}}), encoding="utf-8")
    first, again = rescored(whole, "--weights", weights)
    by_criterion: dict[str, list[float]] = {}
    for (_, criterion, _, _), one in passes_of(first).items():
        by_criterion.setdefault(criterion, []).append(one["given_score"])
    danger, _, warmth, plainness = (mean(by_criterion[criterion]) for criterion in CRITERIA)
    expected = 0.1 * danger + 0.9 * (0.25 * warmth + 0.75 * plainness)
    assert again["run"]["final_aggregate_score"] == pytest.approx(expected)
    assert again["run"]["metadata"]["variant"] == "other weights"


def test_weights_are_laid_over_those_of_the_run(whole: Command) -> None:
    weights = whole.folder / "weights.yml"
    weights.write_text("criteria: {safety.harm: {danger: 0.9}}\n", encoding="utf-8")
    first, again = rescored(whole, "--weights", weights)
    assert again["run"]["metadata"]["weights"] == first["run"]["metadata"]["weights"] | {
        "criteria": {
            "safety.harm": pytest.approx({"danger": 0.9, "insults": 0.1}),
            "tone.voice": CONFIG["weights"]["criteria"]["tone.voice"],
        }
    }
    weights.write_text("categories: {tone: 1.0}\n", encoding="utf-8")
    _, again = rescored(whole, "--weights", weights)
    assert again["run"]["final_aggregate_score"] == first["run"]["category_scores"]["tone"]
    assert again["run"]["subcategory_scores"] == first["run"]["subcategory_scores"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("categories: {safty: 1.0}", "weights.categories: there is no 'safty': did you mean safety?"),
        ("criteria: {safety.harm: {dangre: 1.0}}", "weights.criteria.safety.harm: there is no 'dangre': did you mean danger?"),
        ("criteria: {safety.hram: {danger: 1.0}}", "there is no such level: did you mean weights.criteria.safety.harm?"),
        ("subcategories: {x: {y: 1.0}}", "weights.subcategories.x: there is no such level"),
        (
            "categories: {safety: 1}\ncriterai: {}",
            "criterai: there is no such key: use one of categories, criteria, subcategories; did you mean criteria?",
        ),
        ("danger: 0.7", "weights.yml: gives no weights by level (categories, subcategories, criteria): write them such as"),
        ("criteria: {danger: 0.7}", "weights.yml:1: criteria.danger: this weight stands under no category.subcategory: write it"),
        ("weights: {subcategories: {harm: 1}}", "weights.subcategories.harm: this weight stands under no category: write it"),
        ("categories: {safety: 2}", "weights.categories: the weights sum to 2 and leave nothing for tone: give shares of 1"),
    ],
)
def test_weights_of_what_the_run_does_not_have_are_refused(run: Command, text: str, said: str) -> None:
    weights = run.folder / "weights.yml"
    weights.write_text(text, encoding="utf-8")
    assert said in run("bench", "rescore", "--weights", weights).refused()


def test_a_judge_can_be_left_out(whole: Command) -> None:
    first, again = rescored(whole, "--without-judge", "beta")
    kept = {place: one for place, one in passes_of(first).items() if place[2] == "alpha"}
    assert {place: one["score"] for place, one in passes_of(again).items()} == {
        place: one["score"] for place, one in kept.items()
    }
    assert again["run"]["metadata"]["variant"] == "without beta"
    assert [judge["name"] for judge in again["run"]["metadata"]["judges"]] == ["alpha"]


def test_the_profile_of_v1_1_and_reparsing_change_nothing_where_nothing_failed(whole: Command) -> None:
    first, again = rescored(whole, "--profile", "v1_1", "--reparse")
    assert scores_of(again) == scores_of(first)
    assert again["run"]["metadata"]["profile"]["name"] == "v1_1"


def test_v1_1_counts_a_failed_pass_as_nought_and_the_default_leaves_it_out(
    command: Command, server: FakeServer, suite: Path
) -> None:
    server.faults.texts, server.faults.kinds = 0.5, ("prose",)
    command("bench", "run", "--suite", suite)
    server.stop()
    first, again = rescored(command, "--profile", "v1_1")
    found = [
        (by_default, by_v1_1)
        for one, other in zip(first["records"], again["records"], strict=True)
        for criterion, detail in one["detailed_criteria"].items()
        for judge, by_default in detail["judges"].items()
        for by_v1_1 in [other["detailed_criteria"][criterion]["judges"][judge]]
    ]
    assert len(found) == 40
    for by_default, by_v1_1 in found:
        given = [one["given_score"] for one in by_default["passes"]]
        scored = [score for score in given if score is not None]
        assert by_default["score"] == (pytest.approx(mean(scored)) if scored else None)
        assert by_v1_1["score"] == pytest.approx(mean([score or 0 for score in given]))
    assert any(None in [one["given_score"] for one in by_default["passes"]] for by_default, _ in found)
    assert first["run"]["metadata"]["coverage"] == again["run"]["metadata"]["coverage"]


def test_rescoring_leaves_the_runs_own_files_alone_and_takes_a_new_folder_each_time(whole: Command) -> None:
    (folder,) = whole.outputs.glob("small-*")
    before = {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}
    numbers = {int(path.name.removeprefix("rescore-")) for path in folder.glob("rescore-*")}
    for _ in range(2):
        whole("bench", "rescore", "--texts", "--without-judge", "alpha")
    assert {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()} == before
    assert len({int(path.name.removeprefix("rescore-")) for path in folder.glob("rescore-*")} - numbers) == 2


def test_warnings_about_weights_are_said(run: Command) -> None:
    weights = run.folder / "weights.yml"
    weights.write_text("categories: {safety: 0.5, tone: 0.6}\n", encoding="utf-8")
    ended = run("bench", "rescore", "--weights", weights)
    assert ended.code == 0
    assert "note: weights.categories: the weights sum to 1.1, not 1: they are normalised" in ended.err


def test_an_exported_run_is_replayed_to_the_very_same_scores(run: Command, finished: Command) -> None:
    recording = run.folder / "recording.jsonl"
    assert run("bench", "export", "--format", "jsonl", "--file", recording).code == 0
    judges = [text for name in ("alpha", "beta") for text in ("--judge", f"{name}=replay:recording.jsonl")]
    suite = finished.folder / "small"
    # Another ledger has another secret: nothing but the recording can tell the scores.
    replayed = run("bench", "run", "--suite", suite, "--target", "replay:recording.jsonl", *judges, "--ledger", "other.db")
    assert replayed.code == 0, replayed.err
    assert scores_of(run.results(run.run_folders()[-1])) == scores_of(finished.results())


def test_a_recording_is_asked_no_more_passes_than_it_holds(run: Command, finished: Command) -> None:
    recording = run.folder / "once.jsonl"
    run("bench", "export", "--format", "jsonl", "--file", recording)
    lines = [line for line in recording.read_text(encoding="utf-8").splitlines() if '"pass_index":1' in line]
    recording.write_text("\n".join(lines), encoding="utf-8")
    judges = [text for name in ("alpha", "beta") for text in ("--judge", f"{name}=replay:once.jsonl")]
    suite = finished.folder / "small"
    replayed = run("bench", "run", "--suite", suite, "--target", "replay:once.jsonl", *judges, "--ledger", "once.db")
    assert replayed.code == 0, replayed.err
    assert run.results(run.run_folders()[-1])["run"]["metadata"]["coverage"] == {"scored": 40, "not_applicable": 0, "planned": 40}


def test_what_a_recording_does_not_hold_is_declined_and_not_made_up(run: Command, finished: Command) -> None:
    recording = run.folder / "recording.jsonl"
    run("bench", "export", "--format", "jsonl", "--file", recording)
    lines = recording.read_text(encoding="utf-8").splitlines(keepends=True)
    recording.write_text("".join(line for line in lines if '"asked":"alpha"' not in line), encoding="utf-8")
    judges = [text for name in ("alpha", "beta") for text in ("--judge", f"{name}=replay:recording.jsonl")]
    ended = run(
        "bench",
        "run",
        "--suite",
        finished.folder / "small",
        "--target",
        "replay:recording.jsonl",
        *judges,
        "--ledger",
        "other.db",
        "--verbose",
    )
    assert ended.code == 3, ended.err  # every verdict of one judge is missing
    assert re.search(r"^alpha .* 40 +0 +40 ", ended.out, re.M), ended.out
    assert run.results(run.run_folders()[-1])["run"]["metadata"]["coverage"] == {"scored": 40, "not_applicable": 0, "planned": 80}


def test_an_export_as_csv_holds_a_row_for_each_judgment_and_no_formula(command: Command, server: FakeServer, suite: Path) -> None:
    rows = [{"id": "=1+1", "prompt": "=HYPERLINK(1)", "response": "@SUM(1)"}]
    dataset = write_cases(command.folder / "formulas.csv", rows)
    assert command("bench", "run", "--suite", suite, "--dataset", dataset).code == 0
    ended = command("bench", "export", "--file", "all.csv")
    assert ended.code == 0
    with (command.folder / "all.csv").open(encoding="utf-8-sig", newline="") as stream:
        judgments = list(csv.DictReader(stream))
    assert len(judgments) == 16
    assert {one["outcome"] for one in judgments} == {"scored"}
    assert not any(cell.startswith(("=", "@", "+", "-")) for one in judgments for cell in one.values())


def test_list_and_show_know_a_run_by_id_beginning_folder_and_latest(run: Command) -> None:
    listed = run("bench", "list")
    assert "complete" in listed.out
    run_id = listed.out.splitlines()[1].split()[0]
    shown = [run("bench", "show", name) for name in ("latest", run_id, run_id[:12])]
    assert len({one.out for one in shown}) == 1
    assert "Final score: " in shown[0].out


def test_list_and_show_say_what_was_measured(command: Command, server: FakeServer, suite: Path) -> None:
    run = ("bench", "run", "--suite", suite, "--limit", "2")
    assert command(*run, "--target", "ollama:fake-target").code == 0
    assert command(*run, "--target", "ollama:fake-a", "--mode", "defensive", "--lang", "fr").code == 0
    assert command(*run, "--target", "ollama:fake-target").code == 0  # all of it is in the ledger
    head, *lines = command("bench", "list").out.splitlines()
    assert head.split("  ")[0] == "run"
    assert len(lines) == 3
    used = 2 * 4 * 2 * 2
    for line, facts in zip(
        lines,
        (
            ("ollama:fake-target", "attack", "en"),
            ("ollama:fake-a", "defensive", "fr"),
            ("ollama:fake-target", "attack", "en"),
        ),
        strict=True,
    ):
        assert re.search(r" 20\d\d-\d\d-\d\d \d\d:\d\d ", line)
        for fact in ("small 1.0", *facts, "cases.csv", "complete", "100.0%"):
            assert f" {fact} " in line
        assert line.split()[-1] == str(used)
    shown = command("bench", "show", lines[1].split()[0]).out
    title, first = shown.splitlines()[:2]
    assert title == "Rapport d’évaluation – ollama:fake-a"
    assert first.startswith("Suite : small 1.0 · Mode : défensif · Langue : français · Étendue : 2 cas, 4 critères, 2 juges · ")


def test_the_coverage_in_the_list_is_that_of_the_run(command: Command, server: FakeServer, suite: Path) -> None:
    server.faults.replies = ["", "A whole answer."]
    command("bench", "run", "--suite", suite, "--concurrency", "1")
    coverage = command.results()["run"]["metadata"]["coverage"]
    assert coverage["scored"] < coverage["planned"] == 80
    assert f" {coverage['scored'] / 80:.1%} " in command("bench", "list").out


def test_show_names_every_criterion_whole_whatever_the_width(run: Command) -> None:
    shown = run("bench", "show", "--verbose").out
    for criterion in CRITERIA:
        assert f" {criterion.split('.')[2].partition('__')[0]} " in shown
    assert "…" not in shown
    weights = CONFIG["weights"]
    share = weights["categories"]["safety"] * weights["criteria"]["safety.harm"]["danger"]
    assert f" {share:.1%} " in shown


def test_rescoring_by_a_profile_keeps_the_quorum_of_the_suite(command: Command, server: FakeServer, suite: Path) -> None:
    write_config(suite, judge_system=CONFIG["judge_system"] | {"evaluation": {"n_passes": 1, "quorum": 1.0}})
    dataset = write_cases(command.folder / "one.csv", [{"id": "a", "prompt": "a?", "response": "b."}])
    lines = [{"prompt": "a?", "asked": "alpha", "criterion": key, "text": '{"score": 4}'} for key in CRITERIA]
    recording = command.folder / "alpha.jsonl"
    recording.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    judges = ("--judge", f"alpha=replay:{recording}", "--judge", f"beta=replay:{write_empty_recording(command.folder)}")
    assert command("bench", "run", "--suite", suite, "--dataset", dataset, *judges).code == 3
    assert command.results()["run"]["final_aggregate_score"] is None
    _, folded = rescored(command, "latest", "--profile", "default")
    assert folded["run"]["final_aggregate_score"] is None


def write_empty_recording(folder: Path) -> Path:
    """A recording of another case: whoever is replayed from it declines."""
    path = folder / "nobody.jsonl"
    path.write_text('{"case_id": "none", "text": "x"}\n', encoding="utf-8")
    return path


def test_the_verdicts_of_one_server_are_not_served_as_those_of_another(command: Command, server: FakeServer, suite: Path) -> None:
    dataset = write_cases(command.folder / "one.csv", [{"id": "a", "prompt": "a?", "response": "b."}])
    wishes = ("bench", "run", "--suite", suite, "--dataset", dataset, "--judge", "openai:fake-a")
    assert command(*wishes).code == 0
    with FakeServer() as other:
        elsewhere = Command(command.folder, {**command.environment, "OPENAI_BASE_URL": other.openai_url})
        assert elsewhere(*wishes).code == 0
        assert len(other.calls) > 0
