"""Load a suite: a bundled one by its name, or any folder with a `config.yml`."""

from pathlib import Path
from typing import Any

from msgspec import Struct
from pydantic import ValidationError

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
    folder = Path(name_or_folder).expanduser()
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


def parse_config(document: YamlDocument) -> SuiteConfig:
    """Check a configuration against its schema and its own limits.

    Raises:
        ConfigError: see `load_suite`.
    """
    try:
        config = SuiteConfig.model_validate(document.data)
    except ValidationError as error:
        faults = error.errors(include_url=False)
        first = faults[0]
        more = f" (+{len(faults) - 1} more: areopage suites validate)" if len(faults) > 1 else ""
        message = first["msg"][:1].lower() + first["msg"][1:]
        shown = first["input"] if isinstance(first["input"], str | int | float | bool | None) else type(first["input"]).__name__
        raise document.error(f"{message}, got {shown!r}{more}", *(str(part) for part in first["loc"])) from None
    check_limits(config, document)
    return config


def check_limits(config: SuiteConfig, document: YamlDocument) -> None:
    """The relations between keys that a schema cannot say."""
    judges, limits = config.judge_system.judges, config.validation
    if len(judges) > limits.max_judges_simultaneous:
        message = f"{len(judges)} judges, and validation.max_judges_simultaneous is {limits.max_judges_simultaneous}"
        raise document.error(message, "judge_system", "judges")
    if config.judge_system.evaluation.n_passes > limits.max_passes_per_judge:
        message = f"more than validation.max_passes_per_judge ({limits.max_passes_per_judge})"
        raise document.error(message, "judge_system", "evaluation", "n_passes")
    scale = config.scoring.scale
    if scale.min >= scale.max:
        raise document.error("min must be under max", "scoring", "scale")
    preset = config.ollama.active_preset
    if preset != "default" and preset not in config.ollama.presets and "ollama" in document.data:
        allowed = name_list(["default", *config.ollama.presets])
        raise document.error(f"no such preset {preset!r}: use one of {allowed}", "ollama", "active_preset")
