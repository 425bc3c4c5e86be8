"""Blocks of a run's calls, shared between processes by the work engine.

A phase is cut into blocks of calls. The ledger says which calls are left; the engine gives each block to one process at a time.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from math import ceil
from typing import Protocol

from areopage.work.handlers import Backoff, Finished, Handler, Outcome, Pending, Retry, ScheduledJob
from areopage.work.worker import OpenWorker

HANDLER = "bench_block"
_LEAST_CALLS = 128
_CALLS_IN_A_ROW = 8
_AT_ONCE = 2  # so that no connection is idle between two blocks
_LOOK_EVERY = 0.2
_PHASES_APART = 1_000_000


def block_calls(concurrency: int) -> int:
    """Return about how many calls a block has.

    Args:
        concurrency: the calls in flight with which the run began, the same in all its processes.
    """
    return max(_LEAST_CALLS, _CALLS_IN_A_ROW * concurrency)


def blocks_of(calls: int, size: int) -> int:
    """Return into how many blocks of equal length calls are cut.

    Args:
        size: about how many calls a block has.
    """
    return max(1, ceil(calls / size))


class Phase(Protocol):
    """All calls to the target or to one judge, in blocks."""

    @property
    def name(self) -> str:
        """The name, unique in the run."""
        ...

    @property
    def blocks(self) -> Sequence[int]:
        """The numbers of the blocks with open calls, from 0."""
        ...

    def has_left(self, number: int) -> bool:
        """Whether a block has calls without a final result or an attempt in this phase."""
        ...

    async def ask(self, number: int, all_begun: Callable[[], None]) -> None:
        """Make a block's open calls; on return they are in the ledger.

        Args:
            all_begun: called when the last call begins.
        """
        ...

    def give_up(self, number: int, reason: str) -> None:
        """Record a block's open calls as failed."""
        ...


class RunBlocks:
    """The work of one worker pool for a run."""

    def __init__(self, run_id: str) -> None:
        self._run_id = run_id
        self._phase: Phase | None = None
        self._begun = 0
        self._open: set[int] = set()
        self._queued: set[int] = set()
        self._asking: set[int] = set()
        self._asks: set[asyncio.Task[None]] = set()
        self._ends = False
        self._changed = asyncio.Event()
        self._beginning = asyncio.Lock()
        self._fault: Exception | None = None
        self._handler = Handler(
            name=HANDLER,
            run=self._run,
            gave_up=self._gave_up,
            pending=self._pending,
            queue=f"{HANDLER}:{run_id}",
            concurrency=_AT_ONCE,
            ahead=_AT_ONCE,
            backoff=Backoff(first=0.5, longest=5.0),
        )

    @property
    def handlers(self) -> Sequence[Handler]:
        """The handler of blocks."""
        return (self._handler,)

    @property
    def jobs(self) -> Sequence[ScheduledJob] | None:
        """Return None: a run has no scheduled jobs."""
        return None

    async def open(self) -> None:
        """Do nothing."""

    async def step(self) -> bool:
        """Do nothing."""
        return False

    async def close(self) -> None:
        """Do nothing."""

    async def carry_out(self, phase: Phase, worker: OpenWorker) -> None:
        """Process a phase's blocks together with all processes of the run.

        However it ends, this process has no call in flight then: the caller closes the models, and a call would open them again.

        Raises:
            ServerDown, ModelError, StorageError: a block of this process cannot be done; others may do it.
        """
        try:
            await self._carry_out(phase, worker)
        except BaseException:
            await self._stop_asking()
            raise

    async def _carry_out(self, phase: Phase, worker: OpenWorker) -> None:
        self._open, self._phase = set(phase.blocks), phase
        self._begun += 1
        self._queued = await asyncio.to_thread(self._in_queue, worker)
        while self._open:
            await worker.dispatch()
            await self._change()
            if self._fault is not None:
                raise self._fault
            self._queued = await asyncio.to_thread(self._in_queue, worker)
            self._open -= await asyncio.to_thread(self._done, self._open - self._queued - self._asking, phase)

    async def _stop_asking(self) -> None:
        """Cancel the calls of this process's blocks and wait for their end; what arrived is stored then."""
        self._ends = True
        for asking in self._asks:
            asking.cancel()
        await asyncio.gather(*self._asks, return_exceptions=True)

    def _in_queue(self, worker: OpenWorker) -> set[int]:
        held = worker.engine.open_items(HANDLER)
        return {number for number in list(self._open) if self._item(number) in held}

    def _done(self, numbers: set[int], phase: Phase) -> set[int]:
        """The blocks that other processes have finished."""
        return {number for number in numbers if not phase.has_left(number)}

    async def finish(self, worker: OpenWorker) -> None:
        """Remove the run's queue, unless another process still carries the run out."""
        if len(worker.presence.live) == 1:
            await asyncio.to_thread(worker.engine.remove_queue, HANDLER)

    async def _change(self) -> None:
        """Wait a bounded time for one of this process's blocks to end."""
        self._changed.clear()
        try:
            async with asyncio.timeout(_LOOK_EVERY):
                await self._changed.wait()
        except TimeoutError:
            pass

    # --- called by the engine

    def _pending(self, after: int, limit: int) -> list[Pending]:
        base = self._begun * _PHASES_APART
        numbers = sorted(number for number in self._open - self._queued if base + number + 1 > after)
        return [Pending(base + number + 1, self._item(number)) for number in numbers[:limit]]

    async def _run(self, item: str, attempt: int) -> Outcome:
        number = self._number(item)
        if number is None or self._phase is None:
            return Retry(reason="another process is in another phase of the run", after=_LOOK_EVERY, counted=False)
        if number not in self._open:
            return Finished()
        if number in self._asking:
            return Retry(reason="this process does it already", after=_LOOK_EVERY, counted=False)
        if not self._stopped:
            self._asking.add(number)
            try:
                async with self._turn() as pass_on:
                    if not self._stopped:  # nothing begins any more: the models are being closed
                        await self._ask(self._phase, number, pass_on)
            except Exception as fault:  # noqa: BLE001 - it ends `carry_out`, which raises it
                self._fault = self._fault or fault
            finally:
                self._asking.discard(number)
        if self._stopped:
            self._changed.set()
            await asyncio.Event().wait()  # this process stops: the block is put back for others
        self._open.discard(number)
        self._changed.set()
        return Finished()

    @property
    def _stopped(self) -> bool:
        """Whether this process does no block any more."""
        return self._fault is not None or self._ends

    async def _ask(self, phase: Phase, number: int, all_begun: Callable[[], None]) -> None:
        """Make a block's calls; returns early where `_stop_asking` cancels them."""
        asking = asyncio.create_task(phase.ask(number, all_begun))
        self._asks.add(asking)
        try:
            await asyncio.wait([asking])
        finally:
            asking.cancel()  # without effect where it has ended
            await asyncio.gather(asking, return_exceptions=True)
            self._asks.discard(asking)
        if not asking.cancelled():
            asking.result()

    @asynccontextmanager
    async def _turn(self) -> AsyncIterator[Callable[[], None]]:
        """Wait until the block before has begun all its calls, so that calls stay in order; yields what passes the turn on."""
        await self._beginning.acquire()
        mine = True

        def pass_on() -> None:
            nonlocal mine
            if mine:
                mine = False
                self._beginning.release()

        try:
            yield pass_on
        finally:
            pass_on()

    def _gave_up(self, item: str, reason: str) -> None:
        number = self._number(item)
        if number is not None and self._phase is not None:
            self._phase.give_up(number, reason)

    def _item(self, number: int) -> str:
        return f"{self._run_id}/{self._phase.name if self._phase else ''}/{number}"

    def _number(self, item: str) -> int | None:
        """The number of a block of the phase that this process is in."""
        begin, _, number = item.rpartition("/")
        return int(number) if number.isdecimal() and self._item(int(number)).rpartition("/")[0] == begin else None
