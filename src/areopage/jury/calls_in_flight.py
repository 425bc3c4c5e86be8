"""Calls in flight: of several that ask for the same thing at once, one makes the call and all get what comes of it."""

import asyncio
from collections.abc import Awaitable, Callable, Hashable
from typing import Generic, TypeVar

Made = TypeVar("Made")
KEPT_SECONDS = 1.0
"""How long a result is kept for those who looked for it in the ledger just before it was committed."""


class CallsInFlight(Generic[Made]):
    """The calls of one event loop, by key. Nothing of them is stored: what a crash interrupts is asked again."""

    def __init__(self, keeps: Callable[[Made], bool]) -> None:
        """Begin without calls.

        Args:
            keeps: whether a result also serves those who ask within the next second; a failure should not.
        """
        self._keeps = keeps
        self._calls: dict[Hashable, asyncio.Future[Made | None]] = {}

    async def share(self, key: Hashable, make: Callable[[], Awaitable[Made]]) -> tuple[Made, bool]:
        """Make a call, or wait for the same one.

        Where the caller that made it was cancelled or failed, one of those who wait makes it.

        Returns:
            What came of it, and whether this caller made it.
        """
        while (call := self._calls.get(key)) is not None:
            made = await asyncio.shield(call)
            if made is not None:
                return made, False
        loop = asyncio.get_running_loop()
        call = self._calls[key] = loop.create_future()
        made = None
        try:
            made = await make()
        finally:
            call.set_result(made)
            if made is not None and self._keeps(made):
                loop.call_later(KEPT_SECONDS, self._calls.pop, key, None)
            else:
                del self._calls[key]
        return made, True
