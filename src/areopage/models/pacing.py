"""When calls to a server may begin: spaced to its limits of requests and tokens a minute; no clock of its own."""

import threading

from areopage.models.rate_headers import Allowance

LONGEST_HOLD = 60.0
"""Seconds that calls are held at most where a server says that nothing is left."""
LITTLE = 0.1
"""The share of a limit under which what is left is spread over the time until the reset."""
FEW = 10.0
"""The same where the server does not tell its limit: requests, or thousands of tokens."""


class _Line:
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
        self._stated = {kind: _Line(limit / 60.0) for kind, limit in stated.items() if limit is not None}
        self._told: dict[str, tuple[_Line, float]] = {}
        self._guard = threading.Lock()

    def reserve(self, tokens: float, now: float) -> float:
        """Take the next free moment for a call.

        Args:
            tokens: what the call is expected to use.
            now: in seconds, of a clock that only grows.

        Returns:
            When the call may begin, at least `now`.
        """
        if not self._stated and not self._told:
            return now
        units = {"requests": 1.0, "tokens": tokens}
        with self._guard:
            self._told = {kind: (line, until) for kind, (line, until) in self._told.items() if until > now}
            lines = [*self._stated.items(), *((kind, line) for kind, (line, _) in self._told.items())]
            begins = max([now, *(line.free_at for _, line in lines)])
            for kind, line in lines:
                line.take(units[kind], begins)
        return begins

    def limit_to(self, share: float) -> None:
        """Keep calls within a part of the stated limits: other processes have the rest. Calls that wait keep their moments.

        Args:
            share: greater than 0, at most 1.
        """
        with self._guard:
            for kind, line in self._stated.items():
                line.per_second = self._whole[kind] * share

    def correct(self, difference: float) -> None:
        """Count tokens that a call used beyond those it had reserved; fewer where negative."""
        with self._guard:
            lines = [self._stated.get("tokens"), *(line for kind, (line, _) in self._told.items() if kind == "tokens")]
            for line in lines:
                if line is not None:
                    line.free_at += difference / line.per_second

    def told(self, allowance: Allowance, now: float) -> None:
        """Note what a server says is left: where it is little, it is spread over the time until the reset."""
        few = FEW if allowance.kind == "requests" else 1000.0 * FEW
        little = few if allowance.limit is None else LITTLE * allowance.limit
        seconds = min(allowance.seconds, LONGEST_HOLD)
        with self._guard:
            if allowance.left >= little or seconds <= 0:
                self._told.pop(allowance.kind, None)
                return
            line, _ = self._told.get(allowance.kind, (_Line(1.0), 0.0))
            if allowance.left < 1:
                line.free_at = max(line.free_at, now + seconds)
            line.per_second = max(allowance.left, 1.0) / seconds
            line.free_at = min(max(line.free_at, now), now + LONGEST_HOLD)
            self._told[allowance.kind] = (line, now + seconds)
