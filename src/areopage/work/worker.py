"""A worker: a process's engine with its heartbeats and, while it leads, the recovery; started, run and stopped as one.

It lives in a thread with an event loop of its own, beside a web server's or alone. What it has not done when it ends, however
it ends, goes on at the next start, here or elsewhere.
"""

import asyncio
import logging
import threading
import time
from collections.abc import AsyncIterator, Callable, Sequence
from concurrent import futures
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from msgspec import Struct

from areopage.errors import StorageError, UserError
from areopage.ledger import Ledger
from areopage.models import OwnLoop
from areopage.work.handlers import Handler, ScheduledJob
from areopage.work.turn import Turn
from areopage.work.workers import Presence, WorkerId

if TYPE_CHECKING:
    from areopage.work.engine import Engine
    from areopage.work.recovery import Recovery

LOG = logging.getLogger(__name__)
GRACE = 30.0
LEAST_PAUSE = 0.1
_LOOK_FOR_OTHERS = 0.2
_one_worker = threading.Lock()
"""Held while this process has a worker."""


class Pace(Struct, frozen=True, kw_only=True):
    """How often a worker does its regular work, in seconds."""

    dispatch: float = 0.4
    heartbeat: float = 5.0
    clean: float = 60.0


USUAL_PACE = Pace()


class WorkerPool(Struct, frozen=True, kw_only=True):
    """Workers with the same handlers and jobs.

    Args:
        name: of the pool.
        folder: where the lock files of its workers on this computer lie.
        dead_after: a worker without a heartbeat for this number of seconds counts as dead.
        pace: how often a worker looks.
    """

    name: str
    folder: Path
    dead_after: float
    pace: Pace = USUAL_PACE


class Work(Protocol):
    """What a worker works for: an application's handlers, and its other jobs."""

    @property
    def handlers(self) -> Sequence[Handler]:
        """The handlers; read once `open` has returned."""
        ...

    @property
    def jobs(self) -> Sequence[ScheduledJob] | None:
        """The scheduled jobs, the same in all workers of the pool; None where the pool has none."""
        ...

    async def open(self) -> None:
        """Prepare; what it raises stops the start."""
        ...

    async def step(self) -> bool:
        """Do the application's regular work once; returns whether there may be more to do at once."""
        ...

    async def close(self) -> None:
        """Close what was opened."""
        ...


class Worker:
    """One worker; at most one per process. Its methods block, and may be called from any thread without an event loop."""

    def __init__(self, ledger: Ledger, work: Work, pool: WorkerPool) -> None:
        """Make a worker; nothing begins before `start`.

        Args:
            ledger: the ledger, open.
            work: what it does.
        """
        self._ledger, self._work, self._pool = ledger, work, pool
        self._grace = GRACE
        self._own: OwnLoop | None = None
        self._open: OpenWorker | None = None
        self._stop = asyncio.Event()
        self._started: futures.Future[None] = futures.Future()
        self._ended: futures.Future[None] | None = None

    def start(self) -> None:
        """Begin to work, in a thread; returns once the worker works.

        Raises:
            ModelError, ConfigError, CriteriaError: a judge or a scheduled job cannot be used as configured.
            StorageError: the ledger, the lock files or the queue cannot be written.
            UserError: this process has a worker already.
        """
        self._grace = GRACE
        self._own = OwnLoop("areopage-worker")
        self._stop, self._started = asyncio.Event(), futures.Future()
        self._ended = asyncio.run_coroutine_threadsafe(self._live(), self._own.loop)
        futures.wait([self._started, self._ended], return_when=futures.FIRST_COMPLETED)
        if self._ended.done():
            self.stop()

    def stop(self, seconds: float = GRACE) -> None:
        """Begin nothing more, finish what is begun within the given seconds, and end. What cannot be finished is put back.

        May be called again meanwhile, from another thread: then the shorter wait counts, and the second call returns at once.

        Raises:
            AreopageError: the error that had ended the worker before.
        """
        self._grace = min(self._grace, seconds)
        own, self._own = self._own, None  # a second call only shortens the wait of the first
        if own is None or self._ended is None:
            return
        with suppress(RuntimeError):  # the loop is closed
            own.loop.call_soon_threadsafe(self._stop.set)
        try:
            self._ended.result()
        finally:
            own.stop(_nothing)

    def wake(self) -> None:
        """Let the worker look at the ledger at once, if it works: something was stored there."""
        own, worker = self._own, self._open
        if own is not None and worker is not None:
            with suppress(RuntimeError):  # the loop is closed
                own.loop.call_soon_threadsafe(worker.woken.set)

    def hurry(self) -> None:
        """Do not wait for what is begun, once `stop` is called."""
        self._grace = 0.0

    @property
    def alive(self) -> bool:
        """Whether it works."""
        return self._own is not None and self._ended is not None and not self._ended.done()

    async def _live(self) -> None:
        async with opening(self._ledger, self._work, self._pool, grace=lambda: self._grace) as coming:
            worker = self._open = await coming.opened()
            coming.share()
            stopping = asyncio.create_task(self._stop.wait())
            self._started.set_result(None)
            await asyncio.wait([stopping, *worker.loops], return_when=asyncio.FIRST_COMPLETED)
            stopping.cancel()


class OpenWorker:
    """A worker in the running event loop; see `opening`."""

    def __init__(self, presence: Presence, work: Work, engine: "Engine", recovery: "Recovery", pace: Pace) -> None:
        self.presence, self.engine = presence, engine
        self._work, self._recovery, self._pace = work, recovery, pace
        self._leading = asyncio.Lock()
        self.woken = asyncio.Event()
        """Set where the next regular look is not to be waited for."""
        self.loops = [asyncio.create_task(self._dispatching()), asyncio.create_task(self._beating())]
        """The worker's permanent tasks; unless cancelled, a task ends only by an error."""

    async def dispatch(self) -> bool:
        """Enqueue what is pending now, if this worker leads; returns whether there was anything.

        Raises:
            StorageError: the ledger or the queue cannot be used.
        """
        if not self.presence.leads:
            return False
        async with self._leading:
            return bool(await asyncio.to_thread(self._recovery.dispatch, len(self.presence.live)))

    async def is_alone(self) -> bool:
        """Whether no other process of the pool is alive now; sends a heartbeat.

        Raises:
            StorageError: the ledger cannot be used.
        """
        async with self._leading:
            await asyncio.to_thread(self.presence.beat, datetime.now(UTC))
        return len(self.presence.live) == 1

    async def end(self) -> None:
        """End the tasks.

        Raises:
            Exception: the fault by which one of them had ended.
        """
        done = [task for task in self.loops if task.done()]
        for task in self.loops:
            task.cancel()
        await asyncio.gather(*self.loops, return_exceptions=True)
        for task in done:
            if (fault := task.exception()) is not None:
                LOG.error("the worker ends: %s", fault)
                raise fault

    async def _dispatching(self) -> None:
        """Do the application's regular work; the leader enqueues what is pending."""
        trouble = ""
        while True:
            more = False
            try:
                more = await self._work.step()
                more = await self.dispatch() or more
                for handler in self._work.handlers:
                    if handler.woken():
                        await asyncio.to_thread(self.engine.wake, handler.name)
                trouble = ""
            except StorageError as fault:
                if str(fault) != trouble:
                    LOG.error("%s", fault)
                trouble = str(fault)
                await asyncio.sleep(self._pace.heartbeat)
            if more:
                await asyncio.sleep(0)
            else:
                await self._wait_for_look()

    async def _wait_for_look(self) -> None:
        """Wait until it is time to look again, or the worker is woken; those who wake it often wait for a while together."""
        least = min(LEAST_PAUSE, self._pace.dispatch)
        await asyncio.sleep(least)
        with suppress(TimeoutError):
            async with asyncio.timeout(self._pace.dispatch - least):
                await self.woken.wait()
        self.woken.clear()

    async def _beating(self) -> None:
        """Send heartbeats; the leader recovers what others left."""
        cleaned_at = time.monotonic()
        while True:
            await asyncio.sleep(self._pace.heartbeat)
            now = datetime.now(UTC)
            try:
                async with self._leading:
                    await asyncio.to_thread(_beat, self.presence, self._recovery, now)
                if self.presence.leads and time.monotonic() - cleaned_at >= self._pace.clean:
                    cleaned_at = time.monotonic()
                    await asyncio.to_thread(self.engine.clean, now)
            except StorageError as fault:
                LOG.error("%s", fault)


class Opening:
    """A worker that is opened in a thread, while it is alone only once it is needed; see `opening`."""

    def __init__(
        self, open_: Callable[[], "tuple[Engine, Recovery]"], presence: Presence, work: Work, pace: Pace, turn: Turn
    ) -> None:
        self._open, self._presence, self._work, self._pace, self._turn = open_, presence, work, pace, turn
        self._engine: Engine | None = None
        self._task: asyncio.Task[OpenWorker]
        self._needed = asyncio.Event()
        self._closing = False
        self.alone = False
        """Whether no other process has begun an item of the pool, and none can before `share` is called."""

    async def begin(self) -> None:
        """Begin to open the queue, or to wait until it is needed.

        Raises:
            StorageError: the ledger or the lock file cannot be used.
        """
        self.alone = self._turn.take() and await asyncio.to_thread(self._presence.is_first)
        self._task = asyncio.create_task(self._opened())

    async def _opened(self) -> OpenWorker:
        try:
            if self.alone:
                await self._until_needed()
            engine, recovery = await asyncio.to_thread(self._open_in_turn)
            self._engine = engine
        finally:
            if not self.alone:
                self._turn.pass_on()
        return OpenWorker(self._presence, self._work, engine, recovery, self._pace)

    async def _until_needed(self) -> None:
        """Send heartbeats until the queue is asked for here, or another process wants to take part."""
        clock = asyncio.get_running_loop().time
        beaten_at = -self._pace.heartbeat
        while not self._needed.is_set() and not self._turn.wanted:
            if clock() - beaten_at >= self._pace.heartbeat:
                beaten_at = clock()
                try:
                    await asyncio.to_thread(self._presence.beat, datetime.now(UTC))
                except StorageError as fault:
                    LOG.error("%s", fault)
            with suppress(TimeoutError):
                async with asyncio.timeout(_LOOK_FOR_OTHERS):
                    await self._needed.wait()
        self._needed.set()

    def _open_in_turn(self) -> "tuple[Engine, Recovery]":
        if self._closing or not self._turn.wait():
            raise InterruptedError
        return self._open()

    @property
    def is_needed(self) -> bool:
        """Whether the queue is open or being opened."""
        return not self.alone or self._needed.is_set()

    @property
    def is_open(self) -> bool:
        """Whether `opened` returns at once."""
        return self._task.done()

    async def opened(self) -> OpenWorker:
        """Open the queue, and wait until it is open.

        Raises:
            StorageError: the queue cannot be written.
        """
        self._needed.set()
        return await self.once_needed()

    async def once_needed(self) -> OpenWorker:
        """As `opened`, but a process that is alone waits until another one wants to take part.

        Raises:
            StorageError: the queue cannot be written.
        """
        return await asyncio.shield(self._task)

    async def is_last(self) -> bool:
        """Whether no other process takes part; at a SQLite ledger, none can begin to before `close`.

        Raises:
            StorageError: the ledger or the queue cannot be used.
        """
        worker = await self.opened()
        if self._turn.exists and not self._turn.take():
            return False  # another process opens the queue
        return await worker.is_alone()

    def share(self) -> None:
        """Let other processes begin items of the pool: what this one does is in the queue, and begun there."""
        self.alone = False
        self._turn.pass_on()

    async def close(self, grace: Callable[[], float]) -> None:
        """End the worker; one that is being opened once it is open.

        Raises:
            Exception: the fault by which one of the worker's tasks had ended.
        """
        self._closing = True
        self._needed.set()
        self._turn.give_up()
        await asyncio.wait([self._task])
        try:
            if self._task.exception() is None:
                await self._task.result().end()
        finally:
            if self._engine is not None:
                await self._engine.close(grace)
            self.share()


@asynccontextmanager
async def opening(ledger: Ledger, work: Work, pool: WorkerPool, *, grace: Callable[[], float] = float) -> AsyncIterator[Opening]:
    """Open a worker in the running event loop, which works until the block ends.

    Args:
        ledger, work, pool: as for `Worker`.
        grace: the seconds that what is begun may take at the end; asked again and again. By default none.

    Raises:
        StorageError: the ledger or the lock files cannot be written.
        UserError: this process has a worker already.
    """
    if not _one_worker.acquire(blocking=False):
        raise UserError("this process has a worker already: one is enough, raise its concurrency")
    try:
        async with _opening(ledger, work, pool, grace) as coming:
            yield coming
    finally:
        _one_worker.release()


@asynccontextmanager
async def _opening(ledger: Ledger, work: Work, pool: WorkerPool, grace: Callable[[], float]) -> AsyncIterator[Opening]:
    id = WorkerId(pool.folder, pool.name)
    presence = Presence(ledger, id, pool.name, dead_after=pool.dead_after, every=pool.pace.heartbeat)
    loop, turn = asyncio.get_running_loop(), Turn(ledger.engine.url, pool.name)
    coming = Opening(lambda: _open(ledger, work, pool.name, presence, loop), presence, work, pool.pace, turn)
    try:
        await work.open()
        await coming.begin()
        try:
            yield coming
        finally:
            await coming.close(grace)
    finally:
        turn.pass_on()
        await asyncio.to_thread(_leave, presence)
        await work.close()
        id.release()


def _open(
    ledger: Ledger, work: Work, pool: str, presence: Presence, loop: asyncio.AbstractEventLoop
) -> "tuple[Engine, Recovery]":
    """Open the queue, and look after what others left: the first heartbeat."""
    from areopage.work.engine import Engine
    from areopage.work.recovery import Recovery

    handlers = work.handlers
    engine = Engine(ledger.engine.url, presence.executor, handlers, work.jobs, pool=pool, loop=loop)
    try:
        recovery = Recovery(engine, handlers)
        _beat(presence, recovery, datetime.now(UTC))
    except BaseException:
        asyncio.run_coroutine_threadsafe(engine.close(), loop).result()
        raise
    return engine, recovery


def _beat(presence: Presence, recovery: "Recovery", now: datetime) -> None:
    """Send a heartbeat; the leader recovers what the dead had begun and enqueues what the queue does not hold."""
    presence.beat(now)
    live = len(presence.live)
    if not presence.leads:
        recovery.help(live)
        return
    for id in presence.mark_dead(now):
        LOG.warning("worker %s has ended or sends no heartbeat: its work is taken over", id)
    recovery.take_over(presence.live)
    recovery.scan(live)


def _leave(presence: Presence) -> None:
    try:
        presence.leave()
    except StorageError as fault:
        LOG.warning("the worker's end cannot be noted: %s", fault)


async def _nothing() -> None:
    """Nothing is left to be done last."""
