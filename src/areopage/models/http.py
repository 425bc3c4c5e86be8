"""One thin JSON transport for every adapter that speaks HTTP; msgspec reads and writes the JSON.

`areopage.models.connections` carries the bytes. A `JsonServer` turns every fault into one of the three `CallError`s. It does not
retry (see `areopage.models.retry`). Keys live in headers and never reach a message.
"""

import asyncio
import math
import re
from base64 import b64encode
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from http.client import responses
from typing import TYPE_CHECKING, BinaryIO, NoReturn, TypeVar
from urllib.parse import unquote, urlsplit

import msgspec

from areopage.errors import CallError, CallRejected, CallUnreachable, ModelError
from areopage.models.error_bodies import (
    CONTENT_FILTER,
    NO_MONEY_CODES,
    NO_SERVER_BEHIND,
    OVERLOADED,
    PASSING,
    TOO_LONG_CODES,
    ErrorBody,
    one_line,
    read_error,
)
from areopage.models.lenient_json import decode_reply
from areopage.models.rate_headers import Allowance, allowances, seconds_of
from areopage.models.settings import Timeouts

if TYPE_CHECKING:
    from areopage.models.connections import Connections, HttpReply

MAX_RESPONSE_BYTES = 64 * 1024 * 1024
SHORTEST_SECRET = 4
# A look-up (which models are there?) that takes longer means a server that hangs, however patient the calls may be.
LOOKUP_SECONDS = 30.0
_HEADER_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
_OF_THE_CONNECTION = frozenset({"content-length", "transfer-encoding", "connection", "upgrade", "expect"})

Query = Sequence[tuple[str, str]]
T = TypeVar("T")


class JsonServer:
    """A server that takes and gives JSON.

    Connections are opened with the first call, and anew when another event loop runs.
    """

    def __init__(
        self,
        base_url: str,
        *,
        headers: Mapping[str, str] | None = None,
        timeouts: Timeouts | None = None,
        connections: int = 64,
        proxy: str | None = None,
    ) -> None:
        """Prepare the transport; nothing is opened yet.

        Raises:
            ModelError: `base_url` is no address of a server, or a header cannot be sent.
        """
        try:
            parts = urlsplit(base_url.strip())
            usable = parts.scheme in ("http", "https") and bool((parts.hostname or "").encode("idna")) and parts.port != 0
        except ValueError:  # a port that is no number, a broken IPv6 address, a part of a name that is too long
            usable = False
        if not usable:
            raise ModelError(f"{base_url.rpartition('@')[2]!r} is not the address of a server: write http://host:port")
        user_info, _, host = parts.netloc.rpartition("@")
        self.address = f"{parts.scheme}://{host}{parts.path}"
        if parts.query or parts.fragment:
            raise ModelError(f"the address {self.address} goes on with ? or #, which would not be sent: a key goes into a header")
        self.address = self.address.rstrip("/")
        authorization = {"Authorization": f"Basic {b64encode(unquote(user_info).encode()).decode()}"} if user_info else {}
        self._headers = {**authorization, **(headers or {})}
        for name, value in self._headers.items():  # one that would change what the server takes for the request is refused
            if not f"{name}{value}".isprintable():
                raise ModelError(f"the header {name!r} for {self.address} holds a line break or a control character: correct it")
            if not _HEADER_NAME.fullmatch(name):
                raise ModelError(f"{name!r} for {self.address} is no name of a header: write letters, digits and hyphens")
            if name.lower() in _OF_THE_CONNECTION:
                raise ModelError(f"the header {name!r} for {self.address} belongs to the connection: leave it out")
        # "Bearer KEY": the scheme may be shown, the key may not, and a server may echo the one without the other.
        values = {part for value in self._headers.values() for part in (value, value.rpartition(" ")[2])}
        self._secrets = sorted((value for value in values if len(value) >= SHORTEST_SECRET), key=len, reverse=True)
        self._timeouts = timeouts or Timeouts()
        self._most_connections = connections
        self._proxy = proxy
        self._connections: Connections | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._allowances: tuple[Allowance, ...] = ()

    async def post(self, path: str, body: object, into: type[T], *, query: Query | None = None) -> T:
        """Send JSON (bytes as they are, any other object encoded) and read the answer as `into`.

        `query` is what follows the address behind a `?`; it may hold a key, and no message shows it.

        Raises:
            CallTimedOut: one of the limits of `Timeouts` was reached.
            CallUnreachable: no connection, 5xx, 429, or an answer that is cut or is not the JSON that was expected.
            CallRejected: another status, or a body that cannot be sent or is too large to be read.
        """
        try:
            data = body if isinstance(body, bytes) else msgspec.json.encode(body)
        except (TypeError, ValueError) as error:  # a lone surrogate in a text, an option that is no JSON
            raise CallRejected(f"{self.address}{path}: the request cannot be written as JSON: {one_line(str(error))}") from error
        return await self._call("POST", path, data, into, self._timeouts.total, query)

    async def upload(self, path: str, fields: Query, name: str, file: BinaryIO, into: type[T]) -> T:
        """Send a form with one file, read from its begin, under the field `file`; faults as for `post`."""
        reply = await (await self._opened()).upload(path, fields, name, file, self._timeouts.total)
        return self._read(path, reply, into)

    async def download(self, path: str, file: BinaryIO, limit: int) -> None:
        """Write what a path holds into a file, in place of what it held; faults as for `post`.

        Args:
            limit: the most bytes that are written; more are a `CallRejected`.
        """
        reply = await (await self._opened()).download(path, file, limit, self._timeouts.total)
        if reply.status != HTTPStatus.OK:
            self._raise_status(path, reply)
        if reply.content is None:
            raise CallRejected(f"{self.address}{path}: the file is larger than {limit >> 20} MB", status=reply.status)

    async def delete(self, path: str, into: type[T]) -> T:
        """Delete what a path holds; faults as for `post`."""
        return await self._call("DELETE", path, None, into, min(self._timeouts.total, LOOKUP_SECONDS))

    async def get(self, path: str, into: type[T]) -> T:
        """Look something up, within half a minute; faults as for `post`."""
        return await self._call("GET", path, None, into, min(self._timeouts.total, LOOKUP_SECONDS))

    async def ask(self, path: str, query: Query, into: type[T]) -> T:
        """Put a question by GET, with all the time of a call; `query` and faults as for `post`."""
        return await self._call("GET", path, None, into, self._timeouts.total, query)

    async def probe(self, path: str) -> int:
        """The status of an OPTIONS request, which has no effect. Any status means that the server is reachable."""
        return (await self._exchange("OPTIONS", path, None, min(self._timeouts.total, LOOKUP_SECONDS), None)).status

    def allowances(self) -> tuple[Allowance, ...]:
        """What the last answer said is left of the server's limits; told once."""
        stated, self._allowances = self._allowances, ()
        return stated

    async def aclose(self) -> None:
        """Close the connections; a later call opens new ones."""
        connections, self._connections = self._connections, None
        if connections is not None:
            await connections.aclose()

    def fault(
        self, path: str, status: int, message: str, *, retry_after: float | None = None, body: ErrorBody | None = None
    ) -> CallError:
        """The exception for an error that the server reports, with its message on one line and without secrets.

        A status under 300 is an error object inside an answer that claims success; like 408, 409, 425 and 5xx it is worth another
        try. After a 429 or 529 that names no pause, `retry_after` is 0.0. Where the account is empty, a content filter refused or
        the prompt does not fit, no other try is worth its while, for any status.
        """
        for secret in self._secrets:
            message = message.replace(secret, "***")
        text = f"{self.address}{path} answered {status}: {one_line(message) or responses.get(status, 'no message')}"
        if body is not None and body.code == CONTENT_FILTER:
            return CallRejected(text, status=HTTPStatus.BAD_REQUEST, code=body.code, filtered=body.filtered)
        if body is not None and body.code in NO_MONEY_CODES:
            return CallRejected(text, status=HTTPStatus.PAYMENT_REQUIRED, code=body.code)
        if body is not None and body.code in TOO_LONG_CODES:
            kept = HTTPStatus.BAD_REQUEST <= status < HTTPStatus.INTERNAL_SERVER_ERROR and status not in OVERLOADED
            return CallRejected(text, status=status if kept else HTTPStatus.BAD_REQUEST, code=body.code)
        if status in OVERLOADED:
            return CallUnreachable(text, retry_after=retry_after or 0.0)
        failed = status >= HTTPStatus.INTERNAL_SERVER_ERROR and status != HTTPStatus.NOT_IMPLEMENTED
        if failed or status < HTTPStatus.MULTIPLE_CHOICES or status in PASSING:
            return CallUnreachable(text, retry_after=retry_after, silent=status in NO_SERVER_BEHIND)
        return CallRejected(text, status=status, code=body.code if body is not None else "")

    async def _call(
        self, method: str, path: str, data: bytes | None, into: type[T], total: float, query: Query | None = None
    ) -> T:
        return self._read(path, await self._exchange(method, path, data, total, query), into)

    def _read(self, path: str, reply: "HttpReply", into: type[T]) -> T:
        if reply.content is None:
            where = f"{self.address}{path}: the answer is larger than"
            raise CallRejected(f"{where} {MAX_RESPONSE_BYTES >> 20} MB", status=reply.status)
        if not HTTPStatus.OK <= reply.status < HTTPStatus.MULTIPLE_CHOICES:
            self._raise_status(path, reply)
        try:
            return decode_reply(reply.content, into)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            what = f"not the JSON expected ({one_line(str(error))})"
            if _is_page(reply.content, reply.headers.get("content-type", "")):
                what = "a web page, not the JSON expected: is the address right?"
            elif not reply.content.strip():
                what = "empty, not the JSON expected"
            elif reply.content.startswith(b"\x1f\x8b"):
                what = "packed with gzip, which no header content-encoding says: correct the server, or a proxy in front of it"
            raise CallUnreachable(f"{self.address}{path}: the answer is {what}") from error

    def _raise_status(self, path: str, reply: "HttpReply") -> NoReturn:
        content, body, message = reply.content or b"", ErrorBody(), ""
        if not _is_page(content, reply.headers.get("content-type", "")):  # a page of HTML says nothing
            body = read_error(content)
            message = body.message or content.decode("utf-8", "replace")
        if HTTPStatus.MULTIPLE_CHOICES <= reply.status < HTTPStatus.BAD_REQUEST:
            # without its query, which may repeat ours
            location = reply.headers.get("location", "another place").partition("?")[0]
            message = f"it redirects to {location}: give that address"
        asked = _retry_after(reply.headers, datetime.now(UTC))
        raise self.fault(path, reply.status, message, retry_after=body.pause if asked is None else asked, body=body)

    async def _exchange(self, method: str, path: str, data: bytes | None, total: float, query: Query | None) -> "HttpReply":
        try:
            for name, value in query or ():
                f"{name}{value}".encode()
        except UnicodeEncodeError as error:  # a lone surrogate
            raise CallRejected(f"{self.address}{path}: the query cannot be written: {one_line(str(error))}") from error
        reply = await (await self._opened()).exchange(method, path, data, total, query)
        self._allowances = allowances(reply.headers, datetime.now(UTC))
        return reply

    async def _opened(self) -> "Connections":
        """The connections of the running event loop; what was opened in another one is left behind."""
        from areopage.models.connections import Connections  # aiohttp takes 0.1 s to import

        loop = asyncio.get_running_loop()
        if self._loop is not loop:
            self._loop = loop
            await self.aclose()
        if self._connections is None:
            self._connections = Connections(
                self.address,
                self._headers,
                self._timeouts,
                most=self._most_connections,
                largest=MAX_RESPONSE_BYTES,
                proxy=self._proxy,
            )
        return self._connections


def _is_page(content: bytes, content_type: str) -> bool:
    first = content.lstrip()[:1]
    return first == b"<" or ("html" in content_type and first not in (b"{", b"["))  # some gateways call their JSON a page


def _retry_after(headers: Mapping[str, str], now: datetime) -> float | None:
    """The pause in seconds that the server asks for, >= 0; None where it asks for none that can be read."""
    milliseconds = _finite(headers.get("retry-after-ms", ""))
    if milliseconds is not None:
        return max(0.0, milliseconds / 1000)
    text = headers.get("retry-after", "")
    seconds = seconds_of(text.strip()) if _finite(text) is None else _finite(text)
    if seconds is not None:
        return max(0.0, seconds)
    try:
        until = parsedate_to_datetime(text)
    except ValueError:
        return None
    return max(0.0, (until.replace(tzinfo=until.tzinfo or UTC) - now).total_seconds())


def _finite(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None
