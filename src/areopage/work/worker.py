"""A worker: a process's engine with its heartbeats and, while it leads, the recovery; started, run and stopped as one.

It lives in a thread with an event loop of its own, beside a web server's or alone. What it has not done when it ends, however
it ends, goes on at the next start, here or elsewhere.
"""

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Callable, Sequence
from concurrent import futures
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from msgspec import Struct

from areopage.errors import StorageError
from areopage.ledger import Ledger
from areopage.models import OwnLoop
from areopage.work.handlers import Handler, ScheduledJob
from areopage.work.locks import exclusive
from areopage.work.workers import Presence, WorkerId

if TYPE_CHECKING:
    from areopage.work.engine import Engine
    from areopage.work.recovery import Recovery

LOG = logging.getLogger(__name__)
GRACE = 30.0
LEAST_PAUSE = 0.1


class WorkerPace(Struct, frozen=True, kw_only=True):
    """How often a worker does its regular work, in seconds.

    Args:
        dispatch: looks at the ledger, or asks whether it has changed.
        heartbeat: says that it lives; looks at the ledger also where no change was noticed.
        clean: removes from the queue what ended a while ago.
        closed: how long dbos sleeps at most until it notices that it is closed.
    """

    dispatch: float = 0.4
    heartbeat: float = 5.0
    clean: float = 60.0
    closed: float = 0.03


USUAL_PACE = WorkerPace()


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
    pace: WorkerPace = USUAL_PACE


class Work(Protocol):
    """What a worker works for: an application's handlers, and its other jobs, of which it may have none."""

    @property
    def handlers(self) -> Sequence[Handler]:
        """The handlers; read once `open` has returned."""
        ...

    @property
    def jobs(self) -> Sequence[ScheduledJob] | None:
        """The scheduled jobs, the same in all workers of the pool; None where the pool has none."""
        return None

    async def open(self) -> None:
        """Prepare; what it raises stops the start."""
        ...

    def changed(self) -> bool:
        """Whether `step` or the handlers may have something to do; asked more often than they are. It takes no time."""
        return True

    async def step(self) -> bool:
        """Do the application's regular work once; returns whether there may be more to do at once."""
        return False

    async def close(self) -> None:
        """Close what was opened."""
        ...


class Worker:
    """One worker; at most one per process. Its methods block, and may be called from any thread without an event loop."""

    def __init__(self, ledger: Ledger, work: Work, pool: WorkerPool) -> None:
        self._ledger, self._work, self._pool = ledger, work, pool
        self._grace = GRACE
        self._loop: OwnLoop | None = None
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
        self._loop = OwnLoop("areopage-worker")
        self._stop, self._started = asyncio.Event(), futures.Future()
        self._ended = asyncio.run_coroutine_threadsafe(self._live(), self._loop.loop)
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
        thread, self._loop = self._loop, None  # a second call only shortens the wait of the first
        if thread is None or self._ended is None:
            return
        with suppress(RuntimeError):  # the loop is closed
            thread.loop.call_soon_threadsafe(self._stop.set)
        try:
            self._ended.result()
        finally:
            thread.stop(_nothing)

    def wake(self) -> None:
        """Let the worker look at the ledger at once, if it works: something was stored there."""
        thread, worker = self._loop, self._open
        if thread is not None and worker is not None:
            with suppress(RuntimeError):  # the loop is closed
                thread.loop.call_soon_threadsafe(worker.woken.set)

    def hurry(self) -> None:
        """Do not wait for what is begun, once `stop` is called."""
        self._grace = 0.0

    @property
    def alive(self) -> bool:
        """Whether it works."""
        return self._loop is not None and self._ended is not None and not self._ended.done()

    async def _live(self) -> None:
        async with open_worker(self._ledger, self._work, self._pool, grace=lambda: self._grace) as worker:
            self._open = worker
            stopping = asyncio.create_task(self._stop.wait())
            self._started.set_result(None)
            await asyncio.wait([stopping, *worker.loops], return_when=asyncio.FIRST_COMPLETED)
            stopping.cancel()


class OpenWorker:
    """A worker in the running event loop; see `open_worker`."""

    def __init__(
        self,
        ledger: Ledger,
        presence: Presence,
        work: Work,
        pool: WorkerPool,
        engine: "Engine",
        recovery: "Recovery",
        until_closed: AsyncExitStack,
    ) -> None:
        self.presence, self.engine = presence, engine
        self._ledger, self._work, self._pool, self._pace = ledger, work, pool, pool.pace
        self._recovery, self._until_closed = recovery, until_closed
        self._leading = asyncio.Lock()
        self.woken = asyncio.Event()
        """Set where the next regular look is not to be waited for."""
        self.loops = [asyncio.create_task(self._dispatching()), asyncio.create_task(self._beating())]
        """The worker's permanent tasks; unless cancelled, a task ends only by an error."""

    async def dispatch(self) -> bool:
        """Enqueue what is pending now, if this worker leads; returns whether there was anything."""
        if not self.presence.leads:
            return False
        async with self._leading:
            return bool(await asyncio.to_thread(self._recovery.dispatch, len(self.presence.live)))

    async def remove_queues(self) -> None:
        """Remove the queues of the pool with what has ended in them, unless another process takes part.

        None begins to before this worker is closed.
        """
        await self._until_closed.enter_async_context(exclusive(self._ledger, self._pool.name))
        async with self._leading:
            await asyncio.to_thread(self.presence.beat, datetime.now(UTC))
        if len(self.presence.live) == 1:
            for handler in self._work.handlers:
                await asyncio.to_thread(self.engine.remove_queue, handler.name)

    async def end(self) -> None:
        """End the tasks, and raise the fault by which one of them had ended."""
        done = [task for task in self.loops if task.done()]
        for task in self.loops:
            task.cancel()
        await asyncio.gather(*self.loops, return_exceptions=True)
        for task in done:
            if (fault := task.exception()) is not None:
                LOG.error("the worker ends: %s", fault)
                raise fault

    async def _dispatching(self) -> None:
        trouble, next_look = "", 0.0
        while True:
            changed, began = self._work.changed(), time.monotonic()
            if changed or self.woken.is_set() or began >= next_look:
                self.woken.clear()
                next_look = began + self._pace.heartbeat
                try:
                    more, trouble = await self._look(), ""
                    if more:
                        next_look = 0.0
                        await asyncio.sleep(0)
                        continue
                except StorageError as fault:
                    if str(fault) != trouble:
                        LOG.error("%s", fault)
                    trouble, next_look = str(fault), 0.0
                    await asyncio.sleep(self._pace.heartbeat)
            await self._pause()

    async def _look(self) -> bool:
        """Do the application's regular work and enqueue what is pending; whether there may be more."""
        more = await self._work.step()
        more = await self.dispatch() or more
        for handler in self._work.handlers:
            if handler.woken():
                await asyncio.to_thread(self.engine.wake, handler.name)
        return more

    async def _pause(self) -> None:
        """Wait for the next look, or until the worker is woken; those who wake it often wait for a while together."""
        since, least = time.monotonic(), min(LEAST_PAUSE, self._pace.dispatch)
        with suppress(TimeoutError):
            async with asyncio.timeout(self._pace.dispatch):
                await self.woken.wait()
        await asyncio.sleep(max(0.0, since + least - time.monotonic()))

    async def _beating(self) -> None:
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


@asynccontextmanager
async def open_worker(
    ledger: Ledger, work: Work, pool: WorkerPool, *, grace: Callable[[], float] = float
) -> AsyncIterator[OpenWorker]:
    """Open a worker in the running event loop, which works until the block ends.

    Args:
        ledger, work, pool: as for `Worker`.
        grace: the seconds that what is begun may take at the end; asked again and again. By default none.
    """
    async with AsyncExitStack() as closing:
        id = WorkerId(pool.folder, pool.name)
        closing.callback(id.release)
        presence = Presence(ledger, id, pool.name, dead_after=pool.dead_after, every=pool.pace.heartbeat)
        closing.push_async_callback(work.close)
        await work.open()
        closing.push_async_callback(asyncio.to_thread, presence.leave)
        async with exclusive(ledger, pool.name):  # who removes the queues knows from now on that they are used
            await asyncio.to_thread(presence.beat, datetime.now(UTC))
        loop = asyncio.get_running_loop()
        opening = asyncio.ensure_future(asyncio.to_thread(_open, ledger, work, pool, presence, loop))
        try:
            worker = OpenWorker(ledger, presence, work, pool, *await asyncio.shield(opening), closing)
            try:
                yield worker
            finally:
                await worker.end()
        finally:
            await asyncio.wait([opening])  # a thread that opens the queue cannot be cancelled
            if opening.exception() is None:
                await opening.result()[0].close(grace)


def _open(
    ledger: Ledger, work: Work, pool: WorkerPool, presence: Presence, loop: asyncio.AbstractEventLoop
) -> "tuple[Engine, Recovery]":
    from areopage.work.engine import Engine
    from areopage.work.recovery import Recovery

    handlers = work.handlers
    closed = pool.pace.closed
    engine = Engine(ledger.engine.url, presence.executor, handlers, work.jobs, pool=pool.name, loop=loop, closed_within=closed)
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


async def _nothing() -> None:
    """Nothing is left to be done last."""
