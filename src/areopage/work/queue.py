"""The durable queue in its database: what is to be run, what is begun, and the schedules of jobs.

Everything here goes through the client of dbos and may be called from any thread without an event loop. What is in the
queue is disposable: the ledger says what is to be done, and what is lost here is enqueued again from there.
"""

import sys
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from datetime import datetime, timedelta
from importlib.metadata import version
from pathlib import Path
from typing import Any, NoReturn

from dbos import DBOS, DBOSClient, DBOSPortableJSONSerializer, _serialization, error
from msgspec import Struct
from sqlalchemy import URL
from sqlalchemy.exc import SQLAlchemyError

from areopage.digest import digest_of
from areopage.errors import ConfigError, StorageError, UserError
from areopage.file_lock import locked
from areopage.ledger import chunks, shown, storage_errors
from areopage.work.database import queue_engine, queue_url
from areopage.work.handlers import SPREAD, ItemQueue, ItemRun, JobRun, ScheduledJob

JOBS = "scheduled_jobs"
JOB_RUNS = 3
"""How often one occurrence of a job is begun where workers die of it."""
SUSPECT_AFTER = 2
"""After this number of workers died in a row at an item, it is run alone: it may be what ends them."""
JOBS_AT_ONCE = 4
JOBS_POLLING = 10.0
REGISTERED_AGAIN = 3
ENDED_KEPT = 300.0
CLOCKS_APART = 300.0
"""The most seconds by which the clocks of the computers of a pool may differ."""
JOBS_KEPT = 86_400.0
IDS_AT_ONCE = 500
DELETED_AT_ONCE = 2_000
OPEN = ["ENQUEUED", "DELAYED", "PENDING"]
ENDED = ["SUCCESS", "ERROR", "CANCELLED", "MAX_RECOVERY_ATTEMPTS_EXCEEDED"]


class Begun(Struct, frozen=True, kw_only=True):
    """A run that an executor has begun and not ended; `run` is None where the id is no run of this engine's handlers and jobs."""

    key: str
    executor: str
    run: ItemRun | JobRun | None


class Queue:
    """The queue of a worker pool, open. All methods raise StorageError where its database cannot be used."""

    def __init__(self, ledger: URL, kinds: Sequence[ItemQueue], jobs: Sequence[ScheduledJob] | None, pool: str) -> None:
        refuse_pickles()
        self._url = queue_url(ledger)
        self._place = shown(self._url)
        # dbos wants a name of letters and digits, and a version that no other application has in the same database; it is fixed:
        # what was enqueued before an update is run after it
        self.application = f"areopage-{digest_of(pool)[:16]}"
        self._kinds = {kind.name: kind for kind in kinds}
        self._jobs = {job.name: job for job in jobs or ()}
        self._scheduled = jobs is not None
        self._serializer = DBOSPortableJSONSerializer()
        self._database = queue_engine(ledger)
        self._client: DBOSClient

    @property
    def location(self) -> str:
        """The URL of the queue's database."""
        return self._url.render_as_string(hide_password=False)

    @property
    def queues(self) -> list[str]:
        """The names of the queues."""
        names = [name for kind in self._kinds.values() for name in (kind.queue_name, kind.suspects)]
        return [*names, *([JOBS] if self._scheduled else [])]

    def connect(self) -> None:
        """Open the database, whose tables are made where they are missing, and register the queues and the schedules.

        Raises:
            ConfigError: a job's schedule is no cron expression.
        """
        with self._errors():
            self._client = self._connected()
            self._register()

    def attach(self) -> None:
        """Open the database as its workers left it, without queues and schedules of its own: for a look from outside."""
        with self._errors():
            self._client = self._connected()

    def detach(self) -> None:
        """Close what `attach` opened."""
        self._client.destroy()
        self._database.dispose()

    def _connected(self) -> DBOSClient:
        """A client of the queue's database, whose tables are made where they are missing."""

        def connect() -> DBOSClient:
            client = DBOSClient(
                system_database_engine=self._database,
                serializer=self._serializer,
                application_name=self.application,
                retry_connection_errors=False,
            )
            client.list_queues()
            return client

        with suppress(SQLAlchemyError, error.DBOSException):
            return connect()
        with locked(Path(f"{self._url.database}.lock")) if self._database.dialect.name == "sqlite" else nullcontext():
            DBOS.migrate(self.location)
        return connect()

    def _register(self) -> None:
        # before Python 3.12 dbos writes the start of a run into a SQLite file in whole seconds: a period could be short of one
        whole_seconds = float(self._database.dialect.name == "sqlite" and sys.version_info < (3, 12))
        for handler in self._kinds.values():
            limit = handler.rate_limit
            self._register_queue(
                handler.queue_name,
                worker_concurrency=handler.concurrency + min(handler.concurrency, handler.ahead),
                limiter={"limit": limit.items, "period": limit.seconds + whole_seconds} if limit else None,
                polling_interval_sec=handler.idle_polling or handler.polling,
            )
            self._register_queue(handler.suspects, global_concurrency=1, polling_interval_sec=handler.suspects_polling)
        if not self._scheduled:
            return
        self._client.register_queue(JOBS, worker_concurrency=JOBS_AT_ONCE, polling_interval_sec=JOBS_POLLING)
        for job in self._jobs.values():
            row: Any = {"schedule_name": job.name, "schedule": job.schedule, "context": job.name}
            try:
                self._client.apply_schedules([row | {"workflow_name": JOBS, "queue_name": JOBS}])
            except error.DBOSException:
                message = f"{job.schedule!r} is no cron expression: write e.g. '0 6 * * *'"
                raise ConfigError(message, path="areopage.yml", key=f"the schedule of {job.name}") from None
        for schedule in self._client.list_schedules():
            if schedule["schedule_name"] not in self._jobs:
                self._client.delete_schedule(schedule["schedule_name"])

    def _register_queue(self, name: str, **options: Any) -> None:
        for _ in range(REGISTERED_AGAIN):
            with suppress(AssertionError):  # another process, whose run has ended, has removed the queue in between
                self._client.register_queue(name, **options)
                return
        self._client.register_queue(name, **options)

    def enqueue(self, handler: str, items: Sequence[str]) -> None:
        """Enqueue the first run of items; an item whose first run is enqueued or begun changes nothing."""
        self.enqueue_runs([ItemRun(handler, item) for item in items])

    def enqueue_runs(self, runs: Sequence[ItemRun], pause: float = 0.0) -> None:
        """Enqueue runs after a pause; those at which workers died twice go to the queue that runs one at a time."""
        with self._errors():
            for start in range(0, len(runs), IDS_AT_ONCE):
                part = self._under_new_ids(runs[start : start + IDS_AT_ONCE])
                with self._database.begin() as connection:
                    for run in part:
                        kind = self._kinds[run.handler]
                        options: Any = {
                            "workflow_name": kind.name,
                            "queue_name": kind.suspects if run.deaths >= SUSPECT_AFTER else kind.queue_name,
                            "workflow_id": run.key,
                            "app_version": self.application,
                            **({"delay_seconds": pause} if pause > 0 else {}),
                        }
                        self._client.enqueue_in_transaction(connection, options, run.key)

    def _under_new_ids(self, runs: Sequence[ItemRun]) -> list[ItemRun]:
        """The runs, under the next id where one with that id has ended: an item may be wanted again from the start.

        Processes that enqueue an item at the same time choose the same id, so that it is run once.
        """
        fresh = list(runs)
        while ended := {row.workflow_id for row in self._list(workflow_ids=[run.key for run in fresh], status=ENDED)}:
            fresh = [run.again() if run.key in ended else run for run in fresh]
        return fresh

    def wake(self, handler: str, items: Collection[str] | None = None) -> int:
        """End the pause of failed items; None: of all. Items at which workers died keep theirs. Returns how many."""
        with self._errors():
            rows = self._list(queue_name=self._kinds[handler].queue_name, status="DELAYED")
        paused = [run for row in rows if (run := ItemRun.parse(row.workflow_id)) is not None and not run.deaths]
        chosen = [run for run in paused if items is None or run.item in items]
        self._run_now(chosen)
        return len(chosen)

    def _run_now(self, paused: Sequence[ItemRun]) -> None:
        for runs in chunks(paused):
            self.enqueue_runs([run.again() for run in runs])
            self.forget([run.key for run in runs])

    def enqueue_job(self, run: JobRun) -> bool:
        """Enqueue an occurrence of a scheduled job once more; False where it was run too often already."""
        following = run._replace(number=run.number + 1)
        if following.number > JOB_RUNS:
            return False
        with self._errors():
            options: Any = {"workflow_name": JOBS, "queue_name": JOBS, "workflow_id": following.key}
            options["app_version"] = self.application
            self._client.enqueue(options, run.due_at, run.job)
        return True

    def open_items(self, handler: str) -> dict[str, str]:
        """The items of a handler's queue that are not done, with "ENQUEUED", "DELAYED" (a pause) or "PENDING" (begun)."""
        kind = self._kinds[handler]
        with self._errors():
            rows = self._list(queue_name=[kind.queue_name, kind.suspects], status=OPEN)
        runs = [(ItemRun.parse(row.workflow_id), row.status) for row in rows]
        return {run.item: str(status) for run, status in runs if run is not None and run.handler == handler}

    def enqueued(self, handler: str, limit: int) -> int:
        """How many items of a handler can be begun now, counted up to a limit."""
        with self._errors():
            return len(self._list(queue_name=self._kinds[handler].queue_name, status="ENQUEUED", limit=limit))

    def set_polling(self, handler: str, seconds: float) -> None:
        """Set how often all processes look at a handler's queue. They learn of it at their next look."""
        with self._errors():
            queue = self._client.retrieve_queue(self._kinds[handler].queue_name)
            if queue is not None and queue.polling_interval_sec != seconds:
                queue.set_polling_interval_sec(seconds)

    def begun(self) -> list[Begun]:
        """What any executor has begun and not ended, of this engine's handlers and jobs."""
        with self._errors():
            rows = self._list(status="PENDING", queue_name=self.queues)
        begun: list[Begun] = []
        for row in rows:
            run = ItemRun.parse(row.workflow_id)
            known_run = run if run is not None and run.handler in self._kinds else JobRun.parse(row.workflow_id, list(self._jobs))
            begun.append(Begun(key=row.workflow_id, executor=row.executor_id or "", run=known_run))
        return begun

    def forget(self, keys: Collection[str]) -> None:
        """Remove runs."""
        with self._errors():
            self._client.delete_workflows(list(keys))

    def clean(self, now: datetime) -> int:
        """Remove runs that ended a while ago, but what a rate limit still counts; returns how many.

        What a clock that was ahead has left is not waited for: runs that ended in the future are removed, and pauses that end
        later than any that begins now are ended."""
        kept = {name: ENDED_KEPT for kind in self._kinds.values() for name in (kind.queue_name, kind.suspects)}
        kept |= {
            kind.queue_name: max(ENDED_KEPT, 2 * kind.rate_limit.seconds) for kind in self._kinds.values() if kind.rate_limit
        }
        removed = 0
        with self._errors():
            for queue, seconds in [*kept.items(), *([(JOBS, JOBS_KEPT)] if self._scheduled else [])]:
                ended: dict[str, Any] = {"status": ENDED, "queue_name": queue, "limit": DELETED_AT_ONCE}
                past, future = (now + timedelta(seconds=sign * seconds) for sign in (-1, 1))
                rows = self._list(completed_before=past.isoformat(), **ended)
                rows += self._list(completed_after=future.isoformat(), **ended)
                if rows:
                    self._client.delete_workflows([row.workflow_id for row in rows])
                removed += len(rows)
            for handler in self._kinds.values():
                latest = (now.timestamp() + handler.backoff.longest * (1 + SPREAD) + CLOCKS_APART) * 1000
                paused = self._list(queue_name=handler.queue_name, status="DELAYED")
                overlong = [ItemRun.parse(row.workflow_id) for row in paused if row.delay_until_epoch_ms > latest]
                self._run_now([run for run in overlong if run is not None])
        return removed

    def remove_queue(self, handler: str) -> None:
        """Remove a handler's queue with what has ended in it: for a queue that is used once."""
        kind = self._kinds[handler]
        with self._errors():
            for queue in (kind.queue_name, kind.suspects):
                while rows := self._list(queue_name=queue, status=ENDED, limit=DELETED_AT_ONCE):
                    self._client.delete_workflows([row.workflow_id for row in rows])
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


TESTED = "3.4"
"""The versions of dbos, by their beginning, that the guard against pickled rows was tested with."""


class PickledRow(StorageError):
    """A row of the queue's tables is pickled."""


def refuse_pickles() -> None:
    """Let no pickle be read by dbos in this process; a UserError where dbos is of a version that this was not tested with.

    dbos reads a row by the row's own column `serialization`; `py_pickle` is honoured under any configured serializer. The one
    place where dbos unpickles is replaced here, which is no public interface.
    """
    installed = version("dbos")
    if not is_tested(installed):
        raise UserError(f"dbos {installed} is installed, which areopage does not support: pip install 'dbos>={TESTED},<3.5'")

    def refuse(self: Any, serialized_data: str) -> NoReturn:
        raise PickledRow("the row is pickled, which is refused: only plain JSON is read")

    _serialization.DefaultSerializer.deserialize = refuse  # type: ignore[assignment,method-assign]


def is_tested(installed: str) -> bool:
    """Whether the guard was tested with a version of dbos."""
    return installed == TESTED or installed.startswith(f"{TESTED}.")
