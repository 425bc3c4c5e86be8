"""Make new suites and new criteria."""

import re
import shutil
import tempfile
import textwrap
from contextlib import suppress
from pathlib import Path

from areopage.criteria.registry import CRITERION_ID
from areopage.errors import ConfigError, CriteriaError, StorageError
from areopage.suites.loader import BUNDLED, Suite, bundled_names, find_suite
from areopage.yaml_document import parse_yaml

TEMPLATES = Path(__file__).with_name("new_criterion")


def copy_suite(like: str, folder: Path) -> None:
    """Copy a suite into a new folder; nothing is left behind where it fails.

    Raises:
        ConfigError: there is no such suite, or the folder exists already or lies within the suite.
        StorageError: the folder cannot be written.
    """
    source = find_suite(like)
    if folder.exists():
        raise ConfigError("already exists: choose a new folder", path=folder)
    if folder.resolve().is_relative_to(source.resolve()):
        raise ConfigError(f"is inside the suite {like}: choose a folder outside of it", path=folder)
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder.parent, prefix=".areopage-") as scratch:
            copied = Path(scratch) / folder.name
            shutil.copytree(source, copied, symlinks=like not in bundled_names())  # links stay links: see `Suite`
            copied.replace(folder)
    except shutil.Error as error:
        source, _, reason = error.args[0][0]
        raise StorageError(f"{source} cannot be copied: {reason}") from None
    except OSError as error:
        raise StorageError(f"{folder} cannot be written: {error.strerror or error}") from None


def add_criterion(suite: Suite, criterion: str) -> list[Path]:
    """Add a criterion to a suite's registry, with a prompt file in each language; return the written files.

    If the default selection is a preset whose criteria stand one to a line, the criterion is added to it, too.

    Raises:
        CriteriaError: the id is malformed, or taken.
        ConfigError: a prompt file exists already, or the form of the registry does not allow a new entry.
        StorageError: a file cannot be written.
    """
    if suite.folder.resolve().is_relative_to(BUNDLED):
        raise ConfigError("is a bundled suite and read-only: copy it first with areopage suites new DIR", path=suite.folder)
    found = CRITERION_ID.fullmatch(criterion)
    if found is None:
        raise CriteriaError(f"{criterion!r} is not an id: write category.subcategory.name__vX_Y in a-z, 0-9 and _")
    if criterion in suite.registry.entries:
        raise CriteriaError(f"{criterion} is already in the registry: increase its version")
    category, subcategory, name = found["path"].split(".")
    file = f"{category}/{subcategory}/{criterion.rpartition('.')[2]}.prompt"
    path = suite.criteria_folder / file
    texts = {path: _prompt_template(suite.own_language)}
    for language in suite.config.languages[1:]:
        texts[path.with_suffix(f".{language}.prompt")] = _prompt_template(language)
    for one in texts:
        if one.exists():
            raise ConfigError("already exists", path=one)
    registry = suite.registry.document.path
    entry = (
        f'{criterion}:\n  version: "{found["major"]}.{found["minor"]}"\n  category: "{category}"\n'
        f'  subcategory: "{subcategory}"\n  name: "{name}"\n  description: "..."\n  file: "{file}"\n'
    )
    try:
        changed = _with_entry(registry.read_text(encoding="utf-8-sig"), entry, registry)
        changed = _with_member(changed, suite.config.criteria.default_selection, criterion, registry)
        for one, text in texts.items():
            one.parent.mkdir(parents=True, exist_ok=True)
            one.write_text(text, encoding="utf-8")
        _replace_text(registry, changed)
    except OSError as error:
        raise StorageError(f"{error.filename or registry} cannot be written: {error.strerror}") from None
    return [*texts, registry]


def _prompt_template(language: str) -> str:
    path = TEMPLATES / f"{language}.prompt"
    return (path if path.is_file() else TEMPLATES / "en.prompt").read_text(encoding="utf-8")


def _with_entry(text: str, entry: str, path: Path) -> str:
    """A registry's text with an entry put first under `criteria:`; comments and order of the rest stay.

    Raises:
        ConfigError: the registry is not written as one line `criteria:` with its entries indented below.
    """
    before = parse_yaml(text, path).data["criteria"]
    lines = text.splitlines(keepends=True)
    heads = [position for position, line in enumerate(lines) if re.fullmatch(r"criteria:\s*(#.*)?", line.strip("\r\n"))]
    if len(heads) == 1:
        below = lines[heads[0] + 1 :]
        first = next((line for line in below if line.strip() and not line.lstrip().startswith("#")), "")
        indent = first[: len(first) - len(first.lstrip())]
        put = textwrap.indent(entry, indent)
        changed = "".join([*lines[: heads[0] + 1], put, "\n", *below])
        with suppress(ConfigError):
            after = parse_yaml(changed, path).data["criteria"]
            if {key: raw for key, raw in after.items() if key in before} == before and len(after) == len(before) + 1:
                return changed
    raise ConfigError(
        f"cannot be added to as it is written; put this below `criteria` by hand: {' '.join(entry.split())}", path=path
    )


def _with_member(text: str, preset: str, criterion: str, path: Path) -> str:
    """A registry's text with a criterion put first in a preset; as it is where there is no such preset, or no list in lines."""
    document = parse_yaml(text, path)
    first = document.lines.get(("presets", preset, "criteria", "0"))
    lines = text.splitlines(keepends=True)
    found = re.match(r"\s*- ", lines[first - 1]) if first else None
    if first is None or found is None:
        return text
    changed = "".join([*lines[: first - 1], f"{found.group()}{criterion}\n", *lines[first - 1 :]])
    with suppress(ConfigError):
        after = parse_yaml(changed, path).data
        if after["presets"][preset]["criteria"] == [criterion, *document.data["presets"][preset]["criteria"]]:
            return changed
    return text


def _replace_text(path: Path, text: str) -> None:
    with tempfile.TemporaryDirectory(dir=path.parent, prefix=".areopage-") as scratch:
        written = Path(scratch) / path.name
        written.write_text(text, encoding="utf-8")
        shutil.copymode(path, written)
        written.replace(path)
