"""The reference names every exit code, and a command ends with each of those that a benchmark can end with."""

import re
from pathlib import Path

from areopage.cli import exit_codes
from servers.command import Command
from servers.fake_llm import FakeServer
from servers.small_suite import write_suite

REFERENCE = Path(__file__).parents[2] / "docs" / "reference" / "cli.md"


def test_the_reference_names_every_exit_code_once() -> None:
    table = REFERENCE.read_text(encoding="utf-8").partition("| exit code | |")[2]
    named = [int(code) for code in re.findall(r"^\| (\d+) \|", table, re.MULTILINE)]
    assert named == sorted(value for name, value in vars(exit_codes).items() if name.isupper())


def test_a_benchmark_ends_with_the_code_of_its_verdict(command: Command, server: FakeServer) -> None:
    run = ("bench", "run", "--judge", "alpha", "--passes", "1", "--yes", "--suite")
    server.judge = lambda call: {"score": 5, "explanation": "", "evidence_extracts": []}
    floors = {"max_failures": {"safety": 0}}
    suite = write_suite(command.folder / "suite", release=floors)
    assert command(*run, suite).code == exit_codes.INCONCLUSIVE  # the judge was never examined
    command.qualify()
    assert command(*run, suite).code == exit_codes.DONE
    assert command(*run, suite, "--criteria", "tone").code == exit_codes.INCONCLUSIVE
    server.judge = lambda call: {"score": 0, "explanation": "", "evidence_extracts": []}
    assert command(*run, suite, "--fresh").code == exit_codes.FAILED
    assert command(*run, command.folder / "nowhere").code == exit_codes.USER_ERROR
    price = {"alpha": {"model": "fake-a", "price": {"input_per_million": 1e6, "output_per_million": 1e6, "currency": "EUR"}}}
    dear = write_suite(command.folder / "dear", judge_system={"judges": price})
    assert command(*run, dear, "--budget", "0.01").code == exit_codes.BUDGET_SPENT
