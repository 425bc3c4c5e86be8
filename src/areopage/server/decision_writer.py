"""Decisions on their way into the ledger: in group commits, and without a request waiting for them unless it must."""

import asyncio
import logging
import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from itertools import islice
from typing import Literal, cast

from msgspec import Struct
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
GROUP_SECONDS = 0.1
RETRY_SECONDS = 1.0
DRAIN_SECONDS = 10.0
LOG_SECONDS = 10.0

log = logging.getLogger(__name__)


class Waiting(Struct, frozen=True):
    """An exchange that is not written yet, `since` a moment of the loop's clock. `settled` is told once it is; None where nobody
    waits for it."""

    exchange: Exchange
    size: int
    since: float
    settled: "asyncio.Future[None] | None"


class DecisionWriter:
    """Gathers exchanges and commits them together, about `GROUP_SECONDS` after the first of them came. Those that somebody waits
    for are written at once, and before the others.

    While the ledger cannot be written, what nobody waits for is kept and tried again. What no longer fits is not kept: that is
    counted (`lost`), logged, and said to whoever handed it over.

    A thread of its own writes, and a portion is handed to it and taken back in one step each: while the loop is busy with checks,
    every turn that a task waits for in between would add what they take to the time of whoever waits for the disk.
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
        self._thread = ThreadPoolExecutor(1, "decisions")
        self._writing = False
        self._timer: asyncio.TimerHandle | None = None
        self._drained = asyncio.Event()
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
        loop = asyncio.get_running_loop()
        settled = loop.create_future() if durable else None
        self._waiting.append(Waiting(exchange, size, loop.time(), settled))
        self._bytes += size
        self._drained.clear()
        if settled is not None or len(self._waiting) == MOST_AT_ONCE:
            self._write()
        else:
            self._write_in(GROUP_SECONDS)
        if settled is None:
            return "soon"
        await settled
        return "yes"

    async def close(self, seconds: float = DRAIN_SECONDS) -> None:
        """Write what waits; what cannot be written in so many seconds is lost, and the log says how much."""
        self._closing = True
        if not self._waiting:
            return
        self._write()
        await until(self._drained, seconds)
        if self._timer is not None:
            self._timer.cancel()
        if self._waiting:
            count = len(self._waiting)
            self._waiting.clear()
            self._logged_at = float("-inf")
            self._lose(count, "the server stops and the ledger cannot be written")

    def _write_in(self, seconds: float) -> None:
        """Write so much later, unless something makes it happen before."""
        if not self._writing and self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(seconds, self._write)

    def _write(self) -> None:
        """Hand the next portion to the thread; what comes while it is written goes with another."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._writing:
            return
        self._writing = True
        loop = asyncio.get_running_loop()
        portion = self._next_portion(loop.time())

        def tell(storing: Future[object]) -> None:
            with suppress(RuntimeError):  # the loop is closed: what was not written by then is counted as lost
                loop.call_soon_threadsafe(self._written, portion, storing.exception())

        self._thread.submit(self._store, [one.exchange for one in portion]).add_done_callback(tell)

    def _next_portion(self, now: float) -> list[Waiting]:
        """Those that somebody waits for, unless the first of the others has waited long enough: then all."""
        due = self._closing or self._waiting[0].since + GROUP_SECONDS <= now
        urgent = [] if due else [one for one in self._waiting if one.settled is not None]
        return list(islice(urgent or self._waiting, MOST_AT_ONCE))

    def _written(self, portion: Sequence[Waiting], fault: BaseException | None) -> None:
        """Take a portion back, and see to what waits still."""
        self._writing = False
        if not self._waiting:  # closed before this portion came back
            return
        self._settle(portion, fault)
        if fault is not None and not isinstance(fault, StorageError):
            self._lose(len(portion) - sum(one.settled is not None for one in portion), str(fault))
        if not self._waiting:
            self._drained.set()
        elif isinstance(fault, StorageError):
            self._write_in(GROUP_SECONDS if self._closing else RETRY_SECONDS)
        elif self._closing or len(self._waiting) >= MOST_AT_ONCE or any(one.settled is not None for one in self._waiting):
            self._write()
        else:
            self._write_in(self._waiting[0].since + GROUP_SECONDS - asyncio.get_running_loop().time())

    def _settle(self, portion: Sequence[Waiting], fault: BaseException | None) -> None:
        """Tell those who wait, and forget what needs no further attempt.

        While the ledger cannot be written, whoever waits hears of it at once, also behind the portion: that would not shrink.
        """
        settled: Sequence[Waiting]
        if isinstance(fault, StorageError):
            settled = [one for one in self._waiting if one.settled is not None]
            self._waiting = deque(one for one in self._waiting if one.settled is None)
        else:
            settled, gone = portion, {id(one) for one in portion}
            self._waiting = deque(one for one in self._waiting if id(one) not in gone)
        self._bytes -= sum(one.size for one in settled)
        for one in settled:
            if one.settled is None or one.settled.done():
                continue
            if fault is None:
                one.settled.set_result(None)
            else:
                one.settled.set_exception(fault)

    def _lose(self, count: int, reason: str) -> None:
        self.lost += count
        if time.monotonic() - self._logged_at >= LOG_SECONDS:
            log.error("decisions that are not in the ledger: %d since the start (%s)", self.lost, reason)
            self._logged_at = time.monotonic()


def keeper_of(context: ServerContext) -> Store:
    """What commits exchanges to a server's ledger, with what the storage policy leaves of their texts."""
    storage, exchanges = context.config.storage, Exchanges(context.ledger)

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
