"""Nothing that a run needs is missing in silence: readers, criteria, answers of the target."""

import json
from pathlib import Path

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
