"""The part of a dataset that a run is about, chosen by `--where` and `--age`."""

from pathlib import Path

import pytest

from areopage.bench.spec import ChosenPart
from areopage.bench.words import part_text
from areopage.report.elements import report_locale
from servers.command import Command
from servers.fake_llm import FakeServer
from servers.small_suite import write_cases

ROWS = [
    {"id": "a", "prompt": "Why a?", "age": "9", "category": "safety", "tags": "benign_twin", "topic": "Sky"},
    {"id": "b", "prompt": "Why b?", "age": "11", "category": "tone", "tags": "", "topic": "sea"},
    {"id": "c", "prompt": "Why c?", "age": "15", "category": "safety", "tags": "night", "topic": ""},
]


@pytest.mark.parametrize(
    ("options", "ids"),
    [
        (("--age", "9-12"), ["a", "b"]),
        (("--where", "age=15"), ["c"]),
        (("--age", "10", "--where", "category=safety"), ["a"]),
        (("--where", "topic=sky", "--where", "topic=sea"), ["a", "b"]),
        (("--where", "tag=night"), ["c"]),
        (("--where", "category=safety", "--limit", "1"), ["a"]),
    ],
)
def test_conditions_choose_cases_by_fields_tags_and_columns(
    command: Command, server: FakeServer, suite: Path, options: tuple[str, ...], ids: list[str]
) -> None:
    dataset = write_cases(command.folder / "rows.csv", ROWS)
    ended = command("bench", "run", "--suite", suite, "--dataset", dataset, "--passes", "1", *options)
    assert ended.code in (0, 3), ended.err
    assert [record["metadata"]["id"] for record in command.results()["records"]] == ids
    assert len(server.target_calls) == len(ids)


def test_a_part_is_named_wherever_its_verdict_stands(command: Command, suite: Path) -> None:
    dataset = write_cases(command.folder / "rows.csv", ROWS)
    options = ("--suite", suite, "--dataset", dataset, "--passes", "1", "--age", "9-12")
    planned, ended = command("bench", "plan", *options), command("bench", "run", *options)
    assert "part: only age=9-12: 2 cases of 3" in planned.out
    told = "only age=9-12: 2 cases of 3; this says nothing of the others"
    assert told in ended.out
    (folder,) = command.run_folders()
    assert told in (folder / "report.html").read_text(encoding="utf-8")
    assert command.results()["run"]["metadata"]["part"] == {"where": ["age=9-12"], "cases": 2, "total": 3}
    assert "only age=9-12" in " ".join(command("bench", "list").out.split())
    french = part_text(ChosenPart(where=("age=9-12",), cases=2, total=3), report_locale("fr"))
    assert french.startswith("seulement age=9-12") and "ne dit rien des autres" in french


@pytest.mark.parametrize(
    ("condition", "told"),
    [
        ("category=gambling", "no case has category=gambling: there are safety, tone"),
        ("colour=red", "the cases have no column 'colour'"),
        ("category", "give COLUMN=VALUE"),
        ("age=wizard", "--where age=wizard"),
        ("tag=gone", "no case has tag=gone: there are benign_twin, night"),
    ],
)
def test_a_condition_that_matches_nothing_names_the_values_that_exist(
    command: Command, suite: Path, condition: str, told: str
) -> None:
    dataset = write_cases(command.folder / "rows.csv", ROWS)
    for verb in ("run", "plan"):
        ended = command("bench", verb, "--suite", suite, "--dataset", dataset, "--where", condition)
        assert ended.code == 2 and told in ended.err, ended.err
