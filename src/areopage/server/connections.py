"""Limits of connections: how long a request's head may take, and how many connections there are in all and per client."""

import asyncio
import resource
from collections import Counter
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

RESERVED_FILES = 200
"""Files and connections of the process that are not connections of clients."""


class ConnectionLimits:
    """The connections of a server, those first that have waited for a request the longest.

    Where a limit is reached, the connection that has waited the longest for a request, of the client or of all, is closed for the
    new one; where none waits, the new one is closed. So silent connections do not lock other clients out.
    """

    def __init__(self, most: int, per_client: int, head_seconds: float) -> None:
        self.head_seconds = head_seconds
        self._most, self._per_client = most, per_client
        self._clients: Counter[str] = Counter()
        self._waiting: dict[LimitedProtocol, str] = {}

    def admit(self, connection: "LimitedProtocol", client: str) -> None:
        """Count a new connection; it, or one that waits, is closed where there are too many."""
        if self._clients[client] >= self._per_client:
            self._make_room(next((one for one, its in self._waiting.items() if its == client), connection))
        elif self._clients.total() >= self._most:
            self._make_room(next(iter(self._waiting), connection))
        self._clients[client] += 1

    def _make_room(self, leaving: "LimitedProtocol") -> None:
        self._waiting.pop(leaving, None)
        leaving.transport.abort()

    def waits(self, connection: "LimitedProtocol", client: str) -> None:
        """Remember that a connection has no request under way."""
        self._waiting[connection] = client

    def busy(self, connection: "LimitedProtocol") -> None:
        """Remember that a connection has a request under way."""
        self._waiting.pop(connection, None)

    def gone(self, connection: "LimitedProtocol", client: str) -> None:
        """Forget a connection."""
        self._waiting.pop(connection, None)
        self._clients[client] -= 1
        if not self._clients[client]:
            del self._clients[client]


class LimitedProtocol(HttpToolsProtocol):
    """A connection that is closed where a request's head does not arrive in time; see `limited`."""

    limits: ConnectionLimits
    _head_timer: asyncio.TimerHandle | None = None
    _client_name = ""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Count the connection and wait for its first request."""
        super().connection_made(transport)
        self._client_name = self.client[0] if self.client else ""
        self.limits.admit(self, self._client_name)
        if not transport.is_closing():
            self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection."""
        self._stop_timer()
        self.limits.gone(self, self._client_name)
        super().connection_lost(exc)

    def on_headers_complete(self) -> None:
        """Begin a request: its head is there."""
        self._stop_timer()
        self.limits.busy(self)
        super().on_headers_complete()

    def on_response_complete(self) -> None:
        """End a request, and wait for the next."""
        super().on_response_complete()
        if self.cycle.response_complete and not self.transport.is_closing():
            self._wait()

    def _wait(self) -> None:
        self._stop_timer()
        self.limits.waits(self, self._client_name)
        self._head_timer = self.loop.call_later(self.limits.head_seconds, self.transport.abort)

    def _stop_timer(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None


def limited(limits: ConnectionLimits) -> type[LimitedProtocol]:
    """The class of connections with these limits, as uvicorn wants it."""
    made: dict[str, Any] = {"limits": limits}
    return type("LimitedProtocol", (LimitedProtocol,), made)


def room_for(wanted: int) -> int:
    """How many connections of the wanted ones the process may open, after its limit of open files is raised as far as it may."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    enough = wanted + RESERVED_FILES
    if soft != resource.RLIM_INFINITY and soft < enough:
        raised = enough if hard == resource.RLIM_INFINITY else min(enough, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (raised, hard))
        soft = raised
    return wanted if soft == resource.RLIM_INFINITY else max(1, min(wanted, soft - RESERVED_FILES))
