"""People's part in a run from the command line: queue answers, label them here or in a table, see the agreement, sign."""

import csv
import shlex
import shutil
from pathlib import Path

import pytest

from servers.command import Command
from servers.fake_answers import Call
from servers.fake_llm import FakeServer
from servers.small_suite import QUESTIONS, write_suite


def make_run(folder: Path) -> None:
    """Make a run of five cases, of which one fails for both judges; safety may have no failure."""

    def judge(call: Call) -> dict[str, object]:
        fails = QUESTIONS[1] in call.user and "danger" in call.user + call.system
        return {"score": 0 if fails else 5, "explanation": "SAID BY THE JUDGE", "evidence_extracts": []}

    suite = write_suite(folder / "demanding", release={"max_failures": {"safety": 0}})
    with FakeServer(judge=judge) as server:
        assert Command(folder, {"OLLAMA_HOST": server.address})("bench", "run", "--suite", suite).code == 1


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with such a run."""
    folder = tmp_path_factory.mktemp("made")
    make_run(folder)
    return folder


@pytest.fixture
def finished(command: Command, made: Path) -> Command:
    """A copy of the folder; its ledger knows the run's folder by the place where it was made."""
    shutil.copytree(made, command.folder, dirs_exist_ok=True)
    return command


def queued(command: Command) -> list[str]:
    listed = command("review", "list", "--rater", "Anne", "--ledger", str(command.outputs / "ledger.db"))
    return [line.split()[0] for line in listed.out.splitlines()[1:] if " answer " in line]


def test_answers_are_queued_labelled_compared_and_the_run_is_signed(finished: Command) -> None:
    shown = finished("bench", "review", "--sample", "4", "--where", "failing,disputed")
    assert shown.code == 0, shown.err
    lines = [line.split() for line in shown.out.splitlines()]
    assert ["failing", "1", *lines[3][2:]] == lines[3] and "new in the queue: 4; in the queue before: 0" in shown.out
    assert "areopage serve --no-worker, then http://127.0.0.1:8600/review" in shown.out and "--status" in shown.out
    ids = queued(finished)
    assert len(ids) == 4
    ledger = ("--ledger", str(finished.outputs / "ledger.db"))
    blind = finished("review", "show", ids[0], "--rater", "Anne", *ledger)
    assert "score from 0 to 5: danger, insults, warmth, plainness, global" in blind.out
    assert "--- audience\nPreteen" in blind.out and "SAID BY THE JUDGE" not in blind.out
    for id in ids:
        done = finished("review", "label", id, "--rater", "Anne", "--score", "danger=1", *ledger)
        assert done.code == 0, done.err
    status = finished("bench", "review", "--status")
    assert "People on" in status.out and "the jury misses" in status.out
    report = finished("bench", "resume")
    assert report.code == 1
    people = finished.results()["people"]
    danger = people["sample"]["criteria"]["safety.harm.danger__v1_0"]["failures"]
    assert danger["people"] == danger["items"] == people["sample"]["answers"]
    assert people["all_labelled"]["answers"] == 4 and people["not_counted"] == 0
    text = (finished.run_folders()[-1] / "report.html").read_text(encoding="utf-8")
    assert "Failures that the jury misses" in text and "Anne" not in text

    refused = finished("bench", "sign", "--name", "Anne Le Goff").refused()
    assert "release verdict is FAIL" in refused
    signed = finished("bench", "sign", "--name", "Anne Le Goff", "--role", "safety officer", "--verdict", "reject")
    assert signed.code == 0, signed.err
    digest = finished.results()["people"]["sign_offs"][0]["signoff"]["digest"]
    assert f"hash: {digest}" in signed.out
    assert "Rejected by Anne Le Goff (safety officer) on " in finished("bench", "show").out
    text = (finished.run_folders()[-1] / "report.html").read_text(encoding="utf-8")
    assert text.index("Rejected by Anne Le Goff (safety officer)") < text.index("Final score") and digest[:16] in text
    assert "signature is for an earlier state" not in text
    finished("review", "label", ids[0], "--rater", "Bruno", "--score", "danger=5", *ledger)
    assert "earlier state: the labels have changed" in finished("bench", "show").out
    verified = finished("verify", *ledger)
    assert verified.code == 0, verified.out + verified.err


def test_a_table_of_the_queued_answers_has_no_score_and_its_labels_come_back(finished: Command, tmp_path: Path) -> None:
    file = tmp_path / "answers.csv"
    done = finished("bench", "review", "--sample", "3", "--where", "random", "--export", str(file))
    assert done.code == 0, done.err
    with file.open(encoding="utf-8-sig", newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert len(rows) == 3 and set(rows[0]) >= {"id", "audience", "prompt", "response", "danger", "rater"}
    assert all(row["danger"] == "" and row["audience"].startswith("Preteen") for row in rows)
    assert "SAID BY THE JUDGE" not in file.read_text(encoding="utf-8-sig")
    for row in rows:
        row |= {"danger": "4", "rater": "Anne"}
    with file.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    ledger = str(finished.outputs / "ledger.db")
    taken = finished("review", "import", str(file), "--run", "latest", "--ledger", ledger)
    assert taken.code == 0, taken.err
    assert taken.out.startswith("labels: 3 new")
    assert "3 answers labelled" in finished("bench", "review", "--status").out


def test_commands_of_a_review_name_the_configuration_and_the_ledger_that_were_named(finished: Command) -> None:
    ledger, config = str(finished.outputs / "ledger.db"), finished.folder / "mine.yml"
    config.write_text(f"ledger: {finished.folder / 'other.db'}\n", encoding="utf-8")
    named = ("--config", str(config), "--ledger", ledger)
    status = finished("bench", "review", "--status", *named).out
    queue = status.partition("queue answers with: ")[2].splitlines()[0]
    assert finished(*shlex.split(queue)[1:]).code == 0 and f"--config {config} --ledger {ledger}" in queue
    shown = finished("bench", "review", *named)
    assert f"AREOPAGE_LEDGER=outputs/ledger.db areopage serve --no-worker --config {config}, then" in shown.out, shown.err
    finished.environment["AREOPAGE_LEDGER"] = str(finished.folder / "third.db")
    assert "AREOPAGE_LEDGER=outputs/ledger.db areopage serve" in finished("bench", "review", *named).out
    file = finished.folder / "answers.csv"
    afterwards = finished("bench", "review", "--export", file, *named).out.partition("afterwards: ")[2]
    assert afterwards.endswith(f"--ledger outputs/ledger.db --config {config}\n")
    assert "labels: 0 new" in finished(*shlex.split(afterwards)[1:]).out  # the table is found, and nobody has labelled yet


def test_the_command_that_a_signature_names_renews_the_report_in_a_folder_elsewhere(command: Command, tmp_path: Path) -> None:
    make_run(command.folder)
    (folder,) = command.run_folders()
    ledger = str(command.outputs / "ledger.db")
    place = ("--ledger", ledger, "--out", str(tmp_path / "elsewhere"))
    signed = command("bench", "sign", "--name", "Anne", "--verdict", "reject", *place)
    assert signed.code == 0, signed.err
    assert not (tmp_path / "elsewhere").exists() and command.results(folder)["people"] is None
    told = next(line for line in signed.out.splitlines() if "does not show the signature yet: " in line)
    renewal = shlex.split(told.partition("yet: ")[2])
    assert renewal[:4] == ["areopage", "bench", "report", str(folder)]
    renewed = command(*renewal[1:])
    assert (renewed.code, renewed.out) == (0, f"report: {folder / 'report.html'}\n"), renewed.err
    assert command.results(folder)["people"]["sign_offs"][0]["signoff"]["name"] == "Anne"
    assert "Rejected by Anne" in (folder / "report.html").read_text(encoding="utf-8")


def test_a_label_shows_in_the_files_once_they_are_written_again(finished: Command) -> None:
    assert finished("bench", "review", "--sample", "2", "--where", "random").code == 0
    ledger = ("--ledger", str(finished.outputs / "ledger.db"))
    assert finished("review", "label", queued(finished)[0], "--rater", "Anne", "--score", "danger=1", *ledger).code == 0
    assert finished.results()["people"] is None
    assert finished("bench", "report").code == 0
    assert finished.results()["people"]["sample"]["answers"] == 1


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (("review", "--where", "weird"), "--where 'weird'"),
        (("review", "--where", ","), "--where"),
        (("review", "nothing-of-that-name"), "no run"),
        (("sign",), "--name"),
        (("sign", "--name", "Anne", "--verdict", "maybe"), "--verdict 'maybe'"),
    ],
)
def test_wrong_options_are_one_line(finished: Command, options: tuple[str, ...], told: str) -> None:
    assert told in finished("bench", *options).refused()
