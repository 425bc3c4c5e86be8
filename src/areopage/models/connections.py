"""HTTP connections to one server, which aiohttp carries; every fault of theirs becomes a `CallError`."""

import errno
import os
import re
import socket
import ssl
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from http import HTTPStatus
from io import BytesIO
from typing import Any, BinaryIO, NamedTuple

import aiohttp
from multidict import CIMultiDict

from areopage.errors import CallError, CallRejected, CallTimedOut, CallUnreachable
from areopage.models.contacts import shown_address
from areopage.models.error_bodies import NO_SERVER_BEHIND, one_line
from areopage.models.settings import Timeouts

_HEADERS = {
    "Accept": "application/json",
    "Accept-Encoding": "gzip, deflate",
    "Content-Type": "application/json",
    "User-Agent": "areopage",
}
"""What requests say, unless the user's headers say otherwise."""

_WRITTEN_AT_ONCE = 256 * 1024
"""Bytes of a body; a longer one is written in pieces, so that the event loop goes on meanwhile."""

_WRONG_HEADER = "it is cut, or the server, or a proxy in front of it, is to be corrected"
_PACKED = re.compile(r"Can not decode content-encoding: ([\w-]{1,40})")


class HttpReply(NamedTuple):
    """An answer; `content` is None where it is too large. The case of the headers' names does not matter."""

    status: int
    headers: Mapping[str, str]
    content: bytes | None


class _FreshRequest(aiohttp.ClientRequest):
    """A request that is not sent over a connection on which the server has spoken since the last answer.

    aiohttp would take what came for the answer to this request (https://github.com/aio-libs/aiohttp/issues/13656).
    """

    async def send(self, conn: aiohttp.connector.Connection) -> aiohttp.ClientResponse:
        if conn.protocol is None or conn.protocol.should_close:
            raise aiohttp.ServerDisconnectedError
        return await super().send(conn)


class Connections:
    """A session with one server, in one event loop."""

    def __init__(
        self, address: str, headers: Mapping[str, str], timeouts: Timeouts, *, most: int, largest: int, proxy: str | None
    ) -> None:
        """Open the session in the running event loop; connections are opened with the first requests."""
        self._address, self._timeouts, self._largest, self._proxy = address, timeouts, largest, proxy
        all_headers = CIMultiDict(_HEADERS)
        all_headers.update(headers)
        # trust_env stays off: it reads ~/.netrc in a thread for each call, and sends what that file names for the host.
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=most),
            headers=all_headers,
            cookie_jar=aiohttp.DummyCookieJar(),
            request_class=_FreshRequest,
        )

    async def exchange(
        self, method: str, path: str, body: bytes | None, total: float, query: Sequence[tuple[str, str]] | None = None
    ) -> HttpReply:
        """Send a request and return its answer, with any status."""
        data = BytesIO(body) if body is not None and len(body) > _WRITTEN_AT_ONCE else body
        async with self._answer(method, path, total, data=data, params=query) as response:
            return await self._reply(response)

    async def upload(self, path: str, fields: Sequence[tuple[str, str]], name: str, file: BinaryIO, total: float) -> HttpReply:
        """Send a form with one file, read from its begin, under the field `file`; faults as for `exchange`."""
        with os.fdopen(os.dup(file.fileno()), "rb") as content, aiohttp.MultipartWriter("form-data") as form:
            content.seek(0)
            for field, value in fields:
                form.append(value).set_content_disposition("form-data", name=field)
            part = form.append(content, {"Content-Type": "application/jsonl"})
            part.set_content_disposition("form-data", name="file", filename=name)
            async with self._answer("POST", path, total, data=form, headers={"Content-Type": form.content_type}) as response:
                return await self._reply(response)

    async def download(self, path: str, file: BinaryIO, limit: int, total: float) -> HttpReply:
        """Write what a path holds into a file, in place of what it held; faults as for `exchange`."""
        file.seek(0)
        file.truncate()
        async with self._answer("GET", path, total) as response:
            if response.status != HTTPStatus.OK:
                return await self._reply(response)
            is_whole = await _copied(response, file, limit)
            return HttpReply(response.status, response.headers, b"" if is_whole else None)

    async def _reply(self, response: aiohttp.ClientResponse) -> HttpReply:
        content = BytesIO()
        is_whole = await _copied(response, content, self._largest)
        return HttpReply(response.status, response.headers, content.getvalue() if is_whole else None)

    async def aclose(self) -> None:
        """Close the connections."""
        await self._session.close()

    @asynccontextmanager
    async def _answer(self, method: str, path: str, total: float, **more: Any) -> AsyncIterator[aiohttp.ClientResponse]:
        """The answer to a request, while its content is read."""
        where = self._address + path
        limits = aiohttp.ClientTimeout(
            total=total,
            connect=self._timeouts.pool + self._timeouts.connect,  # aiohttp counts the wait for a free connection in
            sock_connect=self._timeouts.connect,
            sock_read=self._timeouts.read if self._timeouts.read < total else None,  # each limit costs timers
        )
        try:  # a redirect is not followed: it would carry the prompts to a server that is not configured
            async with self._session.request(
                method, where, timeout=limits, proxy=self._proxy, allow_redirects=False, **more
            ) as response:
                yield response
        except aiohttp.ConnectionTimeoutError as error:
            raise CallTimedOut(f"{where}: no connection within {self._timeouts.connect:g} s", silent=True) from error
        except TimeoutError as error:
            raise CallTimedOut(f"{where}: no answer within {min(self._timeouts.read, total):g} s") from error
        except (aiohttp.ClientProxyConnectionError, aiohttp.ClientHttpProxyError) as error:
            raise _proxy_fault(f"{where}: the proxy {shown_address(self._proxy or '')}", error) from error
        except aiohttp.ClientConnectorError as error:
            raise _unconnected(where, error) from error
        except aiohttp.ClientError as error:
            why = f"the connection broke ({_reason(error)})"
            if packed := _PACKED.search(str(error.__cause__ or error)):
                why = f"the content cannot be unpacked as its header content-encoding says ({packed[1]}): {_WRONG_HEADER}"
            raise CallUnreachable(f"{where}: {why}", silent=True) from error


async def _copied(response: aiohttp.ClientResponse, file: BinaryIO, limit: int) -> bool:
    """Write the content of an answer, unpacked, into a file; False where it is too large."""
    size = 0
    async for chunk in response.content.iter_any():
        size += len(chunk)
        if size > limit:
            response.close()
            return False
        file.write(chunk)
    return True


def _proxy_fault(proxy: str, error: aiohttp.ClientProxyConnectionError | aiohttp.ClientHttpProxyError) -> CallError:
    if isinstance(error, aiohttp.ClientHttpProxyError):
        message = f"{proxy} answered {error.status}"
        if error.status < HTTPStatus.INTERNAL_SERVER_ERROR:
            return CallRejected(message, status=error.status)
        return CallUnreachable(message, silent=error.status in NO_SERVER_BEHIND)
    number = error.os_error.errno or 0  # the event loop's own words repeat the address; those of a name have no number
    why = os.strerror(number) if number > 0 else error.os_error.strerror
    return CallUnreachable(f"{proxy} cannot be reached ({why})", unconnected=True)


def _unconnected(where: str, error: aiohttp.ClientConnectorError) -> CallUnreachable:
    if isinstance(error, aiohttp.ClientConnectorCertificateError):  # a server is there
        return CallUnreachable(f"{where}: no connection ({one_line(str(error.certificate_error))})")
    cause = error.os_error
    if isinstance(cause, socket.gaierror):
        return CallUnreachable(f"{where}: no host of this name is known", unconnected=True)
    # Where a name has several addresses that fail in different ways, their numbers are only in the text.
    if cause.errno == errno.ECONNREFUSED or f"[Errno {errno.ECONNREFUSED}]" in str(cause):
        return CallUnreachable(f"{where}: connection refused, nothing listens there", unconnected=True)
    reason = one_line(cause.strerror or str(cause))
    return CallUnreachable(f"{where}: no connection ({reason})", unconnected=not isinstance(cause, ssl.SSLError))


def _reason(error: aiohttp.ClientError) -> str:
    """Why an exchange broke off, without what the server sent."""
    if isinstance(error, aiohttp.ServerDisconnectedError):
        return "closed by the server"
    if isinstance(error, aiohttp.ClientResponseError):
        return "what came is not HTTP"
    if isinstance(error, aiohttp.ClientPayloadError):
        return "the content is cut"
    return (isinstance(error, OSError) and error.strerror) or type(error).__name__
