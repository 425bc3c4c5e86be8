"""What a run of the benchmark leaves in the ledger: answers, their judgments, and their scores."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace
from sqlalchemy import text

from areopage.bench.results.evaluations import store_evaluations
from areopage.bench.results.run_view import view_run
from areopage.ledger.store import Ledger
from areopage.ledger.tables.records import Answer
from areopage.ledger.write.answers import Answers
from areopage.ledger.write.evaluations import Evaluations
from servers.command import Command
from servers.fake_answers import true_answer
from servers.fake_llm import FakeServer
from servers.small_suite import CRITERIA, QUESTIONS, write_cases


@pytest.fixture
def ledger(command: Command) -> Iterator[Ledger]:
    """The ledger that the command writes to."""
    opened = Ledger.open(command.outputs / "ledger.db")
    yield opened
    opened.close()


def answers(ledger: Ledger) -> list[Answer]:
    with ledger.engine.connect() as connection:
        ids = connection.execute(text("SELECT id FROM answers ORDER BY number")).scalars().all()
    return [found for id in ids if (found := Answers(ledger).get(id)) is not None]


def test_each_generated_answer_is_listed_with_its_scores_and_judgments(command: Command, suite: Path, ledger: Ledger) -> None:
    assert command("bench", "run", "--suite", suite).code == 0
    run = ledger.run("latest")
    found = answers(ledger)
    assert [(one.origin, one.source, one.run_id) for one in found] == [("bench", "ollama:fake-target", run.id)] * 5
    assert {one.case.prompt_text: one.case.response for one in found} == {
        question: true_answer("fake-target", question) for question in QUESTIONS
    }
    view = view_run(run, ledger)
    for one in found:
        evaluation = Evaluations(ledger).get(one.id)
        assert evaluation is not None
        record = next(record for record in view.scores.records if record.case_id == one.case.id)
        assert (evaluation.run_id, evaluation.origin, evaluation.suite, evaluation.state) == (
            run.id,
            "bench",
            "small",
            "evaluated",
        )
        assert evaluation.score_global == pytest.approx(record.tree.score, abs=1e-6)
        assert {result.criterion: result.score for result in evaluation.criteria} == {
            score.criterion.removesuffix("__v1_0"): score.score for score in record.criteria
        }
        assert (evaluation.scored, evaluation.planned) == (16, 16)
        judgments = Evaluations(ledger).judgments(one.id)
        assert len(judgments) == len({judgment.key for judgment in judgments}) == 16
        assert {judgment.verdicts[0].criterion for judgment in judgments} == set(CRITERIA)


def test_a_recorded_answer_is_one_answer_in_every_run_and_has_the_scores_of_each(
    command: Command, suite: Path, ledger: Ledger
) -> None:
    cases = write_cases(suite / "r.csv", [{"id": "x", "prompt": "Why?", "response": "So.", "age": "10"}])
    for judge in ("alpha", "beta"):
        assert command("bench", "run", "--suite", suite, "--dataset", cases, "--judge", judge).code == 0
    [one] = answers(ledger)
    assert (one.case.id, one.case.response, one.key, one.run_id) == ("x", "So.", "", "")
    runs = ledger.runs()
    assert len(runs) == 2
    for run in runs:
        evaluation = Evaluations(ledger).get(one.id, run.id)
        assert evaluation is not None
        assert evaluation.score_global == pytest.approx(view_run(run, ledger).scores.tree.score, abs=1e-6)
    assert {judgment.judge for judgment in Evaluations(ledger).judgments(one.id)} == {"alpha", "beta"}


def test_scores_that_are_computed_again_replace_those_of_the_run(command: Command, suite: Path, ledger: Ledger) -> None:
    command("bench", "run", "--suite", suite, "--limit", "2")
    run = ledger.run("latest")
    kept = [Evaluations(ledger).get(one.id) for one in answers(ledger)]
    with ledger.engine.begin() as connection:
        connection.execute(text("UPDATE evaluations SET score_global = 0, spread = 9"))
        connection.execute(text("DELETE FROM evaluation_scores"))
        connection.execute(text("DELETE FROM answer_judgments"))
    store_evaluations(view_run(run, ledger, linked=False), ledger)
    again = [Evaluations(ledger).get(one.id) for one in answers(ledger)]
    assert [one and (one.score_global, one.spread, one.criteria) for one in again] == [
        one and (one.score_global, one.spread, one.criteria) for one in kept
    ]
    assert [len(Evaluations(ledger).judgments(one.id)) for one in answers(ledger)] == [16, 16]


def test_cases_that_are_read_by_their_links_have_the_same_responses(command: Command, suite: Path, ledger: Ledger) -> None:
    """Whole, failed, erased and recorded answers are read as they are where the keys of calls find them."""
    rows = [{"id": f"asked-{n}", "prompt": f"Why {n}?", "response": "", "age": "10"} for n in range(3)]
    cases = write_cases(suite / "r.csv", [*rows, {"id": "recorded", "prompt": "Why?", "response": "So.", "age": "10"}])
    assert command("bench", "run", "--suite", suite, "--dataset", cases).code == 0
    run = ledger.run("latest")
    asked = {one.case.prompt_text: one for one in answers(ledger)}
    ledger.erasure.erase([asked["Why 1?"].id])
    with ledger.engine.begin() as connection:
        connection.execute(text("UPDATE answers SET state = 'timed_out' WHERE id = :id"), {"id": asked["Why 2?"].id})
    by_links, by_keys = (view_run(run, ledger, linked=linked).cases for linked in (True, False))
    assert by_links == by_keys
    assert [one.response is not None for one in by_links] == [True, False, False, True]


def test_cases_alike_to_the_letter_share_an_answer(command: Command, suite: Path, ledger: Ledger) -> None:
    cases = write_cases(suite / "r.csv", [{"id": name, "prompt": "Why?", "age": "10"} for name in ("x", "y")])
    assert command("bench", "run", "--suite", suite, "--dataset", cases).code == 0
    [one] = answers(ledger)
    evaluation = Evaluations(ledger).get(one.id)
    assert evaluation is not None
    assert evaluation.score_global is not None


def held_texts(ledger: Ledger) -> str:
    """Everything that the ledger holds of runs, answers and judgments."""
    tables = ("run_cases", "answers", "answer_texts", "judgments", "verdicts", "evaluations")
    with ledger.engine.connect() as connection:
        return str([connection.execute(text(f"SELECT * FROM {name}")).all() for name in tables])


@pytest.mark.parametrize("response", ["So, Xylophage.", ""])
def test_an_erased_answer_leaves_no_text_of_its_case_in_its_runs_and_its_scores_stay(
    command: Command, suite: Path, ledger: Ledger, response: str
) -> None:
    rows = [{"id": "x", "prompt": "Xylophage?", "response": response, "age": "10"}, {"id": "y", "prompt": "Why?", "age": "10"}]
    cases = write_cases(suite / "r.csv", rows)
    for options in ((), ("--profile", "v1_1", "--reuse-answers")):
        assert command("bench", "run", "--suite", suite, "--dataset", cases, *options).code == 0
    one = next(found for found in answers(ledger) if found.case.id == "x")
    runs = ledger.runs()
    before = [(view_run(run, ledger).scores.tree, Evaluations(ledger).get(one.id, run.id)) for run in runs]
    assert "Xylophage" in held_texts(ledger)
    assert ledger.erasure.erase([one.id]) == 1
    assert "Xylophage" not in held_texts(ledger)
    assert "Why?" in held_texts(ledger)
    for run, (tree, evaluation) in zip(runs, before, strict=True):
        view = view_run(run, ledger)
        assert [(case.id, case.prompt_text) for case in view.cases] == [("x", ""), ("y", "Why?")]
        assert view.scores.tree == tree
        store_evaluations(view, ledger)
        again = Evaluations(ledger).get(one.id, run.id)
        assert evaluation is not None and again is not None
        assert replace(again, number=0) == replace(evaluation, number=0, prompt="", response="", erased=True)
        assert len(Evaluations(ledger).judgments(one.id, run.id)) == 16


def test_a_recorded_answer_that_is_erased_does_not_come_back_with_its_dataset(
    command: Command, suite: Path, ledger: Ledger, server: FakeServer
) -> None:
    cases = write_cases(suite / "r.csv", [{"id": "x", "prompt": "Xylophage?", "response": "So.", "age": "10"}])
    assert command("bench", "run", "--suite", suite, "--dataset", cases).code == 0
    asked = len(server.calls)
    ledger.erasure.erase([one.id for one in answers(ledger)])
    command("bench", "run", "--suite", suite, "--dataset", cases)
    assert len(ledger.runs()) == 2
    assert len(server.calls) == asked
    assert "Xylophage" not in held_texts(ledger)
    assert view_run(ledger.run("latest"), ledger).scores.tree.coverage == 0


def test_a_resumed_run_does_not_ask_again_for_an_erased_answer(
    command: Command, suite: Path, ledger: Ledger, server: FakeServer
) -> None:
    server.faults.stop_after = 30
    assert command("bench", "run", "--suite", suite).code != 0
    run = ledger.run("latest")
    assert run.finished_at is None and len(answers(ledger)) == len(server.target_calls) == 5
    ledger.erasure.erase([answers(ledger)[0].id])
    server.faults.stop_after = 0
    server.start()
    assert command("bench", "resume", "--yes").code == 3  # an answer of eight is gone
    assert len(answers(ledger)) == len(server.target_calls) == 5
    view = view_run(ledger.run("latest"), ledger)
    assert view.complete
    assert 0.8 <= view.scores.tree.coverage < 1
    evaluations = [Evaluations(ledger).get(one.id, run.id) for one in answers(ledger)]
    assert [one and one.scored == one.planned for one in evaluations] == [False, True, True, True, True]
    report = (Path(run.folder) / "report.html").read_text()
    assert "erased" in report
