"""Calls in flight: of several that ask for the same thing at once, one makes the call and all get what comes of it."""

import asyncio
from collections.abc import Awaitable, Callable, Hashable
from typing import Any, Generic, TypeVar

Made = TypeVar("Made")


class CallsInFlight(Generic[Made]):
    """The calls of one event loop, by key. Nothing of them is stored: what a crash interrupts is asked again."""

    def __init__(self, stored: Callable[[Made], "asyncio.Future[Any] | None"]) -> None:
        """Begin without calls.

        Args:
            stored: what is done once a result is stored; until then it serves those who ask. None: at once.
        """
        self._stored = stored
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
            stored = None if made is None else self._stored(made)
            if stored is None:
                del self._calls[key]
            else:
                stored.add_done_callback(lambda _: self._calls.pop(key, None))
        return made, True
