"""Decisions on their way into the ledger: in group commits, and without a request waiting for them unless it must."""

import asyncio
import logging
import time
from collections import deque
from collections.abc import Callable, Sequence
from typing import Literal, cast

from msgspec import Struct
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request

from areopage.errors import StorageError
from areopage.ledger.exchanges import Exchanges
from areopage.ledger.gate_records import Exchange
from areopage.ledger.stored_exchange import stored_exchange
from areopage.server.context import ServerContext

Store = Callable[[Sequence[Exchange]], object]
Noted = Literal["yes", "soon", "no"]
"""What is known of a decision when its request is answered: on the disk, about to be written, or not kept."""

MOST_AT_ONCE = 500
MOST_WAITING = 10_000
MOST_BYTES = 64_000_000
GROUP_SECONDS = 0.02
RETRY_SECONDS = 1.0
DRAIN_SECONDS = 10.0
LOG_SECONDS = 10.0

log = logging.getLogger(__name__)


class Waiting(Struct, frozen=True):
    """An exchange that is not written yet. `settled` is told once it is; None where nobody waits for it."""

    exchange: Exchange
    size: int
    settled: "asyncio.Future[None] | None"


class DecisionWriter:
    """Gathers exchanges and commits them together, at the latest `GROUP_SECONDS` after the first of them came.

    While the ledger cannot be written, what nobody waits for is kept and tried again. What no longer fits is not kept: that is
    counted (`lost`), logged, and said to whoever handed it over.
    """

    def __init__(self, store: Store, *, most: int = MOST_WAITING, most_bytes: int = MOST_BYTES) -> None:
        """Args:
        store: commits exchanges, all or none; it may block, and raises StorageError.
        most: so many exchanges wait at most.
        most_bytes: and so many bytes of requests.
        """
        self._store, self._most, self._most_bytes = store, most, most_bytes
        self._waiting: deque[Waiting] = deque()
        self._bytes = 0
        self._writer: asyncio.Task[None] | None = None
        self._hurry = asyncio.Event()
        self._closing = False
        self._logged_at = float("-inf")
        self.lost = 0

    @property
    def waiting(self) -> int:
        """How many exchanges are not on the disk yet."""
        return len(self._waiting)

    async def note(self, exchange: Exchange, size: int, *, durable: bool) -> Noted:
        """Hand an exchange over.

        Args:
            size: about how many bytes it takes.
            durable: return only once it is on the disk.

        Raises:
            StorageError: it had to be durable and could not be written.
        """
        if len(self._waiting) >= self._most or self._bytes + size > self._most_bytes:
            if durable:
                raise StorageError("too many decisions wait for the ledger")
            self._lose(1, "too many wait for the ledger")
            return "no"
        settled = asyncio.get_running_loop().create_future() if durable else None
        self._waiting.append(Waiting(exchange, size, settled))
        self._bytes += size
        if settled is not None or len(self._waiting) == MOST_AT_ONCE:
            self._hurry.set()
        if self._writer is None or self._writer.done():
            self._writer = asyncio.create_task(self._write())
        if settled is None:
            return "soon"
        await settled
        return "yes"

    async def close(self, seconds: float = DRAIN_SECONDS) -> None:
        """Write what waits; what cannot be written in so many seconds is lost, and the log says how much."""
        self._closing = True
        self._hurry.set()
        if self._writer is not None and not self._writer.done():
            await asyncio.wait([self._writer], timeout=seconds)
            self._writer.cancel()
        if self._waiting:
            count = len(self._waiting)
            self._waiting.clear()
            self._logged_at = float("-inf")
            self._lose(count, "the server stops and the ledger cannot be written")

    async def _write(self) -> None:
        while self._waiting:
            if not self._hurry.is_set():
                await until(self._hurry, GROUP_SECONDS)
            self._hurry.clear()
            portion = [self._waiting[place] for place in range(min(len(self._waiting), MOST_AT_ONCE))]
            storing = asyncio.ensure_future(run_in_threadpool(self._store, [one.exchange for one in portion]))
            await asyncio.wait([storing])  # raises nothing: whoever waits hears of a fault by himself
            fault = storing.exception()
            kept = self._settle(portion, fault)
            if fault is not None and not isinstance(fault, StorageError):
                self._lose(len(portion) - sum(one.settled is not None for one in portion), str(fault))
            elif kept:
                await until(self._hurry, GROUP_SECONDS if self._closing else RETRY_SECONDS)

    def _settle(self, portion: Sequence[Waiting], fault: BaseException | None) -> bool:
        """Tell those who wait; returns whether something stays to be tried again.

        While the ledger cannot be written, whoever waits hears of it at once, also behind the portion: that would not shrink.
        """
        failing = isinstance(fault, StorageError)
        if failing:
            settled = [one for one in self._waiting if one.settled is not None]
            self._waiting = deque(one for one in self._waiting if one.settled is None)
        else:
            settled = [self._waiting.popleft() for _ in portion]
        self._bytes -= sum(one.size for one in settled)
        for one in settled:
            if one.settled is None or one.settled.done():
                continue
            if fault is None:
                one.settled.set_result(None)
            else:
                one.settled.set_exception(fault)
        return failing and bool(self._waiting)

    def _lose(self, count: int, reason: str) -> None:
        self.lost += count
        if time.monotonic() - self._logged_at >= LOG_SECONDS:
            log.error("decisions that are not in the ledger: %d since the start (%s)", self.lost, reason)
            self._logged_at = time.monotonic()


def keeper_of(context: ServerContext) -> Store:
    """What commits exchanges to a server's ledger, with what the storage policy leaves of their texts."""
    storage, exchanges = context.config.section.storage, Exchanges(context.ledger)

    def keep(given: Sequence[Exchange]) -> None:
        exchanges.add([stored_exchange(one, storage.text, storage.max_chars) for one in given])

    return keep


async def until(event: asyncio.Event, seconds: float) -> None:
    """Wait for an event, so long at most."""
    try:
        await asyncio.wait_for(event.wait(), seconds)
    except TimeoutError:
        return


def decision_writer_of(request: Request) -> DecisionWriter:
    """The writer of the server that got a request."""
    return cast(DecisionWriter, request.app.state.decisions)
