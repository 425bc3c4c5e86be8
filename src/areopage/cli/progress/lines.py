"""What is said of servers that are gone, of phases that stop and of batches."""

from abc import ABC, abstractmethod
from collections.abc import Sequence

from areopage.errors import counted, name_list
from areopage.ledger import SentBatch


class RunLines(ABC):
    """Says when a server is gone or back, when phases stop, and how batches are."""

    @abstractmethod
    def write(self, level: str, message: str) -> None:
        """Show a line; `level` is one of a log."""

    def server_gone(self, address: str, seconds: float) -> None:
        """Say that calls wait for a server, and the most seconds that they wait."""
        wait = f"the run waits up to {_span(seconds)} and goes on by itself"
        self.write("WARNING", f"server {address} does not answer: {wait}; Ctrl-C stops and keeps everything")

    def server_back(self, address: str, seconds: float) -> None:
        """Say that a server answers again after some seconds."""
        self.write("WARNING", f"server {address} answers again after {_span(seconds)}: the run goes on")

    def phases_stopped(self, names: Sequence[str], reason: str) -> None:
        """Say that phases cannot go on while others do."""
        self.write("ERROR", f"{name_list(names)} stopped: {' '.join(reason.split())}; the other phases go on")

    def batch(self, batch: SentBatch) -> None:
        """Say what state a batch is in."""
        self.write("INFO", batch_text(batch))


def _span(seconds: float) -> str:
    return f"{seconds:.3g} s" if seconds < 120 else f"{seconds / 60:.0f} min"


def batch_text(batch: SentBatch) -> str:
    """What is said of a batch: its state and the provider's counts when it was last seen."""
    named = f"{batch.phase}: batch {batch.batch_id}" if batch.batch_id else f"{batch.phase}: a batch without an id"
    failed = f", {batch.failed:,} failed" if batch.failed else ""
    message = f" ({batch.message})" if batch.message else ""
    return f"{named} {batch.status}, {batch.completed:,} of {counted(batch.calls, 'call')} completed{failed}{message}"
