"""A server that is gone: the calls to it wait together, and one at a time finds out whether it is back (a circuit breaker).

The server counts as gone where no connection to it comes about, or where several calls in a row brought no answer. Then no call
is made but one, after a pause that grows; the first answer lets all calls go on. A server that is gone for too long is given up.
"""

import asyncio
import random
import time
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Protocol

from areopage.errors import CallTimedOut, CallUnreachable

SILENT_IN_A_ROW = 5
"""So many calls without an answer, of two or more callers, mean that the server is gone."""
FIRST_PAUSE, LONGEST_PAUSE = 0.5, 30.0
"""The limits of the first back-off and of any, in seconds."""
LONGEST_DOUBLING = 30


class OutageObserver(Protocol):
    """Is told about servers that are gone for longer than a moment."""

    def server_gone(self, address: str, seconds: float) -> None:
        """Report that calls to a server wait, for so many seconds at most."""

    def server_back(self, address: str, seconds: float) -> None:
        """Report that a server answers again, after so many seconds."""


def backed_off(faults: int, draw: Callable[[], float]) -> float:
    """Full jitter: anything up to a limit that doubles from fault to fault; never 0, or a loop would spin."""
    return min(LONGEST_PAUSE, FIRST_PAUSE * 2.0 ** min(faults - 1, LONGEST_DOUBLING)) * (1.0 - draw())


class Breaker:
    """Whether a server is there, as the calls of one event loop find it."""

    def __init__(
        self,
        address: str = "",
        outage: float = 0.0,
        observer: OutageObserver | None = None,
        *,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
        draw: Callable[[], float] = random.random,
    ) -> None:
        """Watch a server.

        Args:
            address: of the server, as it is shown to the user.
            outage: seconds after which a server that is gone is given up; 0: no call waits for it.
            observer: is told once of each outage, and of its end.
            clock, sleep, draw: see `areopage.models.retry.Calls`.
        """
        self._address, self._outage, self._observer = address, outage, observer
        self._clock, self._sleep, self._draw = clock, sleep, draw
        self._loop: asyncio.AbstractEventLoop | None = None
        self._waiting: deque[tuple[object, asyncio.Future[None]]] = deque()
        self._prober: object = None
        self._silent = 0
        self._silent_calls: set[object] = set()
        self._fault: CallTimedOut | CallUnreachable | None = None
        self._since = self._next_probe = 0.0
        self._probes = 0
        self._reported = False
        self.gone = False
        """Whether the server has not answered since it was found to be gone."""
        self.given_up = False
        """Whether the server is gone for longer than calls wait. Then every call is made at once, and may fail."""

    async def wait(self, call: object) -> None:
        """Wait while the server is gone: until it is back, or until it is this call's turn to probe it.

        Every call that has waited ends with `done`.
        """
        loop = asyncio.get_running_loop()
        if loop is not self._loop:  # the calls of an event loop that has ended are gone
            self._loop, self._waiting, self._prober = loop, deque(), None
        try:
            while self.gone and not self.given_up:
                self._prober = self._prober or call
                if self._prober is call:
                    while self.gone and (left := self._next_probe - self._clock()) > 0:
                        await self._sleep(left)
                    return
                turn = loop.create_future()
                self._waiting.append((call, turn))
                await turn
                if self.given_up:
                    raise self.last_fault()
        except asyncio.CancelledError:
            self.done(call)
            raise

    def answered(self) -> None:
        """Note that the server answers."""
        self._silent = 0
        self._silent_calls.clear()
        if not self.gone:
            return
        self.gone = self.given_up = False
        self._wake_all()
        if self._reported and self._observer is not None:
            self._observer.server_back(self._address, self._clock() - self._since)

    def failed(self, fault: CallTimedOut | CallUnreachable, call: object) -> bool:
        """Note a call that failed; return whether it should be made again once `wait` lets it."""
        absent = fault.silent or (isinstance(fault, CallUnreachable) and fault.unconnected)
        probed = self._prober is call
        if not absent and not (isinstance(fault, CallTimedOut) and self.gone):
            if isinstance(fault, CallUnreachable):
                self.answered()
            return False
        now = self._clock()
        if not self.gone:
            if self._outage <= 0:
                return False
            if fault.silent:
                self._silent += 1
                self._silent_calls.add(call)
                # one call alone may be what breaks its connection
                if self._silent < SILENT_IN_A_ROW or len(self._silent_calls) < 2:
                    return False
            self.gone, self._reported, self._since, self._probes = True, False, now, 0
        self._fault = fault
        if self.given_up:
            return False
        if probed and now >= self._since + self._outage:
            self.given_up = True
            self._wake_all()
            return False
        if probed or not self._probes:
            self._probes += 1
            asked = fault.retry_after if isinstance(fault, CallUnreachable) else None
            pause = max(backed_off(self._probes, self._draw), min(asked or 0.0, LONGEST_PAUSE))
            self._next_probe = min(now + pause, self._since + self._outage)  # the last one when the outage has lasted too long
        if probed and not self._reported and self._observer is not None:
            self._reported = True
            self._observer.server_gone(self._address, self._outage)
        return absent

    def last_fault(self) -> CallUnreachable:
        """Why the server was given up; it says that no call can succeed."""
        return CallUnreachable(str(self._fault), unconnected=True)

    def done(self, call: object) -> None:
        """End a call; if it was the probe, another one may follow."""
        if self._prober is not call:
            return
        self._prober = None
        while self._waiting and self._prober is None:
            following, turn = self._waiting.popleft()
            if not turn.done():
                self._prober = following
                turn.set_result(None)

    def _wake_all(self) -> None:
        if self._loop is None or self._loop.is_closed():
            return
        while self._waiting:
            _, turn = self._waiting.popleft()
            if not turn.done():
                turn.set_result(None)
