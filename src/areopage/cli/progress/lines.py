"""What is said of servers that are gone, of phases that stop and of batches."""

from collections.abc import Callable, Sequence

from areopage.errors import counted, name_list
from areopage.ledger import SentBatch


def gone_text(address: str, seconds: float) -> str:
    """What is said of a server that is gone, where calls wait for it, with the most seconds that they wait."""
    wait = f"the run waits up to {_span(seconds)} and goes on by itself"
    return f"server {address} does not answer: {wait}; Ctrl-C stops and keeps everything"


def back_text(address: str, seconds: float) -> str:
    """What is said of a server that answers again, with the seconds that it was gone."""
    return f"server {address} answers again after {_span(seconds)}: the run goes on"


def _span(seconds: float) -> str:
    return f"{seconds:.3g} s" if seconds < 120 else f"{seconds / 60:.0f} min"


def stopped_text(names: Sequence[str], reason: str) -> str:
    """What is said of phases that cannot go on while others do."""
    return f"{name_list(names)} stopped: {' '.join(reason.split())}; the other phases go on"


def batch_text(batch: SentBatch) -> str:
    """What is said of a batch: its state and the provider's counts when it was last seen."""
    named = f"{batch.phase}: batch {batch.batch_id}" if batch.batch_id else f"{batch.phase}: a batch without an id"
    failed = f", {batch.failed:,} failed" if batch.failed else ""
    told = f" ({batch.message})" if batch.message else ""
    return f"{named} {batch.status}, {batch.completed:,} of {counted(batch.calls, 'call')} completed{failed}{told}"


class OutageLines:
    """Says when a server is gone, when it is back, and when phases stop."""

    def __init__(self, say: Callable[[str], object]) -> None:
        """Args:
        say: shows a line.
        """
        self._say = say

    def server_gone(self, address: str, seconds: float) -> None:
        """Say so."""
        self._say(gone_text(address, seconds))

    def server_back(self, address: str, seconds: float) -> None:
        """Say so."""
        self._say(back_text(address, seconds))

    def phases_stopped(self, names: Sequence[str], reason: str) -> None:
        """Say so."""
        self._say(stopped_text(names, reason))
