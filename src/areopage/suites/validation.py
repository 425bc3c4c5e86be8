"""Everything that is wrong with a suite's criteria and weights, all at once."""

from collections.abc import Iterable, Mapping
from difflib import get_close_matches

from areopage.cases.personas import persona_faults
from areopage.cases.sources import source_of
from areopage.criteria.prompt_file import check_inside, is_unwritten, prompt_faults, prompt_notes
from areopage.criteria.registry import RegistryEntry, left_out_of, select_criteria
from areopage.errors import ConfigError, CriteriaError
from areopage.scoring.tree import SUM_TOLERANCE
from areopage.suites.config_keys import idle_keys, is_unknown_key
from areopage.suites.loader import CONFIG_FILE, Suite, find_suite, limit_faults, readable_config, suite_of
from areopage.yaml_document import YamlDocument, read_yaml

DID_YOU_MEAN = "did you mean"
_UNWRITTEN = "still holds `...` in place of a text: write it"


def folder_faults(name_or_folder: str) -> list[str]:
    """Everything that is wrong with a suite. Wrong values of its configuration are left out for the other checks.

    Raises:
        ConfigError: there is no such suite, or the configuration or the registry cannot be read at all.
    """
    folder = find_suite(name_or_folder)
    document = read_yaml(folder / CONFIG_FILE)
    unknown = [warning for warning in idle_keys(document) if is_unknown_key(warning)]
    config, faults, left_out = readable_config(document)
    if config is not None:
        try:
            found = _all_faults(suite_of(folder, document, config))
        except ConfigError as fault:
            if not faults:
                raise
            found = [fault]
        faults += [fault for fault in (*limit_faults(config, document), *found) if not _follows(fault, document, left_out)]
    return list(dict.fromkeys([*unknown, *map(str, faults)]))


def _follows(fault: ConfigError, document: YamlDocument, left_out: Iterable[str]) -> bool:
    """Whether a fault of the configuration may be there only because a wrong value in or around its place was left out."""
    key = fault.key or ""
    return fault.path == document.path and any(f"{one}.".startswith(f"{key}.") or key.startswith(f"{one}.") for one in left_out)


def suite_faults(suite: Suite) -> list[str]:
    """One line for each missing file, faulty prompt file, missing weight, sum ≠ 1, duplicate and unbalanced placeholder."""
    return list(dict.fromkeys(map(str, _all_faults(suite))))


def _all_faults(suite: Suite) -> list[ConfigError]:
    return [
        *suite.registry.faults,
        *_selection_faults(suite),
        *_duplicate_faults(suite),
        *_prompt_file_faults(suite),
        *_weight_faults(suite),
        *suite.severity_faults(),
        *suite.failure_faults(),
        *suite.release_faults(),
        *_persona_and_data_faults(suite),
    ]


def unselected_criteria(suite: Suite) -> tuple[str, ...]:
    """The criteria that a run judges only where they are named, for the default selection does not have them."""
    try:
        return left_out_of(select_criteria(suite.config.criteria.default_selection, suite.registry), suite.registry)
    except CriteriaError:
        return ()


def _selection_faults(suite: Suite) -> list[ConfigError]:
    """The default selection and those of judges, where they name what does not exist."""
    wanted: list[tuple[str, tuple[str, ...]]] = [(suite.config.criteria.default_selection, ("criteria", "default_selection"))]
    for name, judge in suite.config.judge_system.judges.items():
        place = ("judge_system", "judges", name, "criteria")
        wanted += [(selection, (*place, str(position))) for position, selection in enumerate(judge.criteria)]
    faults: list[ConfigError] = []
    for selection, keys in wanted:
        try:
            select_criteria(selection, suite.registry)
        except CriteriaError as fault:
            faults.append(suite.document.error(str(fault), *keys))
    return faults


def _duplicate_faults(suite: Suite) -> list[ConfigError]:
    """Two criteria with one prompt file, or two versions of one criterion in one preset."""
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
    """Every unwritten description and label, and every missing and every faulty prompt file, in each of the suite's languages."""
    unwritten = is_unwritten(suite.config.project.description)
    faults = [suite.document.error(_UNWRITTEN, "project", "description")] if unwritten else []
    for entry in suite.registry.entries.values():
        for field, told in (("label", entry.label), ("description", entry.description)):
            if any(is_unwritten(text) for text in told.texts.values()):
                faults.append(suite.registry.document.error(_UNWRITTEN, "criteria", entry.id, field))
        path = suite.criteria_folder / entry.file
        translations = [path.with_suffix(f".{language}{path.suffix}") for language in suite.config.languages[1:]]
        for file in (path, *translations):
            try:
                if not file.is_file():
                    raise ConfigError(f"the prompt file of {entry.id} is missing", path=file)
                check_inside(suite.criteria_folder, file)
                document = read_yaml(file)
                faults += [*prompt_faults(document), *prompt_notes(document)]
            except ConfigError as fault:
                faults.append(fault)
    return faults


def _weight_faults(suite: Suite) -> list[ConfigError]:
    """Every level with a missing weight, a weight for nothing, or a sum that is not 1."""
    entries = suite.registry.entries.values()
    weights = suite.config.weights
    faults = _level_faults(suite, ("weights", "categories"), weights.categories, {entry.category for entry in entries})
    for category in dict.fromkeys(entry.category for entry in entries):
        below = {entry.subcategory for entry in entries if entry.category == category}
        configured = weights.subcategories.get(category, {})
        faults += _level_faults(suite, ("weights", "subcategories", category), configured, below)
    for key in dict.fromkeys(f"{entry.category}.{entry.subcategory}" for entry in entries):
        names = {entry.name for entry in entries if _group_of(entry) == key}
        faults += _level_faults(suite, ("weights", "criteria", key), weights.criteria.get(key, {}), names)
    for category in weights.subcategories:
        if category not in {entry.category for entry in entries}:
            message = "weighs below a category that has no criterion"
            faults.append(suite.document.error(message, "weights", "subcategories", category))
    known = {_group_of(entry) for entry in entries}
    for key in weights.criteria:
        if key not in known:
            faults.append(suite.document.error("weights a sub-category without criteria", "weights", "criteria", key))
    return faults


def misspelt_weights(suite: Suite) -> list[ConfigError]:
    """The weights for nothing whose names are close to one without a weight: a run would weigh otherwise than meant."""
    return [fault for fault in _weight_faults(suite) if DID_YOU_MEAN in str(fault)]


def _group_of(entry: RegistryEntry) -> str:
    return f"{entry.category}.{entry.subcategory}"


def _level_faults(
    suite: Suite, keys: tuple[str, ...], configured: Mapping[str, float], names: Iterable[str]
) -> list[ConfigError]:
    document, wanted = suite.document, sorted(names)
    if not configured:
        return [document.error(f"no weights for {', '.join(wanted)}: equal weights are used", *keys)] if len(wanted) > 1 else []
    faults = [document.error(f"no weight for {name!r}", *keys) for name in wanted if name not in configured]
    bare = [name for name in wanted if name not in configured]
    for name in configured:
        if name not in wanted:
            near = get_close_matches(name, bare, n=1)
            hint = f", {DID_YOU_MEAN} {near[0]!r}?" if near else ""
            faults.append(document.error(f"unknown name: no category, sub-category or criterion matches{hint}", *keys, name))
    total = sum(configured.values())
    if abs(total - 1.0) > SUM_TOLERANCE:
        faults.append(document.error(f"the weights sum to {total:.6g}, not 1", *keys))
    return faults


def _persona_and_data_faults(suite: Suite) -> list[ConfigError]:
    """Rules and personas that cannot be read, and datasets that are not there."""
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
            faults += [suite.document.error(f"{one.name} is not in {one.parent}", "paths", "datasets") for one in missing]
        except ConfigError as fault:
            faults.append(fault)
    return faults
