"""What the leader does for all workers: enqueue what is to be done, recover the work of the dead, find what the queue lost.

Each step is one call with the time as an argument; nothing here waits.
"""

import logging
import time
from collections.abc import Callable, Collection, Sequence

from areopage.work.engine import Engine
from areopage.work.handlers import Handler, ItemRun, JobRun
from areopage.work.queue import Begun

LOG = logging.getLogger(__name__)
MOST_DEATHS = 5
PAGE = 500
AT_ONCE = 256
PER_RUN = 4
SCAN_SHARE = 20
"""Of the time, at most one part in this number goes into scans."""


class Recovery:
    """Keeps the queue filled from the ledger, and recovers runs whose worker died. One worker at a time does it."""

    def __init__(self, engine: Engine, handlers: Sequence[Handler], clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._engine, self._handlers = engine, {handler.name: handler for handler in handlers}
        self._cursors: dict[str, int] = {}
        self._queued: dict[str, frozenset[str]] = {}
        self._next_scan = 0.0
        self._stray: frozenset[str] = frozenset()

    # --- enqueue

    def dispatch(self, live: int) -> int:
        """Enqueue the pending items that follow those enqueued before, as far as the queue has room; returns how many."""
        enqueued = 0
        for handler in self._handlers.values():
            cursor, depth = self._cursors.get(handler.name), _depth(handler, live)
            if cursor is None or not handler.pending(cursor, 1):
                continue
            waiting = self._engine.enqueued(handler.name, depth)
            room = depth - waiting
            pending = handler.pending(cursor, min(room, AT_ONCE)) if room > 0 else []
            fresh = [item.item for item in pending if item.item not in self._queued[handler.name]]
            if pending:
                self._engine.enqueue(handler.name, fresh)
                self._cursors[handler.name] = pending[-1].number
            self._set_polling(handler, waiting + len(fresh))
            enqueued += len(fresh)
        return enqueued

    def _set_polling(self, handler: Handler, waiting: int) -> None:
        """Let the workers look at a queue often while it holds more than they run at once, and seldom once it is empty."""
        if handler.idle_polling is None:
            return
        if waiting > handler.concurrency:
            self._engine.set_polling(handler.name, handler.polling)
        elif not waiting:
            self._engine.set_polling(handler.name, handler.idle_polling)

    def scan(self, live: int) -> int:
        """Enqueue the pending items that the queue does not hold: all at first, later those it lost; returns how many."""
        began = self._clock()
        if began < self._next_scan:
            return 0
        enqueued = sum(self._scan(handler, live) for handler in self._handlers.values())
        self._next_scan = began + SCAN_SHARE * (self._clock() - began)
        return enqueued

    def _scan(self, handler: Handler, live: int) -> int:
        queued = self._engine.open_items(handler.name)  # before the ledger: an item that ends meanwhile is not pending then
        self._queued[handler.name] = frozenset(queued)
        waiting = sum(state == "ENQUEUED" for state in queued.values())
        room = _depth(handler, live) - waiting
        seen = self._cursors.get(handler.name)
        cursor, enqueued = 0, 0
        while page := handler.pending(cursor, PAGE):
            within = [item for item in page if seen is None or item.number <= seen]
            missing = [item for item in within if item.item not in queued]
            taken = missing[: max(0, room - enqueued)]
            self._engine.enqueue(handler.name, [item.item for item in taken])
            enqueued += len(taken)
            if len(taken) < len(missing):
                cursor = missing[len(taken)].number - 1
                break
            cursor = page[-1].number
            if len(within) < len(page):
                break
        if seen is None:
            self._cursors[handler.name] = cursor
        self._set_polling(handler, waiting + enqueued)
        return enqueued

    def help(self, live: int) -> int:
        """Enqueue where a queue is empty though items are pending: the leader may be unable to; returns how many."""
        enqueued = 0
        for handler in self._handlers.values():
            self._cursors.pop(handler.name, None)
            if handler.pending(0, 1) and not self._engine.enqueued(handler.name, 1):
                enqueued += self._scan(handler, live)
                self._cursors.pop(handler.name, None)
        return enqueued

    # --- recover

    def take_over(self, live: Collection[str]) -> int:
        """Enqueue again what executors that are not alive had begun; returns how much that was.

        An executor may be only slow: what it finishes meanwhile is finished once all the same. A run of this process that is
        begun and not running, seen twice, is enqueued again, too: its end could not be recorded.
        """
        begun = self._engine.begun()
        dead = [run for run in begun if run.executor not in live]
        mine = {run.key for run in begun if run.executor == self._engine.executor and not self._engine.is_running(run.key)}
        stray = [run for run in begun if run.key in mine & self._stray]
        self._stray = frozenset(mine)
        for run in dead:
            self._recover(run)
        for run in stray:
            if isinstance(run.run, ItemRun):
                self._engine.enqueue_runs([run.run.again()])
        if dead or stray:
            self._engine.forget([run.key for run in (*dead, *stray)])
        return len(dead) + len(stray)

    def _recover(self, begun: Begun) -> None:
        if isinstance(begun.run, JobRun):
            if not self._engine.enqueue_job(begun.run):
                LOG.error("scheduled job %s of %s is given up: its workers died", begun.run.job, begun.run.due_at)
        elif begun.run is not None:
            handler, run = self._handlers[begun.run.handler], begun.run.after_death()
            if run.deaths >= MOST_DEATHS:
                LOG.error("%s %s is given up: its workers died one after the other", run.handler, run.item)
                handler.gave_up(run.item, f"its worker died {run.deaths} times in a row: running it may be what ends the worker")
            else:
                self._engine.enqueue_runs([run], handler.backoff.pause(run.deaths - 1) if run.deaths > 1 else 0.0)


def _depth(handler: Handler, live: int) -> int:
    return max(AT_ONCE, PER_RUN * handler.concurrency * live)
