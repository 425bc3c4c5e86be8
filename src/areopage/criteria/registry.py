"""The registry of criteria: which exist, where their prompt files lie, the presets, and selections of criteria."""

import re
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from math import isfinite
from pathlib import Path
from typing import Any, TypeVar

from msgspec import Struct

from areopage.criteria.applicability import CaseRule, read_rules
from areopage.criteria.records import SEVERITIES, Severity
from areopage.criteria.scopes import SCOPES, Scope
from areopage.errors import ConfigError, CriteriaError, name_list
from areopage.yaml_document import YamlDocument, read_yaml

T = TypeVar("T")
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
    """One criterion as the registry lists it; `file` is relative to the folder of prompt files.

    `may_not_apply`: judges may say that the criterion does not apply to a case; its texts tell when.
    `scope`: what is judged, see `areopage.criteria.scopes`.
    `applies_to`: rules that tell the cases it may apply to; the others are not put to any judge.
    `severity`, `critical_limit`: how grave a failure is, see `areopage.criteria.records.Criterion`.
    """

    id: str
    version: str
    category: str
    subcategory: str
    name: str
    label: LocalText
    description: LocalText
    file: str
    tags: tuple[str, ...] = ()
    may_not_apply: bool = False
    scope: Scope = "response"
    applies_to: tuple[CaseRule, ...] = ()
    severity: Severity | None = None
    critical_limit: float | None = None

    @property
    def path(self) -> str:
        """`category.subcategory.name`, without the version."""
        return f"{self.category}.{self.subcategory}.{self.name}"

    @property
    def version_number(self) -> tuple[int, int]:
        """(major, minor) of the id."""
        match = CRITERION_ID.fullmatch(self.id)
        return (int(match["major"]), int(match["minor"])) if match else (0, 0)


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

    def select(self, selection: str) -> tuple[str, ...]:
        """Resolve a comma list such as `basic_safety, age.readability, ethics.moral.harmful_advice__v1_0`.

        Where a part names no version, the newest version of each criterion is taken. Order is kept, duplicates are removed.

        Raises:
            CriteriaError: a part names nothing; near matches are listed.
        """
        parts = [part.strip() for part in selection.split(",") if part.strip()]
        if not parts:
            raise CriteriaError("the selection of criteria is empty: give a preset, a category or a criterion")
        chosen: dict[str, None] = {}
        for part in parts:
            if part in self.presets:
                below = self.presets[part].criteria
                if not below:
                    raise CriteriaError(
                        f"the preset {part!r} contains no criterion of the registry: choose another preset, or add criteria to it"
                    )
            elif part in self.entries:
                below = (part,)
            else:
                entries = [entry for entry in self.entries.values() if entry.path == part or entry.path.startswith(part + ".")]
                below = tuple(entry.id for entry in newest(entries))
            if not below:
                names = {*self.presets, *self.entries}
                for entry in self.entries.values():
                    names.update((entry.category, f"{entry.category}.{entry.subcategory}", entry.path))
                near = get_close_matches(part, sorted(names), n=4, cutoff=0.6)
                near += [name for name in sorted(names) if part.lower() in name.lower() and name not in near][:4]
                hint = f"did you mean {' or '.join(near[:4])}?" if near else f"presets are {name_list(self.presets)}"
                raise CriteriaError(f"unknown criterion, category or preset {part!r}: {hint} (areopage criteria list shows all)")
            chosen.update(dict.fromkeys(below))
        return tuple(chosen)

    def left_out_of(self, chosen: Iterable[str]) -> tuple[str, ...]:
        """The ids of the criteria, each in its newest version, of which no version is chosen."""
        paths = {self.entries[key].path for key in chosen}
        return tuple(entry.id for entry in self.newest() if entry.path not in paths)

    def newest(self) -> list[RegistryEntry]:
        """Of several versions of one criterion the newest, in the order of first mention."""
        return newest(self.entries.values())


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
    labels: dict[str, LocalText] = {}
    if _mapping_at(document, faults, "labels"):
        for level in ("categories", "subcategories"):
            labels |= {str(name): _local_text(raw) for name, raw in _mapping_at(document, faults, "labels", level).items()}
    return Registry(document=document, entries=entries, presets=presets, labels=labels, faults=tuple(faults))


def _read_entry(document: YamlDocument, key: str, raw: Any, faults: list[ConfigError]) -> RegistryEntry | None:
    before = len(faults)

    def fault(message: str, *field: str) -> None:
        if message:
            faults.append(document.error(message, "criteria", key, *field))

    def choice(field: str, allowed: tuple[T, ...], named: object) -> T | None:
        chosen = next((word for word in allowed if word == named), None)
        fault("" if chosen is not None else f"is {named!r}: use one of {', '.join(map(str, allowed))}", field)
        return chosen

    match = CRITERION_ID.fullmatch(key)
    if match is None:
        fault("an id is category.subcategory.name__vX_Y in a-z, 0-9 and _")
        return None
    if not isinstance(raw, dict):
        fault("must be a mapping with category, subcategory, name, file")
        return None
    category, subcategory, name = match["path"].split(".")
    for field, expected in (("category", category), ("subcategory", subcategory), ("name", name)):
        if str(raw.get(field, expected)) != expected:
            fault(f"is {raw[field]!r} but the id implies {expected!r}", field)
    fault(_file_fault(raw.get("file")), "file")
    tags, may_not_apply, limit = raw.get("tags") or [], raw.get("may_not_apply", False), raw.get("critical_limit")
    fault("" if isinstance(tags, list) else "must be a list", "tags")
    fault("" if isinstance(may_not_apply, bool) else "must be true or false", "may_not_apply")
    scope = choice("scope", SCOPES, raw.get("scope", "response"))
    severity = None if raw.get("severity") is None else choice("severity", SEVERITIES, raw["severity"])
    fault(_limit_fault(limit, severity), "critical_limit")
    applies_to, wrong = read_rules(raw.get("applies_to"), document, "criteria", key, "applies_to")
    faults += wrong
    if len(faults) > before or scope is None:
        return None
    return RegistryEntry(
        id=key,
        version=str(raw.get("version", f"{match['major']}.{match['minor']}")),
        category=category,
        subcategory=subcategory,
        name=name,
        label=_local_text(raw.get("label")),
        description=_local_text(raw.get("description")),
        file=str(raw["file"]),
        tags=tuple(str(tag) for tag in tags),
        may_not_apply=may_not_apply,
        scope=scope,
        applies_to=applies_to,
        severity=severity,
        critical_limit=None if limit is None else float(limit),
    )


def _file_fault(file: Any) -> str:
    if not isinstance(file, str) or not file:
        return "must name the prompt file"
    is_outside = Path(file).is_absolute() or ".." in Path(file).parts
    return "must be inside the folder of prompt files" if is_outside else ""


def _limit_fault(limit: Any, severity: Severity | None) -> str:
    if limit is None:
        return ""
    if isinstance(limit, bool) or not isinstance(limit, int | float) or not isfinite(limit):
        return "must be a score"
    return "needs a severity of serious or minor beside it" if severity in (None, "critical") else ""


def _mapping_at(document: YamlDocument, faults: list[ConfigError], *keys: str) -> dict[Any, Any]:
    """An optional mapping of a registry; empty, with its fault added to the list, where something else stands there."""
    value: Any = document.data
    for key in keys:
        value = value.get(key)
    if value is None or isinstance(value, dict):
        return value or {}
    faults.append(document.error("must be a mapping", *keys))
    return {}


def _local_text(raw: Any) -> LocalText:
    if isinstance(raw, dict):
        return LocalText({str(language): str(text) for language, text in raw.items()})
    return LocalText({} if raw is None else {"": str(raw)})


def newest(entries: Iterable[RegistryEntry]) -> list[RegistryEntry]:
    """Of several versions of one criterion the newest, in the order of first mention."""
    best: dict[str, RegistryEntry] = {}
    for entry in entries:
        best_so_far = best.get(entry.path)
        if best_so_far is None or entry.version_number > best_so_far.version_number:
            best[entry.path] = entry
    return list(best.values())
