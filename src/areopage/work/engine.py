"""The only module that knows dbos: it holds the queue, starts runs in this process, and fires scheduled jobs.

Its state is disposable: the ledger says what is to be done, and what is lost here is enqueued again from there. A process has
at most one engine. dbos calls a run in a thread, which waits for the handler's coroutine in the event loop of the caller.
"""

import asyncio
import logging
import threading
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent import futures
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any

from dbos import DBOS, DBOSClient, DBOSConfig, DBOSPortableJSONSerializer, error
from filelock import FileLock
from msgspec import Struct
from sqlalchemy import URL
from sqlalchemy.exc import SQLAlchemyError

from areopage.digest import digest_of
from areopage.errors import ConfigError, StorageError, UserError
from areopage.ledger.connection import shown, storage_errors
from areopage.work import guard
from areopage.work.database import ShortLog, queue_engine, queue_url
from areopage.work.handlers import Finished, Handler, JobRun, Outcome, Retry, Run, ScheduledJob

LOG = logging.getLogger(__name__)
JOBS = "scheduled_jobs"
JOB_RUNS = 3
"""How often one occurrence of a job is begun where workers die of it."""
SUSPECT_AFTER = 2
"""An item at which so many workers died in a row is run alone: it may be what ends them."""
JOBS_AT_ONCE = 4
JOBS_POLLING = 0.5
SUSPECTS_POLLING = 0.5
STORAGE_PAUSE = 5.0
ENDED_KEPT = 300.0
JOBS_KEPT = 86_400.0
RECORDED_WITHIN = 5.0
IDS_AT_ONCE = 500
DELETED_AT_ONCE = 2_000
OPEN = ["ENQUEUED", "DELAYED", "PENDING"]
ENDED = ["SUCCESS", "ERROR", "CANCELLED", "MAX_RECOVERY_ATTEMPTS_EXCEEDED"]


class Interrupted(BaseException):
    """A run ends without a result and stays begun. No `Exception`, which dbos would record as a result."""


class Begun(Struct, frozen=True, kw_only=True):
    """A run that an executor has begun and not ended; `run` is None where the id is no run of this engine's handlers and jobs."""

    key: str
    executor: str
    run: Run | JobRun | None


class Engine:
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
    ) -> None:
        """Open the queue and begin to run what is in the queues of the handlers, and in no other.

        Args:
            ledger: the ledger's database.
            executor: the id of this process's start, unlike any other.
            handlers: by whom items are run.
            jobs: the scheduled jobs, the same in all processes of a pool; None where this pool has none.
            pool: the worker pool: processes with the same handlers, which recover each other's work.
            loop: the running loop in which handlers run.

        Raises:
            ConfigError: a job's schedule is no cron expression.
            StorageError: the queue's database cannot be used.
            UserError: this process has an engine already, or dbos is of an unsupported version.
        """
        guard.install()
        self.executor = executor
        self._url, self.loop = queue_url(ledger), loop
        self._place = shown(self._url)
        self._application = f"areopage-{digest_of(pool)[:16]}"  # dbos takes no other characters
        self._handlers = {one.name: one for one in handlers}
        self._jobs = {one.name: one for one in jobs or ()}
        self._limits = {one.name: asyncio.Semaphore(one.concurrency) for one in handlers}
        self._running: dict[str, asyncio.Task[Any]] = {}
        self._waiting: set[str] = set()
        self._interrupted: set[str] = set()
        self._closing = False
        self._released = threading.Event()
        self._serializer = DBOSPortableJSONSerializer()
        logger = logging.getLogger("dbos")
        if not logger.handlers:  # else dbos would write to the console by itself
            logger.addHandler(logging.NullHandler())
        self._log = ShortLog(self._place)
        self._database = queue_engine(ledger)
        with self._errors():
            self._launch(scheduled=jobs is not None)

    # --- open and close

    def _launch(self, *, scheduled: bool) -> None:
        config: DBOSConfig = {
            "name": self._application,
            "application_version": self._application,  # fixed: what was enqueued before an update is run after it
            "executor_id": self.executor,
            "system_database_url": self.location,
            "system_database_engine": self._database,
            "serializer": self._serializer,
            "use_listen_notify": False,
            "log_level": "WARNING",
        }
        DBOS(config=config)  # returns the instance that is there
        if DBOS.executor_id != self.executor:
            self._database.dispose()
            raise UserError("this process has a worker already: one is enough, raise its concurrency")
        logging.getLogger("dbos").addFilter(self._log)
        try:
            self._client = self._connected()
            self._register(scheduled)
            queues = [name for one in self._handlers.values() for name in (one.queue_name, one.suspects)]
            DBOS.listen_queues([*queues, *([JOBS] if scheduled else [])])
            DBOS.launch()
        except BaseException:
            self._shut()
            raise

    def _connected(self) -> DBOSClient:
        """A client of the queue's database, whose tables are made where they are missing."""

        def connect() -> DBOSClient:
            client = DBOSClient(
                system_database_engine=self._database,
                serializer=self._serializer,
                application_name=self._application,
                retry_connection_errors=False,
            )
            client.list_queues()
            return client

        try:
            return connect()
        except (SQLAlchemyError, error.DBOSException):
            if self._database.dialect.name != "sqlite":
                DBOS.migrate(self.location)
                return connect()
        with FileLock(f"{self._url.database}.lock"):
            DBOS.migrate(self.location)
        return connect()

    def _register(self, scheduled: bool) -> None:
        """Register workflows and queues before the launch: a queue that comes later is looked at a second later."""
        for handler in self._handlers.values():
            DBOS.workflow(name=handler.name)(self._workflow_of(handler))
            limit = handler.rate_limit
            self._client.register_queue(
                handler.queue_name,
                worker_concurrency=handler.concurrency + min(handler.concurrency, handler.ahead),
                limiter={"limit": limit.items, "period": limit.seconds} if limit else None,
                polling_interval_sec=handler.polling,
            )
            self._client.register_queue(handler.suspects, global_concurrency=1, polling_interval_sec=SUSPECTS_POLLING)
        if not scheduled:
            return

        def scheduled_job(due_at: datetime, name: str) -> None:
            self._run_job(due_at, name)

        DBOS.workflow(name=JOBS)(scheduled_job)
        self._client.register_queue(JOBS, worker_concurrency=JOBS_AT_ONCE, polling_interval_sec=JOBS_POLLING)
        for job in self._jobs.values():
            self._schedule(job)
        for known in self._client.list_schedules():
            if known["schedule_name"] not in self._jobs:
                self._client.delete_schedule(known["schedule_name"])

    def _schedule(self, job: ScheduledJob) -> None:
        try:
            self._client.apply_schedules(
                [
                    {
                        "schedule_name": job.name,
                        "workflow_name": JOBS,
                        "schedule": job.schedule,
                        "context": job.name,
                        "queue_name": JOBS,
                    }
                ]
            )
        except error.DBOSException:
            message = f"{job.schedule!r} is no cron expression: write e.g. '0 6 * * *'"
            raise ConfigError(message, path="areopage.yml", key=f"the schedule of {job.name}") from None

    async def close(self, grace: Callable[[], float] = float) -> None:
        """Begin nothing more, give what is begun time to end, then interrupt it and enqueue it again, and close.

        Args:
            grace: the seconds from now on; asked again and again. By default none.
        """
        self._closing = True
        since = time.monotonic()
        for key in self._waiting:
            self._running[key].cancel()
        while self._running and time.monotonic() < since + grace():  # noqa: ASYNC110 - the grace may be cut short
            await asyncio.sleep(0.02)
        for task in self._running.values():
            task.cancel()
        if self._running:
            await asyncio.wait(list(self._running.values()))
        await asyncio.to_thread(self._end)

    def _end(self) -> None:
        try:
            with self._errors():
                self._wait_for_records()
        except StorageError as fault:
            LOG.warning("%s", fault)
        self._shut()

    def _wait_for_records(self) -> None:
        """Wait until dbos has recorded the ends of runs: it does so after the handler's return."""
        until = time.monotonic() + RECORDED_WITHIN
        while time.monotonic() < until:
            mine = {one.key for one in self.begun() if one.executor == self.executor}
            if mine <= self._interrupted:
                return
            time.sleep(0.02)

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
        for one in self.begun():
            if one.executor == self.executor:
                if isinstance(one.run, Run):
                    self.enqueue_runs([one.run.again()])
                elif isinstance(one.run, JobRun):
                    self.enqueue_job(one.run)
                self.forget([one.key])

    # --- runs in this process

    def _workflow_of(self, handler: Handler) -> Callable[[str], None]:
        def workflow(key: str) -> None:
            run = Run.parse(key)
            if run is None or run.handler != handler.name:
                LOG.error("%s: the run %r cannot be read", self._place, key[:200])
                return
            outcome = self._wait_for(key, self._attempt(handler, run))
            if isinstance(outcome, Retry):
                self._retry(handler, run, outcome)

        return workflow

    def _wait_for(self, key: str, work: Any) -> Any:
        """Run a coroutine in the loop and wait; where it is cancelled, the run stays begun until the engine is closed."""
        try:
            return asyncio.run_coroutine_threadsafe(work, self.loop).result()
        except futures.CancelledError:
            self._interrupted.add(key)
            self._released.wait()
            raise Interrupted from None

    async def _attempt(self, handler: Handler, run: Run) -> Outcome:
        """Run an item once; a fault is a failed attempt, but for one of the storage."""
        task = asyncio.current_task()
        if self._closing or task is None:
            raise asyncio.CancelledError
        self._running[run.key] = task
        self._waiting.add(run.key)
        try:
            async with self._limits[handler.name]:
                self._waiting.discard(run.key)
                outcome = await self._outcome(handler, run)
            if isinstance(outcome, Retry) and outcome.counted and run.attempt + 1 >= handler.attempts:
                await asyncio.get_running_loop().run_in_executor(None, handler.gave_up, run.item, outcome.reason)
                return Finished()
            return outcome
        except StorageError as fault:
            LOG.error("%s %s: %s", handler.name, run.item, fault)
            return Retry(reason=str(fault), after=STORAGE_PAUSE, counted=False)
        finally:
            self._waiting.discard(run.key)
            self._running.pop(run.key, None)

    async def _outcome(self, handler: Handler, run: Run) -> Outcome:
        try:
            return await handler.run(run.item, run.attempt)
        except StorageError:
            raise
        except Exception as fault:
            LOG.exception("%s %s: %s: %s", handler.name, run.item, type(fault).__name__, fault)
            return Retry(reason=f"{type(fault).__name__}: {fault}")

    def _retry(self, handler: Handler, run: Run, retry: Retry) -> None:
        """Enqueue the next run before this one ends, so that the item is never missing."""
        following = run.retried() if retry.counted else run.again()
        pause = handler.backoff.pause(following.attempt) if retry.after is None else retry.after
        try:
            self.enqueue_runs([following], pause)
        except StorageError as fault:
            LOG.error("%s %s: %s", run.handler, run.item, fault)
            raise Interrupted from None  # it stays begun, which the recovery notices

    def _run_job(self, due_at: datetime, name: str) -> None:
        """Run a scheduled job; a fault is logged and stops nothing else."""
        job = self._jobs.get(name)
        if job is None:
            return
        key = DBOS.workflow_id or f"{name} {due_at}"

        async def work() -> None:
            task = asyncio.current_task()
            if self._closing or task is None:
                raise asyncio.CancelledError
            self._running[key] = task
            try:
                await job.run(due_at)
            except StorageError as fault:
                LOG.error("scheduled job %s failed: %s", name, fault)
            except Exception as fault:
                LOG.exception("scheduled job %s failed: %s: %s", name, type(fault).__name__, fault)
            finally:
                self._running.pop(key, None)

        self._wait_for(key, work())

    @property
    def location(self) -> str:
        """The URL of the queue's database."""
        return self._url.render_as_string(hide_password=False)

    @property
    def closed(self) -> bool:
        """Whether it is closed."""
        return self._released.is_set()

    def is_running(self, key: str) -> bool:
        """Whether a run with this id is in the loop of this process."""
        return key in self._running

    # --- the queue

    def enqueue(self, handler: str, items: Sequence[str]) -> None:
        """Enqueue the first run of items; an item whose first run is enqueued or begun changes nothing.

        Raises:
            StorageError: the queue cannot be written.
        """
        self.enqueue_runs([Run(handler, item) for item in items])

    def enqueue_runs(self, runs: Sequence[Run], pause: float = 0.0) -> None:
        """Enqueue runs after a pause; those at which workers died twice go to the queue that runs one at a time.

        Raises:
            StorageError: the queue cannot be written.
        """
        with self._errors():
            for start in range(0, len(runs), IDS_AT_ONCE):
                part = self._under_new_ids(runs[start : start + IDS_AT_ONCE])
                with self._database.begin() as connection:
                    for run in part:
                        self._client.enqueue_in_transaction(connection, self._options(run, pause), run.key)

    def _under_new_ids(self, runs: Sequence[Run]) -> list[Run]:
        """The runs, under the next id where one with that id has ended: an item may be wanted again from the start.

        Processes that enqueue an item at the same time choose the same id, so that it is run once.
        """
        found = list(runs)
        while ended := {row.workflow_id for row in self._list(workflow_ids=[run.key for run in found], status=ENDED)}:
            found = [run.again() if run.key in ended else run for run in found]
        return found

    def _options(self, run: Run, pause: float) -> Any:
        handler = self._handlers[run.handler]
        options: dict[str, Any] = {
            "workflow_name": handler.name,
            "queue_name": handler.suspects if run.deaths >= SUSPECT_AFTER else handler.queue_name,
            "workflow_id": run.key,
            "app_version": self._application,
        }
        return options | ({"delay_seconds": pause} if pause > 0 else {})

    def enqueue_job(self, run: JobRun) -> bool:
        """Enqueue an occurrence of a scheduled job once more; False where it was run too often already.

        Raises:
            StorageError: the queue cannot be written.
        """
        following = run._replace(number=run.number + 1)
        if following.number > JOB_RUNS:
            return False
        with self._errors():
            options: Any = {"workflow_name": JOBS, "queue_name": JOBS, "workflow_id": following.key}
            options["app_version"] = self._application
            self._client.enqueue(options, run.due_at, run.job)
        return True

    def open_items(self, handler: str) -> dict[str, str]:
        """The items of a handler's queue that are not done, with "ENQUEUED", "DELAYED" (a pause) or "PENDING" (begun).

        Raises:
            StorageError: the queue cannot be read.
        """
        one = self._handlers[handler]
        with self._errors():
            found = self._list(queue_name=[one.queue_name, one.suspects], status=OPEN)
        runs = [(Run.parse(row.workflow_id), row.status) for row in found]
        return {run.item: str(status) for run, status in runs if run is not None and run.handler == handler}

    def enqueued(self, handler: str, limit: int) -> int:
        """How many items of a handler can be begun now, counted up to a limit.

        Raises:
            StorageError: the queue cannot be read.
        """
        with self._errors():
            return len(self._list(queue_name=self._handlers[handler].queue_name, status="ENQUEUED", limit=limit))

    def begun(self) -> list[Begun]:
        """What any executor has begun and not ended, of this engine's handlers and jobs.

        Raises:
            StorageError: the queue cannot be read.
        """
        queues = [name for one in self._handlers.values() for name in (one.queue_name, one.suspects)]
        with self._errors():
            found = self._list(status="PENDING", queue_name=[*queues, JOBS] if self._jobs else queues)
        return [Begun(key=one.workflow_id, executor=one.executor_id or "", run=self._run_of(one.workflow_id)) for one in found]

    def _run_of(self, key: str) -> Run | JobRun | None:
        run = Run.parse(key)
        return run if run is not None and run.handler in self._handlers else JobRun.parse(key, list(self._jobs))

    def forget(self, keys: Collection[str]) -> None:
        """Remove runs.

        Raises:
            StorageError: the queue cannot be written.
        """
        with self._errors():
            self._client.delete_workflows(list(keys))

    def clean(self, now: datetime) -> int:
        """Remove runs that ended a while ago, but what a rate limit still counts; returns how many.

        Raises:
            StorageError: the queue cannot be written.
        """
        kept = {name: ENDED_KEPT for one in self._handlers.values() for name in (one.queue_name, one.suspects)}
        kept |= {one.queue_name: max(ENDED_KEPT, 2 * one.rate_limit.seconds) for one in self._handlers.values() if one.rate_limit}
        removed = 0
        with self._errors():
            for queue, seconds in [*kept.items(), *([(JOBS, JOBS_KEPT)] if self._jobs else [])]:
                before = datetime.fromtimestamp(now.timestamp() - seconds, UTC).isoformat()
                found = self._list(status=ENDED, queue_name=queue, completed_before=before, limit=DELETED_AT_ONCE)
                if found:
                    self._client.delete_workflows([one.workflow_id for one in found])
                removed += len(found)
        return removed

    def remove_queue(self, handler: str) -> None:
        """Remove a handler's queue with what has ended in it: for a queue that is used once.

        Raises:
            StorageError: the queue cannot be written.
        """
        one = self._handlers[handler]
        with self._errors():
            for queue in (one.queue_name, one.suspects):
                while found := self._list(queue_name=queue, status=ENDED, limit=DELETED_AT_ONCE):
                    self._client.delete_workflows([row.workflow_id for row in found])
                self._client.delete_queue(queue)

    def _list(self, **conditions: Any) -> list[Any]:
        # what rows hold is not loaded: an id says all
        return self._client.list_workflows(**conditions, load_input=False, load_output=False)

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            with storage_errors(self._place):
                yield
        except (error.DBOSException, SQLAlchemyError) as fault:
            raise StorageError(f"{self._place}: the queue cannot be used: {' '.join(str(fault).split())}") from fault
