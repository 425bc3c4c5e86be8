"""Load a suite: a bundled one by its name, or any folder with a `config.yml`."""

import copy
import os
from pathlib import Path
from typing import Any, Self

from msgspec import Struct, structs, to_builtins
from pydantic import ValidationError

from areopage.cases import Persona, load_personas, source_of
from areopage.criteria import GRAVE, SEVERITIES, SINGLE, Registry, Scale, load_registry
from areopage.errors import ConfigError, name_list
from areopage.models import Bot, Endpoint, ModelReference, ModelSettings, Timeouts
from areopage.scoring import FailureRules, Marks, ReleaseFloors, Weights
from areopage.suites.config import ReleaseSection, SuiteConfig, idle_keys
from areopage.suites.config_file import SharedSections, keys_of, schema_fault
from areopage.yaml_document import YamlDocument, leads_out, read_yaml

BUNDLED = Path(__file__).parent / "bundled"
CONFIG_FILE = "config.yml"


class Suite(Struct, frozen=True, kw_only=True):
    """A loaded suite. `warnings` name what the configuration says and changes nothing; `shared` is the user's own configuration.

    Every file that the suite names lies inside its folder: the suite may be a stranger's, and the file be sent to models.
    """

    name: str
    folder: Path
    config: SuiteConfig
    document: YamlDocument
    registry: Registry
    warnings: tuple[str, ...]
    shared: SharedSections = SharedSections()

    @property
    def own_language(self) -> str:
        """The language of prompt files that name none."""
        return self.config.languages[0]

    @property
    def criteria_folder(self) -> Path:
        """Where the prompt files lie."""
        return inside(self.document, self.config.criteria.base_path, "criteria", "base_path")

    def asking(self, **evaluation: object) -> Self:
        """The suite with other values of `judge_system.evaluation`."""
        system = self.config.judge_system
        system = system.model_copy(update={"evaluation": system.evaluation.model_copy(update=evaluation)})
        return structs.replace(self, config=self.config.model_copy(update={"judge_system": system}))

    @property
    def scale(self) -> Scale:
        """The scale of the run's scores, and of prompt files that state none."""
        scale = self.config.scoring.scale
        return Scale(min=scale.min, max=scale.max, higher_is_better=scale.higher_is_better)

    @property
    def _scale_text(self) -> str:
        return f"the scale of the suite goes from {self.scale.min:g} to {self.scale.max:g}"

    @property
    def weights(self) -> Weights:
        """The weights of the three levels."""
        return self.config.weights.weights()

    def failure_rules(self) -> FailureRules:
        """The rules of failures.

        Raises:
            ConfigError: a limit is off the scale, or for a criterion that the suite does not have.
        """
        for fault in self.failure_faults():
            raise fault
        section = self.config.scoring.failures
        return FailureRules(limit=section.limit, criteria=section.criteria, first=tuple(section.first))

    def failure_faults(self) -> list[ConfigError]:
        """Everything for which `failure_rules` refuses the configuration."""
        section, scale, where = self.config.scoring.failures, self.scale, ("scoring", "failures")
        names = {name for entry in self.registry.entries.values() for name in (entry.id, entry.path)}
        faults: list[ConfigError] = []
        for name, limit in [("", section.limit), *section.criteria.items()]:
            place = (*where, "criteria", name) if name else (*where, "limit")
            if name and name not in names:
                faults.append(self.document.error(f"the suite has no criterion {name!r}", *place))
            elif limit is not None and not scale.contains(limit):
                faults.append(self.document.error(self._scale_text, *place))
        return faults

    def release_floors(self) -> ReleaseFloors | None:
        """The floors of the release verdict; None where the suite sets none.

        Raises:
            ConfigError: a name is of nothing that the suite has, or a score is off the scale.
            CriteriaError: the default selection is wrong.
        """
        section = self.config.release
        if section is None:
            return None
        for fault in self.release_faults():
            raise fault
        selected = self.registry.select(self.config.criteria.default_selection)
        chosen = {self.registry.entries[id].path for id in selected}
        judged = [entry for entry in self.registry.newest() if entry.scope in SINGLE or entry.path in chosen]
        names = dict.fromkeys([*section.max_failures, *section.min_score])
        under = {name: tuple(entry.id for entry in judged if ReleaseFloors.counts(entry, name)) for name in names}
        return ReleaseFloors(**section.model_dump(), criteria=under)

    def exam_marks(self) -> Marks:
        """The marks that judges must reach in an exam."""
        return Marks(**{name: getattr(self.config.exam, name) for name in Marks.__struct_fields__})

    def release_faults(self) -> list[ConfigError]:
        """Everything for which `release_floors` refuses the configuration, but a wrong default selection."""
        section, scale, faults = self.config.release, self.scale, list[ConfigError]()
        if section is None:
            return faults
        ids = [entry.id for entry in self.registry.entries.values()]
        bare = [entry.id for entry in self.registry.newest() if entry.severity is None]
        for key, names in (("max_failures", section.max_failures), ("min_score", section.min_score)):
            for name in names:
                message = ""
                if key == "max_failures" and name in SEVERITIES:
                    message = f"counts failures by severity, and the registry states none for {name_list(bare)}" if bare else ""
                elif (key == "max_failures" and name == ReleaseFloors.FINAL) or not any(
                    ReleaseFloors.is_under(id, name) for id in ids
                ):
                    message = "no category, sub-category or criterion of the suite has this name"
                if message:
                    faults.append(self.document.error(message, "release", key, name))
        for name, score in section.min_score.items():
            if not scale.contains(score):
                faults.append(self.document.error(self._scale_text, "release", "min_score", name))
        return faults

    def severity_faults(self) -> list[ConfigError]:
        """Limits of severity off the scale, and rules that take a criterion that no case may go without off some cases."""
        document, release, faults = self.registry.document, self.config.release or ReleaseSection(), list[ConfigError]()
        names = [*release.max_failures, *(name for name in release.min_score if name != ReleaseFloors.FINAL)]
        for entry in self.registry.entries.values():
            if entry.critical_limit is not None and not self.scale.contains(entry.critical_limit):
                faults.append(document.error(self._scale_text, "criteria", entry.id, "critical_limit"))
            floor = next((name for name in names if ReleaseFloors.counts(entry, name)), "")
            grave = entry.severity if entry.severity in GRAVE else ""
            if entry.applies_to and (grave or floor):
                reason = f"the severity is {grave}" if grave else f"the release floor {floor} counts it"
                message = f"takes the criterion off some cases, but {reason}: remove the rule, or use may_not_apply"
                faults.append(document.error(message, "criteria", entry.id, "applies_to"))
        return faults

    def with_shared(self, shared: SharedSections) -> "Suite":
        """The suite with the endpoints, bots and judges of `areopage.yml` beside its own; they win over its own."""
        system = self.config.judge_system
        servers = {"endpoints": self.config.endpoints | shared.endpoints, "bots": self.config.bots | shared.bots}
        judges = system.model_copy(update={"judges": system.judges | shared.judges})
        return structs.replace(self, config=self.config.model_copy(update={**servers, "judge_system": judges}), shared=shared)

    def datasets(self, language: str) -> tuple[Path, ...]:
        """The suite's own datasets in a language."""
        paths = self.config.paths
        names = paths.datasets if isinstance(paths.datasets, list) else paths.datasets.get(language, [])
        files = tuple(inside(self.document, Path(paths.data_dir, name), "paths", "datasets") for name in names)
        for path in files:
            inside(self.document, source_of(path).path, "paths", "datasets")
        return files

    def personas(self, language: str) -> dict[str, Persona]:
        """The personas by maturity; none where the suite names no file of them and has none in the default place.

        Raises:
            ConfigError: the configuration names a file that is missing, or the file is wrong.
        """
        path = self.personas_file()
        return {} if path is None else load_personas(path, language)

    def personas_file(self) -> Path | None:
        """The file of the personas; None where the configuration names none and there is none in the default place.

        Raises:
            ConfigError: the named file is missing, or lies outside of the suite's folder.
        """
        paths = self.config.paths
        if not paths.personas_file:
            return None
        path = inside(self.document, paths.personas_file, "paths", "personas_file")
        if path.is_file():
            return path
        if "personas_file" in paths.model_fields_set:
            message = f'{path.name} is not in {path.parent}: add it, or write "" if the suite has no readers of certain ages'
            raise self.document.error(message, "paths", "personas_file")
        return None

    @property
    def knows_no_readers(self) -> bool:
        """Whether the configuration says that the suite has no personas: `personas_file` is empty."""
        return not self.config.paths.personas_file

    def rules(self) -> dict[str, Any]:
        """The parameters of the deterministic judges."""
        named = self.config.paths.rules_file
        return self.config.rules | (read_yaml(inside(self.document, named, "paths", "rules_file")).data if named else {})

    def reference(self, model: str, provider: str, *keys: str | int, from_suite: bool = True) -> ModelReference:
        """Read the reference of a suite's judge or target; a file that it names lies in the suite's folder.

        Args:
            from_suite: the suite names it, not the user's configuration.
        """
        reference = ModelReference.parse(model, default_provider=provider)
        if from_suite and reference.names_file:
            inside(self.document, Path(reference.model).expanduser(), *keys)
        return reference

    def model_settings(self, language: str, concurrency: int) -> ModelSettings:
        """The connection settings of the suite's models, without the environment."""
        config = self.config
        preset = config.ollama.presets.get(config.ollama.active_preset, config.ollama.default)
        return ModelSettings(
            endpoints={
                name: Endpoint(**section.model_dump(), foreign=name not in self.shared.endpoints)
                for name, section in config.endpoints.items()
            },
            bots={
                name: Bot(**section.model_dump(), foreign=name not in self.shared.bots) for name, section in config.bots.items()
            },
            allowed_variables=frozenset(self.shared.allowed_variables),
            ollama_base_url=f"http://{preset.host}:{preset.port}" if "ollama" in self.document.data else "",
            base_dir=self.folder.resolve(),
            rules=self.rules(),
            personas={name: to_builtins(persona) for name, persona in self.personas(language).items()},
            timeouts=self.shared.timeouts.over(
                Timeouts(
                    pool=config.execution.pool_timeout,
                    connect=config.execution.connect_timeout,
                    read=config.execution.read_timeout or config.execution.call_timeout,
                    total=config.execution.call_timeout,
                )
            ),
            connections=concurrency,
        )


def bundled_names() -> list[str]:
    """The names of the bundled suites."""
    return sorted(folder.name for folder in BUNDLED.iterdir() if (folder / CONFIG_FILE).is_file())


def find_suite(name_or_folder: str) -> Path:
    """The folder of a suite."""
    if name_or_folder in bundled_names():
        return BUNDLED / name_or_folder
    folder = Path(os.path.expanduser(name_or_folder))  # noqa: PTH111 - a `~name` of an unknown user is kept
    if folder.is_file() and folder.name == CONFIG_FILE:
        folder = folder.parent
    if (folder / CONFIG_FILE).is_file():
        return folder
    if folder.is_dir():
        raise ConfigError(
            f"not a suite: the folder has no {CONFIG_FILE} (create a suite with: areopage suites new DIR)", path=folder
        )
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
    try:
        config = SuiteConfig.model_validate(document.data)
    except ValidationError as error:
        first, *others = error.errors(include_url=False)
        more = f" (+{len(others)} more: areopage suites validate)" if others else ""
        raise schema_fault(document, first, SuiteConfig, more) from None
    for fault in limit_faults(config, document):
        raise fault
    suite = suite_of(folder, document, config)
    for fault in suite.severity_faults():
        raise fault
    return suite


def suite_of(folder: Path, document: YamlDocument, config: SuiteConfig) -> Suite:
    """The suite of a configuration that could be read."""
    return Suite(
        name=folder.resolve().name,
        folder=folder,
        config=config,
        document=document,
        registry=load_registry(inside(document, config.criteria.registry_file, "criteria", "registry_file")),
        warnings=tuple(idle_keys(document)),
    )


def inside(document: YamlDocument, named: str | Path, *keys: str | int) -> Path:
    """The path of a file that a suite names, from the folder of its configuration."""
    folder = document.path.parent
    if leads_out(folder, folder / named):
        raise document.error(f"{named} leads out of the suite's folder: put it there, or name the file in the command", *keys)
    return folder / named


def choose_language(suite: Suite, wanted: str | None) -> str:
    """The language of a run: the suite's own unless another is wanted."""
    if wanted is None:
        return suite.own_language
    if wanted not in suite.config.languages:
        allowed = name_list(suite.config.languages)
        raise ConfigError(
            f"the suite has no texts in {wanted!r}: use one of {allowed}", path=suite.document.path, key="languages"
        )
    return wanted


def readable_config(document: YamlDocument) -> tuple[SuiteConfig | None, list[ConfigError], list[str]]:
    """A configuration without its wrong values, the faults of these, and the keys that were left out.

    The configuration is None where no part of it is left to leave out.
    """
    data, faults, left_out = copy.deepcopy(document.data), list[ConfigError](), list[str]()
    while True:
        try:
            return SuiteConfig.model_validate(data), faults, left_out
        except ValidationError as error:
            errors = error.errors(include_url=False)
        if not left_out:  # later ones are in places that the first ones leave empty
            faults = [schema_fault(document, fault, SuiteConfig) for fault in errors]
        removed = [keys for fault in reversed(errors) if (keys := _without(data, keys_of(fault)))]
        if not removed:
            return None, faults, left_out
        left_out += [".".join(keys) for keys in removed]


def _without(data: Any, keys: list[str]) -> list[str]:
    """Remove what stands at a path of keys, or else at the longest part of the path; the path of what was removed."""
    path: list[str] = []
    parent: Any = None
    for key in keys:
        at: Any = int(key) if isinstance(data, list) and key.isdigit() else key
        if not (isinstance(data, dict) and at in data) and not (isinstance(data, list) and at < len(data)):
            break
        parent, data = data, data[at]
        path.append(at)
    if parent is not None:
        del parent[path[-1]]
    return list(map(str, path))


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
    if (passes := config.judge_system.evaluation.passes) is not None:
        keys = ("judge_system", "evaluation", "passes", "most")
        if passes.most < passes.start:
            faults.append(document.error(f"it is less than start ({passes.start})", *keys))
        if passes.most > limits.max_passes_per_judge:
            faults.append(document.error(f"more than validation.max_passes_per_judge ({limits.max_passes_per_judge})", *keys))
    scale = config.scoring.scale
    if scale.min >= scale.max:
        faults.append(document.error("min must be less than max", "scoring", "scale"))
    preset = config.ollama.active_preset
    if preset != "default" and preset not in config.ollama.presets and "ollama" in document.data:
        allowed = name_list(["default", *config.ollama.presets])
        faults.append(document.error(f"no such preset {preset!r}: use one of {allowed}", "ollama", "active_preset"))
    return faults
