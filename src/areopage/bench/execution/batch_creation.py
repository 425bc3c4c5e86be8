"""Create each batch once, even if the process is killed at any moment.

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
from areopage.ledger import PLANNED, SentBatch, SentBatches
from areopage.models import BatchService, SearchedBatch


class BatchPace(Struct, frozen=True, kw_only=True):
    """How often the provider is asked, and how much it is sent.

    Args:
        first, longest: seconds between two looks at a batch: the pause grows by half each time.
        settles: seconds within which a batch that was created appears in the provider's list.
        unfenced: the same where nothing keeps a request that is still on its way from creating a batch.
        creations: how often the creation of one batch is asked for.
        rounds: in how many batches a call may be before it is left to direct calls.
        calls, size: of one batch, at most, if the provider takes as many; the size in bytes.
    """

    first: float = 2.0
    longest: float = 60.0
    settles: float = 5.0
    unfenced: float = 60.0
    creations: int = 5
    rounds: int = 3
    calls: int = 100_000
    size: int = 200_000_000


PACE = BatchPace()


class BatchCreation:
    """Creates the batches of one service, and finds those whose creation was interrupted."""

    def __init__(self, service: BatchService, stored: SentBatches, pace: BatchPace) -> None:
        self._service, self._stored, self._pace = service, stored, pace

    async def create(self, batch: SentBatch, file: BinaryIO) -> SentBatch:
        """Note a batch and create it; it is asked for again only where the provider does not have it.

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
                batch_id = (await self._service.create(batch.token, file_id, file)).id
            except CallError as fault:
                batch_id = await self._after(fault, batch, attempt)
            if batch_id:
                await asyncio.to_thread(self._stored.created, batch.token, batch_id)
                break
        return replace(batch, batch_id=batch_id)

    async def _after(self, fault: CallError, batch: SentBatch, attempt: int) -> str:
        """The id of a batch whose creation brought a fault; "" where it was not created and is asked for again."""
        asked = fault.retry_after if isinstance(fault, CallUnreachable) else None
        await asyncio.sleep(max(self._pace.first * attempt, min(asked or 0.0, self._pace.longest)))
        is_refused = isinstance(fault, CallRejected) or asked is not None  # the provider said that it did not create it
        if (self._service.fenced or not is_refused) and (batch_id := await self._created_id(batch)):
            return batch_id
        if isinstance(fault, CallRejected) or fault.hopeless or attempt == self._pace.creations:
            await asyncio.to_thread(self._stored.forget, batch.token)
            raise fault
        return ""

    async def recover(self, batch: SentBatch, *, waits: bool = True) -> None:
        """Find out whether a batch without an id was created; forget it if it was not.

        Args:
            waits: for batches of the provider that may be it and do not tell before they have ended; else it stays as it is.
        """
        if batch.batch_id:
            return
        batch_id: str | None = ""
        if batch.asked_at is None:
            await self._service.withdraw(batch.token)
        else:
            batch_id = await self._created_id(batch, waits=waits)
        if batch_id:
            await asyncio.to_thread(self._stored.created, batch.token, batch_id)
        elif batch_id is not None:
            await asyncio.to_thread(self._stored.forget, batch.token)

    async def _created_id(self, batch: SentBatch, *, waits: bool = True) -> str | None:
        """The id of a batch whose creation was asked for; "" where there is none, and none can come; None: it is not known."""
        if (batch_id := await self._listed_id(batch, waits=waits)) != "":
            return batch_id
        await self._service.withdraw(batch.token)
        await asyncio.sleep(self._pace.settles if self._service.fenced else self._pace.unfenced)
        return await self._listed_id(batch, waits=waits)

    async def _listed_id(self, batch: SentBatch, *, waits: bool) -> str | None:
        """The id of a batch in the provider's list, as for `_created_id`; of several, all but the oldest are cancelled."""
        since = (batch.asked_at or batch.created_at).timestamp()
        searched = SearchedBatch(token=batch.token, file_id=batch.file_id, since=since, calls=batch.calls)
        pause = self._pace.first
        while True:
            batches = await self._service.find(searched)
            for other in batches.certain[1:]:
                if not other.ended:
                    await self._service.cancel(other.id)
            if batches.certain or not batches.unsettled:
                return batches.certain[0].id if batches.certain else ""
            message = f"{batches.unsettled} at the provider may be it: their results will tell"
            await asyncio.to_thread(self._stored.seen, batch.token, PLANNED, 0, 0, message)
            if not waits:
                return None
            await asyncio.sleep(pause)
            pause = min(pause * 1.5, self._pace.longest)
