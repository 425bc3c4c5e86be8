"""`areopage.yml`: the one configuration file, read once, for the command line and the server alike."""

import os
from collections.abc import Mapping
from contextlib import suppress
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from msgspec import Struct, structs

from areopage.errors import ModelError, StorageError
from areopage.models import NAMED_REFERENCE, ModelReference, ModelSettings
from areopage.suites import CONFIG_FILE, ConfigPart, OwnJudge, SharedSections, StorageSection, checked_section
from areopage.yaml_document import YamlDocument, read_yaml

if TYPE_CHECKING:
    from areopage.app.sections import AppSection, ServerSection
    from areopage.checking import RagConfig
    from areopage.gate import GateConfig
    from areopage.monitor import MonitorConfig

CONFIG_VARIABLE = "AREOPAGE_CONFIG"
LEDGER_VARIABLE = "AREOPAGE_LEDGER"
_TEMPLATE = "areopage.yml.template"

S = TypeVar("S", bound=SharedSections)

_SECTIONS = ("server", "timeouts", "monitor", "fleet", "gate", "rag")  # an empty one means its defaults


class AppConfig(Struct, frozen=True, kw_only=True):
    """The configuration.

    The sections of the applications are made when they are asked for, unless the file has some of them: a benchmark needs none.

    Args:
        shared: what every part of the program reads; an `AppSection` where the file has sections of applications.
        rules: the gate's rules, weights included; None: the shipped ones.
        folder: relative paths start from here.
        document: None where the defaults hold.
    """

    shared: SharedSections
    rules: "GateConfig | None"
    folder: Path
    document: YamlDocument | None = None

    @property
    def section(self) -> "AppSection":
        """All sections."""
        from areopage.app.sections import AppSection

        return AppSection.over(self.shared)

    @property
    def gate(self) -> "GateConfig":
        """The gate's rules."""
        if self.rules is not None:
            return self.rules
        from areopage.app.gate_rules import load_rules  # with the gate, which most commands do without

        return load_rules()

    @property
    def ledger(self) -> str:
        """The ledger's place: a URL, or a file whose path is absolute."""
        return ConfigPart(section=self.shared, shared=self.shared, folder=self.folder).ledger

    @property
    def storage(self) -> StorageSection:
        """What stays of answers."""
        return self.shared.storage

    @property
    def server(self) -> "ServerSection":
        """The server's section."""
        return self.section.server

    @property
    def monitor(self) -> "MonitorConfig":
        """The monitor's section."""
        from areopage.monitor import MonitorConfig

        section = self.section
        return MonitorConfig(section=section.monitor, shared=section, folder=self.folder, document=self.document)

    @property
    def answers_questions(self) -> bool:
        """Whether the file has a section for the answering pipeline; one with a judge alone serves `/v1/gate/check`."""
        section = self.section.rag
        return section is not None and section.model_fields_set != {"grey_band"}

    @property
    def rag(self) -> "RagConfig":
        """The answering pipeline's section, or its defaults."""
        from areopage.checking import RagConfig, RagSection

        section = self.section
        return RagConfig(section=section.rag or RagSection(), shared=section, folder=self.folder, document=self.document)

    def model_settings(self, environment: Mapping[str, str]) -> ModelSettings:
        """How models are reached by the file's endpoints and bots, without a suite."""
        return self.shared.model_settings(environment, self.folder)

    def options(self, ledger: str = "") -> tuple[str, ...]:
        """The options that name this configuration in a command, where the working directory does not.

        Args:
            ledger: where the open ledger is, without a password: it is named where it is not that of the file; "": it is not.
        """
        named: tuple[str, ...] = ()
        if self.document is not None and self.document.path != Path(CONFIG_FILE):
            named = ("--config", str(self.document.path.absolute()))
        in_file = "" if self.document is None else self.document.data.get("ledger") or ""
        if ledger and not (in_file and self.shared.ledger == in_file):
            named += ("--ledger", ledger if "://" in ledger else str(Path(ledger).absolute()))
        return named

    def on_ledger(self, place: str) -> "AppConfig":
        """The configuration on another ledger: a file (from the working directory) or a URL."""
        place = place if "://" in place else str(Path(place).expanduser().resolve())
        return structs.replace(self, shared=self.shared.model_copy(update={"ledger": place}))

    def listening_at(self, host: str | None, port: int | None) -> "AppConfig":
        """The configuration with the address that the command line names; None keeps the file's."""
        named = {"host": host, "port": port}
        server = self.server.model_copy(update={key: value for key, value in named.items() if value is not None})
        return structs.replace(self, shared=self.section.model_copy(update={"server": server}))


def find_config(
    path: str | Path | None = None, ledger: str | None = None, environment: Mapping[str, str] | None = None
) -> AppConfig:
    """The configuration that is named, else that of $AREOPAGE_CONFIG, else `areopage.yml` here, else the defaults.

    Args:
        ledger: takes the place of the file's, as $AREOPAGE_LEDGER does.

    Raises:
        ConfigError: the file is missing or wrong.
    """
    variables = os.environ if environment is None else environment
    named = Path(path) if path else Path(variables[CONFIG_VARIABLE]) if variables.get(CONFIG_VARIABLE) else None
    if named is None and Path(CONFIG_FILE).is_file():
        named = Path(CONFIG_FILE)
    config = load_config(named) if named else default_config()
    place = ledger or variables.get(LEDGER_VARIABLE)
    return config.on_ledger(place) if place else config


def load_config(path: str | Path) -> AppConfig:
    """Read a configuration file; one without any key means the defaults.

    Raises:
        ConfigError: the file is missing, no YAML, or a key or value in it is wrong.
    """
    path = Path(path)
    document = read_yaml(path, may_be_empty=True)
    data = {key: {} if value is None and key in _SECTIONS else value for key, value in document.data.items()}
    folder = path.resolve().parent
    if data.keys() <= SharedSections.model_fields.keys():
        shared = _with_files(checked_section(document, SharedSections, data), folder)
        return AppConfig(shared=shared, rules=None, folder=folder, document=document)
    from areopage.app.sections import AppSection

    section = _with_files(checked_section(document, AppSection, data), folder)
    if section.monitor.judges:
        monitor = section.monitor.model_copy(update={"judges": [_with_file(text, folder) for text in section.monitor.judges]})
        section = section.model_copy(update={"monitor": monitor})
    rules = _gate_of(document, section.gate) if section.gate else None
    return AppConfig(shared=section, rules=rules, folder=folder, document=document)


def _with_files(sections: S, folder: Path) -> S:
    """The sections with the files that judges name, such as recordings, resolved from the folder of `areopage.yml`."""
    judges: dict[str, OwnJudge] = {}
    for name, judge in sections.judges.items():
        judges[name] = judge
        with suppress(ModelError):  # one that names no model is refused where it is used
            reference = ModelReference.parse(judge.model, default_provider=judge.provider).beside(folder)
            judges[name] = judge.model_copy(update={"model": reference.model})
    return sections.model_copy(update={"judges": judges})


def _with_file(text: str, folder: Path) -> str:
    """The name of a judge, REF or NAME=REF with the file that it names resolved from a folder."""
    match = NAMED_REFERENCE.fullmatch(text)
    name, reference = match.groups() if match else ("", text)
    with suppress(ModelError):
        return f"{name}{'=' if name else ''}{ModelReference.parse(reference).beside(folder)}"
    return text


def default_config(folder: Path = Path()) -> AppConfig:
    """What holds where there is no file."""
    return AppConfig(shared=SharedSections(), rules=None, folder=folder.resolve())


def write_template(folder: Path) -> Path:
    """Write an `areopage.yml` with every key, its default and what it means.

    Raises:
        StorageError: the file exists already, or the folder cannot be written.
    """
    path = folder / CONFIG_FILE
    text = files("areopage.app").joinpath(_TEMPLATE).read_text(encoding="utf-8")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        raise StorageError(f"{path} is there already: edit it, or name another folder") from None
    except OSError as error:
        raise StorageError(f"{path} cannot be written: {error.strerror}") from None
    return path


def _gate_of(document: YamlDocument, data: dict[str, Any]) -> "GateConfig":
    from areopage.app.gate_rules import checked_rules, load_rules

    if "file" not in data:
        return checked_rules(document, data, "gate")
    named = data["file"]
    if not isinstance(named, str) or not named:
        raise document.error("give a file of rules, as `areopage gate tune` writes one", "gate", "file")
    if len(data) > 1:
        other = next(key for key in data if key != "file")
        raise document.error("stands beside `file`: the rules are in that file, or here, not in both", "gate", str(other))
    return load_rules(document.path.parent / Path(named).expanduser())
