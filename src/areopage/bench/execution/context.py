"""Shared state of a run's phases, and the observer of its progress."""

from collections.abc import Sequence
from typing import Protocol

from msgspec import Struct

from areopage.bench.budget import Budget
from areopage.bench.spec import RunSpec, Target
from areopage.jury import Judge
from areopage.ledger import Answer, Judgment, Ledger, SentBatch
from areopage.models import ModelSettings, OutageObserver, Traffic


class AskedModels(Protocol):
    """The models that are asked, and how they are reached."""

    @property
    def judges(self) -> tuple[Judge, ...]:
        """The judges."""
        ...

    @property
    def target(self) -> Target | None:
        """The model under test, if one is asked."""
        ...

    @property
    def child(self) -> Target | None:
        """The model that plays children, if one is asked."""
        ...

    @property
    def settings(self) -> ModelSettings:
        """How models are reached."""
        ...


class Observer(OutageObserver, Protocol):
    """Receives progress of a run."""

    def phase(self, name: str, total: int, kept: int) -> None:
        """Report the start of a phase with `total` calls, `kept` of them in the ledger already.

        Several phases may be carried out at once. A phase is reported again where the numbers change: calls about cases that are
        not answered yet are counted in advance, and calls are looked up in the ledger as the phase goes on.
        """
        ...

    def phases_stopped(self, names: Sequence[str], reason: str) -> None:
        """Report that phases cannot go on while others do."""
        ...

    def answered(self, answer: Answer) -> None:
        """Report a call to the target."""
        ...

    def judged(self, judgment: Judgment, cases: Sequence[str]) -> None:
        """Report a call to a judge about cases, by their ids; cases that are alike share a call."""
        ...

    def batch(self, batch: SentBatch) -> None:
        """Report a new state of a batch."""
        ...


class Observers:
    """Several observers of a run as one; none ignore all events."""

    def __init__(self, observers: Sequence[Observer] = ()) -> None:
        self.observers = observers

    def phase(self, name: str, total: int, kept: int) -> None:
        """Notify every observer."""
        for observer in self.observers:
            observer.phase(name, total, kept)

    def phases_stopped(self, names: Sequence[str], reason: str) -> None:
        """Notify every observer."""
        for observer in self.observers:
            observer.phases_stopped(names, reason)

    def answered(self, answer: Answer) -> None:
        """Notify every observer."""
        for observer in self.observers:
            observer.answered(answer)

    def judged(self, judgment: Judgment, cases: Sequence[str]) -> None:
        """Notify every observer."""
        for observer in self.observers:
            observer.judged(judgment, cases)

    def batch(self, batch: SentBatch) -> None:
        """Notify every observer."""
        for observer in self.observers:
            observer.batch(batch)

    def server_gone(self, address: str, seconds: float) -> None:
        """Notify every observer."""
        for observer in self.observers:
            observer.server_gone(address, seconds)

    def server_back(self, address: str, seconds: float) -> None:
        """Notify every observer."""
        for observer in self.observers:
            observer.server_back(address, seconds)


class RunContext(Struct, frozen=True, kw_only=True):
    """State that the phases of a run share.

    Args:
        traffic: the calls to all servers.
        budget: of the run in money, which `traffic` consults for each call; None: no limit.
        named_by: the settings that the run was stored with: servers have the same names by them in all processes of the run.
        block_calls: about how many calls a block has, the same in every process that carries out the run.
    """

    run_id: str
    spec: RunSpec
    settings: ModelSettings
    traffic: Traffic
    ledger: Ledger
    block_calls: int
    observer: Observer
    named_by: ModelSettings
    budget: Budget | None = None
