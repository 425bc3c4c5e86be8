"""Blocks of a run's calls, shared between processes by the work engine.

A phase is cut into blocks of calls. The ledger says which calls are left; the engine gives each block to one process at a time.
Several phases are carried out at once: `PhasePlace` says on which server each is, and which others it waits for. Each server has
a queue of its own, so that its blocks stay in order and another server's do not wait for it. A process may keep to some servers:
it listens to their queues alone, and learns from the ledger how far the other phases are.
"""

import asyncio
from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import AsyncExitStack, ExitStack, suppress
from dataclasses import dataclass, field
from functools import partial
from math import ceil
from types import TracebackType
from typing import Self

from areopage.bench.execution.phases import Phase, PhasePlace
from areopage.errors import ModelError
from areopage.ledger import Ledger
from areopage.work import Backoff, Finished, Handler, ItemOutcome, OpenWorker, Pending, Retry, Work, WorkerPool, open_worker

HANDLER = "bench_block"
AT_ONCE = 4
"""Blocks of a server that a process does at once: one begins its calls, the others wait for their last ones."""
_LEAST_CALLS = 128
_CALLS_IN_A_ROW = 8
_WATCHED = 8  # blocks of a phase that are looked up at once, as other processes may have done them
_POLLING = 0.2  # a look takes 2 ms of processor time, and the blocks that are claimed last for longer
_FIRST_LOOK = 0.02
_LOOK_EVERY = 0.2
_LOOK_ALONE = 1.0


def block_calls(concurrency: int) -> int:
    """Return about how many calls a block has.

    Args:
        concurrency: the calls in flight with which the run began, the same in all its processes.
    """
    return max(_LEAST_CALLS, _CALLS_IN_A_ROW * concurrency)


def blocks_of(calls: int, size: int) -> int:
    """Return into how many blocks of equal length calls are cut."""
    return max(1, ceil(calls / size))


@dataclass(eq=False)
class PhaseBlocks:
    """A phase as this process carries it out, and the state of its blocks.

    Args:
        open: blocks that the phase has given out and that have not ended.
        queued: those of `open` that the queue holds.
        asking: those that this process does.
        ended: blocks that have ended, and of which the phase was not told yet.
        all_given: whether the phase has given out all blocks that can be done for now.
    """

    place: PhasePlace
    phase: Phase
    open: set[int] = field(default_factory=set)
    queued: set[int] = field(default_factory=set)
    asking: "dict[int, asyncio.Task[None]]" = field(default_factory=dict)
    ended: set[int] = field(default_factory=set)
    begun: bool = False
    closed: bool = False
    stopped: bool = False
    all_given: bool = False

    @property
    def past(self) -> bool:
        """Whether nothing is waited for any more: no block is left, or this process has stopped the phase."""
        return self.closed or self.stopped

    @property
    def near_its_end(self) -> bool:
        """Whether there are only few blocks left to do for now."""
        return self.past or (self.all_given and len(self.open) <= AT_ONCE)

    def end(self, numbers: Iterable[int]) -> None:
        """Note that blocks have ended."""
        self.ended |= self.open.intersection(numbers)
        self.open -= self.ended


class RunBlocks(Work):
    """The work of one process for a run, as `async with`: its worker is opened when the first block is to be done."""

    def __init__(
        self,
        ledger: Ledger,
        pool: WorkerPool,
        run_id: str,
        servers: Sequence[str],
        only: Collection[str] | None = None,
        on_stop: Callable[[Sequence[str], str], None] = lambda names, reason: None,
    ) -> None:
        """Args:
        pool: of the processes that carry the run out.
        servers: the names of the servers of the run, in the same order in all its processes.
        only: the servers whose blocks this process does; None: all.
        on_stop: is told the names of phases that stop while others go on, and why.
        """
        self._ledger, self._pool, self._run_id, self._on_stop = ledger, pool, run_id, on_stop
        self._phases: dict[str, PhaseBlocks] = {}
        self._blocks: dict[str, list[tuple[PhaseBlocks, int]]] = {
            server: [] for server in servers if only is None or server in only
        }
        self._beginning = {server: asyncio.Lock() for server in self._blocks}
        """Held by the block whose calls begin, by server."""
        self._changed = asyncio.Event()
        self._fault: Exception | None = None
        self._worker: OpenWorker | None = None
        self._until_closed = AsyncExitStack()
        self._handlers = {
            server: Handler(
                name=f"{HANDLER}_{number}",
                run=self._run,
                gave_up=self._gave_up,
                pending=partial(self._pending, server),
                queue=f"{HANDLER}_{number}:{run_id}",
                concurrency=AT_ONCE,
                ahead=1,
                polling=_FIRST_LOOK,
                backoff=Backoff(first=0.5, longest=5.0),
            )
            for number, server in enumerate(servers)
            if server in self._blocks
        }

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        """Close the worker; the last process of a run that was carried out to the end removes its queues."""
        async with self._until_closed:
            if error is None and self._worker is not None:
                await self._worker.remove_queues()

    # --- for the worker

    @property
    def handlers(self) -> Sequence[Handler]:
        """The handlers of blocks, one for each server."""
        return tuple(self._handlers.values())

    async def open(self) -> None:
        """Do nothing."""

    async def close(self) -> None:
        """Let go of the phases: what calls this object back keeps it until Python looks for reference cycles."""
        self._phases.clear()
        self._blocks.clear()

    # --- phases

    async def carry_out(self, phases: Sequence[tuple[PhasePlace, Phase]]) -> None:
        """Process the blocks of phases together with all processes of the run.

        Where a server cannot be asked any more, its phases stop; the others are carried out as far as they can be. However it
        ends, this process has no call in flight then, and all phases are closed.
        """
        new = [PhaseBlocks(place, phase) for place, phase in phases]
        self._phases |= {phase.place.name: phase for phase in new}
        tasks = [asyncio.create_task(work) for work in (self._share(), *map(self._carry, new))]
        try:
            while not all(task.done() for task in tasks[1:]):
                done, _ = await asyncio.wait([task for task in tasks if not task.done()], return_when=asyncio.FIRST_COMPLETED)
                for task in done:
                    task.result()
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        if self._fault is not None:
            raise self._fault

    async def _carry(self, phase: PhaseBlocks) -> None:
        try:
            await self._follow(phase)
        except BaseException:
            phase.stopped = True
            raise
        finally:
            calls = list(phase.asking.values())
            for asking in calls:
                asking.cancel()
            await asyncio.gather(*calls, return_exceptions=True)  # what arrived is stored then
            await phase.phase.close()
            phase.closed = not phase.stopped
            self._tell()

    async def _follow(self, phase: PhaseBlocks) -> None:
        """Prepare and begin a phase when its time has come, and wait until no block is left or it is stopped."""
        before = self._phases.get(phase.place.behind)
        after = [self._phases[name] for name in phase.place.after if name in self._phases]
        await self._until(lambda: before is None or before.near_its_end)
        if not phase.stopped:
            await phase.phase.prepare()
        await self._until(lambda: all(earlier.past for earlier in after))
        if phase.stopped or any(earlier.stopped for earlier in after):
            phase.stopped = True
            return
        while not phase.stopped:
            changed = self._changed
            if phase.ended:
                ended, phase.ended = phase.ended, set()
                await phase.phase.ended(ended)
                self._tell()
                continue
            numbers = await phase.phase.more()
            self._add(phase, numbers)
            if phase.phase.complete and not phase.open and not phase.ended:
                return
            if phase.all_given != (not numbers):
                phase.all_given = not numbers
                self._tell()
            elif not numbers:
                await changed.wait()

    def _add(self, phase: PhaseBlocks, numbers: Sequence[int]) -> None:
        first = not phase.begun
        phase.begun = True
        phase.open.update(numbers)
        if phase.place.server in self._blocks:
            self._blocks[phase.place.server].extend((phase, number) for number in numbers)
        if numbers or first:
            self._tell()

    def _stop(self, phase: PhaseBlocks, fault: Exception) -> None:
        """Stop the phases on a server that cannot be asked; by another fault, all."""
        self._fault = self._fault or fault
        going = [other for other in self._phases.values() if not other.past]
        stopped = [other for other in going if other.place.server == phase.place.server or not isinstance(fault, ModelError)]
        for other in stopped:
            other.stopped = True
        if stopped and len(stopped) < len(going):
            self._on_stop([other.place.name for other in stopped if other.begun], str(fault))
        self._tell()

    async def _until(self, is_so: Callable[[], bool]) -> None:
        while not is_so():
            await self._changed.wait()

    def _tell(self) -> None:
        """Wake all that wait for a change."""
        self._changed.set()
        self._changed = asyncio.Event()

    # --- what processes share

    async def _share(self) -> None:
        """Enqueue blocks as they come, and notice those that other processes have done."""
        await self._until(lambda: any(phase.open for phase in self._phases.values()))
        if self._worker is None:
            self._worker = await self._until_closed.enter_async_context(open_worker(self._ledger, self, self._pool))
        worker, clock = self._worker, asyncio.get_running_loop().time
        look_at, is_hasty = clock(), True
        while True:
            changed = self._changed
            await worker.dispatch()
            if clock() >= look_at:
                await self._look(worker)
                look_at = clock() + (_LOOK_EVERY if len(worker.presence.live) > 1 else _LOOK_ALONE)
            with suppress(TimeoutError):
                async with asyncio.timeout(max(0.0, look_at - clock())):
                    await changed.wait()
            if is_hasty and (clock() >= look_at or any(phase.asking for phase in self._phases.values())):
                is_hasty = False
                for handler in self._handlers.values():
                    await asyncio.to_thread(worker.engine.set_polling, handler.name, _POLLING)

    async def _look(self, worker: OpenWorker) -> None:
        for server, handler in self._handlers.items():
            phases = [phase for phase in self._phases.values() if phase.place.server == server and phase.open]
            if phases:
                items = await asyncio.to_thread(worker.engine.open_items, handler.name)
                for phase in phases:
                    phase.queued = {number for number in phase.open if self._item(phase, number) in items}
        for phase in list(self._phases.values()):
            while watched := sorted(phase.open - phase.queued - phase.asking.keys())[:_WATCHED]:  # done about in their order
                has_left = await asyncio.to_thread(list, map(phase.phase.has_left, watched))
                ended = {number for number, is_left in zip(watched, has_left, strict=True) if not is_left}
                phase.end(ended)
                if ended:
                    self._tell()
                if len(ended) < len(watched):
                    break

    # --- called by the engine

    def _pending(self, server: str, after: int, limit: int) -> list[Pending]:
        pending: list[Pending] = []
        blocks = self._blocks.get(server, [])
        for place in range(after, len(blocks)):
            phase, number = blocks[place]
            if number in phase.open and number not in phase.queued and not phase.stopped:
                pending.append(Pending(place + 1, self._item(phase, number)))
                if len(pending) == limit:
                    break
        return pending

    async def _run(self, item: str, attempt: int) -> ItemOutcome:
        phase, number = self._block(item)
        if phase is None or not (phase.begun or phase.past):
            return Retry(reason="another process is in another phase of the run", after=_LOOK_EVERY, counted=False)
        if number in phase.asking:
            return Retry(reason="this process does it already", after=_LOOK_EVERY, counted=False)
        if not phase.stopped:
            if number not in phase.open:
                if phase.closed or phase.phase.complete:
                    return Finished()
                return Retry(reason="this process cannot do it yet", after=_LOOK_EVERY, counted=False)
            await self._ask(phase, number)
        if phase.stopped:
            self._tell()
            await asyncio.Event().wait()  # this process stops: the block is put back for others
        phase.end([number])
        self._tell()
        return Finished()

    async def _ask(self, phase: PhaseBlocks, number: int) -> None:
        """Make a block's calls; where the phase is stopped they are cancelled, and this returns early."""
        asking = phase.asking[number] = asyncio.create_task(self._ask_in_turn(phase, number))
        self._tell()
        try:
            await asyncio.wait([asking])
        finally:
            asking.cancel()  # without effect where it has ended
            await asyncio.gather(asking, return_exceptions=True)
            del phase.asking[number]
        fault = None if asking.cancelled() else asking.exception()
        if isinstance(fault, Exception):
            self._stop(phase, fault)  # it ends `carry_out`, which raises it

    async def _ask_in_turn(self, phase: PhaseBlocks, number: int) -> None:
        """Make a block's calls once the block before has begun all of its own, so that calls stay in order."""
        beginning = self._beginning[phase.place.server]
        with ExitStack() as turn:
            await beginning.acquire()
            turn.callback(beginning.release)
            if not phase.stopped:  # nothing begins any more: the models are being closed
                await phase.phase.ask(number, turn.close)

    def _gave_up(self, item: str, reason: str) -> None:
        phase, number = self._block(item)
        if phase is not None and number in phase.open:
            phase.phase.give_up(number, reason)

    def _item(self, phase: PhaseBlocks, number: int) -> str:
        return f"{self._run_id}/{phase.place.name}/{number}"

    def _block(self, item: str) -> tuple[PhaseBlocks | None, int]:
        """The phase and the number of a block; None where this process knows of no such phase."""
        name, _, number = item.removeprefix(f"{self._run_id}/").rpartition("/")
        return (self._phases.get(name), int(number)) if number.isdecimal() else (None, -1)
