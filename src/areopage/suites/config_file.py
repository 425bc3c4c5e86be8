"""What the sections of `areopage.yml` share: checks, paths, storage, endpoints, bots and judges."""

import difflib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, ClassVar, Generic, TypeVar, get_args, get_origin

from msgspec import Struct, structs
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator
from pydantic_core import ErrorDetails

from areopage.errors import ConfigError, name_list
from areopage.models import Bot, Endpoint, ModelSettings, Timeouts
from areopage.suites.config import BotSection, EndpointSection, JudgeSection, PriceSection
from areopage.text import Policy, compiled, policy_with
from areopage.yaml_document import YamlDocument

CONFIG_FILE = "areopage.yml"
DEFAULT_LEDGER = "outputs/ledger.db"
_MAX_SHOWN = 60
_MAX_KEYS = 40
_KINDS: dict[type, str] = {dict: "keys with values", list: "a list"}
_WANTED = {
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

Count = Annotated[int, Field(ge=1)]
Seconds = Annotated[float, Field(gt=0)]
Share = Annotated[float, Field(ge=0, le=1)]

S = TypeVar("S", bound=BaseModel)


class ConfigSection(BaseModel):
    """Base of every section of `areopage.yml`; an unknown key is a mistake."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class StorageSection(ConfigSection):
    """What stays of an answer once it is judged, and for how long.

    `text`: full, truncated (to `max_chars`), redacted (names, e-mails, phone numbers, IBANs), or none. `export_text` is the same
    for exports. `redact`: regular expressions of what redaction takes out too, such as customer numbers. `retention_days`: None
    keeps everything.
    """

    text: Policy = "full"
    export_text: Policy = "redacted"
    max_chars: Count = 500
    redact: list[str] = []
    retention_days: Count | None = None

    @model_validator(mode="after")
    def _with_patterns(self) -> "StorageSection":
        patterns = compiled(self.redact)
        for name in ("text", "export_text"):
            object.__setattr__(self, name, policy_with(getattr(self, name), patterns))
        return self


class OwnEndpoint(EndpointSection, extra="forbid"):
    """An endpoint of `areopage.yml`."""


class OwnJudge(JudgeSection, extra="forbid"):
    """A judge of `areopage.yml`."""


class OwnPrice(PriceSection, extra="forbid"):
    """A price of `areopage.yml`."""


class TimeoutsSection(ConfigSection):
    """The four limits of a call to a model, in seconds; None: those of the suite, or of the section that makes the call."""

    pool: Seconds | None = None
    connect: Seconds | None = None
    read: Seconds | None = None
    total: Seconds | None = None

    def over(self, timeouts: Timeouts) -> Timeouts:
        """Limits with those that are named here; a total is that of the next bytes, too, unless they have their own."""
        named = {name: value for name, value in self.model_dump().items() if value is not None}
        return structs.replace(timeouts, **({"read": self.total} if self.total is not None else {}) | named)


class SharedSections(ConfigSection):
    """What every part of the program reads. `ledger` is a file or a database's URL; "" is the default.

    `allowed_variables` are environment variables whose values the endpoints and bots of suites may be sent. `prices` are those of
    models by reference, such as `openai@lab:mistral-small`; the price of a judge or a target goes before.
    `timeouts` go before those of a suite.
    """

    ledger: str = ""
    storage: StorageSection = StorageSection()
    endpoints: dict[str, OwnEndpoint] = {}
    bots: dict[str, BotSection] = {}
    judges: dict[str, OwnJudge] = {}
    prices: dict[str, OwnPrice] = {}
    timeouts: TimeoutsSection = TimeoutsSection()
    allowed_variables: list[str] = []

    def model_settings(self, environment: Mapping[str, str], folder: Path) -> ModelSettings:
        """How models are reached by the endpoints and bots of the file alone; relative paths start from `folder`."""
        return ModelSettings(
            endpoints={name: Endpoint(**section.model_dump()) for name, section in self.endpoints.items()},
            bots={name: Bot(**section.model_dump()) for name, section in self.bots.items()},
            allowed_variables=frozenset(self.allowed_variables),
            environment=environment,
            base_dir=folder,
            timeouts=self.timeouts.over(Timeouts()),
        )


class ConfigPart(Struct, Generic[S], frozen=True, kw_only=True):
    """A section of `areopage.yml`, the sections it shares with others, and where it was read.

    Args:
        folder: relative paths start from here.
        document: None where the defaults hold.
    """

    KEYS: ClassVar[tuple[str, ...]] = ()
    """Where the section stands in the file."""

    section: S
    folder: Path
    shared: SharedSections = SharedSections()
    document: YamlDocument | None = None

    def fault(self, message: str, *keys: str) -> ConfigError:
        """A mistake at a key of the section: with its file and line where it was read from one."""
        if self.document is not None:
            return self.document.error(message, *self.KEYS, *keys)
        return ConfigError(message, path=self.folder / CONFIG_FILE, key=".".join((*self.KEYS, *keys)))

    def path(self, text: str) -> Path:
        """A path of the file, from its folder."""
        return (self.folder / Path(text).expanduser()).resolve()

    @property
    def ledger(self) -> str:
        """The ledger's place: a URL, or a file whose path is absolute."""
        named = self.shared.ledger or DEFAULT_LEDGER
        return named if "://" in named else str(self.path(named))

    @property
    def storage(self) -> StorageSection:
        """What stays of answers."""
        return self.shared.storage

    def model_settings(self, environment: Mapping[str, str], seconds: float, endpoint: str, *keys: str) -> ModelSettings:
        """How models are reached: by the file's endpoints; a call may take `seconds`.

        Args:
            endpoint: the one that will be used, "" for none.
            keys: where the section names it.

        Raises:
            ConfigError: there is no such endpoint, or the variable of its key is not set.
        """
        named = self.shared.endpoints.get(endpoint)
        if endpoint and named is None:
            names = name_list(sorted(self.shared.endpoints)) or "none is defined"
            raise self.fault(f"there is no endpoint {endpoint!r}: use one of the section endpoints ({names})", *keys)
        if named is not None and named.api_key_env and not environment.get(named.api_key_env, "").strip():
            raise self.fault(f"{endpoint} names the environment variable {named.api_key_env}, which is not set", *keys)
        return self.shared.model_settings(environment, self.folder).with_timeout(seconds)


def checked_section(document: YamlDocument, schema: type[S], data: Any, *keys: str) -> S:
    """Check what stands at a key of a document against a schema."""
    try:
        return schema.model_validate(data)
    except ValidationError as error:
        raise schema_fault(document, error.errors(include_url=False)[0], schema, at=keys) from None


def schema_fault(
    document: YamlDocument, fault: ErrorDetails, schema: type[BaseModel], more: str = "", at: Sequence[str] = ()
) -> ConfigError:
    """One fault of a document against a schema, as pydantic found it, at its key below `at`; `more` is put after the message."""
    keys, kind, value = keys_of(fault), fault["type"], fault["input"]
    shown = repr(value) if isinstance(value, str | int | float | bool | None) else _KINDS.get(type(value), type(value).__name__)
    shown = shown if len(shown) <= _MAX_SHOWN else f"{shown[:_MAX_SHOWN]}..."
    message = f"{fault['msg'][:1].lower()}{fault['msg'][1:]}, got {shown}"
    if kind == "extra_forbidden":
        allowed = _allowed_keys(schema, keys[:-1])
        close = difflib.get_close_matches(keys[-1], allowed, n=1)
        hint = f"; did you mean {close[0]}?" if close else ""
        message = f"there is no such key: use one of {name_list(allowed, _MAX_KEYS)}{hint}"
    elif kind == "missing":
        message = "this key is missing"
    elif kind in _WANTED:
        message = f"must be {_WANTED[kind]}, got {shown}"
    return document.error(message + more, *at, *keys)


def keys_of(fault: ErrorDetails) -> list[str]:
    """The keys that lead to a fault; parts such as `list[str]` or `[key]` are pydantic's own and stand in no file."""
    return [str(part) for part in fault["loc"] if not str(part).endswith("]")]


def _allowed_keys(schema: Any, keys: Sequence[str]) -> list[str]:
    if isinstance(schema, type) and issubclass(schema, BaseModel):
        if not keys:
            return sorted(field.alias or name for name, field in schema.model_fields.items())
        below = {field.alias or name: field.annotation for name, field in schema.model_fields.items()}
        return _allowed_keys(below.get(keys[0]), keys[1:])
    parts = get_args(schema)
    if get_origin(schema) in (dict, list):
        return _allowed_keys(parts[-1], keys[1:]) if keys else []
    return sorted({key for part in parts for key in _allowed_keys(part, keys)})
