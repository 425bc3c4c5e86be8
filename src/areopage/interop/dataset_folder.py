"""Folders of Hugging Face datasets: which files hold a split, by the card (`README.md`) or by the files' names.

Nothing is downloaded and no script is run: only CSV, JSON Lines, JSON and Parquet files inside of the folder are taken.
"""

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from areopage.cases import SUFFIXES
from areopage.errors import ConfigError, DatasetError, name_list
from areopage.yaml_document import MAX_BYTES, parse_yaml

CARD = "README.md"
DEFAULT = "default"
SPLITS = ("test", "validation", "train")
"""The splits that are taken where none is named, the first that there is."""

_ALIASES: Mapping[str, str] = {
    "dev": "validation",
    "valid": "validation",
    "val": "validation",
    "eval": "test",
    "training": "train",
    "testing": "test",
}
_FRONT = re.compile(r"\A\ufeff?---\s*\n(.*?)\n---\s*(?:\n|\Z)", re.DOTALL)
_TAKEN = tuple(suffix for suffix in SUFFIXES if suffix not in (".eval", ".xlsx"))
_MAX_FILES = 10_000

Splits = dict[str, list[Path]]


def dataset_files(folder: Path, config: str = "", split: str = "") -> list[Path]:
    """The files of one split, in the order of their names.

    "" is the card's default or only configuration, and the only split, else the first of `SPLITS`.
    """
    configs, default = _configs(folder)
    configs = configs or {DEFAULT: _by_names(folder)}
    if not config:
        config = default or (DEFAULT if DEFAULT in configs else next(iter(configs)))
        if len(configs) > 1 and config not in (default, DEFAULT):
            raise DatasetError(f"{folder}: the card has the configurations {name_list(configs)}: name one with #subset=NAME")
    if config not in configs:
        raise DatasetError(f"{folder}: no configuration {config!r}: there is {name_list(configs)}")
    splits = {name: files for name, files in configs[config].items() if files}
    if not splits:
        raise DatasetError(f"{folder}: no file with data ({name_list(_TAKEN)})")
    chosen = split or (next(iter(splits)) if len(splits) == 1 else next((usual for usual in SPLITS if usual in splits), ""))
    if chosen not in splits:
        raise DatasetError(f"{folder}: {f'no split {split!r}' if split else 'no split is named'}: there is {name_list(splits)}")
    return splits[chosen]


def _configs(folder: Path) -> tuple[dict[str, Splits], str]:
    """The configurations that the card names, with the files of their splits, and the name of the one marked as default."""
    card = folder / CARD
    if not card.is_file():
        return {}, ""
    front = _FRONT.match(card.read_bytes()[:MAX_BYTES].decode("utf-8", "replace").replace("\r\n", "\n"))
    if front is None:
        return {}, ""
    try:
        data = parse_yaml(front[1], card).data
    except ConfigError as fault:
        raise DatasetError(str(fault)) from fault
    configs: dict[str, Splits] = {}
    default = ""
    entries = data.get("configs")
    for entry in entries if isinstance(entries, list) else ():
        if isinstance(entry, dict):
            files = entry.get("data_files")
            name = str(entry.get("config_name", DEFAULT))
            named = _named(folder, files) if files else _by_names(folder / str(entry.get("data_dir", "")), folder)
            configs[name] = named
            default = name if entry.get("default") is True else default
    return configs, default


def _named(folder: Path, files: Any) -> Splits:
    """The files of `data_files`: patterns, or a list of splits with patterns."""
    if isinstance(files, dict):
        files = [{"split": split, "path": path} for split, path in files.items()]
    listed = files if isinstance(files, list) else [files]
    splits: Splits = {}
    for entry in listed:
        split, patterns = (entry.get("split", "train"), entry.get("path", [])) if isinstance(entry, dict) else ("train", entry)
        for pattern in patterns if isinstance(patterns, list) else [patterns]:
            text, parts = str(pattern), Path(str(pattern)).parts
            where = f"{folder / CARD}: data_files {text!r}"
            if not parts or Path(text).is_absolute() or ".." in parts or "://" in text:
                raise DatasetError(f"{where}: only files inside of the folder are read")
            try:
                matching = _data(folder.glob(text), folder)
            except (ValueError, NotImplementedError) as fault:
                raise DatasetError(f"{where}: {fault}") from fault
            if not matching:
                raise DatasetError(f"{where}: no such file that can be read ({name_list(_TAKEN)})")
            splits.setdefault(str(split), []).extend(matching)
    return splits


def _by_names(folder: Path, root: Path | None = None) -> Splits:
    """The files of a folder, or of its subfolder `data`, by the splits in their names."""
    by_split: Splits = {}
    for place in (folder, folder / "data"):
        for file in _data(place.glob("*"), root or folder):
            words = re.split(r"[^a-z0-9]+", file.stem.lower())
            splits = [_ALIASES.get(word, word) for word in words if _ALIASES.get(word, word) in SPLITS]
            by_split.setdefault(splits[0] if splits else "train", []).append(file)
    return by_split


def _data(files: Iterable[Path], root: Path) -> list[Path]:
    inside, taken = root.resolve(), []
    for file in files:
        if file.suffix.lower() in _TAKEN and file.is_file() and file.resolve().is_relative_to(inside):
            taken.append(file)
        if len(taken) > _MAX_FILES:
            raise DatasetError(f"{root}: more than {_MAX_FILES:,} files")
    return sorted(taken)
