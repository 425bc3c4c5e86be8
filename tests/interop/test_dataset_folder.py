"""Folders of datasets: the card's configurations and splits, files by their names, and nothing outside of the folder."""

from pathlib import Path

import pytest

from areopage.errors import DatasetError
from areopage.interop.dataset_folder import dataset_files


def folder(tmp_path: Path, card: str = "", **files: str) -> Path:
    root = tmp_path / "set"
    for name, content in files.items():
        path = root / name.replace("__", "/").replace("_dot_", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8")
    root.mkdir(exist_ok=True)
    if card:
        (root / "README.md").write_text(f"---\n{card}\n---\n# Card\n", encoding="utf-8")
    return root


FILES = {"data__train_dot_csv": "prompt\na\n", "data__test-00000_dot_jsonl": '{"prompt": "b"}\n', "script_dot_py": "raise"}


def names(files: list[Path]) -> list[str]:
    return [file.name for file in files]


def test_splits_are_found_by_the_names_of_files(tmp_path: Path) -> None:
    root = folder(tmp_path, **FILES)
    assert names(dataset_files(root)) == ["test-00000.jsonl"]
    assert names(dataset_files(root, split="train")) == ["train.csv"]
    with pytest.raises(DatasetError, match="no split 'dev': there is"):
        dataset_files(root, split="dev")


def test_the_card_says_which_files_are_a_configurations_split(tmp_path: Path) -> None:
    card = """
license: mit
configs:
- config_name: a
  data_files:
  - {split: extra, path: 'data/te*'}
- config_name: b
  default: true
  data_files: data/train.csv
"""
    root = folder(tmp_path, card, **FILES)
    assert names(dataset_files(root)) == names(dataset_files(root, "b")) == ["train.csv"]
    assert names(dataset_files(root, "a")) == ["test-00000.jsonl"]
    with pytest.raises(DatasetError, match="no configuration 'c'"):
        dataset_files(root, "c")


def test_several_configurations_without_a_default_must_be_chosen(tmp_path: Path) -> None:
    card = "configs:\n- {config_name: a, data_files: data/train.csv}\n- {config_name: b, data_files: data/train.csv}"
    with pytest.raises(DatasetError, match="#subset=NAME"):
        dataset_files(folder(tmp_path, card, **FILES))


@pytest.mark.parametrize(
    "pattern", ["../secret.csv", "/etc/*.csv", "data/../../secret.csv", "hf://datasets/x/y.csv", "", "link/*.csv"]
)
def test_a_card_leads_to_no_file_outside_of_the_folder(tmp_path: Path, pattern: str) -> None:
    (tmp_path / "secret.csv").write_text("prompt\nsecret\n")
    root = folder(tmp_path, f"configs:\n- config_name: a\n  data_files: [{{split: test, path: '{pattern}'}}]", **FILES)
    (root / "link").symlink_to(tmp_path)
    with pytest.raises(DatasetError) as fault:
        dataset_files(root)
    assert "\n" not in str(fault.value)


@pytest.mark.parametrize("card", ["configs: [", "configs: 3", "a: &a [*a]", "configs:\n- 3"])
def test_a_card_that_is_no_yaml_is_one_line_and_one_without_configurations_is_passed_over(tmp_path: Path, card: str) -> None:
    root = folder(tmp_path, card, **FILES)
    try:
        assert names(dataset_files(root)) == ["test-00000.jsonl"]
    except DatasetError as fault:
        assert "\n" not in str(fault)


def test_a_folder_without_data_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match="no file with data"):
        dataset_files(folder(tmp_path))
