"""Calibrations from the command line: plan, label, fit, apply, and what is refused."""

import csv
import re
import shlex
import shutil
import sqlite3
from pathlib import Path

import pytest

from servers.command import Command
from servers.fake_answers import Call
from servers.fake_llm import FakeServer
from servers.small_suite import write_cases, write_suite

CASES = 24
DANGER = "safety.harm.danger__v1_0"


def number_in(text: str) -> int:
    return int(re.search(r"question number (\d+)", text).group(1))  # type: ignore[union-attr]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a run of cases whose judges are a point too lenient."""

    def judge(call: Call) -> dict[str, object]:
        return {"score": min(5, 2 + number_in(call.user) % 4), "explanation": "SAID BY THE JUDGE", "evidence_extracts": []}

    folder = tmp_path_factory.mktemp("made")
    suite = write_suite(folder / "suite")
    write_cases(
        suite / "data" / "cases.csv", [{"id": f"c{n}", "prompt": f"question number {n}?", "age": "9-12"} for n in range(CASES)]
    )
    with FakeServer(judge=judge) as server:
        done = Command(folder, {"OLLAMA_HOST": server.address})("bench", "run", "--suite", suite)
    assert done.code == 0, done.err
    return folder


@pytest.fixture
def finished(command: Command, made: Path) -> Command:
    """The folder's copy."""
    shutil.copytree(made, command.folder, dirs_exist_ok=True)
    return command


def label_table(command: Command, file: Path, answers: int, criteria: tuple[str, ...] = ("danger",)) -> None:
    """Label so many of the answers that are queued at random, about a point under the jury, and import the labels."""
    assert command("bench", "review", "--sample", str(answers), "--where", "random", "--export", str(file)).code == 0
    with file.open(encoding="utf-8-sig", newline="") as stream:
        rows = list(csv.DictReader(stream))[:answers]
    for row in rows:
        number = number_in(row["prompt"])
        score = str(1 + number % 4 - (number % 5 == 0))
        row |= {**dict.fromkeys(criteria, score), "rater": "Anne"}
    with file.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    taken = command("review", "import", str(file), "--run", "latest", "--ledger", str(command.outputs / "ledger.db"))
    assert taken.code == 0, taken.err


def test_labels_are_planned_fitted_applied_and_named_beside_each_score(finished: Command, tmp_path: Path) -> None:
    planned = finished("calibrate", "plan", "--precision", "0.4", "--queue", "--teach", "3")
    assert planned.code == 0, planned.err
    assert "queued at random" in planned.out and "queued as they teach most" in planned.out and "* assumed" in planned.out
    label_table(finished, tmp_path / "labels.csv", 16)

    fitted = finished("calibrate", "fit")
    assert fitted.code == 0, fitted.err
    id = re.search(r"calibration ([0-9a-f]{12}) of", fitted.out).group(1)  # type: ignore[union-attr]
    assert "drawn at random, by Anne" in fitted.out and "prompt version" in fitted.out and "not corrected: " in fitted.out
    assert f"apply it: areopage bench rescore {finished.run_folders()[-1].name} --calibration {id} --out outputs" in fitted.out
    assert id in finished("calibrate", "list").out
    assert "safety.harm.danger" in finished("calibrate", "show", id[:6]).out
    again = finished("calibrate", "plan", "--precision", "0.4")
    assert again.code == 0 and "r with jury" in again.out

    plain = finished("bench", "show")
    assert "corrected" not in plain.out
    shown = finished("bench", "show", "--calibration", "latest")
    assert "Corrected" in shown.out and f"Calibration {id} of" in shown.out
    assert "say nothing of other cases" in shown.out and "these intervals have no width" not in shown.out
    written = finished("bench", "rescore", "--texts", "--calibration", id)
    assert written.code == 0, written.err
    assert finished.results()["run"]["metadata"]["calibration"] is None
    results = finished.results(finished.run_folders()[-1] / "rescore-1")["run"]
    one = results["detailed_criteria"][DANGER]["corrected"]
    assert one["calibration"] == id and one["own"] and one["labels"] == 16
    assert one["low"] < one["score"] < one["high"] < one["uncorrected"] == results["detailed_criteria"][DANGER]["score"]
    assert results["metadata"]["calibration"]["raters"] == 1 and results["detailed_criteria"][DANGER]["score"] == pytest.approx(
        3.5
    )
    (record,) = [
        one for one in finished.results(finished.run_folders()[-1] / "rescore-1")["records"] if one["metadata"]["id"] == "c3"
    ]
    single = record["detailed_criteria"][DANGER]
    assert single["score"] == 5 and single["mapped"]["calibration"] == id and 3 < single["mapped"]["score"] < 4.5
    assert single["mapped"]["by"] in {"moved", "linear", "isotonic", "weights"}
    cases = (finished.run_folders()[-1] / "rescore-1" / "cases.html").read_text(encoding="utf-8")
    assert "expected of people: " in cases and f"calibration {id}" in cases
    plain_record = finished.results()["records"][0]
    assert plain_record["detailed_criteria"][DANGER]["mapped"] is None and plain_record["metadata"]["mapped_final"] is None
    page = (finished.run_folders()[-1] / "rescore-1" / "report.html").read_text(encoding="utf-8")
    assert "Corrected by people" in page and id in page and "Anne" not in page

    ledger = finished.outputs / "ledger.db"
    assert finished("verify", "--ledger", str(ledger)).code == 0
    with sqlite3.connect(ledger) as connection:
        connection.execute("UPDATE calibrations SET body = replace(body, 'Anne', 'Bert')")
    assert "altered" in finished("calibrate", "show", id).refused()
    assert "calibrations 1: altered" in finished("verify", "--ledger", str(ledger)).out


def test_labels_that_were_not_drawn_at_random_are_refused(finished: Command) -> None:
    ledger = ("--ledger", str(finished.outputs / "ledger.db"))
    with sqlite3.connect(finished.outputs / "ledger.db") as connection:
        ids = [row[0] for row in connection.execute("SELECT id FROM answers ORDER BY number LIMIT 12")]
    for id in ids:
        done = finished("review", "label", id, "--rater", "Anne", "--score", "danger=1", "--blind", *ledger)
        assert done.code == 0, done.err
    refused = finished("calibrate", "fit").refused()
    assert "0 answers drawn at random" in refused and "12 other labelled answers cannot be used" in refused
    assert "no calibration 'abc'" in finished("bench", "show", "--calibration", "abc").refused()


def test_where_every_answer_is_labelled_no_label_is_asked_for_and_an_interval_without_width_is_explained(
    finished: Command, tmp_path: Path
) -> None:
    label_table(finished, tmp_path / "labels.csv", CASES, ("danger", "insults", "warmth", "plainness"))
    planned = finished("calibrate", "plan", "--precision", "0.01").out
    assert "enough answers drawn at random are labelled\nnext: areopage calibrate fit " in planned
    assert "every answer is labelled, so intervals have no width" in finished("calibrate", "fit").out
    shown = finished("bench", "show", "--calibration", "latest").out
    assert "Every answer is labelled, so these intervals have no width." in shown


def test_the_commands_that_follow_name_configuration_and_ledger_where_they_were_named(finished: Command, tmp_path: Path) -> None:
    shutil.move(finished.outputs / "ledger.db", finished.folder / "mine.db")
    (finished.folder / "mine.yml").write_text("prices: {}\n", encoding="utf-8")
    named = ("--config", "mine.yml", "--ledger", "mine.db")
    run = finished.run_folders()[-1].name

    def following(*arguments: str) -> list[list[str]]:
        ended = finished(*arguments, *named)
        assert ended.code == 0, ended.err
        return [shlex.split(line[line.index("areopage ") :]) for line in ended.out.splitlines() if ": areopage " in line]

    queued = following("bench", "review", run, "--sample", "16", "--where", "random")
    for command in [*queued, *following("calibrate", "plan", run), *following("bench", "show", run)]:
        assert all(word in command for word in ("--config", "mine.yml")), command
        if command[1:3] != ["serve", "--no-worker"]:
            assert "--ledger" in command, command
    ((*_, planned),) = (following("calibrate", "plan", run, "--queue", "--precision", "1"),)
    assert planned[:4] == ["areopage", "calibrate", "fit", run] and planned[4:] == ["--out", "outputs", *named]
