"""Workers' signs of life."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

import msgspec
from sqlalchemy import Select, select, update

from areopage.ledger.connection import storage_errors
from areopage.ledger.inserts import insert_or_replace
from areopage.ledger.monitor_tables import workers
from areopage.ledger.quality_records import Worker
from areopage.ledger.rows import aware, naive, storable
from areopage.ledger.store import Ledger


class Workers:
    """The table `workers`."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger

    def beat(self, worker: Worker) -> None:
        """Insert a worker or renew its sign of life."""
        row = msgspec.structs.asdict(worker) | {"host": storable(worker.host)}
        row |= {"started_at": naive(worker.started_at), "seen_at": naive(worker.seen_at)}
        with storage_errors(self._ledger.place), self._ledger.engine.begin() as connection:
            insert_or_replace(connection, workers, row)

    def silent(self, since: datetime) -> Sequence[Worker]:
        """Workers that are "alive" and gave no sign since a moment."""
        return self._workers(select(workers).where(workers.c.state == "alive", workers.c.seen_at < naive(since)))

    def mark(self, executor: str, state: str) -> None:
        """Set a worker's state."""
        with storage_errors(self._ledger.place), self._ledger.engine.begin() as connection:
            connection.execute(update(workers).where(workers.c.executor == executor).values(state=state))

    def list(self) -> Sequence[Worker]:
        """All workers, the newest sign first."""
        return self._workers(select(workers))

    def _workers(self, query: Select[Any]) -> Sequence[Worker]:
        newest = query.order_by(workers.c.seen_at.desc(), workers.c.executor)
        with storage_errors(self._ledger.place), self._ledger.engine.connect() as connection:
            return [
                Worker(**dict(row._mapping) | {"started_at": aware(row.started_at), "seen_at": aware(row.seen_at)})
                for row in connection.execute(newest)
            ]


def state_of(worker: Worker, now: datetime, dead_after: float) -> str:
    """A worker's state as it is known now: its own, but "silent" where it says nothing for so many seconds."""
    quiet = (now - worker.seen_at).total_seconds() > dead_after
    return "silent" if worker.state == "alive" and quiet else worker.state
