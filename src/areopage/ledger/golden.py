"""Rounds of golden questions."""

from collections.abc import Sequence
from typing import Any

import msgspec
from sqlalchemy import Row, Select, select

from areopage.ledger.connection import storage_errors
from areopage.ledger.inserts import insert_or_replace
from areopage.ledger.monitor_tables import golden_runs
from areopage.ledger.quality_records import GoldenRun
from areopage.ledger.rows import aware, naive, storable_value
from areopage.ledger.store import Ledger


class GoldenRuns:
    """The table `golden_runs`."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger

    def save(self, run: GoldenRun) -> None:
        """Insert a round, or replace what is there under its id."""
        row = {name: storable_value(value) for name, value in msgspec.structs.asdict(run).items()}
        row |= {"started_at": naive(run.started_at), "finished_at": naive(run.finished_at) if run.finished_at else None}
        with storage_errors(self._ledger.place), self._ledger.engine.begin() as connection:
            insert_or_replace(connection, golden_runs, row)

    def list(self, suite: str | None = None, limit: int = 50) -> Sequence[GoldenRun]:
        """The newest rounds."""
        query = select(golden_runs) if suite is None else select(golden_runs).where(golden_runs.c.suite == suite)
        return self._rounds(query, limit)

    def last_good(self, suite: str) -> GoldenRun | None:
        """The newest finished round whose verdict is "good" or "first"."""
        good = select(golden_runs).where(
            golden_runs.c.suite == suite, golden_runs.c.finished_at.is_not(None), golden_runs.c.verdict.in_(("good", "first"))
        )
        return next(iter(self._rounds(good, 1)), None)

    def _rounds(self, query: Select[Any], limit: int) -> Sequence[GoldenRun]:
        newest = query.order_by(golden_runs.c.started_at.desc(), golden_runs.c.id.desc()).limit(limit)
        with storage_errors(self._ledger.place), self._ledger.engine.connect() as connection:
            return [round_of(row) for row in connection.execute(newest)]


def round_of(row: Row[Any]) -> GoldenRun:
    """A row as a round."""
    times = {"started_at": aware(row.started_at), "finished_at": aware(row.finished_at)}
    return GoldenRun(**dict(row._mapping) | times)
