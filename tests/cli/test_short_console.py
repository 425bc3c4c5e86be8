"""`bench run` and the commands that show runs print what decides in few lines; `--verbose` prints everything."""

from pathlib import Path
from typing import Any

import pytest

from servers.command import Command
from servers.fake_answers import Call
from servers.fake_llm import FakeServer
from servers.small_suite import write_cases, write_suite

ANSWERS = """\
id,prompt,response,age
moon,Why?,The sun shines on the moon. It turns around us.,7
tides,How?,Tides are the gravitational attraction exerted by luminaries.,7
"""
READABILITY = ("--criteria", "age.readability", "--judge", "rules:readability", "--yes")


@pytest.fixture
def failing(tmp_path: Path, server: FakeServer) -> Path:
    """A suite with 40 cases, which all fail, except that judges refuse every third."""

    def judge(call: Call) -> dict[str, Any] | str:
        number = int(call.user.partition("number ")[2].split("?")[0])
        return "I cannot judge this." if number % 3 == 0 else {"score": 0, "explanation": "because", "evidence_extracts": []}

    server.judge = judge
    rows = [{"prompt": f"number {number}?", "response": "No."} for number in range(40)]
    floors = {"max_failures": {"safety": 0, "tone": 0}, "min_cases": 50, "min_coverage": 0.99}
    write_cases(tmp_path / "rows.csv", rows)
    return write_suite(tmp_path / "failing", release=floors)


def lines(text: str) -> int:
    return len(text.splitlines())


def test_a_run_without_a_server_says_all_that_decides_in_thirty_lines(command: Command) -> None:
    (command.folder / "answers.csv").write_text(ANSWERS, encoding="utf-8")
    ended = command("bench", "run", "--suite", "child_safety", "--dataset", "answers.csv", *READABILITY, together=True)
    assert lines(ended.out) <= 30, ended.out
    assert "Release verdict: INCONCLUSIVE" in ended.out
    assert "Failures by criterion: " in ended.out
    assert "Benchmark report: " in ended.out
    assert "--verbose shows everything" in ended.out
    assert "__v1_0" not in ended.out, "criteria have names"


def test_what_the_short_console_cuts_is_counted_and_whole_with_verbose(command: Command, failing: Path) -> None:
    options = ("--suite", failing, "--dataset", "rows.csv", "--answers", "dataset", "--passes", "1", "--yes")
    short = command("bench", "run", *options)
    assert lines(short.out) <= 30, short.out
    assert "Release verdict: FAIL" in short.out
    assert "  - and 25 more\n" in short.out, "failing cases are counted"
    assert "- alpha, beta – refused: the judge declines (14 cases)\n" in short.out
    assert "Why answers and verdicts are missing" in short.out
    whole = command("bench", "show", "latest", "-v")
    for title in ("Failures\nCategory, criterion", "Scores\nCategory, sub-category", "Judges\nJudge"):
        assert title in whole.out
        assert title not in short.out
    assert "--verbose shows everything" not in whole.out


@pytest.mark.parametrize("words", [("show", "latest"), ("rescore", "latest"), ("resume", "latest", "--yes")])
def test_other_commands_show_a_run_in_short_too(command: Command, failing: Path, words: tuple[str, ...]) -> None:
    options = ("--suite", failing, "--dataset", "rows.csv", "--answers", "dataset", "--passes", "1", "--yes")
    command("bench", "run", *options)
    short, whole = command("bench", *words), command("bench", *words, "--verbose")
    assert lines(short.out) <= 30 < lines(whole.out), short.out


def test_every_name_of_a_floor_is_on_the_page_and_on_the_whole_console(command: Command) -> None:
    (command.folder / "answers.csv").write_text(ANSWERS, encoding="utf-8")
    ended = command("bench", "run", "--suite", "child_safety", "--dataset", "answers.csv", *READABILITY)
    assert "(+5 more)" in ended.verdict
    (folder,) = command.run_folders()
    whole = command("bench", "show", "latest", "-v").verdict
    assert "(+" not in whole
    page = (folder / "report.html").read_text(encoding="utf-8")
    names = (
        whole.partition("Critical criteria: not judged in this run – ")[2].partition(". ")[0].split(" Serious")[0].rstrip(" -")
    )
    assert len(names.split(", ")) == 13, names
    assert names in page


def test_a_french_run_ends_with_french_sentences(command: Command, failing: Path) -> None:
    options = ("--suite", failing, "--dataset", "rows.csv", "--answers", "dataset", "--passes", "1", "--yes", "--lang", "fr")
    ended = command("bench", "run", *options)
    assert "Abrégé : --verbose montre tout" in ended.out
    unscored = command("bench", "run", "--suite", "child_safety", "--dataset", "rows.csv", *READABILITY, "--lang", "fr")
    assert unscored.err.splitlines()[-1].startswith("rien n’a pu être noté"), unscored.err
