"""What a worker does between its start and its end, in one event loop."""

import asyncio
import logging
import os
import time
from collections.abc import Callable, Sequence
from concurrent import futures
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from typing import TYPE_CHECKING, TypeVar

import msgspec
from msgspec import Struct

from areopage.errors import MissingExtra, ServerDown, StorageError
from areopage.ledger.evaluations import Evaluations
from areopage.ledger.operations import Worker, Workers
from areopage.ledger.store import Ledger
from areopage.monitor.attempts import Attempts
from areopage.monitor.config import MonitorConfig
from areopage.monitor.due import Due
from areopage.monitor.duties import Duty
from areopage.monitor.evaluate import Evaluator
from areopage.monitor.progress import Progressing
from areopage.monitor.quality_judge import QualityJudge
from areopage.monitor.slots import Slot
from areopage.monitor.spool import Spool
from areopage.monitor.submit import Intake

if TYPE_CHECKING:
    from areopage.monitor.queue import DurableQueue
    from areopage.monitor.takeover import TakeOver

LOG = logging.getLogger(__name__)
CLAIMED_AHEAD = 16
"""Evaluations that a worker takes from the queue before it can begin them, so that it need not wait for the next look."""

LEDGER_THREADS = 4
BEATS_MISSED = 2.5
T = TypeVar("T")


class Pace(Struct, frozen=True, kw_only=True):
    """How often things are looked at, in seconds."""

    dispatch: float = 0.2
    beat: float = 5.0
    clean: float = 60.0
    judge_down: float = 15.0


class Shift:
    """One worker's work. It belongs to one event loop, but for `_evaluate` and `_tick`, which the queue calls in threads."""

    def __init__(
        self,
        ledger: Ledger,
        config: MonitorConfig,
        judge: QualityJudge,
        duties: Sequence[Duty],
        pace: Pace,
        progress: Progressing,
    ) -> None:
        self._ledger, self._config, self._judge, self._duties = ledger, config, judge, duties
        self._pace, self._progress, self._section = pace, progress, config.section.worker
        self._evaluations, self._workers = Evaluations(ledger), Workers(ledger)
        self._due = Due(Attempts(self._evaluations, self._section), self._section.concurrency)
        self._spool, self._intake = Spool(config.spool), Intake(ledger, config.section.sampling)
        self._loop = asyncio.get_running_loop()
        # SQLite takes one writer at a time: they queue here rather than at its lock
        self._threads = ThreadPoolExecutor(
            1 if ledger.engine.dialect.name == "sqlite" else LEDGER_THREADS, thread_name_prefix="areopage-ledger"
        )
        self._gate = asyncio.Semaphore(self._section.concurrency)
        self._running: set[asyncio.Task[object]] = set()
        self._evaluator: Evaluator | None = None
        self._queue: DurableQueue | None = None
        self._takeover: TakeOver | None = None
        self._seated = False
        self._leads = False
        self._live = 1
        self._cleaned_at = time.monotonic()
        self._closing = False

    async def work(self, started: "futures.Future[None]", stop: asyncio.Event, grace: Callable[[], float]) -> None:
        """Work until told to stop.

        Args:
            started: is given its result once the work has begun; an exception before that is the start's.
            stop: tells to stop.
            grace: how many seconds what is begun may take from then on; asked again and again.
        """
        slot = Slot(self._config.spool / "slots")
        now = datetime.now(UTC)
        worker = Worker(id=slot.name, host=slot.host, process=os.getpid(), started_at=now, seen_at=now, state="alive")
        try:
            await self._open(worker)
            loops = [asyncio.create_task(self._dispatching(worker)), asyncio.create_task(self._beating(worker))]
            stopping = asyncio.create_task(stop.wait())
            if not started.done():
                started.set_result(None)
            done, _ = await asyncio.wait([stopping, *loops], return_when=asyncio.FIRST_COMPLETED)
            for task in (stopping, *loops):
                task.cancel()
            await asyncio.gather(stopping, *loops, return_exceptions=True)
            await self._close(grace)
            for task in done:
                fault = task.exception()  # a loop ends by itself only by a fault
                if fault is not None:
                    LOG.error("the worker ends: %s", fault)
                    raise fault
        finally:
            await self._leave(worker)
            slot.release()

    # --- the beginning and the end

    async def _open(self, worker: Worker) -> None:
        """Check the judges and open the queue. Duties begin at once; evaluations wait for the judges."""
        await self._seat()
        self._evaluator = Evaluator(self._ledger, self._judge, self._config, self._threads)
        await asyncio.to_thread(self._open_queue, worker, self._evaluator)
        await asyncio.to_thread(self._beat, worker, first=True)

    async def _seat(self) -> None:
        """Check the judges; they are not seated while the server of one is down, which may pass."""
        try:
            await self._judge.check()
        except ServerDown as fault:
            if self._queue is None:  # once
                LOG.warning("a judge cannot be reached; what is submitted is kept meanwhile: %s", fault)
            return
        await self._in_thread(lambda: self._ledger.put_panel(self._judge.run()))
        if self._queue is not None:
            self._queue.take_evaluations()
        self._seated = True

    def _open_queue(self, worker: Worker, evaluator: Evaluator) -> None:
        try:
            from areopage.monitor.queue import DurableQueue, Tick
            from areopage.monitor.takeover import TakeOver, executor_of
        except ModuleNotFoundError:
            raise MissingExtra("a worker of the monitor", "monitor") from None

        def tick(duty: Duty) -> Tick:
            return Tick(schedule=duty.schedule, run=lambda due_at: self._tick(duty, due_at))

        self._queue = DurableQueue(
            self._ledger.engine.url,
            executor_of(worker),
            claims=self._section.concurrency + min(self._section.concurrency, CLAIMED_AHEAD),
            rate_limit=self._section.rate_limit,
            evaluate=self._evaluate,
            evaluations=self._seated,
            duties={duty.name: tick(duty) for duty in self._duties},
        )
        self._takeover = TakeOver(self._queue, evaluator.attempts)

    async def _close(self, grace: Callable[[], float]) -> None:
        """Take nothing more; what is begun has so long, then it is put back."""
        if self._queue is None:
            return
        cut = asyncio.create_task(self._cut(time.monotonic(), grace))
        # the queue waits for those that are cut off, too
        await asyncio.to_thread(self._queue.close, int(grace()) + 5)
        cut.cancel()

    async def _cut(self, since: float, grace: Callable[[], float]) -> None:
        while time.monotonic() < since + grace():  # noqa: ASYNC110 - the grace may be cut short meanwhile
            await asyncio.sleep(0.05)
        self._closing = True
        for task in self._running:
            task.cancel()

    async def _leave(self, worker: Worker) -> None:
        try:
            await self._in_thread(lambda: self._workers.mark(worker.id, "stopped"))
        except StorageError as fault:
            LOG.warning("the worker's end cannot be noted: %s", fault)
        await self._judge.aclose()
        await asyncio.to_thread(self._threads.shutdown)

    # --- what goes on all the time

    async def _dispatching(self, worker: Worker) -> None:
        """Take the spool over, and queue what is due."""
        asked_at = time.monotonic()
        trouble = ""
        while True:
            moved = False
            try:
                if not self._seated and time.monotonic() - asked_at >= self._pace.judge_down:
                    asked_at = time.monotonic()
                    await self._seat()
                moved = await self._dispatch()
                trouble = ""
            except StorageError as fault:
                if str(fault) != trouble:
                    LOG.error("%s", fault)
                trouble = str(fault)
                await asyncio.sleep(self._pace.beat)
            await asyncio.sleep(0 if moved else self._pace.dispatch)

    async def _dispatch(self) -> bool:
        """One round; returns whether there may be more to do at once."""
        drained = await self._in_thread(lambda: self._spool.drain(self._intake.submit))
        if drained.rejected:
            LOG.warning("%d lines of the spool cannot be read: see %s", drained.rejected, self._config.spool / "rejected")
        if (queue := self._queue) is None or not self._seated:
            return drained.taken > 0
        due = await self._in_thread(lambda: self._due.take(leads=self._leads, live=self._live))
        if due:
            # queued first, noted then: a crash in between queues them again, which the queue notices
            await asyncio.to_thread(queue.enqueue, due)
            await self._in_thread(lambda: self._evaluations.queued([id for id, _ in due]))
        return bool(due) or drained.taken > 0

    async def _beating(self, worker: Worker) -> None:
        """Send a heartbeat, and look after what the dead left."""
        while True:
            await asyncio.sleep(self._pace.beat)
            try:
                await asyncio.to_thread(self._beat, worker)
            except StorageError as fault:
                LOG.error("%s", fault)

    def _beat(self, worker: Worker, *, first: bool = False) -> None:
        from areopage.monitor.takeover import executor_of, leader_of, live_executors

        now = datetime.now(UTC)
        self._workers.beat(msgspec.structs.replace(worker, seen_at=now))
        known, me, dead_after = self._workers.list(), executor_of(worker), self._section.dead_after
        live = live_executors(known, now, dead_after) | {me}
        self._live = len(live)
        self._leads = leader_of(known, now, min(dead_after, BEATS_MISSED * self._pace.beat)) in ("", worker.id)
        if self._takeover is None or self._queue is None or not self._leads:
            return
        for other in self._workers.silent(datetime.fromtimestamp(now.timestamp() - dead_after, UTC)):
            if other.id != worker.id:
                LOG.warning("worker %s sends no heartbeat: its work is taken over", other.id)
                self._workers.mark(other.id, "taken_over")
        self._takeover.orphans(live, now)
        self._takeover.lost(now, alone=first and live == {me})
        if time.monotonic() - self._cleaned_at >= self._pace.clean:
            self._cleaned_at = time.monotonic()
            self._queue.clean(now, self._section.rate_limit.seconds if self._section.rate_limit else 0.0)

    # --- what the queue calls, each in a thread of its own

    def _evaluate(self, id: str, attempt: int) -> None:
        """Make one attempt at an answer in the event loop, and wait for its end."""
        from areopage.monitor.queue import Interrupted

        future = asyncio.run_coroutine_threadsafe(self._attempt(id, attempt), self._loop)
        try:
            fault = future.exception()
        except futures.CancelledError:
            raise Interrupted from None
        if isinstance(fault, StorageError):
            LOG.error("answer %s: %s", id, fault)  # it is missed in the queue after a while, and put back
        elif fault is not None and self._evaluator is not None:
            LOG.error("answer %s: %s: %s", id, type(fault).__name__, fault, exc_info=fault)
            self._evaluator.attempts.failed(id, attempt, f"{type(fault).__name__}: {fault}", datetime.now(UTC))

    async def _attempt(self, id: str, attempt: int) -> None:
        evaluator, task = self._evaluator, asyncio.current_task()
        if self._closing or evaluator is None or task is None:
            raise asyncio.CancelledError
        self._running.add(task)
        try:
            async with self._gate:
                self._progress.add(await evaluator.evaluate(id, attempt))
        except asyncio.CancelledError:
            now = datetime.now(UTC)
            await self._in_thread(lambda: evaluator.attempts.put_back(id, attempt, "its worker was stopped", now))
            raise
        finally:
            self._running.discard(task)

    def _tick(self, duty: Duty, due_at: datetime) -> None:
        """Carry a duty out; one that fails is named, and stops nothing else."""
        from areopage.monitor.queue import Interrupted

        async def run() -> None:
            await duty.run(due_at)

        future = asyncio.run_coroutine_threadsafe(run(), self._loop)
        try:
            fault = future.exception()
        except futures.CancelledError:
            raise Interrupted from None
        if fault is not None:
            known = isinstance(fault, StorageError)
            LOG.error("duty %s failed: %s: %s", duty.name, type(fault).__name__, fault, exc_info=None if known else fault)

    async def _in_thread(self, work: Callable[[], T]) -> T:
        return await self._loop.run_in_executor(self._threads, work)
