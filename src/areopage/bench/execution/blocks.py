"""Blocks of a run's calls, shared between processes by the work engine.

A phase is cut into blocks of calls. The ledger says which calls are left; the engine gives each block to one process at a time.
Several phases are carried out at once: `Place` (see `areopage.bench.execution.phases`) says on which server each is, and which
others it waits for. Each server has a queue of its own, so that its blocks stay in order and another server's do not wait for it.
A process may keep to some servers: it listens to their queues alone, and learns from the ledger how far the other phases are.

The process that begins a run does its blocks without the queue until another process wants to take part, and while it opens the
queue then. Others cannot open it before the blocks that are under way are in the queue, and begun there.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Collection, Sequence
from contextlib import asynccontextmanager
from functools import partial
from math import ceil

from areopage.bench.execution.courses import AT_ONCE, Course, Line
from areopage.bench.execution.phases import Phase, Place
from areopage.errors import ModelError
from areopage.work import Backoff, Finished, Handler, Opening, OpenWorker, Outcome, Pending, Retry, ScheduledJob

HANDLER = "bench_block"
_LEAST_CALLS = 128
_CALLS_IN_A_ROW = 8
_WATCHED = 8  # blocks of a phase that only other processes do are looked for at once
_POLLING = 0.2  # a look takes 2 ms of processor time, and the blocks that are claimed last for longer
_LOOK_EVERY = 0.2
_LOOK_ALONE = 1.0


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


class RunBlocks:
    """The work of one worker pool for a run."""

    def __init__(
        self,
        run_id: str,
        servers: Sequence[str],
        only: Collection[str] | None = None,
        on_stop: Callable[[Sequence[str], str], None] = lambda names, reason: None,
    ) -> None:
        """Prepare.

        Args:
            servers: the names of the servers of the run, in the same order in all its processes.
            only: the servers whose blocks this process does; None: all.
            on_stop: is told the names of phases that stop while others go on, and why.
        """
        self._on_stop = on_stop
        self._run_id = run_id
        self._lines = {server: Line() for server in servers if only is None or server in only}
        self._courses: dict[str, Course] = {}
        self._changed = asyncio.Event()
        self._fault: Exception | None = None
        self._worker: Opening | None = None
        self._claimed: set[str] = set()
        """The items of blocks begun ahead that the queue has given to this process."""
        self._handlers = {
            server: Handler(
                name=f"{HANDLER}_{number}",
                run=self._run,
                gave_up=self._gave_up,
                pending=partial(self._pending, self._lines[server]),
                queue=f"{HANDLER}_{number}:{run_id}",
                concurrency=AT_ONCE,
                ahead=1,
                polling=_POLLING,
                backoff=Backoff(first=0.5, longest=5.0),
            )
            for number, server in enumerate(servers)
            if server in self._lines
        }

    @property
    def handlers(self) -> Sequence[Handler]:
        """The handlers of blocks, one for each server."""
        return tuple(self._handlers.values())

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
        """Let go of the phases: what calls this object back keeps it until Python looks for reference cycles."""
        self._courses.clear()
        for line in self._lines.values():
            line.blocks.clear()

    async def carry_out(self, phases: Sequence[tuple[Place, Phase]], worker: Opening) -> None:
        """Process the blocks of phases together with all processes of the run.

        Where a server cannot be asked any more, its phases stop; the others are carried out as far as they can be. However it
        ends, this process has no call in flight then, and all phases are closed.

        Raises:
            ServerDown, ModelError: blocks of this process cannot be done; others may do them.
            StorageError: the ledger cannot be written.
        """
        self._worker = worker
        courses = [Course(place, phase) for place, phase in phases]
        self._courses |= {course.place.name: course for course in courses}
        tasks = [asyncio.create_task(work) for work in (self._looking(worker), *map(self._carry, courses))]
        try:
            while not all(task.done() for task in tasks[1:]):
                done, _ = await asyncio.wait([task for task in tasks if not task.done()], return_when=asyncio.FIRST_COMPLETED)
                for task in done:
                    task.result()
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            await self._end_ahead()
        if self._fault is not None:
            raise self._fault

    async def _carry(self, course: Course) -> None:
        """Carry out one phase, and close it."""
        try:
            await self._follow(course)
        except BaseException:
            course.stopped = True
            raise
        finally:
            await self._stop_asking(course)
            await course.phase.close()
            course.over = not course.stopped
            self._tell()

    async def _follow(self, course: Course) -> None:
        """Prepare and begin a phase when its time has come, and wait until no block is left or it is stopped."""
        place, phase = course.place, course.phase
        before, after = self._courses.get(place.behind), [self._courses[name] for name in place.after if name in self._courses]
        await self._until(lambda: before is None or before.near_its_end)
        if not course.stopped:
            await phase.prepare()
        await self._until(lambda: all(one.past for one in after))
        if course.stopped or any(one.stopped for one in after):
            course.stopped = True
            return
        await phase.begin()
        while not course.stopped:
            changed = self._changed
            if course.unseen:
                ended, course.unseen = course.unseen, set()
                await phase.ended(ended)
                self._tell()
                continue
            found = await phase.more()
            self._add(course, found)
            if phase.complete and not course.open and not course.unseen:
                return
            if course.all_given != (not found):
                course.all_given = not found
                self._tell()
            elif not found:
                await changed.wait()

    def _add(self, course: Course, numbers: Sequence[int]) -> None:
        first = not course.begun
        course.begun = True
        course.open.update(numbers)
        line = self._lines.get(course.place.server)
        if line is not None:
            line.blocks.extend((course, number) for number in numbers)
            self._begin_ahead(line)
        if numbers or first:
            self._tell()

    async def _until(self, is_so: Callable[[], bool]) -> None:
        while not is_so():
            await self._changed.wait()

    def _tell(self) -> None:
        """Wake all that wait for a change."""
        self._changed.set()
        self._changed = asyncio.Event()

    # --- before the queue is open

    def _begin_ahead(self, line: Line) -> None:
        """Begin the next blocks on a server before the queue is open, where no other process can have begun them."""
        if self._worker is None or not self._worker.alone or self._worker.is_open:
            return
        while len(line.ahead) < AT_ONCE and line.begun_ahead < len(line.blocks):
            course, number = line.blocks[line.begun_ahead]
            line.begun_ahead += 1
            if number in course.open and not course.stopped:
                line.ahead[self._item(course, number)] = asyncio.create_task(self._do_ahead(line, course, number))

    async def _do_ahead(self, line: Line, course: Course, number: int) -> None:
        await self._do(course, number)
        if not course.stopped:
            course.end([number])
            self._tell()
        del line.ahead[self._item(course, number)]
        self._begin_ahead(line)
        self._share()

    def _share(self) -> None:
        """Let other processes take part, once the queue knows of each block that was begun ahead and is under way."""
        if self._worker is not None and self._worker.alone and self._worker.is_open:
            ahead = (pair for line in self._lines.values() for pair in line.ahead.items())
            if all(task.done() or item in self._claimed for item, task in ahead):
                self._worker.share()

    async def _end_ahead(self) -> None:
        """End what was begun ahead; all of it has ended, unless the phases are stopped."""
        tasks = [task for line in self._lines.values() for task in line.ahead.values()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    # --- what other processes do

    async def _looking(self, opening: Opening) -> None:
        """Enqueue blocks as they come, and notice those that other processes have finished."""
        worker = await opening.once_needed()
        self._share()
        clock = asyncio.get_running_loop().time
        looked_at = -_LOOK_ALONE
        while True:
            changed = self._changed
            await worker.dispatch()
            pause = _LOOK_EVERY if len(worker.presence.live) > 1 else _LOOK_ALONE
            if clock() - looked_at >= pause:
                await self._look(worker)
                looked_at = clock()
            try:
                async with asyncio.timeout(max(0.0, looked_at + pause - clock())):
                    await changed.wait()
            except TimeoutError:
                pass

    async def _look(self, worker: OpenWorker) -> None:
        for server, handler in self._handlers.items():
            courses = [course for course in self._courses.values() if course.place.server == server and course.open]
            if not courses:
                continue
            held = await asyncio.to_thread(worker.engine.open_items, handler.name)
            for course in courses:
                course.queued = {number for number in course.open if self._item(course, number) in held}
        for course in list(self._courses.values()):
            numbers = course.open - course.queued - course.asking
            if course.place.server not in self._lines:  # all are done elsewhere, about in their order
                numbers = set(sorted(numbers)[:_WATCHED])
            if numbers:
                course.end(await asyncio.to_thread(_without_calls, course.phase, numbers))
                if course.unseen:
                    self._tell()

    async def finish(self, opening: Opening) -> None:
        """Remove the run's queues, unless there are none or another process still carries the run out."""
        if not opening.is_needed:
            return
        worker = await opening.opened()
        if await opening.is_last():
            for handler in self._handlers.values():
                await asyncio.to_thread(worker.engine.remove_queue, handler.name)

    # --- called by the engine

    def _pending(self, line: Line, after: int, limit: int) -> list[Pending]:
        found: list[Pending] = []
        for place in range(after, len(line.blocks)):
            course, number = line.blocks[place]
            if number in course.open and number not in course.queued and not course.stopped:
                found.append(Pending(place + 1, self._item(course, number)))
                if len(found) == limit:
                    break
        return found

    async def _run(self, item: str, attempt: int) -> Outcome:
        course, number = self._found(item)
        if course is None or not (course.begun or course.past):
            return Retry(reason="another process is in another phase of the run", after=_LOOK_EVERY, counted=False)
        ahead = self._ahead(item)
        if ahead is not None:
            self._claimed.add(item)
            self._share()
            await asyncio.wait([ahead])
        elif number in course.asking:
            return Retry(reason="this process does it already", after=_LOOK_EVERY, counted=False)
        elif not course.stopped:
            if number not in course.open:
                if course.over or course.phase.complete:
                    return Finished()
                return Retry(reason="this process cannot do it yet", after=_LOOK_EVERY, counted=False)
            await self._do(course, number)
        if course.stopped:
            self._tell()
            await asyncio.Event().wait()  # this process stops: the block is put back for others
        course.end([number])
        self._tell()
        return Finished()

    def _ahead(self, item: str) -> asyncio.Task[None] | None:
        """The work on a block that was begun before the queue was open."""
        return next((line.ahead[item] for line in self._lines.values() if item in line.ahead), None)

    async def _do(self, course: Course, number: int) -> None:
        course.asking.add(number)
        try:
            async with self._turn(course.place.server) as pass_on:
                if not course.stopped:  # nothing begins any more: the models are being closed
                    await self._ask(course, number, pass_on)
        except Exception as fault:  # noqa: BLE001 - it ends `carry_out`, which raises it
            self._stop(course, fault)
        finally:
            course.asking.discard(number)

    def _stop(self, course: Course, fault: Exception) -> None:
        """Stop the phases on a server that cannot be asked; by another fault, all."""
        self._fault = self._fault or fault
        going = [one for one in self._courses.values() if not one.past]
        stopped = [one for one in going if one.place.server == course.place.server or not isinstance(fault, ModelError)]
        for one in stopped:
            one.stopped = True
        if stopped and len(stopped) < len(going):
            self._on_stop([one.place.name for one in stopped if one.begun], str(fault))
        self._tell()

    async def _stop_asking(self, course: Course) -> None:
        """Cancel the calls of a phase's blocks and wait for their end; what arrived is stored then."""
        asks = list(course.asks)
        for asking in asks:
            asking.cancel()
        await asyncio.gather(*asks, return_exceptions=True)

    async def _ask(self, course: Course, number: int, all_begun: Callable[[], None]) -> None:
        """Make a block's calls; returns early where they are cancelled because the phase is stopped."""
        asking = asyncio.create_task(course.phase.ask(number, all_begun))
        course.asks.add(asking)
        try:
            await asyncio.wait([asking])
        finally:
            asking.cancel()  # without effect where it has ended
            await asyncio.gather(asking, return_exceptions=True)
            course.asks.discard(asking)
        if not asking.cancelled():
            asking.result()

    @asynccontextmanager
    async def _turn(self, server: str) -> AsyncIterator[Callable[[], None]]:
        """Wait until the block before has begun all its calls, so that calls stay in order; yields what passes the turn on."""
        beginning = self._lines[server].beginning
        await beginning.acquire()
        mine = True

        def pass_on() -> None:
            nonlocal mine
            if mine:
                mine = False
                beginning.release()

        try:
            yield pass_on
        finally:
            pass_on()

    def _gave_up(self, item: str, reason: str) -> None:
        course, number = self._found(item)
        if course is not None and number in course.open:
            course.phase.give_up(number, reason)

    def _item(self, course: Course, number: int) -> str:
        return f"{self._run_id}/{course.place.name}/{number}"

    def _found(self, item: str) -> tuple[Course | None, int]:
        """The phase and the number of a block; None where this process knows of no such phase."""
        begin, _, number = item.removeprefix(f"{self._run_id}/").rpartition("/")
        return (self._courses.get(begin), int(number)) if number.isdecimal() else (None, -1)


def _without_calls(phase: Phase, numbers: Collection[int]) -> set[int]:
    """The blocks that have no calls left."""
    return {number for number in numbers if not phase.has_left(number)}
