"""The engine: runs in this process what is in the queue, and fires scheduled jobs.

A process has at most one engine. dbos calls a run in a thread, which waits for the handler's coroutine in the caller's event
loop.
"""

import asyncio
import logging
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent import futures
from contextlib import contextmanager
from datetime import datetime
from typing import Any

from dbos import DBOS, DBOSConfig
from sqlalchemy import URL

from areopage.errors import StorageError, UserError
from areopage.work.database import ShortLog
from areopage.work.handlers import Finished, Handler, ItemOutcome, ItemRun, JobRun, Retry, ScheduledJob
from areopage.work.queue import JOBS, Queue

LOG = logging.getLogger(__name__)
STORAGE_PAUSE = 5.0
RECORDED_WITHIN = 5.0
CANCEL_AGAIN = 1.0
CLOSED_WITHIN = 0.03


class Interrupted(BaseException):
    """A run ends without a result and stays begun. No `Exception`, which dbos would record as a result."""


class Engine(Queue):
    """An open queue. Its methods block and may be called from any thread without an event loop, but for `close`."""

    def __init__(
        self,
        ledger: URL,
        executor: str,
        handlers: Sequence[Handler],
        jobs: Sequence[ScheduledJob] | None = None,
        *,
        pool: str,
        loop: asyncio.AbstractEventLoop,
        closed_within: float = CLOSED_WITHIN,
    ) -> None:
        """Open the queue and begin to run in a running loop what is in the queues of the handlers, and in no other.

        Args:
            executor: the id of this process's start, unlike any other.
            jobs: the scheduled jobs, the same in all processes of a pool; None where this pool has none.
            closed_within: how long dbos sleeps, in seconds, until it notices that it is closed. It has nothing to look at then.
        """
        super().__init__(ledger, handlers, jobs, pool)
        self.executor, self.loop = executor, loop
        self._limits = {handler.name: asyncio.Semaphore(handler.concurrency) for handler in handlers}
        self._running: dict[str, asyncio.Task[Any]] = {}
        self._waiting: set[str] = set()
        self._interrupted: set[str] = set()
        self._closing = False
        self._released = threading.Event()
        self._log = ShortLog(self._place)
        logger = logging.getLogger("dbos")
        if not logger.handlers:  # else dbos would write to the console
            logger.addHandler(logging.NullHandler())
        with self._errors():
            self._launch(handlers, closed_within)

    # --- open and close

    def _launch(self, handlers: Sequence[Handler], closed_within: float) -> None:
        config: DBOSConfig = {
            "name": self.application,
            "application_version": self.application,
            "executor_id": self.executor,
            "system_database_url": self.location,
            "system_database_engine": self._database,
            "serializer": self._serializer,
            "use_listen_notify": False,
            "notification_listener_polling_interval_sec": closed_within,
            "log_level": "WARNING",
        }
        DBOS(config=config)  # returns the instance that is there
        if DBOS.executor_id != self.executor:
            self._database.dispose()
            raise UserError("this process has a worker already: one is enough, raise its concurrency")
        logging.getLogger("dbos").addFilter(self._log)
        try:
            for handler in handlers:
                DBOS.workflow(name=handler.name)(self._workflow_of(handler))

            @DBOS.workflow(name=JOBS)
            def scheduled_job(due_at: datetime, name: str) -> None:
                self._run_job(due_at, name)

            self.connect()  # before the launch: a queue that comes later is looked at a second later
            DBOS.listen_queues(self.queues)
            DBOS.launch()
        except BaseException:
            self._shut()
            raise

    async def close(self, grace: Callable[[], float] = float) -> None:
        """Begin nothing more, give what is begun time to end, then interrupt it and enqueue it again, and close."""
        self._closing = True
        since = time.monotonic()
        try:
            for key in self._waiting:
                self._running[key].cancel()
            while self._running and time.monotonic() < since + grace():  # noqa: ASYNC110 - the grace may be cut short
                await asyncio.sleep(0.02)
            while self._running:  # again and again: a handler may miss a cancellation that meets a fault
                tasks = list(self._running.values())
                for task in tasks:
                    task.cancel()
                await asyncio.wait(tasks, timeout=CANCEL_AGAIN)
        finally:  # dbos's threads would keep the process alive
            await asyncio.to_thread(self._end)

    def _end(self) -> None:
        """Wait until dbos has recorded the ends of runs, which it does after the handler's return, and shut it."""
        until, recorded = time.monotonic() + RECORDED_WITHIN, False
        try:
            while not recorded and time.monotonic() < until:
                mine = {begun.key for begun in self.begun() if begun.executor == self.executor}
                recorded = mine <= self._interrupted
                if not recorded:
                    time.sleep(0.02)
        except StorageError as fault:
            LOG.warning("%s", fault)
        self._shut()

    def _shut(self) -> None:
        """Stop dbos; then, as nothing can be claimed any more, enqueue again what was begun and has not ended."""
        DBOS.destroy(destroy_registry=True, workflow_completion_timeout_sec=0)
        try:
            if self._closing:
                self._put_back()
        except StorageError as fault:
            LOG.warning("%s", fault)
        finally:
            self._released.set()
            logging.getLogger("dbos").removeFilter(self._log)
            self._database.dispose()

    def _put_back(self) -> None:
        for begun in self.begun():
            if begun.executor == self.executor:
                if isinstance(begun.run, ItemRun):
                    self.enqueue_runs([begun.run.again()])
                elif isinstance(begun.run, JobRun):
                    self.enqueue_job(begun.run)
                self.forget([begun.key])

    # --- runs in this process

    def _workflow_of(self, handler: Handler) -> Callable[[str], None]:
        def workflow(key: str) -> None:
            run = ItemRun.parse(key)
            if run is None or run.handler != handler.name:
                LOG.error("%s: the run %r cannot be read", self._place, key[:200])
                return
            outcome = self._wait_for(key, self._attempt(handler, run))
            if not isinstance(outcome, Retry):
                return
            following = run.retried() if outcome.counted else run.again()
            pause = handler.backoff.pause(following.attempt) if outcome.after is None else outcome.after
            try:  # the next run is enqueued before this one ends, so that the item is never missing
                self.enqueue_runs([following], pause)
            except StorageError as fault:
                LOG.error("%s %s: %s", run.handler, run.item, fault)
                raise Interrupted from None  # it stays begun, which the recovery notices

        return workflow

    def _wait_for(self, key: str, work: Any) -> Any:
        """Run a coroutine in the loop and wait; where it is cancelled, the run stays begun until the engine is closed."""
        try:
            return asyncio.run_coroutine_threadsafe(work, self.loop).result()
        except futures.CancelledError:
            self._interrupted.add(key)
            self._released.wait()
            raise Interrupted from None

    async def _attempt(self, handler: Handler, run: ItemRun) -> ItemOutcome:
        """Run an item once; a fault is a failed attempt, but for one of the storage."""
        with self._running_as(run.key):
            self._waiting.add(run.key)
            try:
                async with self._limits[handler.name]:
                    self._waiting.discard(run.key)
                    try:
                        outcome = await handler.run(run.item, run.attempt)
                    except StorageError:
                        raise
                    except Exception as fault:
                        LOG.exception("%s %s: %s: %s", handler.name, run.item, type(fault).__name__, fault)
                        outcome = Retry(reason=f"{type(fault).__name__}: {fault}")
                if isinstance(outcome, Retry) and outcome.counted and run.attempt + 1 >= handler.attempts:
                    await asyncio.get_running_loop().run_in_executor(None, handler.gave_up, run.item, outcome.reason)
                    return Finished()
                return outcome
            except StorageError as fault:
                LOG.error("%s %s: %s", handler.name, run.item, fault)
                return Retry(reason=str(fault), after=STORAGE_PAUSE, counted=False)
            finally:
                self._waiting.discard(run.key)

    @contextmanager
    def _running_as(self, key: str) -> Iterator[None]:
        """Note this task as a run of this process; none begins once the engine closes."""
        task = asyncio.current_task()
        if self._closing or task is None:
            raise asyncio.CancelledError
        self._running[key] = task
        try:
            yield
        finally:
            self._running.pop(key, None)

    def _run_job(self, due_at: datetime, name: str) -> None:
        job = self._jobs.get(name)
        if job is None:
            return
        key = DBOS.workflow_id or f"{name} {due_at}"

        async def work() -> None:
            with self._running_as(key):
                try:
                    await job.run(due_at)
                except StorageError as fault:
                    LOG.error("scheduled job %s failed: %s", name, fault)
                except Exception as fault:
                    LOG.exception("scheduled job %s failed: %s: %s", name, type(fault).__name__, fault)

        self._wait_for(key, work())

    @property
    def closed(self) -> bool:
        """Whether it is closed."""
        return self._released.is_set()

    def is_running(self, key: str) -> bool:
        """Whether a run with this id is in the loop of this process."""
        return key in self._running
