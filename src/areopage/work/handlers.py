"""What an application registers with the engine: handlers of durable items, and scheduled jobs.

The application's ledger says which items are to be done. The engine says who runs an item, when, and how often it was tried.
"""

import random
from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime
from typing import NamedTuple, Self

from msgspec import Struct

SPREAD = 0.25
CLAIMED_AHEAD = 16


class Finished(Struct, frozen=True):
    """The item is done, or nothing is left to do for it."""


class Retry(Struct, frozen=True, kw_only=True):
    """The item is to be run again.

    Args:
        reason: the failure, in one line.
        after: the pause in seconds; None: by the handler's backoff.
        counted: whether the run counts as a failed attempt.
    """

    reason: str
    after: float | None = None
    counted: bool = True


ItemOutcome = Finished | Retry
"""How one run of an item ended."""


class Pending(NamedTuple):
    """An item that the ledger says is to be done; items are enqueued in the order of their numbers, from 1."""

    number: int
    item: str


class RateLimit(Struct, frozen=True, kw_only=True):
    """At most `items` begin in `seconds`, over all processes."""

    items: int
    seconds: float


class Backoff(Struct, frozen=True, kw_only=True):
    """Pauses that double, from `first` to `longest` seconds, each varied by a quarter so that retries do not coincide."""

    first: float = 30.0
    longest: float = 7200.0
    draw: Callable[[], float] = random.random

    def pause(self, failures: int) -> float:
        """The pause in seconds after a number of failures."""
        seconds = min(self.longest, self.first * 2.0 ** min(failures - 1, 60))
        return seconds * (1 - SPREAD + 2 * SPREAD * self.draw())


class ItemQueue(Struct, frozen=True, kw_only=True):
    """How the items of one kind of work are queued.

    Args:
        name: of the kind, without a colon; the same in all processes.
        queue: the queue's name; "": that of the kind. Processes share the work of a queue.
        concurrency: how many items this process runs at once.
        ahead: how many more this process claims, so that no run waits for the next look at the queue.
        rate_limit: over all processes.
        backoff: the pauses between failed attempts.
        polling: the seconds between two looks of this process at the queue.
        idle_polling: the same while the queue is empty; None: as `polling`. A look at an empty queue costs as much as any other.
        suspects_polling: the same for the queue of items at which workers died.
    """

    name: str
    queue: str = ""
    concurrency: int = 1
    ahead: int = CLAIMED_AHEAD
    rate_limit: RateLimit | None = None
    backoff: Backoff = Backoff()
    polling: float = 0.1
    idle_polling: float | None = None
    suspects_polling: float = 10.0

    @property
    def queue_name(self) -> str:
        """The name of the queue."""
        return self.queue or self.name

    @property
    def suspects(self) -> str:
        """The queue of items at which workers died; it runs one item at a time over all processes."""
        return f"{self.queue_name}:suspects"


class Handler(ItemQueue, frozen=True, kw_only=True):
    """One kind of work. A run may be repeated, here or elsewhere at the same time: its effect must be that of one run.

    Args:
        run: runs an item in the event loop; is given the number of failed attempts before.
        gave_up: records that no run follows, with the reason; called in a thread.
        pending: the items to be done whose number is greater than the first argument, in order, at most that number; called in a
            thread. An item that is being run counts as pending.
        attempts: the failed attempts after which an item is given up.
        woken: whether items that pause after a failed run are to be run now; asked again and again.
    """

    run: Callable[[str, int], Awaitable[ItemOutcome]]
    gave_up: Callable[[str, str], None]
    pending: Callable[[int, int], Sequence[Pending]]
    attempts: int = 20
    woken: Callable[[], bool] = bool


class ScheduledJob(Struct, frozen=True, kw_only=True):
    """A periodic task. Each occurrence is run once, by one of the workers that share the ledger.

    Args:
        name: unique among the jobs.
        schedule: a cron expression in UTC; six fields where the first is seconds.
        run: the task; it is given the time it was due.
    """

    name: str
    schedule: str
    run: Callable[[datetime], Awaitable[None]]


class ItemRun(NamedTuple):
    """One run of an item, begun or to come; `deaths` counts the workers that died of it in a row."""

    handler: str
    item: str
    attempt: int = 0
    deaths: int = 0
    postponed: int = 0

    @property
    def key(self) -> str:
        """The id of the run: equal runs have equal ids."""
        return f"{self.handler}:{self.attempt}.{self.deaths}.{self.postponed}:{self.item}"

    @classmethod
    def parse(cls, key: str) -> Self | None:
        """The run of an id; None where it is none."""
        handler, _, rest = key.partition(":")
        numbers, colon, item = rest.partition(":")
        try:
            attempt, deaths, postponed = (int(number) for number in numbers.split("."))
        except ValueError:
            return None
        return cls(handler, item, attempt, deaths, postponed) if colon else None

    def retried(self) -> "ItemRun":
        """The run after a failed attempt."""
        return ItemRun(self.handler, self.item, self.attempt + 1)

    def after_death(self) -> "ItemRun":
        """The run after the death of the worker."""
        return self._replace(deaths=self.deaths + 1)

    def again(self) -> "ItemRun":
        """The run after one that does not count."""
        return self._replace(postponed=self.postponed + 1)


class JobRun(NamedTuple):
    """One occurrence of a scheduled job; `number` counts its runs from 1."""

    job: str
    due_at: datetime
    number: int = 1

    @property
    def key(self) -> str:
        """The id of the run; that of the first is given by dbos."""
        key = f"sched-{self.job}-{self.due_at.isoformat()}"
        return key if self.number == 1 else f"{key}~{self.number}"

    @classmethod
    def parse(cls, key: str, jobs: Sequence[str]) -> Self | None:
        """The run of an id of one of these jobs; None where it is none."""
        first, _, number = key.partition("~")
        for job in jobs:
            try:
                if first.startswith(f"sched-{job}-"):
                    return cls(job, datetime.fromisoformat(first.removeprefix(f"sched-{job}-")), int(number or 1))
            except ValueError:
                continue
        return None
