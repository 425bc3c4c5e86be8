"""`bench reassess` judges answers that are there with another panel: no target is asked, and states of answers stay."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from areopage.bench.results.run_view import view_run
from areopage.ledger.store import Ledger
from areopage.ledger.write.evaluations import Evaluations
from servers.command import Command
from servers.fake_llm import FakeServer
from servers.small_suite import write_cases

WHOLE = "The sky is blue because air scatters blue light most."
PANEL = ("--judge", "ollama:fake-a", "--passes", "1", "--criteria", "tone.voice.warmth")


@pytest.fixture
def ledger(command: Command) -> Iterator[Ledger]:
    """The ledger that the command writes to."""
    opened = Ledger.open(command.outputs / "ledger.db")
    yield opened
    opened.close()


def test_the_answers_of_a_run_are_judged_by_another_panel_without_the_target(
    command: Command, server: FakeServer, suite: Path, ledger: Ledger
) -> None:
    server.faults.replies, server.faults.ends = [WHOLE, "", "The sky is"], ["stop", "stop", "length"]
    command("bench", "run", "--suite", suite, "--concurrency", "1")
    first = command.results()
    asked, judged = len(server.target_calls), len(server.verdict_calls)
    ended = command("bench", "reassess", "latest", "--suite", suite, *PANEL)
    assert ended.code == 3, ended.err  # the coverage: answers that are none have no score
    again = command.results(Path(ledger.run("latest").folder))
    states = first["run"]["metadata"]["counts"]["answer_states"]
    assert (len(server.target_calls), len(server.verdict_calls)) == (asked, judged + states["answered"] + states["cut"])
    assert again["run"]["metadata"]["counts"]["answer_states"] == first["run"]["metadata"]["counts"]["answer_states"]
    assert [one["metadata"]["answer"]["state"] for one in again["records"]] == [
        one["metadata"]["answer"]["state"] for one in first["records"]
    ]
    assert [one["metadata"]["response"] for one in again["records"]] == [one["metadata"]["response"] for one in first["records"]]
    run, source = ledger.run("latest"), ledger.runs()[1]
    assert again["run"]["metadata"]["reassessed"] == {"run": source.id, "target": "ollama:fake-target"}
    assert f"the answers are those of ollama:fake-target in run {source.id}" in ended.err
    assert f"Answers of run: {source.id}" in command("bench", "show").out
    assert source.id in (Path(run.folder) / "report.html").read_text(encoding="utf-8")
    answers = {case: answer.id for case, answer in view_run(source, ledger).answers.items()}
    assert {case: answer.id for case, answer in view_run(run, ledger).answers.items()} == answers
    both = [Evaluations(ledger).get(answers[first["records"][0]["metadata"]["id"]], one.id) for one in (source, run)]
    assert [one.planned if one else None for one in both] == [16, 1]
    assert command("ledger", "check", "--ledger", command.outputs / "ledger.db").code == 0


def test_a_reassessment_is_resumed_and_can_be_reassessed(
    command: Command, server: FakeServer, suite: Path, ledger: Ledger
) -> None:
    assert command("bench", "run", "--suite", suite).code == 0
    asked, judged = len(server.target_calls), len(server.verdict_calls)
    server.faults.stop_after = len(server.calls) + 2
    assert command("bench", "reassess", "latest", "--suite", suite, *PANEL, "--concurrency", "1").code == 3
    assert ledger.run("latest").finished_at is None
    server.faults.stop_after = 0
    server.start()
    resumed = command("bench", "resume", "--yes")
    assert resumed.code == 0, resumed.err
    assert len(server.verdict_calls) - judged in (5, 6)  # the call that the server died on may be made again
    assert command("bench", "reassess", "latest", "--suite", suite, "--judge", "ollama:fake-b", *PANEL[2:]).code == 0
    assert len(server.target_calls) == asked
    newest, middle, first = ledger.runs()
    assert "ollama:fake-target" in command("bench", "list").out
    assert view_run(newest, ledger).spec.answered_by == view_run(middle, ledger).spec.answered_by == "ollama:fake-target"
    assert view_run(newest, ledger).answers == view_run(first, ledger).answers


def test_erased_answers_are_counted_and_named_and_an_erasure_reaches_every_run(
    command: Command, server: FakeServer, suite: Path, ledger: Ledger
) -> None:
    assert command("bench", "run", "--suite", suite).code == 0
    gone, kept, *_ = view_run(ledger.run("latest"), ledger).answers.items()
    ledger.erasure.erase([gone[1].id])
    ended = command("bench", "reassess", "latest", "--suite", suite, *PANEL)
    assert ended.code == 0, ended.err
    assert f"1 answer is erased and cannot be judged again: {gone[0]}" in ended.err
    results = command.results(Path(ledger.run("latest").folder))
    assert results["run"]["metadata"]["counts"]["cases"] == 4
    assert results["run"]["metadata"]["counts"]["rejected"] == 1
    ledger.erasure.erase([kept[1].id])
    assert [kept[0] in view_run(run, ledger).erased for run in ledger.runs()] == [True, True]
    ledger.erasure.erase([answer.id for answer in view_run(ledger.runs()[1], ledger).answers.values()])
    told = command("bench", "reassess", ledger.runs()[1].id, "--suite", suite, *PANEL).refused()
    assert "none of its 5 answers can be judged" in told


def test_a_file_of_recorded_answers_is_judged_and_one_without_responses_is_refused(
    command: Command, server: FakeServer, suite: Path, tmp_path: Path
) -> None:
    rows = [{"id": str(n), "prompt": f"Why {n}?", "response": "So." if n else "", "age": "10"} for n in range(3)]
    message = command("bench", "reassess", write_cases(tmp_path / "a.csv", rows), "--suite", suite, *PANEL).refused()
    assert message.startswith("1 of 3 cases without a response")
    assert command("bench", "reassess", write_cases(tmp_path / "b.csv", rows[1:]), "--suite", suite, *PANEL).code == 0
    assert not server.target_calls and len(server.verdict_calls) == 2
    assert "give --suite" in command("bench", "reassess", "b.csv").refused()
    assert "no run" in command("bench", "reassess", "c", "--suite", suite).refused()
