"""Runs as JUnit XML, SARIF and Markdown: what CI systems accept, with hostile texts, and the same failure known again."""

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import jsonschema
import pytest
import xmlschema

from areopage.bench.report.page import MOST_CHARACTERS
from servers.command import Command
from servers.fake_answers import Call
from servers.fake_llm import FakeServer
from servers.small_suite import write_cases, write_suite

SCHEMAS = Path(__file__).with_name("schemas")
SARIF = json.loads((SCHEMAS / "sarif-schema-2.1.0.json").read_text(encoding="utf-8"))
HOSTILE = "]]> <b>&\x01\x0b {0} [click](https://evil.example) | `x` ::error::x\n# Title @team \u202e"
CASES = [
    {"id": "c1", "prompt": "What is a\nline break?", "response": "Fine.", "age": "9"},
    {"id": f"c2 {HOSTILE}", "prompt": f"How? {HOSTILE}", "response": f"DANGER {HOSTILE}", "age": "9"},
    {"id": "c3", "prompt": "And now?", "response": "DANGER again", "age": "9"},
    {"id": "c4", "prompt": "And then?", "response": "Fine as well.", "age": "9"},
]


def verdict(call: Call) -> dict[str, Any]:
    bad = "DANGER" in call.user and "danger" in call.user + call.system
    return {"score": 0 if bad else 5, "explanation": f"because {HOSTILE}" if bad else "good", "evidence_extracts": []}


@pytest.fixture
def run(command: Command, server: FakeServer) -> Command:
    """The command in a folder with a run of which two cases fail `safety.harm.danger`."""
    server.judge = verdict
    write_suite(command.folder / "suite", release={"max_failures": {"safety": 0}})
    write_cases(command.folder / "data" / "cases.csv", CASES)
    assert judged(command).code == 1
    return command


def judged(command: Command, dataset: str = "data/cases.csv", *options: str) -> Any:
    words = ("bench", "run", "--suite", "suite", "--dataset", dataset, "--judge", "alpha", "--passes", "1", "--yes")
    return command(*words, *options)


def exported(command: Command, form: str, *options: str) -> str:
    file = command.folder / f"out.{form}"
    done = command("bench", "export", "latest", "--format", form, "--file", file, *options)
    assert done.code == 0, done.err
    return file.read_text(encoding="utf-8")


def test_junit_is_valid_and_fails_exactly_where_the_run_does(run: Command) -> None:
    text = exported(run, "junit")
    xmlschema.XMLSchema(SCHEMAS / "junit-jenkins.xsd").validate(text)
    suite = ElementTree.fromstring(text).find("testsuite")
    assert suite is not None
    assert [suite.get(key) for key in ("tests", "failures", "errors", "skipped")] == ["5", "2", "0", "0"]
    cases = {f"{one.get('classname')}.{one.get('name')}": one for one in suite.iter("testcase")}
    release, danger, warmth = (cases[f"{name}"] for name in ("suite.release", "safety.harm.danger", "tone.voice.warmth"))
    assert release.find("failure") is not None and warmth.find("failure") is None
    failure = danger.find("failure")
    assert failure is not None and "2 of 4 cases fail" in str(failure.get("message"))
    assert "DANGER again" in str(failure.text) and "]]> <b>&" in str(failure.text)
    assert not any(sign in text for sign in "\x01\x0b")


def test_junit_of_a_run_that_passes_has_no_failure_and_an_inconclusive_one_is_an_error(run: Command) -> None:
    write_cases(run.folder / "good.csv", [CASES[0], CASES[3]])
    assert judged(run, "good.csv").code == 3  # the judges were never examined
    never = exported(run, "junit")
    assert "<error" in never and "judges never examined on criteria of the floors" in never
    run.qualify()
    assert judged(run, "good.csv").code == 0
    assert "<failure" not in exported(run, "junit") and "<error" not in exported(run, "junit")
    assert judged(run, "good.csv", "--criteria", "tone").code == 3
    text = exported(run, "junit", "--lang", "fr")
    xmlschema.XMLSchema(SCHEMAS / "junit-jenkins.xsd").validate(text)
    assert "<error" in text and "<failure" not in text and "0 cas sur 2 en échec" in text


def sarif(command: Command, *options: str) -> dict[str, Any]:
    log = json.loads(exported(command, "sarif", *options))
    jsonschema.validate(log, SARIF)
    (run,) = log["runs"]
    return dict(run)


def fingerprints(found: dict[str, Any]) -> list[tuple[str, str]]:
    return [(one["ruleId"], one["partialFingerprints"]["areopageCase/v1"]) for one in found["results"]]


def test_sarif_is_valid_and_names_rule_file_and_line_of_each_failure(run: Command) -> None:
    found = sarif(run)
    assert [one["ruleId"] for one in found["results"]] == ["safety.harm.danger"] * 2
    rules = found["tool"]["driver"]["rules"]
    assert all(rules[one["ruleIndex"]]["id"] == one["ruleId"] for one in found["results"])
    assert {rule["id"]: rule["defaultConfiguration"]["level"] for rule in rules}["tone.voice.warmth"] == "warning"
    assert {one["level"] for one in found["results"]} == {"error"}
    places = [one["locations"][0]["physicalLocation"] for one in found["results"]]
    assert {place["artifactLocation"]["uri"] for place in places} == {"data/cases.csv"}
    lines = (run.folder / "data" / "cases.csv").read_text(encoding="utf-8").split("\n")
    for place, start in zip(places, ("c2 ", "c3,"), strict=True):
        assert lines[place["region"]["startLine"] - 1].lstrip('"').startswith(start), "rows of several lines are counted"


def test_sarif_messages_make_no_links_and_no_placeholders(run: Command) -> None:
    (message,) = [one["message"]["text"] for one in sarif(run)["results"] if "How?" in one["message"]["text"]]
    assert "\\[click\\](https" in message and "{{0}}" in message and "\n" not in message


def test_a_failing_case_keeps_its_fingerprint_with_another_answer_id_and_line(run: Command) -> None:
    before = fingerprints(sarif(run))
    later = [{"id": "new", "prompt": "First of all?", "response": "DANGER", "age": "9"}]
    later += [{**CASES[2], "id": "other id", "response": "DANGER, but in other words"}, CASES[1]]
    write_cases(run.folder / "data" / "cases.csv", later)
    assert judged(run).code == 1
    after = fingerprints(sarif(run))
    assert after[1:] == list(reversed(before)), "the prompt and the criterion make it"
    assert after[0] not in before
    assert len(set(after)) == 3


def test_sarif_texts_are_in_the_language_that_is_asked_for(run: Command) -> None:
    found = sarif(run, "--lang", "fr")
    (translation,) = found["translations"]
    danger = next(rule for rule in translation["rules"] if rule["id"] == "safety.harm.danger")
    assert (translation["language"], danger["fullDescription"]["text"]) == ("fr-FR", "Évite danger")
    assert found["tool"]["driver"]["rules"][0]["fullDescription"]["text"] == "Keeps clear of danger"
    assert found["language"] == "fr-FR" and "échec à partir de 2." in found["results"][0]["message"]["text"]


def test_sarif_tells_no_path_of_the_machine_and_lacks_lines_where_the_dataset_is_gone(run: Command) -> None:
    (run.folder / "data" / "cases.csv").unlink()
    found = sarif(run)
    places = [one["locations"][0]["physicalLocation"] for one in found["results"]]
    assert all("region" not in place for place in places)
    assert str(run.folder) not in json.dumps(found)


def test_repeated_prompts_are_told_apart(run: Command) -> None:
    write_cases(run.folder / "twice.csv", [{**CASES[2], "id": name} for name in ("a", "b")])
    assert judged(run, "twice.csv").code == 1
    assert len(set(fingerprints(sarif(run)))) == 2


@pytest.mark.parametrize("language", ["en", "fr"])
def test_the_markdown_of_a_pull_request_says_the_verdict_and_is_inert(run: Command, language: str) -> None:
    text = exported(run, "markdown", "--lang", language)
    assert {"en": "FAIL", "fr": "REFUSÉ"}[language] in text
    assert "<b>" not in text and "[click](" not in text and "@team" not in text and "\u202e" not in text
    assert len(text) < MOST_CHARACTERS < 65_536
    assert {"en": "How far can you trust", "fr": "Jusqu’où"}[language] not in text, "a page that is not beside the summary"


def test_the_markdown_of_many_criteria_is_cut_to_what_github_accepts(run: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("areopage.bench.report.page.MOST_CHARACTERS", 1_500)
    text = exported(run, "markdown")
    assert len(text) <= 1_500 and "too long for a pull request" in text


def test_an_unknown_format_is_refused_in_one_line(run: Command) -> None:
    assert "junit" in run("bench", "export", "latest", "--format", "xml").refused()
