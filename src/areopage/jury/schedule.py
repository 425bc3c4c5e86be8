"""A fixed crew takes calls in order: bounded concurrency, no queue that grows, a stop when the server is gone."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from typing import TypeVar

from areopage.errors import CallRejected, CallUnreachable, ModelError, ServerDown, UserError

T = TypeVar("T")

UNREACHABLE_IN_A_ROW = 20


class OutageWatch:
    """Counts calls that failed in a row, so that a dead or misconfigured server stops the run and not the user's patience.

    A server that turns calls away one by one (a content filter) is not dead: such calls count only as long as none succeeded.
    """

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.in_a_row = 0
        self.succeeded = False

    def note(self, name: str, reason: str, *, reached: bool, turned_away: bool) -> None:
        """Note one call.

        Raises:
            ServerDown: as many calls as the limit failed with no success between them.
        """
        if turned_away and self.succeeded:
            return
        good = reached and not turned_away
        self.succeeded = self.succeeded or good
        self.in_a_row = 0 if good else self.in_a_row + 1
        if self.in_a_row >= self.limit:
            raise ServerDown(f"{name}: {self.in_a_row} calls in a row failed ({reason})")


async def run_crew(name: str, work: Iterable[T], do: Callable[[T], Awaitable[None]], concurrency: int) -> None:
    """Do every piece of work, at most `concurrency` at once, in order of the iterable.

    The first fault stops the crew and is raised; calls in flight are dropped.

    Raises:
        ServerDown: nothing listens at the model's address any more.
        ModelError: the server lets no call through.
    """
    pieces = iter(work)

    async def worker() -> None:
        for piece in pieces:
            await do(piece)

    try:
        async with asyncio.TaskGroup() as crew:
            for _ in range(concurrency):
                crew.create_task(worker())
    except BaseExceptionGroup as group:
        raise cause_of(name, group) from None


def cause_of(name: str, group: BaseExceptionGroup[BaseException]) -> BaseException:
    """The one fault to show of those that stopped a crew: what the user can mend goes before what followed from it."""
    leaves: list[BaseException] = []
    waiting: list[BaseException] = [group]
    while waiting:
        one = waiting.pop(0)
        if isinstance(one, BaseExceptionGroup):
            waiting.extend(one.exceptions)
        else:
            leaves.append(one)
    for leaf in leaves:
        if isinstance(leaf, UserError):
            return leaf
    first = leaves[0]
    if isinstance(first, CallUnreachable):
        return ServerDown(f"{name}: {first}")
    return ModelError(f"{name}: {first}") if isinstance(first, CallRejected) else first
