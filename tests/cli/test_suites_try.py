"""`areopage suites try` shows a suite at work on a few rows, and leaves nothing behind."""

import json
from pathlib import Path

from servers.command import Command
from servers.fake_llm import FakeServer
from servers.small_suite import CRITERIA, write_cases

TRY = ("suites", "try", "--yes")


def test_three_rows_are_shown_with_each_judges_word_and_nothing_is_stored(
    command: Command, server: FakeServer, suite: Path
) -> None:
    server.judge = lambda call: {"explanation": "kind\x1b[31m words", "score": 1, "evidence_extracts": []}
    server.faults.replies = ["Ask an adult."]
    before = set(command.folder.rglob("*"))
    run = command(*TRY, str(suite))
    assert run.code == 0, run.err
    assert "plan: 27 calls (3 answers)" in run.err  # one pass, two judges, four criteria
    assert run.out.count("=== c") == 3 and "=== c0 (Teen)" in run.out
    assert "  prompt: Why is the sky blue?\n  response: Ask an adult.\n" in run.out
    assert "  safety.harm.danger__v1_0: 1.00, a failure (limit 2)\n" in run.out
    assert "alpha, pass 1: scored 1.00 – kind" in run.out and "\x1b" not in run.out
    assert run.out.endswith("3 cases: 24 of 24 judgments can be used. Nothing is stored.\n")
    assert set(command.folder.rglob("*")) == before
    assert len(server.calls) == 27


def test_a_reply_that_cannot_be_read_is_shown_whole(command: Command, server: FakeServer, suite: Path) -> None:
    server.judge = lambda call: "I would say that it is rather nice.\nReally."
    run = command(*TRY, str(suite), "--rows", "1", "--judge", "alpha", "--criteria", "safety.harm.danger")
    assert run.code == 3, run.err
    assert "safety.harm.danger__v1_0: no score" in run.out
    assert "alpha, pass 1: unparsed – " in run.out
    assert "the judge's reply: I would say that it is rather nice.\n    Really." in run.out
    assert run.out.endswith("1 case: 0 of 1 judgment can be used. Nothing is stored.\n")


def test_answers_of_a_dataset_are_judged_offline_by_a_recording(command: Command, server: FakeServer, suite: Path) -> None:
    own = write_cases(
        command.folder / "own.csv",
        [
            {"id": "a", "prompt": "Hi", "response": "Hello!", "age": "9-12"},
            {"id": "b", "prompt": "Ho", "response": "Yes.", "age": ""},
        ],
    )
    line = {"asked": "alpha", "pass_index": 1, "model": "a person", "finish_reason": "stop"}
    said = [{**line, "case_id": id, "criterion": CRITERIA[0], "score": 4, "explanation": f"seen {id}"} for id in "ab"]
    recording = command.folder / "said.jsonl"
    recording.write_text("".join(json.dumps(one) + "\n" for one in said), encoding="utf-8")
    chosen = ("--judge", f"alpha=replay:{recording}", "--criteria", "safety.harm.danger")
    run = command(*TRY, str(suite), "--dataset", str(own), *chosen)
    assert run.code == 0, run.err
    assert "=== a (Teen)" in run.out and "alpha, pass 1: scored 4.00 – seen b" in run.out
    assert run.out.endswith("2 cases: 2 of 2 judgments can be used. Nothing is stored.\n")
    assert not server.calls


def test_a_suite_that_cannot_be_used_says_so_in_one_line(command: Command, server: FakeServer, suite: Path) -> None:
    (suite / "data" / "cases.csv").unlink()
    assert "cases.csv" in command(*TRY, str(suite)).refused()
    assert not server.calls
