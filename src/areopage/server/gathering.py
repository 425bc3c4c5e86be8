"""Submissions of many requests in one commit, with one thread for all of them."""

import asyncio
from collections.abc import Callable, Sequence
from typing import cast

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request

from areopage.ledger.quality_records import Submission

Store = Callable[[Sequence[Submission]], Sequence[bool]]
Waiting = tuple[Sequence[Submission], "asyncio.Future[Sequence[bool]]"]

MOST_AT_ONCE = 1000


class Gathering:
    """Hands over what comes in while a commit is under way as one portion of the next: a thread for each request costs more."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._waiting: list[Waiting] = []
        self._writer: asyncio.Task[None] | None = None

    async def submit(self, submissions: Sequence[Submission]) -> Sequence[bool]:
        """Store submissions; on return they are on the disk.

        Returns:
            For each whether it is new.

        Raises:
            UserError: they could not be stored.
        """
        settled: asyncio.Future[Sequence[bool]] = asyncio.get_running_loop().create_future()
        self._waiting.append((submissions, settled))
        if self._writer is None or self._writer.done():
            self._writer = asyncio.create_task(self._write())
        return await settled

    async def _write(self) -> None:
        while self._waiting:
            portion = self._next_portion()
            submissions = [one for handed, _ in portion for one in handed]
            storing = asyncio.ensure_future(run_in_threadpool(self._store, submissions))
            await asyncio.wait([storing])  # raises nothing: each request hears of a fault by itself
            fault, at = storing.exception(), 0
            for handed, settled in portion:
                if settled.done():
                    pass  # whoever waited has gone
                elif fault is not None:
                    settled.set_exception(fault)
                else:
                    settled.set_result(storing.result()[at : at + len(handed)])
                at += len(handed)

    def _next_portion(self) -> list[Waiting]:
        taken, count = 0, 0
        while taken < len(self._waiting) and (not taken or count + len(self._waiting[taken][0]) <= MOST_AT_ONCE):
            count += len(self._waiting[taken][0])
            taken += 1
        portion, self._waiting = self._waiting[:taken], self._waiting[taken:]
        return portion


def gathering_of(request: Request) -> Gathering:
    """The gathering of the server that got a request."""
    return cast(Gathering, request.app.state.gathering)
