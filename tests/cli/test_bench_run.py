"""`areopage bench run` from a dataset to its files, against a server on loopback."""

import csv
import json
from datetime import datetime, timedelta
from itertools import pairwise
from pathlib import Path

from sqlalchemy import text

from areopage.bench.words import reused_text
from areopage.ledger.store import Ledger
from areopage.ledger.write.answers import ReusedAnswers
from areopage.report.elements import report_locale
from servers.command import Command, passes_of, scores_of
from servers.fake_answers import true_answer
from servers.fake_llm import FakeServer
from servers.small_suite import CRITERIA, QUESTIONS, write_cases, write_config


def test_a_run_asks_every_judge_for_every_pass_and_writes_its_files(command: Command, server: FakeServer, suite: Path) -> None:
    ended = command("bench", "run", "--suite", suite)
    assert ended.code == 0, ended.err
    (folder,) = command.run_folders()
    names = {path.name for path in folder.iterdir()}
    assert {"run.log", "results.json", "results.csv", "rejected.csv", "report.html"} <= names
    assert len(server.target_calls) == 5
    assert len(server.verdict_calls) == 5 * 4 * 2 * 2
    assert server.repeated() == 0
    results = command.results()
    assert results["run"]["metadata"]["coverage"] == {"scored": 80, "not_applicable": 0, "planned": 80}
    for record, question in zip(results["records"], QUESTIONS, strict=True):
        assert record["metadata"]["response"] == true_answer("fake-target", question)
    assert f"Final score: {results['run']['final_aggregate_score']:.2f} of 5" in ended.out
    assert "Coverage: 100% – " in ended.out
    assert str(folder / "report.html") in ended.out
    assert "plan: 85 calls (5 answers)" in ended.err
    log = (folder / "run.log").read_text(encoding="utf-8")
    for said in (
        "phase target: 5 calls, 0 already in the ledger",
        "phase beta: 40 calls",
        "wrote report.html",
        "coverage 1.0000",
    ):
        assert said in log


def test_no_line_on_the_console_ends_in_blanks(command: Command, server: FakeServer, suite: Path) -> None:
    said = command("bench", "run", "--suite", suite, "--passes", "1")
    listed, shown = command("bench", "list"), command("bench", "show", "latest")
    lines = [line for ended in (said, listed, shown) for line in (ended.out + ended.err).splitlines()]
    assert [line for line in lines if line != line.rstrip()] == []
    assert any(line.startswith("Final score") for line in lines)


def test_each_verdict_is_the_one_that_the_judge_gave(command: Command, server: FakeServer, suite: Path) -> None:
    command("bench", "run", "--suite", suite)
    asked = {(call.model, call.system, call.user): call.score for call in server.verdict_calls}
    passes = passes_of(command.results())
    assert sorted(one["given_score"] for one in passes.values()) == sorted(
        score
        for score in asked.values()
        for _ in range(2)  # both passes ask the same question
    )
    for one in passes.values():
        assert one["explanation"].startswith(f"Reason {one['given_score']:g} from")


def test_options_of_judge_and_pass_reach_the_server(command: Command, server: FakeServer, suite: Path) -> None:
    command("bench", "run", "--suite", suite, "--limit", "1")
    alpha = [call for call in server.verdict_calls if call.model == "fake-a"]
    assert {(call.options["temperature"], call.options["num_ctx"]) for call in alpha} == {(0.1, 4096), (0.2, 4096)}
    assert {json.loads(call.body)["keep_alive"] for call in alpha} == {"1m"}
    assert [call.options for call in server.target_calls] == [{"temperature": 0.6}]


def test_judges_take_turns_so_that_each_model_is_loaded_once(command: Command, server: FakeServer, suite: Path) -> None:
    command("bench", "run", "--suite", suite)
    order = [call.model for call in server.calls]
    changes = sum(one != other for one, other in pairwise(order))
    assert order[0] == "fake-target"
    assert changes == 2


def test_attack_is_a_neutral_system_message_and_defensive_the_personas_guidance(
    command: Command, server: FakeServer, suite: Path
) -> None:
    assert command("bench", "run", "--suite", suite, "--limit", "1", "--mode", "attack").code == 0
    assert command("bench", "run", "--suite", suite, "--limit", "1", "--mode", "defensive").code == 0
    attack, defensive = server.target_calls
    assert attack.messages == (("system", "You are a helpful assistant."), ("user", QUESTIONS[0]))
    assert defensive.user == QUESTIONS[0]
    assert "9-12 years" in defensive.system
    assert "Use short sentences." in defensive.system
    assert "violence" in defensive.system


def test_a_model_that_only_completes_is_sent_one_text(command: Command, server: FakeServer, suite: Path) -> None:
    write_config(suite, models=[{"provider": "ollama", "model": "fake-target", "single_prompt": True}])
    assert command("bench", "run", "--suite", suite, "--limit", "1").code == 0
    (target,) = server.target_calls
    text = f"You are a helpful assistant.\n\nUser: {QUESTIONS[0]}\n\nAssistant:"
    assert target.messages == (("user", text),)


def test_a_french_run_receives_french_prompts_and_personas(command: Command, server: FakeServer, suite: Path) -> None:
    ended = command("bench", "run", "--suite", suite, "--limit", "1", "--lang", "fr", "--mode", "defensive")
    assert ended.code == 0, ended.err
    (target,) = server.target_calls
    assert "Vous parlez avec une jeune personne de 9-12 ans" in target.system
    assert "Faites des phrases courtes." in target.system
    for call in server.verdict_calls:
        assert "BARÈME" in call.system
        assert "La réponse évite-t-elle" in call.system
        assert "Jugez la réponse" in call.user


def test_rows_that_carry_a_response_need_no_target(command: Command, server: FakeServer, suite: Path) -> None:
    rows = [{"prompt": "Are you alive?", "response": "No, I am a program."}, {"prompt": "Why?", "response": "Because."}]
    dataset = write_cases(command.folder / "answered.csv", rows)
    ended = command("bench", "run", "--suite", suite, "--dataset", dataset)
    assert ended.code == 0, ended.err
    assert not server.target_calls
    assert "responses come with the cases" in ended.err
    results = command.results()
    assert results["run"]["metadata"]["target"] is None
    assert {record["metadata"]["response"] for record in results["records"]} == {"No, I am a program.", "Because."}
    assert all("No, I am a program." in call.user or "Because." in call.user for call in server.verdict_calls)


def test_only_rows_without_a_response_are_put_to_the_target(command: Command, server: FakeServer, suite: Path) -> None:
    rows = [{"id": "1", "prompt": "Are you alive?", "response": "No."}, {"id": "2", "prompt": "Why?", "response": ""}]
    dataset = write_cases(command.folder / "mixed.csv", rows)
    assert command("bench", "run", "--suite", suite, "--dataset", dataset).code == 0
    assert [call.user for call in server.target_calls] == ["Why?"]
    assert [record["metadata"]["response"] for record in command.results()["records"]] == [
        "No.",
        true_answer("fake-target", "Why?"),
    ]


def test_a_row_may_choose_its_own_criteria(command: Command, server: FakeServer, suite: Path) -> None:
    rows = [
        {"id": "own", "prompt": "a?", "criteria_selection": "tone.voice.warmth, safety.harm.danger__v1_0"},
        {"id": "default", "prompt": "b?", "criteria_selection": ""},
    ]
    dataset = write_cases(command.folder / "own.csv", rows)
    assert command("bench", "run", "--suite", suite, "--dataset", dataset).code == 0
    found = {record["metadata"]["id"]: set(record["detailed_criteria"]) for record in command.results()["records"]}
    assert found == {"own": {CRITERIA[0], CRITERIA[2]}, "default": set(CRITERIA)}


def test_criteria_on_the_command_line_go_before_those_of_the_rows(command: Command, server: FakeServer, suite: Path) -> None:
    dataset = write_cases(command.folder / "own.csv", [{"prompt": "a?", "criteria_selection": "tone"}])
    assert command("bench", "run", "--suite", suite, "--dataset", dataset, "--criteria", "safety.harm").code == 0
    (record,) = command.results()["records"]
    assert list(record["detailed_criteria"]) == list(CRITERIA[:2])


def test_rows_that_cannot_be_used_are_named_and_stop_nothing(command: Command, server: FakeServer, suite: Path) -> None:
    rows = [
        {"id": "1", "prompt": "good?", "criteria_selection": ""},
        {"id": "2", "prompt": "", "criteria_selection": ""},
        {"id": "1", "prompt": "twice?", "criteria_selection": ""},
        {"id": "4", "prompt": "odd?", "criteria_selection": "tone.voice.warmht"},
    ]
    dataset = write_cases(command.folder / "some.csv", rows)
    ended = command("bench", "run", "--suite", suite, "--dataset", dataset)
    assert ended.code == 0, ended.err
    assert "3 rows are rejected: see rejected.csv" in ended.err
    (folder,) = command.run_folders()
    with (folder / "rejected.csv").open(encoding="utf-8-sig", newline="") as stream:
        rejected = list(csv.DictReader(stream))
    assert [row["row"] for row in rejected[:2]] == ["3", "4"]
    assert "empty" in rejected[0]["reason"]
    assert "'1' is taken" in rejected[1]["reason"]
    assert "did you mean tone.voice.warmth" in rejected[2]["reason"]
    assert len(command.results()["records"]) == 1


def test_a_case_whose_criteria_have_no_prompt_files_is_rejected_by_name(
    command: Command, server: FakeServer, suite: Path
) -> None:
    (suite / "assets" / "criteria" / "tone" / "warmth__v1_0.prompt").unlink()
    rows = [
        {"id": "lost", "prompt": "a?", "criteria_selection": "tone.voice.warmth"},
        {"id": "kept", "prompt": "b?", "criteria_selection": ""},
    ]
    dataset = write_cases(command.folder / "own.csv", rows)
    ended = command("bench", "run", "--suite", suite, "--dataset", dataset)
    assert ended.code == 3, ended.err
    assert "3 of 4 criteria are judged" in ended.out
    assert "1 selected criterion is not judged\n  - warmth\n" in ended.out, ended.out
    assert "left out:" in ended.err
    assert "warmth__v1_0.prompt: the prompt file of tone.voice.warmth__v1_0 is missing" in ended.err
    (folder,) = command.run_folders()
    assert f"{dataset},2,none of its criteria can be used" in (folder / "rejected.csv").read_text(encoding="utf-8-sig")
    (record,) = command.results()["records"]
    assert set(record["detailed_criteria"]) == set(CRITERIA) - {"tone.voice.warmth__v1_0"}


def test_a_new_run_asks_the_target_again_and_pays_for_no_judgment_of_an_equal_answer(
    command: Command, server: FakeServer, suite: Path
) -> None:
    command("bench", "run", "--suite", suite)
    asked, judged = len(server.target_calls), len(server.verdict_calls)
    ended = command("bench", "run", "--suite", suite)
    assert ended.code == 0, ended.err
    assert (len(server.target_calls), len(server.verdict_calls)) == (2 * asked, judged)
    first, second = command.run_folders()
    assert scores_of(command.results(first)) == scores_of(command.results(second))
    assert command.results(second)["run"]["metadata"]["reused_answers"] is None


def made_earlier(command: Command, hours: int, what: str) -> None:
    """Move runs or answers of the ledger into the past."""
    table, column = {"runs": ("runs", "created_at"), "answers": ("answers", "answered_at")}[what]
    with Ledger.open(command.outputs / "ledger.db") as ledger, ledger.engine.begin() as connection:
        for id, at in connection.execute(text(f"SELECT id, {column} FROM {table}")).all():
            earlier = datetime.fromisoformat(str(at)) - timedelta(hours=hours)
            values = {"at": earlier.isoformat(" ", "microseconds"), "id": id}
            connection.execute(text(f"UPDATE {table} SET {column} = :at WHERE id = :id"), values)


def test_the_regression_of_a_night_is_found_behind_an_unchanged_name(command: Command, server: FakeServer, suite: Path) -> None:
    server.judge = lambda call: {"score": 0 if "HARM" in call.user else 5, "explanation": "-"}
    write_config(suite, release={"max_failures": {"safety": 0}, "unexamined": "accept"})
    nightly = ("bench", "run", "--suite", suite, "--judge", "alpha", "--passes", "1", "--criteria", "safety", "--no-joint")
    assert "PASS" in command(*nightly).out
    server.respond = lambda call: "HARM"
    assert command(*nightly).code == 1
    reused = command(*nightly, "--reuse-answers")
    assert "newest" not in reused.out and reused.code == 1, "the latest answers are those that are reused"


def test_reused_answers_are_dated_wherever_the_run_is_shown(command: Command, server: FakeServer, suite: Path) -> None:
    command("bench", "run", "--suite", suite)
    asked = len(server.target_calls)
    made_earlier(command, 24 * 40, "answers")
    with Ledger.open(command.outputs / "ledger.db") as ledger:
        oldest = min(answer.answered_at for answer in ledger.streams.answers())
    planned = command("bench", "plan", "--suite", suite, "--reuse-answers").out
    assert "0 answers" in planned, planned
    ended = command("bench", "run", "--suite", suite, "--reuse-answers")
    assert len(server.target_calls) == asked
    folder = command.run_folders()[-1]
    reused = command.results(folder)["run"]["metadata"]["reused_answers"]
    assert (reused["cases"], reused["oldest"][:10]) == (asked, oldest.isoformat()[:10])
    shown = report_locale("en").date(oldest)
    assert f"given to earlier runs, the oldest on {shown}".replace("\u00a0", " ") in ended.out
    assert shown in (folder / "report.html").read_text(encoding="utf-8")
    command("bench", "export", "latest", "--format", "markdown", "--file", "summary.md")
    assert "were given to earlier runs, the oldest on" in (command.folder / "summary.md").read_text(encoding="utf-8")
    french = report_locale("fr")
    told = reused_text(ReusedAnswers(cases=2, oldest=oldest), 3, french)
    assert told.startswith("2 sur 3 proviennent") and french.date(oldest) in told
    assert f"answers of {oldest:%Y-%m-%d}" in command("bench", "list").out
    assert "answers of" in command("bench", "trend").out


def test_an_unfinished_run_is_resumed_by_its_command_for_half_a_day(command: Command, server: FakeServer, suite: Path) -> None:
    run = ("bench", "run", "--suite", suite, "--limit", "1")
    server.faults.stop_after = 2
    assert command(*run).code == 3
    server.faults.stop_after = 0
    server.start()
    made_earlier(command, 13, "runs")
    anew = command(*run)
    assert anew.code == 0 and len(command.run_folders()) == 2, anew.err
    assert "is unfinished, go on with it by: areopage bench resume" in anew.err


def test_new_begins_a_run_beside_an_unfinished_one(command: Command, server: FakeServer, suite: Path) -> None:
    run = ("bench", "run", "--suite", suite, "--limit", "1")
    server.faults.stop_after = 2
    assert command(*run).code == 3
    server.faults.stop_after = 0
    server.start()
    assert command(*run, "--new").code == 0 and len(command.run_folders()) == 2
    resumed = command(*run)
    assert "resuming the unfinished run" in resumed.err and len(command.run_folders()) == 2


def test_fresh_repeats_judgments_too(command: Command, server: FakeServer, suite: Path) -> None:
    command("bench", "run", "--suite", suite, "--limit", "1")
    paid = len(server.calls)
    assert command("bench", "run", "--suite", suite, "--limit", "1", "--fresh").code == 0
    assert len(server.calls) == 2 * paid


def test_a_judge_of_the_suite_can_be_put_on_another_server(command: Command, server: FakeServer, suite: Path) -> None:
    arguments = ("bench", "run", "--suite", suite, "--limit", "1")
    command(*arguments)
    ended = command(*arguments, "--judge", "alpha=openai:fake-a", "--judge", "beta")
    assert ended.code == 0, ended.err
    by_protocol = {(call.path, call.model) for call in server.verdict_calls}
    assert by_protocol == {("/api/chat", "fake-a"), ("/api/chat", "fake-b"), ("/v1/chat/completions", "fake-a")}
    first, second = command.run_folders()
    assert scores_of(command.results(first)) == scores_of(command.results(second))


def test_a_named_endpoint_is_reached_with_the_key_that_its_variable_holds(
    command: Command, server: FakeServer, suite: Path
) -> None:
    server.api_key = "abcd-secret"
    endpoint = {"provider": "openai", "base_url": server.openai_url, "api_key_env": "LAB_KEY"}
    write_config(suite, endpoints={"lab": endpoint})
    command.environment["LAB_KEY"] = "abcd-secret"
    lab = ("--judge", "openai@lab:fake-a", "--target", "openai@lab:fake-target")
    ended = command("bench", "run", "--suite", suite, "--limit", "1", "--allow-variable", "LAB_KEY", *lab)
    assert ended.code == 0, ended.err
    assert {call.authorization for call in server.calls} == {"Bearer abcd-secret"}
    kept = b"".join(path.read_bytes() for path in command.outputs.rglob("*") if path.is_file())
    assert b"abcd-secret" not in kept


def test_cases_alike_to_the_letter_are_asked_about_once_and_counted_each(
    command: Command, server: FakeServer, suite: Path
) -> None:
    rows = [{"id": "1", "prompt": "same?", "response": "same."}, {"id": "2", "prompt": "same?", "response": "same."}]
    dataset = write_cases(command.folder / "same.csv", rows)
    assert command("bench", "run", "--suite", suite, "--dataset", dataset).code == 0
    assert len(server.calls) == 4 * 2 * 2
    assert command.results()["run"]["metadata"]["coverage"] == {"scored": 32, "not_applicable": 0, "planned": 32}
