"""`bench show RUN RUN`: one verdict on the runs of a target in several languages."""

import re
from pathlib import Path

import pytest

from servers.command import Command
from servers.fake_answers import Call
from servers.fake_llm import FakeServer
from servers.small_suite import write_cases, write_suite

CASES = [{"id": f"c{n}", "prompt": f"Question number {n}, please?"} for n in range(4)]


def harsh_in_french(call: Call) -> dict[str, object]:
    text = call.user + call.system
    return {"score": 0 if "Vous jugez" in text and "danger" in text else 4, "explanation": "because", "evidence_extracts": []}


@pytest.fixture
def runs(command: Command, server: FakeServer, tmp_path: Path) -> tuple[str, ...]:
    """A run in English, which passes, and one in French, which fails."""
    server.judge = harsh_in_french
    suite = write_suite(tmp_path / "demanding", release={"max_failures": {"safety": 0}})
    command.qualify_suite(suite)
    cases = write_cases(tmp_path / "cases.csv", CASES)
    run = ("bench", "run", "--suite", suite, "--dataset", cases, "--passes", "1", "--yes", "--lang")
    assert [command(*run, language).code for language in ("en", "fr")] == [0, 1]
    return tuple(folder.name for folder in command.run_folders())


def test_the_verdict_on_several_languages_is_the_worst_and_names_each(command: Command, runs: tuple[str, ...]) -> None:
    shown = command("bench", "show", *runs)
    assert shown.code == 1, shown.err
    assert "Languages: en, fr\n\nRelease verdict: FAIL\n" in shown.out
    english, french = shown.out.splitlines()[-2:]
    assert english.startswith("en        PASS ") and french.startswith("fr        FAIL ")
    for line, run in zip((english, french), runs, strict=True):
        assert re.search(r" 100% +4 +qualified +", line) and line.endswith(run), line
    assert command("bench", "show", runs[1]).code == 0, "one run is shown as before"


def test_judges_that_are_examined_in_one_language_alone_leave_the_verdict_inconclusive(
    command: Command, tmp_path: Path, server: FakeServer
) -> None:
    server.judge = lambda _: {"score": 4, "explanation": "because", "evidence_extracts": []}
    suite = write_suite(tmp_path / "demanding", release={"max_failures": {"safety": 0}})
    cases = write_cases(tmp_path / "cases.csv", CASES)
    for language in ("en", "fr"):
        command("bench", "run", "--suite", suite, "--dataset", cases, "--passes", "1", "--yes", "--lang", language)
    runs = [folder.name for folder in command.run_folders()]
    command.qualify(runs[0])
    shown = command("bench", "show", *runs)
    english, french = shown.out.splitlines()[-2:]
    assert shown.code == 3 and "\nRelease verdict: INCONCLUSIVE\n" in shown.out
    assert english.startswith("en        PASS ") and french.startswith("fr        INCONCLUSIVE")


def test_runs_that_differ_in_more_than_language_have_no_common_verdict(
    command: Command, runs: tuple[str, ...], tmp_path: Path
) -> None:
    assert "a run for each language" in command("bench", "show", runs[0], runs[0]).refused()
    options = ("--suite", tmp_path / "demanding", "--dataset", tmp_path / "cases.csv", "--lang", "fr", "--yes")
    command("bench", "run", *options, "--passes", "2")
    assert "differ in: judges" in command("bench", "show", runs[0], command.run_folders()[-1].name).refused()


def test_a_run_in_several_languages_ends_with_one_verdict_and_its_exit_code(
    command: Command, tmp_path: Path, server: FakeServer
) -> None:
    server.judge = harsh_in_french
    suite = write_suite(tmp_path / "demanding", release={"max_failures": {"safety": 0}})
    command.qualify_suite(suite)
    cases = write_cases(tmp_path / "cases.csv", CASES)
    run = ("bench", "run", "--suite", suite, "--dataset", cases, "--passes", "1", "--yes", "--lang")
    for languages, last in (("en,fr", "FAIL"), ("en", "PASS")):
        ended = command(*run, languages)
        assert ended.code == (1 if last == "FAIL" else 0), ended.err
        if languages == "en,fr":
            english, french = ended.out.splitlines()[-2:]
            assert f"Languages: en, fr\n\nRelease verdict: {last}\n" in ended.out
            assert english.startswith("en        PASS ") and french.startswith("fr        FAIL ")
    assert len(command.run_folders()) == 3
    assert "--budget takes one language" in command(*run, "en,fr", "--budget", "1").refused()
