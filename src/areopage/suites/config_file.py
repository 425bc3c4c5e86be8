"""What the configuration files have in common: mistakes at their line, paths from their folder, the ledger that they name."""

from pathlib import Path
from typing import Annotated, ClassVar, Generic, Protocol, TypeVar

from msgspec import Struct
from pydantic import BaseModel, Field, ValidationError

from areopage.errors import ConfigError
from areopage.suites.loader import schema_fault
from areopage.yaml_document import YamlDocument

DEFAULT_LEDGER = "outputs/ledger.db"

Count = Annotated[int, Field(ge=1)]
Seconds = Annotated[float, Field(gt=0)]
Share = Annotated[float, Field(ge=0, le=1)]


class NamesLedger(Protocol):
    """A whole file that names a ledger: a file, or a database's URL; "" is the default."""

    @property
    def ledger(self) -> str:
        """Its place."""


S = TypeVar("S", bound=BaseModel)
L = TypeVar("L", bound=NamesLedger)


class ConfigFile(Struct, Generic[L], frozen=True, kw_only=True):
    """A file's configuration, the folder that its relative paths start from, and the file that it was read from, if any."""

    FILE: ClassVar[str]
    """What such a file is called."""

    section: L
    folder: Path
    document: YamlDocument | None = None

    def fault(self, message: str, *keys: str) -> ConfigError:
        """A mistake at a key: with its file and line where it was read from one."""
        if self.document is not None:
            return self.document.error(message, *keys)
        return ConfigError(message, path=self.folder / self.FILE, key=".".join(keys))

    @property
    def ledger(self) -> str:
        """The ledger's place: a URL, or a file whose path is absolute."""
        named = self.section.ledger or DEFAULT_LEDGER
        return named if "://" in named else str(self.path(named))

    def path(self, text: str) -> Path:
        """A path of the file, from its folder."""
        return (self.folder / Path(text).expanduser()).resolve()


def checked_section(document: YamlDocument, schema: type[S]) -> S:
    """Check a document against the schema.

    Raises:
        ConfigError: the first mistake, at its line.
    """
    try:
        return schema.model_validate(document.data)
    except ValidationError as error:
        raise schema_fault(document, error.errors(include_url=False)[0], schema) from None
