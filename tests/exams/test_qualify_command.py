"""`areopage qualify`, and what runs and reports then say of a judge."""

import json
from pathlib import Path

from servers.command import Command

JUDGE = ("--judge", "rules:answer_quality")
FORMAT = ("--criteria", "quality.answer.format")
RUN = ("bench", "run", "--suite", "answer_quality", *JUDGE, *FORMAT, "--limit", "2")


def test_a_run_says_how_to_examine_its_judges_until_they_are_examined(command: Command) -> None:
    told = (
        "- Examiner les juges : areopage qualify answer_quality --judge rules_answer_quality=rules:answer_quality --out outputs\n"
    )
    assert told in command(*RUN).out
    assert command("qualify", "answer_quality", *JUDGE, *FORMAT).code == 0
    assert "Examiner les juges" not in command("bench", "show").out


def test_a_judge_that_passed_its_exam_is_accepted_and_shown_as_qualified(command: Command) -> None:
    refused = command(*RUN, "--only-qualified").refused()
    assert "judge rules_answer_quality (rules:answer_quality) was never examined on quality.answer.format" in refused
    assert refused.endswith("areopage qualify answer_quality --judge rules_answer_quality=rules:answer_quality)")
    assert not command.run_folders()

    plan = command("qualify", "answer_quality", *JUDGE, *FORMAT, "--plan")
    assert (plan.code, plan.out) == (0, "")
    assert "plan: at most 178 calls" in plan.err
    exam = command("qualify", "answer_quality", *JUDGE, *FORMAT)
    assert exam.code == 0, exam.err
    assert "rules_answer_quality (rules:answer_quality): qualified on 1 of 1 criterion\n" in exam.out
    again = command("qualify", "answer_quality", *JUDGE, *FORMAT, "--format", "json")
    assert [(one["criterion"], one["result"]["state"], one["whole"]) for one in json.loads(again.out)] == [
        ("quality.answer.format__v1_0", "qualified", True),
    ]
    assert "already in the ledger" in again.err

    run = command(*RUN, "--only-qualified")
    assert run.code == 0, run.err
    assert "  Juges : qualifiés à titre provisoire" in run.out
    judge = command.results()["run"]["metadata"]["judges"][0]["qualification"]
    assert (judge["state"], judge["qualified"], judge["never_examined"]) == ("qualified", 1, 0)
    report = (command.run_folders()[-1] / "report.html").read_text(encoding="utf-8")
    assert "critères qualifiés : 1 sur 1" in report.replace("\u00a0", " ").replace("\u202f", " ")
    verified = command("verify")
    assert verified.code == 0, verified.out


def test_a_judge_with_too_few_gold_rows_is_told_how_many_it_needs(command: Command, tmp_path: Path) -> None:
    exam = command("qualify", "answer_quality", *JUDGE, *FORMAT, "--limit", "6")
    assert exam.code == 1, exam.err
    assert "note: this is a part of the gold set: the result gives no standing" in exam.err
    assert "not qualified: quality.answer.format: separation 1.00" in exam.out
    assert "more gold rows with a low range and" in exam.out
