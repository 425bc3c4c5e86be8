"""Nothing that a run needs is missing in silence: readers, criteria, answers of the target."""

import json
import re
from pathlib import Path

import pytest

from areopage.bench.options import RunOptions
from areopage.bench.planning.budget import paid_models
from areopage.bench.planning.prepare import prepare_run
from areopage.suites.loader import load_suite
from servers.command import Command
from servers.fake_llm import FakeServer
from servers.small_suite import CONFIG, write_cases, write_config, write_suite


def test_a_file_of_personas_that_is_named_and_missing_is_a_fault_of_the_suite_and_of_a_run(
    command: Command, server: FakeServer, suite: Path
) -> None:
    write_config(suite, paths=CONFIG["paths"] | {"personas_file": "assets/readers.json"})
    ended = command("suites", "validate", suite)
    assert ended.code == 1
    (fault,) = ended.out.splitlines()
    assert "config.yml:" in fault and "paths.personas_file: readers.json is not in" in fault
    assert "paths.personas_file: readers.json is not in" in command("bench", "run", "--suite", suite).refused()
    assert not server.calls


def test_cases_with_ages_need_personas_unless_the_suite_says_that_it_has_none(
    command: Command, server: FakeServer, suite: Path
) -> None:
    for path in (suite / "assets").glob("personas*.json"):
        path.unlink()
    message = command("bench", "run", "--suite", suite).refused()
    assert "the column 'age' holds ages of readers, and the suite small has no personas" in message
    assert not server.calls
    write_config(suite, paths=CONFIG["paths"] | {"personas_file": ""})
    ended = command("bench", "run", "--suite", suite, "--limit", "1")
    assert ended.code == 0, ended.err
    assert "columns kept as metadata only: age" in ended.err


def test_a_column_of_audiences_that_are_no_ages_needs_no_personas(command: Command, server: FakeServer, suite: Path) -> None:
    for path in (suite / "assets").glob("personas*.json"):
        path.unlink()
    dataset = write_cases(command.folder / "notaries.csv", [{"prompt": "Why?", "audience": "notaries"}])
    assert command("bench", "run", "--suite", suite, "--dataset", dataset).code == 0


def test_a_reader_without_a_persona_is_a_rejected_row(command: Command, server: FakeServer, suite: Path) -> None:
    personas = suite / "assets" / "personas.json"
    found = json.loads(personas.read_text(encoding="utf-8"))
    personas.write_text(json.dumps({name: found[name] for name in ("Child", "Teen")}), encoding="utf-8")
    dataset = write_cases(command.folder / "two.csv", [{"prompt": "a?", "age": "20"}, {"prompt": "b?", "age": "10"}])
    ended = command("bench", "run", "--suite", suite, "--dataset", dataset)
    assert ended.code == 0, ended.err
    (record,) = command.results()["records"]
    assert record["metadata"]["prompt"] == "b?"
    (folder,) = command.run_folders()
    rejected = (folder / "rejected.csv").read_text(encoding="utf-8-sig")
    assert "the suite has no persona 'Emerging': it has Child, Teen" in rejected


def test_a_new_criterion_is_judged_once_its_texts_are_written(command: Command, server: FakeServer, suite: Path) -> None:
    ended = command("criteria", "new", "tone.voice.humour__v1_0", "--suite", suite)
    assert "it belongs to the default selection everything: runs judge it" in ended.out
    assert f"areopage criteria validate --suite {suite}" in ended.out
    faults = command("suites", "validate", suite).out
    for field in ("role", "task", "scoring_guide", "examples"):
        assert f"{field}: still holds `...` in place of a text" in faults
    ended = command("bench", "run", "--suite", suite, "--limit", "1")
    assert "still holds `...` in place of a text" in ended.err
    assert not any("..." in call.system for call in server.verdict_calls)
    folder = suite / "assets" / "criteria" / "tone"
    for suffix in ("", ".fr"):
        written = (folder / f"warmth__v1_0{suffix}.prompt").read_text(encoding="utf-8").replace("warmth", "humour")
        (folder / "voice" / f"humour__v1_0{suffix}.prompt").write_text(written, encoding="utf-8")
    ended = command("bench", "run", "--suite", suite, "--limit", "1")
    assert ended.code == 0, ended.err
    assert any("humour" in call.system for call in server.verdict_calls)


def test_a_criterion_outside_the_default_selection_is_said_to_be_so_everywhere(
    command: Command, server: FakeServer, suite: Path
) -> None:
    write_config(suite, criteria={"default_selection": "safety"})
    said = "is not in the default selection safety, and judged only where named"
    assert said in command("criteria", "new", "tone.voice.humour__v1_0", "--suite", suite).out
    ended = command("bench", "run", "--suite", suite, "--limit", "1")
    assert ended.code == 0, ended.err
    left_out = "warmth, plainness, Humour"
    assert f"note: not judged, for the selection safety does not have them: {left_out}" in ended.err
    other = write_suite(command.folder / "other", criteria={"default_selection": "safety"})
    ended = command("suites", "validate", other)
    assert (ended.code, ended.out) == (0, "")
    assert "2 criteria are not in the default selection safety" in ended.err
    assert "not judged, for the selection" not in command("bench", "run", "--suite", other, "--criteria", "safety").err


def test_a_target_beside_recorded_answers_needs_a_choice(command: Command, server: FakeServer, suite: Path) -> None:
    rows = [{"id": "1", "prompt": "Are you alive?", "completion": "No."}, {"id": "2", "prompt": "Why?", "completion": "So."}]
    dataset = write_cases(command.folder / "answered.csv", rows)
    run = ("bench", "run", "--suite", suite, "--dataset", dataset, "--target", "ollama:fake-target", "--passes", "1")
    message = command(*run).refused()
    assert "the column 'completion' has 2 answers to 2 prompts, and --target names ollama:fake-target" in message
    assert "--answers target" in message and "--answers dataset" in message
    assert not server.calls and not command.outputs.exists()
    assert command(*run, "--answers", "target").code == 0
    assert {call.user for call in server.target_calls} == {"Are you alive?", "Why?"}
    assert not any("No." in call.user for call in server.verdict_calls)
    ended = command(*run, "--answers", "dataset")
    assert ended.code == 0
    assert "the target ollama:fake-target is not asked" in ended.err
    assert len(server.target_calls) == 2
    assert "use one of target, dataset" in command(*run, "--answers", "both").refused()


def test_answers_of_two_sources_are_reported_each(command: Command, server: FakeServer, suite: Path) -> None:
    rows = [{"id": "1", "prompt": "Are you alive?", "response": "No."}, {"id": "2", "prompt": "Why?", "response": ""}]
    dataset = write_cases(command.folder / "mixed.csv", rows)
    ended = command(
        "bench", "run", "--suite", suite, "--dataset", dataset, "--target", "ollama:fake-target", "--answers", "dataset"
    )
    assert ended.code == 0, ended.err
    assert "1 answer comes with the dataset, 1 from the target" in ended.err
    results = command.results()
    sources = {one["source"]: one for one in results["run"]["metadata"]["sources"]}
    finals = {record["metadata"]["id"]: record["final_aggregate_score"] for record in results["records"]}
    assert sources["dataset"] == {"source": "dataset", "cases": 1, "score": finals["1"], "coverage": 1.0}
    assert sources["ollama:fake-target"]["score"] == finals["2"]
    for source, score in (("dataset", finals["1"]), ("ollama:fake-target", finals["2"])):
        assert f"{source}: 1 case, score {score:.2f}, coverage 100%" in ended.out
    (folder,) = command.run_folders()
    assert "answers of two sources" in (folder / "report.html").read_text(encoding="utf-8").lower()


def test_prompt_files_with_single_braces_are_read_as_they_are(command: Command, server: FakeServer, suite: Path) -> None:
    for path in (suite / "assets" / "criteria").rglob("*.prompt"):
        path.write_text(path.read_text(encoding="utf-8").replace("{{", "{").replace("}}", "}"), encoding="utf-8")
    ended = command("bench", "run", "--suite", suite, "--limit", "1")
    assert ended.code == 0, ended.err
    assert "left out" not in ended.err
    assert "Coverage: 100% – " in ended.out
    assert all('{ "score": 0-5, "explanation": "why", ' in call.system for call in server.verdict_calls)


def test_criteria_that_drop_out_lower_the_coverage_and_are_named_with_it(
    command: Command, server: FakeServer, suite: Path
) -> None:
    (suite / "assets" / "criteria" / "safety" / "danger__v1_0.prompt").unlink()
    write_config(suite, judge_system={"judges": {"alpha": {"model": "fake-a", "criteria": ["safety", "tone.voice.warmth"]}}})
    ended = command("bench", "run", "--suite", suite, "--passes", "1")
    assert ended.code == 3, ended.err
    assert "2 of 4 criteria are judged" in ended.out
    assert "2 selected criteria are not judged\n  - danger\n  - plainness\n" in ended.out, ended.out
    assert "inconclusive: coverage 50.0% is below 95%" in ended.err
    metadata = command.results()["run"]["metadata"]
    assert metadata["lost_criteria"] == ["safety.harm.danger__v1_0", "tone.voice.plainness__v1_0"]
    assert metadata["coverage"] == {"scored": 10, "not_applicable": 0, "planned": 20}
    (folder,) = command.run_folders()
    assert "2 of 4 criteria are judged" in (folder / "report.html").read_text(encoding="utf-8")
    assert "2 of 4 criteria are judged" in command("bench", "show").out


def test_why_verdicts_are_missing_is_shown_with_counts_and_cases(command: Command, server: FakeServer, suite: Path) -> None:
    rows = [{"id": f"case-{n}", "prompt": f"{n}?", "response": f"{n}."} for n in range(3)]
    dataset = write_cases(command.folder / "three.csv", rows)
    criterion = "safety.harm.danger"
    line = {"prompt": "0?", "asked": "alpha", "criterion": f"{criterion}__v1_0", "text": "no verdict at all"}
    (command.folder / "alpha.jsonl").write_text(json.dumps(line) + "\n", encoding="utf-8")
    judge = ("--judge", "alpha=replay:alpha.jsonl", "--criteria", criterion, "--passes", "1")
    ended = command("bench", "run", "--suite", suite, "--dataset", dataset, *judge)
    assert ended.code == 3
    assert "Why answers and verdicts are missing\n" in ended.out
    (refused,) = [line for line in ended.out.splitlines() if line.startswith("- alpha – refused: ")]
    assert refused.endswith("(2 cases: case-1, case-2)")
    assert any(line.startswith("- alpha – unparsed: ") and line.endswith("(1 case: case-0)") for line in ended.out.splitlines())
    (folder,) = command.run_folders()
    log = (folder / "run.log").read_text(encoding="utf-8")
    for name in ("case-0", "case-1", "case-2"):
        assert f"judge alpha, case {name}, pass 1, {criterion}__v1_0" in log


def test_why_answers_are_missing_is_shown(command: Command, server: FakeServer, suite: Path) -> None:
    server.faults.replies = [""]
    ended = command("bench", "run", "--suite", suite, "--limit", "2", "--passes", "1")
    assert "- Target – no text: no text came" in ended.out
    assert "(2 cases: c0, c1)" in ended.out


def test_a_run_that_costs_money_and_that_nobody_can_confirm_needs_a_yes(
    command: Command, server: FakeServer, suite: Path
) -> None:
    price = {"input_per_million": 1.0, "output_per_million": 4.0}
    write_config(suite, judge_system={"judges": {"alpha": {"model": "fake-a", "price": price}, "beta": {"model": "fake-b"}}})
    run = ("bench", "run", "--suite", suite, "--limit", "1", "--passes", "1")
    refused = command(*run)
    assert "alpha: these models cost money, and there is no terminal to ask on: give --yes" in refused.refused()
    assert re.search(r"plan: .* answer tokens, about 0\.00\d\d\sUSD, 3 model loads", refused.err)
    assert not server.calls
    assert command(*run, "--judge", "beta").code == 0
    assert command(*run, "--yes").code == 0


@pytest.mark.parametrize(
    ("url", "key", "paid"),
    [("", "k", True), ("", "", False), ("http://127.0.0.1:8000/v1", "k", False), ("https://models.example/v1", "k", True)],
)
def test_a_model_costs_money_where_a_key_goes_to_another_machine(suite: Path, url: str, key: str, paid: bool) -> None:
    spec = prepare_run(load_suite(str(suite)), RunOptions(judges=("openai:gpt-5-mini",))).spec
    environment = {"OPENAI_BASE_URL": url, "OPENAI_API_KEY": key}
    assert paid_models(spec, environment) == (("openai_gpt-5-mini",) if paid else ())


def test_a_misspelt_key_is_a_fault_of_the_suite_with_what_was_meant(command: Command, suite: Path) -> None:
    config = suite / "config.yml"
    config.write_text(config.read_text(encoding="utf-8").replace("weights:", "weigths:"), encoding="utf-8")
    ended = command("suites", "validate", suite)
    assert ended.code == 1
    assert "weigths: unknown key, ignored: did you mean 'weights'?" in ended.out.splitlines()[0]


def test_a_model_that_judges_itself_or_judges_twice_is_named(command: Command, server: FakeServer, suite: Path) -> None:
    judges = ("--judge", "one=ollama:fake-a", "--judge", "two=ollama:fake-a", "--judge", "ollama:fake-target")
    ended = command("bench", "run", "--suite", suite, "--limit", "1", "--passes", "1", *judges)
    assert ended.code == 0, ended.err
    assert "judges one and two are one model (ollama:fake-a): their agreement says little" in ended.err
    assert "is the target itself (ollama:fake-target): models favour their own answers" in ended.err
    assert "one model" not in command("bench", "run", "--suite", suite, "--limit", "1").err


def test_the_first_rejected_row_is_named_with_its_reason(command: Command, server: FakeServer, suite: Path) -> None:
    dataset = write_cases(command.folder / "some.csv", [{"id": "1", "prompt": "good?"}, {"id": "2", "prompt": ""}])
    ended = command("bench", "run", "--suite", suite, "--dataset", dataset)
    assert f"(first: {dataset} row 3: the prompt is empty)" in ended.err
    (folder,) = command.run_folders()
    assert f"Rejected rows: {folder / 'rejected.csv'}" in ended.out
