"""HTTP/1.1 to one server over connections that stay open: httptools reads the answers, asyncio carries the bytes.

A call to a model is a request with a whole body and one answer. A general client takes three times the processor time for it
(docs/decisions). Requests through a proxy, and files, are sent by `areopage.models.transfers`.
"""

import asyncio
import ssl
import zlib
from collections import deque
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any, NamedTuple, cast
from urllib.parse import quote, urlencode, urlsplit

import httptools

from areopage.models.settings import Timeouts

Query = Sequence[tuple[str, str]]

KEPT_IDLE = 15.0
"""Seconds after which an idle connection is not used again: its server may be closing it."""
MAX_HEAD_BYTES = 64 * 1024
"""Bytes that an answer may have before its content, and that may follow the last of it."""
_READ_BYTES = 16 * 1024
_NEXT_ADDRESS_AFTER = 0.25
"""Seconds after which the next address of a name is tried as well (RFC 8305)."""
_KEPT_PATHS = 16
_ZLIB_OR_GZIP, _BARE_DEFLATE = 47, -15
_PATH_SIGNS = "/:@!$&'()*+,;=~-._%"
HEADERS = {
    "Accept": "application/json",
    "Accept-Encoding": "gzip, deflate",
    "Content-Type": "application/json",
    "User-Agent": "areopage",
}
"""What requests say, unless the user's headers say otherwise."""


class Reply(NamedTuple):
    """What came back; `content` is None where it is too large. Names of headers are in lower case."""

    status: int
    headers: Mapping[str, str]
    content: bytes | None


class NoConnectionInTime(TimeoutError):
    """No connection was free, or the server accepted none, within the limits."""


class NoConnection(Exception):
    """The server cannot be reached; `reason` says why."""

    def __init__(self, reason: OSError) -> None:
        super().__init__(str(reason))
        self.reason = reason


class ConnectionBroke(Exception):
    """The connection broke, or what came over it is no HTTP."""


class ProxyRefused(Exception):
    """The proxy cannot be reached, or does not carry the request; `status` is its answer, None where there is none."""

    def __init__(self, why: str, status: int | None = None) -> None:
        super().__init__(why)
        self.status = status


def with_usual(headers: Mapping[str, str]) -> dict[str, str]:
    """Headers together with those of `HEADERS` that they do not name."""
    own = {name.lower() for name in headers}
    return {**{name: value for name, value in HEADERS.items() if name.lower() not in own}, **headers}


class IdleConnections:
    """Open connections that carry nothing, in one event loop; several users of the same servers may share them."""

    def __init__(self) -> None:
        self._idle: dict[tuple[bool, str, int], deque[_Connection]] = {}
        self._users = 0

    def join(self) -> None:
        """Count a user."""
        self._users += 1

    def leave(self) -> None:
        """Count one user less; the last one closes the connections."""
        self._users -= 1
        while self._idle and not self._users:
            _, connections = self._idle.popitem()
            while connections:
                connections.pop().close()

    def put(self, place: tuple[bool, str, int], connection: "_Connection") -> None:
        """Keep a connection to a place: whether it is encrypted, its host and port. It is closed where no user is left."""
        if self._users:
            self._idle.setdefault(place, deque()).append(connection)
        else:
            connection.close()

    def take(self, place: tuple[bool, str, int], now: float) -> "_Connection | None":
        """The connection to a place that was used last, if one can still be used."""
        idle = self._idle.get(place)
        while idle:
            found = idle.pop()
            if found.usable and now - found.idle_since < KEPT_IDLE:
                return found
            found.close()
        return None


class Connections:
    """The connections to one server, in one event loop."""

    def __init__(
        self, address: str, headers: Mapping[str, str], timeouts: Timeouts, most: int, idle: IdleConnections | None = None
    ) -> None:
        """Prepare; nothing is opened yet.

        Args:
            address: `http(s)://host[:port][/path]`.
            headers: sent with every request.
            timeouts: the limits of a call.
            most: how many connections may carry requests at once.
            idle: those that others have opened may be used, and those of this instance by others.
        """
        parts = urlsplit(address)
        self._tls = parts.scheme == "https"
        self._host, self._port = parts.hostname or "", parts.port or (443 if self._tls else 80)
        self._place = (self._tls, self._host, self._port)
        self._path = parts.path
        self._beginnings: dict[tuple[str, str], bytes] = {}
        host = parts.netloc if parts.netloc.isascii() else parts.netloc.encode("idna").decode()
        said = with_usual(headers)
        if "host" not in {name.lower() for name in said}:
            said = {"Host": host, **said}
        self._head = "".join(f"{name}: {value}\r\n" for name, value in said.items()).encode()
        self._timeouts = timeouts
        self._places = asyncio.Semaphore(most)
        self._idle = idle or IdleConnections()
        self._idle.join()
        self._context: ssl.SSLContext | None = None

    async def exchange(
        self, method: str, path: str, body: bytes | None, total: float, most: int, query: Query | None = None
    ) -> Reply:
        """Send a request and return its answer, with any status.

        Args:
            path: below the address.
            total: seconds for all of it.
            most: bytes of the largest content of an answer.

        Raises:
            NoConnectionInTime, NoConnection, ConnectionBroke: nothing, or only part of an answer, came back.
            TimeoutError: `Timeouts.read` or `total` has passed.
        """
        loop = asyncio.get_running_loop()
        ends = loop.time() + total
        connection = await self._taken(loop, ends)
        try:
            return await connection.send(self._request(method, path, body, query), self._timeouts.read, ends, most)
        finally:
            if connection.release():
                self._idle.put(self._place, connection)
            self._places.release()

    async def aclose(self) -> None:
        """Close the idle connections, unless others use them; one in use is closed when its exchange ends."""
        self._idle.leave()
        await asyncio.sleep(0)  # the transports close in the loop's next turn

    def _request(self, method: str, path: str, body: bytes | None, query: Query | None) -> bytes:
        beginning = self._beginnings.get((method, path))
        if query or beginning is None:
            target = quote(self._path + path, _PATH_SIGNS) or "/"
            if query:
                target += "?" + urlencode(query)
            beginning = f"{method} {target} HTTP/1.1\r\n".encode() + self._head
            if not query and len(self._beginnings) < _KEPT_PATHS:
                self._beginnings[(method, path)] = beginning
        if body is None:
            return beginning + b"\r\n"
        return b"%sContent-Length: %d\r\n\r\n%s" % (beginning, len(body), body)

    async def _taken(self, loop: asyncio.AbstractEventLoop, ends: float) -> "_Connection":
        """A connection for one exchange, with its place."""
        limit = min(loop.time() + self._timeouts.pool + self._timeouts.connect, ends)
        if self._places.locked():
            try:
                async with asyncio.timeout_at(limit):
                    await self._places.acquire()
            except TimeoutError as error:
                raise _late(limit, ends) from error
        else:
            await self._places.acquire()  # without a wait
        try:
            return self._idle.take(self._place, loop.time()) or await self._opened(loop, limit, ends)
        except BaseException:
            self._places.release()
            raise

    async def _opened(self, loop: asyncio.AbstractEventLoop, limit: float, ends: float) -> "_Connection":
        limit = min(limit, loop.time() + self._timeouts.connect)
        if self._tls and self._context is None:
            self._context = ssl.create_default_context()
            self._context.set_alpn_protocols(["http/1.1"])
        staggered: dict[str, Any] = {}
        if isinstance(loop, asyncio.BaseEventLoop):  # other loops, such as uvloop's, try one address after the other
            staggered["happy_eyeballs_delay"] = _NEXT_ADDRESS_AFTER
        try:
            async with asyncio.timeout_at(limit):
                _, connection = await loop.create_connection(_Connection, self._host, self._port, ssl=self._context, **staggered)
        except OSError as error:
            if isinstance(error, TimeoutError) and error.errno is None:  # not the system's, which is a fault of the connection
                raise _late(limit, ends) from error
            raise NoConnection(error) from error
        except UnicodeError as error:
            raise NoConnection(OSError(str(error))) from error
        return connection


def _late(limit: float, ends: float) -> TimeoutError:
    return NoConnectionInTime() if limit < ends else TimeoutError()


class _Connection(asyncio.BufferedProtocol):
    """One connection, which carries one exchange at a time."""

    def __init__(self) -> None:
        self.usable = False
        self.idle_since = 0.0
        self._loop = asyncio.get_running_loop()
        self._buffer = memoryview(bytearray(_READ_BYTES))
        self._parser = httptools.HttpResponseParser(self)
        self._transport: asyncio.Transport | None = None
        self._answer: asyncio.Future[Reply] | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._silence = self._ends = self._heard = 0.0
        self._most = 0
        self._begin()

    def send(self, request: bytes, silence: float, ends: float, most: int) -> "asyncio.Future[Reply]":
        """Send a request; the future is its answer.

        Args:
            silence: seconds without any byte after which the exchange ends.
            ends: the moment at which it ends in any case.
            most: bytes of the largest content.
        """
        self._answer = answer = self._loop.create_future()
        self._complete = False
        self._silence, self._ends, self._most, self._heard = silence, ends, most, self._loop.time()
        self._look_at(min(ends, self._heard + silence))
        if self._transport is None or not self.usable:
            self._fail(ConnectionBroke("closed before the request"))
        else:
            self._transport.write(request)
        return answer

    def release(self) -> bool:
        """End the exchange; returns whether the connection can carry another one. It is closed if it cannot."""
        if not self._complete:
            self.usable = False
        self._answer, self.idle_since = None, self._loop.time()
        if not self.usable:
            self.close()
        return self.usable

    def close(self) -> None:
        """Close the connection at once."""
        self.usable = False
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._transport is not None:
            self._transport.abort()

    def _look_at(self, moment: float) -> None:
        """Look at a moment whether a limit has passed; the look for an exchange before serves where it comes first."""
        if self._timer is not None:
            if self._timer.when() <= moment:
                return
            self._timer.cancel()
        self._timer = self._loop.call_at(moment, self._look)

    def _look(self) -> None:
        """End the exchange where a limit has passed."""
        self._timer = None
        if self._answer is None:
            return
        due = min(self._ends, self._heard + self._silence)
        if self._loop.time() >= due:
            self._fail(TimeoutError())
        else:
            self._look_at(due)

    def _fail(self, error: Exception) -> None:
        self.usable = False
        if self._answer is not None and not self._answer.done():
            self._answer.set_exception(error)
        self.close()

    # --- called by the event loop

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        self.usable = True

    def connection_lost(self, error: Exception | None) -> None:
        if error is None and self._in_content and not self._complete and not self._is_delimited():
            self._end(by_close=True)
        self._transport = None
        self._fail(ConnectionBroke(type(error).__name__ if error else "closed by the server"))

    def get_buffer(self, sizehint: int) -> memoryview:
        return self._buffer

    def buffer_updated(self, nbytes: int) -> None:
        self._heard = self._loop.time()
        self._without_content += nbytes
        try:
            self._parser.feed_data(self._buffer[:nbytes])
        except (httptools.HttpParserError, httptools.HttpParserUpgrade):
            self._fail(ConnectionBroke("what came is not HTTP"))
            return
        if self._without_content > MAX_HEAD_BYTES:
            self._fail(ConnectionBroke("the headers have no end"))

    # --- called by the parser

    def on_message_begin(self) -> None:
        if self._answer is None or self._complete:
            raise ValueError("an answer to no request")
        self._begin()

    def on_header(self, name: bytes, value: bytes) -> None:
        self._fields.append((name, value))

    def on_headers_complete(self) -> None:
        self._in_content = True

    def on_body(self, body: bytes) -> None:
        self._without_content = 0
        self._parts.append(body)
        self._size += len(body)
        if self._size > self._most:
            self._settle(None)
            self.close()

    def on_message_complete(self) -> None:
        if self._parser.get_status_code() < HTTPStatus.OK:  # the answer follows
            self._begin()
        else:
            self._end()

    # --- an answer

    def _begin(self) -> None:
        self._fields: list[tuple[bytes, bytes]] = []
        self._parts: list[bytes] = []
        self._size = self._without_content = 0
        self._in_content = self._complete = False

    def _end(self, *, by_close: bool = False) -> None:
        self._complete = True
        unsent = self._transport is not None and self._transport.get_write_buffer_size() > 0
        self.usable = self.usable and not by_close and not unsent and self._parser.should_keep_alive()
        content = self._parts[0] if len(self._parts) == 1 else b"".join(self._parts)
        try:
            self._settle(_unpacked(content, self._header(b"content-encoding"), self._most))
        except (zlib.error, EOFError) as error:
            self._fail(ConnectionBroke(f"the content cannot be unpacked ({type(error).__name__})"))

    def _settle(self, content: bytes | None) -> None:
        if self._answer is not None and not self._answer.done():
            headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in reversed(self._fields)}
            self._answer.set_result(Reply(self._parser.get_status_code(), headers, content))

    def _header(self, name: bytes) -> bytes:
        return next((value.strip().lower() for found, value in self._fields if found.lower() == name), b"")

    def _is_delimited(self) -> bool:
        """Whether the answer says where its content ends; it ends with the connection else."""
        return bool(self._header(b"content-length") or self._header(b"transfer-encoding"))


def _unpacked(content: bytes, encoding: bytes, most: int) -> bytes | None:
    """Content as it was before it was packed; None where it is larger than `most`."""
    if encoding not in (b"gzip", b"x-gzip", b"deflate") or not content:
        return content
    bare = encoding == b"deflate" and not _has_zlib_header(content)
    unpacking = zlib.decompressobj(_BARE_DEFLATE if bare else _ZLIB_OR_GZIP)
    found = unpacking.decompress(content, most + 1)
    if len(found) > most:
        return None
    if not unpacking.eof:
        raise EOFError
    return found


def _has_zlib_header(content: bytes) -> bool:
    """Whether deflated content begins as RFC 1950 says; some servers leave the header out."""
    return content[0] & 0x0F == zlib.DEFLATED and int.from_bytes(content[:2]) % 31 == 0
