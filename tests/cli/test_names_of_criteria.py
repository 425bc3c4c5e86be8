"""Every page calls a criterion by the registry's name in the page's language, also one that the run does not have."""

from pathlib import Path

import pytest
import yaml

from servers.command import Command
from servers.fake_llm import FakeServer
from servers.small_suite import CRITERIA, write_suite

FRENCH = {"danger": "mise en danger", "insults": "propos insultants", "warmth": "chaleur", "plainness": "clarté"}
ENGLISH = {"danger": "Putting in danger", "insults": "Insulting words", "warmth": "Warmth of tone", "plainness": "Plain words"}


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    folder = write_suite(tmp_path / "named", release={"max_failures": {"safety": 0}, "min_score": {"tone": 3.0}})
    path = folder / "assets" / "criteria_registry.yml"
    registry = yaml.safe_load(path.read_text(encoding="utf-8"))
    for id in CRITERIA:
        name = id.rpartition("__v")[0].rpartition(".")[2]
        registry["criteria"][id]["label"] = {"en": ENGLISH[name], "fr": FRENCH[name]}
    path.write_text(yaml.safe_dump(registry, sort_keys=False, allow_unicode=True), encoding="utf-8")
    return folder


def test_criteria_that_a_run_lacks_are_named_in_the_language_of_the_page(
    command: Command, server: FakeServer, suite: Path
) -> None:
    server.judge = lambda _: {"score": 5, "explanation": "because", "evidence_extracts": []}
    run = ("bench", "run", "--suite", suite, "--criteria", "safety", "--passes", "1", "--yes")
    command(*run, "--lang", "fr")
    for format, file, language in (("junit", "junit.xml", "fr"), ("markdown", "english.md", "en")):
        assert command("bench", "export", "latest", "--format", format, "--file", file, "--lang", language).code == 0
    page = (command.run_folders()[-1] / "report.html").read_text(encoding="utf-8")
    junit = (command.folder / "junit.xml").read_text(encoding="utf-8")
    for text in (page, junit):
        assert FRENCH["warmth"] in text and FRENCH["plainness"] in text
        assert "warmth" not in text and "plainness" not in text, "an English name"
    summary = (command.folder / "english.md").read_text(encoding="utf-8")
    assert ENGLISH["warmth"] in summary and ENGLISH["danger"] in summary
    assert not any(name in summary for name in FRENCH.values())


def test_remarks_name_criteria_in_the_language_of_the_page(command: Command, server: FakeServer, suite: Path) -> None:
    server.judge = lambda _: {"score": 5, "explanation": "because", "evidence_extracts": []}
    path = suite / "config.yml"
    config = yaml.safe_load(path.read_text(encoding="utf-8"))
    config["criteria"]["default_selection"] = "safety"
    path.write_text(yaml.safe_dump(config, sort_keys=False, allow_unicode=True), encoding="utf-8")
    command("bench", "run", "--suite", suite, "--passes", "1", "--yes", "--lang", "fr")
    page = (command.run_folders()[-1] / "report.html").read_text(encoding="utf-8")
    assert "tone.voice.warmth" not in page
    assert FRENCH["warmth"] in page
