"""Create each batch once, at whatever moment the process is killed.

1. A batch is noted in the ledger with a token of ours and the keys of its calls, before anything is sent.
2. Its file is uploaded, which costs nothing.
3. The ledger notes that its creation is asked for. Then it is asked for once; the provider stores the token with the batch.
4. The provider's id is noted. A batch without one may exist: it is looked for in the provider's list by its token and its file.
   If it is not there, its file is deleted, so that a request that is still on its way cannot create it; then it is looked for
   again.
"""

import asyncio
from datetime import UTC, datetime
from typing import BinaryIO

from msgspec import Struct
from msgspec.structs import replace

from areopage.errors import CallError, CallRejected, CallUnreachable
from areopage.ledger.sent_batches import SentBatch, SentBatches
from areopage.models.batches import MOST_BYTES, MOST_CALLS, BatchService


class BatchPace(Struct, frozen=True, kw_only=True):
    """How often the provider is asked, and how much it is sent.

    Args:
        first, longest: seconds between two looks at a batch: the pause grows by half each time.
        settles: seconds within which a batch that was created appears in the provider's list.
        creations: how often the creation of one batch is asked for.
        rounds: in how many batches a call may be before it is left to direct calls.
        calls, size: of one batch, at most; the size in bytes.
    """

    first: float = 2.0
    longest: float = 60.0
    settles: float = 5.0
    creations: int = 5
    rounds: int = 3
    calls: int = MOST_CALLS
    size: int = MOST_BYTES


PACE = BatchPace()


PACE = BatchPace()


class BatchCreation:
    """Creates the batches of one service, and finds those whose creation was interrupted."""

    def __init__(self, service: BatchService, stored: SentBatches, pace: BatchPace) -> None:
        self._service, self._stored, self._pace = service, stored, pace

    async def create(self, batch: SentBatch, file: BinaryIO) -> SentBatch:
        """Note a batch and create it; it is asked for again only where the provider does not have it.

        Args:
            file: its calls.

        Returns:
            The batch with its id.

        Raises:
            CallError: it was not created.
        """
        await asyncio.to_thread(self._stored.note, batch)
        for attempt in range(1, self._pace.creations + 1):
            file_id = await self._service.upload(batch.token, file)
            await asyncio.to_thread(self._stored.uploaded, batch.token, file_id)
            await asyncio.to_thread(self._stored.asked, batch.token)
            batch = replace(batch, file_id=file_id, asked_at=datetime.now(UTC))
            try:
                batch_id = (await self._service.create(batch.token, file_id)).id
            except CallError as fault:
                batch_id = await self._after(fault, batch, attempt)
            if batch_id:
                await asyncio.to_thread(self._stored.created, batch.token, batch_id)
                break
        return replace(batch, batch_id=batch_id)

    async def _after(self, fault: CallError, batch: SentBatch, attempt: int) -> str:
        """The id of a batch whose creation brought a fault; "" where it was not created and is asked for again.

        Raises:
            CallError: it was not created, and is not asked for again.
        """
        asked = fault.retry_after if isinstance(fault, CallUnreachable) else None
        await asyncio.sleep(max(self._pace.first * attempt, min(asked or 0.0, self._pace.longest)))
        if batch_id := await self._found(batch):
            return batch_id
        if isinstance(fault, CallRejected) or fault.hopeless or attempt == self._pace.creations:
            await asyncio.to_thread(self._stored.forget, batch.token)
            raise fault
        return ""

    async def recover(self, batch: SentBatch) -> None:
        """Find out whether a batch without an id was created; forget it if it was not."""
        if batch.batch_id:
            return
        batch_id = ""
        if batch.asked_at is None:
            await self._service.remove(batch.token)
        else:
            batch_id = await self._found(batch)
        if batch_id:
            await asyncio.to_thread(self._stored.created, batch.token, batch_id)
        else:
            await asyncio.to_thread(self._stored.forget, batch.token)

    async def _found(self, batch: SentBatch) -> str:
        """The id of a batch whose creation was asked for; "" where there is none, and none can come any more."""
        if batch_id := await self._listed(batch):
            return batch_id
        await self._service.remove(batch.token)
        await asyncio.sleep(self._pace.settles)
        return await self._listed(batch)

    async def _listed(self, batch: SentBatch) -> str:
        """The id of a batch in the provider's list; if there are several, all but the oldest are cancelled."""
        since = (batch.asked_at or batch.created_at).timestamp()
        found = await self._service.find(batch.token, batch.file_id, since)
        for other in found[1:]:
            if not other.ended:
                await self._service.cancel(other.id)
        return found[0].id if found else ""
