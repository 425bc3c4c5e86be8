"""What dead workers leave behind, and what the queue has lost: put back, counted, and never for ever."""

import logging
from collections.abc import Collection, Sequence
from datetime import UTC, datetime, timedelta

from areopage.ledger.operations import Worker
from areopage.monitor.attempts import Attempts
from areopage.monitor.queue import DurableQueue

LOG = logging.getLogger(__name__)
LOOK_FOR_LOST = timedelta(seconds=15)
LOST_AT_ONCE = 5_000


class TakeOver:
    """Finds runs whose executor is dead, and answers that wait in a queue that has lost them. One worker at a time does it."""

    def __init__(self, queue: DurableQueue, attempts: Attempts) -> None:
        self._queue, self._attempts = queue, attempts
        self._missed: set[tuple[str, int]] = set()
        self._looked_at: datetime | None = None

    def orphans(self, live: Collection[str], now: datetime) -> int:
        """Put back what executors that are not alive had begun; returns how much that was.

        One of them may be only slow: what it finishes meanwhile is finished once all the same.
        """
        found = [run for run in self._queue.begun() if run.executor not in live]
        for run in found:
            if run.duty:
                if not self._queue.begin_again(run):
                    LOG.error("duty %s of %s is given up: workers died of it", run.duty, run.due_at)
            elif self._attempts.died(run.id, run.attempt, now) == "given_up":
                LOG.error("answer %s is given up: its workers died one after the other", run.id)
        if found:
            self._queue.forget([run.key for run in found])
        return len(found)

    def lost(self, now: datetime, *, alone: bool = False) -> int:
        """Put back what counts as queued and is not in the queue; returns how much that was.

        Args:
            now: the time.
            alone: nobody can be about to queue anything. Else an answer must be missed twice, a while apart.
        """
        if not alone and self._looked_at is not None and now - self._looked_at < LOOK_FOR_LOST:
            return 0
        self._looked_at = now
        queued = self._attempts.evaluations.still_queued(now + timedelta(days=1), LOST_AT_ONCE)
        missed = set(self._queue.lacking(queued))
        lost = missed if alone else missed & self._missed
        for id, attempt in sorted(lost):
            self._attempts.put_back(id, attempt, "the queue had lost it", now)
        self._missed = missed - lost
        return len(lost)


def executor_of(worker: Worker) -> str:
    """What a worker is called in the queue: one that starts again in the same slot is another executor."""
    return f"{worker.id}@{round(worker.started_at.astimezone(UTC).timestamp() * 1000)}"


def live_executors(workers: Sequence[Worker], now: datetime, dead_after: float) -> set[str]:
    """The executors that sent a heartbeat not long ago and did not stop."""
    since = now - timedelta(seconds=dead_after)
    return {executor_of(worker) for worker in workers if worker.state == "alive" and worker.seen_at > since}


def leader_of(workers: Sequence[Worker], now: datetime, silence: float) -> str:
    """The worker that does what one is to do for all: the first by name of those who sent a heartbeat just now; "" for none."""
    since = now - timedelta(seconds=silence)
    return min((worker.id for worker in workers if worker.state == "alive" and worker.seen_at > since), default="")
