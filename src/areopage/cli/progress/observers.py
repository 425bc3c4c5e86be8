"""Several observers of a run as one."""

from collections.abc import Sequence

from areopage.bench import Observer
from areopage.ledger import Answer, Judgment, SentBatch


class Observers:
    """Several observers as one."""

    def __init__(self, observers: Sequence[Observer]) -> None:
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
