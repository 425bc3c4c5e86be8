"""Batches of calls that were sent to providers, as the ledger notes them; prompts are not stored."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from msgspec import Struct
from sqlalchemy import Select, UpdateBase, delete, insert, select, update

from areopage.ledger.tables.database import Store
from areopage.ledger.tables.rows import naive, record_of, row_of, storable
from areopage.ledger.tables.schema import batches

PLANNED = "planned"
"""The state of a batch whose id is not known."""
_DIGEST = 32  # bytes


class SentBatch(Struct, frozen=True, kw_only=True):
    """A batch of calls of a run.

    Args:
        token: ours; the provider stores it with the batch.
        phase: the judge's name, or that of the target's phase.
        keys: of the calls; empty once their results are stored and their prompts deleted at the provider.
        file_id: the provider's id of the file of calls; "" until it is uploaded.
        batch_id: the provider's id; "" until it is known.
        status: the provider's word, or "planned".
        completed, failed: calls, by the provider's counts.
        message: what the provider said of an error.
        created_at: when it was noted.
        asked_at: when its creation was asked for; None: it was not.
        seen_at: when the provider was last asked about it.
        ended_at: when all that it brought was stored.
    """

    token: str
    run_id: str
    phase: str
    model: str
    calls: int
    keys: tuple[str, ...] = ()
    file_id: str = ""
    batch_id: str = ""
    status: str = PLANNED
    completed: int = 0
    failed: int = 0
    message: str = ""
    created_at: datetime
    asked_at: datetime | None = None
    seen_at: datetime | None = None
    ended_at: datetime | None = None


class SentBatches(Store):
    """The table `batches`. Each change is on the disk when its method returns."""

    def note(self, batch: SentBatch) -> None:
        """Append a batch."""
        self._write(insert(batches).values(**row_of(batch) | {"keys": b"".join(map(bytes.fromhex, batch.keys))}))

    def uploaded(self, token: str, file_id: str) -> None:
        """Note the file of a batch."""
        self._change(token, file_id=storable(file_id))

    def asked(self, token: str) -> None:
        """Note that the creation of a batch is about to be asked for."""
        self._change(token, asked_at=_now())

    def created(self, token: str, batch_id: str) -> None:
        """Note the provider's id of a batch."""
        self._change(token, batch_id=storable(batch_id))

    def seen(self, token: str, status: str, completed: int, failed: int, message: str) -> None:
        """Note what the provider says of a batch."""
        values = {"status": storable(status)[:32], "completed": completed, "failed": failed, "message": storable(message)}
        self._change(token, seen_at=_now(), **values)

    def ended(self, token: str) -> None:
        """Note that all that a batch brought is stored; its prompts are still at the provider."""
        self._change(token, ended_at=_now())

    def discarded(self, token: str) -> None:
        """Note that the provider holds no prompts of a batch that has ended."""
        self._change(token, keys=b"")

    def forget(self, token: str) -> None:
        """Remove a batch that was never created."""
        self._write(delete(batches).where(batches.c.token == token))

    def of_run(self, run_id: str) -> Sequence[SentBatch]:
        """Return the batches of a run in the order in which they were sent."""
        return self._read(select(batches).where(batches.c.run_id == run_id))

    def open_in(self, run_id: str) -> Sequence[SentBatch]:
        """Return the batches of a run whose results are not stored, in order."""
        return self._read(select(batches).where(batches.c.run_id == run_id, batches.c.ended_at.is_(None)))

    def kept_in(self, run_id: str) -> Sequence[SentBatch]:
        """Return the batches of a run whose results are stored, and whose prompts the provider may still hold."""
        ended = select(batches).where(batches.c.run_id == run_id, batches.c.ended_at.is_not(None))
        return [batch for batch in self._read(ended) if batch.keys]

    def _read(self, query: Select[Any]) -> list[SentBatch]:
        rows = self._ledger.rows(query.order_by(batches.c.created_at, batches.c.token))
        keys = [tuple(row.keys[at : at + _DIGEST].hex() for at in range(0, len(row.keys), _DIGEST)) for row in rows]
        return [record_of(SentBatch, row, keys=keys_of) for row, keys_of in zip(rows, keys, strict=True)]

    def _change(self, token: str, **values: Any) -> None:
        self._write(update(batches).where(batches.c.token == token).values(**values))

    def _write(self, statement: UpdateBase) -> None:
        with self._ledger.durable() as connection:
            connection.execute(statement)


def _now() -> datetime:
    return naive(datetime.now(UTC))
