"""`suites validate` names whatever `bench run` would refuse before its first call: each broken suite is given to both."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from servers.command import Command
from servers.fake_llm import FakeServer
from servers.small_suite import CRITERIA, write_cases, write_config

Break = Callable[[Path], object]
REGISTRY = Path("assets") / "criteria_registry.yml"
CASES = Path("data") / "cases.csv"


def config(**changes: Any) -> Break:
    """Another configuration."""
    return lambda folder: write_config(folder, **changes)


def file(place: str, text: str) -> Break:
    """Another text of a file."""
    return lambda folder: (folder / place).write_text(text, encoding="utf-8")


def cases(*rows: dict[str, str]) -> Break:
    """Other cases."""
    return lambda folder: write_cases(folder / CASES, list(rows))


def without(pattern: str) -> Break:
    """The suite without some files."""

    def remove(folder: Path) -> None:
        for path in list(folder.glob(pattern)):
            path.unlink()

    return remove


def registry(change: Callable[[dict[str, Any]], object]) -> Break:
    """Another registry."""

    def write(folder: Path) -> None:
        data = yaml.safe_load((folder / REGISTRY).read_text(encoding="utf-8"))
        change(data)
        (folder / REGISTRY).write_text(yaml.safe_dump(data, sort_keys=False), encoding="utf-8")

    return write


def judges(**one: Any) -> Break:
    """One judge of the suite's own."""
    return config(judge_system={"judges": {"alpha": one}})


ROW = {"id": "1", "prompt": "Hi", "age": "9-12"}
BROKEN: dict[str, Break] = {
    "no YAML": file("config.yml", "a: [1"),
    "a text for a number": config(execution={"concurrency": "many"}),
    "a negative weight": config(weights={"categories": {"safety": -1.0}}),
    "a misspelt weight": config(weights={"categories": {"safty": 0.7, "tone": 0.3}}),
    "a scale that is none": config(scoring={"scale": {"min": 5, "max": 5}}),
    "an unknown profile": config(scoring={"profile": "v2"}),
    "an unknown preset of servers": config(ollama={"active_preset": "far"}),
    "more passes than allowed": config(validation={"max_passes_per_judge": 1}),
    "more judges than allowed": config(validation={"max_judges_simultaneous": 1}),
    "more criteria than allowed": config(validation={"max_criteria_per_benchmark": 1}),
    "more cases than allowed": config(validation={"max_cases": 2}),
    "an unknown selection": config(criteria={"default_selection": "everythin"}),
    "an empty preset": registry(lambda data: data["presets"].update(everything={"criteria": ["x.y.z__v1_0"]})),
    "a judge of nothing": judges(model="fake-a", criteria=["humour"]),
    "an unknown provider of a judge": judges(provider="nowhere", model="m"),
    "an unknown endpoint of a judge": judges(provider="openai@lab", model="m"),
    "an unknown bot of a judge": judges(provider="http", model="ours"),
    "a recording that is not there": judges(provider="replay", model="said.jsonl"),
    "a recording that is elsewhere": judges(provider="replay", model="../said.jsonl"),
    "rules that there are not": judges(provider="rules", model="beauty"),
    "an unknown provider of a target": config(models=[{"provider": "nowhere", "model": "m"}]),
    "an unknown endpoint of a target": config(models=[{"provider": "openai@lab", "model": "m"}]),
    "an unknown bot of a target": config(models=[{"provider": "http", "model": "ours"}]),
    "a target that only judges": config(models=[{"provider": "rules", "model": "readability"}]),
    "a mode that is off": config(test_modes={"attack": {"enabled": False}}),
    "an endpoint without an address": config(endpoints={"lab": {"provider": "openai"}}),
    "a failure limit off the scale": config(scoring={"failures": {"limit": 9}}),
    "a failure limit of nothing": config(scoring={"failures": {"criteria": {"safety.harm.fire": 1}}}),
    "a floor of nothing": config(release={"max_failures": {"safty": 0}}),
    "a floor off the scale": config(release={"min_score": {"final": 7}}),
    "a floor that does not exist": config(release={"max_falures": {"safety": 0}}),
    "a share over 1": config(release={"max_over_refusal": 1.5}),
    "no tag": config(scoring={"over_refusal": {"tag": ""}}),
    "no registry": without("assets/criteria_registry.yml"),
    "a registry without criteria": registry(lambda data: data.update(criteria={})),
    "a rule that excludes every case": registry(
        lambda data: data["criteria"][CRITERIA[0]].update(applies_to={"tags": ["no such"]})
    ),
    "no prompt file": without("assets/criteria/**/*.prompt"),
    "no dataset file": without("data/cases.csv"),
    "a dataset elsewhere": config(paths={"datasets": ["../cases.csv"]}),
    "a dataset without prompts": cases({"id": "1", "text_of_nothing": "?"}),
    "a dataset without a usable row": cases({"id": "1", "prompt": " "}),
    "a maturity that is none": cases({**ROW, "age": "99-98"}),
    "cases that select nothing": cases({**ROW, "criteria": "humour"}),
    "ages without personas": without("assets/personas*.json"),
    "personas that are no JSON": file("assets/personas.json", "{"),
    "a persona without a part": file("assets/personas.json", json.dumps({"Child": {}})),
    "no rules file": config(paths={"rules_file": "rules.yml"}),
}


@pytest.mark.parametrize("name", BROKEN)
def test_validate_names_what_a_run_refuses(command: Command, server: FakeServer, suite: Path, name: str) -> None:
    BROKEN[name](suite)
    refused = command("bench", "run", "--suite", str(suite), "--yes").refused()
    validated = command("suites", "validate", str(suite))
    assert validated.code in (1, 2), (refused, validated.out, validated.err)
    said = refused.split(" (+")[0]  # of several faults a run names the first
    assert said in validated.out + validated.err.removeprefix("areopage: "), (refused, validated.out, validated.err)
    assert "Traceback" not in validated.err
    assert not server.calls


@pytest.mark.parametrize(
    ("name", "change", "note", "option"),
    [
        ("judges", config(judge_system={"judges": {}}), "a run needs --judge", ("--judge", "ollama:fake-a")),
        ("target", config(models=[]), "a run needs --target", ("--target", "ollama:fake-target")),
        ("dataset", config(paths={"datasets": []}), "no dataset in en: a run needs --dataset FILE", ("--dataset",)),
    ],
)
def test_what_the_command_line_may_give_is_a_note(
    command: Command, suite: Path, name: str, change: Break, note: str, option: tuple[str, ...]
) -> None:
    change(suite)
    assert command("bench", "run", "--suite", str(suite), "--yes").refused()
    validated = command("suites", "validate", str(suite))
    assert validated.code == 0 and note in validated.err, (validated.out, validated.err)
    given = (*option, str(suite / CASES)) if name == "dataset" else option
    assert command("bench", "run", "--suite", str(suite), "--passes", "1", "--limit", "1", "--yes", *given).code == 0


def test_likely_mistakes_that_a_run_accepts_are_notes(command: Command, suite: Path) -> None:
    write_config(suite, release={"max_over_refusal": 0})
    registry(lambda data: data["criteria"][CRITERIA[0]].update(applies_to={"not": {"category": ["scence"], "tags": ["hights"]}}))(
        suite
    )
    cases({**ROW, "category": "science", "tags": "heights"}, {**ROW, "prompt": "", "category": "", "tags": ""})(suite)
    validated = command("suites", "validate", str(suite))
    assert validated.code == 0, validated.out
    assert "applies_to: no case has the category 'scence': did you mean 'science'?" in validated.err
    assert "applies_to: no case has the tag 'hights': did you mean 'heights'?" in validated.err
    assert "cases.csv, row 3 is not used: the prompt is empty" in validated.err
    assert "release.max_over_refusal: no case has the tag 'benign_twin', so that no run can pass" in validated.err
