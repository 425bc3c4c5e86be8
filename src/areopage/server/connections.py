"""Limits of connections: how long and how large a request's head may be, how many requests of a connection may wait, and how many
connections there are in all and per client."""

import asyncio
import socket
from collections import Counter
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

RESERVED_FILES = 200
"""Files and connections of the process that are not connections of clients."""
HEAD_BYTES = 64 * 1024
"""The size of the largest head of a request, its address included."""
HEAD_LINES = 200
"""The most header lines of a request."""
QUEUED = 1
"""How many requests of a connection may wait for the answer to one before."""


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
            self._make_room(next((waiting for waiting, its in self._waiting.items() if its == client), connection))
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


class _Stop(Exception):
    """Ends the reading of what a client sends."""


class LimitedProtocol(HttpToolsProtocol):
    """A connection that is closed where a request's head does not arrive in time, or is too large; see `limited`.

    A client that sends more requests than one while it waits for an answer gets no answer to them.
    """

    limits: ConnectionLimits
    _head_timer: asyncio.TimerHandle | None = None
    _client_name = ""
    _head_bytes = _unparsed = 0
    _is_too_large = _is_deaf = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Count the connection and wait for its first request."""
        super().connection_made(transport)
        connection = transport.get_extra_info("socket")
        if connection is not None:  # asyncio does so only for sockets that name their protocol
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._client_name = self.client[0] if self.client else ""
        self.limits.admit(self, self._client_name)
        if not transport.is_closing():
            self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection."""
        self._stop_timer()
        self.limits.gone(self, self._client_name)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Read what came; a head that grows without end is refused."""
        if self._is_deaf:
            return
        self._unparsed += len(data)
        super().data_received(data)
        if self._unparsed > HEAD_BYTES and not self._is_deaf and not self.transport.is_closing():
            self._is_too_large = True
            self.send_400_response("")

    def on_message_begin(self) -> None:
        """Begin a head."""
        self._head_bytes = 0
        super().on_message_begin()

    def on_url(self, url: bytes) -> None:
        """Take a part of the address."""
        self._count(len(url))
        super().on_url(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        """Take a header line."""
        self._count(len(name) + len(value) + len(": \r\n"))
        if len(self.headers) >= HEAD_LINES:
            self._refuse_head()
        super().on_header(name, value)

    def on_body(self, body: bytes) -> None:
        """Take a part of a body, which has a limit of its own."""
        self._unparsed = 0
        super().on_body(body)

    def on_message_complete(self) -> None:
        """End a request's content."""
        self._unparsed = 0
        super().on_message_complete()

    def on_headers_complete(self) -> None:
        """Begin a request: its head is there."""
        self._unparsed = 0
        if len(self.pipeline) >= QUEUED:
            self._is_deaf = True
            raise _Stop
        self._stop_timer()
        self.limits.busy(self)
        super().on_headers_complete()

    def send_400_response(self, msg: str) -> None:
        """Refuse what was sent, and close the connection: at once, or after the answers that are owed."""
        is_answering = self.cycle is not None and not self.cycle.response_complete
        if self._is_deaf and is_answering:
            (self.pipeline[0][0] if self.pipeline else self.cycle).keep_alive = False
            self.flow.pause_reading()
        elif is_answering:
            self.transport.abort()
        elif self._is_too_large:
            self._is_deaf = True
            self.transport.write(_TOO_LARGE)
            self.transport.close()
        else:
            super().send_400_response(msg)

    def _count(self, size: int) -> None:
        self._head_bytes += size
        if self._head_bytes > HEAD_BYTES:
            self._refuse_head()

    def _refuse_head(self) -> None:
        self._is_too_large = True
        raise _Stop

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


_REASON = f"the head of the request is too large: send at most {HEAD_BYTES // 1024} kB and {HEAD_LINES} header lines"
_TOO_LARGE = (
    "HTTP/1.1 431 Request Header Fields Too Large\r\ncontent-type: text/plain; charset=utf-8\r\n"
    f"content-length: {len(_REASON)}\r\nconnection: close\r\n\r\n{_REASON}"
).encode("ascii")


def limited(limits: ConnectionLimits) -> type[LimitedProtocol]:
    """The class of connections with these limits, as uvicorn wants it."""
    made: dict[str, Any] = {"limits": limits}
    return type("LimitedProtocol", (LimitedProtocol,), made)
