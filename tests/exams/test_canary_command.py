"""`areopage qualify --canary`: exit codes, what is printed, and what runs then say of a judge that moved."""

import json
import signal
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from servers.command import Command, ended
from servers.drifting import DANGER, DriftingJudge, write_examined_suite
from servers.fake_llm import FakeServer

EXAM = ("--judge", "alpha", "--yes")
CANARY = (*EXAM, "--canary")


@pytest.fixture(name="suite")
def examined_suite(tmp_path: Path, server: FakeServer, drifting: DriftingJudge) -> Path:
    return write_examined_suite(tmp_path / "small", server.port)


def test_a_canary_says_unchanged_then_names_the_judge_that_moved(
    command: Command, suite: Path, drifting: DriftingJudge, server: FakeServer
) -> None:
    command("qualify", suite, *CANARY).refused()
    assert command("qualify", suite, *EXAM).code == 0
    same = command("qualify", suite, *CANARY)
    assert same.code == 0, same.err
    assert "canary of alpha (ollama:fake-a), round 1: " in same.err
    assert "plan: at most 16 calls" in same.err
    assert "alpha (ollama:fake-a): unchanged so far on 2 criteria\n" in same.out
    assert "  safety.harm.danger: unchanged so far: 0.00 points [" in same.out
    assert "over 8 rows, round 1, e-value 0.5\n" in same.out
    before = len(server.calls)
    assert "round 2: " in command("qualify", suite, *CANARY, "--plan").err
    assert len(server.calls) == before

    drifting.by = {DANGER: 1.0}
    command("qualify", suite, *CANARY)
    moved = command("qualify", suite, *CANARY, "--format", "json")
    assert moved.code == 1, moved.err
    told = {one["criterion"]: one for one in json.loads(moved.out)}
    assert (told[DANGER]["moved"], told[DANGER]["sequence"]) == (True, 3)
    named = command("qualify", suite, *CANARY)
    assert named.code == 1
    assert "alpha (ollama:fake-a): moved on 1 of 2 criteria\n  safety.harm.danger: moved: +1.00 points [+" in named.out
    assert "over 8 rows, found on round 3, round 4, e-value " in named.out

    run = ("bench", "run", "--suite", suite, "--judge", "alpha", "--criteria", DANGER, "--limit", "1", "--yes")
    refused = command(*run, "--only-qualified").refused()
    assert f"judge alpha (ollama:fake-a) moved since its exam on {DANGER}" in refused
    done = command(*run)
    assert "  Judges: drifted: alpha\n" in done.out, done.out + done.err
    judged = command.results()["run"]["metadata"]["judges"][0]["qualification"]
    assert (judged["state"], judged["drifted"], judged["criteria"][0]["drift_round"]) == ("drifted", 1, 3)
    report = (command.run_folders()[-1] / "report.html").read_text(encoding="utf-8").replace("\u00a0", " ")
    assert "Drifted: scores of unchanged rows moved since the exam." in report or "Dérive : les notes de lignes" in report
    assert command("verify").code == 0

    anew = command("qualify", suite, *EXAM)
    assert anew.code == 0, anew.err
    assert "note: the scores moved since the last exam: all rows are asked about anew" in anew.err
    assert command(*run, "--only-qualified", "--fresh").code in (0, 3)
    assert "unchanged so far on 2 criteria" in command("qualify", suite, *CANARY).out


def test_a_canary_without_an_exam_says_what_to_run_first(command: Command, suite: Path) -> None:
    assert command("qualify", suite, *EXAM, "--limit", "2").code == 1  # a part of the gold set gives no standing
    refused = command("qualify", suite, *CANARY).refused()
    assert refused.startswith(
        "judge alpha (ollama:fake-a) has no exam to compare a canary with: it was never examined (run first"
    )
    assert "leave out --criteria" in command("qualify", suite, *CANARY, "--criteria", DANGER).refused()


def test_a_killed_round_goes_on_and_pays_nothing_twice(command: Command, suite: Path, server: FakeServer) -> None:
    assert command("qualify", suite, *EXAM).code == 0
    before = len(server.calls)
    server.latency = 0.2
    process = command.begin("qualify", suite, *CANARY, "--concurrency", "1")
    server.wait_for_calls(before + 6)
    process.send_signal(signal.SIGKILL)
    ended(process)
    server.latency = 0.0
    again = command("qualify", suite, *CANARY)
    assert again.code == 0, again.err
    assert "round 1: " in again.err
    assert len(server.calls) - before <= 18  # the call in flight at the kill may come again, and one that was not committed
    server.stop()
    assert "no Ollama server answers" in command("qualify", suite, *CANARY).refused(3)
    server.start()


def test_a_round_that_cannot_be_read_is_named_on_one_line(command: Command, suite: Path) -> None:
    assert command("qualify", suite, *EXAM).code == 0
    assert command("qualify", suite, *CANARY).code == 0
    with closing(sqlite3.connect(command.outputs / "ledger.db")) as ledger:
        assert ledger.execute("UPDATE canary_rounds SET result = '{}' WHERE number = 1").rowcount
        ledger.commit()
    refused = command("qualify", suite, *CANARY).refused()
    assert refused.startswith("the ledger is damaged: round of canaries 1: result cannot be read (")
