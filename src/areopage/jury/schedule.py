"""Run calls with bounded concurrency; stop when the server is unreachable."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence, Sized
from typing import TypeVar

from areopage.errors import CallRejected, CallUnreachable, ModelError, ServerDown, UserError

T = TypeVar("T")

UNREACHABLE_IN_A_ROW = 20
TIMED_OUT_IN_A_ROW = 5
"""Calls without any answer from the server: each of them has waited for as long as a call may."""


class FailureStreak:
    """Counts consecutive failed calls, so that an unreachable server stops the run.

    A server that rejects calls one by one (a content filter), or answers some with an empty text, is not dead: such calls count
    only as long as none succeeded.
    """

    def __init__(self, concurrency: int = 1, limit: int | None = None) -> None:
        """Begin.

        Args:
            concurrency: the number of calls that may fail together.
            limit: of failed calls in a row; None: 20, and no less than `concurrency`.
        """
        self._limit = limit or max(UNREACHABLE_IN_A_ROW, concurrency)
        self._timeouts = max(TIMED_OUT_IN_A_ROW, concurrency)
        self._in_a_row = self._timed_out = 0
        self._succeeded = False

    def note(self, name: str, reason: str, *, reached: bool, turned_away: bool, timed_out: bool = False) -> None:
        """Record the result of a call."""
        if turned_away and self._succeeded:
            return
        good = reached and not turned_away and not timed_out
        self._succeeded = self._succeeded or good
        self._in_a_row = 0 if good else self._in_a_row + 1
        self._timed_out = self._timed_out + 1 if timed_out else 0
        if self._timed_out >= (self._limit if self._succeeded else self._timeouts):
            advice = "the server hangs, or needs more time (--timeout) or fewer calls at once (--concurrency)"
            raise ServerDown(f"{name}: {self._timed_out} calls in a row timed out: {advice} ({reason})")
        if self._in_a_row >= self._limit:
            raise ServerDown(f"{name}: {self._in_a_row} calls in a row failed ({reason})")


async def run_concurrently(
    name: str,
    work: Iterable[T],
    do: Callable[[T], Awaitable[None]],
    concurrency: int,
    all_begun: Callable[[], None] = lambda: None,
) -> None:
    """Process all items in order, at most `concurrency` at once.

    The first fault stops all of it and is raised; calls in flight are cancelled.

    Args:
        all_begun: called when the last item of a collection is taken.

    Raises:
        ServerDown: nothing listens at the model's address any more.
        ModelError: the server lets no call through.
    """
    count, faults = len(work) if isinstance(work, Sized) else 0, list[BaseException]()

    def taken() -> Iterator[T]:
        for number, item in enumerate(work, 1):
            if number == count:
                all_begun()
            yield item

    items = taken()

    async def worker() -> None:
        try:
            for item in items:
                await do(item)
        except asyncio.CancelledError:
            raise
        except BaseException as fault:
            faults.append(fault)
            raise

    # not a task group: on Python 3.11 it forgets that it was cancelled where its tasks fail meanwhile
    tasks = [asyncio.create_task(worker()) for _ in range(concurrency)]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_EXCEPTION)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
    if faults:
        raise _cause_of(name, faults)


def _cause_of(name: str, faults: Sequence[BaseException]) -> BaseException:
    """Choose the fault to raise, of all in the order in which they came; user errors come before their consequences."""
    for fault in faults:
        if isinstance(fault, UserError):
            return fault
    first = faults[0]
    if isinstance(first, CallUnreachable):
        return ServerDown(f"{name}: {first}")
    return ModelError(f"{name}: {first}") if isinstance(first, CallRejected) else first
