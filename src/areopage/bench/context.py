"""What the phases of a run share, and who is told how the run goes on."""

from typing import Protocol

from msgspec import Struct

from areopage.bench.spec import RunSpec
from areopage.ledger.records import Answer, Judgment
from areopage.ledger.store import Ledger
from areopage.models.settings import ModelSettings


class Observer(Protocol):
    """Who wants to know how a run goes on."""

    def phase(self, name: str, total: int, kept: int) -> None:
        """A phase begins: `total` calls belong to it, `kept` of them are in the ledger already."""
        ...

    def answered(self, answer: Answer) -> None:
        """The target was asked."""
        ...

    def judged(self, judgment: Judgment) -> None:
        """A judge was asked."""
        ...


class Silent:
    """An observer that does nothing."""

    def phase(self, name: str, total: int, kept: int) -> None:
        """Ignore it."""

    def answered(self, answer: Answer) -> None:
        """Ignore it."""

    def judged(self, judgment: Judgment) -> None:
        """Ignore it."""


class RunContext(Struct, frozen=True, kw_only=True):
    """What the phases of a run share."""

    run_id: str
    spec: RunSpec
    settings: ModelSettings
    ledger: Ledger
    observer: Observer
