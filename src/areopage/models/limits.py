"""The limiter of calls to a server: how many are open at once, and when the next may begin.

How many is found by additive increase and multiplicative decrease. A server says that it is asked too much (429, 503 with a
pause, a time-out). Then fewer calls are open at once; each answer that arrives lets the number grow again, by one for each round
of calls. This finds the number that the server takes, shares the server fairly with other clients, and follows a limit that
changes. Source: D.-M. Chiu, R. Jain, "Analysis of the increase and decrease algorithms for congestion avoidance in computer
networks" (Computer Networks and ISDN Systems 17, 1989).

A `Pacer` spaces the calls to the server's limits of requests and tokens a minute.

A caller may keep the places of its calls until what they brought is stored: whenever the process is killed, no more calls have to
be made again than the caller wants open at once.
"""

import asyncio
import math
import threading
from collections import deque
from contextlib import suppress
from contextvars import ContextVar
from types import TracebackType
from typing import Self

from areopage.models.rate_headers import Allowance
from areopage.models.settings import Endpoint

CUT = 0.7
"""The part of the open calls that is kept after a server was asked too much."""
_NEW_ROUND = 0.2
"""The weight of the newest answer in the mean time of a round."""
LONGEST_HOLD = 60.0
"""Seconds that calls are held at most where a server says that nothing is left."""
LITTLE = 0.1
"""The share of a limit under which what is left is spread over the time until the reset."""
FEW = 10.0
"""The same where the server does not tell its limit: requests, or thousands of tokens."""


class CallWindow:
    """The number of calls that may be open at once, computed from what became of earlier ones; no clock of its own."""

    def __init__(self, most: int | None = None) -> None:
        self.most = math.inf if most is None else most
        """How many calls may be open in any case; 0: none begins."""
        self._limit = math.inf
        self._round = 0.0
        self._quiet_until = -math.inf

    @property
    def allowed(self) -> float:
        """How many calls may be open, at least 1 unless `most` is less; without `most` infinite until the server was asked too
        much."""
        return self.most if self._limit == math.inf else min(self.most, math.floor(self._limit))

    def answered(self, open_calls: int, seconds: float) -> None:
        """Note an answer, with the calls open at that moment, this one included: the window grows only where it was full."""
        self._round = seconds if not self._round else self._round + _NEW_ROUND * (seconds - self._round)
        if self._limit < math.inf and open_calls >= self.allowed:
            self._limit += 1.0 / self._limit

    def asked_too_much(self, open_calls: int, now: float) -> None:
        """Note a call for which the server was asked too much. Calls that began before the last cut cut it no further."""
        if now < self._quiet_until:
            return
        self._limit = max(1.0, CUT * min(self._limit, open_calls))
        self._quiet_until = now + self._round


class _Rate:
    """Units that pass one after the other, each when those before it have had their time."""

    def __init__(self, per_second: float) -> None:
        self.per_second = per_second
        self.free_at = 0.0

    def take(self, units: float, begins: float) -> None:
        self.free_at = max(self.free_at, begins) + units / self.per_second


class Pacer:
    """Spaces the calls to one server; any number of threads may use it.

    In each minute the requests that begin stay within their limit, and the tokens exceed theirs by those of one call at most.
    """

    def __init__(self, requests_per_minute: float | None = None, tokens_per_minute: float | None = None) -> None:
        """Set the limits that the user states; None: none."""
        stated = {"requests": requests_per_minute, "tokens": tokens_per_minute}
        self._whole = {kind: limit / 60.0 for kind, limit in stated.items() if limit is not None}
        self._stated = {kind: _Rate(limit / 60.0) for kind, limit in stated.items() if limit is not None}
        self._announced: dict[str, tuple[_Rate, float]] = {}
        self._guard = threading.Lock()

    def reserve(self, tokens: float, now: float) -> float:
        """Take the next free moment for a call.

        Returns:
            When the call may begin, at least `now`.
        """
        if not self._stated and not self._announced:
            return now
        units = {"requests": 1.0, "tokens": tokens}
        with self._guard:
            self._announced = {kind: (line, until) for kind, (line, until) in self._announced.items() if until > now}
            lines = [*self._stated.items(), *((kind, line) for kind, (line, _) in self._announced.items())]
            begins = max([now, *(line.free_at for _, line in lines)])
            for kind, line in lines:
                line.take(units[kind], begins)
        return begins

    def limit_to(self, share: float) -> None:
        """Keep calls within a part of the stated limits: other processes have the rest. Calls that wait keep their moments."""
        with self._guard:
            for kind, line in self._stated.items():
                line.per_second = self._whole[kind] * share

    def correct(self, difference: float) -> None:
        """Count tokens that a call used beyond those it had reserved; fewer where negative."""
        with self._guard:
            lines = [self._stated.get("tokens"), *(line for kind, (line, _) in self._announced.items() if kind == "tokens")]
            for line in lines:
                if line is not None:
                    line.free_at += difference / line.per_second

    def note(self, allowance: Allowance, now: float) -> None:
        """Note what a server says is left: where it is little, it is spread over the time until the reset."""
        few = FEW if allowance.kind == "requests" else 1000.0 * FEW
        little = few if allowance.limit is None else LITTLE * allowance.limit
        seconds = min(allowance.seconds, LONGEST_HOLD)
        with self._guard:
            if allowance.left >= little or seconds <= 0:
                self._announced.pop(allowance.kind, None)
                return
            line, _ = self._announced.get(allowance.kind, (_Rate(1.0), 0.0))
            if allowance.left < 1:
                line.free_at = max(line.free_at, now + seconds)
            line.per_second = max(allowance.left, 1.0) / seconds
            line.free_at = min(max(line.free_at, now), now + LONGEST_HOLD)
            self._announced[allowance.kind] = (line, now + seconds)


class Limiter:
    """The calls to one server: those beyond the window wait for their turn, and calls that are made again go first."""

    def __init__(self, most: int | None = None, at_once: int | None = None, pacer: Pacer | None = None) -> None:
        """Begin.

        Args:
            most: see `CallWindow`.
            at_once: how many calls the caller wants open at most, those whose places are kept included; None: any number.
            pacer: spaces the calls, in place of one without limits; several limiters may share it.
        """
        self.window, self.pacer = CallWindow(most), pacer or Pacer()
        self._at_once = math.inf if at_once is None else at_once
        self.shut_until = -math.inf
        """The moment until which the server asked for a pause."""
        self.open_calls = self._kept = 0
        self._freed: deque[None] = deque()
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._loop: asyncio.AbstractEventLoop | None = None

    @property
    def wanted(self) -> int:
        """How many calls are open or wait for their turn."""
        return self.open_calls + sum(not turn.done() for turn in self._waiting)

    def limit_to(self, most: float) -> None:
        """Change how many calls may be open; those that are open stay."""
        self.window.most = most
        self._admit()

    @property
    def _has_room(self) -> bool:
        return self.open_calls + self._kept < self._at_once and self.open_calls < self.window.allowed

    async def enter(self, *, first: bool = False) -> None:
        """Wait for a turn; `leave` ends it."""
        loop = asyncio.get_running_loop()
        if loop is not self._loop:  # the calls of an event loop that has ended are gone
            self._loop, self.open_calls, self._kept, self._waiting = loop, 0, 0, deque()
            self._freed.clear()
        if self._has_room:
            self.open_calls += 1
            return
        turn = loop.create_future()
        if first:
            self._waiting.appendleft(turn)
        else:
            self._waiting.append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                self.leave()
            raise

    def leave(self, *, keep: bool = False) -> None:
        """End a call, and let the next ones begin."""
        if self._loop is None or self._loop.is_closed():
            return
        self.open_calls -= 1
        self._kept += keep
        self._admit()

    def free(self) -> None:
        """Free a place that was kept; from any thread."""
        self._freed.append(None)
        if len(self._freed) == 1 and self._loop is not None:  # else the loop frees it with those before it
            with suppress(RuntimeError):  # the loop has ended
                self._loop.call_soon_threadsafe(self._free)

    def _free(self) -> None:
        while self._freed:
            self._freed.popleft()
            self._kept = max(0, self._kept - 1)  # 0 where the place was kept in an event loop that has ended
        self._admit()

    def _admit(self) -> None:
        while self._waiting and self._has_room:
            turn = self._waiting.popleft()
            if not turn.done():
                self.open_calls += 1
                turn.set_result(None)


class KeptPlaces:
    """The places of calls that are made while the block runs: they are kept until `free`, unless the block raises."""

    def __init__(self) -> None:
        self._of: list[Limiter] = []

    def __enter__(self) -> Self:
        self._before = KEPT.set(self)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        KEPT.reset(self._before)
        if kind is not None:
            self.free()

    def keep(self, limiter: Limiter) -> None:
        """Keep the place of a call that ends."""
        self._of.append(limiter)
        limiter.leave(keep=True)

    def free(self) -> None:
        """Free the places; from any thread."""
        while self._of:
            self._of.pop().free()


KEPT: ContextVar[KeptPlaces | None] = ContextVar("kept places", default=None)
"""What keeps the places of the calls of a task; None where they are free when a call ends."""


def limiter_of(endpoint: Endpoint | None, at_once: int | None = None, pacer: Pacer | None = None) -> Limiter:
    """What bounds and spaces the calls to a server: its stated limits, none for None, and what the caller wants open at most."""
    if endpoint is None:
        return Limiter(None, at_once, pacer)
    return Limiter(endpoint.concurrency, at_once, pacer or Pacer(endpoint.requests_per_minute, endpoint.tokens_per_minute))
