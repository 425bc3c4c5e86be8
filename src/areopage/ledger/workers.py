"""Workers' signs of life."""

from collections.abc import Sequence
from datetime import datetime

from areopage.ledger.quality_records import Worker
from areopage.ledger.store import Ledger


class Workers:
    """The table `workers`."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger

    def beat(self, worker: Worker) -> None:
        """Insert a worker or renew its sign of life."""
        raise NotImplementedError

    def silent(self, since: datetime) -> Sequence[Worker]:
        """Workers that are "alive" and gave no sign since a moment."""
        raise NotImplementedError

    def mark(self, executor: str, state: str) -> None:
        """Set a worker's state."""
        raise NotImplementedError

    def list(self) -> Sequence[Worker]:
        """All workers, the newest sign first."""
        raise NotImplementedError
