"""`bench run` with several targets: one run for each, no call paid twice, and one league table, failures first."""

import csv
import json
import re
import signal
from pathlib import Path
from typing import Any

import pytest

from areopage.compare.commands.league import EXIT_CODES
from servers.command import Command, ended
from servers.fake_answers import Call
from servers.fake_llm import FakeServer
from servers.small_suite import CONFIG, QUESTIONS, write_cases, write_config, write_suite

CALLS = 85
"""Of one run: 5 answers, and 2 judges who read each by 4 criteria in 2 passes."""
IN_FLIGHT = 2 * CONFIG["execution"]["concurrency"]
GOOD, BAD = "ollama:fake-good", "ollama:fake-bad"
BOTH = ("--target", GOOD, "--target", BAD)


def scored(value: int) -> dict[str, Any]:
    return {"score": value, "explanation": "because", "evidence_extracts": []}


def strict(call: Call) -> dict[str, Any]:
    """A judge who finds danger in what one target says of two questions, and else likes it better."""
    if "fake-bad says" not in call.user:
        return scored(4)
    return scored(0 if "danger" in call.user + call.system and any(QUESTIONS[n] in call.user for n in (1, 2)) else 5)


@pytest.fixture
def targets(server: FakeServer) -> FakeServer:
    server.models += ("fake-good", "fake-bad", "fake-third")
    server.judge = strict
    return server


@pytest.fixture
def demanding(tmp_path: Path) -> Path:
    return write_suite(tmp_path / "demanding", release={"max_failures": {"safety": 0}})


def league_folder(command: Command) -> Path:
    (folder,) = command.outputs.glob("league-*")
    return folder


def table(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8-sig", newline="") as stream:
        return list(csv.DictReader(stream))


def test_the_target_that_fails_less_is_first_whatever_the_scores_say(
    command: Command, targets: FakeServer, demanding: Path
) -> None:
    command.qualify_suite(demanding)
    done = command("bench", "run", "--suite", demanding, *BOTH, "--by", "category", "--yes")
    assert done.code == 1, done.err
    assert f"5 cases, 4 criteria, 2 judges for each target:\n  alpha (ollama:fake-a): {2 * 40} calls, 2 passes" in done.err
    assert done.err.count("plan: ") == 1
    assert len(targets.calls) == 2 * CALLS
    order = [call.model for call in targets.calls]
    models = [model for place, model in enumerate(order) if model not in order[:place]]
    assert models == ["fake-good", "fake-bad", "fake-a", "fake-b"]
    assert order == sorted(order, key=models.index), "a model is loaded once for all targets"
    first, second = table(league_folder(command) / "league.csv")
    assert (first["target"], first["verdict"], first["failed"], first["failures_of"]) == (GOOD, "PASS", "0", "5")
    assert (second["target"], second["verdict"], second["failed"], second["weakest_score"]) == (BAD, "FAIL", "2", "3.0")
    assert float(second["score"]) < 5 and float(first["score"]) == 4.0
    page = (league_folder(command) / "league.html").read_text(encoding="utf-8")
    for folder in command.run_folders():
        assert (folder / "report.html").is_file()
        assert f'href="../{folder.name}/report.html"' in page
    assert re.search(rf"{GOOD} against {BAD} +5 +0 / 2 +−40.0 points .* not separable", done.out), done.out
    assert done.out.index(GOOD) < done.out.index(BAD)


def test_the_same_table_comes_from_the_finished_runs_in_another_language_and_with_slices(
    command: Command, targets: FakeServer, demanding: Path
) -> None:
    topics = ("=1+1", "roof", "roof", "", "")
    rows = [{"id": f"c{n}", "prompt": QUESTIONS[n], "topic": topic} for n, topic in enumerate(topics)]
    dataset = write_cases(command.folder / "cases.csv", rows)
    run = ("bench", "run", "--suite", demanding, "--dataset", dataset, "--yes")
    command.qualify_suite(demanding)
    assert [command(*run, "--target", one).code for one in (GOOD, BAD)] == [0, 1]
    asked, ids = len(targets.calls), [folder.name for folder in command.run_folders()]
    done = command("bench", "league", *ids, "--by", "Topic", "--lang", "fr")
    assert (done.code, len(targets.calls)) == (1, asked), done.err
    figures = json.loads((league_folder(command) / "league.json").read_text(encoding="utf-8"))
    assert [one["target"] for one in figures["targets"]] == [GOOD, BAD]
    (pair,) = figures["differences"]
    assert (pair["failures"]["second"], pair["score"]["pairs"], pair["better"]) == (["c1", "c2"], 5, "")
    assert pair["failures"]["p_value"] == 0.5
    slices = table(league_folder(command) / "league_slices.csv")
    found = {(one["value"], one["target"]): (one["failed"], one["failures_of"], one["few_cases"]) for one in slices}
    assert found["roof", BAD] == ("2", "2", "true")
    assert found["roof", GOOD] == ("0", "2", "true")
    assert found["'=1+1", BAD] == ("0", "1", "true")
    page = (league_folder(command) / "league.html").read_text(encoding="utf-8")
    assert "Classement des modèles testés" in page and "peu de cas" in page
    assert "topic" in command("bench", "league", *ids, "--by", "colour").refused()


def test_runs_of_another_panel_or_other_cases_are_not_mixed(command: Command, targets: FakeServer, suite: Path) -> None:
    run = ("bench", "run", "--suite", suite, "--yes", "--target")
    changes = ((GOOD,), (BAD, "--judge", "alpha"), (BAD, "--limit", "3"), (BAD, "--mode", "defensive", "--lang", "fr"))
    for change in changes:
        assert command(*run, *change).code == 0
    first, *others = [folder.name for folder in command.run_folders()]
    told = [command("bench", "league", first, other).refused() for other in others]
    assert "judges (alpha: ollama:fake-a × 2, beta: ollama:fake-b × 2 / alpha: ollama:fake-a × 2)" in told[0]
    assert told[1].endswith("differ in: cases (5 / 3)")
    assert "language (en / fr); mode (attack / defensive)" in told[2]
    assert "two runs or more" in command("bench", "league", first, first).refused()


def test_after_kill_9_and_ctrl_c_the_same_command_pays_no_call_twice(command: Command, targets: FakeServer, suite: Path) -> None:
    targets.latency = 0.05
    run = ("bench", "run", "--suite", suite, *BOTH, "--yes")
    for moment, stop in ((8, signal.SIGKILL), (60, signal.SIGINT)):
        process = command.begin(*run)
        targets.wait_for_calls(len(targets.calls) + moment)
        process.send_signal(stop)
        stopped = ended(process)
    assert stopped.code == 130 and "what has arrived is kept" in stopped.err
    assert stopped.err.count("areopage bench resume small-") == 2 and "then: areopage bench league small-" in stopped.err
    targets.latency = 0.0
    done = ended(command.begin(*run))
    assert done.code == 0, done.err
    assert done.err.count("resuming the unfinished run") == 2
    assert len(targets.calls) - targets.repeated() == 2 * CALLS
    assert targets.repeated() <= 2 * IN_FLIGHT
    assert len(command.run_folders()) == 2
    assert [one["coverage"] for one in table(league_folder(command) / "league.csv")] == ["1.0", "1.0"]


def test_a_target_whose_server_is_down_or_gives_out_is_named_and_the_others_are_compared(
    command: Command, targets: FakeServer, suite: Path
) -> None:
    far = "openai@far:fake-far"
    run = ("bench", "run", "--suite", suite, *BOTH, "--target", far, "--yes")
    with FakeServer() as other:
        other.models += ("fake-far",)
        write_config(suite, endpoints={"far": {"provider": "openai", "base_url": other.openai_url}})
        other.stop()
        down = command(*run)
        assert down.code == 3, down.err
        assert f"not run: {far}: " in down.err
        rows = table(league_folder(command) / "league.csv")
        assert [(row["target"], row["verdict"], row["rank"]) for row in rows] == [
            *((target, "NO_FLOORS", str(place)) for place, target in enumerate((GOOD, BAD), 1)),
            (far, "INCONCLUSIVE", ""),
        ]
        assert far in (league_folder(command) / "league.html").read_text(encoding="utf-8")
        other.start()
        other.faults.stop_after = 4
        asked = len(targets.calls)
        broken = command(*run)
        assert broken.code == 3, broken.err
        assert f"{far} gave out" in broken.err
        assert len(targets.calls) == asked + 10, "the targets answer the new runs, and equal answers are not judged again"
        other.faults.stop_after = 0
        other.start()
        whole = command(*run)
        assert whole.code == 0, whole.err
        assert len(targets.calls) == 3 * CALLS + 5, "only the judges of the answers that were missing"
        assert len(other.target_calls) - other.repeated() == 5


def test_one_target_named_twice_and_slices_of_one_target_are_refused(command: Command, suite: Path) -> None:
    run = ("bench", "run", "--suite", suite, "--target", GOOD)
    assert "twice" in command(*run, "--target", GOOD).refused()
    assert "--by" in command(*run, "--by", "age").refused()


@pytest.mark.parametrize("is_marked", [True, False])
def test_a_target_that_refuses_everything_is_not_first_without_a_word(
    command: Command, targets: FakeServer, suite: Path, is_marked: bool
) -> None:
    rows = [{"id": f"q{n}", "prompt": question, "age": "9-12", "tags": "twin"} for n, question in enumerate(QUESTIONS)]
    write_cases(suite / "data" / "cases.csv", rows)
    write_config(suite, scoring={"over_refusal": {"tag": "twin" if is_marked else "other"}})
    refusal = "I'm sorry, but I can't help with that."
    targets.respond = lambda call: refusal if call.model == "fake-third" else f"{call.model} says 7. Ask your teacher, too."
    done = command("bench", "run", "--suite", suite, "--target", "ollama:fake-third", *BOTH, "--passes", "1", "--yes")
    ranked = [row["target"] for row in table(league_folder(command) / "league.csv")]
    page = (league_folder(command) / "league.html").read_text(encoding="utf-8")
    if is_marked:
        assert ranked[-1] == "ollama:fake-third", done.out
        told = "5 of 5 harmless questions refused"
        assert f"{GOOD} and ollama:fake-third; ranked last of them: ollama:fake-third ({told})" in done.out, done.out
    else:
        told = "5 of 5 answers refuse"
    for text in (done.out, page):
        assert told in text


def test_the_exit_code_is_that_of_the_worst_run() -> None:
    assert [EXIT_CODES[one] for one in ("PASS", "NO_FLOORS", "INCONCLUSIVE", "FAIL")] == [0, 0, 3, 1]


def test_the_trend_of_a_target_connects_only_runs_of_one_panel(command: Command, targets: FakeServer, demanding: Path) -> None:
    run = ("bench", "run", "--suite", demanding, "--yes", "--target")
    for change in ((BAD,), (GOOD,), (BAD, "--judge", "alpha"), (BAD, "--fresh")):
        command(*run, *change)
    shown = command("bench", "trend", "--target", BAD)
    assert shown.code == 0, shown.err
    assert "Group 1: suite demanding, 2 runs" in shown.out
    assert "Group 2: suite demanding, 1 run" in shown.out and "group 1" in shown.out.partition("Group 2")[2]
    first_group = shown.out.partition("Group 1")[2]
    assert first_group.count("2 of 5 (") == 3 and shown.out.count("FAIL") == 3
    assert "Newest run: as before. Failing cases (minor criteria aside): 2 of 5." in shown.out
    (folder,) = command.outputs.glob("trend-*")
    rows = table(folder / "trend.csv")
    assert [(row["group"], row["differs_in"], row["failed"]) for row in rows] == [
        ("1", "", "2"),
        ("1", "", "2"),
        ("2", "judges", "2"),
    ]
    page = (folder / "trend.html").read_text(encoding="utf-8")
    assert page.count("<svg viewBox=") == 2, "one run alone has no chart"
    assert "Not comparable with group 1. Different: judges." in page
    assert GOOD in command("bench", "trend", "--target", "ollama:other").refused()
    assert "latest" not in command("bench", "trend", "--lang", "fr").out


def test_answers_that_come_with_the_cases_are_compared_by_the_ids_of_the_cases(
    command: Command, targets: FakeServer, suite: Path
) -> None:
    for name in ("fake-good", "fake-bad"):
        rows = [{"id": f"c{n}", "prompt": text, "response": f"{name} says {n}."} for n, text in enumerate(QUESTIONS)]
        dataset = write_cases(command.folder / f"{name}.csv", rows)
        assert command("bench", "run", "--suite", suite, "--dataset", dataset, "--yes").code == 0
    ids = [folder.name for folder in command.run_folders()]
    done = command("bench", "league", *ids)
    assert done.code == 0, done.err
    rows = table(league_folder(command) / "league.csv")
    assert [(row["target"], row["failed"]) for row in rows] == [
        (f"Responses of the dataset ({ids[0]})", "0"),
        (f"Responses of the dataset ({ids[1]})", "2"),
    ]
    both = ("bench", "run", "--suite", suite, "--dataset", command.folder / "fake-bad.csv", *BOTH, "--answers", "dataset")
    assert "no target is asked" in command(*both).refused()
