"""A dataset is named with the part of it that is read, wherever a dataset is named."""

import json
from pathlib import Path

import pytest

from areopage.cases.loader import load_dataset
from areopage.cases.sources import DatasetSource, source_of
from areopage.errors import ConfigError, DatasetError
from areopage.suites.loader import load_suite
from servers.command import Command
from servers.small_suite import write_suite


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "questions"
    made.mkdir()
    for split in ("train", "validation"):
        row = {"Wanted": f"Why {split}?", "prompt": "not this", "age": 9, "response": "So."}
        (made / f"{split}.jsonl").write_text(json.dumps(row) + "\n", encoding="utf-8")
    return made


def prompts(*paths: Path) -> list[str]:
    return [case.prompt_text for case in load_dataset(paths, default_maturity="").cases]


def test_a_name_says_split_and_columns(folder: Path) -> None:
    assert prompts(folder) == ["not this"]
    assert prompts(Path(f"{folder}#split=train,prompt=Wanted")) == ["Why train?"]
    assert prompts(Path(f"{folder}/train.jsonl#prompt=Wanted"), Path(f"{folder}#split=validation")) == [
        "Why train?",
        "not this",
    ]


def test_special_characters_are_written_as_in_a_url(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text('"Question, in full #1",age\nWhy?,9\n', encoding="utf-8")
    assert prompts(Path(f"{tmp_path}/a.csv#prompt=Question%2C in full #1")) == ["Why?"]


def test_a_file_whose_own_name_has_the_mark_is_that_file(tmp_path: Path) -> None:
    path = tmp_path / "a#split=b.csv"
    path.write_text("prompt\nWhy?\n", encoding="utf-8")
    assert source_of(path) == DatasetSource(path=path) and prompts(path) == ["Why?"]


@pytest.mark.parametrize(
    ("behind", "told"),
    [
        ("train.jsonl#split=train", "split and subset are for folders"),
        ("#split=nowhere", "no split 'nowhere'"),
        ("#subset=nowhere", "no configuration 'nowhere'"),
        ("train.jsonl#colour=x", "'colour=x': write FIELD=NAME"),
        ("train.jsonl#prompt=absent", "no column 'absent'"),
        ("missing.jsonl#prompt=x", "no such file"),
    ],
)
def test_a_part_that_is_not_there_is_one_clear_line(folder: Path, behind: str, told: str) -> None:
    with pytest.raises(DatasetError, match=told) as found:
        prompts(Path(f"{folder}{'' if behind.startswith('#') else '/'}{behind}"))
    assert "\n" not in str(found.value)


def test_a_run_takes_the_part_that_it_names(command: Command, folder: Path) -> None:
    write_suite(command.folder / "suite")
    (command.folder / "verdicts.jsonl").write_text(json.dumps({"prompt": "Why train?", "score": 5}) + "\n", encoding="utf-8")
    words = ("--suite", command.folder / "suite", "--judge", "jury=replay:verdicts.jsonl", "--passes", "1")
    done = command("bench", "run", "--dataset", f"{folder}#split=train,prompt=Wanted", *words, "--yes")
    assert done.code in (0, 1, 3), done.err
    results = command.results(command.run_folders()[-1])
    assert [record["metadata"]["prompt"] for record in results["records"]] == ["Why train?"]


def test_a_suites_dataset_stays_inside_of_its_folder_also_with_a_part_named(tmp_path: Path, folder: Path) -> None:
    write_suite(tmp_path / "suite", paths={"datasets": {"en": ["link.jsonl#prompt=Wanted"]}})
    (tmp_path / "suite" / "data" / "link.jsonl").symlink_to(folder / "train.jsonl")
    with pytest.raises(ConfigError, match="leads out"):
        load_suite(str(tmp_path / "suite")).datasets("en")


def test_a_suite_may_name_a_part_of_a_folder(command: Command, folder: Path) -> None:
    paths = {"datasets": {"en": ["questions#split=train,prompt=Wanted"]}}
    write_suite(command.folder / "suite", paths=paths, languages=["en"])
    folder.rename(command.folder / "suite" / "data" / "questions")
    checked = command("suites", "validate", command.folder / "suite")
    assert "is not in" not in checked.out + checked.err
    (path,) = load_suite(str(command.folder / "suite")).datasets("en")
    assert prompts(path) == ["Why train?"]
