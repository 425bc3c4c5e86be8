"""Everything that is wrong with a suite's criteria and weights, all at once."""

from collections.abc import Iterable, Iterator, Mapping
from difflib import get_close_matches
from pathlib import Path

from msgspec import Struct

from areopage.cases import persona_faults, source_of
from areopage.criteria import RegistryEntry, is_unwritten, prompt_file_faults
from areopage.errors import ConfigError, CriteriaError
from areopage.scoring import Weights
from areopage.suites.config import idle_keys, is_unknown_key
from areopage.suites.loader import CONFIG_FILE, Suite, find_suite, limit_faults, readable_config, suite_of
from areopage.yaml_document import YamlDocument, read_yaml

DID_YOU_MEAN = "did you mean"
_UNWRITTEN = "still holds `...` in place of a text: write it"


class SuiteFindings(Struct, frozen=True, kw_only=True):
    """What is wrong with a suite, a line each; a run makes up for warnings, or does not need what they miss."""

    faults: tuple[str, ...]
    warnings: tuple[str, ...]


def check_folder(name_or_folder: str) -> SuiteFindings:
    """Everything that is wrong with a suite. Wrong values of its configuration are left out for the other checks.

    Raises:
        ConfigError: there is no such suite, or the configuration or the registry cannot be read at all.
    """
    folder = find_suite(name_or_folder)
    document = read_yaml(folder / CONFIG_FILE)
    unknown = [warning for warning in idle_keys(document) if is_unknown_key(warning)]
    config, faults, left_out = readable_config(document)
    warnings: list[ConfigError] = []
    if config is not None:
        try:
            suite = suite_of(folder, document, config)
            suite_faults = [
                *suite.registry.faults,
                *_selection_faults(suite),
                *_duplicate_faults(suite),
                *_prompt_file_faults(suite),
                *_missing_files(suite, outside=False),
                *_weight_faults(suite),
                *suite.severity_faults(),
                *suite.failure_faults(),
                *suite.release_faults(),
                *_persona_and_data_faults(suite),
            ]
            warnings = [*_missing_weights(suite), *_missing_files(suite, outside=True)]
        except ConfigError as fault:
            if not faults:
                raise
            suite_faults = [fault]
        faults += [fault for fault in (*limit_faults(config, document), *suite_faults) if not _follows(fault, document, left_out)]
    lines = [*unknown, *map(str, faults)], [str(note) for note in warnings if not _follows(note, document, left_out)]
    return SuiteFindings(faults=tuple(dict.fromkeys(lines[0])), warnings=tuple(dict.fromkeys(lines[1])))


def _follows(fault: ConfigError, document: YamlDocument, left_out: Iterable[str]) -> bool:
    """Whether a fault of the configuration may be there only because a wrong value in or around its place was left out."""
    key = fault.key or ""
    return fault.path == document.path and any(
        f"{key_left_out}.".startswith(f"{key}.") or key.startswith(f"{key_left_out}.") for key_left_out in left_out
    )


def unselected_criteria(suite: Suite) -> tuple[str, ...]:
    """The criteria that a run judges only where they are named, for the default selection does not have them."""
    try:
        return suite.registry.left_out_of(suite.registry.select(suite.config.criteria.default_selection))
    except CriteriaError:
        return ()


def _selection_faults(suite: Suite) -> list[ConfigError]:
    wanted: list[tuple[str, tuple[str, ...]]] = [(suite.config.criteria.default_selection, ("criteria", "default_selection"))]
    for name, judge in suite.config.judge_system.judges.items():
        place = ("judge_system", "judges", name, "criteria")
        wanted += [(selection, (*place, str(position))) for position, selection in enumerate(judge.criteria)]
    faults: list[ConfigError] = []
    for selection, keys in wanted:
        try:
            suite.registry.select(selection)
        except CriteriaError as fault:
            faults.append(suite.document.error(str(fault), *keys))
    return faults


def _duplicate_faults(suite: Suite) -> list[ConfigError]:
    faults: list[ConfigError] = []
    by_file: dict[str, str] = {}
    document = suite.registry.document
    for entry in suite.registry.entries.values():
        first = by_file.setdefault(entry.file, entry.id)
        if first != entry.id:
            faults.append(document.error(f"is already the prompt file of {first}", "criteria", entry.id, "file"))
    for preset in suite.registry.presets.values():
        paths: dict[str, str] = {}
        for criterion in preset.criteria:
            first = paths.setdefault(suite.registry.entries[criterion].path, criterion)
            if first != criterion:
                message = f"holds two versions of one criterion: {first} and {criterion}"
                faults.append(document.error(message, "presets", preset.name))
    return faults


def _prompt_file_faults(suite: Suite) -> list[ConfigError]:
    unwritten = is_unwritten(suite.config.project.description)
    faults = [suite.document.error(_UNWRITTEN, "project", "description")] if unwritten else []
    for entry in suite.registry.entries.values():
        for field, local in (("label", entry.label), ("description", entry.description)):
            if any(is_unwritten(text) for text in local.texts.values()):
                faults.append(suite.registry.document.error(_UNWRITTEN, "criteria", entry.id, field))
        for file in filter(Path.is_file, _prompt_files(suite, entry)):
            faults += prompt_file_faults(suite.criteria_folder, file)
    return faults


def _missing_files(suite: Suite, *, outside: bool) -> list[ConfigError]:
    left_out = unselected_criteria(suite)
    return [
        ConfigError(f"the prompt file of {entry.id} is missing", path=file)
        for entry in suite.registry.entries.values()
        if (entry.id in left_out) == outside
        for file in _prompt_files(suite, entry)
        if not file.is_file()
    ]


def _prompt_files(suite: Suite, entry: RegistryEntry) -> list[Path]:
    path = suite.criteria_folder / entry.file
    return [path, *(path.with_suffix(f".{language}{path.suffix}") for language in suite.config.languages[1:])]


def _levels(suite: Suite) -> Iterator[tuple[tuple[str, ...], Mapping[str, float], list[str]]]:
    """Each level of the tree: where its weights stand in the configuration, the weights, and the names to be weighed."""
    entries, weights = suite.registry.entries.values(), suite.config.weights
    yield ("weights", "categories"), weights.categories, sorted({entry.category for entry in entries})
    for category in dict.fromkeys(entry.category for entry in entries):
        below = sorted({entry.subcategory for entry in entries if entry.category == category})
        yield ("weights", "subcategories", category), weights.subcategories.get(category, {}), below
    for key in dict.fromkeys(_group_of(entry) for entry in entries):
        names = sorted({entry.name for entry in entries if _group_of(entry) == key})
        yield ("weights", "criteria", key), weights.criteria.get(key, {}), names


def _missing_weights(suite: Suite) -> list[ConfigError]:
    document, faults = suite.document, list[ConfigError]()
    for keys, configured, names in _levels(suite):
        if configured:
            faults += [document.error(f"no weight for {name!r}", *keys) for name in names if name not in configured]
        elif len(names) > 1:
            faults.append(document.error(f"no weights for {', '.join(names)}: equal weights are used", *keys))
    return faults


def _weight_faults(suite: Suite) -> list[ConfigError]:
    entries, weights = suite.registry.entries.values(), suite.config.weights
    faults: list[ConfigError] = []
    for keys, configured, names in _levels(suite):
        bare = [name for name in names if name not in configured]
        for name in configured:
            if name not in names:
                near = get_close_matches(name, bare, n=1)
                hint = f", {DID_YOU_MEAN} {near[0]!r}?" if near else ""
                message = f"unknown name: no category, sub-category or criterion matches{hint}"
                faults.append(suite.document.error(message, *keys, name))
        total = sum(configured.values())
        if configured and abs(total - 1.0) > Weights.SUM_TOLERANCE:
            faults.append(suite.document.error(f"the weights sum to {total:.6g}, not 1", *keys))
    for category in weights.subcategories:
        if category not in {entry.category for entry in entries}:
            message = "weighs below a category that has no criterion"
            faults.append(suite.document.error(message, "weights", "subcategories", category))
    groups = {_group_of(entry) for entry in entries}
    for key in weights.criteria:
        if key not in groups:
            faults.append(suite.document.error("weights a sub-category without criteria", "weights", "criteria", key))
    return faults


def misspelt_weights(suite: Suite) -> list[ConfigError]:
    """The weights for nothing whose names are close to one without a weight: a run would weigh otherwise than meant."""
    return [fault for fault in _weight_faults(suite) if DID_YOU_MEAN in str(fault)]


def _group_of(entry: RegistryEntry) -> str:
    return f"{entry.category}.{entry.subcategory}"


def _persona_and_data_faults(suite: Suite) -> list[ConfigError]:
    faults: list[ConfigError] = []
    try:
        suite.rules()
    except ConfigError as fault:
        faults.append(fault)
    for language in suite.config.languages:
        try:
            if (path := suite.personas_file()) is not None:
                faults += persona_faults(path, language)
        except ConfigError as fault:
            faults.append(fault)
        try:
            missing = [path for path in suite.datasets(language) if not source_of(path).path.exists()]
            faults += [suite.document.error(f"{file.name} is not in {file.parent}", "paths", "datasets") for file in missing]
        except ConfigError as fault:
            faults.append(fault)
    return faults
