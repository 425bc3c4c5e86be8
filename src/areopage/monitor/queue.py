"""The only file that knows dbos: which evaluations are to be run, who runs them, and what is to be done by the clock.

Its state is disposable. The table of submissions is the truth; what is lost here is found again there. It lies in a file
beside a SQLite ledger, or in the schema `dbos` of the ledger's PostgreSQL. There is one of it per process.
"""

import logging
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any

from dbos import DBOS, DBOSConfig, DBOSPortableJSONSerializer, SetWorkflowID, error
from msgspec import Struct
from sqlalchemy import URL
from sqlalchemy.exc import SQLAlchemyError

from areopage.errors import ConfigError, StorageError, UserError
from areopage.ledger.connection import shown, storage_errors
from areopage.monitor.config import RateLimitSection
from areopage.monitor.queue_log import ShortLog
from areopage.monitor.queue_place import queue_url, sqlite_engine

APPLICATION = "areopage"
VERSION = "1"  # fixed: work that was queued before an update goes on after it
EVALUATIONS = "areopage_evaluations"
DUTIES = "areopage_duties"
POLLING = 0.1
DUTY_POLLING = 0.5
DUTIES_AT_ONCE = 4
DUTY_RUNS = 3
"""How often the same tick of a duty is begun, where workers die of it."""
EVALUATIONS_KEPT = 300.0
DUTIES_KEPT = 86_400.0
DELETED_AT_ONCE = 2_000
KEYS_AT_ONCE = 500
OPEN = ["ENQUEUED", "DELAYED", "PENDING"]
ENDED = ["SUCCESS", "ERROR", "CANCELLED", "MAX_RECOVERY_ATTEMPTS_EXCEEDED"]


class Interrupted(BaseException):
    """The worker stops: a run ends here without a result, and is taken up again later. No exception that dbos would record."""


class Run(Struct, frozen=True, kw_only=True):
    """Something that an executor has begun: an evaluation (`id`, `attempt`), or a duty (`duty`, `due_at`)."""

    key: str
    executor: str
    id: str = ""
    attempt: int = 0
    duty: str = ""
    due_at: datetime | None = None


class Tick(Struct, frozen=True, kw_only=True):
    """A duty as the queue takes it: its cron expression (UTC), and what is called, in a thread of its own."""

    schedule: str
    run: Callable[[datetime], None]


class DurableQueue:
    """The queue, open. Its methods block, and may be called from any thread without an event loop."""

    def __init__(
        self,
        ledger: URL,
        executor: str,
        *,
        claims: int,
        rate_limit: RateLimitSection | None,
        evaluate: Callable[[str, int], None],
        duties: Mapping[str, Tick],
        evaluations: bool = True,
    ) -> None:
        """Open the queue and begin to take work from it.

        Args:
            ledger: the ledger's database.
            executor: who we are; unlike anybody before or beside us.
            claims: how many evaluations this process may have begun at a time.
            rate_limit: over all processes.
            evaluate: called in a thread with an id and the number of the attempt.
            duties: by name.
            evaluations: whether evaluations are taken from the start, or only after `take_evaluations`.

        Raises:
            ConfigError: a duty's schedule is no cron expression.
            StorageError: the queue's database cannot be used.
            UserError: this process has a queue already.
        """
        self._place = shown(queue_url(ledger))
        self._engine = sqlite_engine(queue_url(ledger)) if ledger.get_backend_name() == "sqlite" else None
        self._duties = dict(duties)
        self._evaluation: Callable[[str, int], None]
        self._duty: Callable[[datetime, str], None]
        self._waits = not evaluations
        logger = logging.getLogger("dbos")
        if not logger.handlers:  # else dbos would write to the console by itself
            logger.addHandler(logging.NullHandler())
        self._log = ShortLog(self._place)

        with queue_errors(self._place):
            self._launch(ledger, executor, evaluate, claims, rate_limit)

    def _launch(
        self,
        ledger: URL,
        executor: str,
        evaluate: Callable[[str, int], None],
        claims: int,
        rate_limit: RateLimitSection | None,
    ) -> None:
        config: DBOSConfig = {
            "name": APPLICATION,
            "application_version": VERSION,
            "executor_id": executor,
            "system_database_url": queue_url(ledger).render_as_string(hide_password=False),
            "system_database_engine": self._engine,
            "sys_db_pool_size": 5,
            # plain JSON: nothing that is read from the database is unpickled
            "serializer": DBOSPortableJSONSerializer(),
            "use_listen_notify": False,
            "log_level": "WARNING",
        }
        self._dbos = DBOS(config=config)  # gives back the one that is there
        if DBOS.executor_id != executor:
            raise UserError("this process has a worker already: one is enough, raise its concurrency")
        logging.getLogger("dbos").addFilter(self._log)
        try:
            self._register(evaluate)
            if self._waits:
                DBOS.listen_queues([DUTIES])
            DBOS.launch()
            limiter = {"limit": rate_limit.answers, "period": rate_limit.seconds} if rate_limit else None
            DBOS.register_queue(
                EVALUATIONS,
                worker_concurrency=claims,
                limiter=limiter,  # type: ignore[arg-type]
                polling_interval_sec=POLLING,
                on_conflict="always_update",
            )
            DBOS.register_queue(
                DUTIES, worker_concurrency=DUTIES_AT_ONCE, polling_interval_sec=DUTY_POLLING, on_conflict="always_update"
            )
            self._schedule()
        except BaseException:
            self.close(0)
            raise

    def _register(self, evaluate: Callable[[str, int], None]) -> None:
        """Tell dbos what it runs."""

        def evaluation(id: str, attempt: int) -> None:
            evaluate(id, attempt)

        def duty(due_at: datetime, name: str) -> None:
            if name in self._duties:
                self._duties[name].run(due_at)

        self._evaluation = DBOS.workflow(name="evaluation")(evaluation)
        self._duty = DBOS.workflow(name="duty")(duty)

    def _schedule(self) -> None:
        for name, tick in self._duties.items():
            schedule: Any = {
                "schedule_name": name,
                "workflow_fn": self._duty,
                "schedule": tick.schedule,
                "context": name,
                "queue_name": DUTIES,
            }
            try:
                DBOS.apply_schedules([schedule])
            except error.DBOSException:
                message = f"{tick.schedule!r} is no cron expression: write e.g. '0 6 * * *'"
                raise ConfigError(message, path="areopage.yml", key=f"the schedule of {name}") from None
        for known in DBOS.list_schedules():
            if known["schedule_name"] not in self._duties:
                DBOS.delete_schedule(known["schedule_name"])

    # --- evaluations

    def take_evaluations(self) -> None:
        """Begin to take evaluations, too, within a second."""
        # dbos looks at it each second; what is public can only be called before the launch
        self._dbos._listening_queues = None

    def enqueue(self, items: Sequence[tuple[str, int]]) -> None:
        """Queue evaluations, each an id and the number of the attempt; one that is queued or run already changes nothing."""
        with queue_errors(self._place):
            # an answer that was given up and is tried again from the start comes by the keys of its first attempts
            for ended in self._known(items, ENDED):
                DBOS.delete_workflow(ended)
            for id, attempt in items:
                with SetWorkflowID(key_of(id, attempt)):
                    DBOS.enqueue_workflow(EVALUATIONS, self._evaluation, id, attempt)

    def lacking(self, items: Sequence[tuple[str, int]]) -> list[tuple[str, int]]:
        """Those that are neither queued nor run here."""
        with queue_errors(self._place):
            found = self._known(items, OPEN)
        return [(id, attempt) for id, attempt in items if key_of(id, attempt) not in found]

    def _known(self, items: Sequence[tuple[str, int]], states: list[str]) -> set[str]:
        """The keys of those evaluations that are here in one of several states."""
        found: set[str] = set()
        for start in range(0, len(items), KEYS_AT_ONCE):
            keys = [key_of(id, attempt) for id, attempt in items[start : start + KEYS_AT_ONCE]]
            known = DBOS.list_workflows(workflow_ids=keys, status=states, load_input=False, load_output=False)
            found.update(one.workflow_id for one in known)
        return found

    # --- what others have begun

    def begun(self) -> list[Run]:
        """All that any executor has begun and not ended."""
        with queue_errors(self._place):
            found = DBOS.list_workflows(status="PENDING", queue_name=[EVALUATIONS, DUTIES], load_output=False)
        runs = []
        for one in found:
            first, second = one.input["args"] if one.input else ("", "")
            if one.queue_name == EVALUATIONS:
                runs.append(Run(key=one.workflow_id, executor=one.executor_id or "", id=first, attempt=int(second or 0)))
            else:
                due_at = datetime.fromisoformat(str(first))
                runs.append(Run(key=one.workflow_id, executor=one.executor_id or "", duty=second, due_at=due_at))
        return runs

    def forget(self, keys: Collection[str]) -> None:
        """Remove runs."""
        with queue_errors(self._place):
            DBOS.delete_workflows(list(keys))

    def begin_again(self, run: Run) -> bool:
        """Queue the same tick of a duty once more, if that was not done too often already."""
        base, _, count = run.key.partition("~")
        following = int(count or 1) + 1
        if following > DUTY_RUNS or run.due_at is None:
            return False
        with queue_errors(self._place), SetWorkflowID(f"{base}~{following}"):
            DBOS.enqueue_workflow(DUTIES, self._duty, run.due_at, run.duty)
        return True

    def clean(self, now: datetime, rate_period: float = 0.0) -> int:
        """Remove what ended a while ago; returns how many.

        Args:
            now: the time.
            rate_period: the seconds over which a rate limit counts; what it still counts stays.
        """
        removed = 0
        with queue_errors(self._place):
            for queue, kept in ((EVALUATIONS, max(EVALUATIONS_KEPT, 2 * rate_period)), (DUTIES, DUTIES_KEPT)):
                before = datetime.fromtimestamp(now.timestamp() - kept, UTC).isoformat()
                found = DBOS.list_workflows(
                    status=ENDED,
                    queue_name=queue,
                    completed_before=before,
                    load_input=False,
                    load_output=False,
                    limit=DELETED_AT_ONCE,
                )
                if found:
                    DBOS.delete_workflows([one.workflow_id for one in found])
                removed += len(found)
        return removed

    def close(self, seconds: int) -> None:
        """Take nothing more, wait so long for what has begun, and close."""
        DBOS.destroy(destroy_registry=True, workflow_completion_timeout_sec=seconds)
        logging.getLogger("dbos").removeFilter(self._log)
        if self._engine is not None:
            self._engine.dispose()


@contextmanager
def queue_errors(place: str) -> Iterator[None]:
    """Turn the errors of the queue's database into one line for the user."""
    try:
        with storage_errors(place):
            yield
    except (error.DBOSException, SQLAlchemyError) as fault:
        raise StorageError(f"{place}: the queue cannot be used: {' '.join(str(fault).split())}") from fault


def key_of(id: str, attempt: int) -> str:
    """How dbos knows an evaluation."""
    return f"{id}:{attempt}"
