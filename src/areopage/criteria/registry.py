"""The registry of criteria: which exist, where their prompt files lie, and the presets."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct

from areopage.errors import ConfigError
from areopage.yaml_document import YamlDocument, read_yaml

CRITERION_ID = re.compile(r"(?P<path>[a-z0-9_]+\.[a-z0-9_]+\.(?P<name>[a-z0-9_]+?))__v(?P<major>\d+)_(?P<minor>\d+)", re.ASCII)


class LocalText(Struct, frozen=True):
    """A short text in several languages; "" is the text of a registry that names no language."""

    texts: Mapping[str, str] = {}

    def get(self, language: str) -> str:
        """The text of a language, else the one without language, else English, else any."""
        for key in (language, "", "en"):
            if key in self.texts:
                return self.texts[key]
        return next(iter(self.texts.values()), "")


class RegistryEntry(Struct, frozen=True, kw_only=True):
    """One criterion as the registry lists it; `file` is relative to the folder of prompt files."""

    id: str
    version: str
    category: str
    subcategory: str
    name: str
    label: LocalText
    description: LocalText
    file: str
    tags: tuple[str, ...] = ()

    @property
    def path(self) -> str:
        """`category.subcategory.name`, without the version."""
        return f"{self.category}.{self.subcategory}.{self.name}"

    @property
    def version_number(self) -> tuple[int, int]:
        """(major, minor) of the id."""
        found = CRITERION_ID.fullmatch(self.id)
        return (int(found["major"]), int(found["minor"])) if found else (0, 0)


class Preset(Struct, frozen=True, kw_only=True):
    """A named list of criteria."""

    name: str
    description: LocalText
    criteria: tuple[str, ...]


class Registry(Struct, frozen=True, kw_only=True):
    """All criteria of a suite, in the file's order. `labels` names categories and sub-categories for people."""

    document: YamlDocument
    entries: dict[str, RegistryEntry]
    presets: dict[str, Preset]
    labels: dict[str, LocalText]
    faults: tuple[ConfigError, ...]

    def label(self, name: str, language: str) -> str:
        """What people call a category, a sub-category (`category.subcategory`) or a criterion."""
        if name in self.entries:
            return self.entries[name].label.get(language) or self.entries[name].name.replace("_", " ")
        return self.labels.get(name, LocalText()).get(language) or name.rpartition(".")[2].replace("_", " ")


def load_registry(path: Path) -> Registry:
    """Read a registry. Faulty entries are left out and named in `faults`, so that all can be shown at once.

    Raises:
        ConfigError: the file cannot be read, or has no `criteria`.
    """
    document = read_yaml(path)
    listed = document.data.get("criteria")
    if not isinstance(listed, dict) or not listed:
        raise document.error("must list at least one criterion under `criteria`", "criteria")
    faults: list[ConfigError] = []
    entries: dict[str, RegistryEntry] = {}
    for key, raw in listed.items():
        entry = _read_entry(document, str(key), raw, faults)
        if entry is not None:
            entries[entry.id] = entry
    return Registry(
        document=document,
        entries=entries,
        presets=_read_presets(document, entries, faults),
        labels=_read_labels(document, faults),
        faults=tuple(faults),
    )


def _read_entry(document: YamlDocument, key: str, raw: Any, faults: list[ConfigError]) -> RegistryEntry | None:
    """One entry, or None with its faults added to the list."""
    found = CRITERION_ID.fullmatch(key)
    if found is None:
        faults.append(document.error("an id is category.subcategory.name__vX_Y in a-z, 0-9 and _", "criteria", key))
        return None
    if not isinstance(raw, dict):
        faults.append(document.error("must be a mapping with category, subcategory, name, file", "criteria", key))
        return None
    category, subcategory, name = found["path"].split(".")
    before = len(faults)
    for field, expected in (("category", category), ("subcategory", subcategory), ("name", name)):
        if str(raw.get(field, expected)) != expected:
            faults.append(document.error(f"is {raw[field]!r} but the id implies {expected!r}", "criteria", key, field))
    file = raw.get("file")
    if not isinstance(file, str) or not file:
        faults.append(document.error("must name the prompt file", "criteria", key, "file"))
    elif Path(file).is_absolute() or ".." in Path(file).parts:
        faults.append(document.error("must be inside the folder of prompt files", "criteria", key, "file"))
    tags = raw.get("tags") or []
    if not isinstance(tags, list):
        faults.append(document.error("must be a list", "criteria", key, "tags"))
    if len(faults) > before:
        return None
    return RegistryEntry(
        id=key,
        version=str(raw.get("version", f"{found['major']}.{found['minor']}")),
        category=category,
        subcategory=subcategory,
        name=name,
        label=_local_text(raw.get("label")),
        description=_local_text(raw.get("description")),
        file=str(file),
        tags=tuple(str(tag) for tag in tags),
    )


def _read_presets(document: YamlDocument, entries: Mapping[str, RegistryEntry], faults: list[ConfigError]) -> dict[str, Preset]:
    """The presets; a criterion that the registry does not have is a fault."""
    presets: dict[str, Preset] = {}
    for name, raw in _mapping_at(document, faults, "presets").items():
        wanted = raw.get("criteria") if isinstance(raw, dict) else None
        if not isinstance(wanted, list):
            faults.append(document.error("must list its criteria under `criteria`", "presets", name))
            continue
        for position, criterion in enumerate(wanted):
            if str(criterion) not in entries:
                message = f"{criterion!r} is not in the registry"
                faults.append(document.error(message, "presets", name, "criteria", position))
        presets[str(name)] = Preset(
            name=str(name),
            description=_local_text(raw.get("description")),
            criteria=tuple(dict.fromkeys(str(criterion) for criterion in wanted if str(criterion) in entries)),
        )
    return presets


def _read_labels(document: YamlDocument, faults: list[ConfigError]) -> dict[str, LocalText]:
    """Names for people of categories and sub-categories, from the optional section `labels`."""
    labels: dict[str, LocalText] = {}
    if _mapping_at(document, faults, "labels"):
        for level in ("categories", "subcategories"):
            labels |= {str(name): _local_text(raw) for name, raw in _mapping_at(document, faults, "labels", level).items()}
    return labels


def _mapping_at(document: YamlDocument, faults: list[ConfigError], *keys: str) -> dict[Any, Any]:
    """An optional mapping of a registry; empty, with its fault added to the list, where something else stands there."""
    found: Any = document.data
    for key in keys:
        found = found.get(key)
    if found is None or isinstance(found, dict):
        return found or {}
    faults.append(document.error("must be a mapping", *keys))
    return {}


def _local_text(raw: Any) -> LocalText:
    """A text, or a mapping of languages to texts."""
    if isinstance(raw, dict):
        return LocalText({str(language): str(text) for language, text in raw.items()})
    return LocalText({} if raw is None else {"": str(raw)})
