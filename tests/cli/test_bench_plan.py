"""`bench plan` and what a run's cases can tell: on the console, in the results and in the report."""

from pathlib import Path

from servers.command import Command
from servers.fake_llm import FakeServer
from servers.small_suite import write_cases, write_config

ROWS = [{"id": f"c{n}", "prompt": f"Question {n}?", "age": "9-12", "source": f"book {n // 2}"} for n in range(12)]


def test_a_run_says_what_its_cases_can_tell_and_a_plan_how_many_it_takes(
    command: Command, server: FakeServer, suite: Path
) -> None:
    write_config(suite, scoring={"cluster": "source"})
    write_cases(suite / "data" / "cases.csv", ROWS)
    run = command("bench", "run", "--suite", str(suite), "--passes", "2", "--yes", "--verbose")
    assert "  Can tell: differences between two targets of at least" in run.out, run.out + run.err
    metadata = command.results()["run"]["metadata"]
    interval, found = metadata["final_interval"], metadata["detectable"]
    assert (interval["cases"], interval["clusters"]) == (12, 6)
    assert 0 < found["difference"] <= 5 and found["failures"] == 1 - 0.025 ** (1 / found["failure_cases"])
    assert set(metadata["intervals"]) >= {"safety"}
    (folder,) = command.run_folders()
    assert "Can tell" in (folder / "report.html").read_text(encoding="utf-8")
    calls = len(server.calls)
    plan = command("bench", "plan", "--like", "latest", "--precision", "0.2")
    assert plan.code == 0, plan.err
    assert "95 % interval of ± 0.2 points, planned from run" in plan.out and "12 cases" in plan.out
    assert "fewest calls:" in plan.out and "final score" in plan.out
    assert len(server.calls) == calls


def test_a_plan_from_a_stated_spread_needs_no_run_and_asks_no_model(command: Command, server: FakeServer, suite: Path) -> None:
    write_cases(suite / "data" / "cases.csv", ROWS)
    plan = command("bench", "plan", "--suite", str(suite), "--precision", "0.2", "--spread", "1")
    assert plan.code == 0, plan.err
    assert "an assumed spread of 1 points" in plan.out and "106" in plan.out
    assert not server.calls


def test_a_plan_without_a_spread_or_with_an_impossible_one_is_refused(command: Command, suite: Path) -> None:
    assert "--like RUN, or --spread POINTS" in command("bench", "plan", "--precision", "0.2").refused()
    given = ("bench", "plan", "--suite", str(suite), "--spread", "1")
    assert "--precision 4" in command(*given, "--precision", "4").refused()
    assert "no scores on the scale" in command(*given[:-1], "4", "--precision", "0.2").refused()
