"""Group commits: concurrent records share one transaction.

A transaction costs more than a row. Callers in threads and in event loops queue records; one thread, which lives while something
waits, commits them together. A caller either waits until its records are on the disk, or is content that they will be within a
moment, and may be told then.
"""

import asyncio
import heapq
import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from typing import Generic, TypeVar

from msgspec import Struct

from areopage.errors import StorageError

Item = TypeVar("Item")
Result = TypeVar("Result")

DELAY = 0.05
DRAIN_SECONDS = 10.0
LOG_SECONDS = 10.0

_log = logging.getLogger(__name__)


class _Portion(Struct, Generic[Item, Result]):
    """The items of one call; `done` is None where the caller does not wait, and is told by `settled` perhaps."""

    items: Sequence[Item]
    size: int
    since: float
    done: "Future[Sequence[Result]] | None"
    settled: Callable[[BaseException | None], None] | None = None


class Batch(Generic[Item, Result]):
    """Commits records in groups. Its methods may be called from any thread and any event loop.

    While the ledger cannot be written, callers that wait get the error at once. Records without a waiting caller are
    kept and retried where `retry` is given; else the first error ends the batch, and the next call raises it. Records that do not
    fit, or that are left when the batch is closed, are lost: they are counted and logged.
    """

    def __init__(
        self,
        store: Callable[[Sequence[Item]], Sequence[Result] | None],
        *,
        what: str = "records",
        at_once: int = 500,
        most: int | None = None,
        most_bytes: int | None = None,
        delay: float = DELAY,
        retry: float | None = None,
    ) -> None:
        """Create a batch without starting a thread.

        Args:
            store: commits records, all or none, and returns one result for each, or None; it may block.
            what: the records' name in the log.
            at_once: records in one transaction, unless one caller brings more.
            most, most_bytes: records and bytes that may wait; None: any number.
            delay: seconds that records without a waiting caller may wait for others.
            retry: seconds until these are tried again.
        """
        self._store, self._what, self._at_once = store, what, at_once
        self._most, self._most_bytes, self._delay, self._retry = most, most_bytes, delay, retry
        self._changed = threading.Condition()
        self._urgent: deque[_Portion[Item, Result]] = deque()
        self._soon: deque[_Portion[Item, Result]] = deque()
        self._count = self._bytes = self._in_flight = 0
        self._accepted = self._settled = self._flushed_to = 0  # records without a waiting caller, since the start
        self._running = self._closing = self._abandoned = False
        self._not_before = self._logged_at = float("-inf")
        self._fault: BaseException | None = None
        self.lost = 0

    @property
    def waiting(self) -> int:
        """The number of records not yet on disk."""
        return self._count

    def write(self, items: Sequence[Item], size: int = 0) -> Sequence[Result]:
        """Write records of about `size` bytes; on return they are on disk. Returns the store's results for them.

        Raises:
            StorageError: too many records wait, or the ledger cannot be written.
        """
        return self.begin(items, size).result() if items else ()

    async def write_async(self, items: Sequence[Item], size: int = 0) -> Sequence[Result]:
        """Like `write`, for event loops. A caller that is cancelled does not stop the commit."""
        return await asyncio.wrap_future(self.begin(items, size)) if items else ()

    def begin(self, items: Sequence[Item], size: int = 0) -> "Future[Sequence[Result]]":
        """Queue records, unless too many wait; the future ends when they are on disk or have failed."""
        done: Future[Sequence[Result]] = Future()
        with self._changed:
            if self._is_full(len(items), size):
                raise StorageError(f"too many {self._what} wait for the ledger")
            self._add(self._urgent, _Portion(items, size, time.monotonic(), done))
        return done

    def write_soon(
        self, items: Sequence[Item], size: int = 0, settled: Callable[[BaseException | None], None] | None = None
    ) -> bool:
        """Write records within `delay` without waiting; False where too many wait, and these records are lost.

        `settled` is called in the thread after each attempt to write the records, with the fault if there was one.

        Raises:
            StorageError: earlier records could not be written, and are not tried again.
        """
        with self._changed:
            if self._fault is not None:
                raise self._fault
            if self._is_full(len(items), size):
                self._lose(len(items), "too many wait for the ledger")
                return False
            self._accepted += len(items)
            self._add(self._soon, _Portion(items, size, time.monotonic(), None, settled))
        return True

    def flush(self) -> None:
        """Wait until all records from `write_soon` so far are on disk; the fault of lost ones is raised."""
        with self._changed:
            flushed = self._flushed_to = self._accepted
            self._changed.notify_all()
            self._changed.wait_for(lambda: self._settled >= flushed or self._fault is not None or not self._running)
            if self._fault is not None:
                raise self._fault

    def close(self, seconds: float | None = DRAIN_SECONDS) -> None:
        """Write queued records; after the given seconds (None: no limit) the rest is lost. The fault of lost ones is raised."""
        with self._changed:
            self._closing = True
            self._changed.notify_all()
            if not self._changed.wait_for(lambda: not self._running, seconds):
                left = sum(len(portion.items) for portion in self._soon) + self._in_flight
                if left:
                    self._logged_at = float("-inf")
                    self._lose(left, "the ledger cannot be written")
                self._settle_waiting(StorageError("the ledger cannot be written"))
                self._soon.clear()
                self._count = self._bytes = 0
                self._abandoned = True
            if self._fault is not None:
                raise self._fault

    def _is_full(self, count: int, size: int) -> bool:
        over = self._most is not None and self._count + count > self._most
        return over or (self._most_bytes is not None and self._bytes + size > self._most_bytes)

    def _add(self, queue: "deque[_Portion[Item, Result]]", portion: "_Portion[Item, Result]") -> None:
        queue.append(portion)
        self._count += len(portion.items)
        self._bytes += portion.size
        if not self._running:
            self._running = True
            threading.Thread(target=self._run, name=f"write {self._what}", daemon=True).start()
        elif queue is self._urgent or self._count >= self._at_once:
            self._changed.notify_all()

    # --- the thread

    def _run(self) -> None:
        while group := self._next_group():
            results: Sequence[Result] | None = None
            fault: BaseException | None = None
            try:
                results = self._store([item for portion in group for item in portion.items])
            except BaseException as raised:  # noqa: BLE001 - it is raised to each caller that waits
                fault = raised
            with self._changed:
                self._in_flight = 0
                self._settle(group, results, fault)
            for portion in group:
                if portion.settled is not None:
                    portion.settled(fault)

    def _next_group(self) -> "list[_Portion[Item, Result]]":
        """Wait until something is due and take it; nothing ends the thread."""
        with self._changed:
            while self._urgent or self._soon:
                now, due = time.monotonic(), self._not_before
                if not (self._closing or self._flushed_to > self._settled or self._count >= self._at_once or self._urgent):
                    due = max(self._soon[0].since + self._delay, due)
                if self._urgent or due <= now:
                    return self._take(now)
                self._changed.wait(due - now)
            self._running = False
            self._changed.notify_all()
            return []

    def _take(self, now: float) -> "list[_Portion[Item, Result]]":
        """Those that a caller waits for, unless the first of the others has waited long enough: then all, as they came."""
        hurried = self._closing or self._flushed_to > self._settled
        due = self._soon and (hurried or not self._urgent or self._soon[0].since + self._delay <= now)
        order = heapq.merge(self._urgent, self._soon, key=lambda portion: portion.since) if due else iter(self._urgent)
        group: list[_Portion[Item, Result]] = []
        count = 0
        for portion in order:
            if group and count + len(portion.items) > self._at_once:
                break
            group.append(portion)
            count += len(portion.items)
        for portion in group:
            (self._soon if portion.done is None else self._urgent).popleft()
        self._in_flight = sum(len(portion.items) for portion in group if portion.done is None)
        return group

    def _settle(
        self, group: "list[_Portion[Item, Result]]", results: Sequence[Result] | None, fault: BaseException | None
    ) -> None:
        """Tell those who wait, and see to what needs another attempt."""
        at = 0
        for portion in group:
            mine = () if results is None else results[at : at + len(portion.items)]
            at += len(portion.items)
            _end_wait(portion.done, mine, fault)
        if self._abandoned:
            return
        if isinstance(fault, StorageError):
            self._settle_waiting(fault)  # also those behind the group: they would fail like it, one group after the other
            if self._retry is not None:
                kept = [portion for portion in group if portion.done is None]
                self._soon.extendleft(reversed(kept))
                self._forget([portion for portion in group if portion.done is not None])
                self._not_before = time.monotonic() + (self._delay if self._closing else self._retry)
                return
        self._not_before = float("-inf")
        self._forget(group)
        unsaved = sum(len(portion.items) for portion in group if portion.done is None)
        self._settled += unsaved
        self._changed.notify_all()
        if fault is None or not unsaved:
            return
        if self._retry is None:
            self._fault = self._fault or fault
        else:
            self._lose(unsaved, str(fault))

    def _settle_waiting(self, fault: StorageError) -> None:
        waiting = list(self._urgent)
        self._urgent.clear()
        self._forget(waiting)
        for portion in waiting:
            _end_wait(portion.done, (), fault)

    def _forget(self, group: "Sequence[_Portion[Item, Result]]") -> None:
        self._count -= sum(len(portion.items) for portion in group)
        self._bytes -= sum(portion.size for portion in group)

    def _lose(self, count: int, reason: str) -> None:
        self.lost += count
        if time.monotonic() - self._logged_at >= LOG_SECONDS:
            _log.error("%s that are not in the ledger: %d since the start (%s)", self._what, self.lost, reason)
            self._logged_at = time.monotonic()


def _end_wait(done: "Future[Sequence[Result]] | None", results: Sequence[Result], fault: BaseException | None) -> None:
    """End a caller's wait, unless it was cancelled."""
    if done is None or not done.set_running_or_notify_cancel():
        return
    if fault is None:
        done.set_result(results)
    else:
        done.set_exception(fault)
