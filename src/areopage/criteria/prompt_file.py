"""The .prompt files: a criterion's texts in one language."""

import re
from pathlib import Path
from typing import Any

from msgspec import Struct

from areopage.criteria.prompts import misspelt_placeholders
from areopage.criteria.records import Criterion, Scale
from areopage.criteria.registry import Registry, RegistryEntry
from areopage.errors import ConfigError
from areopage.records import record_from
from areopage.yaml_document import YamlDocument, leads_out, read_yaml

REQUIRED = ("role", "task", "scoring_guide", "output_format")
OPTIONAL = ("age_context", "examples")
SCALE_LIMIT = 1_000_000
# A line that has nothing but an ellipsis, after a label such as "0 -" or "PROMPT:".
_UNWRITTEN = re.compile(
    r"""^\s*(?:[-*•]\s+)?(?:[-+]?[\w .]{1,40}?\s*[:=–-]\s*)?[\["'“«]*\s*(?:\.\.\.|…)\s*["'\]”»]*\s*$""", re.MULTILINE
)
# V1.1 files end with these: they mark where the case goes. Here it always goes after the constant part.
CASE_SLOTS = frozenset({"CONTENT TO ANALYZE", "PROMPT", "RESPONSE"})


class LoadedCriteria(Struct, frozen=True, kw_only=True):
    """The criteria that could be loaded, and what is wrong with the others.

    `untranslated` lists ids whose text in the wanted language is missing: the suite's own language is used.
    """

    criteria: tuple[Criterion, ...]
    faults: tuple[ConfigError, ...]
    untranslated: tuple[str, ...]


def load_criteria(
    registry: Registry, ids: tuple[str, ...], folder: Path, language: str, own_language: str, scale: Scale
) -> LoadedCriteria:
    """Load the prompt files of some criteria; a faulty one is named and the rest is loaded.

    Args:
        ids: ids that the registry has.
        folder: the folder of prompt files.
        language: the wanted language; `name.<language>.prompt` lies beside `name.prompt`.
        own_language: the language of the files without a language in their name.
        scale: the scale of files that state none.
    """
    criteria: list[Criterion] = []
    faults: list[ConfigError] = []
    untranslated: list[str] = []
    for key in ids:
        entry = registry.entries[key]
        path = folder / entry.file
        used = own_language
        if language != own_language:
            translated = path.with_suffix(f".{language}{path.suffix}")
            if translated.is_file():
                path, used = translated, language
            else:
                untranslated.append(key)
        try:
            check_inside(folder, path)
            criteria.append(_read_criterion(entry, path, used, scale))
        except ConfigError as fault:
            faults.append(fault)
    return LoadedCriteria(criteria=tuple(criteria), faults=tuple(faults), untranslated=tuple(untranslated))


def check_inside(folder: Path, path: Path) -> None:
    """Check that a prompt file lies in the folder of prompt files."""
    if leads_out(folder, path):
        raise ConfigError("leads out of the folder of prompt files: put the file there", path=path)


def _read_criterion(entry: RegistryEntry, path: Path, language: str, scale: Scale) -> Criterion:
    if not path.is_file():
        raise ConfigError(f"the prompt file of {entry.id} is missing", path=path)
    document = read_yaml(path)
    faults = prompt_faults(document)
    if faults:
        raise faults[0]
    data = document.data
    if "scale" in data:
        raw = data["scale"]
        scale = Scale(min=float(raw["min"]), max=float(raw["max"]), higher_is_better=raw.get("higher_is_better", True))
    texts = {field: str(data.get(field) or "").strip() for field in (*REQUIRED, *OPTIONAL)}
    label, description = entry.label.get(language) or entry.name.replace("_", " "), entry.description.get(language)
    return record_from(Criterion, entry, language=language, label=label, description=description, scale=scale, **texts)


def prompt_faults(document: YamlDocument) -> list[ConfigError]:
    """Everything that keeps a prompt file from being used."""
    faults: list[ConfigError] = []
    for field in REQUIRED:
        value = document.data.get(field)
        if value is None or (isinstance(value, str) and not value.strip()):
            faults.append(document.error("is missing or empty", field))
    for field in (*REQUIRED, *OPTIONAL):
        text = document.data.get(field)
        if isinstance(text, str):
            if field != "output_format" and is_unwritten(text):
                faults.append(document.error("still holds `...` in place of a text: write it", field))
        elif text is not None:
            faults.append(document.error("must be a text", field))
    if "scale" in document.data and not _valid_scale(document.data["scale"]):
        faults.append(
            document.error("must be {min: NUMBER, max: LARGER NUMBER up to a million, higher_is_better: true|false}", "scale")
        )
    return faults


def prompt_file_faults(folder: Path, file: Path) -> list[ConfigError]:
    """Everything that is wrong with a prompt file, with likely mistakes: keys that nothing reads, misspelt placeholders."""
    try:
        check_inside(folder, file)
        document = read_yaml(file)
    except ConfigError as fault:
        return [fault]
    notes = prompt_faults(document)
    for field in (*REQUIRED, *OPTIONAL):
        if isinstance(text := document.data.get(field), str):
            notes += [document.error(note, field) for note in misspelt_placeholders(text)]
    fields = (*REQUIRED, *OPTIONAL, "scale")
    unread = [key for key in document.data if key not in fields and key not in CASE_SLOTS]
    return notes + [document.error(f"unknown key: use one of {', '.join(fields)}", key) for key in unread]


def is_unwritten(text: str) -> bool:
    """Whether a text holds an ellipsis where a text is to be written."""
    return _UNWRITTEN.search(text) is not None


def _valid_scale(raw: Any) -> bool:
    if not isinstance(raw, dict) or set(raw) - {"min", "max", "higher_is_better"}:
        return False
    ends = (raw.get("min"), raw.get("max"))
    if any(isinstance(end, bool) or not isinstance(end, int | float) or not -SCALE_LIMIT <= end <= SCALE_LIMIT for end in ends):
        return False
    return bool(raw["min"] < raw["max"]) and isinstance(raw.get("higher_is_better", True), bool)
