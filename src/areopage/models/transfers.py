"""Requests through a proxy, and files that are sent and received in pieces: aiohttp carries them.

Answers and faults are those of `areopage.models.connections`, which carries all other requests.
"""

import os
import ssl
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any, BinaryIO

import aiohttp

from areopage.models.connections import ConnectionBroke, NoConnection, NoConnectionInTime, ProxyRefused, Query, Reply, with_usual
from areopage.models.settings import Timeouts


class Transfers:
    """An open session with one server, in one event loop."""

    def __init__(self, address: str, headers: Mapping[str, str], timeouts: Timeouts, most: int, proxy: str | None) -> None:
        """Open the session in the running event loop.

        Args:
            address, headers, timeouts, most: as for `areopage.models.connections.Connections`.
            proxy: the HTTP proxy to go through; None: none.
        """
        self._address, self._timeouts, self._proxy = address, timeouts, proxy
        # trust_env stays off: it would read ~/.netrc in a thread for each call, and fail where that file names the host.
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=most),
            headers=with_usual(headers),
            cookie_jar=aiohttp.DummyCookieJar(),
        )

    async def exchange(
        self, method: str, path: str, body: bytes | None, total: float, most: int, query: Query | None = None
    ) -> Reply:
        """Send a request and return its answer; see `areopage.models.connections.Connections.exchange`."""
        async with self._answer(method, path, total, data=body, params=query) as response:
            return await _reply(response, most)

    async def upload(self, path: str, fields: Query, name: str, file: BinaryIO, total: float, most: int) -> Reply:
        """Send a form with one file, read from its begin, under the field `file`; faults as for `exchange`.

        Args:
            fields: the other fields.
            name: the file's name.
        """
        with os.fdopen(os.dup(file.fileno()), "rb") as content, aiohttp.MultipartWriter("form-data") as form:
            content.seek(0)
            for field, value in fields:
                form.append(value).set_content_disposition("form-data", name=field)
            part = form.append(content, {"Content-Type": "application/jsonl"})
            part.set_content_disposition("form-data", name="file", filename=name)
            async with self._answer("POST", path, total, data=form, headers={"Content-Type": form.content_type}) as response:
                return await _reply(response, most)

    async def download(self, path: str, file: BinaryIO, limit: int, total: float, most: int) -> Reply:
        """Write what a path holds into a file, in place of what it held; faults as for `exchange`.

        Args:
            limit: the most bytes that are written; the content of the reply is None where there are more.
            most: bytes of the content of an answer that is no success; a file is not in the reply.
        """
        file.seek(0)
        file.truncate()
        async with self._answer("GET", path, total) as response:
            if response.status != 200:
                return await _reply(response, most)
            size = 0
            async for chunk in response.content.iter_any():
                size += len(chunk)
                if size > limit:
                    response.close()
                    return Reply(response.status, _headers(response), None)
                file.write(chunk)
            return Reply(response.status, _headers(response), b"")

    async def aclose(self) -> None:
        """Close the session."""
        await self._session.close()

    @asynccontextmanager
    async def _answer(self, method: str, path: str, total: float, **more: Any) -> AsyncIterator[aiohttp.ClientResponse]:
        limits = aiohttp.ClientTimeout(
            total=total,
            connect=self._timeouts.pool + self._timeouts.connect,  # aiohttp counts the wait for a free connection in
            sock_connect=self._timeouts.connect,
            sock_read=self._timeouts.read,
        )
        try:
            async with self._session.request(
                method, self._address + path, timeout=limits, proxy=self._proxy, allow_redirects=False, **more
            ) as response:
                yield response
        except aiohttp.ConnectionTimeoutError as error:
            raise NoConnectionInTime from error
        except aiohttp.ClientProxyConnectionError as error:
            number = error.os_error.errno or 0  # the event loop's own words repeat the address; those of a name have no number
            why = os.strerror(number) if number > 0 else error.os_error.strerror
            raise ProxyRefused(f"cannot be reached ({why})") from error
        except aiohttp.ClientHttpProxyError as error:
            raise ProxyRefused(f"answered {error.status}", error.status) from error
        except aiohttp.ClientConnectorError as error:
            raise NoConnection(_reason(error)) from error
        except aiohttp.ClientError as error:
            if isinstance(error, TimeoutError):
                raise TimeoutError from error
            raise ConnectionBroke(type(error).__name__) from error


def _reason(error: aiohttp.ClientConnectorError) -> OSError:
    """Why there is no connection, as the system tells it."""
    if isinstance(error, aiohttp.ClientConnectorCertificateError):
        return ssl.SSLError(str(error.certificate_error))
    return error.os_error


def _headers(response: aiohttp.ClientResponse) -> dict[str, str]:
    return {name.lower(): value for name, value in response.headers.items()}


async def _reply(response: aiohttp.ClientResponse, most: int) -> Reply:
    """The answer with its whole content, unpacked; None in its place where it is larger than `most`."""
    chunks: list[bytes] = []
    size = 0
    async for chunk in response.content.iter_any():
        size += len(chunk)
        if size > most:
            response.close()
            return Reply(response.status, _headers(response), None)
        chunks.append(chunk)
    return Reply(response.status, _headers(response), b"".join(chunks))
