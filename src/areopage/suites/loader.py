"""Load a suite: a bundled one by its name, or any folder with a `config.yml`."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, get_args, get_origin

from msgspec import Struct
from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from areopage.cases.personas import Persona, load_personas
from areopage.criteria.records import Scale
from areopage.criteria.registry import Registry, load_registry
from areopage.errors import ConfigError, name_list
from areopage.scoring.weights import Weights
from areopage.suites.config import SuiteConfig
from areopage.suites.keys import idle_keys
from areopage.yaml_document import YamlDocument, read_yaml

BUNDLED = Path(__file__).parent / "bundled"
CONFIG_FILE = "config.yml"
MAX_SHOWN = 60
MAX_KEYS = 40
KINDS: dict[type, str] = {dict: "keys with values", list: "a list"}
WANTED = {
    "bool_parsing": "true or false",
    "bool_type": "true or false",
    "dict_type": "keys with values",
    "float_parsing": "a number",
    "float_type": "a number",
    "int_from_float": "a whole number",
    "int_parsing": "a whole number",
    "int_type": "a whole number",
    "list_type": "a list",
    "model_type": "keys with values",
    "string_type": "a text",
}
"""What is wanted where pydantic reports a fault of this type."""


class Suite(Struct, frozen=True, kw_only=True):
    """A loaded suite. `warnings` name what the configuration says and changes nothing."""

    name: str
    folder: Path
    config: SuiteConfig
    document: YamlDocument
    registry: Registry
    warnings: tuple[str, ...]

    @property
    def own_language(self) -> str:
        """The language of prompt files that name none."""
        return self.config.languages[0]

    @property
    def criteria_folder(self) -> Path:
        """Where the prompt files lie."""
        return self.folder / self.config.criteria.base_path

    @property
    def scale(self) -> Scale:
        """The scale of the run's scores, and of prompt files that state none."""
        scale = self.config.scoring.scale
        return Scale(min=scale.min, max=scale.max, higher_is_better=scale.higher_is_better)

    @property
    def weights(self) -> Weights:
        """The weights of the three levels."""
        section = self.config.weights
        return Weights(categories=section.categories, subcategories=section.subcategories, criteria=section.criteria)

    def datasets(self, language: str) -> tuple[Path, ...]:
        """The suite's own datasets in a language."""
        listed = self.config.paths.datasets
        names = listed if isinstance(listed, list) else listed.get(language, [])
        return tuple(self.folder / self.config.paths.data_dir / name for name in names)

    def personas(self, language: str) -> dict[str, Persona]:
        """The personas by maturity; none where the suite has no file of them."""
        path = self.folder / self.config.paths.personas_file
        return load_personas(path, language) if path.is_file() else {}

    def rules(self) -> dict[str, Any]:
        """The parameters of the deterministic judges.

        Raises:
            ConfigError: the file of rules is missing or no YAML mapping.
        """
        named = self.config.paths.rules_file
        return self.config.rules | (read_yaml(self.folder / named).data if named else {})


def bundled_names() -> list[str]:
    """The names of the bundled suites."""
    return sorted(folder.name for folder in BUNDLED.iterdir() if (folder / CONFIG_FILE).is_file())


def find_suite(name_or_folder: str) -> Path:
    """The folder of a suite.

    Raises:
        ConfigError: neither a bundled suite nor a folder with a `config.yml`.
    """
    if name_or_folder in bundled_names():
        return BUNDLED / name_or_folder
    folder = Path(os.path.expanduser(name_or_folder))  # noqa: PTH111 - a `~name` that nobody has stays as it is
    if folder.is_file() and folder.name == CONFIG_FILE:
        folder = folder.parent
    if (folder / CONFIG_FILE).is_file():
        return folder
    if folder.is_dir():
        raise ConfigError(f"this folder is no suite: it has no {CONFIG_FILE} (areopage suites new makes one)", path=folder)
    raise ConfigError(
        f"no such suite: give a folder with a {CONFIG_FILE}, or a bundled suite ({name_list(bundled_names())})", path=folder
    )


def load_suite(name_or_folder: str) -> Suite:
    """Load a suite and check its configuration.

    Raises:
        ConfigError: a file is missing or wrong; of several mistakes the first is shown and the others are counted.
    """
    folder = find_suite(name_or_folder)
    document = read_yaml(folder / CONFIG_FILE)
    config = parse_config(document)
    return Suite(
        name=folder.resolve().name,
        folder=folder,
        config=config,
        document=document,
        registry=load_registry(folder / config.criteria.registry_file),
        warnings=tuple(idle_keys(document)),
    )


def choose_language(suite: Suite, wanted: str | None) -> str:
    """The language of a run: the suite's own unless another is wanted.

    Raises:
        ConfigError: the suite does not speak it.
    """
    if wanted is None:
        return suite.own_language
    if wanted not in suite.config.languages:
        allowed = name_list(suite.config.languages)
        raise ConfigError(
            f"the suite has no texts in {wanted!r}: use one of {allowed}", path=suite.document.path, key="languages"
        )
    return wanted


def parse_config(document: YamlDocument) -> SuiteConfig:
    """Check a configuration against its schema and its own limits.

    Raises:
        ConfigError: see `load_suite`.
    """
    try:
        config = SuiteConfig.model_validate(document.data)
    except ValidationError as error:
        first, *others = error.errors(include_url=False)
        more = f" (+{len(others)} more: areopage suites validate)" if others else ""
        raise schema_fault(document, first, SuiteConfig, more) from None
    for fault in limit_faults(config, document):
        raise fault
    return config


def config_faults(document: YamlDocument) -> list[ConfigError]:
    """Everything for which `parse_config` refuses a configuration."""
    try:
        config = SuiteConfig.model_validate(document.data)
    except ValidationError as error:
        return [schema_fault(document, fault, SuiteConfig) for fault in error.errors(include_url=False)]
    return limit_faults(config, document)


def schema_fault(document: YamlDocument, fault: ErrorDetails, schema: type[BaseModel], more: str = "") -> ConfigError:
    """One fault of a document against its schema, as pydantic found it, at its key; `more` is put after the message."""
    # parts such as `list[str]` or `[key]` are pydantic's own and stand in no file
    keys = [str(part) for part in fault["loc"] if not str(part).endswith("]")]
    return document.error(plain_message(fault, schema, keys) + more, *keys)


def plain_message(fault: ErrorDetails, schema: type[BaseModel], keys: Sequence[str]) -> str:
    """What is wrong at a key, in words that need no knowledge of pydantic."""
    if fault["type"] == "extra_forbidden":
        return f"there is no such key: use one of {name_list(allowed_keys(schema, keys[:-1]), MAX_KEYS)}"
    if fault["type"] == "missing":
        return "this key is missing"
    given = fault["input"]
    shown = repr(given) if isinstance(given, str | int | float | bool | None) else KINDS.get(type(given), type(given).__name__)
    shown = shown if len(shown) <= MAX_SHOWN else f"{shown[:MAX_SHOWN]}..."
    if fault["type"] in WANTED:
        return f"must be {WANTED[fault['type']]}, got {shown}"
    return f"{fault['msg'][:1].lower()}{fault['msg'][1:]}, got {shown}"


def allowed_keys(schema: Any, keys: Sequence[str]) -> list[str]:
    """The keys that a schema allows below a path of keys, sorted; none where it names none."""
    if isinstance(schema, type) and issubclass(schema, BaseModel):
        if not keys:
            return sorted(field.alias or name for name, field in schema.model_fields.items())
        below = {field.alias or name: field.annotation for name, field in schema.model_fields.items()}
        return allowed_keys(below.get(keys[0]), keys[1:])
    parts = get_args(schema)
    if get_origin(schema) in (dict, list):
        return allowed_keys(parts[-1], keys[1:]) if keys else []
    return sorted({key for part in parts for key in allowed_keys(part, keys)})


def limit_faults(config: SuiteConfig, document: YamlDocument) -> list[ConfigError]:
    """The relations between keys that a schema cannot say."""
    faults: list[ConfigError] = []
    judges, limits = config.judge_system.judges, config.validation
    if len(judges) > limits.max_judges_simultaneous:
        message = f"{len(judges)} judges, and validation.max_judges_simultaneous is {limits.max_judges_simultaneous}"
        faults.append(document.error(message, "judge_system", "judges"))
    if config.judge_system.evaluation.n_passes > limits.max_passes_per_judge:
        message = f"more than validation.max_passes_per_judge ({limits.max_passes_per_judge})"
        faults.append(document.error(message, "judge_system", "evaluation", "n_passes"))
    scale = config.scoring.scale
    if scale.min >= scale.max:
        faults.append(document.error("min must be under max", "scoring", "scale"))
    preset = config.ollama.active_preset
    if preset != "default" and preset not in config.ollama.presets and "ollama" in document.data:
        allowed = name_list(["default", *config.ollama.presets])
        faults.append(document.error(f"no such preset {preset!r}: use one of {allowed}", "ollama", "active_preset"))
    return faults
